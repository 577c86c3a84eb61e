"""Numba's cache of compiled kernels: its place, its contents, and notices of compilation.

Numba keeps an index (*.nbi) and machine code (*.nbc) per kernel, next to the package's sources, in
NUMBA_CACHE_DIR, or in the user's cache folder if the sources are read-only.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class KernelCache:
    """Contents of the cache for this package."""

    location: Path
    """The folder that contains all cache files."""
    kernels: int
    """Number of kernels of the package."""
    compiled: int
    """Number of kernels with machine code that is not older than the source."""
    files: int
    size: int
    """Size of all files in bytes."""

    @property
    def warm(self) -> bool:
        """True if the cache is not empty; a kernel that was never called is compiled at its first call."""
        return self.compiled > 0


def kernel_cache() -> KernelCache:
    """Return the state of the cache for every kernel of the package; nothing is compiled."""
    every = list(kernels())
    folders: set[Path] = set()
    files: set[Path] = set()
    compiled = 0
    for kernel in every:
        folder, function = Path(kernel.stats.cache_path), kernel.py_func
        folders.add(folder)
        source = Path(function.__code__.co_filename)
        # Numba names its files after the source, the function, its line, and the Python version.
        own = set(
            folder.glob(f"{source.stem}.{function.__qualname__}-{function.__code__.co_firstlineno}.*.nb[ic]")
        )
        files |= own
        written = max((file.stat().st_mtime for file in own if file.suffix == ".nbi"), default=0.0)
        compiled += written >= source.stat().st_mtime
    size = sum(file.stat().st_size for file in files)
    return KernelCache(Path(os.path.commonpath(folders)), len(every), compiled, len(files), size)


def kernels() -> Iterator[Any]:
    """Every compiled function that a kernel file of the package defines."""
    from numba.core.registry import CPUDispatcher

    package = importlib.import_module("nonsmooth")
    for module in pkgutil.walk_packages(package.__path__, "nonsmooth."):
        if ".kernels." in module.name:
            content = vars(importlib.import_module(module.name))
            yield from (
                value
                for value in content.values()
                if isinstance(value, CPUDispatcher) and value.py_func.__module__ == module.name
            )


@contextmanager
def watch_compilation(announce: Callable[[str], None]) -> Iterator[None]:
    """Announce the first kernel that Numba compiles in this block, and at the end the time it took.

    With a warm cache nothing is compiled and nothing is announced.
    """
    event: Any = importlib.import_module("numba.core.event")
    watch = event.TimingListener()
    first = True
    start_timer = watch.on_start

    def on_start(started: Any) -> None:
        nonlocal first
        if first:
            announce("Compiling kernels for the first use…")
        first = False
        start_timer(started)

    watch.on_start = on_start
    try:
        with event.install_listener("numba:compile", watch):
            yield
    finally:
        if watch.done:
            announce(f"Kernels compiled in {watch.duration:.1f} s; they are cached for the next run.")
