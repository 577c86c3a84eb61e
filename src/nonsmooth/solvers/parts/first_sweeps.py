"""The first sweeps on a small problem, in one call.

For a handful of contacts, setting up a run and looking at it from outside takes several times as long as
the sweeps themselves. A dash is Gauss-Seidel with momentum from the start to the true residual in one
kernel; where it does not get there, the run that follows starts from where it has come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonsmooth._support.arrays import Floats
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.kernels.operator import Factored
from nonsmooth.solvers.kernels import gauss_seidel as kernels

if TYPE_CHECKING:
    from nonsmooth.solvers.base import Goal


_MOST_BLOCKS = 64
"""Contacts up to which the setup of a run counts."""
_SWEEPS = 100
"""At most some milliseconds, so that time limits and interrupts are not kept waiting."""
_GROWTH = 1.2


class Dash(NamedTuple):
    """Where a dash has come: impulses (blocks, 3), sweeps done, true relative residual."""

    impulses: Floats
    sweeps: int
    residual: float


def dash(problem: ContactProblem, start: Floats, goal: Goal) -> Dash | None:
    """Sweep a small problem without joints; None where that does not fit."""
    operator, layout = problem.operator, problem.layout
    if (
        layout.blocks > _MOST_BLOCKS
        or len(layout.joint_groups)
        or problem.law.sides
        or not operator.applies_by_kernel
    ):
        return None
    scales, x = problem.scales, start.copy()
    form = operator.kernel_form
    run = kernels.dash_factored if isinstance(form, Factored) else kernels.dash_sparse
    sweeps, residual = run(
        *form, *problem.cones, operator.diagonal_blocks,
        problem.free_blocks, scales.island, scales.of_island, scales.whole, x, _GROWTH,
        _SWEEPS if goal.max_iterations is None else min(_SWEEPS, goal.max_iterations), goal.tolerance,
    )  # fmt: skip
    return Dash(x, sweeps, goal.judge(problem, x, residual))
