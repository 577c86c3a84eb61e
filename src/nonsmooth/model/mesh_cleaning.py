"""Cleaning of triangle meshes: points that coincide, vertices without use, triangles without area."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nonsmooth.errors import ProblemError

Floats = NDArray[np.float64]
Triangles = NDArray[np.int32]

_SLIVER = 1e-14
"""Altitude of a triangle, as part of the mesh's size, up to which it counts as degenerate."""


@dataclass(frozen=True)
class MeshNotes:
    """What `clean_mesh` removed, and what it found."""

    duplicate_points: int
    unused_vertices: int
    degenerate_triangles: int
    duplicate_triangles: int
    open_edges: int
    """Edges that do not belong to exactly two triangles which run along them in opposite directions."""
    volume: float
    """Signed volume in m³; of a closed mesh negative if it is inside out. An open mesh has no volume."""

    @property
    def closed(self) -> bool:
        """True if the mesh bounds a solid, whichever way it is turned."""
        return self.open_edges == 0

    @property
    def inside_out(self) -> bool:
        """True if the mesh is closed and its triangles run clockwise seen from outside."""
        return self.closed and self.volume < 0.0

    def sentence(self) -> str:
        """A note for the user on what was removed; empty if nothing was."""
        counts = (
            (self.duplicate_points, "duplicate point"),
            (self.unused_vertices, "unused vertex"),
            (self.degenerate_triangles, "degenerate triangle"),
            (self.duplicate_triangles, "duplicate triangle"),
        )
        parts = [f"{count} {_plural(name, count)}" for count, name in counts if count]
        return f"removed {', '.join(parts)}" if parts else ""


def clean_mesh(vertices: Floats, triangles: NDArray[np.integer]) -> tuple[Floats, Triangles, MeshNotes]:
    """Return vertices (v, 3) in m, triangles (t, 3) and notes, without what has no meaning.

    Points that are equal become one; vertices that no triangle uses, triangles without area and second
    copies of a triangle are removed. What is left keeps its order.
    """
    points = np.asarray(vertices, dtype=float).reshape(-1, 3)
    rows = np.asarray(triangles, dtype=np.int64).reshape(-1, 3)
    if len(rows) and (rows.min() < 0 or rows.max() >= len(points)):
        bad = int(np.flatnonzero((rows < 0).any(axis=1) | (rows >= len(points)).any(axis=1))[0])
        raise ProblemError(
            f"triangle {bad} of a mesh is {rows[bad].tolist()}, but there are {len(points)} vertices: "
            f"indices run from 0 to {len(points) - 1}"
        )
    if not np.isfinite(points).all():
        bad = int(np.flatnonzero(~np.isfinite(points).all(axis=1))[0])
        raise ProblemError(f"vertex {bad} of a mesh is {points[bad].tolist()}: every number must be finite")
    used_before = np.zeros(len(points), dtype=bool)
    used_before[rows.ravel()] = True
    unused = int((~used_before).sum())
    # + 0.0 makes −0 equal to 0 in the bytes as well
    _, first, same = np.unique(points + 0.0, axis=0, return_index=True, return_inverse=True)
    stands_for = first[same.ravel()]
    duplicates = int((used_before & (stands_for != np.arange(len(points)))).sum())
    rows = stands_for[rows]
    size = float(np.ptp(points[rows.ravel()], axis=0).max()) if len(rows) else 0.0
    flat = _altitudes(points, rows) <= _SLIVER * size
    rows = rows[~flat]
    turned = np.take_along_axis(rows, (np.argmin(rows, axis=1)[:, None] + np.arange(3)) % 3, axis=1)
    _, once = np.unique(turned, axis=0, return_index=True) if len(rows) else (None, np.empty(0, np.int64))
    copies = len(rows) - len(once)
    rows = rows[np.sort(once)]
    if not len(rows):
        raise ProblemError("a mesh has no triangle with an area: give at least one")
    kept, numbers = np.unique(rows, return_inverse=True)
    clean = np.ascontiguousarray(points[kept])
    faces = np.ascontiguousarray(numbers.reshape(-1, 3), dtype=np.int32)
    a, b, c = np.moveaxis(clean[faces] - clean.mean(axis=0), 1, 0)
    volume = float(np.einsum("ti,ti->", a, np.cross(b, c))) / 6.0
    notes = MeshNotes(duplicates, unused, int(flat.sum()), copies, _open_edges(faces, len(clean)), volume)
    return clean, faces, notes


def _altitudes(points: Floats, rows: NDArray[np.int64]) -> Floats:
    """The least altitude of each triangle in m."""
    a, b, c = np.moveaxis(points[rows], 1, 0)
    sides = np.stack([b - a, c - b, a - c])
    longest = np.linalg.norm(sides, axis=2).max(axis=0)
    twice = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    return np.asarray(np.where(longest > 0.0, twice / np.where(longest > 0.0, longest, 1.0), 0.0))


def _open_edges(faces: Triangles, count: int) -> int:
    """Number of edges that are not shared by two triangles with opposite ways along them."""
    p = faces.ravel().astype(np.int64)
    q = np.roll(faces, -1, axis=1).ravel().astype(np.int64)
    _, which, times = np.unique(
        np.minimum(p, q) * count + np.maximum(p, q), return_inverse=True, return_counts=True
    )
    balance = np.bincount(which.ravel(), np.where(p < q, 1.0, -1.0), len(times))
    return int(((times != 2) | (balance != 0.0)).sum())


def _plural(name: str, count: int) -> str:
    if count == 1:
        return name
    return name[:-2] + "ices" if name.endswith("ex") else name + "s"
