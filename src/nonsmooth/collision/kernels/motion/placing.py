"""Solids of the shapes of a scene, seen from a point near a pair."""

from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inlined_kernel
from nonsmooth.collision.kernels.directions.solids import CAPSULE, SPHERE, Solid

BODY, KIND, MATERIAL, PIECE = 0, 1, 2, 3  # columns of tags


class Place(NamedTuple):
    """A mesh or a height field: its row among the surfaces, position and axes."""

    piece: int
    x: float
    y: float
    z: float
    axes: np.ndarray


@inlined_kernel
def solid_of(shapes, s, centre, axes, x, y, z):
    """Shape s as a solid, in coordinates relative to (x, y, z)."""
    kind = np.int64(shapes.tags[s, KIND])
    radius = shapes.size[s, 3]
    if kind in (SPHERE, CAPSULE):
        radius += shapes.size[s, 0]
    return Solid(
        kind,
        shapes.size[s, 0],
        shapes.size[s, 1],
        shapes.size[s, 2],
        radius,
        centre[s, 0] - x,
        centre[s, 1] - y,
        centre[s, 2] - z,
        axes[s],
        np.int64(shapes.tags[s, PIECE]),
    )


@inlined_kernel
def place_of(shapes, s, centre, axes):
    """Where shape s, a mesh or a height field, is."""
    return Place(np.int64(shapes.tags[s, PIECE]), centre[s, 0], centre[s, 1], centre[s, 2], axes[s])


@inlined_kernel
def moved(solid, x, y, z):
    """A solid shifted by (x, y, z)."""
    return Solid(
        solid.kind,
        solid.a,
        solid.b,
        solid.c,
        solid.radius,
        solid.x + x,
        solid.y + y,
        solid.z + z,
        solid.axes,
        solid.hull,
    )
