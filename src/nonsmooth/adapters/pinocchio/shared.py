"""Shared parts of the Pinocchio adapters: the module itself, frames, and checks of arguments."""

from __future__ import annotations

import importlib
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import MissingPackageError, ProblemError

WORLD = 0
"""Index of Pinocchio's joint for everything that does not move."""
_UNIT = 1e-6
"""Largest difference of a normal's length from 1, and of its cosine with a tangent from 0."""


def load() -> Any:
    """Return the module `pinocchio`, or raise an error with installation instructions."""
    try:
        pinocchio = importlib.import_module("pinocchio")
    except ImportError:
        raise MissingPackageError(
            'Pinocchio is not installed, and robots are read through it: pip install "nonsmooth[robots]"'
        ) from None
    if not hasattr(pinocchio, "computeAllTerms"):
        raise MissingPackageError(
            "the module pinocchio that is installed is not the robotics library: pip uninstall pinocchio, "
            'then pip install "nonsmooth[robots]"'
        )
    return pinocchio


def frame_index(model: Any, frame: str | int) -> int:
    """Return the index of a frame that is given by name or index."""
    if isinstance(frame, str):
        if not model.existFrame(frame):
            names = [repr(each.name) for each in model.frames]
            shown = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
            raise ProblemError(f"frame {frame!r} is not in the model: choose one of {shown}")
        return int(model.getFrameId(frame))
    if not 0 <= frame < model.nframes:
        raise ProblemError(f"frame {frame} is not in the model, which has frames 0 to {model.nframes - 1}")
    return int(frame)


class Geometry(NamedTuple):
    """Checked geometry of a contact: `normal` and `tangent` are unit vectors, `point` is in m."""

    normal: tuple[float, ...]
    tangent: tuple[float, ...] | None
    point: tuple[float, ...] | None


def check_frame(name: str, frame: Any) -> None:
    """Raise if a frame is neither a name nor an index."""
    if not isinstance(frame, str | int | np.integer) or isinstance(frame, bool):
        raise ProblemError(f"{name} is {frame!r}: give a frame's name or index")


def checked_geometry(
    frame: str | int, normal: ArrayLike, tangent: ArrayLike | None, point: ArrayLike | None, friction: float
) -> Geometry:
    """Return the geometry of a contact after checking it, its frame and its friction coefficient."""
    label = f"the contact of frame {frame!r}"
    check_frame("frame", frame)
    up = _direction(label, "normal", normal)
    along = None if tangent is None else _direction(label, "tangent", tangent)
    if along is not None and abs(float(along @ up)) > _UNIT:
        raise ProblemError(
            f"tangent of {label} is {along.tolist()}, which is not across the normal "
            f"{up.tolist()}: give a vector in the plane of contact, or none"
        )
    at = None if point is None else _three_numbers(label, "point", point)
    if not (math.isfinite(friction) and friction >= 0.0):
        raise ProblemError(f"friction of {label} is {friction}: give a number, 0 or more")
    return Geometry(
        tuple(up.tolist()),
        None if along is None else tuple(along.tolist()),
        None if at is None else tuple(at.tolist()),
    )


def axes(normal: ArrayLike, tangent: ArrayLike | None) -> Floats:
    """Rows n, t1, t2 (3, 3) in the world's frame; t1 is chosen if no tangent is given."""
    up = np.asarray(normal, dtype=float)
    if tangent is None:
        across = np.zeros(3)
        across[int(np.argmin(np.abs(up)))] = 1.0
        first = np.cross(across, up)
    else:
        first = np.asarray(tangent, dtype=float)
        first = first - (first @ up) * up
    first = first / np.linalg.norm(first)
    return np.array([up, first, np.cross(up, first)])


def check_kind(name: str, value: Any, kind: Any) -> None:
    """Raise if a value is not of Pinocchio's class `kind`."""
    if not isinstance(value, kind):
        raise ProblemError(f"{name} is a {type(value).__name__}: give a pin.{kind.__name__}")


def joint_vector(name: str, values: ArrayLike, size: int) -> Floats:
    """Return one finite number per velocity of the model."""
    array = np.asarray(values, dtype=float)
    if array.shape != (size,):
        raise ProblemError(f"{name} has shape {array.shape} and the model has nv = {size} velocities")
    if not np.isfinite(array).all():
        raise ProblemError(f"{name} has numbers that are not finite")
    return array


def _three_numbers(label: str, name: str, values: ArrayLike) -> Floats:
    array = np.asarray(values, dtype=float)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise ProblemError(f"{name} of {label} is {values!r}: give three finite numbers")
    return array


def _direction(label: str, name: str, values: ArrayLike) -> Floats:
    array = _three_numbers(label, name, values)
    length = float(np.linalg.norm(array))
    if abs(length - 1.0) > _UNIT:
        cure = f": give {(array / length).tolist()}" if length > 0.0 else ""
        raise ProblemError(f"{name} of {label} has length {length:.6g} and not 1{cure}")
    return array / length
