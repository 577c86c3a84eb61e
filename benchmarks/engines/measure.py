"""The same measures for every engine, from positions, velocities and contact impulses alone.

Coulomb residual: the natural map of the exact law, relative, as in the certificate (1 is as wrong as no
contact impulses at all, 0 is exact). Contacts, normals and gaps g are those of the positions before the
step, found by this file; every pair that could close in the step counts, those without an impulse too.
The relative velocities u are those that the engine has after the step, its impulses γ are taken as they
are. Where an impulse acts, any normal speed between 0 (stopped in the step) and −g/h (gap closed at the
end of the step, or overlap removed) is taken as right, so that no engine is charged for its substeps or
its way of stabilisation; where none acts, u_n + g/h must not be negative. What overlap remains is measured
by itself. The contact point is what the engine says: midway between the surfaces, or on each body's own
surface. An engine that looks for contacts elsewhere than at the positions before the step is charged for
the difference: the momentum balance tells how large it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from engines.geometry import Pairs, close_pairs, contact_rows, frames, geometry
from engines.scene import Filling, Floats
from nonsmooth.problem.certificate import relative_residual
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.momentum import momentum_error


@dataclass(frozen=True)
class Sample:
    """One step of an engine: state before and after as (3, spheres, 3), and its contact impulses."""

    step: int
    old: Floats
    new: Floats
    bodies: Pairs | None
    impulse: Floats | None


def samples(record: Any) -> list[Sample]:
    """All samples of a worker's file."""
    count = sum(name.endswith("_step") for name in record.files)
    found = []
    for i in range(count):
        parts = {k: record.get(f"sample{i}_{k}") for k in ("old", "new", "bodies", "impulse")}
        found.append(Sample(int(record[f"sample{i}_step"]), **parts))
    return found


def largest_overlap(scene: Filling, position: Floats) -> float:
    """Largest penetration of two spheres, or of a sphere and a plane, in m."""
    pairs = close_pairs(scene, position, 0.0)
    return float(np.maximum(-geometry(scene, position, pairs)[1], 0.0).max(initial=0.0))


def container_force(scene: Filling, sample: Sample) -> tuple[float, float]:
    """Upward force of the container, and of its floor alone, on the spheres over their weight."""
    assert sample.bodies is not None
    assert sample.impulse is not None
    body = sample.bodies[:, 0]
    upward = sample.impulse[:, 2] / (scene.step * scene.weight)
    return float(upward[body < 0].sum()), float(upward[body == -1].sum())


def force_from_momentum(scene: Filling, sample: Sample) -> float:
    """Upward force on all spheres over their weight, from their change of momentum in the step."""
    change = scene.mass * (sample.new[1, :, 2] - sample.old[1, :, 2]).sum()
    return float(change / (scene.step * scene.weight) + 1.0)


def coulomb_residual(scene: Filling, sample: Sample, midpoint: bool) -> dict[str, float]:
    """The residual of one step as said at the top of this file, and what is wrong in it.

    `residual` and `momentum` (|M v − k − D γ|) are relative; `cone` is the largest excess of friction
    over μ γ_n, over the mean normal impulse; `direction` is the mean angle in degrees between the
    friction and the opposite of the sliding, weighted with the friction, over contacts at the cone's edge.
    """
    assert sample.bodies is not None
    position, velocity, spin = sample.old
    reach = 2.0 * scene.step * (np.linalg.norm(velocity, axis=1).max() + scene.gravity * scene.step)
    pairs, impulse = _with_impulses(close_pairs(scene, position, reach), sample)
    if len(pairs) == 0:
        return {"residual": np.nan, "momentum": np.nan, "cone": np.nan, "direction": np.nan}
    normal, gap = geometry(scene, position, pairs)
    frame = frames(normal)
    length = scene.radius + (0.5 * gap if midpoint else np.zeros(len(pairs)))
    rows = contact_rows(frame, length[:, None] * normal, pairs)
    after = np.concatenate(sample.new[1:], axis=1)
    u = _relative_velocity(rows, pairs, after)
    bias = np.zeros((len(pairs), 3))
    closing = -gap / scene.step
    speed = np.clip(u[:, 0], np.minimum(closing, 0.0), np.maximum(closing, 0.0))
    gamma = np.einsum("cij,cj->ci", frame, impulse)
    bias[:, 0] = -np.where(gamma[:, 0] > 0.0, speed, np.minimum(closing, 0.0))
    mass = np.repeat([scene.mass, scene.inertia], 3)
    before = np.concatenate([velocity - [0.0, 0.0, scene.gravity * scene.step], spin], axis=1)
    problem = ContactProblem(
        mass=np.broadcast_to(mass, (scene.count, 6)), jacobian=rows, bodies=np.maximum(pairs, -1),
        momentum=(before * mass).ravel(), bias=bias.ravel(), friction=scene.friction,
    )  # fmt: skip
    balance = momentum_error(problem, after.ravel(), gamma)
    cone, direction = _friction_errors(scene.friction, gamma, u)
    residual = relative_residual(problem, gamma, u + bias)
    return {"residual": residual, "momentum": balance[1], "cone": cone, "direction": direction}


def _with_impulses(pairs: Pairs, sample: Sample) -> tuple[Pairs, Floats]:
    """Close pairs and those with impulses, each once, with the engine's impulse or zero (contacts, 3)."""
    everything = np.concatenate([pairs, sample.bodies])
    every, where = np.unique(everything, axis=0, return_inverse=True)
    impulse = np.zeros((len(every), 3))
    np.add.at(impulse, where.ravel()[len(pairs) :], sample.impulse)
    return every, impulse


def _relative_velocity(rows: Floats, pairs: Pairs, velocity: Floats) -> Floats:
    """u of every contact, (contacts, 3); rows of planes are zero."""
    return np.einsum("cbij,cbj->ci", rows, velocity[np.maximum(pairs, 0)])


def _friction_errors(friction: float, gamma: Floats, u: Floats) -> tuple[float, float]:
    bound, size = friction * gamma[:, 0], np.linalg.norm(gamma[:, 1:], axis=1)
    active = gamma[:, 0] > 0.0
    if not active.any():
        return np.nan, np.nan
    cone = (size - bound)[active].max(initial=0.0) / gamma[active, 0].mean()
    sliding = active & (size > 0.99 * bound) & (np.linalg.norm(u[:, 1:], axis=1) > 1e-3)
    if not sliding.any():
        return float(cone), np.nan
    cosine = -(gamma[sliding, 1:] * u[sliding, 1:]).sum(axis=1)
    cosine /= size[sliding] * np.linalg.norm(u[sliding, 1:], axis=1)
    angle = np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))
    return float(cone), float(np.average(angle, weights=size[sliding]))
