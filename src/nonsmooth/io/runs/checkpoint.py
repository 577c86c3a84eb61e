"""Checkpoints: the state for a bitwise-identical restart, in a small HDF5 file next to the trajectory.

    write_checkpoint("run.h5.checkpoint", Checkpoint(memory, rows={"steps": 500}, fingerprint="…"))
    checkpoint = read_checkpoint("run.h5.checkpoint")

A checkpoint is written atomically: under another name, flushed to the disk, and then renamed. A run that is
killed at any moment leaves the last complete one.

Layout of a file, version 1:

    /            attributes: format = "nonsmooth-checkpoint", version = 1,
                 fingerprint = hash of the system and of the recording options
    rows/        attributes (int64): number of rows of each kind in the trajectory
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
"""State of a run: arrays and numbers by name."""

_KIND = FileKind("nonsmooth-checkpoint", 1, "checkpoint", "write_checkpoint")
_ARRAYS = ("float64", "int64", "int32", "uint64", "uint32", "uint8", "int8", "bool")


@dataclass(frozen=True)
class Checkpoint:
    """The state of a run at one moment, and the length of its trajectory."""

    memory: Memory
    """Arrays and numbers by name; numbers are int (up to 64 bits) or float."""
    rows: Mapping[str, int]
    """Number of rows of the trajectory: frames, steps, contacts."""
    fingerprint: str
    """Hash of the system and of the recording options, which must be the same on restart."""


def checkpoint_path(path: FilePath) -> str:
    """Path of the checkpoint of a trajectory: its path with `.checkpoint` appended."""
    return f"{os.fspath(path)}.checkpoint"


def write_checkpoint(path: FilePath, checkpoint: Checkpoint) -> None:
    """Write a checkpoint; on return it is on the disk and has replaced an older one."""
    values = {name: _plain(name, value) for name, value in checkpoint.memory.items()}
    # A fixed name: if a run is killed here, the next one overwrites its file.
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
    """Read a checkpoint. Raises `FileFormatError` if the file is not a checkpoint or is damaged."""
    with reading(path, _KIND) as file:
        rows, memory = file.group("rows"), file.group("memory")
        values: dict[str, Any] = {name: memory.read(name, _ARRAYS) for name in memory.node}
        for name in memory.node.attrs:
            values[name] = memory.number(name)
        counts = {name: int(rows.integers(name, ())) for name in rows.node.attrs}
        return Checkpoint(memory=values, rows=counts, fingerprint=file.text("fingerprint"))


def _plain(name: str, value: Any) -> Any:
    """The value in a type that the file stores exactly."""
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
