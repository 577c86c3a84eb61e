"""The equations of motion as one mixed complementarity problem, as PATH takes them in TR-2014-11 §4.4."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import sparse as sp
from nonsmooth._support.options import choice, whole
from nonsmooth.complementarity.problem import MCP
from nonsmooth.complementarity.solvers.semismooth_newton import SemismoothNewton
from nonsmooth.errors import UnsupportedError
from nonsmooth.iteration.goal import Goal as PointGoal
from nonsmooth.iteration.status import Status
from nonsmooth.problem.certificate import residual_of
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.solvers.base import Goal, Iteration, Solver
from nonsmooth.solvers.gauss_seidel import GaussSeidel
from nonsmooth.solvers.parts import path

_IN_TERMS_OF_CONTACTS = {Status.STATIONARY: Status.STALLED, Status.UNDEFINED: Status.DIVERGED}
"""Statuses that only a complementarity problem has."""
_RESCUES, _MOST_SWEEPS = 20, 5000
"""Largest number of restarts by sweeps, and of sweeps in one restart."""
_SWEEPS_AT_ONCE = 50
"""Sweeps between two checks of the time."""
_NO_TIME = 1e-3
"""Remaining time in s that counts as zero: `time_left` never returns less."""


@dataclass(frozen=True)
class EquationsOfMotion(Solver):
    """TR-2014-11 Eq. 2 with the optimality conditions of Eq. 2e (Eq. 3), all unknowns at once.

        M v = k + D γ + G λ                                   v free
        0 ≤ γ_n ⟂ u_n ≥ 0          (relaxed: u_n − μ σ)       u = Dᵀv + b
        u_t + σ y = 0                                         y free, γ_t = μ γ_n y
        0 ≤ σ ⟂ ½ (1 − |y|²) ≥ 0                              so that σ = |u_t|, Eq. 4
        lower ≤ λ ≤ upper ⟂ Gᵀv + b_G

    Eq. 3 has γ_t/|γ_t|, which is not defined if friction vanishes, and σ is not determined if the contact is
    open. The fraction y of the friction disk removes both difficulties: all rows are polynomials of degree
    two, and an open contact that moves sideways has one σ and one y. Rows and unknowns are scaled to be
    dimensionless and of size one.
    """

    name: ClassVar[str] = "eom"
    summary: ClassVar[str] = "equations of motion as one mixed complementarity problem, ours or PATH"
    default_iterations: ClassVar[int] = 500

    backend: str = "semismooth-newton"
    """"semismooth-newton", or "path" if GAMSPy, which contains it, is installed."""
    sweeps: int = 0
    """Gauss-Seidel sweeps at the start and, doubled each time, whenever our Newton's method stalls; with 30,
    heaps are solved many times faster. 0 uses the complementarity solver alone, as in the report."""
    max_unknowns: int = 20_000
    """Largest number of unknowns accepted; one sparse factorisation then takes seconds."""

    def __post_init__(self) -> None:
        choice("EquationsOfMotion", "backend", self.backend, ("semismooth-newton", "path"))
        whole("EquationsOfMotion", "sweeps", self.sweeps)
        whole("EquationsOfMotion", "max_unknowns", self.max_unknowns, 1)

    def check(self, problem: ContactProblem) -> None:
        """Raise if masses are not known, if the system is too large, or if PATH is missing."""
        super().check(problem)
        if not problem.has_masses:
            raise UnsupportedError(
                "eom has the velocities among its unknowns and needs masses; this problem is given by its "
                "Delassus matrix: use newton"
            )
        size = len(problem.momentum) + 2 * problem.layout.rows
        if size > self.max_unknowns:
            raise UnsupportedError(
                f"eom would factorise a system of about {size} unknowns (max_unknowns={self.max_unknowns}): "
                "use gauss-seidel, or raise max_unknowns; each factorisation then takes longer"
            )
        if self.backend == "path":
            path.require()

    def begin(self, problem: ContactProblem, start: Floats, goal: Goal) -> Iteration:
        """Start on a problem."""
        kind = _PathIteration if self.backend == "path" else _NewtonIteration
        return kind(problem, start, goal, self.sweeps)


class MotionSystem:
    """The mixed complementarity problem of one contact problem, l ≤ z ≤ u ⟂ A z + c + Σ b z_i z_j.

    z = (v, γ_n, y, σ, λ), each dimensionless: v in multiples of S/√M_kk, γ and λ of S√ρ, σ of S/√ρ, with the
    certificate's weights ρ and its scale S in √J. `mcp` is the problem for any complementarity solver.
    """

    def __init__(self, problem: ContactProblem) -> None:
        self.problem = problem
        layout, cones = problem.layout, problem.cones
        mass = problem.mass_matrix()
        self._scale = problem.scales.total or 1.0
        self._coordinate = 1.0 / np.sqrt(mass.diagonal())
        self._weight = np.sqrt(cones.weight.ravel()[layout.slot])
        contact, component = np.divmod(layout.slot, 3)
        is_joint = np.arange(layout.rows) >= layout.contact_rows
        # rows of the flat vector: normal ones (one for each contact), those of friction, those of joints
        self._normal = np.flatnonzero(~is_joint & (component == 0))
        self._tangent = np.flatnonzero(~is_joint & (component > 0) & (cones.friction[contact] > 0.0))
        self._joint = np.flatnonzero(is_joint)
        # contacts with friction, and the contact of each friction row
        self._rubbing, self._owner = np.unique(contact[self._tangent], return_inverse=True)
        self._friction = cones.friction[self._rubbing]
        counts = [mass.shape[0], *map(len, (self._normal, self._tangent, self._rubbing, self._joint))]
        ends = np.cumsum(counts)
        self._v, self._n, self._y, self._s, self._l = (
            np.arange(end - count, end) for end, count in zip(ends, counts, strict=True)
        )
        self.size = int(ends[-1])
        self.constant = self._constant()
        self.linear, self.products = self._coefficients(mass)
        lower, upper = self._bounds()
        self.mcp = MCP(self.value, lower, upper, jacobian=self.jacobian, name="eom")

    def _constant(self) -> Floats:
        problem = self.problem
        bias = self._weight * np.concatenate([problem.bias, problem.joint_bias]) / self._scale
        momentum = self._coordinate * problem.momentum / self._scale
        disk = np.full(len(self._s), 0.5)
        return np.concatenate([-momentum, bias[self._normal], bias[self._tangent], disk, bias[self._joint]])

    def _coefficients(self, mass: sp.csr_array) -> tuple[sp.csr_array, path.Products]:
        """A, and (row, i, j, b) of every term b z_i z_j."""
        masses, jacobian = mass.tocoo(), self.problem.row_matrix().tocoo()
        to, by = masses.coords
        inertia = self._coordinate[to] * masses.data * self._coordinate[by]
        coordinate, row = jacobian.coords
        entry = self._coordinate[coordinate] * jacobian.data * self._weight[row]
        unknown, owner = np.full((2, len(self._weight)), -1)  # −1: friction rows with μ = 0 are omitted
        unknown[self._normal], unknown[self._tangent], unknown[self._joint] = self._n, self._y, self._l
        owner[self._tangent] = self._owner
        z, contact = unknown[row], owner[row]
        seen, rubs = z >= 0, contact >= 0
        pushes = seen & ~rubs
        linear = [
            (to, by, inertia),
            (coordinate[pushes], z[pushes], -entry[pushes]),
            (z[seen], coordinate[seen], entry[seen]),
        ]
        normal = self._n[self._rubbing]
        if not self.problem.law.exact:
            linear.append((normal, self._s, -self._friction))
        contact, entry = contact[rubs], entry[rubs]
        slack = self._s[self._owner]
        bilinear = [
            (coordinate[rubs], normal[contact], z[rubs], -self._friction[contact] * entry),  # −μ D_t γ_n y
            (self._y, slack, self._y, np.ones(len(self._y))),  # σ y
            (slack, self._y, self._y, np.full(len(self._y), -0.5)),  # −½ |y|²
        ]
        first, second, value = map(np.concatenate, zip(*linear, strict=True))
        in_row, i, j, factor = map(np.concatenate, zip(*bilinear, strict=True))
        matrix = sp.csr_array((value, (first, second)), shape=(self.size, self.size))
        return matrix, (in_row, i, j, factor)

    def _bounds(self) -> tuple[Floats, Floats]:
        lower, upper = np.full(self.size, -np.inf), np.full(self.size, np.inf)
        lower[self._n] = lower[self._s] = 0.0
        unit = self._scale * self._weight[self._joint]
        lower[self._l], upper[self._l] = self.problem.joint_bounds.T / unit
        return lower, upper

    def value(self, z: Floats) -> Floats:
        """A z + c + Σ b z_i z_j."""
        row, i, j, factor = self.products
        bilinear = np.bincount(row, factor * z[i] * z[j], minlength=self.size)
        return np.asarray(self.linear @ z + self.constant + bilinear)

    def jacobian(self, z: Floats) -> sp.csr_array:
        """A + Σ b (z_j by z_i + z_i by z_j)."""
        row, i, j, factor = self.products
        entries = np.concatenate([factor * z[j], factor * z[i]])
        places = (np.concatenate([row, row]), np.concatenate([i, j]))
        return self.linear + sp.csr_array((entries, places), shape=self.linear.shape)

    def start(self, impulses: Floats) -> Floats:
        """z for impulses (blocks, 3): v by the momentum balance, y from the impulses or opposite to u_t."""
        problem, layout = self.problem, self.problem.layout
        flat = layout.unpad(impulses)
        rows = layout.contact_rows
        v = problem.velocity(flat[:rows], flat[rows:])
        u = layout.unpad(problem.operator.apply(impulses) + problem.free_blocks)
        z = np.zeros(self.size)
        z[self._v] = v / (self._scale * self._coordinate)
        z[self._n] = np.maximum(flat[self._normal], 0.0) / (self._scale * self._weight[self._normal])
        z[self._l] = flat[self._joint] / (self._scale * self._weight[self._joint])
        own_normal = self._normal[self._rubbing]
        slip = np.sqrt(self._sum_over_contact(u[self._tangent] ** 2))
        z[self._s] = slip * self._weight[own_normal] / self._scale
        reach = self._friction * flat[own_normal]
        pressed, slides = (reach > 0.0)[self._owner], (slip > 0.0)[self._owner]
        with np.errstate(divide="ignore", invalid="ignore"):
            against = np.where(slides, -u[self._tangent] / slip[self._owner], 0.0)
            used = np.where(pressed, flat[self._tangent] / reach[self._owner], against)
        length = np.sqrt(self._sum_over_contact(used**2))
        z[self._y] = used / np.maximum(length, 1.0)[self._owner]
        return self.mcp.clip(z)

    def impulses(self, z: Floats) -> Floats:
        """Impulses (blocks, 3) of a point z."""
        flat = np.zeros(self.problem.layout.rows)
        flat[self._normal] = self._scale * self._weight[self._normal] * z[self._n]
        flat[self._tangent] = (
            (self._friction * flat[self._normal[self._rubbing]])[self._owner] * z[self._y]
        )  # fmt: skip
        flat[self._joint] = self._scale * self._weight[self._joint] * z[self._l]
        return self.problem.layout.pad(flat)

    def _sum_over_contact(self, values: Floats) -> Floats:
        return np.asarray(np.bincount(self._owner, values, minlength=len(self._rubbing)), dtype=float)


class _MotionIteration(Iteration):
    """A run on the system of a problem, and the sweeps before it."""

    def __init__(self, problem: ContactProblem, start: Floats, goal: Goal, sweeps: int) -> None:
        super().__init__(problem, goal)
        self.start = start
        if sweeps and not residual_of(problem, start) <= goal.tolerance:
            self.start = self._swept(start, sweeps)
        self.system = MotionSystem(problem)

    def _swept(self, impulses: Floats, count: int) -> Floats:
        """Impulses (blocks, 3) after `count` Gauss-Seidel sweeps, or fewer if the time limit is reached."""
        run = GaussSeidel().begin(self.problem, impulses, self.goal)
        done = 0
        while done < count and not self._is_late():
            done += run.advance(min(count - done, _SWEEPS_AT_ONCE), 0.0)
        return run.impulses

    def _is_late(self) -> bool:
        return self.time_left() <= _NO_TIME


class _NewtonIteration(_MotionIteration):
    """Our semismooth Newton, one iteration at a time, judged by the contact problem's own residual."""

    def __init__(self, problem: ContactProblem, start: Floats, goal: Goal, sweeps: int) -> None:
        super().__init__(problem, start, goal, sweeps)
        self.sweeps = sweeps
        self.rescues = 0
        # sweeps restart a stalled iteration, so its slow fallbacks are not needed
        self.method = SemismoothNewton(proximal=False, restarts=0) if sweeps else SemismoothNewton()
        self.best, self.best_residual = self.start, self.residual_of(self.start)
        self._begin(self.start)

    def _begin(self, impulses: Floats) -> None:
        goal = PointGoal(self.goal.tolerance, self.goal.max_iterations, self.goal.time_limit)
        self.inner = self.method.begin(self.system.mcp, self.system.start(impulses), goal)

    @property
    def impulses(self) -> Floats:
        return self.best

    def advance(self, count: int, stop: float) -> int:
        done = 0
        while done < count and self.outcome is None:
            done += self.inner.advance(1, 0.0)
            self._keep(self.system.impulses(self.inner.point))
            if self.best_residual <= self.goal.tolerance:
                self.outcome = Status.SOLVED
            elif self._is_late():
                self.outcome = Status.TIME_LIMIT
            elif self.inner.outcome is not None:
                self._rescue(self.inner.outcome)
        self.own_residual = self.best_residual * self.problem.scales.total
        notes = (f"{self.system.size} unknowns", self.inner.note, self.rescues and f"{self.rescues} rescues")
        self.note = "; ".join(str(note) for note in notes if note)
        return done

    def _keep(self, impulses: Floats) -> None:
        residual = self.residual_of(impulses)
        if residual < self.best_residual:
            self.best, self.best_residual = impulses, residual

    def _rescue(self, ended: Status) -> None:
        """Sweep from the best impulses and restart; stop if sweeps are off or were tried too often."""
        if not self.sweeps or self.rescues >= _RESCUES:
            self.outcome = _IN_TERMS_OF_CONTACTS.get(ended, ended)
            return
        self.rescues += 1
        count = min(self.sweeps * 2**self.rescues, _MOST_SWEEPS)
        self._keep(self._swept(self.best, count))
        self._begin(self.best)


class _PathIteration(_MotionIteration):
    """PATH itself; it cannot be stopped between iterations."""

    def __init__(self, problem: ContactProblem, start: Floats, goal: Goal, sweeps: int) -> None:
        super().__init__(problem, start, goal, sweeps)
        self.point = self.system.start(self.start)

    @property
    def impulses(self) -> Floats:
        return self.system.impulses(self.point)

    def advance(self, count: int, stop: float) -> int:
        system = self.system
        limit = self.goal.max_iterations or EquationsOfMotion.default_iterations
        answer = path.solve(
            system.linear, system.constant, system.products, system.mcp.lower, system.mcp.upper, self.point,
            max(0.01 * self.goal.tolerance, 1e-14), limit, self.time_left(),
        )  # fmt: skip
        self.point, self.outcome, self.note = answer.point, answer.status, f"PATH: {answer.message}"
        self.own_residual = 0.0 if math.isfinite(float(np.abs(answer.point).max(initial=0.0))) else math.nan
        return max(answer.iterations, 1)
