"""From a Pinocchio model to a `GeneralisedSystem`: `generalised_system`, with points, balls and joint stops.

    model = pin.buildModelFromUrdf("leg.urdf", pin.JointModelFreeFlyer())
    foot = RobotPoint("foot", radius=0.02, friction=0.7)  # a ball on the plane z = 0
    system = generalised_system(model, [foot], torque=lambda q, v, t: -0.5 * v, limits=True)
    run = simulate_events(system, q0, v0, duration=1.0)

q and u are Pinocchio's q and v. Pinocchio (`pin`) is imported only when a system is created. SI
units.

    M(q) u̇ = τ(q, u, t) − nle(q, u) + Σ W λ
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth.adapters.pinocchio.shared import (
    WORLD,
    axes,
    check_kind,
    checked_geometry,
    frame_index,
    joint_vector,
    load,
)
from nonsmooth.errors import ProblemError
from nonsmooth.events._latest import latest
from nonsmooth.model import quaternions
from nonsmooth.model.generalised import GapContact, GeneralisedSystem

Torque = Callable[[Floats, Floats, float], ArrayLike]
"""τ(q, v, t) (nv,) in N or N·m."""

_NO_LIMIT = 1e300
"""Pinocchio's position limit of joints without one: the largest floating-point number."""


@dataclass(frozen=True)
class RobotPoint:
    """A point of a robot, or a ball about it, that cannot go behind a plane of the world.

    Args:
        frame: of the model, by name or index; the point is on the body that it belongs to.
        point: (3,) in m in the frame's own axes; the frame's origin if not given.
        radius: of a ball about the point in m; 0 for the point itself.
        normal: (3,) unit vector of the plane in the world's frame, out of the solid.
        offset: of the plane from the world's origin along the normal, in m.
        along: (3,) unit vector across the normal: friction acts only along it, as in planar models;
            by default in all directions of the plane.
        friction: μ ≥ 0 of a contact that slides.
        sticking_friction: μ ≥ friction of a contact that sticks; by default the same as `friction`.
        restitution: from 0 to 1.
        name: of the contact; by default the frame's name.
    """

    frame: str | int
    _: KW_ONLY
    friction: float
    point: ArrayLike = (0.0, 0.0, 0.0)
    radius: float = 0.0
    normal: ArrayLike = (0.0, 0.0, 1.0)
    offset: float = 0.0
    along: ArrayLike | None = None
    sticking_friction: float | None = None
    restitution: float = 0.0
    name: str | None = None

    def __post_init__(self) -> None:
        label = f"the contact of frame {self.frame!r}"
        found = checked_geometry(self.frame, self.normal, self.along, self.point, self.friction)
        for name, value in (("normal", found.normal), ("along", found.tangent), ("point", found.point)):
            object.__setattr__(self, name, value)
        if not (math.isfinite(self.radius) and self.radius >= 0.0):
            raise ProblemError(f"radius of {label} is {self.radius}: give a length in m, 0 or more")
        if not math.isfinite(self.offset):
            raise ProblemError(f"offset of {label} is {self.offset}: give a length in m")

    def axes(self) -> Floats:
        """Rows n, t1 and, without `along`, t2 in the world's frame."""
        found = axes(self.normal, self.along)
        return found if self.along is None else found[:2]


def generalised_system(
    model: Any,
    contacts: Sequence[RobotPoint] = (),
    *,
    torque: ArrayLike | Torque | None = None,
    limits: bool = False,
    limit_restitution: float = 0.0,
) -> GeneralisedSystem:
    """Return a Pinocchio model as a `GeneralisedSystem` with q and v of the model.

    Mass and forces of motion are Pinocchio's, including rotor inertias; the potential is that of
    gravity, and the power is that of the torque.

    Args:
        model: a pin.Model.
        contacts: points and balls against planes.
        torque: τ (nv,) in N or N·m, or a function τ(q, v, t) that returns it; zero by default.
        limits: make the model's position limits stops, named "elbow lower" and "elbow upper": those of all
            joints whose coordinates are lengths and angles, not of joints with quaternions or (cos, sin).
        limit_restitution: of these stops, from 0 to 1.
    """
    pin = load()
    check_kind("model", model, pin.Model)
    if isinstance(contacts, RobotPoint):
        raise ProblemError("contacts is a single RobotPoint: give a list, [contact]")
    robot = _Robot(pin, model)
    applied = _torque_function(torque, model.nv)
    found = [_point_contact(robot, number, each) for number, each in enumerate(contacts)]
    if limits:
        found += _stops(model, limit_restitution)
    return GeneralisedSystem(
        mass=robot.mass,
        force=lambda q, u, t: applied(q, u, t) - robot.effects(q, u),
        contacts=found,
        rate=_rate_function(model),
        potential=robot.potential,
        power=None if torque is None else lambda q, u, t: float(applied(q, u, t) @ u),
    )


class _Motion(NamedTuple):
    """A frame at one position: its origin, its axes (columns) and its Jacobian, all in the world's frame."""

    origin: Floats
    turn: Floats
    jacobian: Floats
    """(6, nv): linear velocity of the origin, then angular velocity."""


class _Robot:
    """Pinocchio's algorithms as functions of q and u: results are copied out of its data at once."""

    def __init__(self, pin: Any, model: Any) -> None:
        self._pin, self._model, self._data = pin, model, model.createData()
        self._still = np.zeros(model.nv)
        self.mass = latest(self._mass)
        self.effects = latest(self._effects)

    def frame(self, frame: str | int) -> int:
        """The index of a frame on a body that moves."""
        index = frame_index(self._model, frame)
        if self._model.frames[index].parentJoint == WORLD:
            raise ProblemError(
                f"frame {frame!r} does not move, so that its contact never changes: give a frame of a link"
            )
        return index

    def potential(self, q: Floats) -> float:
        """V(q) in J."""
        return float(self._pin.computePotentialEnergy(self._model, self._data, self._unit(q)))

    def motion(self, frame: int, q: Floats) -> _Motion:
        """A frame at q."""
        pin, model, data = self._pin, self._model, self._data
        found = pin.computeFrameJacobian(model, data, self._unit(q), frame, pin.LOCAL_WORLD_ALIGNED)
        place = data.oMi[model.frames[frame].parentJoint].act(model.frames[frame].placement)
        return _Motion(np.array(place.translation), np.array(place.rotation), np.array(found))

    def drift(self, frame: int, q: Floats, u: Floats) -> tuple[Floats, Floats, Floats]:
        """Acceleration of a frame's origin, and its angular acceleration and velocity, for u̇ = 0."""
        pin, model, data = self._pin, self._model, self._data
        pin.forwardKinematics(model, data, self._unit(q), u, self._still)
        found = pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        speed = pin.getFrameVelocity(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        return np.array(found.linear), np.array(found.angular), np.array(speed.angular)

    def _mass(self, q: Floats) -> Floats:
        upper = np.triu(np.asarray(self._pin.crba(self._model, self._data, self._unit(q))))
        return np.asarray(upper + np.triu(upper, 1).T)

    def _effects(self, q: Floats, u: Floats) -> Floats:
        """Gravity and forces of motion (nv,), against the motion."""
        return np.array(self._pin.nonLinearEffects(self._model, self._data, self._unit(q), u))

    def _unit(self, q: Floats) -> Floats:
        # Integration keeps the norm of a quaternion only to its tolerance: nothing here depends on it.
        return np.asarray(self._pin.normalize(self._model, q))


def _rate_function(model: Any) -> Callable[[Floats, Floats], Floats]:
    """q̇(q, u), joint by joint: Pinocchio's own function for it is not available in Python."""
    special: list[tuple[_Rate, slice, slice]] = []
    plain_q: list[int] = []
    plain_u: list[int] = []
    for joint in range(1, model.njoints):
        first, velocity = model.idx_qs[joint], model.idx_vs[joint]
        coordinates = slice(first, first + model.nqs[joint])
        speeds = slice(velocity, velocity + model.nvs[joint])
        kind = model.joints[joint].shortname()
        if model.nqs[joint] == model.nvs[joint]:
            plain_q += range(coordinates.start, coordinates.stop)
            plain_u += range(speeds.start, speeds.stop)
        elif kind in _RATES:
            special.append((_RATES[kind], coordinates, speeds))
        else:
            raise ProblemError(
                f"joint {model.names[joint]!r} is a {kind}, whose coordinate rates are not "
                "supported: build it from revolute, prismatic, planar, spherical and free-flyer joints"
            )

    def rate(q: Floats, u: Floats) -> Floats:
        out = np.empty(model.nq)
        out[plain_q] = u[plain_u]
        for function, coordinates, speeds in special:
            out[coordinates] = function(q[coordinates], u[speeds])
        return out

    return rate


_Rate = Callable[[Floats, Floats], Floats]
_FIRST_W = np.array([3, 0, 1, 2])
"""From Pinocchio's quaternions (x, y, z, w) to those of this package."""
_LAST_W = np.array([1, 2, 3, 0])


def _of_quaternion(q: Floats, u: Floats) -> Floats:
    turned = quaternions.product(q[_FIRST_W], np.concatenate([[0.0], u]))
    return np.asarray(0.5 * turned[_LAST_W])


def _of_free_flyer(q: Floats, u: Floats) -> Floats:
    turn = quaternions.normalise(q[3:][_FIRST_W])
    return np.concatenate([quaternions.rotate(turn, u[:3]), _of_quaternion(q[3:], u[3:])])


def _of_circle(q: Floats, u: Floats) -> Floats:
    """For (cos, sin)."""
    return np.array([-q[1] * u[0], q[0] * u[0]])


def _of_planar(q: Floats, u: Floats) -> Floats:
    cosine, sine = q[2:] / math.hypot(q[2], q[3])
    along = np.array([cosine * u[0] - sine * u[1], sine * u[0] + cosine * u[1]])
    return np.concatenate([along, _of_circle(q[2:], u[2:])])


_RATES: dict[str, _Rate] = {
    "JointModelFreeFlyer": _of_free_flyer,
    "JointModelSpherical": _of_quaternion,
    "JointModelPlanar": _of_planar,
    "JointModelRUBX": _of_circle,
    "JointModelRUBY": _of_circle,
    "JointModelRUBZ": _of_circle,
    "JointModelRevoluteUnboundedUnaligned": _of_circle,
}
"""By Pinocchio's name of the joint, for all whose coordinates are not lengths and angles."""


def _point_contact(robot: _Robot, number: int, point: RobotPoint) -> GapContact:
    if not isinstance(point, RobotPoint):
        raise ProblemError(f"contacts[{number}] is {point!r}: give a RobotPoint")
    return _Point(robot, point).contact()


class _Point:
    """A `RobotPoint` of a robot: gap, directions and drift.

    The velocity along an axis e is that of the frame's origin and ω × r, with r from there to the lowest
    point of the ball; ṙ is the part of its centre's velocity from rotation, as the lowest point stays lowest.
    """

    def __init__(self, robot: _Robot, point: RobotPoint) -> None:
        self._robot, self._point, self._axes = robot, point, point.axes()
        self._frame = robot.frame(point.frame)
        self._centre = np.asarray(point.point, dtype=float)
        self._deep = -point.radius * self._axes[0]
        self._motion = latest(partial(robot.motion, self._frame))
        self._rows = latest(self._all_rows)
        self._drift = latest(self._all_drifts)

    def contact(self) -> GapContact:
        """The contact in the form that the integrators use."""
        point = self._point
        rough = point.friction > 0.0 or (point.sticking_friction or 0.0) > 0.0
        return GapContact(
            point.name if point.name is not None else str(point.frame),
            gap=self._gap,
            normal=lambda q, t: self._rows(q)[0],
            normal_drift=lambda q, u, t: self._drift(q, u)[0],
            tangent=(lambda q, t: self._rows(q)[1:].T) if rough else None,
            tangent_drift=(lambda q, u, t: self._drift(q, u)[1:]) if rough else None,
            friction=point.friction,
            sticking_friction=point.sticking_friction,
            restitution=point.restitution,
        )

    def _gap(self, q: Floats, t: float) -> float:
        at = self._motion(q)
        centre = at.origin + at.turn @ self._centre
        return float(self._axes[0] @ centre - self._point.offset - self._point.radius)

    def _all_rows(self, q: Floats) -> Floats:
        """Velocities of the material point along the axes (1 + d, nv)."""
        at = self._motion(q)
        arm = at.turn @ self._centre + self._deep
        return np.asarray(self._axes @ at.jacobian[:3] + np.cross(arm, self._axes) @ at.jacobian[3:])

    def _all_drifts(self, q: Floats, u: Floats) -> Floats:
        linear, turning, spin = self._robot.drift(self._frame, q, u)
        arm = self._motion(q).turn @ self._centre
        total = linear + np.cross(turning, arm + self._deep) + np.cross(spin, np.cross(spin, arm))
        return np.asarray(self._axes @ total)


def _stops(model: Any, restitution: float) -> Iterator[GapContact]:
    """Stops at the position limits of all joints whose coordinates are integrals of their velocities."""
    for joint in range(1, model.njoints):
        first, count = model.idx_qs[joint], model.nqs[joint]
        if count != model.nvs[joint]:
            continue
        for k in range(count):
            at, velocity = first + k, model.idx_vs[joint] + k
            name = model.names[joint] if count == 1 else f"{model.names[joint]} {k}"
            lower, upper = float(model.lowerPositionLimit[at]), float(model.upperPositionLimit[at])
            if lower > upper:
                raise ProblemError(
                    f"joint {name!r} has the lower limit {lower} above the upper one {upper}: fix the model"
                )
            for word, bound, sign in (("lower", lower, 1.0), ("upper", upper, -1.0)):
                if abs(bound) < _NO_LIMIT:
                    direction = np.zeros(model.nv)
                    direction[velocity] = sign
                    yield _stop(f"{name} {word}", at, bound, sign, direction, restitution)


def _stop(name: str, at: int, bound: float, sign: float, direction: Floats, restitution: float) -> GapContact:
    return GapContact(
        name,
        gap=lambda q, t: sign * (q[at] - bound),
        normal=lambda q, t: direction,
        normal_drift=lambda q, u, t: 0.0,
        restitution=restitution,
    )


def _torque_function(torque: Any, size: int) -> Callable[[Floats, Floats, float], Floats]:
    if torque is None:
        zero = np.zeros(size)
        return lambda q, u, t: zero
    if not callable(torque):
        constant = joint_vector("torque", torque, size)
        return lambda q, u, t: constant
    return lambda q, u, t: joint_vector(f"torque at t = {t:g} s", torque(q, u, t), size)
