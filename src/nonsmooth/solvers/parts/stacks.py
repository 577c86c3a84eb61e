"""Detection of towers: many bodies one upon the other, and few beside each other.

In a tower forces pass through many contacts, which takes many sweeps. A linear system over the bodies carries
them from top to bottom at once; it has a narrow band and costs little more than a sweep.
"""

from __future__ import annotations

import numpy as np

from nonsmooth._support.lazy import csgraph
from nonsmooth._support.lazy import sparse as sp
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.kernels.operator import Factored
from nonsmooth.solvers.kernels import stacks as kernels

_LEVELS = 8
"""Number of bodies one upon the other, from ground, that make a tower."""
_WORK = 100
"""Largest number of band entries per contact for which the system is cheap."""
_ROUGH = 4
"""Allowed ratio of level width to band width; levels are counted first because that is faster."""


def is_tall_stack(problem: ContactProblem) -> bool:
    """Return whether the bodies stand one upon the other, with few on each level.

    Bodies that hang on joints do not count: a sweep carries a force through all joints at once.
    """
    form = problem.operator.kernel_form
    if not isinstance(form, Factored):
        return False
    ground, contacts = form.body_count - 1, problem.contacts
    level = np.empty(ground + 1, dtype=np.int64)
    highest = kernels.levels(form.bodies[:contacts], ground, level)
    if highest < _LEVELS:
        return False
    count = np.bincount(level[level > 0])
    coordinates = 6 * int(count.sum())
    if coordinates * 6 * int((count[1:] + count[:-1]).max()) > _ROUGH * _WORK * contacts:
        return False
    return coordinates * band_of(form)[1] <= _WORK * contacts


def band_of(form: Factored) -> tuple[np.ndarray, int]:
    """Moving bodies that are touched, ordered so that neighbours are close, and the band's width in rows."""
    ground = form.body_count - 1
    touched, pairs = np.unique(form.bodies, return_inverse=True)
    pairs, moving = pairs.reshape(-1, 2), len(touched) - int(touched[-1] == ground)
    inner = pairs[(pairs < moving).all(axis=1)]
    ends = np.concatenate([inner, inner[:, ::-1]]).T
    graph = sp.csr_array((np.ones(ends.shape[1]), (ends[0], ends[1])), shape=(moving, moving))
    order = csgraph.reverse_cuthill_mckee(graph, symmetric_mode=True)
    near = np.argsort(order)[inner]
    width = 6 * int(np.abs(np.diff(near, axis=1)).max(initial=0)) + 5
    return touched[order].astype(np.int64), width
