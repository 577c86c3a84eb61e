"""Choices on a page of the web viewer, and colours for viser."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Pixels
from nonsmooth.view.drawing.look import Look

_LINEAR = (255.0 * (np.arange(256) / 255.0) ** 2.2).round().astype(np.uint8)


@dataclass(frozen=True)
class Choice:
    """Choices on the page."""

    look: Look = Look()  # noqa: RUF009  (frozen)
    joints: bool = True
    body_axes: bool = False
    opacity: float = 1.0
    """Opacity of movable bodies, from 0 to 1."""
    fixed_opacity: float = 1.0
    """Opacity of fixed bodies other than half-spaces, from 0 to 1."""
    arrow_length: float = 1.0
    """Factor on the default length of arrows."""
    selected: int | None = None
    """The selected body."""


def linear(rgb: ArrayLike) -> Pixels:
    """Return colours (…, 3) of 0 to 255 as viser takes those of instances: in linear light."""
    return np.asarray(_LINEAR[np.asarray(rgb)])
