"""Gaps, normals and Jacobians of spheres and planes, for the measures and for engines without collision."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from engines.scene import Filling, Floats

Pairs = NDArray[np.int64]


def close_pairs(scene: Filling, position: Floats, reach: float) -> Pairs:
    """All pairs with a gap of at most `reach` (m); plane k is body −1 − k and comes first."""
    spheres = cKDTree(position).query_pairs(2.0 * scene.radius + reach, output_type="ndarray")
    normals, points = scene.planes
    height = np.einsum("kj,ikj->ik", normals, position[:, None] - points) - scene.radius
    sphere, plane = np.nonzero(height <= reach)
    return np.concatenate([np.stack([-1 - plane, sphere], 1), np.sort(spheres, axis=1)]).astype(np.int64)


def geometry(scene: Filling, position: Floats, pairs: Pairs) -> tuple[Floats, Floats]:
    """Normals from A to B (contacts, 3) and gaps in m (negative: overlap)."""
    a, b = pairs.T
    normals, points = scene.planes
    apart = position[b] - position[np.maximum(a, 0)]
    distance = np.linalg.norm(apart, axis=1)
    plane = np.maximum(-1 - a, 0)
    height = np.einsum("ij,ij->i", normals[plane], position[b] - points[plane])
    on_plane = a < 0
    distance[on_plane & (distance == 0.0)] = 1.0
    normal = np.where(on_plane[:, None], normals[plane], apart / distance[:, None])
    return normal, np.where(on_plane, height - scene.radius, distance - 2.0 * scene.radius)


def frames(normal: Floats) -> Floats:
    """Rows n, t1, t2 of a right-handed frame for each normal, (contacts, 3, 3)."""
    helper = np.eye(3)[np.abs(normal).argmin(axis=1)]
    first = np.cross(normal, helper)
    first /= np.linalg.norm(first, axis=1)[:, None]
    return np.stack([normal, first, np.cross(normal, first)], axis=1)


def contact_rows(frame: Floats, arm: Floats, pairs: Pairs) -> Floats:
    """Rows of Dᵀ for bodies A and B, (contacts, 2, 3, 6).

    `arm` (contacts, 3) in m leads from A's centre to the contact point; from B's it is −arm.
    """
    rows = np.zeros((len(pairs), 2, 3, 6))
    arm = arm[:, None]
    rows[:, 0, :, :3], rows[:, 0, :, 3:] = -frame, -np.cross(arm, frame)
    rows[:, 1, :, :3], rows[:, 1, :, 3:] = frame, np.cross(-arm, frame)
    rows[pairs[:, 0] < 0, 0] = 0.0
    return rows
