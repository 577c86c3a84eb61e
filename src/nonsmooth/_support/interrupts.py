"""Sections that Ctrl-C must not interrupt."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C until the end of a short section.

    Python handles signals only in the main thread: in other threads this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed = False

    def press(number: int, frame: object) -> None:
        nonlocal pressed
        pressed = True

    before = signal.signal(signal.SIGINT, press)
    try:
        yield
    finally:
        # None: the host program of an embedded Python has a handler, which Python cannot restore.
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
        if pressed:
            signal.raise_signal(signal.SIGINT)
