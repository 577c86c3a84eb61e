"""Is a shape inside the solid that a mesh bounds? A ray through its triangles tells."""

import math

from nonsmooth._support.jit import inner_kernel
from nonsmooth.collision.kernels.check.mesh import BLOCK
from nonsmooth.collision.kernels.check.support import MESH, farthest, from_frame, to_frame


@inner_kernel
def _passed(boxes, i, x, y, z, dx, dy, dz):
    """True if a ray meets box i; no part of its direction is zero."""
    ax, bx = (boxes[i, 0] - x) / dx, (boxes[i, 3] - x) / dx
    ay, by = (boxes[i, 1] - y) / dy, (boxes[i, 4] - y) / dy
    az, bz = (boxes[i, 2] - z) / dz, (boxes[i, 5] - z) / dz
    near = max(min(ax, bx), min(ay, by), min(az, bz))
    far = min(max(ax, bx), max(ay, by), max(az, bz))
    return far >= 0.0 and near <= far + 1e-9 * abs(far)


@inner_kernel
def _crossed(c, t, x, y, z, dx, dy, dz):
    """Distance at which a ray crosses triangle t, infinite if it does not; positive if it leaves."""
    ax, ay, az = c[t, 0] - x, c[t, 1] - y, c[t, 2] - z
    bx, by, bz = c[t, 3] - x, c[t, 4] - y, c[t, 5] - z
    ex, ey, ez = c[t, 6] - x, c[t, 7] - y, c[t, 8] - z
    # volumes that the ray spans with the three edges have one sign
    u = dx * (by * ez - bz * ey) + dy * (bz * ex - bx * ez) + dz * (bx * ey - by * ex)
    v = dx * (ey * az - ez * ay) + dy * (ez * ax - ex * az) + dz * (ex * ay - ey * ax)
    w = dx * (ay * bz - az * by) + dy * (az * bx - ax * bz) + dz * (ax * by - ay * bx)
    total = u + v + w
    if total == 0.0 or min(u, v, w) < 0.0 < max(u, v, w):
        return math.inf, 0.0
    along = (u * ax + v * bx + w * ex) / total * dx
    along += (u * ay + v * by + w * ey) / total * dy
    along += (u * az + v * bz + w * ez) / total * dz
    return (along if along >= 0.0 else math.inf), total


@inner_kernel
def point_inside(scene, surfaces, s, x, y, z):
    """True if a point of the world is in the solid of a closed mesh: a ray from it first leaves it."""
    surface = surfaces.of_shape[s]
    if scene.kind[s] != MESH or not surfaces.closed[surface]:
        return False
    x, y, z = to_frame(scene.axes, s, x - scene.centre[s, 0], y - scene.centre[s, 1], z - scene.centre[s, 2])
    dx, dy, dz = 0.48, -0.6, 0.64
    c = surfaces.corners
    first, end = surfaces.first[surface, 0], surfaces.first[surface + 1, 0]
    box, box_end = surfaces.first[surface, 1], surfaces.first[surface + 1, 1]
    nearest, leaves = math.inf, False
    for k in range(surfaces.first[surface, 2], surfaces.first[surface + 1, 2]):
        if not _passed(surfaces.large, k, x, y, z, dx, dy, dz):
            continue
        low = box + BLOCK * (k - surfaces.first[surface, 2])
        for b in range(low, min(low + BLOCK, box_end)):
            if not _passed(surfaces.boxes, b, x, y, z, dx, dy, dz):
                continue
            start = first + BLOCK * (b - box)
            for t in range(start, min(start + BLOCK, end)):
                along, way = _crossed(c, t, x, y, z, dx, dy, dz)
                if along < nearest:
                    nearest, leaves = along, way > 0.0
    return leaves


@inner_kernel
def is_engulfed(scene, surfaces, s, q):
    """True if a point of shape q is in the solid of mesh s; where they do not cross, all of q is."""
    if scene.kind[s] != MESH or not surfaces.closed[surfaces.of_shape[s]]:
        return False
    if scene.kind[q] == MESH:
        t = surfaces.first[surfaces.of_shape[q], 0]
        c = surfaces.corners
        x, y, z = from_frame(scene.axes, q, c[t, 0], c[t, 1], c[t, 2])
    else:
        ax, ay, az = farthest(scene, q, 1.0, 0.0, 0.0)
        bx, by, bz = farthest(scene, q, -1.0, 0.0, 0.0)
        x, y, z = 0.5 * (ax + bx), 0.5 * (ay + by), 0.5 * (az + bz)
    return point_inside(
        scene, surfaces, s, scene.centre[q, 0] + x, scene.centre[q, 1] + y, scene.centre[q, 2] + z
    )


@inner_kernel
def corner_inside(scene, surfaces, s, q):
    """True if a corner of mesh q is in the solid of mesh s."""
    if not surfaces.closed[surfaces.of_shape[s]]:
        return False
    c, surface = surfaces.corners, surfaces.of_shape[q]
    for t in range(surfaces.first[surface, 0], surfaces.first[surface + 1, 0]):
        # every corner is the first, second or third of several triangles
        x, y, z = from_frame(scene.axes, q, c[t, 0], c[t, 1], c[t, 2])
        x, y, z = x + scene.centre[q, 0], y + scene.centre[q, 1], z + scene.centre[q, 2]
        dx, dy, dz = x - scene.middle[s, 0], y - scene.middle[s, 1], z - scene.middle[s, 2]
        if dx * dx + dy * dy + dz * dz > scene.ball[s, 3] * scene.ball[s, 3]:
            continue
        if point_inside(scene, surfaces, s, x, y, z):
            return True
    return False


@inner_kernel
def lowest_corner(scene, surfaces, s, nx, ny, nz):
    """Least height of surface s along n, from its centre."""
    nx, ny, nz = to_frame(scene.axes, s, nx, ny, nz)
    c, surface = surfaces.corners, surfaces.of_shape[s]
    least = math.inf
    for t in range(surfaces.first[surface, 0], surfaces.first[surface + 1, 0]):
        for i in range(0, 9, 3):
            least = min(least, nx * c[t, i] + ny * c[t, i + 1] + nz * c[t, i + 2])
    return least
