"""Work that Ctrl-C must not cut in two."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait for the end of a short piece of work, and take effect there.

    Python handles signals in the main thread alone: in others there is nothing to wait for.
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
        # None: another program that Python is part of has a handler of its own, which Python cannot put back.
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
        if pressed:
            signal.raise_signal(signal.SIGINT)
