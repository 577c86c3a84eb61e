"""Cost of recordings: size of the file and CPU time of the writer, for several compressions of chunks.

    python benchmarks/recording.py
    python benchmarks/recording.py --bodies 4000 --steps 300

A run is recorded once without compression, with all data at every step. Its chunks are then written again
uncompressed, as recordings are written (only bytes that compress well), and by the HDF5 filters of h5py.
Every program with HDF5 reads them except LZF, which is h5py's own, and Blosc, measured if the package
hdf5plugin is installed: these two need a plugin.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py

from _bench import machine
from nonsmooth import Recording, System, scenes, simulate
from nonsmooth.io.runs.chunked_columns import Chunk, Column
from nonsmooth.io.runs.compression import FILTERS

WAYS: dict[str, dict[str, Any]] = {
    "none": {},
    "planes (as recorded)": FILTERS,
    "lzf, shuffle": {"compression": "lzf", "shuffle": True},
    "gzip 1, shuffle": FILTERS,
    "gzip 4, shuffle": {"compression": "gzip", "compression_opts": 4, "shuffle": True},
}
SCENES: dict[str, Callable[[int], System]] = {
    "spheres": lambda bodies: scenes.filling(spheres=bodies),
    "capsules": lambda bodies: scenes.capsule_heap(capsules=bodies),
}


def blosc() -> dict[str, dict[str, Any]]:
    """Return Blosc as another compression, if its package is installed."""
    try:
        import hdf5plugin
    except ImportError:
        return {}
    kind = hdf5plugin.Blosc(cname="zstd", clevel=1, shuffle=hdf5plugin.Blosc.SHUFFLE)
    return {"blosc zstd 1, shuffle": dict(kind)}


def datasets(file: h5py.File) -> list[h5py.Dataset]:
    """Return the datasets that grow with the run."""
    found: list[h5py.Dataset] = []
    file.visititems(lambda _, node: found.append(node) if getattr(node, "chunks", None) else None)
    return found


def write(source: h5py.File, path: Path, way: str, options: dict[str, Any]) -> float:
    """Write all columns into a new file; return the CPU time in s without reading."""
    spent = 0.0
    with h5py.File(path, "w", libver="latest") as file:
        for old in datasets(source):
            new = file.create_dataset(
                old.name, shape=(0, *old.shape[1:]), maxshape=(None, *old.shape[1:]), chunks=old.chunks,
                dtype=old.dtype, **options,
            )  # fmt: skip
            length = old.chunks[0]
            for first in range(0, len(old) - len(old) % length, length):
                values = old[first : first + length]
                began = time.process_time()
                if way.startswith("planes"):
                    Column(new).write([Chunk(first, values, raw=False)], first + length)
                else:
                    new.resize(first + length, axis=0)
                    new[first:] = values
                    new.flush()  # otherwise HDF5 compresses later
                spent += time.process_time() - began
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bodies", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=150)
    asked = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        for name, scene in SCENES.items():
            path = Path(folder) / f"{name}.h5"
            recording = Recording(path, compression=False, checkpoint_seconds=None)
            simulate(scene(asked.bodies), duration=0.01 * asked.steps, step=0.01, record=recording)
            print(f"\n{asked.bodies} {name}, {asked.steps} steps")
            print(f"{'':24}{'MB':>8}{'size':>8}{'CPU ms/step':>14}")
            with h5py.File(path, "r") as source:
                whole = 0.0
                for way, options in {**WAYS, **blosc()}.items():
                    target = Path(folder) / "again.h5"
                    spent = min(write(source, target, way, options) for _ in range(3))
                    size = target.stat().st_size / 1e6
                    whole = whole or size
                    cost = 1e3 * spent / asked.steps
                    print(f"{way:24}{size:8.1f}{size / whole:8.2f}{cost:14.2f}")


if __name__ == "__main__":
    main()
