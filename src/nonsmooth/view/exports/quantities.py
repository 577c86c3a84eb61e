"""Exported quantities of a recorded run: named numbers of bodies, contacts and joints, with units.

The same quantities are written to files for ParaView and to tables. Vectors are in the world frame unless
their name begins with `local_`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.collision.contact_forces import ContactForces
from nonsmooth.errors import OptionError
from nonsmooth.io import RecordedJoints
from nonsmooth.io.runs.trajectory import RecordedFrame, RecordedReactions, Trajectory
from nonsmooth.model import quaternions
from nonsmooth.model import shapes as kinds
from nonsmooth.view.drawing.colours import (
    ColourBy,
    ContactState,
    body_values,
    contact_friction,
    contact_states,
)


@dataclass(frozen=True, eq=False)
class Quantity:
    """Numbers (n,), vectors (n, 3), quaternions (n, 4) or strings, one for each body, contact or joint."""

    name: str
    values: NDArray[Any] | list[str]
    unit: str
    meaning: str
    words: tuple[str, ...] = ()
    """Meanings of the values 0, 1, … if they are codes; −1 means none."""


@dataclass(frozen=True, eq=False)
class FrameQuantities:
    """Time-dependent quantities at one frame."""

    number: int
    """Number of the frame in its file."""
    frame: RecordedFrame
    bodies: list[Quantity]
    contacts: list[Quantity] | None
    """None if contacts were not recorded."""
    joints: list[Quantity] | None
    """None if there are no joints, or none of their data was recorded in the frame."""
    joint_rows: list[Quantity] | None
    """None if reactions were not recorded."""


class Quantities:
    """Quantities of a recorded run, read frame by frame."""

    def __init__(self, trajectory: Trajectory) -> None:
        self.trajectory = trajectory
        self.constants = _constants(trajectory)
        """Of the bodies."""

    def at(self, number: int) -> FrameQuantities:
        """Read one frame."""
        trajectory = self.trajectory
        frame = trajectory.frame(number)
        contacts = trajectory.contacts(number) if "contacts" in trajectory.fields else None
        reactions = trajectory.reactions(number) if trajectory.has_reactions else None
        return FrameQuantities(
            number,
            frame,
            [*_state(frame), *_loads(frame, contacts, len(trajectory.bodies.mass))],
            None if contacts is None else self._of_contacts(contacts),
            _joints(trajectory.joints, frame, reactions),
            None if reactions is None else _joint_rows(reactions),
        )

    def _of_contacts(self, contacts: ContactForces) -> list[Quantity]:
        force = contacts.force
        normal = np.einsum("ij,ij->i", force, contacts.normal)
        tangential = np.linalg.norm(force - normal[:, None] * contacts.normal, axis=1)
        friction = contact_friction(contacts, self.trajectory.shapes, self.trajectory.materials.pairs)
        words = tuple(state.name.lower() for state in ContactState)
        return [
            Quantity("body_a", contacts.bodies[:, 0], "", "index of body A"),
            Quantity("body_b", contacts.bodies[:, 1], "", "index of body B"),
            Quantity("point", contacts.point, "m", "where they touch"),
            Quantity("normal", contacts.normal, "", "unit vector from A to B"),
            Quantity("gap", contacts.gap, "m", "distance, negative where bodies overlap"),
            Quantity("force", force, "N", "on body B, mean over the step"),
            Quantity("normal_force", normal, "N", "part of the force along the normal"),
            Quantity("tangential_force", tangential, "N", "magnitude of the rest: friction"),
            Quantity("state", contact_states(contacts, friction), "", "what the contact does", words),
        ]


def positions(frame: RecordedFrame, trajectory: Trajectory) -> Floats:
    """Return the positions (n, 3) of a frame in m, which must have been recorded."""
    if frame.position is None:
        raise OptionError(f"positions were not recorded in {trajectory.path}: record the field 'position'")
    return frame.position


def _constants(trajectory: Trajectory) -> list[Quantity]:
    bodies, shapes, count = trajectory.bodies, trajectory.shapes, len(trajectory.bodies.mass)
    material = np.full(count, -1, dtype=np.int32)
    owners, first, parts = np.unique(shapes.body, return_index=True, return_counts=True)
    material[owners] = shapes.material[first]
    radius = np.zeros(count)
    single = (parts == 1) & (shapes.kind[first] == kinds.SPHERE) & ~shapes.offset[first].any(axis=1)
    radius[owners[single]] = shapes.size[first[single], 0]
    return [
        Quantity("body", np.arange(count, dtype=np.int32), "", "index of the body"),
        Quantity("name", _names(bodies.names, count), "", "name of the body, if it has one"),
        Quantity("material", material, "", "of all its shapes", trajectory.materials.names),
        Quantity("fixed", bodies.fixed.astype(np.int8), "", "1 where the body cannot be pushed, else 0"),
        Quantity("mass", _finite(bodies.mass), "kg", "NaN where fixed"),
        Quantity("radius", radius, "m", "of bodies that are a sphere, 0 for others"),
        Quantity(
            "bounding_radius", _finite(bodies.bounding_radius), "m", "reach from the centre; NaN for planes"
        ),
    ]


def _names(index: dict[str, int], count: int) -> list[str]:
    """Names in the order of what they name; nothing for what has none."""
    names = [""] * count
    for name, at in index.items():
        names[at] = name
    return names


def _finite(values: Floats) -> Floats:
    """Replace infinity, which spoils colour scales, by NaN."""
    return np.where(np.isfinite(values), values, np.nan)


def _state(frame: RecordedFrame) -> list[Quantity]:
    """Recorded states of the bodies."""
    found = []
    if frame.position is not None:
        found.append(Quantity("position", frame.position, "m", "of the centre of mass"))
    if frame.quaternion is not None:
        found.append(Quantity("quaternion", frame.quaternion, "", "(w, x, y, z), body to world"))
    if frame.linear_velocity is not None:
        speed = body_values(ColourBy.SPEED, frame, None, len(frame.linear_velocity))
        found.append(Quantity("velocity", frame.linear_velocity, "m/s", "of the centre of mass"))
        found.append(Quantity("speed", speed, "m/s", "magnitude of the velocity"))
    if frame.angular_velocity is not None and frame.quaternion is not None:
        spin = quaternions.rotate(frame.quaternion, frame.angular_velocity)
        found.append(Quantity("angular_velocity", spin, "rad/s", "in the world frame"))
    return found


def _loads(frame: RecordedFrame, contacts: ContactForces | None, count: int) -> list[Quantity]:
    """Contact forces on the bodies."""
    if contacts is None:
        return []
    total = np.zeros((count, 3))
    np.add.at(total, contacts.bodies[:, 1], contacts.force)
    np.subtract.at(total, contacts.bodies[:, 0], contacts.force)
    load = body_values(ColourBy.FORCE, frame, contacts, count)
    return [
        Quantity("contact_force", total, "N", "sum of the contact forces on the body, mean over the step"),
        Quantity("contact_load", load, "N", "sum of the magnitudes of these forces"),
    ]


def _joints(
    joints: RecordedJoints, frame: RecordedFrame, reactions: RecordedReactions | None
) -> list[Quantity] | None:
    """Places and reactions of the joints; None if neither is known."""
    axes, known = None, []
    if frame.position is not None and frame.quaternion is not None:
        point_a, point, axes = _placed_joints(joints, frame.position, frame.quaternion)
        known.append(Quantity("point", point, "m", "where body B has the joint; torques are about it"))
        known.append(Quantity("point_a", point_a, "m", "where body A has it: elsewhere for rods and struts"))
        known.append(Quantity("axis", axes[:, :, 2], "", "unit vector along the axis of the joint"))
    if reactions is not None:
        about = "on body B, mean over the step"
        for name, values, unit in (("force", reactions.force, "N"), ("torque", reactions.torque, "N·m")):
            if axes is not None:
                known.append(Quantity(name, np.einsum("jik,jk->ji", axes, values), unit, about))
            local = f"{about}, in the joint's frame, whose z is the axis"
            known.append(Quantity(f"local_{name}", values, unit, local))
    if not len(joints) or not known:
        return None
    return [
        Quantity("joint", np.arange(len(joints), dtype=np.int32), "", "index of the joint"),
        Quantity("name", _names(joints.names, len(joints)), "", "name of the joint, if it has one"),
        Quantity("type", list(joints.types), "", "what kind of joint it is"),
        Quantity("body_a", joints.bodies[:, 0], "", "index of body A, -1 for the ground"),
        Quantity("body_b", joints.bodies[:, 1], "", "index of body B, -1 for the ground"),
        *known,
    ]


def _placed_joints(
    joints: RecordedJoints, position: Floats, quaternion: Floats
) -> tuple[Floats, Floats, Floats]:
    """Anchors (j, 3) on bodies A and B in m, and the axes x, y, z (j, 3, 3) as columns, in the world."""
    # The last row is that of the ground, and the one that index −1 takes.
    places = np.vstack([position, np.zeros(3)])
    turns = quaternions.matrix(np.vstack([quaternion, quaternions.IDENTITY]))
    points = places[joints.bodies] + np.einsum("jsik,jsk->jsi", turns[joints.bodies], joints.anchor)
    return points[:, 0], points[:, 1], turns[joints.bodies[:, 0]] @ joints.frame


def _joint_rows(reactions: RecordedReactions) -> list[Quantity]:
    """What every row of the joints' equations does: joints themselves, drivers, motors, limits, friction."""
    joints = reactions.joints
    names = _names(joints.names, len(joints))
    units = ["N·m" if unit == "rad" else "N" for unit in joints.row_units]
    return [
        Quantity("row", np.arange(len(units), dtype=np.int32), "", "index of the row"),
        Quantity("joint", joints.row_joint, "", "index of its joint"),
        Quantity(
            "name", [names[joint] for joint in joints.row_joint], "", "name of the joint, if it has one"
        ),
        Quantity("label", list(joints.row_labels), "", "what the row belongs to"),
        Quantity("value", reactions.row_force, "N or N·m", "force or torque of the row, mean over the step"),
        Quantity("unit", units, "", "unit of the value"),
    ]
