"""Scratch arrays of the search for the best separating direction, and tables made once for all hulls."""

from typing import NamedTuple

import numpy as np

from nonsmooth.collision.kernels.directions.solids import Hulls

CUTS = 63
"""Most points of M that are kept to rule out directions."""
CELLS = 256
"""Most parts of the sphere of directions that wait for a check."""

_BOX_EDGES = [(0, 0, f, g) for f in range(6) for g in range(f + 1, 6) if f // 2 != g // 2]
_TRIANGLE_EDGES = [(0, 0, side, edge) for edge in (2, 3, 4) for side in (0, 1)]
_SEGMENT_EDGES = [(0, 0, f, (f + 1) % 4) for f in range(4)]


class Work(NamedTuple):
    """Scratch; what is in it before a call does not matter, apart from the tables at the end."""

    hints: np.ndarray  # (2,) int64: vertices of p and q that the last search for a support found
    simplex: np.ndarray  # (4, 6): points of M, and the points of p that they come from
    cuts: np.ndarray  # (3, CUTS, 3): points of M; in p's frame; in q's frame and negated
    normals: np.ndarray  # (2, 6, 4): normals of the faces of p and of q, of cores that are no hulls
    killers: np.ndarray  # (2, largest number of faces) int64: a cut that rules out the face, or −1
    edges: np.ndarray  # (2, largest number of edges, 9): direction and both normals of edges still open
    cells: np.ndarray  # (CELLS, 9): corners of triangles on the sphere of directions
    # tables
    box_edges: np.ndarray  # (12, 4) int64 as `Hulls.edges`
    triangle_edges: np.ndarray  # (6, 4) int64
    segment_edges: np.ndarray  # (4, 4) int64
    extents: np.ndarray  # (g,) largest distance of a hull's vertices from its origin
    vertex_face_first: np.ndarray  # (V + 1,) int64
    vertex_faces: np.ndarray  # (C,) int64: faces around each vertex, counted within the hull


def make_work(hulls: Hulls) -> Work:
    """Scratch for pairs of solids whose hulls are these."""
    counts = np.diff(hulls.first, axis=0)
    faces = max(6, int(counts[:, 1].max(initial=0)))
    edges = max(12, int(counts[:, 2].max(initial=0)))
    extents = np.zeros(len(counts))
    corner_vertex = np.empty(len(hulls.corners), dtype=np.int64)
    corner_face = np.empty(len(hulls.corners), dtype=np.int64)
    for row, (first, end) in enumerate(zip(hulls.first[:-1], hulls.first[1:], strict=True)):
        extents[row] = np.linalg.norm(hulls.vertices[first[0] : end[0]], axis=1).max()
        of_hull = slice(first[3], end[3])
        corner_vertex[of_hull] = hulls.corners[of_hull] + first[0]
        lengths = np.diff(hulls.face_first[first[1] : end[1] + 1])
        corner_face[of_hull] = np.repeat(np.arange(len(lengths)), lengths)
    order = np.argsort(corner_vertex, kind="stable")
    return Work(
        np.zeros(2, dtype=np.int64),
        np.zeros((4, 6)),
        np.zeros((3, CUTS, 3)),
        np.zeros((2, 6, 4)),
        np.zeros((2, faces), dtype=np.int64),
        np.zeros((2, edges, 9)),
        np.zeros((CELLS, 9)),
        np.array(_BOX_EDGES, dtype=np.int64),
        np.array(_TRIANGLE_EDGES, dtype=np.int64),
        np.array(_SEGMENT_EDGES, dtype=np.int64),
        extents,
        np.searchsorted(corner_vertex[order], np.arange(len(hulls.vertices) + 1)).astype(np.int64),
        np.ascontiguousarray(corner_face[order]),
    )
