"""`JointedBodies`: joints between the bodies of a system, and pairs of bodies that do not touch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nonsmooth._support.arrays import Integers
from nonsmooth.errors import ProblemError
from nonsmooth.model.bodies import Bodies
from nonsmooth.model.joints import drivers_and_motors
from nonsmooth.model.joints.base import Joint
from nonsmooth.model.joints.drivers_and_motors import OfTime
from nonsmooth.model.joints.joint_set import JointSet
from nonsmooth.model.joints.motions import Motion


class JointedBodies(Bodies):
    """Bodies with joints between them."""

    def __init__(self) -> None:
        super().__init__()
        self._joints = JointSet()
        self._ignored: set[tuple[int, int]] = set()

    @property
    def joints(self) -> JointSet:
        """The joints of the system."""
        return self._joints

    def add_joint(self, joint: Joint) -> int:
        """Add a joint in the present configuration and return its index.

        Its two bodies do not touch each other from now on, unless the joint has collide=True.
        """
        index = self._joints.add(joint, self)
        if not joint.collide and joint.a is not None and joint.b is not None:
            self.ignore_contacts(joint.a, joint.b)
        return index

    def coordinate(self, joint: int | str, coordinate: str | None = None) -> float:
        """Return a joint's coordinate in m or rad, with whole turns; say which one where it has several."""
        return self._joints.coordinate(joint, coordinate, self)[0]

    def coordinate_velocity(self, joint: int | str, coordinate: str | None = None) -> float:
        """Return how fast a joint's coordinate changes, in m/s or rad/s; as in `coordinate`."""
        return self._joints.coordinate(joint, coordinate, self)[1]

    # ---- elements on coordinates ----------------------------------------------------------------

    def add_driver(
        self,
        joint: int | str,
        motion: Motion | Callable[[float], float],
        *,
        coordinate: str | None = None,
    ) -> None:
        """Prescribe a coordinate of a joint as a function of time.

        Args:
            joint: index or name.
            motion: a motion such as `Ramp`, `Sine` or `Smooth`, in m or rad; or a function of time (s), whose
                rate is found by differences (see `Function`).
            coordinate: which one, where the joint has several.
        """
        index, name = self._choose(joint, coordinate)
        self._joints.add_element(drivers_and_motors.Driver(index, name, motion), self)

    def add_motor(
        self,
        joint: int | str,
        *,
        force: OfTime | None = None,
        speed: OfTime | None = None,
        limit: float | None = None,
        coordinate: str | None = None,
    ) -> None:
        """Put a motor on a coordinate of a joint: with a given force, or a given speed and a limit.

        Args:
            joint: index or name.
            force: on the coordinate, N on a length and N·m on an angle, or a function of time (s).
            speed: m/s or rad/s, or a function of time (s).
            limit: largest force used to reach the speed, N or N·m; may be infinite.
            coordinate: which one, where the joint has several.
        """
        index, name = self._choose(joint, coordinate)
        label = f"the motor of {self._joints.label(index)}"
        if (force is None) == (speed is None):
            raise ProblemError(f"{label} needs one of force and speed: give exactly one of them")
        if force is not None:
            if limit is not None:
                raise ProblemError(f"{label} has a force, which needs no limit: omit limit, or give speed")
            self._joints.add_element(drivers_and_motors.ForceMotor(index, name, force), self)
        elif speed is not None:
            if limit is None:
                raise ProblemError(f"{label} needs a limit for its force: give limit=, which may be math.inf")
            self._joints.add_element(drivers_and_motors.SpeedMotor(index, name, speed, limit), self)

    def add_spring(
        self,
        joint: int | str,
        *,
        stiffness: float = 0.0,
        damping: float = 0.0,
        rest: float | None = None,
        coordinate: str | None = None,
    ) -> None:
        """Put the force −stiffness (x − rest) − damping ẋ on a coordinate x of a joint.

        Args:
            joint: index or name.
            stiffness: N/m on a length, N·m/rad on an angle.
            damping: N·s/m or N·m·s/rad.
            rest: value of the coordinate without a force, m or rad; the present one if not given.
            coordinate: which one, where the joint has several.
        """
        index, name = self._choose(joint, coordinate)
        self._joints.add_element(drivers_and_motors.Spring(index, name, stiffness, damping, rest), self)

    def add_limit(
        self,
        joint: int | str,
        *,
        lower: float | None = None,
        upper: float | None = None,
        coordinate: str | None = None,
    ) -> None:
        """Keep a coordinate of a joint from going below `lower` or above `upper`, in m or rad.

        A rope is a `Strut` with an upper limit. `coordinate` says which one, where the joint has several.
        """
        index, name = self._choose(joint, coordinate)
        self._joints.add_element(drivers_and_motors.Limit(index, name, lower, upper), self)

    def add_joint_friction(self, joint: int | str, bound: float, *, coordinate: str | None = None) -> None:
        """Let dry friction of at most `bound`, N on a length or N·m on an angle, resist a joint's motion.

        `coordinate` says which one, where the joint has several.
        """
        index, name = self._choose(joint, coordinate)
        self._joints.add_element(drivers_and_motors.Friction(index, name, bound), self)

    def _choose(self, joint: int | str, coordinate: str | None) -> tuple[int, str]:
        """Return the index of a joint and the name of one of its coordinates."""
        index = self._joints.index(joint)
        return index, self._joints.coordinate_name(index, coordinate)

    # ---- pairs that do not touch ----------------------------------------------------------------

    def ignore_contacts(self, a: int | str, b: int | str) -> None:
        """Let bodies `a` and `b`, by index or name, pass through each other."""
        first, second = sorted((self.index(a), self.index(b)))
        if first == second:
            raise ProblemError(f"{self.label(first)} is paired with itself: give two different bodies")
        self._ignored.add((first, second))

    @property
    def ignored_pairs(self) -> Integers:
        """Pairs of bodies (p, 2) that never touch each other, a < b, in order."""
        return np.array(sorted(self._ignored), dtype=np.int64).reshape(-1, 2)
