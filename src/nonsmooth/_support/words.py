"""Numbers in sentences."""

from __future__ import annotations


def counted(number: int, what: str, many: str | None = None) -> str:
    """Return a number with its noun: 1 contact, 2 contacts; `many` is an irregular plural."""
    return f"{number} {what if number == 1 else many or what + 's'}"


def duration(seconds: float) -> str:
    """A duration as text: 3.2 s, 4 min 12 s, 2 h 5 min."""
    if seconds < 10.0:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
