"""Flat and straight parts of cores: what a core turns towards a direction, as points with labels.

A feature is a face (three points or more and its outward normal), a segment (two points) or a point. Labels
number what stays with the body: vertices of a hull, corners of a box (bit k set: positive side of axis k)
or a triangle, ends of a capsule (0, 1), and for rims of cylinders and cones (bottom 0, top 1):

- 8 rim + k: sample at the angle k · 45°, fixed to the body (cap flat on the other);
- 16 + rim: the lowest point of the rim, wherever it is; also the end of the side line there;
- 18 + 8 rim + k: k · 45° further round than the lowest point (cap tilted);
- 34: the tip of a cone;
- 40 and above: where the rim crosses a side of the other feature;
- 4096 and above: behind a corner of the other feature.

Samples that stay ahead of a body that rolls on its rim would block it, so they turn with the lowest point
as soon as the cap is tilted.
"""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inlined_kernel, inner_kernel, kernel
from nonsmooth.collision.kernels.directions.solids import (
    BOX,
    CAPSULE,
    CONE,
    CONVEX_HULL,
    CYLINDER,
    TRIANGLE,
    Hulls,
    hull_support,
    to_local,
    to_world,
)
from nonsmooth.collision.kernels.manifolds.patches import flat_patches

ALONE, STRAIGHT, FLAT, ROUND = range(4)  # forms: a point, a segment, a polygon, a disc
RIM_SAMPLES = 8
LOWEST, ANCHORED, TIP, CROSSING, BEHIND = 16, 18, 34, 40, 4096  # first labels
_TILTED = 1e-4  # angle in rad above which samples turn with the lowest point of a rim
_EDGE_ON = 0.02  # cosine below which a face is seen from the side and counts as its edge
_SPARE = 64  # places for the samples of a rim and its crossings


class ManifoldWork(NamedTuple):
    """Scratch of `manifold` and `half_space_contacts`; first index 0 for p, 1 for q where there are two."""

    points: np.ndarray  # (2, N, 3) points of a feature in the pair's coordinates
    labels: np.ndarray  # (2, N) int64
    normal: np.ndarray  # (2, 3) outward unit normal of a face
    bend: np.ndarray  # (2, 2) radius of curvature across a segment at its ends, without the swept ball
    angle: np.ndarray  # (2, N) of the points of a rim, increasing
    flat: np.ndarray  # (2, N, 3) points across the contact normal and along it
    polygon: np.ndarray  # (2, M, 2) for clipping
    sides: np.ndarray  # (2, M) int64: side from each corner to the next; p: 0, 1, …; q: −1, −2, …
    found: np.ndarray  # (M, 3) two coordinates across the normal, gap
    names: np.ndarray  # (M,) int64 marks of `found`
    heights: np.ndarray  # (M, 2) of the surfaces of p and q along the normal at `found`
    inside: np.ndarray  # (M,) distances from a wall
    slopes: np.ndarray  # (2, K, 3) planes of a face or patch: height along the normal as a + b x + c y
    # tables of hulls: flat patches, see `patches`
    patch_of: np.ndarray  # (F,) int64
    loop_first: np.ndarray  # (P + 1,) int64
    loops: np.ndarray  # (L,) int64: vertices round each patch
    member_first: np.ndarray  # (P + 1,) int64
    members: np.ndarray  # (F,) int64: faces of each patch


def make_work(hulls: Hulls, vertices: int = 0) -> ManifoldWork:
    """Scratch for all pairs of a scene with these hulls, and meshes of up to `vertices` vertices."""
    tables = flat_patches(hulls)
    n = _SPARE + int(np.diff(tables[1]).max(initial=0))
    m = max(2 * n, vertices, int(np.diff(hulls.first[:, 0]).max(initial=0))) + 8
    return ManifoldWork(
        np.zeros((2, n, 3)),
        np.zeros((2, n), dtype=np.int64),
        np.zeros((2, 3)),
        np.zeros((2, 2)),
        np.zeros((2, n)),
        np.zeros((2, n, 3)),
        np.zeros((2, m, 2)),
        np.zeros((2, m), dtype=np.int64),
        np.zeros((m, 3)),
        np.zeros(m, dtype=np.int64),
        np.zeros((m, 2)),
        np.zeros(m),
        np.zeros((2, max(1, int(np.diff(tables[3]).max(initial=0))), 3)),
        *tables,
    )


@inlined_kernel
def _set_normal(solid, work, side, x, y, z):
    wx, wy, wz = to_world(solid.axes, x, y, z)
    work.normal[side, 0], work.normal[side, 1], work.normal[side, 2] = wx, wy, wz


@inner_kernel
def put(solid, points, labels, side, at, label, x, y, z):
    """Write a point that is given in the core's own frame."""
    wx, wy, wz = to_world(solid.axes, x, y, z)
    points[side, at, 0], points[side, at, 1], points[side, at, 2] = solid.x + wx, solid.y + wy, solid.z + wz
    labels[side, at] = label


@inner_kernel
def find_edge(hulls, hull, one, two):
    """Row of the edge between two vertices of a hull, by halving: edges are sorted by their vertices."""
    v, w = min(one, two), max(one, two)
    low, high = hulls.first[hull, 2], hulls.first[hull + 1, 2]
    while low < high:
        middle = (low + high) // 2
        a, b = hulls.edges[middle, 0], hulls.edges[middle, 1]
        if a < v or (a == v and b < w):
            low = middle + 1
        else:
            high = middle
    return low


@inner_kernel
def _hull_feature(hulls, hull, x, y, z):
    """Face, or edge if all faces are seen from the side; two vertices of its flattest edge.

    The edge of least slope at the support vertex is part of every line or area of contact, which the face
    most along the direction need not be; of its two faces the one more along the direction is taken.
    """
    top = hull_support(hulls, hull, x, y, z)
    first = hulls.first[hull, 0]
    v = hulls.vertices
    i = first + top
    other, least = top, math.inf
    for k in range(hulls.neighbour_first[i], hulls.neighbour_first[i + 1]):
        j = first + hulls.neighbours[k]
        dx, dy, dz = v[i, 0] - v[j, 0], v[i, 1] - v[j, 1], v[i, 2] - v[j, 2]
        slope = (x * dx + y * dy + z * dz) / math.sqrt(dx * dx + dy * dy + dz * dz)
        if slope < least:
            other, least = hulls.neighbours[k], slope
    edge = find_edge(hulls, hull, top, other)
    left = hulls.first[hull, 1] + hulls.edges[edge, 2]
    right = hulls.first[hull, 1] + hulls.edges[edge, 3]
    planes = hulls.planes
    slope_left = x * planes[left, 0] + y * planes[left, 1] + z * planes[left, 2]
    slope_right = x * planes[right, 0] + y * planes[right, 1] + z * planes[right, 2]
    if slope_left >= slope_right:
        return left, slope_left, top, other, least
    return right, slope_right, top, other, least


@inner_kernel
def choose(solid, hulls, x, y, z, work, side):
    """Form of the feature that faces (x, y, z), and two numbers that `fill` needs; sets a face's normal."""
    kind = solid.kind
    if kind == TRIANGLE:
        return _choose_of_triangle(solid, x, y, z, work, side)
    lx, ly, lz = to_local(solid.axes, x, y, z)
    if kind == BOX:
        face, most = 0, abs(lx)
        if abs(ly) > most:
            face, most = 1, abs(ly)
        if abs(lz) > most:
            face, most = 2, abs(lz)
        along = lx if face == 0 else (ly if face == 1 else lz)
        sign = 1.0 if along >= 0.0 else -1.0
        for k in range(3):
            work.normal[side, k] = sign * solid.axes[k, face]
        return FLAT, face, 1 if sign > 0.0 else 0
    if kind == CONVEX_HULL:
        face, most, top, other, slope = _hull_feature(hulls, solid.hull, lx, ly, lz)
        if most >= _EDGE_ON:
            planes = hulls.planes
            _set_normal(solid, work, side, planes[face, 0], planes[face, 1], planes[face, 2])
            return FLAT, work.patch_of[face], 0
        if slope < 1.0 - 0.5 * _EDGE_ON * _EDGE_ON:
            return STRAIGHT, top, other
        return ALONE, 0, 0
    if kind == CAPSULE:
        return (STRAIGHT if abs(lz) < 1.0 - 0.5 * _EDGE_ON * _EDGE_ON else ALONE), 0, 0
    if kind in (CYLINDER, CONE):
        across = math.sqrt(lx * lx + ly * ly)
        if kind == CYLINDER:
            beside, above = across, abs(lz)
        else:
            slant = math.sqrt(solid.a * solid.a + 4.0 * solid.b * solid.b)
            beside, above = (2.0 * solid.b * across + solid.a * lz) / slant, -lz
        if above >= beside:
            top = 1 if lz > 0.0 else 0
            _set_normal(solid, work, side, 0.0, 0.0, 1.0 if top == 1 else -1.0)
            return ROUND, top, 0
        return (STRAIGHT if across > _EDGE_ON else ALONE), 0, 0
    return ALONE, 0, 0


@inner_kernel
def _choose_of_triangle(solid, x, y, z, work, side):
    c = solid.axes
    ux, uy, uz = c[0, 1] - c[0, 0], c[1, 1] - c[1, 0], c[2, 1] - c[2, 0]
    vx, vy, vz = c[0, 2] - c[0, 0], c[1, 2] - c[1, 0], c[2, 2] - c[2, 0]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    slope = (nx * x + ny * y + nz * z) / length
    if abs(slope) >= _EDGE_ON:
        scale = 1.0 / length if slope > 0.0 else -1.0 / length  # seen from either side
        work.normal[side, 0], work.normal[side, 1], work.normal[side, 2] = nx * scale, ny * scale, nz * scale
        return FLAT, 0, 0
    top, most = 0, -math.inf
    for k in range(3):
        height = x * c[0, k] + y * c[1, k] + z * c[2, k]
        if height > most:
            top, most = k, height
    other, least = top, math.inf
    for k in range(3):
        dx, dy, dz = c[0, top] - c[0, k], c[1, top] - c[1, k], c[2, top] - c[2, k]
        length = math.sqrt(dx * dx + dy * dy + dz * dz)
        if k != top and x * dx + y * dy + z * dz < least * length:
            other, least = k, (x * dx + y * dy + z * dz) / length
    return (STRAIGHT if least < 1.0 - 0.5 * _EDGE_ON * _EDGE_ON else ALONE), top, other


@inner_kernel
def fill(solid, hulls, form, one, two, x, y, z, ax, ay, az, work, side):
    """Write the points of the feature that `choose` found for (x, y, z); their number.

    (a) is the direction in which the lowest point of a rim is looked for: into the other feature.
    """
    kind = solid.kind
    work.bend[side, 0], work.bend[side, 1] = 0.0, 0.0
    if form == ALONE:
        return 0
    if kind == BOX:
        u, v = (one + 1) % 3, (one + 2) % 3
        for k in range(4):
            plus_u = k == 0 or k == 3
            plus_v = k < 2
            corner = (two << one) | ((1 if plus_u else 0) << u) | ((1 if plus_v else 0) << v)
            put(
                solid, work.points, work.labels, side, k, corner,
                solid.a if corner & 1 else -solid.a,
                solid.b if corner & 2 else -solid.b,
                solid.c if corner & 4 else -solid.c,
            )  # fmt: skip
        return 4
    if kind == CONVEX_HULL:
        first = hulls.first[solid.hull, 0]
        v = hulls.vertices
        if form == STRAIGHT:
            put(
                solid,
                work.points,
                work.labels,
                side,
                0,
                one,
                v[first + one, 0],
                v[first + one, 1],
                v[first + one, 2],
            )
            put(
                solid,
                work.points,
                work.labels,
                side,
                1,
                two,
                v[first + two, 0],
                v[first + two, 1],
                v[first + two, 2],
            )
            return 2
        begin, end = work.loop_first[one], work.loop_first[one + 1]
        for k in range(begin, end):
            i = work.loops[k]
            put(
                solid,
                work.points,
                work.labels,
                side,
                k - begin,
                i,
                v[first + i, 0],
                v[first + i, 1],
                v[first + i, 2],
            )
        return end - begin
    if kind == TRIANGLE:
        c = solid.axes
        count = 3 if form == FLAT else 2
        for i in range(count):
            k = i if form == FLAT else (one if i == 0 else two)
            work.points[side, i, 0] = solid.x + c[0, k]
            work.points[side, i, 1] = solid.y + c[1, k]
            work.points[side, i, 2] = solid.z + c[2, k]
            work.labels[side, i] = k
        return count
    if kind == CAPSULE:
        put(solid, work.points, work.labels, side, 0, 0, 0.0, 0.0, -solid.b)
        put(solid, work.points, work.labels, side, 1, 1, 0.0, 0.0, solid.b)
        return 2
    if form == ROUND:
        return _rim(solid, one, ax, ay, az, work, side)
    lx, ly, _ = to_local(solid.axes, x, y, z)
    across = math.sqrt(lx * lx + ly * ly)
    ux, uy = lx / across, ly / across
    put(solid, work.points, work.labels, side, 0, LOWEST, solid.a * ux, solid.a * uy, -solid.b)
    if kind == CYLINDER:
        put(solid, work.points, work.labels, side, 1, LOWEST + 1, solid.a * ux, solid.a * uy, solid.b)
        work.bend[side, 0], work.bend[side, 1] = solid.a, solid.a
    else:
        put(solid, work.points, work.labels, side, 1, TIP, 0.0, 0.0, solid.b)
        slant = math.sqrt(solid.a * solid.a + 4.0 * solid.b * solid.b)
        work.bend[side, 0] = solid.a * slant / (2.0 * solid.b)
    return 2


@inner_kernel
def put_rim(solid, work, side, at, label, top, angle):
    """Write the point of a rim at an angle."""
    work.angle[side, at] = angle
    put(
        solid, work.points, work.labels, side, at, label,
        solid.a * math.cos(angle), solid.a * math.sin(angle), solid.b if top == 1 else -solid.b,
    )  # fmt: skip


@inner_kernel
def _rim(solid, top, x, y, z, work, side):
    """Samples of a rim by increasing angle, with its lowest point along (x, y, z)."""
    lx, ly, lz = to_local(solid.axes, x, y, z)
    step = 2.0 * math.pi / RIM_SAMPLES
    across = math.sqrt(lx * lx + ly * ly)
    lowest = math.atan2(ly, lx)
    if across > _TILTED * abs(lz):
        for k in range(RIM_SAMPLES):
            label = LOWEST + top if k == 0 else ANCHORED + RIM_SAMPLES * top + k
            put_rim(solid, work, side, k, label, top, lowest + k * step)
        return RIM_SAMPLES
    for k in range(RIM_SAMPLES):
        put_rim(solid, work, side, k, RIM_SAMPLES * top + k, top, k * step)
    # a sample less than 2e-10 of the radius above the lowest point stands for it
    turn = lowest / step
    if across * (1.0 - math.cos((turn - round(turn)) * step)) > 2e-10:
        return add_to_rim(solid, work, side, RIM_SAMPLES, LOWEST + top, top, lowest)
    return RIM_SAMPLES


@inner_kernel
def add_to_rim(solid, work, side, count, label, top, angle):
    """Put one more point into the samples of a rim, by its angle; the number of points."""
    turn = 2.0 * math.pi
    first = work.angle[side, 0]
    angle -= turn * math.floor((angle - first) / turn)
    at = count
    for i in range(count):
        if abs(work.angle[side, i] - angle) < 1e-7 or abs(work.angle[side, i] + turn - angle) < 1e-7:
            return count
        if work.angle[side, i] > angle:
            at = i
            break
    for i in range(count, at, -1):
        for k in range(3):
            work.points[side, i, k] = work.points[side, i - 1, k]
        work.labels[side, i] = work.labels[side, i - 1]
        work.angle[side, i] = work.angle[side, i - 1]
    put_rim(solid, work, side, at, label, top, angle)
    return count + 1


@kernel
def support_feature(solid, hulls, x, y, z, work, side):
    """Points of the feature that faces (x, y, z); their number: 0 stands for a point, 2 a segment, else face.

    Points and labels stand in `work.points[side]` and `work.labels[side]`, a face's outward normal in
    `work.normal[side]`.
    """
    form, one, two = choose(solid, hulls, x, y, z, work, side)
    return fill(solid, hulls, form, one, two, x, y, z, x, y, z, work, side)
