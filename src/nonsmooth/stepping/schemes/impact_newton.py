"""Impulses of an island of impacts whose Gauss-Seidel sweeps do not converge: proximal points and Newton.

The line through two contacts of a body keeps its length, so their matrix W is singular: impulses that squeeze
the body along that line cause no motion. Friction is often held by such a squeeze, which sweeps build up by a
constant small amount each, until Coulomb's cone limits it after 1e4 or 1e9 sweeps. The proximal point method
needs a few steps for it, and Newton's method makes the result accurate to rounding.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.laws import COULOMB, RELAXED
from nonsmooth.solvers.parts.semismooth import Equations
from nonsmooth.solvers.proximal_point import Island, Proximal
from nonsmooth.stepping.kernels import expansion as expansion_kernels
from nonsmooth.stepping.kernels import impacts as kernels

MOST_CONTACTS = 500
"""Size above which islands stay unfinished: their matrix W is dense here."""
_ACCURATE = 1e-13
"""Residual, relative to the island's speeds, at which Newton's method stops."""
_POINTS = Proximal(radius=1.0)
"""Points of an impact are close to each other: a radius of 1 takes a third fewer steps than the usual 30."""
_SWEEPS = 30
"""Sweeps from zero impulses before the first start of Newton's method."""
_RESTARTS = (0, 100, 1000)
"""The same before further starts, after the earlier ones failed."""


class Found(NamedTuple):
    """What `kernels.impacts.resolve` finds for an island."""

    impulse: Floats
    """(k, 3) in N·s."""
    compression: Floats
    """(k, 3), the part from the compression of contacts that obey Poisson's law."""
    work: float
    """½ γ·(u⁻ + u⁺) in J."""
    turned_over: float
    """Energy in J that the impulses exchange: the scale of its rounding errors."""
    factor: float
    """Factor of the coefficients of restitution."""
    converged: bool

    @property
    def creates_energy(self) -> bool:
        """Whether the work is above rounding."""
        return not self.work <= kernels.GAIN * self.turned_over


def resolve(struck: kernels.Struck, whole: Floats, tilting: float) -> Found:
    """Find the impulses of one island from its matrix W (3k, 3k), as `kernels.impacts.resolve` would."""
    island = _HardIsland(struck, whole, tilting)
    found = island.attempt(1.0)
    if not found.creates_energy:
        return found
    low, high, best, converged = 0.0, 1.0, None, found.converged
    for _ in range(kernels.HALVINGS):
        found = island.attempt(0.5 * (low + high))
        converged = converged and found.converged
        if found.creates_energy:
            high = found.factor
        else:
            low, best = found.factor, found
    if best is None:
        best = island.attempt(0.0)
    return best._replace(converged=converged and best.converged)


class _Phase(NamedTuple):
    """Equations of an impact: 0 ≤ γ_n − given ⟂ u_n + target ≥ 0, friction up to μ γ_n against the slip."""

    velocity: Floats
    """(k, 3) in m/s, before the impact."""
    target: Floats
    given: Floats


class _HardIsland:
    """One island, with a kernel's work arrays for sweeps over it."""

    def __init__(self, struck: kernels.Struck, whole: Floats, tilting: float) -> None:
        k = len(struck.before)
        self._struck, self._whole, self._tilting = struck, whole, tilting
        self._size = float(struck.scale.max())
        self._trial = kernels.Trial(
            np.empty((k, 3)), np.zeros((k, 3)), np.zeros(k), np.zeros(k), np.empty((k, 3)), np.zeros(k),
            np.zeros((0, 6)),
        )  # fmt: skip

    def attempt(self, factor: float) -> Found:
        """Impulses with `factor` times the restitution coefficients, phase by phase."""
        struck, poisson = self._struck, self._struck.poisson
        first, impulse = np.zeros_like(struck.before), np.zeros_like(struck.before)
        still, given, converged = np.zeros(len(first)), np.zeros(len(first)), True
        if poisson.any():
            first, converged = self._solve(_Phase(struck.before, still, still))
            first[~poisson] = 0.0
            given = np.where(poisson, factor * struck.restitution * first[:, 0], 0.0)
        if not poisson.all() or given.any():
            target = np.where(poisson, 0.0, factor * struck.restitution * struck.before[:, 0])
            impulse, done = self._solve(_Phase(struck.before + self._answer(first), target, given))
            converged = converged and done
        total = first + impulse
        after = struck.before + self._answer(total)
        turned_over = np.sum(np.abs(total) * (np.abs(struck.before) + np.abs(after)))
        work = 0.5 * np.sum(total * (struck.before + after))
        return Found(total, first, float(work), float(turned_over), factor, converged)

    def _answer(self, impulses: Floats) -> Floats:
        """W γ."""
        return (self._whole @ impulses.ravel()).reshape(-1, 3)

    def _solve(self, phase: _Phase) -> tuple[Floats, bool]:
        """Impulses of a phase, and whether a sweep would leave them unchanged."""
        equations = _PhaseEquations(self._problem(phase), phase.given)
        scale = self._size * float(equations.root.min())  # in √J, as the residual
        search, restarts = Island(_POINTS, equations, scale, self._swept(phase, _SWEEPS)), iter(_RESTARTS)
        while search.best_residual > _ACCURATE:
            if search.tired:
                sweeps = next(restarts, None)
                if sweeps is None:
                    break
                search.begin_at(self._swept(phase, sweeps))
            search.advance()
        best = equations.root * search.best
        return best, self._sweep(phase, best, 1)

    def _problem(self, phase: _Phase) -> ContactProblem:
        """A phase without its least impulses."""
        free = phase.velocity.copy()
        free[:, 0] += phase.target
        return ContactProblem(
            delassus=self._whole, free_velocity=free.ravel(), friction=self._struck.friction,
            law=COULOMB if self._tilting else RELAXED,
        )  # fmt: skip

    def _swept(self, phase: _Phase, most: int) -> Floats:
        """Impulses after sweeps from zero."""
        self._sweep(phase, np.zeros_like(phase.velocity), most)
        return self._trial.impulse.copy()

    def _sweep(self, phase: _Phase, impulses: Floats, most: int) -> bool:
        """Fill the trial with the result of sweeps over impulses; return whether they converged."""
        trial = self._trial
        trial.target[:], trial.given[:], trial.impulse[:], trial.guess[:] = (
            phase.target, phase.given, impulses, 0.0
        )  # fmt: skip
        trial.velocity[:] = phase.velocity + self._answer(impulses)
        return bool(kernels.sweep(self._struck, trial, self._whole, self._tilting, most))


class _PhaseEquations(Equations):
    """The equations of a contact problem in which some normal impulses have a lower bound `given` > 0."""

    def __init__(self, problem: ContactProblem, given: Floats) -> None:
        exact = problem.law.exact
        super().__init__(
            problem, "alart-curnier" if exact else "natural-map", np.arange(problem.layout.blocks)
        )
        self._given = given / self.root[:, 0]
        self._expanding = given > 0.0
        self._room = np.empty_like(self.F), np.empty_like(self.A), np.empty_like(self.B)

    def natural_map(self, x: Floats, u: Floats) -> float:
        """Size of the natural map in √J; of Alart and Curnier's equations with a lower bound."""
        super().natural_map(x, u)
        if self._expanding.any():
            F, A, B = self._room
            expansion_kernels.fill_expansions(self._given, self.cones.friction, x, u, F, A, B)
            self._squares[self._expanding] = np.square(F[self._expanding]).sum(axis=1)
        return math.sqrt(self._squares.sum())

    def evaluate(self, x: Floats, u: Floats) -> float:
        """Compute F with its derivatives A by x and B by u, and return |F| in √J."""
        size = super().evaluate(x, u)
        if not self._expanding.any():
            return size
        expansion_kernels.fill_expansions(self._given, self.cones.friction, x, u, self.F, self.A, self.B)
        return math.sqrt(np.square(self.F).sum())
