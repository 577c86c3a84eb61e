"""Text files of numbers, read token by token and validated.

Sizes declared in a file are checked against its number of tokens, so that no memory larger than the file is
allocated. Every error names the line, the expected item, and the text found there.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from nonsmooth.errors import FileFormatError
from nonsmooth.io._hdf5 import FilePath, check_readable

_WHITE = np.zeros(256, dtype=bool)
_WHITE[list(b" \t\n\r\v\f")] = True

Kind = bytes | type[int] | type[float]
Pattern = tuple[Kind, ...]
"""Kinds of words in a record: a whole number, a finite number, or any word."""

_WANTED = {int: "a whole number", float: "a finite number"}

_CHUNK = 1 << 16
"""Records converted at a time: Python's objects for them take far more memory than the numbers."""


class Tokens:
    """The tokens of a file between white space, taken one after the other."""

    def __init__(self, path: FilePath) -> None:
        self.path = path
        check_readable(path)
        self._text = Path(path).read_bytes()
        white = _WHITE[np.frombuffer(self._text, dtype=np.uint8)]
        first = ~white
        first[1:] &= white[:-1]
        self._start = np.flatnonzero(first)
        self._next = 0

    @property
    def left(self) -> int:
        """Number of tokens not yet taken."""
        return len(self._start) - self._next

    def ahead(self, count: int) -> list[bytes]:
        """Return up to `count` of the next tokens without taking them."""
        return self._slice(self._next, min(self._next + count, len(self._start))).split()

    def take(self, count: int, what: str) -> list[bytes]:
        """Take the next `count` tokens unchanged. All of them are in memory at once: take few."""
        self.require(count, what)
        self._next += count
        return self._slice(self._next - count, self._next).split()

    def integer(self, what: str, low: int, high: int) -> int:
        """Take one whole number from `low` to `high`."""
        value = int(self.integers(1, what)[0])
        if not low <= value <= high:
            wanted = f"from {low} to {high}" if low < high else str(high)
            self.fail(f"{what} must be {wanted}, and is {value}", back=1)
        return value

    def integers(self, count: int, what: str) -> NDArray[np.int64]:
        """Take `count` whole numbers."""
        return cast("NDArray[np.int64]", self.records(count, (int,), what)[0])

    def numbers(self, count: int, what: str) -> NDArray[np.float64]:
        """Take `count` finite numbers."""
        return cast("NDArray[np.float64]", self.records(count, (float,), what)[0])

    def records(self, count: int, pattern: Pattern, what: str) -> list[NDArray[Any]]:
        """Take `count` repetitions of a pattern of words; return an array for every `int` and `float`."""
        width = len(pattern)
        self.require(count * width, what)
        begin = self._next
        self._next += count * width
        out = [
            np.empty(count, np.int64 if kind is int else np.float64)
            for kind in pattern
            if kind in (int, float)
        ]
        for at in range(0, count, _CHUNK):
            stop = min(at + _CHUNK, count)
            text = self._slice(begin + at * width, begin + stop * width)
            words = text.split()
            # Python's own conversion allows "_" between digits.
            if b"_" in text or not _convert(words, pattern, [array[at:stop] for array in out]):
                self._fail_at_first(words, pattern, (count - at) * width, what)
        return out

    def end(self, what: str) -> None:
        """Raise if anything is left after `what`."""
        if self.left:
            self.fail(f"nothing is expected after {what}, but more follows", back=0)

    def fail(self, message: str, back: int = 1) -> NoReturn:
        """Raise with the line of the token taken `back` tokens ago, or of the file's end."""
        place = self._next - back
        at = self._start[place] if place < len(self._start) else len(self._text)
        line = self._text.count(b"\n", 0, int(at)) + 1
        raise FileFormatError(f"{self.path}, line {line}: {message}")

    def require(self, count: int, what: str) -> None:
        """Raise unless the file has `count` more tokens: checked before memory of that size is allocated."""
        if count > self.left:
            self._next = len(self._start)
            self.fail(f"{what} should follow ({count} words), but the file ends before that", back=0)

    def _slice(self, first: int, last: int) -> bytes:
        start = self._start[first] if first < len(self._start) else len(self._text)
        end = self._start[last] if last < len(self._start) else len(self._text)
        return self._text[start:end]

    def _fail_at_first(self, words: list[bytes], pattern: Pattern, back: int, what: str) -> NoReturn:
        """Raise for the first word of some records that does not match the pattern."""
        kinds = [pattern[k % len(pattern)] for k in range(len(words))]
        bad = next(k for k, word in enumerate(words) if not _fits(word, kinds[k]))
        kind = kinds[bad]
        wanted = repr(kind.decode()) if isinstance(kind, bytes) else _WANTED[kind]
        self.fail(f"{what} needs {wanted}, and {shown(words[bad])} stands there", back=back - bad)


def shown(word: bytes) -> str:
    """A word of a file for a message: short and printable."""
    return repr(word[:24].decode("ascii", "replace")) + ("…" if len(word) > 24 else "")


def _convert(words: list[bytes], pattern: Pattern, out: list[NDArray[Any]]) -> bool:
    """Fill the arrays from the words of some records; False if a word does not fit."""
    arrays = iter(out)
    for k, kind in enumerate(pattern):
        part = words[k :: len(pattern)]
        if isinstance(kind, bytes):
            if part.count(kind) != len(part):
                return False
            continue
        array = next(arrays)
        try:
            array[:] = np.fromiter(map(kind, part), array.dtype, len(part))
        except (ValueError, OverflowError):
            return False
        if kind is float and not np.isfinite(array).all():
            return False
    return True


def _fits(word: bytes, kind: Kind) -> bool:
    if isinstance(kind, bytes):
        return word == kind
    try:
        value = kind(word)
    except ValueError:
        return False
    return b"_" not in word and (-(2**63) <= value < 2**63 if kind is int else math.isfinite(value))
