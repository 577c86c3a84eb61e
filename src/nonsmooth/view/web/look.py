"""What is to be seen on a page of the web viewer, and colours as viser takes them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Pixels
from nonsmooth.view.drawing.colours import ColourBy

_LINEAR = (255.0 * (np.arange(256) / 255.0) ** 2.2).round().astype(np.uint8)


@dataclass(frozen=True)
class Look:
    """What is to be seen, and how."""

    colour_by: ColourBy = ColourBy.SPEED
    contact_points: bool = False
    force_arrows: bool = False
    force_chains: bool = False
    joints: bool = True
    body_axes: bool = False
    opacity: float = 1.0
    """Of movable bodies, from 0 to 1."""
    fixed_opacity: float = 1.0
    """Of fixed bodies other than half-spaces, from 0 to 1."""
    arrow_length: float = 1.0
    """Arrows are so many times as long as they would be by themselves."""
    selected: int | None = None
    """A body."""

    @property
    def marks(self) -> bool:
        """Whether something of contacts is to be seen."""
        return self.contact_points or self.force_arrows or self.force_chains


def linear(rgb: ArrayLike) -> Pixels:
    """Return colours (…, 3) of 0 to 255 as viser takes those of instances: in linear light."""
    return np.asarray(_LINEAR[np.asarray(rgb)])
