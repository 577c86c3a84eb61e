"""Spheres in an open container that a heavy slab presses down (Melanz et al. §3.3)."""

from __future__ import annotations

from nonsmooth.errors import OptionError
from nonsmooth.model.system import System
from nonsmooth.scenes.filling import filling
from nonsmooth.scenes.registry import scene

_THICKNESS = 2.0
"""Thickness of the slab, in radii."""
_CLEARANCE = 0.05
"""Between the slab and each wall, in radii: a sphere cannot get through, and the slab does not jam."""


@scene("spheres in a container under a heavy slab (Melanz et al. §3.3)", small={"spheres": 30})
def compaction(
    spheres: int = 1000,
    *,
    slab_mass: float = 4000.0,
    radius: float = 1.0,
    mass: float = 1.0,
    friction: float = 0.25,
    width: float | None = None,
    gravity: float = 9.81,
    seed: int = 0,
) -> System:
    """Return spheres on a lattice in an open container, and a slab at rest just above them.

    All fall together; the slab is a box as wide as the container, but for a small clearance, and follows the
    spheres down. The bodies are those of `filling`, and then "slab".

    Args:
        spheres: how many.
        slab_mass: kg.
        radius: of each sphere, in m.
        mass: of each sphere, in kg.
        friction: μ of all contacts.
        width: inner width and depth of the container in m; chosen as in `filling` if not given.
        gravity: m/s², downwards (−z).
        seed: of the small random shifts of the spheres.
    """
    system = filling(
        spheres, radius=radius, mass=mass, friction=friction, width=width, gravity=gravity, seed=seed
    )
    inner = float(system.position[system.names["right"], 0] - system.position[system.names["left"], 0])
    edge = inner - 2.0 * _CLEARANCE * radius
    if edge <= 0.0:
        raise OptionError(f"width is {inner} m: give more, no slab fits between the walls")
    top = float(system.position[:spheres, 2].max()) + radius
    system.add_box(
        (edge, edge, _THICKNESS * radius),
        mass=slab_mass,
        position=(0.0, 0.0, top + (0.5 * _THICKNESS + _CLEARANCE) * radius),
        material="spheres",
        name="slab",
    )
    return system
