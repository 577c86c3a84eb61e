"""Processes that share a cache of kernels: one compiles a kernel, the others wait and load it."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def compile_each_kernel_once(lock_file: Path) -> None:
    """Let this process compile a cached kernel only while no other process with this lock file does so.

    A kernel locks one byte of the file, and so do the kernels that it calls: in the order of calls, so that
    two processes cannot wait for each other. The lock of a process that dies is gone.
    """
    try:
        import fcntl
    except ImportError:  # Windows: some kernels are compiled twice
        return
    from numba.core import dispatcher as numba_dispatcher
    from numba.core.compiler_lock import global_compiler_lock

    lock_file.parent.mkdir(exist_ok=True)
    file = lock_file.open("a+b")  # kept open: to close it would drop the locks
    dispatcher: Any = numba_dispatcher.Dispatcher
    compile_now = dispatcher.compile

    @contextlib.contextmanager
    def locked(kernel: str) -> Iterator[None]:
        byte = zlib.crc32(kernel.encode())
        with global_compiler_lock:  # first: threads of this process share its locks
            fcntl.lockf(file, fcntl.LOCK_EX, 1, byte)
            try:
                yield
            finally:
                fcntl.lockf(file, fcntl.LOCK_UN, 1, byte)

    def compile_or_load(self: Any, signature: Any) -> Any:
        if getattr(self._cache, "cache_path", None) is None:
            return compile_now(self, signature)
        with locked(f"{self.py_func.__module__}.{self.py_func.__qualname__}"):
            return compile_now(self, signature)

    dispatcher.compile = compile_or_load
