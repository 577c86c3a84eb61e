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
"""Size that the trust region takes a smaller variable for."""
_ROUNDING = 10.0 * float(np.finfo(float).eps)
"""Relative change of the objective that rounding can make."""
_ROUNDED = 1e-24
"""Relative objective below which a stationary point is one of rounding."""
_FACES, _LAST_ACCURACY = 3, 1e-12
"""Most faces that are tried at the end, and the accuracy of the least squares there."""
_TRIED = 200
"""Products by which the time of one is judged, where time is limited."""
_LARGEST_REFINED = 200
"""Most variables for which "adaptive" takes differences of Jacobians."""


class Objective(Protocol):
    """A smooth function on a box."""

    lower: Floats
    upper: Floats

    def evaluate(self, x: Floats) -> tuple[Floats, float]:
        """The function at x, NaN or infinity where it is not defined, and the point that it belongs to.

        The point is x, or one within the box that is known to be better without another evaluation.
        """

    def quadratic(self, x: Floats) -> Quadratic:
        """Gradient and Hessian at x, the point that was evaluated last."""

    def refined(self) -> Quadratic | None:
        """The same with a dearer and better Hessian, asked for after a refusal; None where there is none."""


@dataclass(frozen=True)
class TrustRegionOptions:
    """How the trust region and the quadratics inside it are treated. Radii are half sides of the box."""

    first_radius: float = 1.0
    """First radius. A variable x_j may move by radius · max(|x_j|, 0.1)."""
    least_radius: float = 1e-3
    """Radius with which an iteration begins at least."""
    smallest_radius: float = 1e-14
    """Radius below which the method gives up."""
    acceptance: float = 0.1
    """Least ratio of actual to predicted decrease with which a trial point is accepted; below 1."""
    inner_accuracy: float = 0.1
    """A quadratic is minimised until its projected gradient is at most so many times what it was; below 1.
    It becomes smaller towards the end."""
    leave: float = 2.0
    """A face is left when the chopped gradient is so many times as long as the gradient inside the face."""
    max_products: int | None = None
    """Limit of products for one quadratic; 20 n + 2000, but no more than 50,000, unless given."""
    gradient_tolerance: float = 1e-8
    """A point is stationary when no variable alone can reduce the objective by this, squared, times it."""

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

    `time_left` tells how many seconds there are; a quadratic is left when they are over.
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
        """Spent on products so far."""

    def iterate(self) -> Status | None:
        """Go to the next point: None, or STATIONARY, STALLED or UNDEFINED where there is none."""
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
        """Products that the options allow and that there is time for."""
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
    """Largest decrease of the quadratic that one variable alone can bring, but for a factor of ½ to 1."""
    slope = np.abs(quadratic.gradient)
    room = np.where(quadratic.gradient > 0.0, x - lower, upper - x)
    return float((slope * np.minimum(slope * quadratic.metric, room)).max(initial=0.0))


@dataclass(frozen=True)
class Minimum:
    """What `minimise` found."""

    x: Floats
    value: float
    status: Status
    """STATIONARY where the projected gradient is at rounding level, or why there is no such point."""
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
    """Minimise a smooth function on a box, from the point of the box that is nearest to `start`."""
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
    """"gauss-newton": JᵀJ. "bilinear": with the exact curvature of the complementarity sum. "full": with that
    of F too, by differences of Jacobians, one for each variable. "adaptive": bilinear, and full at a point
    where a trial was refused, if there are 200 variables z or fewer."""

    def __post_init__(self) -> None:
        super().__post_init__()
        choice("BoxTrustRegion", "hessian", self.hessian, ("gauss-newton", "bilinear", "full", "adaptive"))

    def check(self, problem: MCP) -> None:
        """Every problem will do, also one with more or fewer functions than variables."""

    def begin(self, problem: MCP, start: Floats, goal: Goal) -> Iteration:
        """Start on a problem, with the slacks that suit the start."""
        return _BoxIteration(problem, start, goal, self)


class _ProblemTwo:
    """½ rᵀr of problem (2), with what is known of the point that was accepted last."""

    def __init__(self, form: Reformulation, calls: Evaluations, hessian: str) -> None:
        self.form, self.lower, self.upper = form, form.lower, form.upper
        self._calls, self._hessian = calls, hessian
        problem = form.problem
        self._refinable = (
            hessian == "adaptive" and problem.matrix is None and problem.size <= _LARGEST_REFINED
        )
        self.function = np.empty(0)
        """F at the point that was evaluated last."""
        self._residual = np.empty(0)

    def evaluate(self, x: Floats) -> tuple[Floats, float]:
        """½ rᵀr at the z of x with the slacks that are best there."""
        return self.evaluate_known(x, self._calls.value(self.form.point(x)))

    def evaluate_known(self, x: Floats, function: Floats, settle: bool = True) -> tuple[Floats, float]:
        """The same where F is known, or with the slacks as they are if not `settle`."""
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
        """One accepted step; where there is none any more, the last digits in a face."""
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
        """Go to the nearest face that takes one of each pair to its bound, and to the least squares there.

        Where a variable and its slack both tend to zero, their product is lost in rounding when they are no
        smaller than 1e-8: the objective then has no more digits, and the natural residual is still large.
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
