"""Joints of a scene file and their elements: [[joints]], [[drivers]], [[motors]], [[springs]], …

The keys of a joint or a motion are the arguments of its class. An omitted body is the ground.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any

from nonsmooth.errors import ProblemError
from nonsmooth.io.scenes.toml_tables import Table
from nonsmooth.model import joints
from nonsmooth.model.system import System

MOTIONS: dict[str, type[joints.Ramp | joints.Sine | joints.Smooth]] = {
    "ramp": joints.Ramp,
    "sine": joints.Sine,
    "smooth": joints.Smooth,
}
"""Motions of a driver by name."""

PARTS = ("joints", "drivers", "motors", "springs", "limits", "joint_friction", "ignore_contacts")
"""Keys of a file that are read here."""

_COORDINATE = ("joint", "coordinate")
_BY_NUMBERS: dict[str, tuple[Callable[..., None], tuple[str, ...], tuple[str, ...]]] = {
    "springs": (System.add_spring, (), ("stiffness", "damping", "rest")),
    "limits": (System.add_limit, (), ("lower", "upper")),
    "joint_friction": (System.add_joint_friction, ("bound",), ()),
}
"""How elements given by numbers are added, with their required and optional keys."""


def add_joints(system: System, root: Table) -> None:
    """Add all joints of a file to its bodies, and then their elements."""
    for joint in root.tables("joints"):
        _add_joint(system, joint)
    for driver in root.tables("drivers"):
        _add_driver(system, driver)
    for motor in root.tables("motors"):
        _add_motor(system, motor)
    for part, (add, needed, others) in _BY_NUMBERS.items():
        for element in root.tables(part):
            _check_coordinate(system, element)
            element.check_keys(*_COORDINATE, *needed, *others)
            for key in needed:
                element.needed(key)
            with element.blame(*_COORDINATE):
                add(system, element.values["joint"], **element.picked("coordinate", *needed, *others))
    for pair in root.tables("ignore_contacts"):
        pair.check_keys("a", "b")
        for side in ("a", "b"):
            pair.needed(side)
        _check_bodies(system, pair)
        with pair.blame("a"):
            system.ignore_contacts(pair.values["a"], pair.values["b"])


def _add_joint(system: System, table: Table) -> None:
    kind = joints.BY_NAME[table.choice("type", tuple(joints.BY_NAME))]
    options = {"a": None, "b": None} | _arguments(table, kind, "type")
    table.check_flags("collide", "internal")
    if options["a"] is None and options["b"] is None:
        table.fail("it connects nothing: give a, b or both; an omitted body is the ground")
    _check_bodies(system, table)
    with table.blame("a", "b"):  # "a" occurs in many messages
        system.add_joint(kind(**options))


def _check_bodies(system: System, table: Table) -> None:
    for side, body in table.picked("a", "b").items():
        try:
            system.index(body)
        except ProblemError as error:
            table.fail(str(error), side)


def _arguments(table: Table, kind: type, *others: str) -> dict[str, Any]:
    """Return the arguments of a class given by the table; `others` are keys with other uses."""
    known = [field for field in fields(kind) if field.init]
    table.check_keys(*others, *(field.name for field in known))
    for field in known:
        if field.default is MISSING and field.name not in ("a", "b"):
            table.needed(field.name)
    return table.picked(*(field.name for field in known))


def _check_coordinate(system: System, table: Table) -> str:
    """Check joint and coordinate; return the label of the joint in messages."""
    joint, name = table.needed("joint"), table.values.get("coordinate")
    try:
        index = system.joints.index(joint)
    except ProblemError as error:
        table.fail(str(error), "joint")
    try:
        system.joints.coordinate_name(index, name)
    except ProblemError as error:
        table.fail(str(error), "joint" if name is None else "coordinate")
    return system.joints.label(index)


def _add_driver(system: System, table: Table) -> None:
    label = _check_coordinate(system, table)
    kind = MOTIONS[table.choice("motion", tuple(MOTIONS))]
    options = _arguments(table, kind, *_COORDINATE, "motion")
    with table.blame(*_COORDINATE):
        try:
            motion = kind(**options)
        except ProblemError as error:
            raise ProblemError(f"{error}, in the driver of {label}") from error
        system.add_driver(table.values["joint"], motion, **table.picked("coordinate"))


def _add_motor(system: System, table: Table) -> None:
    label = f"the motor of {_check_coordinate(system, table)}"
    given = [key for key in ("force", "speed") if key in table.values]
    if len(given) != 1:
        table.fail(f"{label} needs one of force and speed: give exactly one of them")
    what, wave = given[0], ("frequency", "phase")
    limit = ("limit",) if what == "speed" else ()
    table.check_keys(*_COORDINATE, what, *limit, *wave)
    if limit and "limit" not in table.values:
        table.fail(f"{label} has no limit: give limit, the largest force or torque, which may be inf")
    if "phase" in table.values and "frequency" not in table.values:
        table.fail("phase needs frequency, which is missing: give both, or neither", "phase")
    options = table.picked("coordinate", what, *limit)
    with table.blame(*_COORDINATE):
        if "frequency" in table.values:
            try:
                options[what] = joints.Sine(table.values[what], **table.picked(*wave)).value
            except ProblemError as error:
                raise ProblemError(f"{str(error).replace('amplitude', what)}, in {label}") from error
        system.add_motor(table.values["joint"], **options)
