"""Convex polyhedra with a ball swept around them: volume, inertia and a surface for drawing."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats, Indices
from nonsmooth.model import polyhedra
from nonsmooth.model.shapes.surfaces import TriangleMesh, sphere_mesh, subdivisions_for


def rounded_moments(
    core: polyhedra.Moments, vertices: Floats, triangles: Indices, normals: Floats, radius: float
) -> polyhedra.Moments:
    """Return the moments of a convex polyhedron with a ball of `radius` (m) swept around it, in closed form.

    The sum is that of the core, a prism on each triangle, a sector of a cylinder along each edge and a sector
    of a ball at each corner. The sector of a corner is the part Ω of the unit sphere between the normals of
    the faces around it. On a sphere Δn = −2n, so that ∫n over Ω is an integral over its rim: arcs of great
    circles, one for each edge, with the edge as their outer normal.

    Args:
        core: moments of the polyhedron.
        vertices: (v, 3) in m.
        triangles: (t, 3), counterclockwise seen from outside.
        normals: (t, 3) outward unit normals of the triangles.
        radius: m.
    """
    base = core.centre
    points, r = vertices - base, radius
    volume, first, second = core.volume, np.zeros(3), _second_of(core)

    corners = points[triangles]
    area = 0.5 * np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    )
    total = corners.sum(axis=1)
    mean = area[:, None] * total / 3.0  # ∫ y dA
    spread = np.einsum("t,tki,tkj->tij", area / 12.0, corners, corners)
    spread += np.einsum("t,ti,tj->tij", area / 12.0, total, total)
    volume += r * float(area.sum())
    first += r * mean.sum(axis=0) + 0.5 * r**2 * area @ normals
    second += r * spread.sum(axis=0) + 0.5 * r**2 * _both(mean, normals)
    second += r**3 / 3.0 * np.einsum("t,ti,tj->ij", area, normals, normals)

    start, end, left, right = _edges(triangles)
    p, q, n, m = points[start], points[end], normals[left], normals[right]
    length = np.linalg.norm(q - p, axis=1)
    along = (q - p) / length[:, None]
    middle = n + m
    middle /= np.linalg.norm(middle, axis=1)[:, None]
    angle = 2.0 * np.arctan2(np.linalg.norm(n - m, axis=1), np.linalg.norm(n + m, axis=1))
    aside = np.cross(along, middle)
    arc = 2.0 * np.sin(0.5 * angle)[:, None] * middle  # ∫ n over the arc
    line = 0.5 * length[:, None] * (p + q)  # ∫ y along the edge
    squares = np.einsum("e,ei,ej->ij", angle * length / 6.0, p, p)
    squares += np.einsum("e,ei,ej->ij", angle * length / 6.0, q, q)
    squares += np.einsum("e,ei,ej->ij", angle * length / 6.0, p + q, p + q)
    volume += 0.5 * r**2 * float(angle @ length)
    first += 0.5 * r**2 * angle @ line + r**3 / 3.0 * length @ arc
    second += 0.5 * r**2 * squares + r**3 / 3.0 * _both(line, arc)
    in_plane = np.einsum("e,ei,ej->ij", length * (angle + np.sin(angle)), middle, middle)
    in_plane += np.einsum("e,ei,ej->ij", length * (angle - np.sin(angle)), aside, aside)
    second += r**4 / 8.0 * in_plane

    solid = _solid_angles(points, triangles)
    of_normals = np.zeros((len(points), 3))  # ∫ n over Ω
    np.subtract.at(of_normals, start, 0.5 * angle[:, None] * along)
    np.add.at(of_normals, end, 0.5 * angle[:, None] * along)
    volume += r**3 / 3.0 * 4.0 * math.pi
    first += r**3 / 3.0 * solid @ points + r**4 / 4.0 * of_normals.sum(axis=0)
    second += r**3 / 3.0 * np.einsum("v,vi,vj->ij", solid, points, points)
    second += r**4 / 4.0 * _both(points, of_normals)
    second += r**5 / 5.0 * (4.0 * math.pi / 3.0) * np.eye(3)  # all Ω together are the whole sphere

    centre = first / volume
    second -= volume * np.outer(centre, centre)
    second = 0.5 * (second + second.T)
    return polyhedra.Moments(volume, base + centre, np.trace(second) * np.eye(3) - second)


def rounded_surface(vertices: Floats, normals: Floats, radius: float, detail: int) -> TriangleMesh:
    """Return a surface that lies inside the rounded polyhedron, with unchanged flat faces.

    Args:
        vertices: (v, 3) in m.
        normals: (t, 3) outward unit normals of its faces.
        radius: m.
        detail: straight pieces of a full circle.
    """
    ball, _ = sphere_mesh(max(1, subdivisions_for(detail) - 1))
    directions = np.vstack([ball, np.unique(np.round(normals, 12), axis=0)])
    heights = vertices @ directions.T
    near = heights >= heights.max(axis=0) - 1e-9 * np.abs(heights).max()
    vertex, direction = np.nonzero(near)
    points = vertices[vertex] + radius * directions[direction]
    return polyhedra.hull(points)[:2]


def _second_of(core: polyhedra.Moments) -> Floats:
    """∫ x xᵀ dV about the centroid, from the inertia."""
    return np.asarray(0.5 * np.trace(core.inertia) * np.eye(3) - core.inertia)


def _both(a: Floats, b: Floats) -> Floats:
    """Σ (a bᵀ + b aᵀ) over rows."""
    product = a.T @ b
    return np.asarray(product + product.T)


def _edges(triangles: Indices) -> tuple[NDArray[np.int64], ...]:
    """Start, end, left and right triangle of every edge of a closed surface."""
    count = len(triangles)
    start = triangles.astype(np.int64).ravel()
    end = triangles[:, [1, 2, 0]].astype(np.int64).ravel()
    owner = np.repeat(np.arange(count, dtype=np.int64), 3)
    forwards = np.lexsort((end, start))
    backwards = np.lexsort((start, end))  # the same edges in the opposite direction
    keep = start[forwards] < end[forwards]
    there, back = forwards[keep], backwards[keep]
    return start[there], end[there], owner[there], owner[back]


def _solid_angles(points: Floats, triangles: Indices) -> Floats:
    """Parts (v,) of the unit sphere between the normals of the faces around each vertex; their sum is 4π.

    A part is 2π less the angles of the faces around the vertex (Descartes).
    """
    missing = np.full(len(points), 2.0 * math.pi)
    for k in range(3):
        corner, after, before = (points[triangles[:, (k + shift) % 3]] for shift in range(3))
        a, b = after - corner, before - corner
        angle = np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), np.einsum("ti,ti->t", a, b))
        np.subtract.at(missing, triangles[:, k], angle)
    return missing
