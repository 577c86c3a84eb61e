"""Stored work of a long experiment in its folder, so that an interrupted one can be resumed.

Every piece of work has its own file, whose name contains a hash of all that the result depends on: the
version of the package, the scenes with all their constants, problems, solvers and settings.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

Content = Mapping[str, Any]
"""Numbers, strings and arrays by name."""


class Store:
    """The finished work in the folder of an experiment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "kept"

    def kept(self, name: str, identity: tuple[object, ...], compute: Callable[[], Content]) -> dict[str, Any]:
        """Return compute(), or its stored result if it was computed before.

        Args:
            name: name of the work.
            identity: all that the result depends on: scenes, arrays, and objects with a complete repr().
            compute: does the work; numbers and strings are stored as such, anything else as arrays.
        """
        words = "_".join(re.findall(r"[\w.-]+", name))
        path = self.folder / f"{words}-{key_of(*identity)[:16]}.npz"
        found = _read(path)
        if found is None:
            found = dict(compute())
            _write(path, found)
        return found

    def forget(self) -> None:
        """Delete the stored work of a complete experiment: a later run computes everything again."""
        shutil.rmtree(self.folder, ignore_errors=True)


def key_of(*identity: object) -> str:
    """Hash the version of the package, scenes, arrays, and other objects with a complete repr()."""
    from nonsmooth import __version__
    from nonsmooth.io.runs.constants import constants, fingerprint
    from nonsmooth.model.system import System

    digest = hashlib.sha256(__version__.encode())
    for each in identity:
        if isinstance(each, System):
            digest.update(fingerprint(each, constants(each)).encode())
        elif isinstance(each, np.ndarray):
            digest.update(repr((each.shape, str(each.dtype))).encode() + np.ascontiguousarray(each).tobytes())
        else:
            digest.update(repr(each).encode())
    return digest.hexdigest()


def _write(path: Path, content: Content) -> None:
    """Write a file atomically: an existing one is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part.npz")
    np.savez(unfinished, **content)
    os.replace(unfinished, path)


def _read(path: Path) -> dict[str, Any] | None:
    """The content of a file; None if it is missing or incomplete."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as content:
            arrays = {name: content[name] for name in content.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        return None  # incomplete after a power failure: its content is computed again
    return {name: value if value.ndim else value.item() for name, value in arrays.items()}
