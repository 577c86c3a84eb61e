"""Physically consistent random problems: inertia, contact points with lever arms, redundant contacts."""

from __future__ import annotations

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.library.geometry import contact_frames, contact_rows


def random_problem(
    seed: int,
    *,
    contacts: int = 10,
    mass_ratio: float = 1e3,
    largest_friction: float = 1.0,
    joint_rows: int = 0,
    law: str = "coulomb",
) -> ContactProblem:
    """A random problem that always has a relaxed solution: gaps are not negative, so v = 0 is admissible.

    Masses are spread over `mass_ratio`, friction over [0, largest_friction] with some frictionless contacts,
    a third of the gaps are open. Each pair of bodies meets in a patch of one to four points, and
    there are few bodies, so that the Delassus matrix is rank-deficient. Joint rows act
    between random bodies at random points and are consistent (zero bias). The same seed gives the same
    problem.
    """
    generator = np.random.default_rng(seed)
    bodies = max(1, contacts // 4)
    mass = mass_ratio ** generator.uniform(0.0, 1.0, bodies)
    inertia = 0.4 * mass[:, None] * generator.uniform(0.5, 1.5, (bodies, 3))
    pairs: list[tuple[int, int]] = []
    normals: list[Floats] = []
    arms: list[Floats] = []
    while len(pairs) < contacts:
        first = int(generator.integers(-1, bodies))
        second = int(generator.integers(0, bodies))
        if first == second:
            continue
        direction = generator.standard_normal(3)
        direction /= np.linalg.norm(direction)
        spread = contact_frames(direction[None])[0, 1:]
        for _ in range(min(int(generator.integers(1, 5)), contacts - len(pairs))):
            pairs.append((first, second))
            normals.append(direction)
            arms.append(direction + generator.uniform(-0.5, 0.5, 2) @ spread)
    frames = contact_frames(np.array(normals).reshape(-1, 3))
    arm = np.array(arms).reshape(-1, 3)
    rows = contact_rows(frames, arm, arm - 2.0 * np.array(normals).reshape(-1, 3))
    pair = np.array(pairs, dtype=int).reshape(-1, 2)
    rows[pair[:, 0] < 0, 0] = 0.0
    bias = np.zeros((contacts, 3))
    bias[:, 0] = np.where(generator.random(contacts) < 1.0 / 3.0, generator.uniform(0.0, 0.5, contacts), 0.0)
    friction = generator.uniform(0.0, largest_friction, contacts)
    friction[generator.random(contacts) < 0.1] = 0.0
    velocity = generator.standard_normal((bodies, 6))
    diagonal = np.concatenate([np.repeat(mass[:, None], 3, axis=1), inertia], axis=1)
    joint_body = generator.integers(0, bodies, joint_rows)
    joint = np.zeros((joint_rows, 2, 6))
    joint[:, 1] = generator.standard_normal((joint_rows, 6))
    return ContactProblem(
        mass=diagonal,
        jacobian=rows,
        bodies=pair,
        momentum=diagonal * velocity,
        bias=bias,
        friction=friction,
        joint_jacobian=joint,
        joint_bodies=np.stack([np.full(joint_rows, -1), joint_body], axis=1),
        law=law,
    )
