"""The work that is compiled for a wheel calls every kernel that Python can call."""

from __future__ import annotations

import os
import subprocess
import sys
from types import ModuleType
from typing import Any

from helpers.command_line import SOURCES
from nonsmooth._support.kernel_cache import kernels

RUN_ALL = """
from nonsmooth._support.kernel_cache import kernels
from nonsmooth.machine_code import workload
for piece in workload.pieces().values():
    workload.run(piece)
for kernel in kernels():
    if kernel.overloads:
        print(f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__}")
"""


def name_of(kernel: Any) -> str:
    return f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__}"


def parts_of(kernel: Any) -> set[str]:
    """Kernels that a kernel calls."""
    names, known = kernel.py_func.__code__.co_names, kernel.py_func.__globals__
    found = [known.get(name) for name in names]
    for module in [value for value in found if isinstance(value, ModuleType)]:
        found += [getattr(module, name, None) for name in names]
    return {name_of(value) for value in found if hasattr(value, "py_func")}


def test_every_kernel_is_called() -> None:
    """In a process of its own, because other tests call kernels too."""
    paths = os.pathsep.join([str(SOURCES), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    every = {name_of(kernel): kernel for kernel in kernels()}
    called, waiting = set(), done.stdout.split()
    while waiting:  # a kernel that was loaded from the cache does not load its parts
        name = waiting.pop()
        if name not in called:
            called.add(name)
            waiting += parts_of(every[name])
    with_entry = {
        name for name, kernel in every.items() if not kernel.targetoptions.get("no_cpython_wrapper")
    }
    assert len(with_entry) > 100
    assert with_entry - called == set()
