"""Corners and edges of a solid's face that a step may bring down on a surface, though others are nearer.

A face that touches a surface somewhere else, or is about to, may come down with a corner on one of its
triangles, or with its rim across one of its edges: both are contacts of this step, as the vertices under the
face are, see `coming_vertices`. All is in the surface's frame, and the solid where it meets the surface.
"""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inner_kernel
from nonsmooth.collision.kernels.closed_forms.pairs import counts
from nonsmooth.collision.kernels.directions.solids import to_world
from nonsmooth.collision.kernels.manifolds.manifold import set_spot
from nonsmooth.collision.kernels.surfaces.arrays import (
    BORDER,
    OWN_EDGE,
    corner,
    edge_kind,
    triangle_normal,
    vertex,
)
from nonsmooth.collision.kernels.surfaces.features.polygons import clipped
from nonsmooth.collision.kernels.surfaces.features.rows import CORNER, EDGE
from nonsmooth.collision.kernels.surfaces.sides import edge, front, load_side, slope_on_arc

_ALIKE = 0.9  # cosine of the angle up to which two normals at a point are one contact
_CUT = 12  # of a mark: ends of an edge that a face's rim cuts off


class Approach(NamedTuple):
    """What may happen in the step to a pair of bodies, of which the first has the surface."""

    motion: tuple  # `Motion`
    body: int
    other: int
    reach: float


class Rim(NamedTuple):
    """A face of a solid, and how far what comes may be."""

    points: np.ndarray  # (n, 3) its corners, of which `number` count
    number: int
    normal: np.ndarray  # (3,) outward
    labels: np.ndarray  # (n,)
    radius: float
    shift: tuple  # way (m) of the solid until it meets the surface, in the surface's frame
    part: float  # of that way by which points go back, see `pull_back`
    steep: float
    tiny: float


@inner_kernel
def is_known(spots, count, sign, x, y, z, nx, ny, nz, near):
    """True if a contact has this point of the first (sign 1) or second (−1) shape and about this normal."""
    for i in range(count):
        if nx * spots[i, 3] + ny * spots[i, 4] + nz * spots[i, 5] < _ALIKE:
            continue
        half = 0.5 * sign * spots[i, 6]
        dx = spots[i, 0] - half * spots[i, 3] - x
        dy = spots[i, 1] - half * spots[i, 4] - y
        dz = spots[i, 2] - half * spots[i, 5] - z
        if dx * dx + dy * dy + dz * dz <= near * near:
            return True
    return False


@inner_kernel
def height_over(meshes, mesh, t, x, y, z, tiny):
    """Height of a point over a triangle, infinite if it is beside or below it."""
    nx, ny, nz = triangle_normal(meshes, mesh, t)
    ax, ay, az = vertex(meshes, mesh, corner(meshes, mesh, t, 0))
    height = nx * (x - ax) + ny * (y - ay) + nz * (z - az)
    if height < -tiny:
        return math.inf
    for k in range(3):
        bx, by, bz = vertex(meshes, mesh, corner(meshes, mesh, t, (k + 1) % 3))
        ex, ey, ez = bx - ax, by - ay, bz - az
        inward = (
            (x - ax) * (ny * ez - nz * ey) + (y - ay) * (nz * ex - nx * ez) + (z - az) * (nx * ey - ny * ex)
        )
        if inward < -tiny * math.sqrt(ex * ex + ey * ey + ez * ez):
            return math.inf
        ax, ay, az = bx, by, bz
    return height


@inner_kernel
def _add(place, rim, approach, mark, sign, near, x, y, z, nx, ny, nz, gap, spots, marks, count):
    """Write the contact at a point of the surface's frame, with its normal and the gap at the meeting.

    `sign` is 1 if it is known by the surface's point, −1 if by the solid's.
    """
    nx, ny, nz = to_world(place.axes, nx, ny, nz)
    sx, sy, sz = to_world(place.axes, *rim.shift)
    now = gap - (nx * sx + ny * sy + nz * sz)
    if not counts(approach.motion, approach.body, approach.other, now, nx, ny, nz):
        return count
    x, y, z = to_world(place.axes, x, y, z)
    half = 0.5 * gap
    x, y, z = (
        x + place.x - rim.part * sx + half * nx,
        y + place.y - rim.part * sy + half * ny,
        z + place.z - rim.part * sz + half * nz,
    )
    half = 0.5 * sign * now
    if is_known(spots, min(count, spots.shape[0]), sign, x - half * nx, y - half * ny, z - half * nz,
                nx, ny, nz, near):  # fmt: skip
        return count
    if count < spots.shape[0]:
        set_spot(spots, marks, count, mark, x, y, z, nx, ny, nz, now)
    return count + 1


@inner_kernel
def _add_corners(place, t, rim, approach, meshes, near, spots, marks, count):
    """Add corners of the face that come down on triangle t, along its normal."""
    mesh, m = place.piece, rim.normal
    nx, ny, nz = triangle_normal(meshes, mesh, t)
    cosine = -(nx * m[0] + ny * m[1] + nz * m[2])
    if cosine <= 0.0 or 1.0 - cosine * cosine > rim.steep * rim.steep:
        return count
    patch = np.int64(meshes.patch[meshes.first[mesh, 5] + t])
    for i in range(rim.number):
        x, y, z = rim.points[i, 0], rim.points[i, 1], rim.points[i, 2]
        height = height_over(meshes, mesh, t, x, y, z, rim.tiny)
        if height < math.inf:
            count = _add(
                place, rim, approach, np.int64(CORNER) << 60 | patch << 28 | rim.labels[i], -1.0, near,
                x - height * nx, y - height * ny, z - height * nz, nx, ny, nz, height - rim.radius,
                spots, marks, count,
            )  # fmt: skip
    return count


@inner_kernel
def _add_cuts(place, t, k, rim, approach, work, near, spots, marks, count):
    """Add where the face's rim comes down across edge k of the loaded triangle t, along the face's normal."""
    corners, normals, m = work.other_corners, work.normals[1], rim.normal
    ax, ay, az, ex, ey, ez, length = edge(corners, k)
    rise = m[0] * ex + m[1] * ey + m[2] * ez
    if abs(rise) > rim.steep:
        return count
    border = edge_kind(work.other_numbers[3], k) == BORDER
    if (
        front(normals, k, border, -m[0], -m[1], -m[2]) <= 0.0
        or slope_on_arc(normals, k, border, ex, ey, ez, -m[0], -m[1], -m[2]) > rim.steep
    ):
        return count
    begin, end = clipped(rim.points, rim.number, m[0], m[1], m[2], ax, ay, az, ex, ey, ez, length, rim.tiny)
    if begin > end:
        return count
    p = rim.points
    above = m[0] * (ax - p[0, 0]) + m[1] * (ay - p[0, 1]) + m[2] * (az - p[0, 2])
    for which in range(2):
        along = begin if which == 0 else end
        gap = above + along * rise - rim.radius
        # a vertex is no cut
        if rim.tiny < along < length - rim.tiny and gap >= -rim.tiny:
            count = _add(
                place, rim, approach, np.int64(EDGE) << 60 | (3 * t + k) << 4 | _CUT | which, 1.0,
                near + 0.5 * gap, ax + along * ex, ay + along * ey, az + along * ez, -m[0], -m[1], -m[2],
                gap, spots, marks, count,
            )  # fmt: skip
    return count


@inner_kernel
def add_coming_rim(place, triangles, number, rim, approach, meshes, work, near, spots, marks, count):
    """Add contacts of the rim of a face with the first `number` of `triangles`; the new number of contacts.

    Points within `near` of one another are the same.
    """
    for i in range(number):
        t = triangles[i]
        load_side(meshes, place.piece, t, work.other_corners, work.other_numbers, work.normals[1])
        count = _add_corners(place, t, rim, approach, meshes, near, spots, marks, count)
        for k in range(3):
            if work.other_numbers[3] >> (OWN_EDGE + k) & 1:
                count = _add_cuts(place, t, k, rim, approach, work, near, spots, marks, count)
    return count
