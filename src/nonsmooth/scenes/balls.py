"""Balls with closed-form motion: a rolling ball, a bouncing ball, and a row of colliding balls."""

from __future__ import annotations

import numpy as np

from nonsmooth.errors import OptionError
from nonsmooth.model.system import System
from nonsmooth.scenes.registry import scene


@scene("a ball that slides, then rolls (Melanz et al. §3.1)")
def rolling_ball(
    *,
    speed: float = 2.0,
    radius: float = 1.0,
    mass: float = 1.0,
    friction: float = 0.2,
    gravity: float = 9.81,
) -> System:
    """Return a ball that slides over a floor along +x without spin, and then rolls (Melanz et al. §3.1).

    It slides until t = 2 v / (7 μ g) and rolls at 5 v / 7 from then on. Bodies: "ball", "floor".

    Args:
        speed: v at the start, in m/s.
        radius: m.
        mass: kg.
        friction: μ.
        gravity: m/s², downwards (−z).
    """
    system = System(gravity=(0.0, 0.0, -gravity))
    system.add_material("ground", friction=friction)
    system.add_sphere(
        radius, mass=mass, position=(0.0, 0.0, radius), velocity=(speed, 0.0, 0.0), material="ground",
        name="ball",
    )  # fmt: skip
    system.add_plane(material="ground", name="floor")
    return system


@scene("a ball that bounces on a floor with restitution")
def bouncing_ball(
    *,
    height: float = 1.0,
    restitution: float = 0.8,
    radius: float = 0.1,
    mass: float = 1.0,
    friction: float = 0.5,
    gravity: float = 9.81,
) -> System:
    """Return a ball at rest above a floor; each bounce reaches e² times the height of the previous one.

    Bodies: "ball", "floor".

    Args:
        height: of the ball's lowest point above the floor, in m.
        restitution: e, from 0 to 1.
        radius: m.
        mass: kg.
        friction: μ.
        gravity: m/s², downwards (−z).
    """
    system = System(gravity=(0.0, 0.0, -gravity))
    system.add_material("rubber", friction=friction, restitution=restitution)
    system.add_sphere(radius, mass=mass, position=(0.0, 0.0, radius + height), material="rubber", name="ball")
    system.add_plane(material="rubber", name="floor")
    return system


@scene("a row of balls that transmits an impact without loss")
def newtons_cradle(
    balls: int = 5,
    *,
    speed: float = 1.0,
    restitution: float = 1.0,
    radius: float = 0.05,
    mass: float = 0.5,
    gap: float = 0.01,
) -> System:
    """Return a row of balls along x without gravity; the first one moves towards the others.

    Without loss (e = 1) each impact transmits the whole speed, and the last ball leaves with it. This holds
    at any time step, and with no gap as well: impacts of a step come one after the other.

    Args:
        balls: how many, 2 or more.
        speed: of the first ball, in m/s.
        restitution: e, from 0 to 1.
        radius: m.
        mass: of each, in kg.
        gap: between neighbours, in m.
    """
    if balls < 2:
        raise OptionError(f"balls is {balls}: give 2 or more")
    system = System(gravity=(0.0, 0.0, 0.0))
    system.add_material("steel", friction=0.0, restitution=restitution)
    place, velocity = np.zeros((balls, 3)), np.zeros((balls, 3))
    place[:, 0] = (2.0 * radius + gap) * np.arange(balls)
    velocity[0, 0] = speed
    system.add_spheres(radius, place, mass=mass, velocities=velocity, material="steel")
    return system
