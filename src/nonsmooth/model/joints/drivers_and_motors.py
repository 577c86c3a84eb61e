"""Elements on coordinates of joints: drivers, motors, springs, limits and dry friction.

Each acts on the coordinate x of B relative to A: a positive force pushes x up. Forces are in N on lengths
and in N·m on angles.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nonsmooth.errors import ProblemError
from nonsmooth.model import checks as check
from nonsmooth.model.joints.motions import Function, Motion
from nonsmooth.model.joints.table import BILATERAL, BOUNDED, LIMIT

if TYPE_CHECKING:
    from nonsmooth.model.bodies import Bodies
    from nonsmooth.model.joints.joint_set import JointSet

OfTime = float | Callable[[float], float]
"""A number, or a function of time in s that returns one."""


@dataclass(frozen=True, eq=False)
class Element(ABC):
    """An element on a coordinate.

    Args:
        joint: index of the joint.
        coordinate: name of one of the joint's coordinates.
    """

    joint: int
    coordinate: str

    @abstractmethod
    def attach(self, joints: JointSet, system: Bodies, of: str) -> None:
        """Add the element to the joints of a system; `of` says in messages on what it acts."""


@dataclass(frozen=True, eq=False)
class Driver(Element):
    """The coordinate is motion.value(t): one bilateral row on position level."""

    motion: Motion | Callable[[float], float]

    def attach(self, joints: JointSet, system: Bodies, of: str) -> None:
        """Add the element to the joints of a system; `of` says in messages on what it acts."""
        label, motion = f"driver of {of}", self.motion
        if not isinstance(motion, Motion):
            if not callable(motion):
                raise ProblemError(
                    f"the motion of the {label} is {motion!r}: give a motion such as Ramp(1.0), or a "
                    "function of time"
                )
            motion = Function(motion)
        check.number(f"the {label} at t = 0 s", motion.value(0.0))
        check.number(f"the rate of the {label} at t = 0 s", motion.rate(0.0))
        joints.claim(self, label)
        joints.add_element_row(self, system, label, offset=motion.value, rate=motion.rate)


@dataclass(frozen=True, eq=False)
class ForceMotor(Element):
    """A given force on the coordinate: N or N·m, or a function of time."""

    force: OfTime

    def attach(self, joints: JointSet, system: Bodies, of: str) -> None:
        """Add the element to the joints of a system; `of` says in messages on what it acts."""
        label = f"motor of {of}"
        joints.add_force_element(self, label, applied=_of_time(f"the force of the {label}", self.force))


@dataclass(frozen=True, eq=False)
class SpeedMotor(Element):
    """A prescribed speed in m/s or rad/s, with a force of at most `limit` (N or N·m): one row."""

    speed: OfTime
    limit: float

    def attach(self, joints: JointSet, system: Bodies, of: str) -> None:
        """Add the element to the joints of a system; `of` says in messages on what it acts."""
        label = f"motor of {of}"
        speed = _of_time(f"the speed of the {label}", self.speed)
        limit = _bound(f"the limit of the {label}", self.limit)
        if math.isinf(limit):
            joints.claim(self, label)
        joints.add_element_row(
            self,
            system,
            label,
            role=BILATERAL if math.isinf(limit) else BOUNDED,
            on_velocity=True,
            bounds=(-limit, limit),
            rate=speed,
        )


@dataclass(frozen=True, eq=False)
class Spring(Element):
    """The force −stiffness (x − rest) − damping ẋ; `rest` is the present value if None."""

    stiffness: float
    damping: float
    rest: float | None

    def attach(self, joints: JointSet, system: Bodies, of: str) -> None:
        """Add the element to the joints of a system; `of` says in messages on what it acts."""
        label = f"spring of {of}"
        stiffness = _not_negative(f"the stiffness of the {label}", self.stiffness)
        damping = _not_negative(f"the damping of the {label}", self.damping)
        if stiffness == 0.0 and damping == 0.0:
            raise ProblemError(f"the {label} has no effect: give stiffness, damping or both")
        rest = joints.coordinate(self.joint, self.coordinate, system)[0] if self.rest is None else self.rest
        rest = check.number(f"the rest of the {label}", rest)
        joints.add_force_element(self, label, stiffness=stiffness, damping=damping, rest=rest)


@dataclass(frozen=True, eq=False)
class Limit(Element):
    """The coordinate stays between two values, in m or rad, one of which may be None: a row for each."""

    lower: float | None
    upper: float | None

    def attach(self, joints: JointSet, system: Bodies, of: str) -> None:
        """Add the element to the joints of a system; `of` says in messages on what it acts."""
        ends = {
            name: None if value is None else check.number(f"the {name} limit of {of}", value)
            for name, value in (("lower", self.lower), ("upper", self.upper))
        }
        lower, upper = ends["lower"], ends["upper"]
        if lower is None and upper is None:
            raise ProblemError(f"the limit of {of} has no bound: give lower, upper or both")
        if lower is not None and upper is not None and not lower < upper:
            raise ProblemError(
                f"the limits of {of} are {lower:g} and {upper:g}: lower must be below upper; use a driver to "
                "hold a coordinate"
            )
        for name, value in ends.items():
            if value is not None:
                sign = 1.0 if name == "lower" else -1.0
                joints.add_element_row(
                    self,
                    system,
                    f"{name} limit of {of}",
                    role=LIMIT,
                    sign=sign,
                    wanted=sign * value,
                    bounds=(0.0, math.inf),
                )


@dataclass(frozen=True, eq=False)
class Friction(Element):
    """Dry friction: a force of at most `bound` (N or N·m) against motion or sticking: one row."""

    bound: float

    def attach(self, joints: JointSet, system: Bodies, of: str) -> None:
        """Add the element to the joints of a system; `of` says in messages on what it acts."""
        label = f"friction of {of}"
        bound = check.positive(f"the bound of the {label}", self.bound, "")
        joints.add_element_row(self, system, label, role=BOUNDED, on_velocity=True, bounds=(-bound, bound))


def _of_time(name: str, value: Any) -> OfTime:
    if callable(value):
        check.number(f"{name} at t = 0 s", value(0.0))
        function: Callable[[float], float] = value
        return function
    return check.number(name, value)


def _bound(name: str, value: Any) -> float:
    """Return a positive number, which may be infinite."""
    return math.inf if value == math.inf else check.positive(name, value, "")


def _not_negative(name: str, value: Any) -> float:
    out = check.number(name, value)
    if out < 0.0:
        raise ProblemError(f"{name} is {out:g}: it must not be negative")
    return out
