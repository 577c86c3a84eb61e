"""Applied forces other than gravity: on one body, on all bodies, and between pairs of bodies.

Forces are in N and in the world frame, torques in N·m about the centre of mass and in the body frame.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth._support.lazy import spatial
from nonsmooth.errors import ProblemError
from nonsmooth.model import checks as check
from nonsmooth.model import quaternions

if TYPE_CHECKING:
    from nonsmooth.model.system import System

OfTime = Callable[[float], ArrayLike]
"""A vector (3,) as a function of time in s."""
ForceField = Callable[[float, "System"], tuple[ArrayLike, ArrayLike | None]]
"""function(t, system) -> forces (n, 3) in N, world frame, and torques (n, 3) in N·m, body frame, or None."""
PairFunction = Callable[[Floats, Integers, Integers], ArrayLike]
"""function(distance (p,) in m, a (p,), b (p,)) -> magnitude (p,) in N; positive repels."""


@dataclass(frozen=True)
class Harmonic:
    """The vector amplitude · sin(2π frequency t + phase), for `System.add_force`.

    Args:
        amplitude: (3,) in N or N·m.
        frequency: in Hz.
        phase: in rad.
    """

    amplitude: tuple[float, float, float]
    frequency: float
    phase: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "amplitude", tuple(check.vector("amplitude", self.amplitude).tolist()))
        object.__setattr__(self, "frequency", check.positive("frequency", self.frequency, "Hz"))
        object.__setattr__(self, "phase", check.number("phase", self.phase))

    def __call__(self, t: float) -> Floats:
        """Return the vector at time t (s)."""
        return math.sin(2.0 * math.pi * self.frequency * t + self.phase) * np.array(self.amplitude)


@dataclass(frozen=True)
class _BodyForce:
    """A force on one body: vectors or functions of time, and the point of the body frame where it acts."""

    body: int
    label: str
    force: Floats | OfTime | None
    torque: Floats | OfTime | None
    point: Floats | None

    @property
    def constant(self) -> bool:
        """True if the force depends neither on time nor on the body's orientation."""
        return not callable(self.force) and not callable(self.torque) and self.point is None

    def wrench(self, t: float, quaternion: Floats) -> Floats:
        """Return force (world) and torque (body frame), (6,)."""
        force, torque = self._at(t, "force", self.force), self._at(t, "torque", self.torque)
        if self.point is not None:
            torque = torque + np.cross(self.point, quaternions.rotate_back(quaternion, force))
        return np.concatenate([force, torque])

    def _at(self, t: float, name: str, value: Floats | OfTime | None) -> Floats:
        if value is None:
            return np.zeros(3)
        if callable(value):
            return check.array(f"the {name} on {self.label} at t = {t:g} s", value(t), (3,), "three numbers")
        return value


@dataclass(frozen=True)
class _PairField:
    """A central force between all bodies of finite size whose centres are within `cutoff` (m)."""

    function: PairFunction
    cutoff: float

    def add_to(self, total: Floats, system: System) -> None:
        finite = np.flatnonzero(np.isfinite(system.bounding_radius))
        if len(finite) < 2:
            return
        pairs = finite[
            spatial.cKDTree(system.position[finite]).query_pairs(self.cutoff, output_type="ndarray")
        ]
        a, b = pairs.min(axis=1), pairs.max(axis=1)
        order = np.lexsort((b, a))  # the order of the tree is not specified, and sums depend on it
        order = order[~(system.fixed[a[order]] & system.fixed[b[order]])]
        a, b = a[order], b[order]
        arm = system.position[b] - system.position[a]
        distance = np.sqrt(np.einsum("pi,pi->p", arm, arm))
        if np.any(distance == 0.0):
            at = int(np.argmin(distance))
            one, two = system.label(int(a[at])), system.label(int(b[at]))
            raise ProblemError(
                f"{one} and {two} have the same centre, so that a pair force has no direction: "
                "move one of them"
            )
        size = check.array(
            "the magnitude of a pair field", self.function(distance, a, b), (len(a),), "one number per pair"
        )
        push = (size / distance)[:, None] * arm
        np.add.at(total[:, :3], b, push)
        np.subtract.at(total[:, :3], a, push)


class AppliedForces:
    """All applied forces of a system, in the order in which they were added."""

    def __init__(self) -> None:
        self._constant: list[_BodyForce] = []
        self._changing: list[_BodyForce] = []
        self._held: dict[int, _BodyForce] = {}
        self._fields: list[ForceField] = []
        self._pair_fields: list[_PairField] = []

    def add_on_body(self, body: int, label: str, force: Any, torque: Any, point: Any) -> None:
        """Add a force on one body; `label` names the body in errors."""
        if force is None and torque is None:
            raise ProblemError(f"a force on {label} is empty: give force, torque or both")
        entry = _body_force(body, label, force, torque, point)
        (self._constant if entry.constant else self._changing).append(entry)

    def hold(self, body: int, label: str, force: Any, torque: Any, point: Any) -> None:
        """Apply a force to a body in place of the one held so far; none if all arguments are None."""
        self._held.pop(body, None)
        if force is not None or torque is not None or point is not None:
            self._held[body] = _body_force(body, label, force, torque, point)

    def add_field(self, function: ForceField) -> None:
        """Add a function of time and system that gives forces and torques on all bodies."""
        self._fields.append(_function("force field", function))

    def add_pair_field(self, function: PairFunction, cutoff: Any) -> None:
        """Add a central force between bodies whose centres are within `cutoff` (m)."""
        limit = check.positive("cutoff of a pair field", cutoff, "m")
        self._pair_fields.append(_PairField(_function("pair field", function), limit))

    def add_constant(self, total: Floats) -> None:
        """Add the forces that depend neither on time nor on the state to `total` (n, 6)."""
        for entry in self._constant:
            total[entry.body] += entry.wrench(0.0, np.array(quaternions.IDENTITY))

    @property
    def change(self) -> bool:
        """Whether a force may depend on time or on the state."""
        return bool(self._changing or self._held or self._fields or self._pair_fields)

    def add_changing(self, total: Floats, t: float, system: System) -> None:
        """Add the forces that depend on time t (s) or on the state to `total` (n, 6)."""
        if self._changing or self._held:
            quaternion = system.quaternion
            for entry in (*self._changing, *self._held.values()):
                total[entry.body] += entry.wrench(t, quaternion[entry.body])
        if not self._fields and not self._pair_fields:
            return
        shape, meaning = (system.count, 3), f"three numbers for each of {system.count} bodies"
        for field in self._fields:
            answer = field(t, system)
            if not isinstance(answer, tuple) or len(answer) != 2:
                raise ProblemError("a force field must return a tuple (forces, torques): torques may be None")
            total[:, :3] += check.array("the forces of a force field", answer[0], shape, meaning)
            if answer[1] is not None:
                total[:, 3:] += check.array("the torques of a force field", answer[1], shape, meaning)
        for pair_field in self._pair_fields:
            pair_field.add_to(total, system)
        total[system.fixed] = 0.0

    def copy(self) -> AppliedForces:
        """Return an independent copy; user functions are shared."""
        other = AppliedForces()
        other._constant, other._changing = list(self._constant), list(self._changing)
        other._fields, other._pair_fields = list(self._fields), list(self._pair_fields)
        other._held = dict(self._held)
        return other

    def renumber(self, number: Integers) -> None:
        """Give bodies the numbers (n,) in place of theirs; what acts on one whose number is −1 is dropped."""
        for entries in (self._constant, self._changing):
            entries[:] = [
                replace(entry, body=int(number[entry.body])) for entry in entries if number[entry.body] >= 0
            ]
        held = {int(number[body]): entry for body, entry in self._held.items() if number[body] >= 0}
        self._held = {body: replace(entry, body=body) for body, entry in held.items()}


def _body_force(body: int, label: str, force: Any, torque: Any, point: Any) -> _BodyForce:
    if point is not None and force is None:
        raise ProblemError(f"a torque on {label} has no point of action: omit point, or give force")
    return _BodyForce(
        body,
        label,
        _vector_or_function(f"the force on {label}", force),
        _vector_or_function(f"the torque on {label}", torque),
        None if point is None else check.vector(f"the point of a force on {label}", point),
    )


def _vector_or_function(name: str, value: Any) -> Any:
    if value is None or callable(value):
        return value
    return check.array(name, value, (3,), "three numbers, or a function of time that returns them")


def _function(name: str, value: Any) -> Any:
    if not callable(value):
        raise ProblemError(f"a {name} is {value!r}: give a function")
    return value
