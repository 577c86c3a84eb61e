"""The first sweeps on a small problem, in one call.

For a handful of contacts, setting up a run and looking at it from outside takes several times as long as
the sweeps themselves. The first sweeps are Gauss-Seidel with momentum from the start to the true residual
in one kernel; where they do not reach the tolerance, the iteration that follows starts from their answer.
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


class FirstSweeps(NamedTuple):
    """What the first sweeps found: impulses (blocks, 3), their number, true relative residual."""

    impulses: Floats
    done: int
    residual: float
    note: str = "picked gauss-seidel: so small a problem is swept in one call"


def sweep_small_problem(problem: ContactProblem, start: Floats, goal: Goal) -> FirstSweeps | None:
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
        problem.free_blocks, scales.island, scales.per_island, scales.total, x, _GROWTH,
        _SWEEPS if goal.max_iterations is None else min(_SWEEPS, goal.max_iterations), goal.tolerance,
    )  # fmt: skip
    return FirstSweeps(x, sweeps, goal.judge(problem, x, residual))
