"""Semismooth Newton on the Fischer-Burmeister equations, with restarts at stationary points.

De Luca, Facchinei and Kanzow (2000) for the two kinds of step, Ferris, Kanzow and Munson (1999) for
iterates within the bounds, Billups (2000) for the proximal problems that leave stationary points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import sparse as sp
from nonsmooth._support.options import whole
from nonsmooth.complementarity.base import Iteration, Solver
from nonsmooth.complementarity.kernels.semismooth import merit_function, natural_map
from nonsmooth.complementarity.newton_system import NewtonSystem
from nonsmooth.complementarity.problem import MCP
from nonsmooth.iteration.goal import Goal
from nonsmooth.iteration.status import Status

_DECREASE = 1e-4
"""Fraction of the decrease predicted by the linear model that a step must achieve (Armijo)."""
_SHORTEST = 2.0**-7
"""Step length below which a Newton direction is rejected."""
_FAST = 0.1
"""Factor by which an active-set step must reduce the merit to be accepted."""
_LONG = 1e3
"""Steps longer than this multiple of the point must reduce the merit like active-set steps."""
_MONOTONE = 5
"""Number of first iterations in which the merit must decrease monotonically."""
_WINDOW, _SLOW = 12, 0.9
"""Factor and number of iterations: a merit that decreases by less has stalled."""
_FIRST_DAMPING, _LEAST_DAMPING, _MOST_DAMPING = 1e-3, 1e-14, 1e12
"""Damping of Levenberg-Marquardt steps, relative to the square of the longest column."""
_FLAT = 1e-6
"""A point is stationary if the gradient of ψ is this small relative to ‖Φ‖ and the longest columns so far."""
_ROUNDED = 1e3 * np.finfo(float).eps
"""Size of Φ relative to its terms below which it is rounding."""
_PROXIMAL_FAILURES = 4
"""Number of proximal problems that may fail from one start."""
_PROXIMAL_GOAL = 0.3
"""A proximal problem is solved if its Φ is below this fraction of its term λ‖z − c‖."""
_PROXIMAL_FALL, _PROXIMAL_GROWTH, _PROXIMAL_END = 0.3, 8.0, 1e-8
"""Factors on λ after a solved and a failed proximal problem, and the final fraction of the first λ."""
_DRAWS = 20
"""Random points tried for one restart before the function counts as undefined everywhere."""


@dataclass(frozen=True)
class SemismoothNewton(Solver):
    """Semismooth Newton: H d = −Φ(z), with a non-monotone line search on ψ = ½‖Φ‖².

    Φ has a Fischer-Burmeister function in each row, H is an element of its generalised Jacobian. An
    iteration takes the active-set step of the natural map if that reduces ψ tenfold (it ends linear
    problems in few steps); else the Newton step, shortened until ψ decreases; else a Levenberg-Marquardt
    step with growing damping, which tends to a projected gradient step. If none of them is accepted, the
    point is stationary or nearly so: proximal problems F(z) + λ(z − c) with decreasing λ lead away from
    it, and after them other starts are tried.
    """

    name: ClassVar[str] = "semismooth-newton"
    summary: ClassVar[str] = "semismooth Newton on Fischer-Burmeister equations, sparse and accurate"
    default_iterations: ClassVar[int] = 1000

    feasible: bool = True
    """Evaluate the function within the bounds only: trial points are projected."""
    active_set: bool = True
    """Try the step of the natural map first."""
    memory: int = 5
    """Number of last merits whose largest one the new merit must undercut; 1 gives a monotone line search."""
    proximal: bool = True
    """Leave stationary points by proximal problems."""
    restarts: int = 5
    """Number of other starts, random within the bounds with a fixed seed, after all else failed."""

    def __post_init__(self) -> None:
        whole("SemismoothNewton", "memory", self.memory, 1)
        whole("SemismoothNewton", "restarts", self.restarts)

    def begin(self, problem: MCP, start: Floats, goal: Goal) -> Iteration:
        """Start on a problem."""
        return _SemismoothIteration(self, problem, start, goal)


@dataclass(frozen=True)
class _State:
    """A point with Φ there; the merit is infinite if the function is not finite."""

    point: Floats
    value: Floats
    phi: Floats
    by_z: Floats
    by_f: Floats
    merit: float


class _SemismoothIteration(Iteration):
    def __init__(self, solver: SemismoothNewton, problem: MCP, start: Floats, goal: Goal) -> None:
        super().__init__(problem, start, goal)
        self.solver = solver
        self.start = start
        self.random = np.random.default_rng(0)
        self.restarts = self.proximal_problems = 0
        self.dead_ends: list[tuple[float, Status]] = []
        self._begin_at(start, self.value)

    def _begin_at(self, point: Floats, value: Floats) -> None:
        self.weight, self.first_weight, self.centre = 0.0, 0.0, point
        self.failures_left = _PROXIMAL_FAILURES if self.solver.proximal else 0
        self._begin_equations(point, value)

    def _begin_equations(self, point: Floats, value: Floats) -> None:
        """Discard earlier merits, which do not apply to other equations or another start."""
        self.merits: list[float] = []
        self.damping = _FIRST_DAMPING
        self.active_set_rests = False
        self.lengths = np.zeros(len(point))  # of the columns of H, the longest so far
        self._take(self._state(point, value))

    def _take(self, state: _State) -> None:
        self.state = state
        self.point, self.value, self.merit = state.point, state.value, state.merit
        self.merits.append(state.merit)

    def _shifted(self, point: Floats, value: Floats) -> Floats:
        """F of the proximal problem; F itself if λ = 0."""
        return value + self.weight * (point - self.centre) if self.weight else value

    def _state(self, point: Floats, value: Floats) -> _State:
        phi, by_z, by_f = np.empty((3, len(point)))
        shifted = self._shifted(point, value)
        merit = merit_function(point, shifted, self.problem.lower, self.problem.upper, phi, by_z, by_f)
        return _State(point, value, phi, by_z, by_f, merit if math.isfinite(merit) else math.inf)

    def _try(self, point: Floats) -> _State:
        if self.solver.feasible:
            point = self.problem.clip(point)
        state = self._state(point, self.evaluate.value(point))
        self.defined |= state.merit < math.inf
        return state

    # One iteration.

    def advance(self, count: int, stop: float) -> int:
        with np.errstate(all="ignore"):  # an overflow is a failed trial
            self._iterate()
        return 1

    def _iterate(self) -> None:
        state = self.state
        jacobian = self.evaluate.jacobian(state.point, state.value)
        if not np.isfinite(jacobian.data).all():
            self._leave(Status.UNDEFINED, jacobian)
            return
        self.defined = False
        found = self._active_set_step(jacobian)
        if found is None:
            system = NewtonSystem(jacobian, state.by_z + self.weight * state.by_f, state.by_f)
            self.lengths = np.maximum(self.lengths, system.column_lengths())
            found = self._newton_step(system) or self._damped_step(system)
            if found is None or self._slow(found):
                self._leave(self._dead_end(system), jacobian)
                return
        self._take(found)
        if self.weight:
            self._next_proximal_problem()

    def _active_set_step(self, jacobian: sp.csr_array) -> _State | None:
        """The full step to the solution for the active set of the natural map, if that is much better.

        It costs a factorisation: after a failure it is skipped once.
        """
        if not self.solver.active_set or self.active_set_rests:
            self.active_set_rests = False
            return None
        state = self.state
        phi, by_z, by_f = np.empty((3, len(state.point)))
        shifted = self._shifted(state.point, state.value)
        natural_map(state.point, shifted, self.problem.lower, self.problem.upper, phi, by_z, by_f)
        direction = NewtonSystem(jacobian, by_z + self.weight * by_f, by_f).direction(phi)
        if direction is not None:
            trial = self._try(state.point + direction)
            if trial.merit <= _FAST * state.merit:
                return trial
        self.active_set_rests = True
        return None

    @property
    def _reference(self) -> float:
        """Reference merit of the line search (Grippo, Lampariello and Lucidi)."""
        first = max(_MONOTONE, len(self.merits) - self.solver.memory)
        return max(self.merits[first:], default=self.state.merit)

    def _newton_step(self, system: NewtonSystem) -> _State | None:
        state, reference = self.state, self._reference
        direction = system.direction(state.phi)
        if direction is None:
            return None
        length = 1.0
        while length >= _SHORTEST:
            trial = self._try(state.point + length * direction)
            enough = reference - 2.0 * _DECREASE * length * state.merit
            if trial.merit <= self._asked_of(trial, enough):
                return trial
            length *= 0.5
        return None

    def _damped_step(self, system: NewtonSystem) -> _State | None:
        state, reference = self.state, self._reference
        gradient = system.gradient(state.phi)
        free = self._free(gradient)
        scale = float(system.column_lengths()[free].max(initial=0.0)) ** 2
        while scale > 0.0 and self.damping <= _MOST_DAMPING:
            direction = system.damped_direction(state.phi, self.damping * scale, free)
            if direction is not None:
                trial = self._try(state.point + direction)
                promised = float(gradient @ (trial.point - state.point))
                if promised < 0.0 and trial.merit <= self._asked_of(trial, reference + _DECREASE * promised):
                    self.damping = max(0.1 * self.damping, _LEAST_DAMPING)
                    return trial
            self.damping *= 10.0
        self.damping = _FIRST_DAMPING
        return None

    def _asked_of(self, trial: _State, enough: float) -> float:
        """The merit below which a trial is accepted: singular systems move z so far that digits are lost."""
        reach = 1.0 + np.abs(self.state.point).max(initial=0.0)
        far = np.abs(trial.point - self.state.point).max(initial=0.0) > _LONG * reach
        return min(enough, _FAST * self.state.merit) if far else enough

    def _free(self, gradient: Floats) -> NDArray[np.bool_]:
        """Variables that a gradient step would move."""
        if not self.solver.feasible:
            return np.ones(len(gradient), dtype=bool)
        at_lower = (self.state.point <= self.problem.lower) & (gradient >= 0.0)
        at_upper = (self.state.point >= self.problem.upper) & (gradient <= 0.0)
        return ~(at_lower | at_upper)

    def _slow(self, found: _State) -> bool:
        return len(self.merits) > _WINDOW and found.merit > _SLOW * min(self.merits[:-_WINDOW])

    # Stationary points.

    def _dead_end(self, system: NewtonSystem) -> Status:
        """Status of a point from which no step is accepted."""
        gradient = system.gradient(self.state.phi)
        free = self._free(gradient)
        largest = self.lengths[free] * math.sqrt(2.0 * self.state.merit)
        if (np.abs(gradient[free]) <= _FLAT * largest).all():
            return Status.STATIONARY
        return Status.STALLED if self.defined else Status.UNDEFINED

    def _leave(self, reason: Status, jacobian: sp.csr_array) -> None:
        """Leave a stationary point by proximal problems, then by another start; stop if none is left."""
        if self.weight == 0.0:
            self.dead_ends.append((self.state.merit, reason))
        if self._is_rounding(jacobian):
            self.outcome = Status.STALLED
        elif self.failures_left and np.isfinite(jacobian.data).all():
            self._harder_proximal_problem(jacobian)
        elif self.restarts >= self.solver.restarts or not self._restart():
            self.outcome = min(self.dead_ends, key=lambda dead_end: dead_end[0])[1]
        tried = ((self.proximal_problems, "proximal problem"), (self.restarts, "restart"))
        self.note = " and ".join(f"{n} {what}{'s' if n > 1 else ''}" for n, what in tried if n)

    def _is_rounding(self, jacobian: sp.csr_array) -> bool:
        """Return whether Φ is at the rounding of its terms, so that the tolerance cannot be reached."""
        state = self.state
        of_f = np.abs(state.value) + abs(jacobian) @ np.abs(state.point)
        terms = state.by_z * np.abs(state.point) + state.by_f * of_f
        return self.weight == 0.0 and bool((np.abs(state.phi) <= _ROUNDED * terms).all())

    def _harder_proximal_problem(self, jacobian: sp.csr_array) -> None:
        """Begin with a λ larger than the Jacobian, or increase one that was too small."""
        if self.weight == 0.0:
            self.centre = self.state.point
            self.weight = 2.0 * float(abs(jacobian).sum(axis=1).max(initial=0.0)) or 1.0
            self.first_weight = self.weight
        else:
            self.weight *= _PROXIMAL_GROWTH
            self.failures_left -= 1
        self._begin_proximal_problem()

    def _next_proximal_problem(self) -> None:
        """Move the centre to the solution of a proximal problem and lower λ; back to F itself at the end."""
        own_term = self.weight * float(np.linalg.norm(self.point - self.centre))
        if math.sqrt(2.0 * self.state.merit) > _PROXIMAL_GOAL * own_term:
            return
        self.centre = self.state.point
        self.weight *= _PROXIMAL_FALL
        if self.weight < _PROXIMAL_END * self.first_weight:
            self.weight, self.failures_left = 0.0, 0
        self._begin_proximal_problem()

    def _begin_proximal_problem(self) -> None:
        self.proximal_problems += 1
        value = self.value if self.centre is self.point else self.evaluate.value(self.centre)
        self._begin_equations(self.centre, value)

    def _restart(self) -> bool:
        """Begin at a random point within the bounds, around the first start for infinite bounds."""
        self.restarts += 1
        lower, upper = self.problem.lower, self.problem.upper
        for _ in range(_DRAWS):
            width = 2.0 * np.maximum(1.0, np.abs(self.start)) * 10.0 ** self.random.uniform(-1.0, 1.0)
            beside_upper = np.where(np.isfinite(upper), upper - width, self.start - 0.5 * width)
            low = np.where(np.isfinite(lower), lower, beside_upper)
            high = np.where(np.isfinite(upper), upper, low + width)
            point = self.problem.clip(low + (high - low) * self.random.random(len(lower)))
            value = self.evaluate.value(point)
            if np.isfinite(value).all():
                self._begin_at(point, value)
                return True
        return False
