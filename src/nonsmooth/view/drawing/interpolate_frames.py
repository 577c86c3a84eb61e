"""States between two recorded frames, for films and smooth playback."""

from __future__ import annotations

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.io import RecordedFrame


def between(first: RecordedFrame, second: RecordedFrame, share: float) -> RecordedFrame:
    """Return the frame at a fraction (0 to 1) between two: straight lines and shortest rotations."""

    def mixed(a: Floats | None, b: Floats | None) -> Floats | None:
        return None if a is None or b is None else (1.0 - share) * a + share * b

    start, end = first.quaternion, second.quaternion
    if start is not None and end is not None:
        # q and −q are the same rotation: use the nearer one.
        end = np.where(np.sum(start * end, axis=1, keepdims=True) < 0.0, -end, end)
    turned = mixed(start, end)
    if turned is not None:
        turned /= np.linalg.norm(turned, axis=1, keepdims=True)
    return RecordedFrame(
        index=first.index,
        time=(1.0 - share) * first.time + share * second.time,
        position=mixed(first.position, second.position),
        quaternion=turned,
        linear_velocity=mixed(first.linear_velocity, second.linear_velocity),
        angular_velocity=mixed(first.angular_velocity, second.angular_velocity),
    )
