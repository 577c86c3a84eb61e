"""The joints of a run, as arrays and texts in a trajectory: their places, rows and elements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth._support.registry import find_index, known_names
from nonsmooth.errors import OptionError
from nonsmooth.io._arrays import Arrays, shaped, texts
from nonsmooth.io._hdf5 import Node
from nonsmooth.model import quaternions
from nonsmooth.model.system import System

_INT32 = ("int32",)
_GROUND = -1


@dataclass(frozen=True)
class RecordedJoints:
    """The j joints of a run, the r rows of their equations, and their elements."""

    types: tuple[str, ...]
    """Class of every joint: Revolute, Prismatic, …"""
    names: dict[str, int]
    """Index of every joint that has a name."""
    bodies: NDArray[np.int32]
    """(j, 2) bodies A and B; −1 is the ground."""
    anchor: Floats
    """(j, 2, 3) in m, in the frames of A and B (the world's for the ground)."""
    frame: Floats
    """(j, 3, 3) axes x, y, z of the joint as columns, in A's frame; z is the axis of the joint."""
    elements: tuple[str, ...]
    """Descriptions of drivers, motors, springs, limits and friction."""
    row_labels: tuple[str, ...]
    """Owner of every row: "joint 'pin'", "driver of joint 'pin'", …"""
    row_joint: NDArray[np.int32]
    """(r,) index of the row's joint."""
    row_units: tuple[str, ...]
    """Unit of every row's coordinate: m, so that its force is in N, or rad, so that it is in N·m."""

    def __len__(self) -> int:
        return len(self.types)

    def index(self, joint: int | str) -> int:
        """Return the index of a joint given by index or name; an unknown one is an error."""
        found = find_index(joint, self.names, len(self))
        if found is None:
            raise OptionError(
                f"joint {joint!r} was not recorded: there are {len(self)}, and those with a name are "
                f"{known_names(joint, list(self.names))}"
            )
        return found


def joint_constants(system: System) -> Arrays:
    """Return the constants of the joints as arrays; none if there are no joints."""
    joints = system.joints
    if not len(joints):
        return {}
    still = np.zeros((system.count, 3)), np.tile(quaternions.IDENTITY, (system.count, 1))
    names = sorted(joints.names.items(), key=lambda item: item[1])
    bodies = [[_GROUND if body is None else system.index(body) for body in (j.a, j.b)] for j in joints]
    table = joints.table
    return {
        "joints/type": (texts([type(joint).__name__ for joint in joints]), "class of the joint"),
        "joints/name": (texts([name for name, _ in names]), "name"),
        "joints/named": (np.array([at for _, at in names], dtype=np.int32), "index of the joint named"),
        "joints/bodies": (np.array(bodies, dtype=np.int32), "indices of bodies A and B, -1 for the ground"),
        "joints/anchor": (joints.anchors(*still), "m, in the frames of A and B"),
        "joints/frame": (joints.frames(*still)[1], "axes x, y, z as columns, in the frame of A"),
        "joints/element": (texts(list(_elements(system))), "what acts on coordinates, in words"),
        "joint_rows/label": (texts(list(table.labels)), "what the row belongs to"),
        "joint_rows/joint": (table.joint.astype(np.int32), "index of a joint"),
        "joint_rows/unit": (texts(list(table.units)), "unit of the row's coordinate"),
    }


def joint_identity(system: System) -> Iterator[NDArray[Any]]:
    """Return the arrays that determine how joints act, which must be the same to continue a run.

    User functions of time are represented by their value at t = 0.
    """
    if len(system.ignored_pairs):
        yield system.ignored_pairs
    if not len(system.joints):
        return
    table = system.joints.table
    yield from table.rows
    yield from (table.role, table.on_velocity, table.lower, table.upper, *table.offsets(0.0))
    yield np.array([system.joints.potential_energy(system)])  # includes the rest lengths of springs


def read_joints(root: Node) -> RecordedJoints:
    """Read the joints; a run without joints has no group of them."""
    if not root.has("joints"):
        nothing = np.zeros((0, 2), dtype=np.int32)
        return RecordedJoints(
            (), {}, nothing, np.zeros((0, 2, 3)), np.zeros((0, 3, 3)), (), (), nothing[:, 0], ()
        )
    node, rows = root.group("joints"), root.group("joint_rows")
    types, labels = _words(node, "type"), _words(rows, "label")
    return RecordedJoints(
        types=types,
        names=dict(zip(_words(node, "name"), node.read("named", _INT32).tolist(), strict=True)),
        bodies=shaped(node, "bodies", node.read("bodies", _INT32), (len(types), 2)),
        anchor=shaped(node, "anchor", node.read("anchor"), (len(types), 2, 3)),
        frame=shaped(node, "frame", node.read("frame"), (len(types), 3, 3)),
        elements=_words(node, "element"),
        row_labels=labels,
        row_joint=shaped(rows, "joint", rows.read("joint", _INT32), (len(labels),)),
        row_units=_words(rows, "unit"),
    )


def _words(node: Node, name: str) -> tuple[str, ...]:
    return tuple(bytes(word).decode() for word in node.read_text(name))


def _elements(system: System) -> Iterator[str]:
    """Describe every element by its kind, its joint and its numbers."""
    for element in system.joints.elements:
        numbers = {
            field.name: getattr(element, field.name)
            for field in fields(element)
            if field.name not in ("joint", "coordinate")
        }
        said = ", ".join(f"{name} = {_said(value)}" for name, value in numbers.items() if value is not None)
        on = f"the {element.coordinate} of {system.joints.label(element.joint)}"
        yield f"{type(element).__name__} on {on}: {said}"


def _said(value: Any) -> str:
    """A value as text that is the same in every run, unlike the address of a function."""
    if isinstance(value, Real):
        return repr(float(value))
    if is_dataclass(value) and not isinstance(value, type):
        parts = (f"{field.name}={_said(getattr(value, field.name))}" for field in fields(value))
        return f"{type(value).__name__}({', '.join(parts)})"
    return "a function of time" if callable(value) else type(value).__name__
