"""Solids bounded by triangles: convex hulls, checks of closed surfaces, volume and inertia."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nonsmooth._support.arrays import Floats, Indices
from nonsmooth._support.lazy import spatial
from nonsmooth.errors import ProblemError
from nonsmooth.model import checks as check

_THIN = 1e-9
"""Smallest thickness of a hull relative to its size, needed to distinguish its faces."""
_FLAT = 1e-12
"""Largest second singular value of points on a line, relative to their extent."""


class Moments(NamedTuple):
    """Volume (m³), centroid (3,) in m, and inertia (3, 3) about it at unit density (m⁵)."""

    volume: float
    centre: Floats
    inertia: Floats


def moments(vertices: Floats, triangles: Indices) -> Moments:
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


def hull(points: Floats) -> tuple[Floats, Indices, Floats]:
    """Return corners, outward triangles and their unit normals of the convex hull of `points` (p, 3)."""
    if len(points) < 4:
        raise ProblemError(
            f"points of a convex hull: there are {len(points)} that differ, give at least four that span a "
            "solid"
        )
    extent = float(np.ptp(points, axis=0).max())
    if extent < check.SMALLEST:
        raise ProblemError(
            f"points of a convex hull are within {extent:g} m of each other: at least {check.SMALLEST:g} m "
            "is possible"
        )
    try:
        found = spatial.ConvexHull(points)
    except spatial.QhullError:
        spread = np.linalg.svd((points - points.mean(axis=0)) / extent, compute_uv=False)
        where = "on a line" if spread[1] < _FLAT else "in a plane"
        raise ProblemError(
            f"the {len(points)} points of a convex hull lie {where}: give at least four that span a solid"
        ) from None
    across = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2][2]
    thickness = float(np.ptp(points @ across))
    if thickness < _THIN * extent:
        raise ProblemError(
            f"the {len(points)} points of a convex hull lie in a plane within {thickness:g} m: give points "
            f"that span a solid, at least {_THIN:g} of its size thick"
        )
    corners = np.sort(found.vertices)
    place = np.full(len(points), -1, dtype=np.int32)
    place[corners] = np.arange(len(corners), dtype=np.int32)
    triangles = place[found.simplices]
    vertices = points[corners]
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    inward = np.einsum("ti,ti->t", np.cross(b - a, c - a), found.equations[:, :3]) < 0.0
    triangles[inward] = triangles[inward][:, ::-1]
    return vertices, np.ascontiguousarray(triangles), found.equations[:, :3].copy()


def whole_triangles(vertices: Floats, triangles: Any) -> Indices:
    """Return the triangles as int32 (t, 3), rows of existing vertices."""
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
        row = int(np.argmax(((given < 0) | (given >= len(vertices))).any(axis=1)))
        raise ProblemError(
            f"triangles of a mesh: row {row} is {given[row].tolist()}, but the {len(vertices)} vertices are "
            f"numbered from 0 to {len(vertices) - 1}: correct the row, or add the vertices"
        )
    return given.astype(np.int32)


def signed_volume(vertices: Floats, triangles: Indices) -> float:
    """Return the volume (m³) that a closed surface bounds, negative if it is inside out."""
    return float(_six_volumes(*_corners(vertices, triangles)).sum()) / 6.0


def why_open(vertices: Floats, triangles: Indices) -> str:
    """Return why a surface does not bound a solid: an edge and its fault, or the lack of a volume."""
    edge = lonely_edge(triangles, len(vertices))
    if edge is None:
        return "enclose no volume"
    start, end = (np.array2string(vertices[k], separator=", ", precision=6) for k in edge)
    where = f"at the edge from {start} to {end}"
    count = int((triangles[:, :, None] == np.array(edge)).any(axis=1).all(axis=1).sum())
    if count == 1:
        return f"do not close: there is only one {where}"
    if count == 2:
        return f"do not close: the two {where} run along it the same way"
    return f"do not close: the {count} {where} do not run along it as often one way as the other"


def lonely_edge(triangles: Indices, vertices: int) -> tuple[int, int] | None:
    """Return an edge used more often in one direction than in the other; None for a closed surface."""
    start, end = triangles.astype(np.int64).ravel(), triangles[:, [1, 2, 0]].astype(np.int64).ravel()
    forwards, backwards = np.sort(start * vertices + end), np.sort(end * vertices + start)
    if np.array_equal(forwards, backwards):
        return None
    lonely = np.setdiff1d(forwards, backwards)
    edge = int(lonely[0]) if len(lonely) else int(forwards[np.argmax(forwards != backwards)])
    return edge // vertices, edge % vertices


def _corners(vertices: Floats, triangles: Indices) -> tuple[Floats, Floats, Floats]:
    """Return the corners (t, 3) of the triangles, relative to the mean vertex to avoid cancellation."""
    a, b, c = np.moveaxis((vertices - vertices.mean(axis=0))[triangles], 1, 0)
    return a, b, c


def _six_volumes(a: Floats, b: Floats, c: Floats) -> Floats:
    """Return six times the signed volumes (t,) of the tetrahedra from the base point to the triangles."""
    return np.asarray(np.einsum("ti,ti->t", a, np.cross(b, c)))
