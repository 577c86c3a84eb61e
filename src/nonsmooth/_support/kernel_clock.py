"""A clock that stops while Numba compiles kernels or loads compiled ones.

A kernel is compiled, or loaded from the cache, at its first call. This time counts in no part of a run.
"""

from __future__ import annotations

import threading
import time
from importlib import import_module
from typing import Any

_event: Any = import_module("numba.core.event")  # it has no types


class _Waiting(threading.local):
    """Time that each thread has waited so far for kernels that it called for the first time."""

    depth = 0
    began = 0.0
    seconds = 0.0


class _Listener(_event.Listener):  # type: ignore[misc]
    """Counts the time from a thread's request for Numba's lock to its release."""

    def on_start(self, event: Any) -> None:
        if _waiting.depth == 0:
            _waiting.began = time.perf_counter()
        _waiting.depth += 1

    def on_end(self, event: Any) -> None:
        _waiting.depth -= 1
        if _waiting.depth == 0:
            _waiting.seconds += time.perf_counter() - _waiting.began


_waiting = _Waiting()
_event.register("numba:compiler_lock", _Listener())


def kernel_seconds() -> float:
    """Wall time in s that this thread has waited so far for kernels to be compiled or loaded."""
    return _waiting.seconds


def work_seconds() -> float:
    """Wall time in s without that; only differences are meaningful."""
    return time.perf_counter() - _waiting.seconds
