"""Legends of a picture: the time, the scale of colours, and the keys of lines and arrows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nonsmooth._support.arrays import Pixels
from nonsmooth.view.drawing.camera import Edges
from nonsmooth.view.drawing.colours import Colours, legend_text, number_text

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

Colour = tuple[int, int, int]

_INK = (45, 50, 58)
AIR = Edges(0.86, 0.86, 0.82, 0.82)
"""Part of a picture that bodies may fill without a legend."""
_LEAST = 0.2
"""Smallest part of a picture that bodies may fill, even with large legends."""
_KEYS_ABOVE, _KEY_LINE = 3.2, 1.6
"""Height of the last key above the lower edge, and of a line of keys, in em."""
_BAR_TOP, _BAR_TALL = 2.9, 0.32
"""Top of the scale of colours, in em, and its height relative to the picture."""


@dataclass(frozen=True)
class Key:
    """A line of the legend: a sign and its meaning."""

    text: str
    colour: Colour
    sign: str = "dot"
    """dot, line or arrow."""
    length: float = 0.0
    """Length of an arrow, in pixels."""
    thickness: float = 0.0
    """Thickness of a line, in pixels."""


def annotate(pixels: Pixels, time: float, colours: Colours, keys: Sequence[Key], ramp: Pixels) -> Pixels:
    """Return a picture (h, w, 3) with the time (s) and legends on it.

    `ramp` (k, 3) are the colours of the scale as on bodies, from the lower to the upper end.
    """
    from PIL import Image, ImageDraw

    image = Image.fromarray(pixels)
    draw = ImageDraw.Draw(image)
    height, width = pixels.shape[:2]
    em = _em(width, height)
    font = _font(em)
    _text(draw, (em, height - em), f"t = {time:.3f} s", font, anchor="ls")
    at = height - _KEYS_ABOVE * em
    for key in reversed(keys):
        _draw_key(draw, key, (em, at), em, font)
        at -= _KEY_LINE * em
    if colours.unit:
        _colour_bar(image, draw, colours, ramp, em, font)
    return np.asarray(image)


def free_edges(width: int, height: int, colours: Colours, keys: Sequence[Key]) -> list[Edges]:
    """Return the parts of a picture that the legends leave free; bodies may fill one of them.

    The legend of lines and dots is in the lower left corner, the scale of colours in the upper right one:
    the free parts are beside or above the one, and beside or below the other.
    """
    em = _em(width, height)
    lower_left: list[dict[str, float]] = [{}]
    upper_right: list[dict[str, float]] = [{}]
    if keys:
        widest = max(_key_sign(key, em) + 0.5 * em + _font(em).getlength(key.text) for key in keys)
        tall = (_KEYS_ABOVE + _KEY_LINE * len(keys)) * em
        lower_left = [{"left": 2.0 * em + widest}, {"down": tall}]
    if colours.unit:
        columns = _bar_columns(colours, em)
        wide = max(columns.numbers + columns.thick, columns.title)
        tall = _BAR_TOP * em + _BAR_TALL * height
        upper_right = [{"right": 1.8 * em + wide}, {"up": tall + 1.5 * em}]
    half = {"left": 0.5 * width, "right": 0.5 * width, "up": 0.5 * height, "down": 0.5 * height}
    return [
        AIR._replace(
            **{
                side: max(min(1.0 - taken / half[side], getattr(AIR, side)), _LEAST)
                for side, taken in {**lower, **upper}.items()
            }
        )
        for lower in lower_left
        for upper in upper_right
    ]


def _draw_key(draw: ImageDraw, key: Key, place: tuple[float, float], em: int, font: FreeTypeFont) -> None:
    x, y = place
    middle, end = y - 0.35 * em, x + _key_sign(key, em)
    if key.sign == "dot":
        r = 0.38 * em
        draw.ellipse((x + 0.7 * em - r, middle - r, x + 0.7 * em + r, middle + r), fill=key.colour)
    elif key.sign == "line":
        draw.line((x, middle, end, middle), fill=key.colour, width=max(round(key.thickness), 1))
    else:
        head = min(0.6 * em, 0.5 * (end - x))
        draw.line((x, middle, end - head, middle), fill=key.colour, width=max(round(0.16 * em), 1))
        draw.polygon(
            [(end, middle), (end - head, middle - 0.5 * head), (end - head, middle + 0.5 * head)],
            fill=key.colour,
        )
    _text(draw, (end + 0.5 * em, y), key.text, font, anchor="ls")


def _key_sign(key: Key, em: int) -> float:
    """Width of a key's sign in pixels."""
    if key.sign == "dot":
        return 1.6 * em
    return 2.2 * em if key.sign == "line" else max(key.length, 0.8 * em)


class _BarColumns(NamedTuple):
    """Texts of the scale of colours, and widths in pixels."""

    texts: tuple[str, str, str]
    """Numbers at the upper end, in the middle and at the lower end."""
    heading: str
    thick: int
    """Width of the bar."""
    numbers: float
    """Width of the numbers and their distance from the bar."""
    title: float
    """Width of the heading."""


def _bar_columns(colours: Colours, em: int) -> _BarColumns:
    low, high = legend_text(colours.low, colours.high, "")
    texts = (high, number_text(0.5 * (colours.low + colours.high)), low)
    heading = f"{colours.label} ({colours.unit})"
    font = _font(em)
    numbers = max(font.getlength(text) for text in texts) + 0.4 * em
    return _BarColumns(texts, heading, max(round(0.7 * em), 4), numbers, font.getlength(heading))


def _colour_bar(
    image: object, draw: ImageDraw, colours: Colours, ramp: Pixels, em: int, font: FreeTypeFont
) -> None:
    """A bar at the right edge with its label above, and numbers beside its ends and its middle."""
    from PIL import Image

    assert isinstance(image, Image.Image)
    width, height = image.size
    columns = _bar_columns(colours, em)
    thick, tall = columns.thick, round(_BAR_TALL * height)
    right = width - em
    left = round(right - columns.numbers - thick)
    top = round(_BAR_TOP * em)
    rows = ramp[np.linspace(len(ramp) - 1, 0, tall).round().astype(int)]
    image.paste(Image.fromarray(np.repeat(rows[:, None], thick, axis=1)), (left, top))
    draw.rectangle((left, top, left + thick - 1, top + tall - 1), outline=_INK)
    for share, text in zip((0.0, 0.5, 1.0), columns.texts, strict=True):
        y = top + share * (tall - 1)
        draw.line((left + thick, y, left + thick + 0.2 * em, y), fill=_INK)
        _text(draw, (left + thick + 0.4 * em, y), text, font, anchor="lm")
    _text(draw, (right, top - 0.8 * em), columns.heading, font, anchor="rs")


def _text(draw: ImageDraw, place: tuple[float, float], text: str, font: FreeTypeFont, anchor: str) -> None:
    """Dark letters with a light outline, readable on any colour."""
    draw.text(place, text, fill=_INK, font=font, anchor=anchor, stroke_width=2, stroke_fill=(255, 255, 255))


def _em(width: int, height: int) -> int:
    """Size of the letters in pixels."""
    return max(round(min(height, width) / 34.0), 9)


@cache
def _font(size: int) -> FreeTypeFont:
    """The font of matplotlib, the same on every computer."""
    import matplotlib
    from PIL import ImageFont

    return ImageFont.truetype(f"{matplotlib.get_data_path()}/fonts/ttf/DejaVuSans.ttf", size)
