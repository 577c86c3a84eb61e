"""Scratch arrays of contacts with meshes and height fields."""

from typing import NamedTuple

import numpy as np

from nonsmooth.collision.kernels.directions import work
from nonsmooth.collision.kernels.directions.solids import Hulls
from nonsmooth.collision.kernels.manifolds import support_features


class Rows(NamedTuple):
    """Points found on a surface, before they are contacts; all have as many rows."""

    spots: np.ndarray  # (c, 7) point of the surface, normal, gap
    marks: np.ndarray  # (c,) int64
    tags: np.ndarray  # (c, 4) int64: origin, patch, at a concave edge, state
    plane: np.ndarray  # (c, 5): normal of the solid's face, lowest height of the solid, slide of the point
    ways: np.ndarray  # (c, 6): unit vectors along the two edges of a row of two surfaces; see `edges_along`


class MeshWork(NamedTuple):
    """Scratch; what is in it before a call does not matter, apart from `one`."""

    direction: work.Work
    feature: support_features.ManifoldWork
    axes: np.ndarray  # (3, 3) the solid's axes in the surface's frame
    one: np.ndarray  # (3, 3) the unit matrix
    corners: np.ndarray  # (3, 3) of a triangle, in columns
    numbers: np.ndarray  # (5,) int64: its vertices, flags and patch
    room: np.ndarray  # (3, 3)
    other_corners: np.ndarray  # (3, 3) of a triangle of the second surface
    other_numbers: np.ndarray  # (5,) int64
    normals: np.ndarray  # (2, 7, 3) of both: normals across the edges, its own, far vertices
    frame: np.ndarray  # (9,) of an edge
    disc: np.ndarray  # (10,) see `discs`
    face_disc: np.ndarray  # (10,) the same of the feature that is turned to a patch
    ways_apart: np.ndarray  # (4, 4) directions in which triangles were out of reach, the solid's height there
    arcs: np.ndarray  # (64, 8) parts of an edge's arc
    peaks: np.ndarray  # (8, 3) best directions of an edge
    box: np.ndarray  # (6,)
    stack: np.ndarray  # (2, 128) int64
    tags: np.ndarray  # (capacity, 4) int64 of each point found: origin, patch, at a concave edge, state
    plane: np.ndarray  # (capacity, 5): see `Rows`
    ways: np.ndarray  # (capacity, 6): unit vectors along two edges that cross
    flat: np.ndarray  # (capacity, 2) points of one manifold in its plane
    order: np.ndarray  # (3, 2 capacity) int64


def make_work(hulls: Hulls, capacity: int) -> MeshWork:
    """Scratch for `capacity` points of one pair; spots and marks need as many rows."""
    return MeshWork(
        work.make_work(hulls),
        support_features.make_work(hulls),
        np.zeros((3, 3)),
        np.eye(3),
        np.zeros((3, 3)),
        np.zeros(5, dtype=np.int64),
        np.zeros((3, 3)),
        np.zeros((3, 3)),
        np.zeros(5, dtype=np.int64),
        np.zeros((2, 7, 3)),
        np.zeros(9),
        np.zeros(10),
        np.zeros(10),
        np.zeros((4, 4)),
        np.zeros((64, 8)),
        np.zeros((8, 3)),
        np.zeros(6),
        np.zeros((2, 128), dtype=np.int64),
        np.zeros((capacity, 4), dtype=np.int64),
        np.zeros((capacity, 5)),
        np.zeros((capacity, 6)),
        np.zeros((capacity, 2)),
        np.zeros((3, 2 * capacity), dtype=np.int64),
    )
