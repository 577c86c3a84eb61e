"""The paper's method, BOX-QUACAN: a trust region of the infinity norm for minimisation on a box.

Friedlander, Martínez and Santos, Appl. Math. Optim. 30 (1994). The trust region is a box too, so that each
iteration minimises a quadratic on a box. `TrustRegion` and `minimise` take any smooth function;
`BoxTrustRegion` minimises problem (2) of a complementarity problem.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.kernel_clock import work_seconds
from nonsmooth._support.options import choice, positive, whole
from nonsmooth.complementarity.base import Evaluations, Iteration, Solver
from nonsmooth.complementarity.certificate import residual_of
from nonsmooth.complementarity.problem import MCP
from nonsmooth.complementarity.quadratic_on_box import (
    NO_ROWS,
    Quadratic,
    default_products,
    minimise_quadratic,
)
from nonsmooth.complementarity.reformulation import Reformulation
from nonsmooth.errors import OptionError
from nonsmooth.iteration.goal import Goal
from nonsmooth.iteration.status import Status

_SHRINK, _GROW = 0.25, 4.0
_POOR, _GOOD = 0.25, 0.75
"""Ratios of actual to predicted decrease below which the trust region shrinks and above which it grows."""
_LEAST_SIZE = 0.1
"""Smallest size of a variable in the scaling of the trust region."""
_ROUNDING = 10.0 * float(np.finfo(float).eps)
"""Relative change of the objective that rounding can cause."""
_ROUNDED = 1e-24
"""Relative objective below which a stationary point is caused by rounding."""
_FACES, _LAST_ACCURACY = 3, 1e-12
"""Largest number of faces tried at the end, and the accuracy of the least-squares solves there."""
_TRIED = 200
"""Number of products used to estimate the time of one, if time is limited."""
_LARGEST_REFINED = 200
"""Largest number of variables for which "adaptive" uses differences of Jacobians."""


class Objective(Protocol):
    """A smooth function on a box."""

    lower: Floats
    upper: Floats

    def evaluate(self, x: Floats) -> tuple[Floats, float]:
        """The function at x, NaN or infinity if it is not defined, and the point of this value.

        The point is x, or a better one within the box that needs no further evaluation.
        """

    def quadratic(self, x: Floats) -> Quadratic:
        """Gradient and Hessian at x, the point that was evaluated last."""

    def refined(self) -> Quadratic | None:
        """The same with a better, more expensive Hessian, after a rejected step; None if there is none."""


@dataclass(frozen=True)
class TrustRegionOptions:
    """Options of the trust region and of the quadratics inside it. Radii are half sides of the box."""

    first_radius: float = 1.0
    """First radius. A variable x_j may move by radius · max(|x_j|, 0.1)."""
    least_radius: float = 1e-3
    """Smallest radius at the beginning of an iteration."""
    smallest_radius: float = 1e-14
    """Radius below which the method stops."""
    acceptance: float = 0.1
    """Smallest ratio of actual to predicted decrease of an accepted trial point; below 1."""
    inner_accuracy: float = 0.1
    """Reduction of the projected gradient at which the minimisation of a quadratic ends; below 1. It is
    tightened towards the end."""
    leave: float = 2.0
    """Ratio of the chopped gradient to the gradient inside a face above which the face is left."""
    max_products: int | None = None
    """Limit of products for one quadratic; 20 n + 2000, but no more than 50,000, unless given."""
    gradient_tolerance: float = 1e-8
    """A point is stationary if no single variable can reduce the objective by this, squared, times it."""

    def __post_init__(self) -> None:
        for name in (
            "first_radius", "least_radius", "smallest_radius", "acceptance", "inner_accuracy", "leave",
            "gradient_tolerance",
        ):  # fmt: skip
            positive(type(self).__name__, name, getattr(self, name))
        for name in ("acceptance", "inner_accuracy"):
            if getattr(self, name) >= 1.0:
                raise OptionError(
                    f"{type(self).__name__}({name}={getattr(self, name)!r}): it must be below 1"
                )
        if self.max_products is not None:
            whole(type(self).__name__, "max_products", self.max_products, 1)


class TrustRegion:
    """The method at work: a point, its value and the radius; `iterate` goes to the next point.

    `time_left` returns the remaining time in s; a quadratic is left when it is used up.
    """

    def __init__(
        self,
        objective: Objective,
        x: Floats,
        value: float,
        options: TrustRegionOptions,
        time_left: Callable[[], float] = lambda: math.inf,
    ) -> None:
        self.objective, self.options, self._time_left = objective, options, time_left
        self.x, self.value = x, value
        self.radius = options.first_radius
        self.inner_iterations = 0
        """Iterations inside the quadratics so far, ItQua."""
        self.products = 0
        """Products with Hessians so far, MVP."""
        self._first_promise: float | None = None
        self._seconds = 0.0
        """Time spent on products so far, in s."""

    def iterate(self) -> Status | None:
        """Move to the next point; return None, or STATIONARY, STALLED or UNDEFINED if there is none."""
        objective, options = self.objective, self.options
        quadratic = objective.quadratic(self.x)
        if not (np.isfinite(quadratic.gradient).all() and np.isfinite(quadratic.metric).all()):
            return Status.UNDEFINED
        promise = promised_decrease(quadratic, self.x, objective.lower, objective.upper)
        if promise <= options.gradient_tolerance**2 * abs(self.value):
            return Status.STATIONARY
        if self._first_promise is None:
            self._first_promise = promise
        accuracy = min(options.inner_accuracy, math.sqrt(promise / self._first_promise))
        self.radius = max(self.radius, options.least_radius)
        reach = np.maximum(np.abs(self.x), _LEAST_SIZE)
        noise = _ROUNDING * abs(self.value)
        refinable, failure = True, Status.STALLED
        while self.radius > options.smallest_radius:
            began = work_seconds()
            found = minimise_quadratic(
                quadratic,
                np.maximum(objective.lower - self.x, -self.radius * reach),
                np.minimum(objective.upper - self.x, self.radius * reach),
                accuracy=accuracy,
                leave=options.leave,
                max_products=self._most_products(),
            )
            self._seconds += work_seconds() - began
            self.inner_iterations += found.iterations
            self.products += found.products
            if not found.change < 0.0:
                return Status.STALLED
            trial = np.clip(self.x + found.step, objective.lower, objective.upper)
            trial, value = objective.evaluate(trial)
            ratio = (
                (self.value - value + noise) / (noise - found.change) if math.isfinite(value) else -math.inf
            )
            length = float((np.abs(found.step) / reach).max())
            if ratio >= options.acceptance:
                self._resize(ratio, length)
                self.x, self.value = trial, value
                return None
            failure = Status.STALLED if math.isfinite(value) else Status.UNDEFINED
            better = objective.refined() if refinable else None
            refinable = False
            quadratic = quadratic if better is None else better
            self.radius = _SHRINK * min(length, self.radius)
        return failure

    def _most_products(self) -> int | None:
        """Number of products allowed by the options and the time limit."""
        left = self._time_left()
        if math.isinf(left):
            return self.options.max_products
        most = (
            default_products(len(self.x)) if self.options.max_products is None else self.options.max_products
        )
        if self.products < _TRIED:
            return min(most, _TRIED)
        return max(1, min(most, int(left * self.products / self._seconds)))

    def _resize(self, ratio: float, length: float) -> None:
        if ratio < _POOR:
            self.radius = 0.5 * length
        elif ratio >= _GOOD and length >= 0.99 * self.radius:
            self.radius *= _GROW


def promised_decrease(quadratic: Quadratic, x: Floats, lower: Floats, upper: Floats) -> float:
    """Largest decrease of the quadratic by one variable alone, up to a factor of ½ to 1."""
    slope = np.abs(quadratic.gradient)
    room = np.where(quadratic.gradient > 0.0, x - lower, upper - x)
    return float((slope * np.minimum(slope * quadratic.metric, room)).max(initial=0.0))


@dataclass(frozen=True)
class Minimum:
    """Result of `minimise`."""

    x: Floats
    value: float
    status: Status
    """STATIONARY if the projected gradient is at rounding level, or the reason for the end."""
    iterations: int
    inner_iterations: int
    products: int


def minimise(
    objective: Objective,
    start: Floats,
    options: TrustRegionOptions | None = None,
    *,
    max_iterations: int = 1000,
) -> Minimum:
    """Minimise a smooth function on a box, from the point of the box nearest to `start`."""
    x, value = objective.evaluate(np.clip(start, objective.lower, objective.upper))
    method = TrustRegion(objective, x, value, options or TrustRegionOptions())
    status, iterations = None, 0
    while status is None:
        if iterations >= max_iterations:
            status = Status.ITERATION_LIMIT
        else:
            status = method.iterate()
            iterations += status is None
    return Minimum(method.x, method.value, status, iterations, method.inner_iterations, method.products)


@dataclass(frozen=True)
class BoxTrustRegion(TrustRegionOptions, Solver):
    """BOX-QUACAN on problem (2) of Andreani et al., for every complementarity problem.

    Its statistics are those of the paper's tables: iterations ItBox, function_evaluations FE,
    inner_iterations ItQua and products MVP.
    """

    name: ClassVar[str] = "box-trust-region"
    summary: ClassVar[str] = "trust region of boxes on problem (2) of Andreani et al. (BOX-QUACAN)"

    hessian: str = "bilinear"
    """"gauss-newton": JᵀJ. "bilinear": with the exact curvature of the complementarity sum. "full": also
    with that of F, by differences of Jacobians, one for each variable. "adaptive": bilinear, and full at a
    point where a trial was rejected, if there are 200 variables z or fewer."""

    def __post_init__(self) -> None:
        super().__post_init__()
        choice("BoxTrustRegion", "hessian", self.hessian, ("gauss-newton", "bilinear", "full", "adaptive"))

    def check(self, problem: MCP) -> None:
        """Every problem is supported, also with more or fewer functions than variables."""

    def begin(self, problem: MCP, start: Floats, goal: Goal) -> Iteration:
        """Start on a problem, with the optimal slacks of the start."""
        return _BoxIteration(problem, start, goal, self)


class _ProblemTwo:
    """½ rᵀr of problem (2), with cached data of the point accepted last."""

    def __init__(self, form: Reformulation, calls: Evaluations, hessian: str) -> None:
        self.form, self.lower, self.upper = form, form.lower, form.upper
        self._calls, self._hessian = calls, hessian
        problem = form.problem
        self._refinable = (
            hessian == "adaptive" and problem.matrix is None and problem.size <= _LARGEST_REFINED
        )
        self.function = np.empty(0)
        """F at the point evaluated last."""
        self._residual = np.empty(0)

    def evaluate(self, x: Floats) -> tuple[Floats, float]:
        """½ rᵀr at the z of x with the optimal slacks."""
        return self.evaluate_known(x, self._calls.value(self.form.point(x)))

    def evaluate_known(self, x: Floats, function: Floats, settle: bool = True) -> tuple[Floats, float]:
        """The same for known F, or with unchanged slacks if not `settle`."""
        self.function = function
        with np.errstate(all="ignore"):
            best = self.form.best_slacks(x, function) if settle else x
            self._residual = self.form.residual(best, function)
            return best, 0.5 * float(self._residual @ self._residual)

    def quadratic(self, x: Floats) -> Quadratic:
        form, r = self.form, self._residual
        derivative = self._calls.jacobian(form.point(x), self.function)
        rows = form.jacobian(x, derivative)
        self._here = x, r, derivative
        symmetric = NO_ROWS if self._hessian == "gauss-newton" else form.bilinear(r)
        if self._hessian == "full" and form.problem.matrix is None:
            symmetric = form.curvature(self._calls, x, r, derivative)
        self._known = Quadratic(form.gradient(r, rows), rows, symmetric)
        return self._known

    def refined(self) -> Quadratic | None:
        if not self._refinable:
            return None
        return replace(self._known, symmetric=self.form.curvature(self._calls, *self._here))


class _BoxIteration(Iteration):
    def __init__(self, problem: MCP, start: Floats, goal: Goal, solver: BoxTrustRegion) -> None:
        super().__init__(problem, start, goal)
        form = Reformulation(problem)
        self._two = _ProblemTwo(form, self.evaluate, solver.hessian)
        x, self.merit = self._two.evaluate_known(form.with_slacks(self.point), self.value)
        self._first = self.merit
        time_left = self.time_left if math.isfinite(goal.time_limit) else lambda: math.inf
        self._method = TrustRegion(self._two, x, self.merit, solver, time_left)

    def advance(self, count: int, stop: float) -> int:
        """One accepted step; if there is none left, the last digits within a face."""
        method, two = self._method, self._two
        with np.errstate(over="ignore", invalid="ignore"):
            self.outcome = method.iterate()
        self.merit = method.value
        self.inner_iterations, self.products = method.inner_iterations, method.products
        if self.outcome is None:
            self.point, self.value = two.form.point(method.x), two.function
        elif self.merit <= _ROUNDED * max(1.0, self._first):
            self.outcome = Status.STALLED
            self._finish_in_face()
        return 1

    def _finish_in_face(self) -> None:
        """Move to the nearest face with one of each pair at its bound, and to the least-squares point there.

        If a variable and its slack both tend to zero, their product is lost in rounding at values of 1e-8:
        the objective then has no significant digits, and the natural residual is still large.
        """
        two, form = self._two, self._two.form
        best = residual_of(self.problem, self.point, self.value)
        for _ in range(_FACES):
            x, held = form.nearest_face(self._method.x, self.value)
            two.evaluate_known(x, self.evaluate.value(form.point(x)), settle=False)
            quadratic = replace(two.quadratic(x), symmetric=NO_ROWS)
            found = minimise_quadratic(
                quadratic,
                np.where(held, 0.0, form.lower - x),
                np.where(held, 0.0, form.upper - x),
                accuracy=_LAST_ACCURACY,
            )
            self.inner_iterations += found.iterations
            self.products += found.products
            x, merit = two.evaluate(np.clip(x + found.step, form.lower, form.upper))
            residual = residual_of(self.problem, form.point(x), two.function)
            if not residual < best:
                break
            best, self.merit, self._method.x = residual, merit, x
            self.point, self.value = form.point(x), two.function
