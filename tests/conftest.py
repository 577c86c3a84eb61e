"""Repeatable property tests, no kernel from older sources, and Ctrl-C that interrupts."""

from __future__ import annotations

import ast
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import nonsmooth
from helpers.random_bodies import Scene, build_scene
from nonsmooth._support import shipped_kernels
from nonsmooth.machine_code.kernel_lock import compile_each_kernel_once


def drop_stale_kernels() -> None:
    """Delete compiled kernels that are older than a source file that is part of them.

    Numba looks at the source file of a kernel alone, not at the files of the functions inlined in it.
    """
    package = Path(nonsmooth.__file__).parent
    sources = [*package.rglob("kernels/**/*.py"), *(package / "_support").glob("*.py")]
    imports = {source: kernel_imports(source, package) & set(sources) for source in sources}
    of_all = set(shipped_kernels.HOW)
    for source in sources:
        parts, waiting = set(of_all), [source]
        while waiting:
            part = waiting.pop()
            if part not in parts:
                parts.add(part)
                waiting += imports[part]
        newest = max(part.stat().st_mtime for part in parts)
        for compiled in source.parent.glob(f"__pycache__/{source.stem}.*.nb[ic]"):
            if compiled.stat().st_mtime < newest:
                compiled.unlink(missing_ok=True)


def kernel_imports(source: Path, package: Path) -> set[Path]:
    """The files that a source file imports from this package by name."""
    modules = [
        f"{statement.module}.{name.name}" if deeper else statement.module
        for statement in ast.walk(ast.parse(source.read_text(encoding="utf-8")))
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("nonsmooth.")
        for name in statement.names
        for deeper in (False, True)
    ]
    return {package.parent / f"{module.replace('.', '/')}.py" for module in modules}


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
