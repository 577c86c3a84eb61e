"""The flat ends of cylinders and cones against straight edges: exact circles, where samples will not do.

A disc is an array (10,): radius, centre, and two unit vectors across its axis; radius 0 stands for none.
"""

import math

from nonsmooth._support.jit import inner_kernel
from nonsmooth.collision.kernels.directions.solids import CONE, CYLINDER


@inner_kernel
def set_disc(solid, points, normal, disc):
    """Set the disc that a solid turns to a surface: its feature has `points` points and the given normal."""
    disc[0] = 0.0
    if points >= 3 and solid.kind in (CYLINDER, CONE):
        disc[0] = solid.a
        disc[1] = solid.x + solid.b * normal[0]
        disc[2] = solid.y + solid.b * normal[1]
        disc[3] = solid.z + solid.b * normal[2]
        for k in range(3):
            disc[4 + k], disc[7 + k] = solid.axes[k, 0], solid.axes[k, 1]


@inner_kernel
def rim_crossing(disc, wx, wy, wz, x, y, z, which):
    """Where the rim crosses the plane through (x, y, z) with normal (w): True and one of two points."""
    far = wx * (disc[1] - x) + wy * (disc[2] - y) + wz * (disc[3] - z)
    c = disc[0] * (wx * disc[4] + wy * disc[5] + wz * disc[6])
    s = disc[0] * (wx * disc[7] + wy * disc[8] + wz * disc[9])
    most = math.sqrt(c * c + s * s)
    if most <= abs(far):
        return False, 0.0, 0.0, 0.0
    turn = math.acos(-far / most)
    angle = math.atan2(s, c) + (turn if which == 0 else -turn)
    c, s = disc[0] * math.cos(angle), disc[0] * math.sin(angle)
    return (
        True,
        disc[1] + c * disc[4] + s * disc[7],
        disc[2] + c * disc[5] + s * disc[8],
        disc[3] + c * disc[6] + s * disc[9],
    )


@inner_kernel
def over_disc(disc, x, y, z, tiny):
    """True if a point of the disc's plane lies in the disc."""
    x, y, z = x - disc[1], y - disc[2], z - disc[3]
    limit = disc[0] + tiny
    return x * x + y * y + z * z <= limit * limit


@inner_kernel
def chord(disc, x, y, z, dx, dy, dz, length, tiny):
    """The part of the line (x) + t (d), 0 ≤ t ≤ length, in the disc's plane, that lies in the disc."""
    x, y, z = x - disc[1], y - disc[2], z - disc[3]
    a = dx * dx + dy * dy + dz * dz
    b = x * dx + y * dy + z * dz
    c = x * x + y * y + z * z - disc[0] * disc[0]
    root = b * b - a * c
    if root < 0.0:
        # the line may touch the rim and miss it by rounding
        nearest = math.sqrt(max(0.0, x * x + y * y + z * z - b * b / a))
        if nearest > disc[0] + tiny:
            return 1.0, -1.0 - tiny
        root = 0.0
    root = math.sqrt(root)
    return max(0.0, (-b - root) / a), min(length, (-b + root) / a)
