"""Common functions of the benchmarks: timing and the machine's copy bandwidth."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable

import numba
import numpy as np


def best_time(work: Callable[[], object], repeats: int = 7, at_least: float = 0.05) -> float:
    """Shortest time of one call in s; each repeat makes enough calls to be measurable."""
    work()
    start = time.perf_counter()
    work()
    calls = max(1, int(at_least / max(time.perf_counter() - start, 1e-9)))
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(calls):
            work()
        best = min(best, (time.perf_counter() - start) / calls)
    return best


def copy_bandwidth(working_set: int) -> float:
    """Bytes read and written per second by a copy whose two arrays together have the given size."""
    source = np.ones(max(1, working_set // 16))
    target = np.empty_like(source)
    return 2.0 * source.nbytes / best_time(lambda: np.copyto(target, source))


def machine() -> str:
    """One line that describes the machine and the software versions."""
    return (
        f"{platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"Numba {numba.__version__}, one thread"
    )
