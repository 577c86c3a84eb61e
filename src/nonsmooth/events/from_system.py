"""From a `System` of free bodies to a `GeneralisedSystem`: `generalised`.

    system = ns.System()
    system.add_plane(name="floor")
    system.add_sphere(0.1, mass=1.0, position=(0, 0, 0.1), velocity=(2, 1, 0), name="ball")
    scene = generalised(system)
    run = simulate_events(scene.system, scene.q, scene.u, duration=1.0)
    scene.position("ball", run.final.q)

Coordinates are 7 per moving body: its position in m and its quaternion (w, x, y, z); velocities are 6: the
linear one in m/s in the world's frame and the angular one in rad/s in the body's frame.

    q̇ = (v, ½ quaternion ∘ (0, ω))        m v̇ = m g + f        J ω̇ = τ − ω × J ω
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import ProblemError
from nonsmooth.events._ball_contacts import (
    BodyStates,
    Contacts,
    OnBalls,
    OnPlanes,
    axes_along,
    cross,
    pole_for,
)
from nonsmooth.events._latest import latest
from nonsmooth.model import quaternions
from nonsmooth.model.generalised import GapContact, GeneralisedSystem
from nonsmooth.model.shapes import BOX, CAPSULE, CONVEX_HULL, HALF_SPACE, SPHERE, ConvexHull
from nonsmooth.model.system import System

_SUPPORTED = (
    "spheres touch half-spaces and spheres; boxes, convex hulls and capsules touch half-spaces: name the "
    "pairs that matter with pairs=, or let system.ignore_contacts leave this one out"
)


@dataclass(frozen=True, eq=False)
class FreeBodies:
    """Free bodies as a `GeneralisedSystem`, and the way back to positions and quaternions by body.

    Time counts from the state that the bodies had when they were taken.
    """

    system: GeneralisedSystem
    """What to integrate."""
    q: Floats
    """(7 m,) coordinates at t = 0, of the m moving bodies in the order of their indices."""
    u: Floats
    """(6 m,) velocities at t = 0."""
    source: System
    """A copy of the bodies as they were taken."""
    states: BodyStates
    """The order of the bodies in q and u."""

    def position(self, body: int | str, q: ArrayLike) -> Floats:
        """Centre of mass (…, 3) in m of a moving body, by index or name, at coordinates q (…, 7 m)."""
        return self._part(body, q, 7)[..., :3]

    def quaternion(self, body: int | str, q: ArrayLike) -> Floats:
        """Unit quaternion (…, 4), body to world, of a moving body at coordinates q (…, 7 m)."""
        return quaternions.normalise(self._part(body, q, 7)[..., 3:])

    def linear_velocity(self, body: int | str, u: ArrayLike) -> Floats:
        """Velocity (…, 3) in m/s, world frame, of a moving body at velocities u (…, 6 m)."""
        return self._part(body, u, 6)[..., :3]

    def angular_velocity(self, body: int | str, u: ArrayLike) -> Floats:
        """Angular velocity (…, 3) in rad/s, body frame, of a moving body at velocities u (…, 6 m)."""
        return self._part(body, u, 6)[..., 3:]

    def to_system(self, q: ArrayLike, u: ArrayLike, t: float = 0.0) -> System:
        """Return the bodies in the state (q, u) at time t (s), which matters to fixed bodies that move."""
        out = self.source.copy()
        place, speed = np.asarray(q, dtype=float), np.asarray(u, dtype=float)
        for name, given, size in (("q", place, len(self.q)), ("u", speed, len(self.u))):
            if given.shape != (size,):
                raise ProblemError(f"{name} has shape {given.shape}: give the {size} numbers of one moment")
        out.set_state(*self.states.pose(place, t), *self.states.velocities(speed))
        return out

    def _part(self, body: int | str, values: ArrayLike, width: int) -> Floats:
        array, moving = np.asarray(values, dtype=float), self.states.moving
        index = self.source.index(body)
        row = int(np.searchsorted(moving, index))
        if row == len(moving) or moving[row] != index:
            raise ProblemError(
                f"{self.source.label(index)} is fixed and has no coordinates: see to_system(q, u, t)"
            )
        if array.shape[-1:] != (width * len(moving),):
            raise ProblemError(
                f"the state has shape {array.shape} and {len(moving)} moving bodies have "
                f"{width * len(moving)} numbers: give q for positions and u for velocities"
            )
        return array[..., width * row : width * (row + 1)]


def generalised(system: System, pairs: Sequence[tuple[int | str, int | str]] | None = None) -> FreeBodies:
    """Return the free bodies of a system, its forces and contacts, in coordinates for `simulate_events`.

    Spheres touch half-spaces and spheres; boxes, convex hulls (with their corners) and capsules (with their
    two ends) touch half-spaces. Friction and restitution are those of the materials. Fixed bodies keep
    their velocities. The system is copied: later changes to it have no effect.

    Contacts are named after their bodies, "ball on floor", "cube corner 5 on floor" (corners are numbered
    from 0, with the signs of x, y and z as the bits 0, 1 and 2), "rod end 0 on floor" (at negative z) and
    "ball on other"; bodies without a name are called "body 3".

    Args:
        system: free bodies, without joints.
        pairs: bodies that may touch, by index or name; by default all pairs except those that the system
            ignores.
    """
    if len(system.joints):
        raise ProblemError(
            f"the system has joints ({len(system.joints)}), and only free bodies are supported: write the "
            "mechanism as a GeneralisedSystem in its own coordinates, or as a Pinocchio model for "
            "adapters.pinocchio.generalised_system, or run it by time stepping with simulate"
        )
    if bool(np.all(system.fixed)):
        raise ProblemError("the system has no body that moves: add one that is not fixed")
    source = system.copy()
    states = BodyStates(source)
    moving = states.moving
    q = np.hstack([source.position[moving], source.quaternion[moving]]).ravel()
    u = np.hstack([source.linear_velocity[moving], source.angular_velocity[moving]]).ravel()
    weight = source.mass[moving, None] * source.gravity
    loads = latest(partial(_loads, source.copy(), states))
    built = GeneralisedSystem(
        mass=_mass(source.mass[moving], source.inertia[moving]),
        force=partial(_force, loads, source.inertia[moving]),
        contacts=list(_contacts(source, states, pairs)),
        rate=_rate,
        potential=lambda q: -float(np.sum(weight * q.reshape(-1, 7)[:, :3])),
        power=partial(_power, loads, weight),
    )
    return FreeBodies(built, q, u, source, states)


# ---- motion -----------------------------------------------------------------------------------------


def _mass(mass: Floats, inertia: Floats) -> Floats:
    total = np.zeros((6 * len(mass), 6 * len(mass)))
    for k, (own, tensor) in enumerate(zip(mass, inertia, strict=True)):
        at = 6 * k
        total[at : at + 3, at : at + 3] = own * np.eye(3)
        total[at + 3 : at + 6, at + 3 : at + 6] = tensor
    return total


def _rate(q: Floats, u: Floats) -> Floats:
    """q̇ = (v, ½ quaternion ∘ (0, ω))."""
    places, speeds = q.reshape(-1, 7), u.reshape(-1, 6)
    turn = np.zeros((len(places), 4))
    turn[:, 1:] = 0.5 * speeds[:, 3:]
    return np.hstack([speeds[:, :3], quaternions.product(places[:, 3:], turn)]).ravel()


def _loads(work: System, states: BodyStates, q: Floats, u: Floats, t: float) -> Floats:
    """Gravity and applied forces (m, 6) on the moving bodies; `work` is a system to set the state in."""
    work.set_state(*states.pose(q, t), *states.velocities(u))
    return work.forces(t)[states.moving]


def _force(loads: Callable[..., Floats], inertia: Floats, q: Floats, u: Floats, t: float) -> Floats:
    total = loads(q, u, t).copy()
    spin = u.reshape(-1, 6)[:, 3:]
    total[:, 3:] -= cross(spin, np.einsum("nij,nj->ni", inertia, spin))
    return total.ravel()


def _power(loads: Callable[..., Floats], weight: Floats, q: Floats, u: Floats, t: float) -> float:
    applied = loads(q, u, t).copy()
    applied[:, :3] -= weight
    return float(applied.ravel() @ u)


# ---- contacts ---------------------------------------------------------------------------------------


class _Ball(NamedTuple):
    """A ball of a body: its centre in the body's frame and its radius in m."""

    name: str
    body: int
    centre: Floats
    radius: float


class _Found(NamedTuple):
    """A contact to be built: a ball on a plane or on a ball."""

    name: str
    ball: _Ball
    other: Any
    friction: float
    restitution: float


class _Plane(NamedTuple):
    """A plane of a body: one of its points in m and its axes (rows n, t1, t2) in the body's frame."""

    body: int
    origin: Floats
    frame: Floats


def _contacts(
    system: System, states: BodyStates, pairs: Sequence[tuple[int | str, int | str]] | None
) -> Iterator[GapContact]:
    found = [each for a, b in _shape_pairs(system, pairs) for each in _between(system, a, b)]
    groups: list[tuple[list[_Found], Contacts]] = []
    if on_planes := [each for each in found if isinstance(each.other, _Plane)]:
        groups.append((on_planes, _on_planes(on_planes)))
    if on_balls := [each for each in found if isinstance(each.other, _Ball)]:
        groups.append((on_balls, _on_balls(system, on_balls)))
    for members, contacts in groups:
        group = _Group(contacts, states)
        for row, each in enumerate(members):
            yield group.contact(row, each)


def _shape_pairs(
    system: System, pairs: Sequence[tuple[int | str, int | str]] | None
) -> Iterator[tuple[int, int]]:
    """Rows of the shape table that may touch."""
    table = system.shapes
    of_body = [np.flatnonzero(table.body == body) for body in range(system.count)]
    if pairs is None:
        ignored = {(int(a), int(b)) for a, b in system.ignored_pairs}
        chosen = [
            (a, b)
            for a, b in combinations(range(system.count), 2)
            if not (system.fixed[a] and system.fixed[b]) and (a, b) not in ignored
        ]
    else:
        chosen = [_checked_pair(system, of_body, pair) for pair in pairs]
    for a, b in chosen:
        for first in of_body[a]:
            for second in of_body[b]:
                yield int(first), int(second)


def _checked_pair(system: System, of_body: list[Any], pair: Any) -> tuple[int, int]:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise ProblemError(f"{pair!r} in pairs is not a pair: give (body, body) by index or name")
    a, b = sorted((system.index(pair[0]), system.index(pair[1])))
    if a == b:
        raise ProblemError(f"{system.label(a)} is paired with itself: give two bodies")
    if system.fixed[a] and system.fixed[b]:
        raise ProblemError(
            f"{system.label(a)} and {system.label(b)} are fixed and never push each other: remove this pair"
        )
    for body in (a, b):
        if len(of_body[body]) == 0:
            raise ProblemError(f"{system.label(body)} has no shape and touches nothing: remove this pair")
    return a, b


def _between(system: System, first: int, second: int) -> Iterator[_Found]:
    """The contacts of two shapes, rows of the shape table."""
    table = system.shapes
    if system.fixed[table.body[second]]:
        first, second = second, first  # the moving shape is on the fixed one, such as every half-space
    kinds = int(table.kind[first]), int(table.kind[second])
    if kinds[0] == HALF_SPACE and kinds[1] in (SPHERE, BOX, CAPSULE, CONVEX_HULL):
        turn = quaternions.matrix(table.rotation[first])
        other: Any = _Plane(int(table.body[first]), table.offset[first], axes_along(turn[:, 2]))
    elif kinds == (SPHERE, SPHERE):
        other = _Ball("", int(table.body[first]), table.offset[first], float(table.size[first, 0]))
    else:
        names = [f"{table.objects[k].title} of {system.label(int(table.body[k]))}" for k in (first, second)]
        raise ProblemError(f"there is no contact between the {names[0]} and the {names[1]}: {_SUPPORTED}")
    properties = system.materials.pair_table()
    friction = float(properties.friction[table.material[first], table.material[second]])
    restitution = float(properties.restitution[table.material[first], table.material[second]])
    for ball in _balls(system, second):
        name = f"{ball.name} on {_shape_name(system, first)}"
        yield _Found(name, ball, other, friction, restitution)


def _balls(system: System, shape: int) -> Iterator[_Ball]:
    """The balls of a shape that can touch a plane: the sphere itself, ends, or corners."""
    table = system.shapes
    kind, size, name = int(table.kind[shape]), table.size[shape], _shape_name(system, shape)
    if kind == SPHERE:
        parts, radius, word = np.zeros((1, 3)), float(size[0]), ""
    elif kind == CAPSULE:
        parts, radius, word = np.outer([-size[1], size[1]], (0.0, 0.0, 1.0)), float(size[0]), "end"
    elif kind == BOX:
        signs = np.array([[(corner >> axis) & 1 for axis in range(3)] for corner in range(8)])
        parts, radius, word = (2.0 * signs - 1.0) * size[:3], float(size[3]), "corner"
    else:
        hull = table.objects[shape]
        assert isinstance(hull, ConvexHull)
        parts, radius, word = hull.vertices, hull.rounding, "corner"
    for number, part in enumerate(parts):
        centre = table.offset[shape] + quaternions.rotate(table.rotation[shape], part)
        own = f"{name} {word} {number}" if word else name
        yield _Ball(own, int(table.body[shape]), centre, radius)


def _shape_name(system: System, shape: int) -> str:
    """The name of a shape's body for contacts, with the shape's number if it has several."""
    table = system.shapes
    body = int(table.body[shape])
    own = np.flatnonzero(table.body == body)
    name = next((name for name, index in system.names.items() if index == body), f"body {body}")
    return name if len(own) == 1 else f"{name} part {shape - int(own[0])}"


def _on_planes(found: list[_Found]) -> OnPlanes:
    return OnPlanes(
        a=np.array([each.other.body for each in found]),
        b=np.array([each.ball.body for each in found]),
        ball=np.array([each.ball.centre for each in found]),
        radius=np.array([each.ball.radius for each in found]),
        origin=np.array([each.other.origin for each in found]),
        frame=np.array([each.other.frame for each in found]),
    )


def _on_balls(system: System, found: list[_Found]) -> OnBalls:
    poles = []
    for each in found:
        ends = [
            system.position[ball.body] + quaternions.rotate(system.quaternion[ball.body], ball.centre)
            for ball in (each.other, each.ball)
        ]
        distance = float(np.linalg.norm(ends[1] - ends[0]))
        if distance == 0.0:
            raise ProblemError(
                f"{system.label(each.other.body)} and {system.label(each.ball.body)} have spheres with the "
                "same centre, so that their contact has no normal: move one of them"
            )
        poles.append(pole_for((ends[1] - ends[0]) / distance))
    return OnBalls(
        a=np.array([each.other.body for each in found]),
        b=np.array([each.ball.body for each in found]),
        ball=np.array([each.ball.centre for each in found]),
        radius=np.array([each.ball.radius for each in found]),
        other=np.array([each.other.centre for each in found]),
        other_radius=np.array([each.other.radius for each in found]),
        pole=np.array(poles),
    )


class _Group:
    """Contacts of one kind, computed at once, since all are evaluated at the same state one by one."""

    def __init__(self, contacts: Contacts, states: BodyStates) -> None:
        self._contacts, self._states = contacts, states
        self._still = np.zeros(6 * len(states.moving))
        self._at = latest(self._geometry)
        self._rows = latest(self._all_rows)
        self._surface = latest(self._all_surfaces)
        self._drift = latest(self._all_drifts)

    def contact(self, row: int, found: _Found) -> GapContact:
        """One of the contacts."""
        driven = bool(self._states.driven[[found.other.body, found.ball.body]].any())
        rough = found.friction > 0.0
        return GapContact(
            found.name,
            gap=lambda q, t: self._at(q, t)[1].gap[row],
            normal=lambda q, t: self._rows(q, t)[row, :, 0],
            gap_rate=(lambda q, t: self._surface(q, t)[row, 0]) if driven else None,
            normal_drift=lambda q, u, t: self._drift(q, u, t)[row, 0],
            tangent=(lambda q, t: self._rows(q, t)[row, :, 1:]) if rough else None,
            slip_rate=(lambda q, t: self._surface(q, t)[row, 1:]) if rough and driven else None,
            tangent_drift=(lambda q, u, t: self._drift(q, u, t)[row, 1:]) if rough else None,
            friction=found.friction,
            restitution=found.restitution,
        )

    def _geometry(self, q: Floats, t: float) -> tuple[Any, Any]:
        places = self._states.places(q, t)
        return places, self._contacts.geometry(places)

    def _all_rows(self, q: Floats, t: float) -> Floats:
        places, now = self._at(q, t)
        return self._contacts.rows(places, now, self._states.moving)

    def _all_surfaces(self, q: Floats, t: float) -> Floats:
        """Contribution (c, 3) of the fixed bodies' own motion to (γ_N, γ_T), in m/s."""
        places, now = self._at(q, t)
        velocity = self._contacts.velocity(self._states.motions(self._still, places), now)
        return np.asarray(np.einsum("cej,cj->ce", now.axes, velocity))

    def _all_drifts(self, q: Floats, u: Floats, t: float) -> Floats:
        places, now = self._at(q, t)
        return self._contacts.drift(places, self._states.motions(u, places), now)
