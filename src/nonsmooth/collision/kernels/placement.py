"""Shapes placed in the world: centres, axes, and the boxes that hold all that they may reach in a step.

A bound is seven numbers: the centre of an upright box, its half extents, and the radius of a ball about
the same centre. The shape is inside both.
"""

import math

from nonsmooth._support.jit import kernel

SPHERE = 0
BODY, KIND = 0, 1  # columns of tags
_SLACK = 1.0 + 1e-9  # bounds are wider than the shapes by far more than rounding


@kernel
def first_not_finite(values):
    """First row that holds a NaN or an infinity, -1 if there is none."""
    for i in range(values.shape[0]):
        for k in range(values.shape[1]):
            if not math.isfinite(values[i, k]):
                return i
    return -1


@kernel
def set_reach(displacement, turn, margin, reach):
    """How far a body's surface may come towards another in the step, half the margin included."""
    for i in range(reach.shape[0]):
        x, y, z = displacement[i, 0], displacement[i, 1], displacement[i, 2]
        reach[i] = 0.5 * margin + math.sqrt(x * x + y * y + z * z) + turn[i]


@kernel
def place(shapes, local_bound, position, quaternion, reach, centre, axes, bound):
    """Where shapes are: `centre` (s, 4) with their first size beside it, `axes` as columns (s, 3, 3; not
    set for balls), and `bound` (s, 7), wider by their body's reach.

    `local_bound` is the bound in the frame of the shape, without reach.
    """
    for s in range(shapes.tags.shape[0]):
        body = shapes.tags[s, BODY]
        w, x, y, z = quaternion[body, 0], quaternion[body, 1], quaternion[body, 2], quaternion[body, 3]
        ox, oy, oz = shapes.offset[s, 0], shapes.offset[s, 1], shapes.offset[s, 2]
        # v + 2 w (q × v) + 2 q × (q × v)
        tx, ty, tz = 2.0 * (y * oz - z * oy), 2.0 * (z * ox - x * oz), 2.0 * (x * oy - y * ox)
        cx = position[body, 0] + ox + w * tx + y * tz - z * ty
        cy = position[body, 1] + oy + w * ty + z * tx - x * tz
        cz = position[body, 2] + oz + w * tz + x * ty - y * tx
        centre[s, 0], centre[s, 1], centre[s, 2], centre[s, 3] = cx, cy, cz, shapes.size[s, 0]
        far = reach[body]
        if shapes.tags[s, KIND] == SPHERE:
            radius = (shapes.size[s, 0] + far) * _SLACK
            bound[s, 0], bound[s, 1], bound[s, 2] = cx, cy, cz
            bound[s, 3], bound[s, 4], bound[s, 5], bound[s, 6] = radius, radius, radius, radius
            continue
        a, b, c, d = (
            shapes.rotation[s, 0],
            shapes.rotation[s, 1],
            shapes.rotation[s, 2],
            shapes.rotation[s, 3],
        )
        qw = w * a - x * b - y * c - z * d
        qx = w * b + x * a + y * d - z * c
        qy = w * c - x * d + y * a + z * b
        qz = w * d + x * c - y * b + z * a
        axes[s, 0, 0] = 1.0 - 2.0 * (qy * qy + qz * qz)
        axes[s, 0, 1] = 2.0 * (qx * qy - qw * qz)
        axes[s, 0, 2] = 2.0 * (qx * qz + qw * qy)
        axes[s, 1, 0] = 2.0 * (qx * qy + qw * qz)
        axes[s, 1, 1] = 1.0 - 2.0 * (qx * qx + qz * qz)
        axes[s, 1, 2] = 2.0 * (qy * qz - qw * qx)
        axes[s, 2, 0] = 2.0 * (qx * qz - qw * qy)
        axes[s, 2, 1] = 2.0 * (qy * qz + qw * qx)
        axes[s, 2, 2] = 1.0 - 2.0 * (qx * qx + qy * qy)
        for k in range(3):
            middle, half = centre[s, k], far
            for j in range(3):
                middle += axes[s, k, j] * local_bound[s, j]
                half += abs(axes[s, k, j]) * local_bound[s, 3 + j]
            bound[s, k] = middle
            bound[s, 3 + k] = half * _SLACK
        bound[s, 6] = (local_bound[s, 6] + far) * _SLACK
