"""Display of contact forces, shared by pictures and the browser."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.collision.contact_forces import ContactForces

FORCE_COLOUR = (196, 49, 38)
LEAST_ARROW = 0.01
"""Fraction of the force scale below which no arrow is drawn."""
LEAST_CHAIN = 0.02
"""Fraction of the force scale below which a contact is not part of a chain."""


def force_on_movable(contacts: ContactForces, fixed: NDArray[np.bool_]) -> Floats:
    """Return the contact forces (c, 3) in N on body B, or on body A if B is fixed and A is not."""
    still = fixed[contacts.bodies]
    return np.asarray(np.where((still[:, 1] & ~still[:, 0])[:, None], -contacts.force, contacts.force))


def chain_ends(contacts: ContactForces, fixed: NDArray[np.bool_], position: Floats) -> Floats:
    """Return the line (c, 2, 3) in m of every contact between the centres of its bodies.

    At a fixed body, whose centre has no meaning, the line ends at the contact point.
    """
    still = fixed[contacts.bodies][..., None]
    return np.where(still, contacts.point[:, None], position[contacts.bodies])


def arrow_length(body_size: float, diagonal: float) -> float:
    """Return the length in m of the arrow of the force at the top of the scale.

    `body_size` is the radius of a body of medium size, `diagonal` that of the scene, both in m.
    """
    return min(2.5 * body_size, 0.2 * diagonal)
