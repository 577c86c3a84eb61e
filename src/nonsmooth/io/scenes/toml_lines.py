"""Line numbers in a TOML file, which the reader of the standard library does not provide."""

from __future__ import annotations

import re
import tomllib

Path = tuple[str | int, ...]
"""Keys and positions in arrays from the root down: ("bodies", 2, "radius")."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|' r"'''.*?'{3,5}|" r'"(?:\\.|[^"\\\n])*"|' r"'[^'\n]*'", re.DOTALL
)
_SCALAR = re.compile(r"[^,\]}\n#]+")


def lines_of(text: str) -> dict[Path, int]:
    """Return the line, counted from 1, of every table, key and array element of valid TOML."""
    return _Scanner(text).lines


def line_of(lines: dict[Path, int], path: Path) -> int:
    """Return the line of a path, or of the nearest enclosing object with a line."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)


class _Scanner:
    """Scans the text once; it must be valid TOML."""

    def __init__(self, text: str) -> None:
        self.lines: dict[Path, int] = {}
        self._text, self._at = text, 0
        self._line, self._counted = 1, 0
        self._elements: dict[Path, int] = {}
        table: Path = ()
        self._skip_blank()
        while self._at < len(text):
            if text.startswith("[[", self._at):
                table = self._header(2)
            elif text[self._at] == "[":
                table = self._header(1)
            else:
                self._pair(table)
            self._skip_blank()

    def _skip_blank(self) -> None:
        self._at = self._matched(_BLANK)

    def _matched(self, pattern: re.Pattern[str]) -> int:
        found = pattern.match(self._text, self._at)
        assert found is not None, f"TOML that a reader took is not understood at character {self._at}"
        return found.end()

    def _mark(self, path: Path) -> None:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        self.lines.setdefault(path, self._line)

    def _keys(self) -> list[str]:
        """Read a dotted key."""
        keys = []
        while True:
            self._skip_blank()
            start = self._at
            quoted = self._text[start] in "\"'"
            self._at = self._matched(_STRING if quoted else _BARE_KEY)
            word = self._text[start : self._at]
            keys.append(str(tomllib.loads(f"key = {word}")["key"]) if quoted else word)
            self._skip_blank()
            if self._text[self._at] != ".":
                return keys
            self._at += 1

    def _header(self, brackets: int) -> Path:
        """Read [a.b] or [[a.b]] and return its path; within an array of tables, that of its last one."""
        start = self._at
        self._at += brackets
        path: Path = ()
        keys = self._keys()
        end, self._at = self._at + brackets, start
        for depth, key in enumerate(keys):
            path = (*path, key)
            last = depth == len(keys) - 1
            self._mark(path)
            if last and brackets == 2:
                self._elements[path] = self._elements.get(path, -1) + 1
            if path in self._elements:
                path = (*path, self._elements[path])
                self._mark(path)
        self._at = end
        return path

    def _pair(self, table: Path) -> None:
        path = table
        start = self._at
        keys = self._keys()
        value, self._at = self._at + 1, start  # after the sign =
        for key in keys:
            path = (*path, key)
            self._mark(path)
        self._at = value
        self._value(path)

    def _value(self, path: Path) -> None:
        self._skip_blank()
        first = self._text[self._at]
        if first == "[":
            self._sequence("]", path)
        elif first == "{":
            self._sequence("}", path)
        else:
            self._at = self._matched(_STRING if first in "\"'" else _SCALAR)

    def _sequence(self, closing: str, path: Path) -> None:
        """Read an array or an inline table."""
        self._at += 1
        number = 0
        self._skip_blank()
        while self._text[self._at] != closing:
            if closing == "]":
                self._mark((*path, number))
                self._value((*path, number))
                number += 1
            else:
                self._pair(path)
            self._skip_blank()
            if self._text[self._at] == ",":
                self._at += 1
                self._skip_blank()
        self._at += 1
