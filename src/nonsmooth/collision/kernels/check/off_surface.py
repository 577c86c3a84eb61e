"""How far is a point from where the normal of its contact leaves the surface of a convex shape?

The distance is taken along the normal. A line of contact on a round side has three conventions of its own:
it ends straight across, its surface is that of the balls about the points of a core, and it is known near the
line alone.
"""

import math

from nonsmooth._support.jit import inner_kernel
from nonsmooth.collision.kernels.check.rows import BESIDE, LATERAL
from nonsmooth.collision.kernels.check.support import (
    CAPSULE,
    CONE,
    CYLINDER,
    HALF_SPACE,
    SPHERE,
    from_frame,
    height,
    to_frame,
    way_out,
)

_LEVEL = 0.01  # slope of a line against the surface along which it touches
_BESIDE_LINE = 0.05  # part of the radius by which a point of a round side may be beside its line of contact


@inner_kernel
def off_surface(scene, s, x, y, z, nx, ny, nz, tolerance, size):
    """How far a point (relative to the centre of s) is from where n leaves the surface of s.

    It may be beside the edge of a face by a little more than rounding, where two edges nearly coincide, and
    at the end of a line of contact beside a rim.
    """
    off = _off(scene, s, x, y, z, nx, ny, nz, tolerance, 0.3 * LATERAL * size)
    if off > tolerance:
        off = min(off, _off(scene, s, x, y, z, nx, ny, nz, tolerance, BESIDE * size))
    if off > tolerance and scene.kind[s] == CAPSULE:
        off = min(off, _off_ball(scene, s, x, y, z, nx, ny, nz))
    if off > tolerance and scene.kind[s] in (CYLINDER, CONE):
        x, y, z = _back_to_rim(scene, s, x, y, z, nx, ny, nz, size)
        off = min(off, _off(scene, s, x, y, z, nx, ny, nz, tolerance, 0.3 * LATERAL * size))
    return off


@inner_kernel
def _off_ball(scene, s, x, y, z, nx, ny, nz):
    """How far a point is from the ball about the point of a capsule's line that it is beside, seen along n.

    The line may be tilted: then this ball is inside of the surface by the square of the slope.
    """
    ax, ay, az = scene.axes[s, 0, 2], scene.axes[s, 1, 2], scene.axes[s, 2, 2]
    along = ax * nx + ay * ny + az * nz
    if abs(along) > _LEVEL:
        return math.inf
    across = x * (ax - along * nx) + y * (ay - along * ny) + z * (az - along * nz)
    part = min(max(across / (1.0 - along * along), -scene.size[s, 1]), scene.size[s, 1])
    x, y, z = x - part * ax, y - part * ay, z - part * az
    return abs(math.sqrt(x * x + y * y + z * z) - scene.radius[s])


@inner_kernel
def fall_beside_line(scene, s, x, y, z, nx, ny, nz):
    """How far the round side of s has fallen off at a point beside the line that n leaves it from.

    By the square of the distance from the line; 0 if there is no line or it is not near.
    """
    if scene.kind[s] not in (CAPSULE, CYLINDER, CONE):
        return 0.0
    x, y, z = to_frame(scene.axes, s, x, y, z)
    nx, ny, nz = to_frame(scene.axes, s, nx, ny, nz)
    across, radius = math.hypot(nx, ny), scene.size[s, 0]
    if across <= abs(nz):
        return 0.0
    aside = (x * ny - y * nx) / across
    return 0.5 * aside * aside / radius if abs(aside) <= _BESIDE_LINE * radius else 0.0


@inner_kernel
def slope_at(scene, s, x, y, z, nx, ny, nz):
    """Slope of the surface of s against the plane normal to n at a point, at most 1."""
    r = scene.radius[s]
    _, gx, gy, gz = height(scene, s, x - r * nx, y - r * ny, z - r * nz, nx, ny, nz, 0.0)
    cosine = gx * nx + gy * ny + gz * nz
    return math.sqrt(max(1.0 - cosine * cosine, 0.0)) / cosine if cosine > math.sqrt(0.5) else 1.0


@inner_kernel
def _back_to_rim(scene, s, x, y, z, nx, ny, nz, size):
    """A point hardly beyond the rim of a cylinder or a cone, moved to it along the side or cap that n leaves.

    A line of contact ends where the rim is farthest along it. Beside the line the rim is short of that by as
    much as the side falls off.
    """
    short, r = fall_beside_line(scene, s, x, y, z, nx, ny, nz), scene.radius[s]
    px, py, pz = to_frame(scene.axes, s, x - r * nx, y - r * ny, z - r * nz)  # of the core
    nx, ny, nz = to_frame(scene.axes, s, nx, ny, nz)
    a, b, radial = scene.size[s, 0], scene.size[s, 1], math.hypot(px, py)
    if abs(nz) > math.hypot(nx, ny):
        if a < radial <= a + BESIDE * size:
            px, py = px * a / radial, py * a / radial
    elif scene.kind[s] == CONE and 0.0 < -b - pz <= short:
        part = 2.0 * b / (b - pz)  # of the way from the tip
        px, py, pz = part * px, part * py, -b
    elif scene.kind[s] == CYLINDER and 0.0 < abs(pz) - b <= short:
        pz = math.copysign(b, pz)
    return from_frame(scene.axes, s, px + r * nx, py + r * ny, pz + r * nz)


@inner_kernel
def _off(scene, s, x, y, z, nx, ny, nz, tolerance, slack):
    """The same; faces are moved out by `slack` times the sine of their angle to n."""
    kind = scene.kind[s]
    radius = scene.radius[s]
    if kind == HALF_SPACE:
        return abs(way_out(scene, s, x, y, z, nx, ny, nz, slack))
    core, _, _, _ = height(scene, s, x - radius * nx, y - radius * ny, z - radius * nz, nx, ny, nz, slack)
    if kind in (SPHERE, CAPSULE):
        along = nx * scene.axes[s, 0, 2] + ny * scene.axes[s, 1, 2] + nz * scene.axes[s, 2, 2]
        if core <= tolerance and (kind == SPHERE or abs(along) < 0.99):
            return core  # on the ball about a point of the core
        outside, _, _, _ = height(scene, s, x, y, z, nx, ny, nz, slack)
        outside -= radius
    else:
        outside = core
    return max(outside, abs(way_out(scene, s, x, y, z, nx, ny, nz, slack)))
