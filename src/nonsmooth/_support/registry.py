"""Objects registered by name, and suggestions for misspelt names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from numbers import Integral
from typing import TypeVar

from nonsmooth.errors import OptionError, ProblemError

T = TypeVar("T")
_SHOWN = 20
"""Largest number of names in a message."""


def advice(wrong: str, valid: Sequence[str]) -> str:
    """Name the closest valid name, or those that contain the wrong one, or all of them."""
    close = get_close_matches(wrong, valid, n=1)
    if close:
        return f"did you mean {close[0]}?"
    alike = [name for name in valid if len(wrong) > 2 and wrong.lower() in name]
    return f"did you mean {' or '.join(alike)}?" if alike else f"choose one of {', '.join(valid)}"


def find_index(given: object, names: Mapping[str, int], count: int) -> int | None:
    """Return the index of one of `count` objects given by index or name; None if there is no such object."""
    if isinstance(given, str):
        return names.get(given)
    if isinstance(given, bool) or not isinstance(given, Integral) or not 0 <= int(given) < count:
        return None
    return int(given)


def index_of(kind: str, given: object, names: Mapping[str, int], count: int, unnamed: str) -> int:
    """Return the index of an object given by index or name; raises if it does not exist.

    `kind` is its kind, such as "body", and `unnamed` the way to give it a name.
    """
    found = find_index(given, names, count)
    if found is not None:
        return found
    if isinstance(given, str):
        known = known_names(given, list(names)) if names else f"not given, use {unnamed}"
        raise ProblemError(f"{kind} {given!r} is not known: names are {known}")
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise ProblemError(f"{kind} is {given!r}: give an index or a name")
    there = f"indices go from 0 to {count - 1}" if count else "there is none"
    raise ProblemError(f"{kind} {given} is not there: {there}")


def known_names(wrong: object, names: Sequence[str]) -> str:
    """List the valid names, of many only the nearest or the first, and a suggestion."""
    if not names:
        return "none"
    close = get_close_matches(wrong, names, n=5) if isinstance(wrong, str) else []
    meant = f"; did you mean {close[0]}?" if close else ""
    if len(names) <= _SHOWN:
        return ", ".join(names) + meant
    return f"{', '.join(close or names[:_SHOWN])}, … ({len(names)} names){meant}"


class Registry(dict[str, T]):
    """Objects by name, in the order of lists."""

    def __init__(self, kind: str, entries: Mapping[str, T]) -> None:
        super().__init__(entries)
        self._kind = kind

    def by_name(self, name: str) -> T:
        """Return the object of this name; raises with a suggestion if there is none."""
        return self[name]

    def __missing__(self, name: str) -> T:
        raise OptionError(f"there is no {self._kind} {name!r}: {advice(str(name), list(self))}")
