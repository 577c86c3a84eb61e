"""Constants of a run: masses and their factors, and how far rotation moves a body's surface."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.collision.bounds import local_bounds
from nonsmooth.model import quaternions
from nonsmooth.model.shapes import CONVEX_HULL, HALF_SPACE, SPHERE
from nonsmooth.model.system import System
from nonsmooth.problem.mass import BodyMass
from nonsmooth.stepping.kernels import motion as kernels

_ROUND = 1e-14
"""Relative difference of principal moments below which a body counts as isotropic."""


def body_constants(system: System) -> tuple[kernels.Bodies, BodyMass]:
    """Masses of all bodies and their factors; fixed bodies, which no row refers to, get unit masses."""
    fixed = np.array(system.fixed)
    mass = np.where(fixed, 1.0, system.mass)
    inertia = np.where(fixed[:, None, None], np.eye(3), system.inertia)
    moment = inertia[:, 0, 0]
    deviation = np.abs(inertia - moment[:, None, None] * np.eye(3)).max(axis=(1, 2))
    blocks = np.zeros((system.count, 6, 6))
    blocks[:, :3, :3] = mass[:, None, None] * np.eye(3)
    blocks[:, 3:, 3:] = inertia
    count = system.count
    body_mass = BodyMass(blocks, np.repeat(np.arange(count), 6), np.tile(np.arange(6), count))
    table = system.shapes
    centred = (table.kind == SPHERE) & np.all(table.offset == 0.0, axis=1)
    bodies = kernels.Bodies(
        mass,
        inertia,
        1.0 / np.sqrt(mass),
        np.ascontiguousarray(body_mass.lower_inverse[:, 3:, 3:]),
        fixed,
        deviation <= _ROUND * moment,
        np.where(centred, table.size[:, 0], 0.0),
    )
    return bodies, body_mass


def spin_radius(system: System) -> Floats:
    """Largest distance of a body's surface from its centre for rotation; zero for centred spheres.

    Half-spaces are left out: see `kernels.turning`.
    """
    table = system.shapes
    uneven = np.zeros(system.count, dtype=bool)
    uneven[table.body[(table.kind != SPHERE) | np.any(table.offset != 0.0, axis=1)]] = True
    radius = np.where(uneven, system.bounding_radius, 0.0)
    endless = np.isinf(radius)
    if endless.any():
        bound = local_bounds(table)
        centre = table.offset + quaternions.rotate(table.rotation, bound[:, :3])
        bounded = np.flatnonzero(endless[table.body] & (table.kind != HALF_SPACE))
        radius[endless] = 0.0
        reach = np.linalg.norm(centre[bounded], axis=1) + bound[bounded, 6]
        np.maximum.at(radius, table.body[bounded], reach)
    return radius


def moving_hulls(system: System) -> NDArray[np.bool_] | None:
    """Which shapes (s,) are hulls of moving bodies; None if there are none."""
    mask = (system.shapes.kind == CONVEX_HULL) & ~system.fixed[system.shapes.body]
    return mask if mask.any() else None
