"""What the contact check reads and writes: contacts, tolerances, and the largest errors.

Errors go to four rows: gap (m), angle (rad), point (m), span (m). `value` holds the largest of each, `ratio`
the largest error in units of its tolerance, `worst` that error itself and `row` the contact it belongs to.
"""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inlined_kernel, inner_kernel
from nonsmooth.collision.kernels.check.support import HALF_SPACE, HEIGHT_FIELD, MESH

GAP, ANGLE, POINT, SPAN = range(4)
GAP_ABSOLUTE, GAP_RELATIVE, ROUNDING = 1e-12, 1e-9, 4e-15
SPAN_FLAT = 0.03
# Points on a rim are up to Φ = 51° apart: eight samples and the lowest point, less those that stand out by
# less than 2 %. Of a tilted disc the part within an angle θ of the lowest point touches, 2 a sin θ wide; it
# reaches beyond the points' chord by a (cos(θ − Φ/2) − cos Φ/2) ≤ a sin θ sin Φ/2, sin(Φ/2)/2 of the width.
SPAN_ROUND = 0.216
SLAB = 1e-6  # part of the size: flatter than this, two features are taken as flat on each other
LATERAL = 1e-8  # part of the size by which further points, and those of curved shapes, may be off a surface
NEAR = 2.5e-10  # part of the size by which two edges may be beside one another that touch along their length
BESIDE = 1e-5  # part of the size by which a point may be beside the edge of a face


class Rows(NamedTuple):
    """What is checked: columns of `Contacts`, and the margin (m)."""

    shapes: np.ndarray
    point: np.ndarray
    normal: np.ndarray
    gap: np.ndarray
    margin: float
    part: np.ndarray  # (k,) of the step until the shapes meet, 0 for contacts of now
    way: np.ndarray  # (k, 3) of the first shape, or of that which is no surface, until then


class Work(NamedTuple):
    """Room for one pair."""

    kept_p: np.ndarray  # (e, 10)
    kept_q: np.ndarray
    points: np.ndarray  # (64 + 2, 2)
    hulls: np.ndarray  # (3, 64 + 66, 2)
    tangents: np.ndarray  # (6,)
    corner: np.ndarray  # (4, 4)


class Result(NamedTuple):
    """See the module."""

    value: np.ndarray
    ratio: np.ndarray
    worst: np.ndarray
    row: np.ndarray


@inlined_kernel
def note(result, k, value, tolerance, i):
    """Keep an error of contact i if it is the largest so far; one that is not a number is infinite."""
    if not value <= math.inf:
        value = math.inf
    if value > result.value[k]:
        result.value[k] = value
    if value / tolerance > result.ratio[k]:
        result.ratio[k] = value / tolerance
        result.worst[k] = value
        result.row[k] = i


@inlined_kernel
def tolerance_of(scene, a, b, x, y, z):
    """Error of a gap that is allowed: 1e-12 m, 1e-9 of the pair's size, rounding of the coordinates.

    The size is the smaller diameter and a tenth of the larger; half-spaces and surfaces have none.
    """
    da, db = 2.0 * scene.ball[a, 3], 2.0 * scene.ball[b, 3]
    ka, kb = scene.kind[a], scene.kind[b]
    if ka in (HALF_SPACE, MESH, HEIGHT_FIELD):
        size = db
    elif kb in (HALF_SPACE, MESH, HEIGHT_FIELD):
        size = da
    else:
        size = min(da, db) + 0.1 * max(da, db)
    far = abs(x) + abs(y) + abs(z)
    return GAP_ABSOLUTE + GAP_RELATIVE * size + ROUNDING * far, size


@inlined_kernel
def angle_between(ax, ay, az, bx, by, bz):
    """Angle of two unit vectors."""
    cx, cy, cz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    return math.atan2(math.sqrt(cx * cx + cy * cy + cz * cz), ax * bx + ay * by + az * bz)


@inlined_kernel
def chosen(a, b, count, step, period):
    """True in one of `period` steps for each pair, at a step that depends on the pair alone."""
    mixed = np.uint64(a * count + b) * np.uint64(0x9E3779B97F4A7C15)
    turn = np.int64((mixed >> np.uint64(32)) * np.uint64(period) >> np.uint64(32))
    return (turn + step) % period == 0


@inner_kernel
def first_of(keys, key):
    """First place in the sorted keys that is not below `key`."""
    low, high = 0, keys.shape[0]
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@inlined_kernel
def listed(keys, key):
    """True if the sorted keys hold `key`."""
    place_of = first_of(keys, key)
    return place_of < keys.shape[0] and keys[place_of] == key


@inlined_kernel
def end_of(rows, first):
    """Row after the last contact of the pair that begins at row `first`."""
    end = first + 1
    while (
        end < rows.gap.shape[0]
        and rows.shapes[end, 0] == rows.shapes[first, 0]
        and rows.shapes[end, 1] == rows.shapes[first, 1]
    ):
        end += 1
    return end


class Exempt(NamedTuple):
    """Pairs that need no contact."""

    group: np.ndarray  # (s,) int64: shapes of one group never touch
    ignored: np.ndarray  # (k,) int64 sorted keys a·n + b of bodies, a < b
    bodies: int
    withheld: np.ndarray  # (k,) int64 sorted keys a·s + b of shapes, a < b


@inner_kernel
def reported(shapes, a, b):
    """True if the contacts, in order, hold one of shapes a < b."""
    low, high = 0, shapes.shape[0]
    while low < high:
        middle = (low + high) // 2
        if shapes[middle, 0] < a or (shapes[middle, 0] == a and shapes[middle, 1] < b):
            low = middle + 1
        else:
            high = middle
    return low < shapes.shape[0] and shapes[low, 0] == a and shapes[low, 1] == b


@inner_kernel
def is_exempt(scene, exempt, a, b):
    """True if the bodies of shapes a < b ignore each other, or the contact of the shapes is withheld."""
    i, j = scene.body[a], scene.body[b]
    i, j = (i, j) if i < j else (j, i)
    if listed(exempt.ignored, i * exempt.bodies + j):
        return True
    return listed(exempt.withheld, np.int64(a) * scene.kind.shape[0] + b)
