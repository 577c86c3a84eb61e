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
    start, row = np.empty((len(new), 3)), np.empty(len(new), dtype=np.int64)
    kernels.match(old.shapes, old.feature, new.shapes, new.feature, row)
    kernels.carry_over(row, impulses, start)
    return start
