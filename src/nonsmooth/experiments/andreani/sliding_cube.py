"""A pushed or gliding cube on a plane, with Coulomb's cone and with polygons, and in closed form.

The cube weighs 1 kg. Forces are horizontal, (2,) in N. Lemke's method solves the pyramids and the package's
default the cone.
"""

from __future__ import annotations

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.experiments.andreani.grasp_parts import Polygon, polygon_problem
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.solvers.lemke import Lemke
from nonsmooth.solvers.solution import Solution
from nonsmooth.solvers.solve import solve

TOLERANCE = 1e-10
"""Relative residual of the contact problems' certificates."""
FRICTION, GRAVITY = 0.5, 9.81
HALF_SIDE = 0.05
"""Of the cube, in m; its mass is 1 kg."""
SPEED, STEP = 2.0, 0.002
"""Of the cube that glides, in m/s, and the time step in s."""
START_ANGLE = np.pi / 8.0
"""Angle in rad of its first velocity with the round cone."""


def solved(problem: ContactProblem) -> Solution:
    """Solve by Lemke's method if the cone is a pyramid, by the default if it is round."""
    return solve(problem, Lemke() if problem.law.sides else None, tolerance=TOLERANCE)


def angle_between(a: Floats, b: Floats) -> float:
    """Angle in degrees between two vectors of the plane."""
    return float(np.degrees(abs(np.arctan2(a[0] * b[1] - a[1] * b[0], a @ b))))


# ---- pushed ----------------------------------------------------------------------------------------


def pushed_cube(push: Floats, polygon: Polygon | None) -> tuple[ContactProblem, Floats]:
    """A cube at rest on its four lower corners, pushed at its centre with a horizontal force (2,) in N."""
    corners = HALF_SIDE * np.array([(x, y, -1.0) for x in (-1.0, 1.0) for y in (-1.0, 1.0)])
    axes = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # n, t, o
    rows = np.vstack([np.hstack([axes, np.cross(corner, axes)]) for corner in corners])
    inverse = np.diag([1.0] * 3 + [6.0 / (2.0 * HALF_SIDE) ** 2] * 3)
    load = np.array([*push, -GRAVITY, 0.0, 0.0, 0.0])
    return polygon_problem(rows @ inverse @ rows.T, rows @ inverse @ load, FRICTION, polygon)


def cube_friction(push: Floats, polygon: Polygon | None) -> Floats:
    """Friction (2,) in N on the pushed cube, summed over its corners, from the contact problem."""
    problem, turned = pushed_cube(push, polygon)
    return np.asarray((turned.T @ solved(problem).impulses).reshape(4, 3)[:, 1:].sum(axis=0))


def friction_by_hand(push: Floats, polygon: Polygon) -> Floats:
    """The point of the polygon of friction forces nearest to −push: the cube's exact friction."""
    radius, m = polygon.growth * FRICTION * GRAVITY, polygon.sides
    wanted = complex(-push[0], -push[1])
    side = round(float((np.angle(wanted) - polygon.turn) / (2.0 * np.pi / m) - 0.5))  # the nearest one
    normal = np.exp(1j * (polygon.turn + (side + 0.5) * 2.0 * np.pi / m))
    seen = wanted * np.conj(normal)
    if seen.real > radius * np.cos(np.pi / m):  # outside
        reach = radius * np.sin(np.pi / m)
        seen = complex(radius * np.cos(np.pi / m), np.clip(seen.imag, -reach, reach))
    point = seen * normal
    return np.array([point.real, point.imag])


def angle_by_hand(polygon: Polygon, push: float, directions: Floats) -> Floats:
    """Errors in degrees of friction's direction for pushes (k times sliding friction) at angles (rad)."""
    pushes = push * FRICTION * GRAVITY * np.column_stack([np.cos(directions), np.sin(directions)])
    return np.array([angle_between(friction_by_hand(force, polygon), -force) for force in pushes])


def worst_push(polygon: Polygon, push: float) -> tuple[float, float]:
    """Largest direction error of friction on a polygon, and its push (k times the sliding friction).

    Returns the angle ψ of the push from the normal of a side and the largest error, both in rad. With a side
    at distance d and of half length s, by the disk's radius, the error is arctan(min(k sin ψ, s)/d) − ψ where
    k cos ψ > d, and none inside the polygon. It is largest where its slope vanishes, at
    2 r cos ψ = √(5 + 4 r²) − 1 with r = k/d, or where friction reaches a corner, at k sin ψ = s.
    """
    half = np.pi / polygon.sides
    d, s = polygon.growth * np.cos(half), polygon.growth * np.sin(half)
    r = push / d
    smooth = np.arccos((np.sqrt(5.0 + 4.0 * r * r) - 1.0) / (2.0 * r)) if r > 1.0 else 0.0
    best = (0.0, 0.0)
    for angle in (smooth, np.arcsin(min(s / push, 1.0))):
        if angle <= half and push * np.cos(angle) > d:
            error = float(np.arctan2(min(push * np.sin(angle), s), d) - angle)
            best = max(best, (float(angle), error), key=lambda found: found[1])
    return best


# ---- gliding ---------------------------------------------------------------------------------------


def glide(polygon: Polygon | None, angle: float) -> Floats:
    """Positions (s, 2) in m of a cube that glides from the origin with `SPEED` at an angle (rad) to rest.

    It does not rotate, so that one contact below its centre is equivalent to all four.
    """
    velocity = SPEED * np.array([np.cos(angle), np.sin(angle), 0.0])
    places, turned = [np.zeros(2)], np.eye(3)
    while np.linalg.norm(velocity) > 1e-9:
        free = np.array([-STEP * GRAVITY, velocity[0], velocity[1]])  # n, t, o
        problem, turned = polygon_problem(np.eye(3), free, FRICTION, polygon)
        moved = turned.T @ solved(problem).contact_velocities
        before, velocity = velocity, np.array([moved[1], moved[2], moved[0]])
        places.append(places[-1] + 0.5 * STEP * (before + velocity)[:2])
    return np.array(places)


def rest_by_hand(polygon: Polygon | None, angle: float) -> Floats:
    """Where the cube comes to rest, (2,) in m.

    On an inscribed polygon the velocity's components along a side's normal, at ±π/m from two corners, and
    along the side are slowed by μg cos(π/m) and by μg sin(π/m): each stops independently of the other.
    """
    way = SPEED**2 / (2.0 * FRICTION * GRAVITY)
    if polygon is None:
        return way * np.array([np.cos(angle), np.sin(angle)])
    half = np.pi / polygon.sides
    own = angle - half  # from the normal of the first side
    along, across = np.cos(own) ** 2 / np.cos(half), np.sin(own) * abs(np.sin(own)) / np.sin(half)
    point = way * complex(along, across) * np.exp(1j * half)
    return np.array([point.real, point.imag])


def glide_angle(polygon: Polygon | None) -> float:
    """Angle in rad of the first velocity: halfway between a corner and a side's normal."""
    sides = 4 if polygon is None else polygon.sides
    return 1.5 * np.pi / sides if polygon is not None else START_ANGLE
