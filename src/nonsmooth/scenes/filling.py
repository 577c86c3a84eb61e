"""Spheres that fall into an open container (Melanz et al. §3.2 and §3.4)."""

from __future__ import annotations

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import OptionError
from nonsmooth.model.system import System
from nonsmooth.scenes.registry import scene

_SPACING = 2.2
"""Distance of neighbours on the starting lattice, in radii."""
_JITTER = 0.05
"""Largest random shift of a sphere from its place, in radii and in each direction."""


@scene("spheres that fall into an open container (Melanz et al. §3.2)", small={"spheres": 30})
def filling(
    spheres: int = 1000,
    *,
    radius: float = 1.0,
    mass: float = 1.0,
    friction: float = 0.25,
    width: float | None = None,
    gravity: float = 9.81,
    seed: int = 0,
) -> System:
    """Return spheres at rest on a lattice above the floor of an open container with four walls.

    The first bodies are the spheres; then come "floor" and the walls "left", "right", "front", "back".

    Args:
        spheres: how many.
        radius: of each, in m.
        mass: of each, in kg.
        friction: μ of all contacts.
        width: inner width and depth of the container in m; by default 2 r times the cube root of the
            number of spheres, so that the heap becomes about as deep as it is wide.
        gravity: m/s², downwards (−z).
        seed: of the small random shifts, without which spheres would balance on each other.
    """
    system = System(gravity=(0.0, 0.0, -gravity))
    side = default_width(spheres, radius) if width is None else width
    system.add_material("spheres", friction=friction)
    system.add_spheres(radius, lattice(spheres, radius, side, seed), mass=mass, material="spheres")
    add_container(system, side, "spheres")
    return system


def default_width(spheres: int, radius: float) -> float:
    """Width in m of a container that the spheres fill about as deep as it is wide."""
    return float(2.0 * radius * max(spheres ** (1.0 / 3.0), 2.0))


def lattice(spheres: int, radius: float, width: float, seed: int) -> Floats:
    """Centres (spheres, 3) in m, layer upon layer over the floor z = 0, each shifted a little at random."""
    if not (isinstance(spheres, int | np.integer) and spheres >= 1):
        raise OptionError(f"spheres is {spheres!r}: give a whole number, 1 or more")
    spacing = _SPACING * radius
    if not spacing <= width < np.inf:
        raise OptionError(f"width is {width} m: a sphere of radius {radius} m needs {spacing} m or more")
    side = int((width - spacing) / spacing + 1e-9) + 1
    index = np.arange(spheres)
    layer, within = np.divmod(index, side * side)
    row, column = np.divmod(within, side)
    centred = (np.stack([column, row], axis=1) - 0.5 * (side - 1)) * spacing
    places = np.column_stack([centred, 0.5 * spacing + layer * spacing])
    shift = np.random.default_rng(seed).uniform(-_JITTER, _JITTER, places.shape)
    return np.asarray(places + radius * shift)


def add_container(system: System, width: float, material: str) -> None:
    """Add a floor z = 0 and four walls around the square |x|, |y| ≤ width/2, open at the top."""
    half = 0.5 * width
    system.add_plane((0.0, 0.0, 1.0), material=material, name="floor")
    system.add_plane((1.0, 0.0, 0.0), (-half, 0.0, 0.0), material=material, name="left")
    system.add_plane((-1.0, 0.0, 0.0), (half, 0.0, 0.0), material=material, name="right")
    system.add_plane((0.0, 1.0, 0.0), (0.0, -half, 0.0), material=material, name="front")
    system.add_plane((0.0, -1.0, 0.0), (0.0, half, 0.0), material=material, name="back")
