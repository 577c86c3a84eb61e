"""Changes to a system during motion: held forces, targets of motors and drivers.

These act on one system in place: a copy has what was set up to then, and goes its own way.
"""

from __future__ import annotations

from typing import TypeVar

from numpy.typing import ArrayLike

from nonsmooth.errors import ProblemError
from nonsmooth.model import checks as check
from nonsmooth.model.joints.drivers_and_motors import Driver, Element, ForceMotor, SpeedMotor
from nonsmooth.model.joints.motions import Ramp
from nonsmooth.model.system import System

E = TypeVar("E", bound=Element)


def hold_force(
    system: System,
    body: int | str,
    force: ArrayLike | None,
    torque: ArrayLike | None,
    point: ArrayLike | None,
) -> None:
    """Apply a force to a body in place of the one held so far; none if force and torque are None.

    Units and frames as in `System.add_force`.
    """
    index = system.index(body)
    label = system.label(index)
    if system.fixed[index]:
        raise ProblemError(f"{label} is fixed, so that no force moves it: choose a body that can move")
    system._forces.hold(index, label, force, torque, point)


def set_motor(
    system: System,
    joint: int | str,
    coordinate: str | None,
    *,
    speed: float | None,
    force: float | None,
) -> None:
    """Set the speed (m/s or rad/s) or the force (N or N·m) of a joint's motor."""
    if (speed is None) == (force is None):
        raise ProblemError(
            f"the motor of {_label(system, joint)} needs one of force and speed: give exactly one of them"
        )
    if speed is not None:
        place = _place(system, joint, coordinate, SpeedMotor, "motor with a speed", "speed=0.0, limit=…")
        speed = check.number(f"the speed of the motor of {_label(system, joint)}", speed)
        system.joints.set_rate(place[0], speed)
        return
    place = _place(system, joint, coordinate, ForceMotor, "motor with a force", "force=0.0")
    force = check.number(f"the force of the motor of {_label(system, joint)}", force)
    system.joints.set_applied(place[1], force)


def set_driver(
    system: System, joint: int | str, coordinate: str | None, position: float, rate: float, time: float
) -> None:
    """Set a joint's driver to `position` (m or rad) at `time` (s), moving at `rate` (m/s or rad/s)."""
    place = _place(system, joint, coordinate, Driver, "driver", "ns.joints.Ramp(0.0)")
    label = f"the driver of {_label(system, joint)}"
    position, rate = (
        check.number(f"the position of {label}", position),
        check.number(f"the rate of {label}", rate),
    )
    system.joints.set_motion(place[0], Ramp(rate, start=position - rate * time))


def _label(system: System, joint: int | str) -> str:
    return system.joints.label(system.joints.index(joint))


def _place(
    system: System, joint: int | str, coordinate: str | None, kind: type[E], what: str, example: str
) -> tuple[int, int]:
    """The row of a joint's only element of a kind, and its index among the force elements."""
    joints = system.joints
    index = joints.index(joint)
    label, name = joints.label(index), joints.coordinate_name(index, coordinate)
    found = [
        place
        for element, place in zip(joints.elements, joints.element_places, strict=True)
        if isinstance(element, kind) and (element.joint, element.coordinate) == (index, name)
    ]
    if not found:
        add = "add_driver" if kind is Driver else "add_motor"
        raise ProblemError(
            f"{label} has no {what} on its {name}: add one first, system.{add}({joint!r}, {example})"
        )
    if len(found) > 1:
        raise ProblemError(f"{label} has {len(found)} of the kind {what} on its {name}: keep one of them")
    return found[0]
