"""Where two shapes touch over an area or along a line: the corners that a manifold has to span.

The parts of both shapes that lie across the normal are taken: flat faces (a round one as a polygon), straight
sides and edges. Their overlap, seen along the normal, has corners; those count whose local gap is hardly
larger than the least.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from _narrow.solids import Placed

LEVEL = 1e-3  # sine of the angle up to which a part lies across the normal
CLOSE = 1e-4  # of the size: corners count whose gap is at most this much larger than the least
SIDEWAYS = 1e-10  # of the size: lateral distance of two edges that lie on one another


class Part(NamedTuple):
    """A face (three or more points) or a line (two); `radius` bends a line's surface, 0 if it is sharp."""

    points: np.ndarray
    round: bool
    bend: float


class Area(NamedTuple):
    """Corners to be spanned (k, 3), and whether they stand for a round outline."""

    corners: np.ndarray
    round: bool


def area(p: Placed | None, q: Placed | None, normal: np.ndarray, size: float) -> Area | None:
    """What a manifold has to span, None for a contact in a point; None as a shape is a half-space."""
    if p is None or q is None:
        solid, outward = (q, -normal) if p is None else (p, normal)
        part = _part(solid, outward)
        if part is None:
            return None
        heights = part.points @ outward
        kept = part.points[heights >= heights.max() - CLOSE * size]
        return Area(kept, part.round) if len(kept) > 1 else None
    one, two = _part(p, normal), _part(q, -normal)
    if one is None or two is None:
        return None
    u = _across(normal)
    plane = np.column_stack([u, np.cross(normal, u)])
    corners = _overlap(one, two, plane, size)
    if corners is None or len(corners) < 2:
        return None
    gaps = _height(two, plane, normal, corners) - _height(one, plane, normal, corners)
    kept = corners[gaps <= gaps.min() + CLOSE * size]
    if len(kept) < 2:
        return None
    return Area(kept @ plane.T, one.round or two.round)


def _across(normal: np.ndarray) -> np.ndarray:
    u = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    return u / np.linalg.norm(u)


def _part(shape: Placed, outward: np.ndarray) -> Part | None:
    """The face or the straight line of a shape that lies across a direction, swept by its ball."""
    core = shape.core
    shift = core.radius * outward
    if len(core.faces):
        slopes = shape.tips @ outward
        best = int(np.argmax(slopes))
        if np.linalg.norm(shape.tips[best] - outward) < LEVEL:
            face = core.faces[best]
            return Part(shape.x + face.outline @ shape.axes.T + shift, face.round, 0.0)
    local = outward @ shape.axes
    if core.side is not None:
        low, high, half = core.side
        _, _, _, sine = core.circles[0]
        if abs(local[2] - sine) > LEVEL:
            return None
        u = np.array([local[0], local[1], 0.0]) / math.hypot(local[0], local[1])
        ends = np.array([low * u - [0, 0, half], high * u + [0, 0, half]])
        return Part(shape.x + ends @ shape.axes.T + shift, False, max(low, high))
    if len(shape.edges):
        along = shape.edges[:, 1] - shape.edges[:, 0]
        along /= np.linalg.norm(along, axis=1)[:, None]
        heights = (shape.edges @ outward).max(axis=1)
        top = heights.max()
        level = np.abs(along @ outward)
        level[heights < top - 1e-9 - LEVEL * core.size] = np.inf
        best = int(np.argmin(level))
        if level[best] < LEVEL:
            return Part(shape.edges[best] + shift, False, core.radius)
    return None


def _height(part: Part, plane: np.ndarray, normal: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Height along the normal of a part above points (k, 2) of the plane."""
    flat, up = part.points @ plane, part.points @ normal
    if len(flat) == 2:
        along = flat[1] - flat[0]
        share = (at - flat[0]) @ along / (along @ along)
        return up[0] + share * (up[1] - up[0])
    middle = flat.mean(axis=0)
    slope = np.linalg.lstsq(flat - middle, up - up.mean(), rcond=None)[0]
    return up.mean() + (at - middle) @ slope


def _overlap(one: Part, two: Part, plane: np.ndarray, size: float) -> np.ndarray | None:
    """Corners (k, 2) of the overlap of two parts in the plane across the normal."""
    a, b = one.points @ plane, two.points @ plane
    if len(a) > 2 and len(b) > 2:
        return _simplified(_clip(_counterclockwise(a), _counterclockwise(b)), size)
    if len(a) == 2 and len(b) == 2:
        along = (a[1] - a[0]) / np.linalg.norm(a[1] - a[0])
        side = np.array([-along[1], along[0]])
        sideways = np.abs((b - a[0]) @ side)
        # A bent surface hardly moves away over a small lateral distance d: by d² / (2 R).
        near = max(SIDEWAYS, math.sqrt(2e-9 * max(one.bend, two.bend) / size)) * size
        low, high = max((a @ along).min(), (b @ along).min()), min((a @ along).max(), (b @ along).max())
        if sideways.max() > near or high - low < 1e-6 * size:
            return None
        return a[0] + np.outer(np.array([low, high]) - a[0] @ along, along)
    line, face = (a, b) if len(a) == 2 else (b, a)
    low, high = 0.0, 1.0
    face = _counterclockwise(face)
    for start, end in zip(face, np.roll(face, -1, axis=0), strict=True):
        inward = np.array([start[1] - end[1], end[0] - start[0]])
        at, slope = (line[0] - start) @ inward, (line[1] - line[0]) @ inward
        if abs(slope) > 1e-12 * size * np.linalg.norm(inward):
            cut = -at / slope
            low, high = (max(low, cut), high) if slope > 0.0 else (low, min(high, cut))
        elif at < -1e-12 * size * np.linalg.norm(inward):
            return None
    if high - low < 1e-6:
        return None
    return line[0] + np.outer([low, high], line[1] - line[0])


def _counterclockwise(points: np.ndarray) -> np.ndarray:
    after = np.roll(points, -1, axis=0)
    area = (points[:, 0] * after[:, 1] - points[:, 1] * after[:, 0]).sum()
    return points if area > 0.0 else points[::-1]


def _clip(subject: np.ndarray, window: np.ndarray) -> np.ndarray:
    """Sutherland and Hodgman's clipping of a convex polygon by another."""
    for start, end in zip(window, np.roll(window, -1, axis=0), strict=True):
        if not len(subject):
            break
        inward = np.array([start[1] - end[1], end[0] - start[0]])
        heights = (subject - start) @ inward
        out = []
        for k in range(len(subject)):
            h, after = heights[k - 1], heights[k]
            if (h < 0.0) != (after < 0.0):
                out.append(subject[k - 1] + h / (h - after) * (subject[k] - subject[k - 1]))
            if after >= 0.0:
                out.append(subject[k])
        subject = np.array(out).reshape(-1, 2)
    return subject


def _simplified(points: np.ndarray, size: float) -> np.ndarray:
    """Without corners that lie on one another or on the line of their neighbours."""
    kept = [point for k, point in enumerate(points) if np.linalg.norm(point - points[k - 1]) > 1e-7 * size]
    out = []
    for k, point in enumerate(kept):
        before, after = kept[k - 1], kept[(k + 1) % len(kept)]
        u, v = point - before, after - point
        if abs(u[0] * v[1] - u[1] * v[0]) > 1e-7 * size * max(np.linalg.norm(u), np.linalg.norm(v)):
            out.append(point)
    return np.array(out).reshape(-1, 2)
