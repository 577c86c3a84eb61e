"""Numbers and names in code notation, found in text and typeset for figures."""

from __future__ import annotations

import re

SCIENTIFIC = re.compile(r"(?<![\w.])([−-]?\d+(?:\.\d+)?)e([+−-]?\d+)\b")
"""1.5e-13: mantissa and exponent."""
NEGATIVE = re.compile(r"(?<![\w.)\]])-(?=\d)")
"""A hyphen that stands for a minus sign."""
INDEX = re.compile(r"(?<![\w./])([A-Za-zΑ-Ωα-ω])_([A-Za-z0-9]{1,4})(?![\w./])")
"""A letter with an index, such as v_x; file names have longer words before the underscore."""


def power_of_ten(found: re.Match[str]) -> tuple[str, int]:
    """Mantissa and exponent of a match of SCIENTIFIC; the mantissa is empty if it is 1."""
    mantissa, exponent = found[1].replace("-", "−"), int(found[2].replace("−", "-"))
    return mantissa.removesuffix("1") if mantissa in ("1", "−1") else mantissa, exponent


def for_figures(text: str) -> str:
    """The text with minus signs, powers of ten and indices in matplotlib's notation."""
    if "$" in text:
        return text  # is in mathematical notation already
    text = SCIENTIFIC.sub(_power, NEGATIVE.sub("−", text))
    return INDEX.sub(r"$\\mathit{\1}_\\mathrm{\2}$", text)


def _power(found: re.Match[str]) -> str:
    mantissa, exponent = power_of_ten(found)
    times = r"\times" if mantissa not in ("", "−") else ""
    return f"${mantissa}{times}10^{{{exponent}}}$"
