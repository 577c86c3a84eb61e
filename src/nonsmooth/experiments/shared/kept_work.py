"""Work of a long experiment that is kept in its folder, so that an interrupted one goes on where it was.

A file holds arrays and numbers together with the words that identify what was computed; it is read again only
for the same words and by the same version of the package.
"""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

_IDENTITY = "identity"


def kept_folder(folder: Path) -> Path:
    """Where an experiment keeps work that nobody needs once it is through."""
    return folder / "kept"


def forget(folder: Path) -> None:
    """The experiment is through: a later run computes everything anew."""
    shutil.rmtree(kept_folder(folder), ignore_errors=True)


def keep(path: Path, identity: str, content: Mapping[str, Any]) -> None:
    """Write a file in one go: one that is there is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part.npz")
    arrays: dict[str, Any] = {_IDENTITY: _full(identity), **content}
    np.savez(unfinished, **arrays)
    os.replace(unfinished, path)


def kept(path: Path, identity: str) -> dict[str, Any] | None:
    """The content of a file; None where there is none of this identity."""
    if not path.exists():
        return None
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as content:
            if _IDENTITY not in content.files or str(content[_IDENTITY]) != _full(identity):
                return None
            return {name: content[name] for name in content.files if name != _IDENTITY}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        return None  # a power cut has left no whole file: what it held is computed again


def _full(identity: str) -> str:
    from nonsmooth import __version__

    return f"nonsmooth {__version__}: {identity}"
