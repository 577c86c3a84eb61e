"""A heap of capsules in an open container."""

from __future__ import annotations

import numpy as np

from nonsmooth.model import quaternions
from nonsmooth.model.system import System
from nonsmooth.scenes.filling import add_container, default_width, lattice
from nonsmooth.scenes.registry import scene


@scene("capsules that fall into an open container", small={"capsules": 12})
def capsule_heap(
    capsules: int = 100,
    *,
    radius: float = 0.1,
    length: float = 0.3,
    density: float = 1000.0,
    friction: float = 0.5,
    gravity: float = 9.81,
    seed: int = 0,
) -> System:
    """Return capsules at rest, turned at random, that fall into an open container.

    The first bodies are the capsules; then come "floor" and the walls "left", "right", "front", "back".

    Args:
        capsules: how many.
        radius: m.
        length: of the cylindrical part, in m.
        density: kg/m³.
        friction: μ of all contacts.
        gravity: m/s², downwards (−z).
        seed: of the random directions and of the small random shifts.
    """
    system = System(gravity=(0.0, 0.0, -gravity))
    system.add_material("capsules", friction=friction)
    reach = radius + 0.5 * length  # of the sphere around a capsule: no two of them touch at the start
    width = default_width(capsules, reach)
    places = lattice(capsules, reach, width, seed)
    turns = quaternions.normalise(np.random.default_rng(seed + 1).standard_normal((capsules, 4)))
    for place, turn in zip(places, turns, strict=True):
        system.add_capsule(
            radius, length, density=density, position=place, orientation=turn, material="capsules"
        )
    add_container(system, width, "capsules")
    return system
