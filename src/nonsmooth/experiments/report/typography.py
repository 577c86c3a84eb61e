"""Typography of text and numbers: minus signs, powers of ten, indices, quotation marks."""

from __future__ import annotations

import math
import re

from markupsafe import Markup, escape

from nonsmooth.experiments.shared.notation import INDEX, NEGATIVE, SCIENTIFIC, power_of_ten

_QUOTED = re.compile(r"(?<!\w)'([^']*)'(?!\w)")
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=%|(?:mm|m|ms|s|kg|g|N|J|rad|°|GB)\b)")
_THIN, _NO_BREAK = "\u202f", "\u00a0"


def typeset(text: str) -> Markup:
    """Plain text as HTML; code notation (`1e-6`, `v_x`, `-3`) is typeset."""
    text = _QUOTED.sub("‘\\1’", text).replace("'", "’")
    text = str(escape(NEGATIVE.sub("−", text)))
    text = SCIENTIFIC.sub(_power, text)
    return Markup(_BEFORE_UNIT.sub(_NO_BREAK, INDEX.sub(r"\1<sub>\2</sub>", text)))


def number(value: float | None, digits: int = 6) -> Markup:
    """A number as HTML; tiny ones, which are errors, have three digits. None is an empty cell."""
    if value is None:
        return Markup()
    if not math.isfinite(value):
        return Markup("–")
    text = f"{value:.{digits}g}"
    if "e-" in text:
        text = f"{value:.{min(digits, 3)}g}"
    return typeset(text)


def percent(part: float) -> str:
    """A relative difference with its sign, in per cent."""
    value = 100.0 * part
    shown = f"{value:+.2g}" if abs(value) < 100.0 else f"{value:+.0f}"
    return f"{shown.replace('-', '−')}{_NO_BREAK}%"


def _power(found: re.Match[str]) -> str:
    mantissa, exponent = power_of_ten(found)
    ten = f"10<sup>{str(exponent).replace('-', '−')}</sup>"
    return f"{mantissa}{_THIN}×{_THIN}{ten}" if mantissa not in ("", "−") else mantissa + ten
