"""What other programs get of a recorded run: named numbers of bodies and contacts, with units.

The same quantities go into files for ParaView and into tables. All vectors are in the world frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.errors import OptionError
from nonsmooth.io.trajectory import RecordedContacts, RecordedFrame, Trajectory
from nonsmooth.model import quaternions
from nonsmooth.model import shapes as kinds
from nonsmooth.view.colours import ColourBy, ContactState, body_values, contact_friction, contact_states

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Quantity:
    """Numbers (n,), vectors (n, 3), quaternions (n, 4) or strings, one for each body or contact."""

    name: str
    values: NDArray[Any] | list[str]
    unit: str
    meaning: str
    words: tuple[str, ...] = ()
    """What the values 0, 1, … stand for, where they are codes; −1 stands for nothing."""


@dataclass(frozen=True, eq=False)
class FrameQuantities:
    """What changes with time, at one frame."""

    number: int
    """Of the frame in its file."""
    frame: RecordedFrame
    bodies: list[Quantity]
    contacts: list[Quantity] | None
    """None where contacts were not recorded."""


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
        return FrameQuantities(
            number,
            frame,
            [*_state(frame), *_loads(frame, contacts, len(trajectory.bodies.mass))],
            None if contacts is None else self._of_contacts(contacts),
        )

    def _of_contacts(self, contacts: RecordedContacts) -> list[Quantity]:
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
    names = [""] * count
    for name, body in bodies.names.items():
        names[body] = name
    material = np.full(count, -1, dtype=np.int32)
    owners, first, parts = np.unique(shapes.body, return_index=True, return_counts=True)
    material[owners] = shapes.material[first]
    radius = np.zeros(count)
    single = (parts == 1) & (shapes.kind[first] == kinds.SPHERE) & ~shapes.offset[first].any(axis=1)
    radius[owners[single]] = shapes.size[first[single], 0]
    return [
        Quantity("body", np.arange(count, dtype=np.int32), "", "index of the body"),
        Quantity("name", names, "", "name of the body, if it has one"),
        Quantity("material", material, "", "of its first shape", trajectory.materials.names),
        Quantity("fixed", bodies.fixed.astype(np.int8), "", "1 where the body cannot be pushed, else 0"),
        Quantity("mass", _finite(bodies.mass), "kg", "NaN where fixed"),
        Quantity("radius", radius, "m", "of bodies that are a sphere, 0 for others"),
        Quantity(
            "bounding_radius", _finite(bodies.bounding_radius), "m", "reach from the centre; NaN for planes"
        ),
    ]


def _finite(values: Floats) -> Floats:
    """Put NaN for infinity, which makes scales of colours useless."""
    return np.where(np.isfinite(values), values, np.nan)


def _state(frame: RecordedFrame) -> list[Quantity]:
    """What was recorded of the bodies' state."""
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


def _loads(frame: RecordedFrame, contacts: RecordedContacts | None, count: int) -> list[Quantity]:
    """What contacts do to the bodies."""
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
