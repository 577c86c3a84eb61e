"""Solids bounded by triangles: convex hulls, checks of closed surfaces, volume and inertia."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull as Hull
from scipy.spatial import QhullError

from nonsmooth.errors import ProblemError

Floats = NDArray[np.float64]
Triangles = NDArray[np.int32]


class Moments(NamedTuple):
    """Volume (m³), centroid (3,) in m, and inertia (3, 3) about it at unit density (m⁵)."""

    volume: float
    centre: Floats
    inertia: Floats


def moments(vertices: Floats, triangles: Triangles) -> Moments:
    """Return the moments of a closed surface: a sum over tetrahedra from one point to each triangle."""
    base = vertices.mean(axis=0)
    a, b, c = _corners(vertices, triangles)
    six_volumes = _six_volumes(a, b, c)
    volume = float(six_volumes.sum()) / 6.0
    total = a + b + c
    centre = six_volumes @ total / (24.0 * volume)
    second = sum(np.einsum("t,ti,tj->ij", six_volumes, p, p) for p in (a, b, c, total)) / 120.0
    second = second - volume * np.outer(centre, centre)
    inertia = np.trace(second) * np.eye(3) - second
    return Moments(volume, base + centre, 0.5 * (inertia + inertia.T))


def hull(points: Floats) -> tuple[Floats, Triangles]:
    """Return corners and outward triangles of the convex hull of `points` (p, 3)."""
    try:
        found = Hull(points)
    except (QhullError, ValueError):
        raise ProblemError(
            f"the {len(points)} points of a convex hull lie in a plane: give at least four that span a solid"
        ) from None
    corners = np.sort(found.vertices)
    place = np.full(len(points), -1, dtype=np.int32)
    place[corners] = np.arange(len(corners), dtype=np.int32)
    triangles = place[found.simplices]
    vertices = points[corners]
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    inward = np.einsum("ti,ti->t", np.cross(b - a, c - a), found.equations[:, :3]) < 0.0
    triangles[inward] = triangles[inward][:, ::-1]
    return vertices, np.ascontiguousarray(triangles)


def checked_triangles(vertices: Floats, triangles: Any) -> Triangles:
    """Return the triangles as int32 (t, 3) once they are known to bound a solid."""
    try:
        given = np.asarray(triangles)
    except ValueError:  # rows of unequal length
        given = np.asarray(triangles, dtype=object)
    if given.ndim != 2 or given.shape[1] != 3 or not np.issubdtype(given.dtype, np.integer):
        raise ProblemError(
            f"triangles of a mesh have shape {given.shape} and type {given.dtype}: "
            "give rows of three whole numbers, which count vertices from 0"
        )
    if len(given) and not 0 <= given.min() <= given.max() < len(vertices):
        wrong = int(given.min() if given.min() < 0 else given.max())
        raise ProblemError(
            f"a triangle of a mesh names vertex {wrong}: vertices go from 0 to {len(vertices) - 1}"
        )
    _check_closed(given.astype(np.int64), len(vertices))
    out = given.astype(np.int32)
    unused = np.setdiff1d(np.arange(len(vertices)), out)
    if len(unused):
        raise ProblemError(f"vertex {unused[0]} of a mesh belongs to no triangle: leave it out")
    volume = float(_six_volumes(*_corners(vertices, out)).sum()) / 6.0
    if not volume > 0.0:
        raise ProblemError(
            f"a mesh has the volume {volume:g} m³: its triangles must be counterclockwise when seen from "
            "outside (swap two columns to turn them around)"
        )
    return out


def _corners(vertices: Floats, triangles: Triangles) -> tuple[Floats, Floats, Floats]:
    """Return the corners (t, 3) of the triangles, seen from the mean vertex so that little cancels."""
    a, b, c = np.moveaxis((vertices - vertices.mean(axis=0))[triangles], 1, 0)
    return a, b, c


def _six_volumes(a: Floats, b: Floats, c: Floats) -> Floats:
    """Return six times the signed volumes (t,) of the tetrahedra from the base point to the triangles."""
    return np.asarray(np.einsum("ti,ti->t", a, np.cross(b, c)))


def _check_closed(triangles: NDArray[np.int64], vertices: int) -> None:
    """Raise unless every edge is walked once in each direction, by two different triangles."""
    start, end = triangles.ravel(), triangles[:, [1, 2, 0]].ravel()
    forwards, backwards = np.sort(start * vertices + end), np.sort(end * vertices + start)
    if len(triangles) == 0 or not np.array_equal(forwards, backwards):
        lonely = np.setdiff1d(forwards, backwards)
        edge = f": edge {lonely[0] // vertices}-{lonely[0] % vertices} has one side" if len(lonely) else ""
        raise ProblemError(
            f"a mesh is not closed{edge}; every edge must belong to two triangles, one each way"
        )
    if np.any(start == end) or np.any(forwards[1:] == forwards[:-1]):
        raise ProblemError(
            "a mesh has a triangle with a repeated vertex, or an edge of more than two triangles: "
            "remove doubled triangles and split such edges"
        )
