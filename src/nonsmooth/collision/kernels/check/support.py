"""Geometry of the contact check: placement, support and membership of every convex kind.

Nothing here is shared with the narrow phase. A shape is a core with a ball of `radius` swept around it; a
sphere's core is a point, a capsule's a segment. Points given to these functions are in the world's
directions, relative to the shape's centre.
"""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inlined_kernel, inner_kernel

SPHERE, HALF_SPACE, BOX, CAPSULE, CYLINDER, ELLIPSOID, CONVEX_HULL, MESH, HEIGHT_FIELD, CONE = range(10)


class Scene(NamedTuple):
    """What the check knows of s shapes, and where they are."""

    kind: np.ndarray  # (s,) int64
    body: np.ndarray  # (s,) int64
    size: np.ndarray  # (s, 3) as in the shape table
    radius: np.ndarray  # (s,) of the swept ball: a sphere's and a capsule's own, the rounding of others
    ball: np.ndarray  # (s, 4) ball that holds the shape: centre in the shape's frame, radius
    offset: np.ndarray  # (s, 3)
    rotation: np.ndarray  # (s, 4)
    part: np.ndarray  # (s,) int64: row of `first`, −1 without flat faces
    first: np.ndarray  # (g + 1, 3) int64: first vertex, plane and edge of each polytope; row 0 is the box
    vertices: np.ndarray  # (V, 3); of the box: ±1
    planes: np.ndarray  # (F, 4) outward unit normal, offset; of the box: 1
    edges: np.ndarray  # (E, 4) int64: two vertices, two planes
    centre: np.ndarray  # (s, 3) in the world
    axes: np.ndarray  # (s, 3, 3) columns: the shape's axes in the world
    middle: np.ndarray  # (s, 3) centre of the ball in the world


@inlined_kernel
def to_frame(axes, s, x, y, z):
    """A vector of the world in the directions of shape s."""
    return (
        axes[s, 0, 0] * x + axes[s, 1, 0] * y + axes[s, 2, 0] * z,
        axes[s, 0, 1] * x + axes[s, 1, 1] * y + axes[s, 2, 1] * z,
        axes[s, 0, 2] * x + axes[s, 1, 2] * y + axes[s, 2, 2] * z,
    )


@inlined_kernel
def from_frame(axes, s, x, y, z):
    """A vector of shape s in the directions of the world."""
    return (
        axes[s, 0, 0] * x + axes[s, 0, 1] * y + axes[s, 0, 2] * z,
        axes[s, 1, 0] * x + axes[s, 1, 1] * y + axes[s, 1, 2] * z,
        axes[s, 2, 0] * x + axes[s, 2, 1] * y + axes[s, 2, 2] * z,
    )


@inlined_kernel
def _matrix_entry(w, x, y, z, i, j):
    """Entry of w² − v·v on the diagonal, plus 2 v vᵀ + 2 w [v]×."""
    if i == j:
        own = x if i == 0 else (y if i == 1 else z)
        return w * w - (x * x + y * y + z * z) + 2.0 * own * own
    third = z if i + j == 1 else (y if i + j == 2 else x)
    product = x * y if i + j == 1 else (x * z if i + j == 2 else y * z)
    turn = -1.0 if (j - i) % 3 == 1 else 1.0
    return 2.0 * (product + turn * w * third)


@inner_kernel
def place_at(scene, s, px, py, pz, w, x, y, z):
    """Set centre, axes and middle of shape s, whose body is at p with the unit quaternion (w, x, y, z)."""
    a, b, c, d = scene.rotation[s, 0], scene.rotation[s, 1], scene.rotation[s, 2], scene.rotation[s, 3]
    for i in range(3):
        centre = px if i == 0 else (py if i == 1 else pz)
        for k in range(3):
            centre += _matrix_entry(w, x, y, z, i, k) * scene.offset[s, k]
        scene.centre[s, i] = centre
        for j in range(3):
            total = 0.0
            for k in range(3):
                total += _matrix_entry(w, x, y, z, i, k) * _matrix_entry(a, b, c, d, k, j)
            scene.axes[s, i, j] = total
    mx, my, mz = from_frame(scene.axes, s, scene.ball[s, 0], scene.ball[s, 1], scene.ball[s, 2])
    scene.middle[s, 0] = scene.centre[s, 0] + mx
    scene.middle[s, 1] = scene.centre[s, 1] + my
    scene.middle[s, 2] = scene.centre[s, 2] + mz


@inner_kernel
def place(scene, position, quaternion, s):
    """Set centre, axes and middle of shape s."""
    p, q, i = position, quaternion, scene.body[s]
    place_at(scene, s, p[i, 0], p[i, 1], p[i, 2], q[i, 0], q[i, 1], q[i, 2], q[i, 3])


@inner_kernel
def place_moved(scene, position, quaternion, displacement, rotation, part, s):
    """Set where shape s is after a part 0…1 of its body's `displacement` (m) and `rotation` (rad, vector)."""
    p, q, d, r, i = position, quaternion, displacement, rotation, scene.body[s]
    angle = part * math.sqrt(r[i, 0] * r[i, 0] + r[i, 1] * r[i, 1] + r[i, 2] * r[i, 2])
    scale = part * (0.5 if angle < 1e-9 else math.sin(0.5 * angle) / angle)
    a, b, c, e = math.cos(0.5 * angle), scale * r[i, 0], scale * r[i, 1], scale * r[i, 2]
    w, x, y, z = q[i, 0], q[i, 1], q[i, 2], q[i, 3]
    place_at(
        scene, s,
        p[i, 0] + part * d[i, 0], p[i, 1] + part * d[i, 1], p[i, 2] + part * d[i, 2],
        a * w - b * x - c * y - e * z, a * x + b * w + c * z - e * y,
        a * y - b * z + c * w + e * x, a * z + b * y - c * x + e * w,
    )  # fmt: skip


@inlined_kernel
def place_middle(scene, position, quaternion, s):
    """Set the middle of the ball of shape s alone."""
    if scene.kind[s] == SPHERE and scene.offset[s, 0] == scene.offset[s, 1] == scene.offset[s, 2] == 0.0:
        body = scene.body[s]
        for k in range(3):
            scene.middle[s, k] = position[body, k]
    else:
        place(scene, position, quaternion, s)


@inner_kernel
def farthest(scene, s, x, y, z):
    """Point of the core of shape s farthest along (x, y, z)."""
    kind = scene.kind[s]
    if kind == SPHERE:
        return 0.0, 0.0, 0.0
    lx, ly, lz = to_frame(scene.axes, s, x, y, z)
    a, b, c = scene.size[s, 0], scene.size[s, 1], scene.size[s, 2]
    if kind == BOX:
        px, py, pz = a if lx > 0.0 else -a, b if ly > 0.0 else -b, c if lz > 0.0 else -c
    elif kind == CAPSULE:
        px, py, pz = 0.0, 0.0, b if lz > 0.0 else -b
    elif kind == ELLIPSOID:
        px, py, pz = a * a * lx, b * b * ly, c * c * lz
        length = math.sqrt(px * lx + py * ly + pz * lz)
        if length > 0.0:
            px, py, pz = px / length, py / length, pz / length
    elif kind in (CYLINDER, CONE):
        across = math.hypot(lx, ly)
        px, py = (a * lx / across, a * ly / across) if across > 0.0 else (0.0, 0.0)
        if kind == CYLINDER:
            pz = b if lz > 0.0 else -b
        else:
            pz = -b
            if b * lz > a * across - b * lz:
                px, py, pz = 0.0, 0.0, b
    else:
        part = scene.part[s]
        best, most = 0, -math.inf
        for v in range(scene.first[part, 0], scene.first[part + 1, 0]):
            along = scene.vertices[v, 0] * lx + scene.vertices[v, 1] * ly + scene.vertices[v, 2] * lz
            if along > most:
                best, most = v, along
        px, py, pz = scene.vertices[best, 0], scene.vertices[best, 1], scene.vertices[best, 2]
    return from_frame(scene.axes, s, px, py, pz)


@inner_kernel
def apart_along(scene, p, q, cx, cy, cz, x, y, z):
    """Separation of the cores of p and q along the unit vector (x, y, z); c is q's centre less p's."""
    px, py, pz = farthest(scene, p, x, y, z)
    qx, qy, qz = farthest(scene, q, -x, -y, -z)
    return x * (cx + qx - px) + y * (cy + qy - py) + z * (cz + qz - pz)


@inner_kernel
def _curved_height(kind, a, b, c, x, y, z):
    """See `height`; in the frame of a shape without flat faces of its own."""
    if kind == ELLIPSOID:
        level = math.sqrt(x * x / (a * a) + y * y / (b * b) + z * z / (c * c))
        if level == 0.0:
            return -min(a, b, c), 1.0, 0.0, 0.0
        gx, gy, gz = x / (a * a * level), y / (b * b * level), z / (c * c * level)
        slope = math.sqrt(gx * gx + gy * gy + gz * gz)
        return (level - 1.0) / slope, gx / slope, gy / slope, gz / slope
    across = math.hypot(x, y)
    ux, uy = (x / across, y / across) if across > 0.0 else (1.0, 0.0)
    if kind == CYLINDER:
        side, end = across - a, abs(z) - b
        if side >= end:
            return side, ux, uy, 0.0
        return end, 0.0, 0.0, 1.0 if z > 0.0 else -1.0
    if kind == CONE:
        slant = math.hypot(a, 2.0 * b)
        side = (2.0 * b * across + a * (z - b)) / slant
        if side >= -b - z:
            return side, 2.0 * b * ux / slant, 2.0 * b * uy / slant, a / slant
        return -b - z, 0.0, 0.0, -1.0
    # the point of a sphere, the segment of a capsule
    dz = z
    if kind == CAPSULE:
        dz = z - min(max(z, -b), b)
    distance = math.sqrt(x * x + y * y + dz * dz)
    if distance == 0.0:
        return 0.0, 1.0, 0.0, 0.0
    return distance, x / distance, y / distance, dz / distance


@inner_kernel
def height(scene, s, x, y, z, nx, ny, nz, slack):
    """How far a point is outside the core (negative inside), and the outward unit normal that says so.

    Outside edges it is less than the distance. Faces count as farther out by `slack` times the sine of their
    angle to n, so that a point on the rim of the face that looks along n is not outside by rounding.
    """
    kind = scene.kind[s]
    x, y, z = to_frame(scene.axes, s, x, y, z)
    nx, ny, nz = to_frame(scene.axes, s, nx, ny, nz)
    a, b, c = scene.size[s, 0], scene.size[s, 1], scene.size[s, 2]
    if kind in (BOX, CONVEX_HULL):
        part = scene.part[s]
        gx, gy, gz, most = 1.0, 0.0, 0.0, -math.inf
        for f in range(scene.first[part, 1], scene.first[part + 1, 1]):
            fx, fy, fz, offset = (
                scene.planes[f, 0],
                scene.planes[f, 1],
                scene.planes[f, 2],
                scene.planes[f, 3],
            )
            if kind == BOX:
                offset = abs(fx) * a + abs(fy) * b + abs(fz) * c
            above = fx * x + fy * y + fz * z - offset
            if slack > 0.0:
                cosine = fx * nx + fy * ny + fz * nz
                above -= slack * math.sqrt(max(1.0 - cosine * cosine, 0.0))
            if above > most:
                gx, gy, gz, most = fx, fy, fz, above
    else:
        if slack > 0.0 and (kind in (CYLINDER, CONE)):
            a, b = a + slack * abs(nz), b + slack * math.sqrt(max(1.0 - nz * nz, 0.0))
        most, gx, gy, gz = _curved_height(kind, a, b, c, x, y, z)
    gx, gy, gz = from_frame(scene.axes, s, gx, gy, gz)
    return most, gx, gy, gz


@inner_kernel
def way_out(scene, s, x, y, z, nx, ny, nz, slack):
    """How far (x, y, z) may go along the unit vector n until it leaves shape s for good; negative if it has.

    Newton's method from outside on a convex function. The swept ball of a sphere or capsule is part of the
    ray's target; that of other shapes is added to the core's exit, as it is above a flat face.
    """
    kind = scene.kind[s]
    if kind == HALF_SPACE:
        cosine = scene.axes[s, 0, 2] * nx + scene.axes[s, 1, 2] * ny + scene.axes[s, 2, 2] * nz
        above = scene.axes[s, 0, 2] * x + scene.axes[s, 1, 2] * y + scene.axes[s, 2, 2] * z
        return -above / cosine if cosine > 0.0 else math.inf
    own = scene.radius[s] if kind in (SPHERE, CAPSULE) else 0.0
    px, py, pz = farthest(scene, s, nx, ny, nz)
    t = nx * (px - x) + ny * (py - y) + nz * (pz - z) + own
    for _ in range(60):
        above, gx, gy, gz = height(scene, s, x + t * nx, y + t * ny, z + t * nz, nx, ny, nz, slack)
        above -= own
        slope = gx * nx + gy * ny + gz * nz
        if above <= 0.0 or slope <= 1e-9:
            break
        step = above / slope
        t -= step
        if step <= 1e-16 * abs(t):
            break
    return t + scene.radius[s] - own
