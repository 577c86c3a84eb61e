"""The first sweeps on a small problem, in one call.

For a few contacts, setting up and monitoring a run takes several times as long as the sweeps. The first
sweeps, Gauss-Seidel with momentum up to the true residual, are therefore one kernel call. If they do not
reach the tolerance, the iteration that follows starts from their impulses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonsmooth._support.arrays import Floats
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.kernels.operator import Factored
from nonsmooth.solvers.kernels import gauss_seidel as kernels

if TYPE_CHECKING:
    from nonsmooth.solvers.base import Goal


MOST_BLOCKS = 64
"""Largest number of contacts for which the setup of a run matters."""
SWEEPS = 100
"""Largest number of sweeps: a few milliseconds at most, so that time limits and interrupts take effect."""
GROWTH = 1.2
SMALL = "picked gauss-seidel: a problem this small is solved in one call"


class FirstSweeps(NamedTuple):
    """Result of the first sweeps: impulses (blocks, 3), number of iterations, true relative residual."""

    impulses: Floats
    done: int
    residual: float
    tower: bool = False
    """Whether ADMM was tried on a tower after the sweeps."""
    note: str = SMALL


def most_sweeps(limit: int | None) -> int:
    """Largest number of first sweeps under a limit of iterations."""
    return SWEEPS if limit is None else min(SWEEPS, limit)


def small_enough(problem: ContactProblem) -> bool:
    """Whether a problem is small, and has no joints."""
    layout = problem.layout
    few = layout.blocks <= MOST_BLOCKS and not len(layout.joint_groups)
    return few and not problem.law.sides and problem.operator.applies_by_kernel


def sweep_small_problem(problem: ContactProblem, start: Floats, goal: Goal) -> FirstSweeps:
    """Sweep a small problem."""
    operator = problem.operator
    scales, x = problem.scales, start.copy()
    form = operator.kernel_form
    run = kernels.dash_factored if isinstance(form, Factored) else kernels.dash_sparse
    sweeps, residual = run(
        *form, *problem.cones, operator.diagonal_blocks,
        problem.free_blocks, scales.island, scales.per_island, scales.total, x, GROWTH,
        most_sweeps(goal.max_iterations), goal.tolerance,
    )  # fmt: skip
    return FirstSweeps(x, sweeps, goal.judge(problem, x, residual))
