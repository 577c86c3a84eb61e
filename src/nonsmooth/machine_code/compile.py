"""Compile all kernels of the package in several processes."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections.abc import Collection
from concurrent.futures import FIRST_EXCEPTION, ProcessPoolExecutor, wait
from importlib import import_module
from pathlib import Path
from typing import Any

from nonsmooth._support import kernel_cache, shipped_kernels
from nonsmooth._support.progress import Progress
from nonsmooth.machine_code import workload
from nonsmooth.machine_code.kernel_lock import compile_each_kernel_once

_REPORT_EVERY = 0.5
"""s"""


def compile_all(
    progress: Progress,
    processes: int | None = None,
    output: Path | None = None,
    only: Collection[str] | None = None,
) -> None:
    """Compile every kernel of the package that is not compiled yet, into Numba's cache.

    Args:
        progress: called with the number of kernels compiled so far.
        processes: number of processes; one per core if None.
        output: a folder for kernels that a wheel carries, which are then written there too.
        only: names of pieces of work, in place of all.
    """
    total, names = sum(1 for _ in kernel_cache.kernels()), list(only or workload.pieces())
    start = multiprocessing.get_context("spawn")  # a fork would share Numba's state
    compiled = start.Value("i", 0)
    with tempfile.TemporaryDirectory() as folder:
        setting = Path(folder) / "lock", output, compiled
        with ProcessPoolExecutor(processes or os.cpu_count() or 1, start, _begin, setting) as workers:
            waiting: Any = {workers.submit(_run, name) for name in names}
            while waiting:
                progress(min(compiled.value, total), total, "compiling kernels")
                finished, waiting = wait(waiting, _REPORT_EVERY, FIRST_EXCEPTION)
                for each in finished:
                    each.result()
    if output is not None:
        shipped_kernels.write_stamp(output)
    progress(total, total, "done")


def _begin(lock: Path, output: Path | None, compiled: Any) -> None:
    """Prepare a process for pieces of work."""
    event: Any = import_module("numba.core.event")  # it has no types

    class Count(event.Listener):  # type: ignore[misc]
        def on_start(self, _: Any) -> None:
            pass

        def on_end(self, ended: Any) -> None:
            kernel = ended.data["dispatcher"]
            # Numba's own functions and further types of arguments are not counted.
            if kernel.py_func.__module__.startswith("nonsmooth.") and len(kernel.overloads) == 1:
                with compiled.get_lock():
                    compiled.value += 1

    event.register("numba:compile", Count())
    compile_each_kernel_once(lock)
    shipped_kernels.output = output


def _run(name: str) -> None:
    workload.run(workload.pieces()[name])
