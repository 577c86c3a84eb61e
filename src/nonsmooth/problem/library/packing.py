"""A synthetic packing of spheres, generated quickly for any number of contacts, for benchmarks and tests."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from nonsmooth.errors import OptionError
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.library.geometry import contact_frames, contact_rows


def sphere_packing(
    spheres: int, *, friction: float = 0.25, step: float = 0.01, seed: int = 0, law: str = "coulomb"
) -> ContactProblem:
    """One step of a heap of unit spheres (radius 1 m, mass 1 kg) under gravity on a floor.

    Centres lie on a face-centred cubic lattice, perturbed by 1 % of the radius and listed in random
    order; pairs closer than 2.03 m are contacts, with a gap if they do not touch and without
    overlap. About 4.5 contacts per sphere; deep layers make it hyperstatic, like real heaps.
    """
    if spheres < 1:
        raise OptionError(f"spheres is {spheres}: give at least 1")
    generator = np.random.default_rng(seed)
    side = int(np.ceil((spheres / 4.0) ** (1.0 / 3.0))) + 1
    cell = 2.0 * np.sqrt(2.0)
    corner = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    basis = np.array([[0.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5]])
    centres = cell * (corner[:, None, :] + basis[None]).reshape(-1, 3) + [0.0, 0.0, 1.0]
    centres = centres[np.argsort(centres[:, 2], kind="stable")][:spheres]
    centres = generator.permutation(centres + generator.uniform(-0.01, 0.01, centres.shape))
    pairs = cKDTree(centres).query_pairs(2.03, output_type="ndarray")
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    floor = np.flatnonzero(centres[:, 2] < 1.03)
    bodies = np.concatenate([pairs, np.stack([np.full(len(floor), -1), floor], axis=1)])
    across = centres[pairs[:, 1]] - centres[pairs[:, 0]]
    distance = np.linalg.norm(across, axis=1)
    normals = np.concatenate([across / distance[:, None], np.tile([0.0, 0.0, 1.0], (len(floor), 1))])
    gap = np.concatenate([distance - 2.0, centres[floor, 2] - 1.0])
    rows = contact_rows(contact_frames(normals), normals, -normals)
    rows[bodies[:, 0] < 0, 0] = 0.0
    bias = np.zeros((len(bodies), 3))
    bias[:, 0] = np.maximum(gap, 0.0) / step
    momentum = np.tile([0.0, 0.0, -9.81 * step, 0.0, 0.0, 0.0], spheres)
    return ContactProblem(
        mass=np.tile([1.0, 1.0, 1.0, 0.4, 0.4, 0.4], (spheres, 1)),
        jacobian=rows,
        bodies=bodies,
        momentum=momentum,
        bias=bias,
        friction=friction,
        law=law,
    )
