"""Rows of Dᵀ for a contact between two bodies whose axes are the world's (Melanz et al. Eq. 5)."""

from __future__ import annotations

import numpy as np

from nonsmooth._support.arrays import Floats


def contact_frames(normals: Floats) -> Floats:
    """Right-handed frames (n, t1, t2) as rows, (contacts, 3, 3), from unit normals (contacts, 3)."""
    n = np.asarray(normals, dtype=float)
    helper = np.where(np.abs(n[:, :1]) < 0.6, [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]])
    t1 = np.cross(n, helper)
    t1 /= np.linalg.norm(t1, axis=1, keepdims=True)
    return np.stack([n, t1, np.cross(n, t1)], axis=1)


def contact_rows(frames: Floats, arm_a: Floats, arm_b: Floats) -> Floats:
    """Blocks (contacts, 2, 3, 6): relative velocity of B against A at the contact point, in the frame.

    Arms run from the bodies' centres to the contact point, in m. The velocity of a point is
    v + ω × arm, so its component along e is e·v + (arm × e)·ω.
    """
    rows = np.empty((len(frames), 2, 3, 6))
    for side, (sign, arm) in enumerate(((-1.0, arm_a), (1.0, arm_b))):
        rows[:, side, :, :3] = sign * frames
        rows[:, side, :, 3:] = sign * np.cross(arm[:, None, :], frames)
    return rows
