"""Removal of a body from a system."""

from __future__ import annotations

import numpy as np

from nonsmooth._support.arrays import Integers
from nonsmooth.errors import ProblemError
from nonsmooth.model.system import System


def check_removable(system: System, body: int | str) -> int:
    """Return the index of a body without joints; raises with their names if it has any."""
    index = system.index(body)
    held = [number for number, joint in enumerate(system.joints) if index in joint.bodies(system, "")]
    if held:
        names = ", ".join(system.joints.label(number) for number in held)
        raise ProblemError(
            f"{system.label(index)} belongs to {names}: a body that has joints cannot be removed; remove "
            "another one, or begin with a system without the joint"
        )
    return index


def remove_body(system: System, body: int | str) -> Integers:
    """Remove a body with its shapes and the forces on it, in place; higher indices decrease by one.

    Returns for each shape (s,) of before its number now, and −1 for those of the body.
    """
    index = check_removable(system, body)
    kept = np.arange(system.count) != index
    number = np.where(kept, np.cumsum(kept) - 1, -1)
    shapes_kept = system.shapes.body != index
    shape_number = np.where(shapes_kept, np.cumsum(shapes_kept) - 1, -1)
    system._bodies.keep(kept)
    system._shapes.keep(shapes_kept)
    system._shapes["body"][:] = number[system._shapes["body"]]
    system._objects = [shape for shape, stays in zip(system._objects, shapes_kept, strict=True) if stays]
    system._names = {name: int(number[at]) for name, at in system._names.items() if at != index}
    system._ignored = {(int(number[a]), int(number[b])) for a, b in system._ignored if index not in (a, b)}
    system._forces.renumber(number)
    system.joints.renumber(number)
    system._changed()
    return shape_number


def become(system: System, other: System) -> None:
    """Make a system equal to another one, in place."""
    vars(system).update(vars(other.copy()))
