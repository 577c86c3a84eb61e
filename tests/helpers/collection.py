"""Problems that other codes made: some ship with the tests, the rest is in the folder NONSMOOTH_FCLIB."""

from __future__ import annotations

import os
from pathlib import Path

from helpers.paths import ROOT

SHIPPED = ROOT / "tests" / "data" / "fclib"
VARIABLE = "NONSMOOTH_FCLIB"


def collected(*suffixes: str) -> list[Path]:
    """Return the problem files with these suffixes, by name: those that ship, and those of the folder."""
    folders = [SHIPPED]
    if named := os.environ.get(VARIABLE):
        if not Path(named).is_dir():
            raise NotADirectoryError(f"{VARIABLE} is {named!r}, which is no folder: unset it or name one")
        folders.append(Path(named))
    found = {path.name: path for folder in reversed(folders) for path in folder.iterdir()}
    return [path for name, path in sorted(found.items()) if path.suffix in suffixes]
