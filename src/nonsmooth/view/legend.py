"""What is written on a picture: the time, the scale of colours, and what lines and arrows mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nonsmooth.view.colours import Colours, legend_text, number_text, scale_colours

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

Pixels = NDArray[np.uint8]
Colour = tuple[int, int, int]

_INK = (45, 50, 58)


@dataclass(frozen=True)
class Key:
    """A line of the legend: a sign and what it means."""

    text: str
    colour: Colour
    sign: str = "dot"
    """dot, line or arrow."""
    length: float = 0.0
    """Of an arrow, in pixels."""
    thickness: float = 0.0
    """Of a line, in pixels."""


def annotate(pixels: Pixels, time: float, colours: Colours, keys: Sequence[Key]) -> Pixels:
    """Return a picture (h, w, 3) with the time (s) and legends on it."""
    from PIL import Image, ImageDraw

    image = Image.fromarray(pixels)
    draw = ImageDraw.Draw(image)
    height, width = pixels.shape[:2]
    em = max(round(min(height, width) / 34.0), 9)
    font = _font(em)
    _text(draw, (em, height - em), f"t = {time:.3f} s", font, anchor="ls")
    at = height - 3.2 * em
    for key in reversed(keys):
        _draw_key(draw, key, (em, at), em, font)
        at -= 1.6 * em
    if colours.unit:
        _colour_bar(image, draw, colours, em, font)
    return np.asarray(image)


def _draw_key(draw: ImageDraw, key: Key, place: tuple[float, float], em: int, font: FreeTypeFont) -> None:
    x, y = place
    middle, end = y - 0.35 * em, x + 2.2 * em
    if key.sign == "dot":
        r = 0.38 * em
        draw.ellipse((x + 0.7 * em - r, middle - r, x + 0.7 * em + r, middle + r), fill=key.colour)
        end = x + 1.6 * em
    elif key.sign == "line":
        draw.line((x, middle, end, middle), fill=key.colour, width=max(round(key.thickness), 1))
    else:
        end = x + max(key.length, 0.8 * em)
        head = min(0.6 * em, 0.5 * (end - x))
        draw.line((x, middle, end - head, middle), fill=key.colour, width=max(round(0.16 * em), 1))
        draw.polygon(
            [(end, middle), (end - head, middle - 0.5 * head), (end - head, middle + 0.5 * head)],
            fill=key.colour,
        )
    _text(draw, (end + 0.5 * em, y), key.text, font, anchor="ls")


def _colour_bar(image: object, draw: ImageDraw, colours: Colours, em: int, font: FreeTypeFont) -> None:
    """A bar at the right edge with its label above, and numbers beside its ends and its middle."""
    from PIL import Image

    assert isinstance(image, Image.Image)
    width, height = image.size
    thick, tall = max(round(0.7 * em), 4), round(0.32 * height)
    low, high = legend_text(colours.low, colours.high, "")
    middle = number_text(0.5 * (colours.low + colours.high))
    title = f"{colours.label} ({colours.unit})"
    right = width - em
    numbers = max(draw.textlength(text, font=font) for text in (low, middle, high))
    left = round(right - numbers - 0.4 * em - thick)
    top = round(2.9 * em)
    ramp = scale_colours()[np.linspace(255, 0, tall).round().astype(int)]
    image.paste(Image.fromarray(np.repeat(ramp[:, None], thick, axis=1)), (left, top))
    draw.rectangle((left, top, left + thick - 1, top + tall - 1), outline=_INK)
    for share, text in ((0.0, high), (0.5, middle), (1.0, low)):
        y = top + share * (tall - 1)
        draw.line((left + thick, y, left + thick + 0.2 * em, y), fill=_INK)
        _text(draw, (left + thick + 0.4 * em, y), text, font, anchor="lm")
    _text(draw, (right, top - 0.8 * em), title, font, anchor="rs")


def _text(draw: ImageDraw, place: tuple[float, float], text: str, font: FreeTypeFont, anchor: str) -> None:
    """Dark letters with a light rim, to be read on any colour."""
    draw.text(place, text, fill=_INK, font=font, anchor=anchor, stroke_width=2, stroke_fill=(255, 255, 255))


@cache
def _font(size: int) -> FreeTypeFont:
    """The letters that come with matplotlib, the same on every computer."""
    import matplotlib
    from PIL import ImageFont

    return ImageFont.truetype(f"{matplotlib.get_data_path()}/fonts/ttf/DejaVuSans.ttf", size)
