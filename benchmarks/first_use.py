"""Waiting times on first use: import, and import with a first solve, kernels cold and warm.

    python benchmarks/first_use.py

Every number is the wall time of a new Python process, minus that of an empty one. The cold run starts with an
empty kernel cache; the warm ones use the cache that it filled.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from _bench import machine

SOLVE = "import nonsmooth as ns; ns.solve(ns.problems.by_name('sliding-ball').build())"


def seconds(code: str, cache: str, repeats: int = 1) -> float:
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"NUMBA_CACHE_DIR": cache})
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    print(machine())
    with tempfile.TemporaryDirectory() as cache:
        empty = seconds("pass", cache, 5)
        cold = seconds(SOLVE, cache) - empty
        warm = seconds(SOLVE, cache, 5) - empty
        imported = seconds("import nonsmooth", cache, 5) - empty
    print(f"import nonsmooth                        {imported:6.2f} s")
    print(f"import and first solve, kernels cold    {cold:6.2f} s")
    print(f"import and first solve, kernels warm    {warm:6.2f} s   ({warm / cold:.3f} of cold)")


if __name__ == "__main__":
    main()
