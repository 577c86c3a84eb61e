"""FCLib as a format of problem files."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import FileFormatError
from nonsmooth.io._hdf5 import FilePath
from nonsmooth.io.problems.base import Contents, ProblemFormat
from nonsmooth.io.problems.fclib import FclibInfo, is_fclib, read_fclib, write_fclib

_WORDS = {field.name.replace("_", " "): field.name for field in fields(FclibInfo)}


def _read_start(path: FilePath) -> Floats:
    found = read_fclib(path).start
    if found is None:
        raise FileFormatError(f"{path} holds no solution and no guess: start without --start")
    return found


def _contents(path: FilePath) -> Contents:
    file = read_fclib(path)
    words = {name: text for name, field in _WORDS.items() if (text := getattr(file.info, field))}
    rows = file.problem.layout.rows
    starts = [None if each is None else each.start for each in (file.solution, *file.guesses)]
    solution, *guesses = [start if start is not None and len(start) == rows else None for start in starts]
    whole = tuple(guess for guess in guesses if guess is not None)
    return Contents(file.problem, file.kind, words, solution, whole)


def _write(path: FilePath, contents: Contents) -> tuple[str, ...]:
    kind: Any = contents.kind if contents.kind in ("local", "global") else None
    info = FclibInfo(**{field: contents.words.get(name, "") for name, field in _WORDS.items()})
    write_fclib(
        contents.problem, path, kind=kind, solution=contents.solution, guesses=contents.guesses, info=info
    )
    return ()


FORMAT = ProblemFormat(
    name="fclib",
    title="FCLib (HDF5)",
    suffix=".hdf5",
    recognises=lambda path, root: root is not None and "format" not in root.node.attrs and is_fclib(root),
    read=lambda path: read_fclib(path).problem,
    read_start=_read_start,
    contents=_contents,
    write=_write,
)
