"""Things that are found by their name, and advice for names that are not quite right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TypeVar

from nonsmooth.errors import OptionError

T = TypeVar("T")


def advice(wrong: str, valid: Sequence[str]) -> str:
    """Name the closest valid name, or those that contain the wrong one, or all of them."""
    close = get_close_matches(wrong, valid, n=1)
    if close:
        return f"did you mean {close[0]}?"
    alike = [name for name in valid if len(wrong) > 2 and wrong.lower() in name]
    return f"did you mean {' or '.join(alike)}?" if alike else f"choose one of {', '.join(valid)}"


class Registry(dict[str, T]):
    """Names and what they stand for, in the order of lists."""

    def __init__(self, kind: str, entries: Mapping[str, T]) -> None:
        super().__init__(entries)
        self._kind = kind

    def by_name(self, name: str) -> T:
        """Return what has this name; an error that names the nearest one if nothing has."""
        if name not in self:
            raise OptionError(f"there is no {self._kind} {name!r}: {advice(name, list(self))}")
        return self[name]
