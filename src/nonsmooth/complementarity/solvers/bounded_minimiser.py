"""Bounded minimisers of scipy, and fides, on problem (2) of a complementarity problem."""

from __future__ import annotations

import importlib
import logging
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import sparse as sp
from nonsmooth._support.options import choice
from nonsmooth.complementarity.base import Evaluations, Iteration, Solver
from nonsmooth.complementarity.certificate import residual_of
from nonsmooth.complementarity.problem import MCP
from nonsmooth.complementarity.quadratic_on_box import Quadratic
from nonsmooth.complementarity.reformulation import Reformulation
from nonsmooth.complementarity.solvers.box_trust_region import promised_decrease
from nonsmooth.errors import MissingSolverError
from nonsmooth.iteration.goal import Goal
from nonsmooth.iteration.status import Status

METHODS = ("slsqp", "l-bfgs-b", "tnc", "trust-constr", "trf", "dogbox", "fides")
_LARGEST_DENSE = 500
"""Largest number of variables x for which matrices are passed as dense."""
_STATIONARY = 1e-16
"""Relative decrease below which moving a single variable is not worthwhile."""
_EVALUATIONS = 50
"""Function evaluations allowed per iteration of the limit."""


@dataclass(frozen=True)
class BoundedMinimiser(Solver):
    """A library's minimiser on problem (2) of Andreani et al., the one that `BoxTrustRegion` minimises.

    Each is given exact gradients; "trust-constr" and "fides" the Gauss-Newton Hessian, "trf" and "dogbox" the
    residuals and their Jacobian. The libraries' stopping tests are set as tight as possible; a run
    also ends when the natural residual is within the tolerance. Iterations are counted by Jacobians.
    """

    name: ClassVar[str] = "bounded-minimiser"
    summary: ClassVar[str] = "scipy's bounded minimisers and fides on problem (2) of Andreani et al."

    method: str = "slsqp"
    """"trf" and "dogbox" (scipy's least_squares), "l-bfgs-b", "tnc", "slsqp" and "trust-constr" (scipy's
    minimize), or "fides" (an optional package)."""

    def __post_init__(self) -> None:
        choice("BoundedMinimiser", "method", self.method, METHODS)

    def check(self, problem: MCP) -> None:
        """Every problem is supported; the method "fides" needs the package."""
        if self.method == "fides":
            _fides()

    def begin(self, problem: MCP, start: Floats, goal: Goal) -> Iteration:
        """Start on a problem, with the optimal slacks of the start."""
        return _LibraryIteration(problem, start, goal, self.method)


class _Enough(Exception):
    """Raised to leave a library's method when the run is complete."""


class _Shared:
    """Problem (2) of the variables that can move, each point evaluated once; the best is kept."""

    def __init__(self, form: Reformulation, calls: Evaluations, run: Iteration) -> None:
        self.form, self._calls, self._run = form, calls, run
        self.moving = np.flatnonzero(form.lower < form.upper)
        self.lower, self.upper = form.lower[self.moving], form.upper[self.moving]
        best = form.best_slacks(form.with_slacks(run.point), run.value)
        self._x, self._function = best, run.value
        self._residual = form.residual(best, run.value)
        self._matrix: sp.csr_array | None = None
        self.best, self.best_function = best, run.value
        self.least = 0.5 * float(self._residual @ self._residual)
        self.first = best[self.moving]

    def residual(self, y: Floats) -> Floats:
        """r, evaluated if this is another point than the last."""
        x = self.form.lower.copy()
        x[self.moving] = np.clip(y, self.lower, self.upper)
        if not np.array_equal(x, self._x):
            self._x, self._matrix = x, None
            self._function = self._calls.value(self.form.point(x))
            self._residual = self.form.residual(x, self._function)
            self._judge()
        return self._residual

    def _judge(self) -> None:
        value = 0.5 * float(self._residual @ self._residual)
        run, problem, z = self._run, self.form.problem, self.form.point(self._x)
        solved = residual_of(problem, z, self._function) <= run.goal.tolerance
        if value < self.least or solved:
            self.best, self.best_function, self.least = self._x, self._function, value
        if solved or run.time_left() <= 1e-3:
            raise _Enough

    def value(self, y: Floats) -> float:
        """½ rᵀr."""
        r = self.residual(y)
        return 0.5 * float(r @ r)

    def matrix(self, y: Floats) -> sp.csr_array:
        """∂r/∂y."""
        self.residual(y)
        if self._matrix is None:
            derivative = self._calls.jacobian(self.form.point(self._x), self._function)
            whole = self.form.matrix(self.form.jacobian(self._x, derivative))
            self._matrix = whole[:, self.moving]
        return self._matrix

    def handed_over(self, y: Floats) -> Any:
        """∂r/∂y, dense if it is small."""
        found = self.matrix(y)
        return found.toarray() if len(self.moving) <= _LARGEST_DENSE else found

    def gradient(self, y: Floats) -> Floats:
        """(∂r/∂y)ᵀ r."""
        return np.asarray(self.matrix(y).T @ self.residual(y))

    def hessian(self, y: Floats) -> Any:
        """(∂r/∂y)ᵀ(∂r/∂y), dense if it is small."""
        jacobian = self.handed_over(y)
        return jacobian.T @ jacobian

    def is_stationary(self) -> bool:
        """Return whether the best point is stationary."""
        form, x = self.form, self.best
        derivative = self._calls.jacobian(form.point(x), self.best_function)
        rows = form.jacobian(x, derivative)
        gradient = form.gradient(form.residual(x, self.best_function), rows)
        promise = promised_decrease(Quadratic(gradient, rows), x, form.lower, form.upper)
        return promise <= _STATIONARY * self.least


class _LibraryIteration(Iteration):
    def __init__(self, problem: MCP, start: Floats, goal: Goal, method: str) -> None:
        super().__init__(problem, start, goal)
        self._method = method
        form = Reformulation(problem)
        with np.errstate(all="ignore"):
            self._shared = _Shared(form, self.evaluate, self)
        self.merit = self._shared.least

    def advance(self, count: int, stop: float) -> int:
        """The whole run of the library's method."""
        shared = self._shared
        ended_itself = False
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # warnings of a library are reflected in the status
            try:
                _call(self._method, shared, count)
                ended_itself = True
            except _Enough:
                pass
            except (ValueError, ArithmeticError, RuntimeError, np.linalg.LinAlgError) as error:
                self.outcome, self.note = Status.FAILED, f"{self._method}: {error}"
        done = max(1, min(self.evaluate.jacobians, count))
        self.point, self.value = shared.form.point(shared.best), shared.best_function
        self.merit = shared.least
        if ended_itself and done < count:
            self.outcome = Status.STATIONARY if shared.is_stationary() else Status.STALLED
        return done


def _call(method: str, shared: _Shared, count: int) -> None:
    """Run one library's method until it ends."""
    if method == "fides":
        _run_fides(shared, count)
        return
    from scipy.optimize import Bounds, least_squares, minimize

    bounds = Bounds(shared.lower, shared.upper)
    if method in ("trf", "dogbox"):
        tight = float(np.finfo(float).eps)
        least_squares(
            shared.residual, shared.first, shared.handed_over, bounds, method=method,
            ftol=tight, xtol=tight, gtol=tight, max_nfev=count,
        )  # fmt: skip
        return
    evaluations = _EVALUATIONS * count
    options: dict[str, Any] = {
        "l-bfgs-b": {"maxiter": count, "maxfun": evaluations, "ftol": 0.0, "gtol": 0.0},
        "tnc": {"maxfun": evaluations, "ftol": 0.0, "xtol": 0.0, "gtol": 0.0},
        "slsqp": {"maxiter": count, "ftol": 1e-40},
        "trust-constr": {"maxiter": count, "gtol": 1e-16, "xtol": 1e-16, "barrier_tol": 1e-16},
    }[method]
    minimize(
        shared.value, shared.first, method=method, jac=shared.gradient, bounds=bounds, options=options,
        hess=shared.hessian if method == "trust-constr" else None,
    )  # fmt: skip


def _run_fides(shared: _Shared, count: int) -> None:
    fides = _fides()
    options = {"maxiter": count, "fatol": 0.0, "frtol": 0.0, "xtol": 0.0, "gatol": 0.0, "grtol": 0.0}

    def all_three(y: Floats) -> tuple[float, Floats, Floats]:
        jacobian = shared.matrix(y).toarray()
        return shared.value(y), shared.gradient(y), jacobian.T @ jacobian

    fides.Optimizer(
        all_three, shared.upper, shared.lower, verbose=logging.CRITICAL, options=options
    ).minimize(shared.first)


def _fides() -> Any:
    try:
        return importlib.import_module("fides")
    except ImportError:
        raise MissingSolverError(
            "BoundedMinimiser(method='fides') needs the package fides: "
            'pip install "nonsmooth[complementarity]"'
        ) from None
