"""Matching of contacts with those of the previous step, for a warm start of the solver."""

from __future__ import annotations

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.collision.contacts import Contacts
from nonsmooth.collision.kernels import matching as kernels
from nonsmooth.errors import ProblemError


def match_impulses(old: Contacts, impulses: Floats, new: Contacts) -> Floats:
    """Impulses (c, 3) on body B for the new contacts, in N·s in the world frame; zero for unmatched ones.

    Two contacts are the same if shapes and feature agree. `impulses` has a row for each old contact.
    """
    if impulses.shape != (len(old), 3):
        raise ProblemError(
            f"impulses have shape {impulses.shape}, but there are {len(old)} old contacts: "
            f"give shape ({len(old)}, 3)."
        )
    start = np.empty((len(new), 3))
    kernels.carry_over(old.shapes, old.feature, impulses, new.shapes, new.feature, start)
    return start
