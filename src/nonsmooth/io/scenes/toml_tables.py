"""Tables of a TOML file with their positions: every error names file, line and key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from nonsmooth.errors import FileFormatError, NonsmoothError
from nonsmooth.io.scenes.toml_lines import Path, line_of


class Table:
    """A table with its place in the file."""

    def __init__(self, file: str, lines: dict[Path, int], values: Any, path: Path = ()) -> None:
        self._file, self._lines, self._path = file, lines, path
        if not isinstance(values, dict):
            self.fail(f"it is {_shown(values)}: write a table")
        self.values: dict[str, Any] = values

    def fail(self, cause: str, key: str | None = None) -> NoReturn:
        """Raise an error about a key, or about the table."""
        path = self._path if key is None else (*self._path, key)
        place = f"{self._file}, line {line_of(self._lines, path)}"
        raise FileFormatError(f"{place}, {_dotted(path)}: {cause}" if path else f"{place}: {cause}")

    def check_keys(self, *known: str) -> None:
        """Raise on a key that is not among the known ones."""
        for key in self.values:
            if key not in known:
                self.fail(f"this key is not known here: use {', '.join(known)}", key)

    def needed(self, key: str) -> Any:
        """Return the value of a required key."""
        if key not in self.values:
            self.fail(f"{key} is missing: add it")
        return self.values[key]

    def picked(self, *keys: str) -> dict[str, Any]:
        """Return those of the keys that are present."""
        return {key: self.values[key] for key in keys if key in self.values}

    def choice(self, key: str, choices: tuple[str, ...]) -> str:
        """Return a text that must be one of some choices."""
        value = self.needed(key)
        if value not in choices:
            self.fail(f"{_shown(value)} is not known: use one of {', '.join(choices)}", key)
        return str(value)

    def whole(self, key: str, smallest: int, default: int | None = None) -> int:
        """Return a whole number, at least `smallest`."""
        value = self.needed(key) if default is None else self.values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < smallest:
            self.fail(f"it is {_shown(value)}: give a whole number, at least {smallest}", key)
        return value

    def check_flags(self, *keys: str) -> None:
        """Raise if one of the keys is present and is neither true nor false."""
        for key in keys:
            if not isinstance(self.values.get(key, False), bool):
                self.fail("it is neither true nor false: give one of them, without quotes", key)

    def table(self, key: str) -> Table:
        """Return the table under a key; an empty one if it is missing."""
        return Table(self._file, self._lines, self.values.get(key, {}), (*self._path, key))

    def tables(self, key: str) -> Iterator[Table]:
        """Return the tables of an array of tables [[key]], one after the other."""
        array = self.values.get(key, [])
        if not isinstance(array, list):
            dotted = _dotted((*self._path, key))
            self.fail(f"it is {_shown(array)}: write [[{dotted}]] for each entry", key)
        for number, values in enumerate(array):
            yield Table(self._file, self._lines, values, (*self._path, key, number))

    @contextmanager
    def blame(self, *innocent: str) -> Iterator[None]:
        """Convert errors while using the table into errors that name the key, if they contain one.

        Keys that are `innocent` occur in every message, or have been checked before.
        """
        try:
            yield
        except FileFormatError:
            raise
        except NonsmoothError as error:
            words = re.findall(r"\w+", re.sub(r"'[^']*'", "", str(error)))
            named = next((word for word in words if word in self.values and word not in innocent), None)
            self.fail(str(error), named)


def _dotted(path: Path) -> str:
    out = ""
    for step in path:
        out += f"[{step}]" if isinstance(step, int) else f".{step}" if out else step
    return out


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "an array"
    return str(value).lower() if isinstance(value, bool) else repr(value)
