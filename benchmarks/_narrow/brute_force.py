"""Signed gap and best direction of two shapes by brute force: the reference of the narrow phase's tests.

The gap is the largest separation over all unit directions, sep(n) = min n·q − max n·p: the distance of shapes
that are apart, minus the least translation that parts shapes that overlap. Its maximiser is sought in every
stratum of the sphere of directions: normals of faces; crossings of two circles (edge and edge, edge and
side, …); maxima along each circle (golden section); smooth maxima (vertex to vertex and vertex to rim in
closed form, all others by Newton's method from many starts). Every candidate is judged by sep itself, so
that the result is never too large.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from _narrow.solids import Placed

SAMPLES = 72  # along a circle
ROUNDING = 1e-16  # m: steps that gain less end Newton's method
GOLDEN = 0.5 * (5.0**0.5 - 1.0)
KEPT = 40  # brackets along circles
STARTS = 16  # of Newton's method


@dataclass(frozen=True)
class Truth:
    """Signed gap in m, and the unit normal from p to q."""

    gap: float
    normal: np.ndarray


def separation(p: Placed, q: Placed, n: np.ndarray) -> np.ndarray:
    """sep(n) of the rows of n (m, 3), radii included."""
    return -q.height(-n) - p.height(n) - p.core.radius - q.core.radius


def truth(p: Placed, q: Placed) -> Truth:
    """Gap and best direction of two convex shapes."""
    sep = _separator(p, q)
    found = _isolated(p, q)
    values = sep(found)
    if p.curved or q.curved:
        more = _along_circles(p, q, sep, values.max())
        starts = np.vstack([found, more, _sphere()])
        heights = sep(starts)
        order = np.argsort(-heights)[:STARTS]
        found = np.vstack([starts[order], _smooth(p, q, sep, starts[order])])
        values = sep(found)
    best = int(np.argmax(values))
    return Truth(float(values[best] - p.core.radius - q.core.radius), found[best])


def plane_truth(normal: np.ndarray, offset: float, q: Placed) -> Truth:
    """Gap of the half-space n·x ≤ offset and a shape."""
    return Truth(float(-q.height(-normal[None])[0] - q.core.radius - offset), normal)


def _separator(p: Placed, q: Placed):
    return lambda n: -q.height(-n) - p.height(n)


def _unit(vectors: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vectors, axis=1)
    good = length > 1e-300
    return vectors[good] / length[good, None]


def _sphere(count: int = 240) -> np.ndarray:
    k = np.arange(count) + 0.5
    z, turn = 1.0 - 2.0 * k / count, np.pi * (1.0 + 5.0**0.5) * k
    across = np.sqrt(1.0 - z * z)
    return np.column_stack([across * np.cos(turn), across * np.sin(turn), z])


def _isolated(p: Placed, q: Placed) -> np.ndarray:
    """Candidates in closed form."""
    found = [p.tips, -q.tips, _crossings(p.circles, q.circles)]
    found.append(_unit((q.vertices[None] - p.vertices[:, None]).reshape(-1, 3)))
    for a, b, sign in ((p, q, 1.0), (q, p, -1.0)):
        if len(a.edges) and len(b.vertices):
            along = a.edges[:, 1] - a.edges[:, 0]
            along = (along / np.linalg.norm(along, axis=1)[:, None])[:, None]
            way = b.vertices[None] - a.edges[:, :1]
            way -= (way * along).sum(axis=2, keepdims=True) * along
            found.append(sign * _unit(way.reshape(-1, 3)))
        for height, radius in a.core.rims:
            local = (b.vertices - a.x) @ a.axes
            ring = np.column_stack([local[:, :2], np.full(len(local), height)])
            ring[:, :2] *= radius / np.maximum(np.linalg.norm(ring[:, :2], axis=1), 1e-300)[:, None]
            found.append(sign * _unit((local - ring) @ a.axes.T))
    found.append(_unit((q.x - p.x)[None]))
    return np.vstack(found)


def _crossings(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Unit n with n·u = c of a row of `one` and −n·w = d of a row of `two`."""
    if not len(one) or not len(two):
        return np.empty((0, 3))
    u, c = np.repeat(one[:, :3], len(two), axis=0), np.repeat(one[:, 3], len(two))
    w, d = np.tile(two[:, :3], (len(one), 1)), -np.tile(two[:, 3], len(one))
    across = np.cross(u, w)
    square = (across**2).sum(axis=1)
    good = square > 1e-30
    u, w, c, d, across, square = u[good], w[good], c[good], d[good], across[good], square[good]
    inner = (u * w).sum(axis=1)
    flat = ((c - d * inner) / square)[:, None] * u + ((d - c * inner) / square)[:, None] * w
    left = 1.0 - (flat**2).sum(axis=1)
    flat, across, square, left = (x[left >= 0.0] for x in (flat, across, square, left))
    up = across * np.sqrt(left / square)[:, None]
    return _unit(np.vstack([flat + up, flat - up]))


def _along_circles(p: Placed, q: Placed, sep, best: float) -> np.ndarray:
    """Maxima of sep along the circles of both shapes, by golden section between samples."""
    circles = np.vstack([p.circles, q.circles * np.array([1.0, 1.0, 1.0, -1.0])])
    if not len(circles):
        return np.empty((0, 3))
    u, c = circles[:, :3], circles[:, 3:]
    helper = np.where(np.abs(u[:, :1]) < 0.6, [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]])
    e1 = np.cross(u, helper)
    e1 /= np.linalg.norm(e1, axis=1)[:, None]
    e2 = np.cross(u, e1)
    s = np.sqrt(1.0 - c * c)

    def on(rows: np.ndarray, angle: np.ndarray) -> np.ndarray:
        return c[rows] * u[rows] + s[rows] * (
            np.cos(angle)[:, None] * e1[rows] + np.sin(angle)[:, None] * e2[rows]
        )

    angles = 2.0 * np.pi * np.arange(SAMPLES) / SAMPLES
    rows = np.repeat(np.arange(len(circles)), SAMPLES)
    values = sep(on(rows, np.tile(angles, len(circles)))).reshape(len(circles), SAMPLES)
    peak = (values >= np.roll(values, 1, axis=1)) & (values >= np.roll(values, -1, axis=1))
    rows, columns = np.nonzero(peak)
    order = np.argsort(-values[rows, columns])[:KEPT]
    rows, middle = rows[order], angles[columns[order]]
    low, high = middle - 2.0 * np.pi / SAMPLES, middle + 2.0 * np.pi / SAMPLES
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = sep(on(rows, left)), sep(on(rows, right))
    for _ in range(60):
        rise = at_left < at_right
        low, high = np.where(rise, left, low), np.where(rise, high, right)
        fresh = np.where(rise, low + GOLDEN * (high - low), high - GOLDEN * (high - low))
        at_fresh = sep(on(rows, fresh))
        left, right = np.where(rise, right, fresh), np.where(rise, fresh, left)
        at_left, at_right = np.where(rise, at_right, at_fresh), np.where(rise, at_fresh, at_left)
    return on(rows, 0.5 * (low + high))


def _smooth(p: Placed, q: Placed, sep, n: np.ndarray) -> np.ndarray:
    """Newton's method on the sphere, with steps that never lower sep."""
    value = sep(n)
    for _ in range(25):
        px, p_bend = p.point(n)
        qx, q_bend = q.point(-n)
        way = qx - px  # the gradient of sep
        height = (n * way).sum(axis=1)
        slope = way - height[:, None] * n
        project = np.eye(3) - n[:, :, None] * n[:, None, :]
        bend = project @ (-p_bend - q_bend) @ project
        bend -= height[:, None, None] * project
        # Shift the spectrum below zero where it is not, and make the system regular along n.
        lowest = np.linalg.eigvalsh(bend + 1e3 * -n[:, :, None] * n[:, None, :])[:, -1]
        scale = np.abs(bend).max(axis=(1, 2)) + 1e-14
        shift = np.maximum(0.0, lowest + 1e-12 * scale)
        system = -bend + shift[:, None, None] * project + scale[:, None, None] * n[:, :, None] * n[:, None, :]
        system += 1e-15 * scale[:, None, None] * np.eye(3)
        # a point on a point may leave the system singular: the pseudo-inverse takes what is left of it
        step = (np.linalg.pinv(system, hermitian=True) @ slope[:, :, None])[:, :, 0]
        length = np.linalg.norm(step, axis=1)
        step *= np.minimum(1.0, 0.5 / np.maximum(length, 1e-300))[:, None]
        moved = np.zeros(len(n), dtype=bool)
        for part in (1.0, 0.2, 0.01):
            trial = n + part * step
            trial /= np.linalg.norm(trial, axis=1)[:, None]
            at = sep(trial)
            better = (at > value + ROUNDING) & ~moved
            n = np.where(better[:, None], trial, n)
            value = np.where(better, at, value)
            moved |= better
            if moved.all():
                break
        if not moved.any():
            break
    return n
