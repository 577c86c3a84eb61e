"""Half-spaces that may rotate, and what they may meet: see `kernels.turning`."""

from __future__ import annotations

import numpy as np

from nonsmooth.model import quaternions
from nonsmooth.model.shapes import HALF_SPACE
from nonsmooth.model.system import System
from nonsmooth.stepping.kernels.turning import Planes


def turning_planes(system: System) -> Planes:
    """All half-spaces of a system."""
    table = system.shapes
    rows = np.flatnonzero(table.kind == HALF_SPACE)
    normal = quaternions.rotate(table.rotation[rows], np.array([0.0, 0.0, 1.0]))
    touchable = np.zeros(system.count, dtype=bool)
    touchable[table.body] = True
    others = np.flatnonzero(touchable & ~system.fixed)
    return Planes(table.body[rows].astype(np.int64), normal, others, system.bounding_radius[others])
