"""What is wrong with an engine's answer for a pose, by one rule for all engines.

- No contact although the gap is within the margin.
- The truth is the best direction that brute force or the engine found.
- The least gap is off by more than 1e-12 m + 1e-9 of the size (or the looser tolerance that is asked for).
- A normal is not best: its own separation is less than the best by more than that; or it is off by more than
  1e-6 rad where the cores are clearly apart, so that the best direction is unique.
- A point is not where both surfaces are.
- The manifold does not span the contact area: in some direction across the normal it reaches less far from
  the middle than the area does (0.99 of it, 0.6 for outlines of more than four corners).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from _narrow.areas import area
from _narrow.brute_force import Truth, separation, truth
from _narrow.poses import Pose, Shapes
from _narrow.solids import Core, Placed
from nonsmooth.model import quaternions

STRICT = 1e-9
LOOSE = 1e-4  # of the size: what a rival that computes to few digits is still right by
UNIQUE = 1e-2  # of the size: cores farther apart have one best direction, well defined
ANGLE = 1e-6
BESIDE = 2e-5  # of the size: how far a point may be beside the edge of a face


@dataclass(frozen=True)
class Answer:
    """Contacts of one pair: points (k, 3) between the surfaces, normals (k, 3) from A to B, gaps (k,)."""

    point: np.ndarray
    normal: np.ndarray
    gap: np.ndarray
    patch: bool = False
    """True if all but the first contact only outline the area: their gaps are not meant to be exact."""


def fault(pose: Pose, answer: Answer, every: Shapes, part: float = STRICT) -> str | None:
    """The first rule that an answer breaks, None if it is right; `part` of the size is allowed."""
    size = every.size(pose)
    allowed = 1e-12 + part * size
    if not len(answer.gap):
        return "no contact"
    if not all(np.isfinite(x).all() for x in (answer.point, answer.normal, answer.gap)):
        return "not finite"
    pose = _improved(pose, answer, every)
    if abs(answer.gap.min() - pose.truth.gap) > allowed:
        return f"gap {answer.gap.min():.6e} instead of {pose.truth.gap:.6e}"
    if np.abs(np.linalg.norm(answer.normal, axis=1) - 1.0).max() > 1e-9:
        return "a normal is not a unit vector"
    return (
        _wrong_normal(pose, answer, every, part, allowed)
        or _wrong_point(pose, answer, every, size, part)
        or _narrow(pose, answer, every, size, part)
    )


def _improved(pose: Pose, answer: Answer, every: Shapes) -> Pose:
    """The pose with the answer's direction as the truth if that separates better than brute force found.

    Whatever proposes a direction, the separation along it is a lower bound of the best.
    """
    p, q = _placed(pose, every)
    if p is None or q is None:
        return pose
    normal = answer.normal / np.linalg.norm(answer.normal, axis=1)[:, None]
    along = separation(p, q, normal)
    best = int(np.argmax(along))
    if not along[best] > pose.truth.gap:
        return pose
    return replace(pose, truth=Truth(float(along[best]), normal[best]))


def _placed(pose: Pose, every: Shapes):
    return [None if pose.names[k] == "half-space" else every.placed(pose, k) for k in (0, 1)]


def _wrong_normal(pose: Pose, answer: Answer, every: Shapes, part: float, allowed: float) -> str | None:
    p, q = _placed(pose, every)
    angle = np.linalg.norm(np.cross(answer.normal, pose.truth.normal), axis=1)
    angle[answer.normal @ pose.truth.normal < 0.0] = np.inf
    # A mesh or a terrain may touch at more places, each with its own normal: the nearest has to be best.
    judged = np.ones(len(answer.gap), dtype=bool)
    if {"mesh", "height field"} & set(pose.names):
        judged = answer.gap <= pose.truth.gap + max(allowed, 1e-7 * every.size(pose))
    if p is None or q is None:
        worst = float(angle[judged].max())
        return f"normal off by {worst:.1e} rad" if worst > max(1e-9, part) else None
    lost = pose.truth.gap - separation(p, q, answer.normal)
    worst = float(lost[judged].max())
    if worst > allowed:
        return f"normal off by {angle[judged].max():.1e} rad: separates by {worst:.1e} m less"
    apart = pose.truth.gap + p.core.radius + q.core.radius
    most = ANGLE if part <= STRICT else np.sqrt(part)
    if apart > UNIQUE * every.size(pose) and angle[judged].max() > most:
        return f"normal off by {angle[judged].max():.1e} rad"
    return None


def _wrong_point(pose: Pose, answer: Answer, every: Shapes, size: float, part: float) -> str | None:
    """Both surface points of the nearest contact, loosely those of the others, must be on their surface."""
    if answer.patch:
        answer = Answer(answer.point[:1], answer.normal[:1], answer.gap[:1])
    further = answer.gap - pose.truth.gap
    allowed = max(BESIDE, part) * size + 0.5 * further
    half = 0.5 * answer.gap[:, None] * answer.normal
    for side, sign in ((0, -1.0), (1, 1.0)):
        points = answer.point + sign * half
        if pose.names[side] == "half-space":
            outward = quaternions.matrix(pose.quaternion[side])[:, 2]
            off = (points - pose.position[side]) @ outward
        else:
            off = _outside(every.placed(pose, side), points)
        worst = np.abs(off) - allowed
        if worst.max() > 0.0:
            k = int(np.argmax(worst))
            return f"point {k} is {off[k]:.1e} m off the surface of {pose.names[side]}"
    return None


def _outside(shape: Placed, points: np.ndarray) -> np.ndarray:
    """How far points are outside a shape; beside a rounded edge the exact distance is needed."""
    if shape.core.radius == 0.0 or (len(shape.core.vertices) in (1, 2) and shape.core.side is None):
        return shape.depth(points)
    dot = Core(vertices=np.zeros((1, 3)))
    return np.array([truth(shape, Placed(dot, point, np.eye(3))).gap for point in points])


def _narrow(pose: Pose, answer: Answer, every: Shapes, size: float, part: float) -> str | None:
    region = area(*_placed(pose, every), pose.truth.normal, size)
    if region is None:
        return None
    normal = pose.truth.normal
    middle = region.corners.mean(axis=0)
    arms, own = region.corners - middle, answer.point - middle
    arms, own = arms - np.outer(arms @ normal, normal), own - np.outer(own @ normal, normal)
    length = np.linalg.norm(arms, axis=1)
    ways = arms[length > 1e-6 * size] / length[length > 1e-6 * size, None]
    if not len(ways):
        return None
    wanted = 0.99 if len(arms) <= 4 and not region.round else 0.6
    short = wanted * (ways @ arms.T).max(axis=1) - (ways @ own.T).max(axis=1)
    if short.max() > max(1e-6, part) * size:
        return f"{len(own)} points span too little: {short.max():.1e} m short of {len(arms)} corners"
    return None
