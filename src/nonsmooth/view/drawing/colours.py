"""Colours of bodies and contacts, with the numbers for a legend."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth._support.arrays import Floats, Pixels
from nonsmooth.collision.contact_forces import ContactForces
from nonsmooth.errors import OptionError
from nonsmooth.io.runs.trajectory import RecordedFrame
from nonsmooth.model.materials import PairTable
from nonsmooth.model.shape_table import ShapeTable

FIXED_COLOUR = (176, 180, 186)
"""Colour of fixed bodies."""

_PALETTE = (
    (76, 120, 168), (245, 133, 24), (84, 162, 75), (228, 87, 86), (114, 183, 178), (238, 202, 59),
    (178, 121, 162), (255, 157, 166), (157, 117, 93), (106, 81, 163), (136, 190, 220), (152, 203, 102),
)  # fmt: skip

_SHARE = 98.0
"""Percentile at the upper end of a scale, so that a few large numbers do not dominate it."""


class ColourBy(StrEnum):
    """Quantity shown by the colour of a body."""

    SPEED = "speed"
    """Speed of its centre of mass in m/s."""
    FORCE = "force"
    """Sum of the magnitudes of the contact forces on it, in N."""
    BODY = "body"
    """Index of the body."""


class ContactState(IntEnum):
    """State of a contact; see `contact_states`."""

    STICK = 0
    """The force is inside the friction cone."""
    SLIDE = 1
    """The force is on the edge of the friction cone: friction is at its limit."""
    SEPARATE = 2
    """The force is zero."""


JOINT_COLOUR = (52, 58, 66)
AT_REST = 1e-3
"""Fraction of the scene per second below which a body is at rest."""
CONTACT_COLOURS: dict[ContactState, tuple[int, int, int]] = {
    ContactState.STICK: (31, 120, 60),
    ContactState.SLIDE: (214, 39, 40),
    ContactState.SEPARATE: (130, 130, 140),
}


@dataclass(frozen=True, eq=False)
class Colours:
    """Colours of the n bodies, and their scale."""

    rgb: Pixels
    """(n, 3) red, green, blue."""
    low: float
    """The number of the first colour of the scale."""
    high: float
    """The number of the last colour, also used for larger ones. NaN without a scale."""
    unit: str
    """m/s, N, or empty without a scale."""
    label: str
    """Name of the numbers; empty without a scale."""


def body_colours(
    by: ColourBy,
    frame: RecordedFrame,
    contacts: ContactForces | None,
    fixed: ArrayLike,
    high: float | None = None,
) -> Colours:
    """Return the colours of the bodies in a frame; fixed bodies are grey.

    `fixed` (n,) marks fixed bodies. The scale goes from 0 to `high` (m/s or N), so that frames of a film can
    share it; the default fits this frame. Forces need `contacts`, speeds need
    the frame's velocities: OptionError if they are missing.
    """
    still = np.asarray(fixed, dtype=bool)
    if by is ColourBy.BODY:
        palette = np.array(_PALETTE, dtype=np.uint8)
        rgb = palette[np.arange(len(still)) % len(palette)]
        scale = (math.nan, math.nan, "", "")
    else:
        values = body_values(by, frame, contacts, len(still))
        top = high if high is not None else scale_top(values[~still])
        share = np.clip(np.nan_to_num(values / top), 0.0, 1.0)
        rgb = scale_colours()[(255.0 * share).round().astype(np.int64)]
        scale = (0.0, top, *_SCALE_WORDS[by])
    rgb = np.where(still[:, None], np.array(FIXED_COLOUR, dtype=np.uint8), rgb)
    return Colours(np.ascontiguousarray(rgb, dtype=np.uint8), *scale)


def body_values(by: ColourBy, frame: RecordedFrame, contacts: ContactForces | None, count: int) -> Floats:
    """Return the number (count,) behind the colour of every body: speed in m/s or contact force in N."""
    if by is ColourBy.SPEED:
        if frame.linear_velocity is None:
            raise OptionError("speeds were not recorded: record linear_velocity, or colour by body")
        return np.asarray(np.linalg.norm(frame.linear_velocity, axis=1))
    if contacts is None:
        raise OptionError("contacts were not recorded: record them, or colour by speed or body")
    force = np.linalg.norm(contacts.force, axis=1)
    total = np.zeros(count)
    for side in range(2):
        total += np.bincount(contacts.bodies[:, side], weights=force, minlength=count)
    return total


def scale_top(values: ArrayLike, least: float = 0.0) -> float:
    """Return the end of a scale from 0: above nearly all values, and not below `least`.

    It is 1, 1.5, 2, 3, 4, 5, 6 or 8 times a power of ten; 1 if all values are 0.
    """
    finite = np.asarray(values, dtype=np.float64)
    finite = finite[np.isfinite(finite)]
    top = float(np.percentile(finite, _SHARE)) if finite.size else 0.0
    top = max(top, least)
    if top < 1e-12:
        return 1.0
    power = 10.0 ** math.floor(math.log10(top))
    return next(
        power * step for step in (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 20.0) if power * step >= top
    )


@cache
def scale_colours() -> Pixels:
    """Return the 256 colours of the scale for numbers, (256, 3): dark blue over green to yellow."""
    from matplotlib import colormaps

    table = np.asarray(colormaps["viridis"](np.arange(256), bytes=True)[:, :3], dtype=np.uint8)
    table.flags.writeable = False
    return table


def legend_text(low: float, high: float, unit: str) -> tuple[str, str]:
    """Return the labels of the lower and the upper end of a scale, such as ("0", "≥ 1.5 m/s")."""
    return number_text(low), f"≥ {number_text(high)} {unit}".rstrip()


def number_text(value: float) -> str:
    """Return a number as text with three digits: 0.05, 1500, 2·10⁻⁵."""
    if value == 0.0 or 1e-4 <= abs(value) < 1e6:
        return str(np.format_float_positional(value, precision=3, fractional=False, trim="-"))
    mantissa, exponent = f"{value:.2e}".split("e")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{mantissa.rstrip('0').rstrip('.')}·10{raised}"


# ---- contacts ---------------------------------------------------------------------------------------

_EDGE = 0.99
"""Fraction of the friction limit above which a contact counts as sliding."""
_NO_FORCE = 1e-6
"""Fraction of the frame's largest normal force below which a contact counts as separated."""


def contact_states(contacts: ContactForces, friction: ArrayLike) -> NDArray[np.int32]:
    """Return the `ContactState` (c,) of every contact, from its force and its friction coefficient (c,).

    A contact slides if its tangential force is at least 99 % of the friction limit, and is separated if
    its normal force is at most a millionth of the frame's largest.
    """
    force = contacts.force
    normal = np.einsum("ij,ij->i", force, contacts.normal)
    tangential = np.linalg.norm(force - normal[:, None] * contacts.normal, axis=1)
    largest = normal.max(initial=0.0)
    states = np.full(len(contacts), ContactState.STICK, dtype=np.int32)
    states[tangential >= _EDGE * np.asarray(friction, dtype=np.float64) * normal] = ContactState.SLIDE
    states[normal <= _NO_FORCE * largest] = ContactState.SEPARATE
    return states


def contact_friction(contacts: ContactForces, shapes: ShapeTable, pairs: PairTable) -> Floats:
    """Return the friction coefficient (c,) of every contact, that of the materials of its two bodies.

    All shapes of a body have the material of the body.
    """
    material = np.zeros(int(contacts.bodies.max(initial=-1)) + 1, dtype=np.int64)
    bodies, first = np.unique(shapes.body, return_index=True)
    known = bodies < len(material)
    material[bodies[known]] = shapes.material[first[known]]
    return np.asarray(pairs.friction[material[contacts.bodies[:, 0]], material[contacts.bodies[:, 1]]])


_SCALE_WORDS = {ColourBy.SPEED: ("m/s", "speed"), ColourBy.FORCE: ("N", "contact force")}
