"""Constant arrays of a trajectory, and their units."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.errors import FileFormatError
from nonsmooth.io._hdf5 import Node, text_type, write_text

Arrays = dict[str, tuple[NDArray[Any], str]]
"""Arrays and their units by their path in the file."""


def write_constants(file: Any, arrays: Arrays) -> None:
    """Write the arrays with their units."""
    for path, (values, unit) in arrays.items():
        write_text(file.create_dataset(path, data=values), unit=unit)


def texts(words: list[str]) -> NDArray[Any]:
    """Return strings as an array of fixed-length strings."""
    encoded = [word.encode() for word in words]
    return np.array(encoded, dtype=text_type(max(map(len, encoded), default=1)))


def shaped(node: Node, name: str, values: Any, shape: tuple[int, ...]) -> Any:
    """Return values that must have this shape; `name` is that of their dataset."""
    if values.shape != shape:
        raise FileFormatError(
            f"{node.path}: dataset {node.prefix + name!r} has the shape {values.shape}: it must be {shape}"
        )
    return values
