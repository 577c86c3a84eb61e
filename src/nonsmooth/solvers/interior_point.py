"""The relaxed law as a second-order cone program, through a conic interior-point solver."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import sparse as sp
from nonsmooth._support.options import choice, whole
from nonsmooth.errors import MissingSolverError, UnsupportedError
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.solvers.base import Goal, Iteration, Solver
from nonsmooth.solvers.newton import Newton
from nonsmooth.solvers.parts import conic_backends as backends
from nonsmooth.solvers.solve import run_to_goal


@dataclass(frozen=True)
class InteriorPoint(Solver):
    """TR-2014-11 Eqs. 23 and 24: the convex cone problem, in velocities or in impulses.

    form="dual":   min ½ νᵀNν + rᵀν          with γ_i ∈ K_i            (Eq. 24)
    form="primal": min ½ vᵀMv − kᵀv          with Dᵀv + b ∈ K*, Gᵀv + b_G = 0   (Eq. 23)

    γ and λ are the multipliers of the primal form's constraints. Bounds of joint rows are half lines for λ in
    the dual form. In the primal form such a row may move, Gᵀv + b_G = p − n with p, n ≥ 0, at the
    cost −lower·p + upper·n; if a bound is infinite, p or n is omitted.

    Eq. 23 prints +fᵀv and K° for the constraint; with the report's own signs (Eqs. 9 and 22) these are
    −kᵀv and K*. For exact friction use FixedPoint(inner=InteriorPoint()).
    """

    name: ClassVar[str] = "interior-point"
    summary: ClassVar[str] = (
        "conic interior point (Clarabel or Mosek) on the relaxed law, primal or dual form"
    )
    laws: ClassVar[tuple[str, ...]] = ("relaxed",)
    default_iterations: ClassVar[int] = 200
    in_one_call: ClassVar[bool] = True

    form: str = "dual"
    """"dual" (impulses) or "primal" (velocities; needs the masses)."""
    backend: str = "clarabel"
    """"clarabel", or "mosek" if it is installed and licensed."""
    polish: int = 10
    """Newton steps after the interior-point method, which alone ends at about 1e-8; 0 omits them."""

    def __post_init__(self) -> None:
        choice("InteriorPoint", "form", self.form, ("dual", "primal"))
        choice("InteriorPoint", "backend", self.backend, ("clarabel", "mosek"))
        whole("InteriorPoint", "polish", self.polish)

    def check(self, problem: ContactProblem) -> None:
        """Raise if the form or the backend is not available."""
        super().check(problem)
        if self.form == "primal" and not problem.has_masses:
            raise UnsupportedError(
                "InteriorPoint(form='primal') needs masses; this problem is given by its Delassus matrix: "
                "use form='dual'"
            )
        if self.backend == "mosek" and importlib.util.find_spec("mosek") is None:
            raise MissingSolverError(backends.NO_MOSEK)

    def _cure(self, problem: ContactProblem) -> str:
        if problem.law.name == "coulomb":
            return "use FixedPoint(inner=InteriorPoint()), or problem.with_law('relaxed')"
        return super()._cure(problem)

    def begin(self, problem: ContactProblem, start: Floats, goal: Goal) -> Iteration:
        """Start on a problem; an interior-point method ignores the start."""
        return _InteriorPointIteration(self, problem, start, goal)


class _InteriorPointIteration(Iteration):
    def __init__(self, solver: InteriorPoint, problem: ContactProblem, start: Floats, goal: Goal) -> None:
        super().__init__(problem, goal)
        self.solver = solver
        self.x = start

    @property
    def impulses(self) -> Floats:
        return self.x

    def advance(self, count: int, stop: float) -> int:
        build = dual_program if self.solver.form == "dual" else primal_program
        program, read_impulses = build(self.problem)
        # the packages' thresholds are absolute: scaling to size one makes them relative
        scale = self.problem.scales.total
        program = replace(program, linear=program.linear / scale, right=program.right / scale)
        run = backends.clarabel if self.solver.backend == "clarabel" else backends.mosek
        limit = self.goal.max_iterations or self.solver.default_iterations
        # a duality gap ε leaves an error √ε in the impulses, so the gap must be the square of the tolerance
        answer = run(program, (0.1 * self.goal.tolerance) ** 2, limit, self.time_left())
        self.note = f"{self.solver.backend}, {self.solver.form} form: {answer.message}"
        self.outcome = answer.status
        if answer.variables is not None:
            self.x = scale * read_impulses(answer)
            self.own_residual = 0.0
            small = self.problem.layout.blocks <= Newton().max_blocks
            steps = min(self.solver.polish, count - answer.iterations)
            if steps > 0 and small and self.residual() > self.goal.tolerance:
                return int(answer.iterations) + self._polish(steps)
        return min(max(answer.iterations, 1), count)

    def _polish(self, steps: int) -> int:
        goal = Goal(self.goal.tolerance, steps, self.time_left())
        polished = run_to_goal(self.problem, Newton(warm_sweeps=0), self.x, goal)
        self.note += f", {polished.statistics.iterations} Newton steps after it"
        flat = np.concatenate([polished.impulses, polished.joint_impulses])
        self.x = self.problem.layout.pad(flat)  # the best of Newton's iterates, the start included
        return polished.statistics.iterations


def dual_program(problem: ContactProblem) -> tuple[backends.ConicProgram, Any]:
    """Eq. 24 over the impulses, scaled by ρ so that all are in √J; frictionless tangents are omitted."""
    layout, cones = problem.layout, problem.cones
    weight = np.sqrt(cones.weight.ravel()[layout.slot])
    friction = cones.friction[layout.slot // 3]
    first = layout.slot % 3 == 0
    joint = np.arange(layout.rows) >= layout.contact_rows
    kept = np.flatnonzero(joint | first | (friction > 0.0))
    scale = sp.diags_array(weight[kept])
    quadratic = scale @ problem.operator.matrix()[kept][:, kept] @ scale
    q = layout.unpad(problem.free_blocks)
    linear = weight[kept] * q[kept]
    # s = −A x = (μ γ_n, γ_t) must lie in the second-order cone, γ_n ≥ 0 without friction
    cone_rows = np.flatnonzero(~joint[kept])
    factor = np.where(first & (friction > 0.0), friction, 1.0)[kept][cone_rows]
    # s = λ − lower ≥ 0 and s = upper − λ ≥ 0 for finite bounds
    sign, row, bound = _finite_bounds(problem)
    column = np.concatenate([cone_rows, np.searchsorted(kept, row)])
    value = np.concatenate([-factor, sign])
    constraint = sp.csc_array((value, (np.arange(len(column)), column)), shape=(len(column), len(kept)))
    right = np.concatenate([np.zeros(len(cone_rows)), sign * bound / weight[row]])
    sizes = np.bincount(layout.slot[kept][cone_rows] // 3, minlength=layout.contacts)[: layout.contacts]
    program = backends.ConicProgram(
        quadratic, linear, constraint, right, 0, [*(int(size) for size in sizes), *[1] * len(row)]
    )

    def read_impulses(answer: backends.ConicAnswer) -> Floats:
        flat = np.zeros(layout.rows)
        flat[kept] = weight[kept] * answer.variables
        return layout.pad(flat)

    return program, read_impulses


def primal_program(problem: ContactProblem) -> tuple[backends.ConicProgram, Any]:
    """Eq. 23 over the velocity, with coordinates scaled by the masses; the multipliers are the impulses."""
    layout, cones = problem.layout, problem.cones
    mass, rows = problem.mass_matrix(), problem.row_matrix()
    coordinate = 1.0 / np.sqrt(mass.diagonal())
    weight = np.sqrt(cones.weight.ravel()[layout.slot])
    friction = cones.friction[layout.slot // 3]
    first = layout.slot % 3 == 0
    joint = np.arange(layout.rows) >= layout.contact_rows
    kept = np.concatenate(
        [np.flatnonzero(joint), np.flatnonzero(~joint & (first | (friction > 0.0)))]
    )  # joints are equalities and come first
    # s = A v + b, with u_t stretched by μ so that (u_n, μ u_t) lies in the second-order cone
    factor = (weight * np.where(first | joint, 1.0, friction))[kept]
    constraint = -sp.diags_array(factor) @ rows.T.tocsr()[kept] @ sp.diags_array(coordinate)
    bias = factor * np.concatenate([problem.bias, problem.joint_bias])[kept]
    scaled_mass = sp.diags_array(coordinate) @ mass @ sp.diags_array(coordinate)
    cone_rows = kept[int(joint.sum()) :]
    sizes = np.bincount(layout.slot[cone_rows] // 3, minlength=layout.contacts)[: layout.contacts]
    # p and n of the joint rows with bounds, each ≥ 0: additional variables in these rows
    sign, row, bound = _finite_bounds(problem)
    moved = np.arange(len(row))
    slack = sp.csc_array((-sign, (row - layout.contact_rows, moved)), shape=(len(kept), len(row)))
    constraint = sp.block_array([[constraint, slack], [None, -sp.eye_array(len(row))]], format="csc")
    program = backends.ConicProgram(
        sp.block_diag([scaled_mass, sp.csc_array((len(row), len(row)))], format="csc"),
        np.concatenate([-coordinate * problem.momentum, sign * bound / weight[row]]),
        constraint, np.concatenate([bias, np.zeros(len(row))]), int(joint.sum()),
        [*(int(size) for size in sizes), *[1] * len(row)],
    )  # fmt: skip

    def read_impulses(answer: backends.ConicAnswer) -> Floats:
        assert answer.multipliers is not None
        flat = np.zeros(layout.rows)
        flat[kept] = factor * answer.multipliers[: len(kept)]
        return layout.pad(flat)

    return program, read_impulses


def _finite_bounds(problem: ContactProblem) -> tuple[Floats, Any, Floats]:
    """Every finite bound of a joint row: −1 for a lower and 1 for an upper one, its row, its value in N·s."""
    row, side = np.isfinite(problem.joint_bounds).nonzero()
    return np.where(side == 0, -1.0, 1.0), problem.layout.contact_rows + row, problem.joint_bounds[row, side]
