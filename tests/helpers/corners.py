"""Corners and triangles of boxes."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def box_corners(size: tuple[float, float, float]) -> Floats:
    return np.array(list(itertools.product(*((-0.5 * edge, 0.5 * edge) for edge in size))))


CUBE_TRIANGLES = np.array(
    [
        [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
        [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
    ]
)  # fmt: skip
"""Of `box_corners`, outward."""
