"""From Pinocchio robots to contact problems: `RobotContact` and `contact_problem`.

    pin.computeAllTerms(model, data, q, v)
    foot = RobotContact("left_foot", normal=(0, 0, 1), friction=0.7, gap=0.002)
    problem = contact_problem(model, data, [foot], velocity=v, torque=tau, step=0.001)
    v_next = solve(problem).velocity

Pinocchio (`pin`) is imported only when a problem is created. SI units.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth.adapters.pinocchio.shared import (
    WORLD,
    axes,
    check_frame,
    check_kind,
    checked_geometry,
    frame_index,
    joint_vector,
    load,
)
from nonsmooth.errors import ProblemError
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.laws import COULOMB, Law

_AT_REST = 1e-6
"""Speed in m/s up to which a contact counts as neither opening, closing nor sliding on acceleration level."""
_CLOSED = 1e-6
"""Gap in m up to which a contact counts as closed on acceleration level."""
_SAME = 1e-8
"""Relative difference of velocities that agree up to rounding."""
_CURE = "call pin.computeAllTerms(model, data, q, v) first"


@dataclass(frozen=True)
class RobotContact:
    """A point at which a robot touches the world, another of its links, or an object in the same model.

    The impulse acts on `frame` at `point`, the opposite one on `other`; its first component is along the
    normal and never negative, the second one along t1 and the third one along t2 = n × t1.

    Args:
        frame: of the model, by name or index; the contact is on the body that it belongs to.
        other: the frame on the other side; None, the default, is the world, which does not move.
        normal: (3,) unit vector in the world's frame, towards the body of `frame`: (0, 0, 1) for a foot
            on the floor.
        friction: μ ≥ 0.
        gap: distance of the surfaces along the normal in m; negative where they overlap.
        point: (3,) in m in the world's frame; the origin of `frame` if not given.
        tangent: (3,) unit vector t1 across the normal in the world's frame; chosen if not given.
    """

    frame: str | int
    other: str | int | None = None
    _: KW_ONLY
    normal: ArrayLike
    friction: float
    gap: float = 0.0
    point: ArrayLike | None = None
    tangent: ArrayLike | None = None

    def __post_init__(self) -> None:
        if self.other is not None:
            check_frame("other", self.other)
        found = checked_geometry(self.frame, self.normal, self.tangent, self.point, self.friction)
        for name, value in found._asdict().items():
            object.__setattr__(self, name, value)
        if not math.isfinite(self.gap):
            raise ProblemError(
                f"gap of the contact of frame {self.frame!r} is {self.gap}: give a length in m"
            )

    def axes(self) -> Floats:
        """Rows n, t1, t2 (3, 3) in the world's frame."""
        return axes(self.normal, self.tangent)


def contact_problem(
    model: Any,
    data: Any,
    contacts: Sequence[RobotContact],
    *,
    velocity: ArrayLike,
    step: float | None = None,
    torque: ArrayLike | None = None,
    law: Law | str = COULOMB,
) -> ContactProblem:
    """Return the problem of a robot's contacts, from Pinocchio's computed data.

    Needs `pin.computeAllTerms(model, data, q, v)`, or crba, computeJointJacobians, forwardKinematics(q, v)
    and nonLinearEffects one by one; changes nothing.

    With a `step` h the problem is on velocity level: k = M v + h(τ − nle), the bias of a contact is its gap
    divided by h, impulses are in N·s, and the solution's velocity is that after the step, for
    q = pin.integrate(model, q, h * velocity).

    Without one it is on acceleration level: k = τ − nle, the bias of a contact is J̇v, forces are in N, and
    the solution's velocity is the acceleration. Its contacts must be closed and neither open, close nor
    slide; their points are taken as fixed to the bodies.

    Args:
        model: a pin.Model; a robot, or several robots and free objects appended to each other.
        data: its pin.Data.
        contacts: at least one.
        velocity: v (nv,) that data was computed with, in m/s or rad/s.
        step: h in s; None for accelerations.
        torque: τ (nv,) in N or N·m: motors, and Jᵀf of other applied forces; zero if not given.
        law: "coulomb" (default), "relaxed", "pyramid(8)", or a `Law`.
    """
    pin = load()
    check_kind("model", model, pin.Model)
    check_kind("data", data, pin.Data)
    if step is not None and not (math.isfinite(step) and step > 0.0):
        raise ProblemError(f"step is {step}: give seconds, more than 0, or None for acceleration level")
    if isinstance(contacts, RobotContact):
        raise ProblemError("contacts is a single RobotContact: give a list, [contact]")
    if len(contacts) == 0:
        raise ProblemError(
            "contacts is empty: without contacts pin.aba(model, data, q, v, tau) is the answer"
        )
    speed = joint_vector("velocity", velocity, model.nv)
    applied = np.zeros(model.nv) if torque is None else joint_vector("torque", torque, model.nv)
    mass = _mass_matrix(data, model)
    _check_same_velocity(data, model, speed)
    rows, bias, friction = [], [], []
    for number, contact in enumerate(contacts):
        if not isinstance(contact, RobotContact):
            raise ProblemError(f"contacts[{number}] is {contact!r}: give a RobotContact")
        place = _Place(pin, model, data, contact)
        own = place.rows()
        rows.append(own)
        if step is None:
            _check_rolling(number, contact, own @ speed)
            bias.append(place.drift())
        else:
            bias.append(np.array([contact.gap / step, 0.0, 0.0]))
        friction.append(contact.friction)
    _check_gravity(pin, model, data)
    pull = applied - np.asarray(data.nle)
    return ContactProblem.from_matrices(
        mass=mass,
        jacobian=np.vstack(rows).T,
        components=3,
        momentum=pull if step is None else mass @ speed + step * pull,
        bias=np.concatenate(bias),
        friction=friction,
        law=law,
    )


class _Place:
    """Geometry of a contact: its point, its axes, and the joints that carry its two sides."""

    def __init__(self, pin: Any, model: Any, data: Any, contact: RobotContact) -> None:
        self._pin, self._model, self._data = pin, model, data
        frame = model.frames[frame_index(model, contact.frame)]
        self._joints = [(frame.parentJoint, 1.0)]
        if contact.other is not None:
            other = model.frames[frame_index(model, contact.other)]
            if other.parentJoint == frame.parentJoint:
                raise ProblemError(
                    f"frames {contact.frame!r} and {contact.other!r} are on the same body: they do not move "
                    "relative to each other, and there is nothing to solve"
                )
            self._joints.append((other.parentJoint, -1.0))
        if contact.point is None:
            origin = data.oMi[frame.parentJoint].act(frame.placement).translation
            self._point = np.array(origin)
        else:
            self._point = np.asarray(contact.point, dtype=float)
        self._axes = contact.axes()

    def rows(self) -> Floats:
        """Dᵀ (3, nv): velocity of `frame` relative to `other` at the point, along n, t1, t2."""
        total = np.zeros((3, self._model.nv))
        for joint, sign in self._joints:
            if joint != WORLD:
                found = self._pin.getJointJacobian(self._model, self._data, joint, self._pin.WORLD)
                spatial = np.asarray(found)
                # Velocity of the point p of a body: that of the point at the world's origin, plus ω × p.
                total += sign * (spatial[:3] + np.cross(spatial[3:].T, self._point).T)
        return self._axes @ total

    def drift(self) -> Floats:
        """J̇v (3,) in m/s²: the relative acceleration at the point without joint accelerations."""
        total = np.zeros(3)
        for joint, sign in self._joints:
            if joint != WORLD:
                place = self._data.oMi[joint]
                moving, turning = place.act(self._data.v[joint]), place.act(self._bias(joint))
                carried = moving.linear + np.cross(moving.angular, self._point)
                total += sign * (turning.linear + np.cross(turning.angular, self._point))
                total += sign * np.cross(moving.angular, carried)
        return self._axes @ total

    def _bias(self, joint: int) -> Any:
        """Spatial acceleration of a joint's body, in its frame, without joint accelerations.

        By recursion from the results of forward kinematics: Pinocchio's dJ omits the joints' own bias, which
        joints with changing axes have, and its a_gf holds the result of the last algorithm.
        """
        if joint == WORLD:
            return self._pin.Motion.Zero()
        data, own = self._data, self._data.joints[joint]
        carried = data.liMi[joint].actInv(self._bias(self._model.parents[joint]))
        return carried + own.c + data.v[joint].cross(own.v)


def _mass_matrix(data: Any, model: Any) -> Floats:
    upper = np.triu(np.asarray(data.M))
    if upper.shape != (model.nv, model.nv):
        raise ProblemError(
            f"data has a mass matrix of shape {upper.shape} and the model {model.nv} velocities: "
            "data must come from model.createData() of this model"
        )
    if not np.isfinite(upper).all():
        raise ProblemError(f"data has a mass matrix that is not finite: {_CURE}, with finite q and v")
    if not np.any(upper) or not np.any(np.asarray(data.J)):
        raise ProblemError(f"data holds no mass matrix or no Jacobians: {_CURE}")
    return np.asarray(upper + np.triu(upper, 1).T)


def _check_same_velocity(data: Any, model: Any, velocity: Floats) -> None:
    """Raise if the bodies' velocities in data differ from those of the Jacobians and `velocity`."""
    jacobian, found = np.asarray(data.J), np.zeros((model.njoints, 6))
    for joint in range(1, model.njoints):
        first, count = model.idx_vs[joint], model.nvs[joint]
        own = jacobian[:, first : first + count] @ velocity[first : first + count]
        found[joint] = found[model.parents[joint]] + own
        theirs = np.asarray(data.oMi[joint].act(data.v[joint]).vector)
        if np.abs(found[joint] - theirs).max() > _SAME * (1.0 + np.abs(found[joint]).max()):
            raise ProblemError(
                f"velocity is not the one that data was computed with (joint {model.names[joint]!r} is the "
                f"first that moves otherwise): {_CURE}, with the same v"
            )


def _check_gravity(pin: Any, model: Any, data: Any) -> None:
    """Raise if data has no nonlinear effects although gravity acts on the joints."""
    if np.any(np.asarray(data.nle)):
        return
    gravity = np.asarray(model.gravity.linear)
    for joint in range(1, model.njoints):
        body = model.inertias[joint]
        centre, weight = np.asarray(data.oMi[joint].act(body.lever)), body.mass * gravity
        jacobian = np.asarray(pin.getJointJacobian(model, data, joint, pin.WORLD))
        if np.abs(jacobian.T @ np.concatenate([weight, np.cross(centre, weight)])).max() > _SAME:
            raise ProblemError(f"data holds no nonlinear effects, but gravity acts on the robot: {_CURE}")


def _check_rolling(number: int, contact: RobotContact, speed: Floats) -> None:
    if contact.gap > _CLOSED:
        raise ProblemError(
            f"contacts[{number}] (frame {contact.frame!r}) is open by {contact.gap:g} m: on acceleration "
            "level contacts are closed; leave it out, or give a step"
        )
    if contact.gap < -_CLOSED:
        raise ProblemError(
            f"contacts[{number}] (frame {contact.frame!r}) overlaps by {-contact.gap:g} m, which "
            "accelerations do not correct: give gap=0 if that is meant, or a step"
        )
    fastest = float(np.abs(speed).max())
    if fastest > _AT_REST:
        raise ProblemError(
            f"contacts[{number}] (frame {contact.frame!r}) moves at {fastest:.3g} m/s: on acceleration "
            "level a contact neither opens, closes nor slides; leave it out, or give a step"
        )
