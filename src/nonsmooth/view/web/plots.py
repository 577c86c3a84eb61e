"""Small plots over time as SVG, for the panel of the web viewer."""

from __future__ import annotations

import math

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.view.drawing.colours import number_text

_WIDTH, _HEIGHT = 270.0, 118.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 40.0, 8.0, 18.0, 18.0
"""Room in pixels around the curve, for words and numbers."""


def small_plot(
    title: str, time: Floats, values: Floats, now: float, *, logarithmic: bool = False, end: float = 0.0
) -> str:
    """Return an SVG of values (p,) over time (p,) in s, strong up to `now` and pale after it.

    The time axis goes from 0 to `end` at least. On a logarithmic axis nonpositive values are
    omitted.
    """
    if logarithmic:
        time, values = time[values > 0.0], np.log10(values[values > 0.0])
    last = max(end, float(time.max(initial=0.0)), 1e-9)
    low, high, ticks = _range(values, whole=logarithmic)
    x = _LEFT + (_WIDTH - _LEFT - _RIGHT) * time / last
    y = _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * (values - low) / (high - low)
    marker = _LEFT + (_WIDTH - _LEFT - _RIGHT) * min(now / last, 1.0)
    done = int(np.searchsorted(time, now + 1e-12, side="right"))
    floor = _HEIGHT - _BOTTOM
    parts = [_text(_LEFT, 11.0, title, "start")]
    for tick in ticks:
        at = floor - (floor - _TOP) * (tick - low) / (high - low)
        parts.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{at:.1f}" y2="{at:.1f}" stroke="#8884"/>'
        )
        said = power_text(round(tick)) if logarithmic else number_text(tick)
        parts.append(_text(_LEFT - 4.0, at + 3.5, said, "end"))
    parts += [
        _text(_LEFT, _HEIGHT - 5.0, "0", "middle"),
        _text(_WIDTH - _RIGHT, _HEIGHT - 5.0, f"{last:.3g} s", "end"),
        _curve(x[max(done - 1, 0) :], y[max(done - 1, 0) :], "#9ab", 1.0),
        _curve(x[:done], y[:done], "#1c66d0", 1.6),
        f'<line x1="{marker:.1f}" x2="{marker:.1f}" y1="{_TOP}" y2="{floor}" stroke="#d33"/>',
    ]
    return (
        f'<svg viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" width="100%" role="img" aria-label="{title}">'
        f"{''.join(parts)}</svg>"
    )


def power_text(exponent: int) -> str:
    """Return a power of ten as text: 10⁻⁴."""
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _text(x: float, y: float, words: str, anchor: str) -> str:
    look = f'font-size="10" text-anchor="{anchor}" fill="currentColor"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {look}>{words}</text>'


def _curve(x: Floats, y: Floats, colour: str, width: float) -> str:
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{width}"/>'


def _range(values: Floats, *, whole: bool) -> tuple[float, float, list[float]]:
    """Lower and upper end of the value axis, and two to four numbers to write beside it."""
    if not len(values):
        return 0.0, 1.0, []
    low, high = float(values.min()), float(values.max())
    if whole:
        first = math.floor(low)
        last = max(math.ceil(high), first + 1)
        ticks = range(first, last + 1, math.ceil((last - first) / 3))
        return float(first), float(last), [float(tick) for tick in ticks]
    low = min(low, 0.0)
    if high <= low:
        return low, low + 1.0, [low]
    power = 10.0 ** math.floor(math.log10(high - low))
    stride = next(power * step for step in (0.2, 0.5, 1.0, 2.0, 5.0) if (high - low) / (power * step) < 4.0)
    first = math.ceil(low / stride - 1e-9)
    return low, high, [stride * k for k in range(first, math.floor(high / stride + 1e-9) + 1)]
