"""Rotations of bodies on arrays of (n, 3, 3) matrices, body → world."""

from nonsmooth._support.jit import inlined_kernel


@inlined_kernel
def turned(rotation, i, x, y, z):
    """R v of body i."""
    r = rotation
    return (
        r[i, 0, 0] * x + r[i, 0, 1] * y + r[i, 0, 2] * z,
        r[i, 1, 0] * x + r[i, 1, 1] * y + r[i, 1, 2] * z,
        r[i, 2, 0] * x + r[i, 2, 1] * y + r[i, 2, 2] * z,
    )


@inlined_kernel
def turned_back(rotation, i, x, y, z):
    """Rᵀ v of body i."""
    r = rotation
    return (
        r[i, 0, 0] * x + r[i, 1, 0] * y + r[i, 2, 0] * z,
        r[i, 0, 1] * x + r[i, 1, 1] * y + r[i, 2, 1] * z,
        r[i, 0, 2] * x + r[i, 1, 2] * y + r[i, 2, 2] * z,
    )


@inlined_kernel
def set_rotation(quaternion, rotation, i):
    """Fill the rotation matrix of body i from its unit quaternion (w, x, y, z)."""
    w, x, y, z = quaternion[i, 0], quaternion[i, 1], quaternion[i, 2], quaternion[i, 3]
    rotation[i, 0, 0] = 1.0 - 2.0 * (y * y + z * z)
    rotation[i, 0, 1] = 2.0 * (x * y - w * z)
    rotation[i, 0, 2] = 2.0 * (x * z + w * y)
    rotation[i, 1, 0] = 2.0 * (x * y + w * z)
    rotation[i, 1, 1] = 1.0 - 2.0 * (x * x + z * z)
    rotation[i, 1, 2] = 2.0 * (y * z - w * x)
    rotation[i, 2, 0] = 2.0 * (x * z - w * y)
    rotation[i, 2, 1] = 2.0 * (y * z + w * x)
    rotation[i, 2, 2] = 1.0 - 2.0 * (x * x + y * y)
