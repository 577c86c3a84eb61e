"""Repeatable property tests, no kernel from older sources, and Ctrl-C that interrupts."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import nonsmooth
from helpers.kernel_lock import compile_each_kernel_once
from helpers.random_bodies import Scene, build_scene


def drop_stale_kernels() -> None:
    """Delete compiled kernels that are older than any kernel source.

    Numba looks at the source file of a kernel alone, not at the files of the functions inlined in it.
    """
    package = Path(nonsmooth.__file__).parent
    sources = [*package.rglob("kernels/**/*.py"), package / "_support" / "jit.py"]
    newest = max(path.stat().st_mtime for path in sources)
    for compiled in package.rglob("__pycache__/*.nb[ic]"):
        if compiled.stat().st_mtime < newest:
            compiled.unlink(missing_ok=True)


drop_stale_kernels()
if "PYTEST_XDIST_WORKER" in os.environ:
    compile_each_kernel_once(Path(nonsmooth.__file__).parent / "__pycache__" / "kernels.lock")
settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=150)
settings.register_profile("explore", deadline=None, max_examples=2000)  # --hypothesis-profile=explore
settings.load_profile("repeatable")


@pytest.fixture(scope="session", autouse=True)
def _ctrl_c_interrupts() -> Iterator[None]:
    """Let SIGINT interrupt here and in the processes of tests; background shells ignore it."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def scene() -> Callable[..., Scene]:
    """Return the function that builds a random scene from a seed."""
    return build_scene
