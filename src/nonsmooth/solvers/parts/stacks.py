"""Towers, and the order of their bodies: see `kernels.stacks` and `kernels.bands`."""

from __future__ import annotations

import numpy as np

from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.kernels.operator import Factored
from nonsmooth.solvers.kernels import bands, stacks


def is_tall_stack(problem: ContactProblem) -> bool:
    """Return whether the bodies stand one upon the other, with few on each level."""
    form = problem.operator.kernel_form
    if not isinstance(form, Factored):
        return False
    ground = form.body_count - 1
    level, count = np.empty((2, ground + 1), dtype=np.int64)
    moving, _ = stacks.tower(form.bodies, problem.contacts, ground, level, count, body_order(form))
    return bool(moving >= 0)


def body_order(form: Factored) -> bands.BodyOrder:
    """Room for an order of the bodies."""
    order, start = np.empty((2, form.body_count), dtype=np.int64)
    place = np.empty(form.body_count, dtype=np.int64)
    return bands.BodyOrder(order, place, start, np.empty(2 * len(form.bodies), dtype=np.int64))
