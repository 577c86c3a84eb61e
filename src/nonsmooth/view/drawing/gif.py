"""Films as GIF files, written picture by picture, with at most two pictures in memory.

A picture has at most 255 colours, chosen for the pixels that differ from the previous picture; the rest is
transparent, so that still parts do not flicker and improve from picture to picture.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Pixels

_COLOURS = 255
"""Colours of a picture; one more is for unchanged pixels."""
_TOLERANCE = 8
"""Largest difference of red, green or blue, of 255, for which a pixel is not changed."""
_CELLS = 64
"""Number of shades of red, green and blue distinguished in the choice of colours."""
_FOREVER = b"!\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"
"""Repeat for ever."""
_END = b";"


class GifFile:
    """A film under construction; after `close` it can be played with any number of pictures.

    Args:
        path: of the file; an older one is replaced.
        width: in pixels.
        height: in pixels.
    """

    def __init__(self, path: Path, width: int, height: int) -> None:
        size = width.to_bytes(2, "little") + height.to_bytes(2, "little")
        self._shown: NDArray[np.int16] | None = None
        self._file = path.open("wb")
        # no global colours, no background, square pixels
        self._file.write(b"GIF89a" + size + b"\x70\x00\x00" + _FOREVER)

    def add(self, picture: Pixels, delay: int) -> None:
        """Add a picture (h, w, 3) that is shown for `delay` hundredths of a second."""
        from PIL import GifImagePlugin, Image

        wrong = np.ones(picture.shape[:2], dtype=bool)
        if self._shown is not None:
            wrong = np.abs(picture.astype(np.int16) - self._shown).max(axis=2) > _TOLERANCE
        left, upper, right, lower = _box(wrong)
        wrong = wrong[upper:lower, left:right]
        codes = np.full(wrong.shape, _COLOURS, dtype=np.uint8)
        codes[wrong], table = _few_colours(picture[upper:lower, left:right][wrong])
        frame = Image.fromarray(codes)
        frame.putpalette(table.tobytes())
        # The first picture is complete: some readers infer transparency of the film from it.
        kept = {} if self._shown is None else {"transparency": _COLOURS}
        data = GifImagePlugin.getdata(
            frame, (left, upper), duration=10 * delay, disposal=1, include_color_table=True, **kept
        )
        self._file.writelines(data)
        data.clear()  # Pillow's reference to it lives until the next garbage collection
        if self._shown is None:
            self._shown = picture.astype(np.int16)
        self._shown[upper:lower, left:right][wrong] = table[codes[wrong]]

    def close(self) -> None:
        """End the file."""
        with self._file:
            self._file.write(_END)

    def __enter__(self) -> GifFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _few_colours(pixels: Pixels) -> tuple[Pixels, Pixels]:
    """Return codes (k,) for pixels (k, 3), and the colours (256, 3) of the codes.

    Median cut of all shades; those of many pixels have more weight, but less than in proportion, so that
    small objects keep their colours beside a large background.
    """
    from PIL import Image

    table = np.zeros((_COLOURS + 1, 3), dtype=np.uint8)
    if not len(pixels):
        return np.zeros(0, dtype=np.uint8), table
    shade = pixels.astype(np.int32) * _CELLS // 256
    cell = (shade[:, 0] * _CELLS + shade[:, 1]) * _CELLS + shade[:, 2]
    count = np.bincount(cell, minlength=_CELLS**3)
    there = np.flatnonzero(count)
    sums = [np.bincount(cell, weights=pixels[:, k], minlength=_CELLS**3)[there] for k in range(3)]
    means = np.stack(sums, axis=1) / count[there, None]
    weight = np.ceil(np.sqrt(count[there])).astype(np.int64)
    row = np.repeat(means.round().astype(np.uint8), weight, axis=0)
    chosen = Image.fromarray(row[None]).quantize(
        _COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE
    )
    colours = np.array(chosen.getpalette(), dtype=np.uint8).reshape(-1, 3)[:_COLOURS]
    table[: len(colours)] = colours
    code = np.zeros(_CELLS**3, dtype=np.uint8)
    code[there] = np.asarray(chosen)[0][np.cumsum(weight) - 1]
    return code[cell], table


def _box(wrong: NDArray[np.bool_]) -> tuple[int, int, int, int]:
    """Left, upper, right and lower edge of the changed pixels; one pixel if none changed."""
    rows, columns = np.flatnonzero(wrong.any(axis=1)), np.flatnonzero(wrong.any(axis=0))
    if not len(rows):
        return 0, 0, 1, 1
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1
