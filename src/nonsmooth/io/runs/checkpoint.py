"""Checkpoints: what a run needs to go on with the same bits, in a small HDF5 file next to the trajectory.

    write_checkpoint("run.h5.checkpoint", Checkpoint(memory, rows={"steps": 500}, fingerprint="…"))
    checkpoint = read_checkpoint("run.h5.checkpoint")

A checkpoint appears whole or not at all: it is written under another name, brought to the disk and then
renamed. So a run that is killed at any moment leaves the last whole one.

Layout of a file, version 1:

    /            attributes: format = "nonsmooth-checkpoint", version = 1,
                 fingerprint = hash of the system and of what is recorded
    rows/        attributes (int64): how many rows the trajectory had of each kind
    memory/      one dataset for each array, one attribute (int64 or float64) for each number
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.errors import OptionError
from nonsmooth.io._hdf5 import FileKind, FilePath, check_room, new_file, reading, write_header, write_text

Memory = Mapping[str, "NDArray[Any] | float | int"]
"""What a run remembers: arrays and numbers by name."""

_KIND = FileKind("nonsmooth-checkpoint", 1, "checkpoint", "write_checkpoint")
_ARRAYS = ("float64", "int64", "int32", "uint64", "uint32", "uint8", "int8", "bool")


@dataclass(frozen=True)
class Checkpoint:
    """The state of a run at one moment, and how far its trajectory had come."""

    memory: Memory
    """Arrays and numbers by name; numbers are int (up to 64 bits) or float."""
    rows: Mapping[str, int]
    """Rows of the trajectory: frames, steps, contacts."""
    fingerprint: str
    """Hash of the system and of what is recorded: a checkpoint fits only the same."""


def checkpoint_path(path: FilePath) -> str:
    """Where the checkpoint of a trajectory lies: next to it, with `.checkpoint` after its name."""
    return f"{os.fspath(path)}.checkpoint"


def write_checkpoint(path: FilePath, checkpoint: Checkpoint) -> None:
    """Write a checkpoint; it is on the disk, and takes the place of an older one, when this returns."""
    values = {name: _plain(name, value) for name, value in checkpoint.memory.items()}
    # Always the same name: what a run leaves that is killed right here is taken over by the next.
    with new_file(path, part=f".{os.path.basename(path)}.part") as file:
        check_room(path, sum(value.nbytes for value in values.values() if isinstance(value, np.ndarray)))
        write_header(file, _KIND)
        write_text(file, fingerprint=checkpoint.fingerprint)
        rows = file.create_group("rows")
        for name, count in checkpoint.rows.items():
            rows.attrs[name] = np.int64(count)
        memory = file.create_group("memory")
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                memory.create_dataset(name, data=value)
            else:
                memory.attrs[name] = value


def read_checkpoint(path: FilePath) -> Checkpoint:
    """Read a checkpoint. Raises `FileFormatError` if the file is no checkpoint or is damaged."""
    with reading(path, _KIND) as file:
        rows, memory = file.group("rows"), file.group("memory")
        values: dict[str, Any] = {name: memory.read(name, _ARRAYS) for name in memory.node}
        for name in memory.node.attrs:
            values[name] = memory.number(name)
        counts = {name: int(rows.integers(name, ())) for name in rows.node.attrs}
        return Checkpoint(memory=values, rows=counts, fingerprint=file.text("fingerprint"))


def _plain(name: str, value: Any) -> Any:
    """The value in a type that the file keeps exactly."""
    if not name or "/" in name or name == ".":
        raise OptionError(f"the memory of a run has an entry named {name!r}: give it a plain name")
    if isinstance(value, np.ndarray) and value.dtype.name in _ARRAYS and value.ndim:
        return value
    if isinstance(value, float | np.floating):
        return np.float64(value)
    if isinstance(value, int | np.integer) and -(2**63) <= int(value) < 2**63:
        return np.int64(value)
    kind = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else repr(value)
    raise OptionError(f"memory entry {name!r} is {kind}: it must be an array of numbers, a float or an int")
