"""Sources of a Jacobian: the user, finite differences, a complex step, or automatic differentiation.

If the user gives a sparsity pattern, columns that share no row are computed together: the number of
evaluations is the number of colours. SciPy's public helpers (`scipy.optimize.approx_fprime`,
`scipy.differentiate.jacobian`) support neither a pattern nor bounds, so the differences are computed here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth._support.arrays import Floats, Indices
from nonsmooth._support.lazy import sparse as sp
from nonsmooth.complementarity.kernels.colouring import colour_columns
from nonsmooth.errors import MissingPackageError, OptionError, ProblemError

if TYPE_CHECKING:
    from nonsmooth.complementarity.problem import MCP

Function = Callable[[Floats], ArrayLike]

_ROUNDING = float(np.finfo(float).eps)
_IMAGINARY_STEP = 1e-100
"""Its square is negligible, so a complex step has no truncation error."""
_CURE = "write it with autograd.numpy in place of numpy, without assignments to parts of arrays"


class Jacobian:
    """A way to find ∂F/∂z, sparse (rows, size)."""

    evaluations = 0
    """Function evaluations so far."""

    def __call__(self, problem: MCP, z: Floats, value: Floats | None) -> sp.csr_array:
        """∂F/∂z at z; `value` is F(z) if known; evaluations stay within the bounds."""
        raise NotImplementedError


class GivenJacobian(Jacobian):
    """The user's own function."""

    def __init__(self, function: Function, shape: tuple[int, int]) -> None:
        self._function, self._shape = function, shape

    def __call__(self, problem: MCP, z: Floats, value: Floats | None) -> sp.csr_array:
        """The user's Jacobian at z, its shape checked."""
        found: Any = self._function(z)
        if not isinstance(found, sp.csr_array):
            found = np.asarray(found, dtype=float) if not sp.issparse(found) else found
            if np.ndim(found) == 2:
                found = sp.csr_array(found, dtype=float)
        if found.shape != self._shape:
            raise ProblemError(f"the Jacobian has shape {found.shape} and must have {self._shape}")
        return found


class _Pattern:
    """Sparsity pattern of a Jacobian, with the columns (or rows) coloured."""

    def __init__(self, sparsity: Any, shape: tuple[int, int], by_rows: bool = False) -> None:
        if sparsity is None:
            places = sp.csr_array(np.ones(shape))
        else:
            places = sp.csr_array(sparsity, dtype=float)
            places.eliminate_zeros()
            places.sort_indices()
        if places.shape != shape:
            raise ProblemError(f"sparsity has shape {places.shape} and must have {shape}")
        self.shape = shape
        self.indices, self.starts = places.indices, places.indptr
        self.rows = np.repeat(np.arange(shape[0]), np.diff(self.starts))
        if sparsity is None:
            self.colours = np.arange(shape[0 if by_rows else 1], dtype=np.int32)
        else:
            self.colours = colouring(sp.csr_array(places.T) if by_rows else places)
        self.count = int(self.colours.max(initial=-1)) + 1
        self._given = sparsity is not None

    def matrix(self, entries: Floats) -> sp.csr_array:
        found = sp.csr_array((entries, self.indices, self.starts), shape=self.shape, copy=not self._given)
        if not self._given:
            found.eliminate_zeros()  # sparse, though no pattern was given
        return found


class FiniteDifferences(Jacobian):
    """Forward differences, backward ones near the upper bound; one evaluation per colour.

    The step is √ε·max(1, |z|), shortened if the bounds are closer than that. The column of a variable fixed
    by its bounds stays zero: no method moves it.
    """

    def __init__(self, sparsity: Any, shape: tuple[int, int]) -> None:
        self._pattern = _Pattern(sparsity, shape)

    def __call__(self, problem: MCP, z: Floats, value: Floats | None) -> sp.csr_array:
        """The differences at z."""
        pattern = self._pattern
        if value is None:
            value = problem.value(z)
            self.evaluations += 1
        step = _steps(problem, z, np.sqrt(_ROUNDING))
        moved = z + step
        step = moved - z  # the actual step after rounding
        change = np.empty((pattern.count, pattern.shape[0]))
        for colour in range(pattern.count):
            change[colour] = problem.value(np.where(pattern.colours == colour, moved, z)) - value
        self.evaluations += pattern.count
        columns = pattern.indices
        entries = change[pattern.colours[columns], pattern.rows]
        return pattern.matrix(
            np.divide(entries, step[columns], out=np.zeros_like(entries), where=step[columns] != 0.0)
        )


class ComplexStep(Jacobian):
    """Im F(z + ih)/h with a tiny h: exact to rounding, for functions that take complex numbers.

    A function that loses imaginary parts (abs, norm, real, arrays made for real numbers) would silently give
    a wrong Jacobian; the first one is therefore compared with a difference along one direction.
    """

    def __init__(self, sparsity: Any, shape: tuple[int, int]) -> None:
        self._pattern = _Pattern(sparsity, shape)
        self._trusted = False

    def __call__(self, problem: MCP, z: Floats, value: Floats | None) -> sp.csr_array:
        """The derivatives at z."""
        pattern = self._pattern
        slopes = np.empty((pattern.count, pattern.shape[0]))
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            for colour in range(pattern.count):
                point = z + 1j * np.where(pattern.colours == colour, _IMAGINARY_STEP, 0.0)
                slopes[colour] = _complex_value(problem, point).imag / _IMAGINARY_STEP
        self.evaluations += pattern.count
        found = pattern.matrix(slopes[pattern.colours[pattern.indices], pattern.rows])
        if not self._trusted:
            self._compare(problem, z, found)
        return found

    def _compare(self, problem: MCP, z: Floats, found: sp.csr_array) -> None:
        value = problem.value(z)
        if not (np.isfinite(value).all() and np.isfinite(found.data).all()):
            return  # not defined here: check the next point
        comparison = _Comparison(problem, z, value, found)
        every = np.ones(len(z), dtype=bool)
        mismatch = np.maximum(*(comparison.mismatch(group)[0] for group in comparison.sides(every)))
        self.evaluations += 1 + comparison.evaluations
        self._trusted = True
        if mismatch.any():
            raise ProblemError(
                f"jacobian='complex-step': row {int(mismatch.argmax())} of the function loses imaginary "
                "parts (its complex step and a difference disagree): avoid abs, norm, real and float, or use "
                "jacobian='finite-differences'"
            )


class AutomaticDifferentiation(Jacobian):
    """Reverse mode of the `autograd` library, for functions written with autograd.numpy."""

    def __init__(self, sparsity: Any, shape: tuple[int, int]) -> None:
        try:
            from autograd import make_vjp
        except ImportError:
            raise MissingPackageError(
                "jacobian='autograd' needs the autograd library: pip install \"nonsmooth[complementarity]\""
            ) from None
        self._make_vjp = make_vjp
        self._pattern = _Pattern(sparsity, shape, by_rows=True)

    def __call__(self, problem: MCP, z: Floats, value: Floats | None) -> sp.csr_array:
        """The derivatives at z: rows that share no column are found together."""
        pattern = self._pattern
        slopes = np.zeros((pattern.count, pattern.shape[1]))
        first = 0
        for part in problem.parts:
            pull, height = self._trace(part, z)
            mine = pattern.colours[first : first + height]
            for colour in np.unique(mine):
                slopes[colour] += pull((mine == colour).astype(float))
            first += height
            self.evaluations += 1
        return pattern.matrix(slopes[pattern.colours[pattern.rows], pattern.indices])

    def _trace(self, part: Function, z: Floats) -> tuple[Callable[[Floats], Floats], int]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # a constant function is valid
                pull, found = self._make_vjp(part)(z)
        except (TypeError, ValueError, AttributeError) as error:
            raise ProblemError(
                f"jacobian='autograd': the function cannot be traced ({error}): {_CURE}"
            ) from error
        if not isinstance(found, np.ndarray) or found.dtype == object:
            raise ProblemError(
                f"jacobian='autograd': the function cannot be traced (it hides its parts): {_CURE}"
            )
        return pull, len(found)


_WAYS: dict[str, type[FiniteDifferences] | type[ComplexStep] | type[AutomaticDifferentiation]] = {
    "finite-differences": FiniteDifferences,
    "complex-step": ComplexStep,
    "autograd": AutomaticDifferentiation,
}


def jacobian_of(jacobian: Function | str | None, sparsity: Any, shape: tuple[int, int]) -> Jacobian:
    """Return the method that the user chose."""
    if callable(jacobian):
        return GivenJacobian(jacobian, shape)
    way = _WAYS.get("finite-differences" if jacobian is None else jacobian)
    if way is None:
        raise OptionError(f"jacobian={jacobian!r}: give a function, or one of {', '.join(_WAYS)}")
    return way(sparsity, shape)


def colouring(places: sp.csr_array) -> Indices:
    """A colour 0, 1, … for each column of a pattern, such that columns of one colour share no row."""
    by_columns = places.tocsc()
    count = places.shape[1]
    colours, taken = np.full(count, -1, dtype=np.int32), np.full(count, -1, dtype=np.int32)
    colour_columns(places.indptr, places.indices, by_columns.indptr, by_columns.indices, colours, taken)
    return colours


def _steps(problem: MCP, z: Floats, relative: float) -> Floats:
    """Steps within the bounds: forward, or backward if only that fits; 0 if neither does."""
    wanted = relative * np.maximum(1.0, np.abs(z))
    above, below = problem.upper - z, z - problem.lower
    forward = (above >= wanted) | (above >= below)
    return np.where(
        forward, np.minimum(wanted, np.maximum(above, 0.0)), -np.minimum(wanted, np.maximum(below, 0.0))
    )


def _complex_value(problem: MCP, z: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """F(z), complex; lost imaginary parts must be errors in the caller."""
    try:
        parts = [np.asarray(part(z)) for part in problem.parts]
    except (TypeError, np.exceptions.ComplexWarning) as error:
        raise ProblemError(
            f"jacobian='complex-step': the function does not support complex numbers ({error}): use "
            "jacobian='finite-differences'"
        ) from error
    found = np.concatenate([np.atleast_1d(part) for part in parts])
    if found.shape != (problem.rows,):
        raise ProblemError(
            f"the function returned {len(found)} numbers for complex z and must return {problem.rows}"
        )
    if not np.iscomplexobj(found):
        raise ProblemError(
            "jacobian='complex-step': the function returned real numbers for a complex argument and so drops "
            "the imaginary part: use jacobian='finite-differences'"
        )
    return found


_LADDER = tuple(10.0**-k for k in range(2, 10))
"""Relative steps of the differences used to check a Jacobian."""
_FIRST_LOOK = 1e-5
"""Index of the step tried first, which suffices if it agrees."""
_AGREEMENT = 1e-4
"""Tolerated relative mismatch of an entry."""
_DOUBT = 3.0
"""Smallest mismatch reported, as a multiple of the estimated error of the difference."""
_CREDIBLE = 100.0
"""Largest estimated error of an accepted difference, as a multiple of the smallest one."""


def check_jacobian(problem: MCP, z: Floats) -> None:
    """Raise `ProblemError` naming the worst entry if the Jacobian at z differs from differences.

    Central differences (one-sided ones of second order near a bound) are taken with steps of many sizes,
    and those that agree best with their neighbours are accepted; an entry is wrong if it differs from all of
    them by more than three times the difference of neighbours, rounding, and 1e-4 of its size. At a kink all
    values between the slopes of both sides are correct. Columns are grouped by the Jacobian's pattern, and
    missing entries are also found. Columns of variables fixed by their bounds are not checked.
    """
    value = problem.value(z)
    if not np.isfinite(value).all():
        row = int(np.flatnonzero(~np.isfinite(value))[0])
        raise ProblemError(
            f"the Jacobian cannot be checked: row {row} of the function is not finite at this point"
        )
    matrix = problem.jacobian(z, value)
    if not np.isfinite(matrix.data).all():
        entries = matrix.tocoo()
        first = np.flatnonzero(~np.isfinite(entries.data))[0]
        raise ProblemError(
            f"the Jacobian's entry in row {entries.row[first]}, column {entries.col[first]} is not finite, "
            "but the function is: correct the Jacobian, or omit it"
        )
    comparison = _Comparison(problem, z, value, matrix)
    pattern = matrix.copy()
    pattern.eliminate_zeros()
    colours = colouring(pattern)
    worst, found = 0.0, np.empty(0, dtype=np.int64)
    for colour in range(int(colours.max(initial=-1)) + 1):
        for group in comparison.sides(colours == colour):
            mismatch, _ = comparison.mismatch(group)
            if mismatch.max(initial=0.0) > worst:
                worst, found = float(mismatch.max()), group
    if worst == 0.0:
        return
    while len(found) > 1:
        half = found[: len(found) // 2]
        found = half if comparison.mismatch(half)[0].any() else found[len(found) // 2 :]
    mismatch, slopes = comparison.mismatch(found)
    row, column = int(mismatch.argmax()), int(found[0])
    slope = slopes[row] / comparison.base[column]
    raise ProblemError(
        f"the Jacobian's entry in row {row}, column {column} is {matrix[row, column]:.8g}, but differences "
        f"of the function give {slope:.8g}: correct the Jacobian, or omit it"
    )


class _Comparison:
    """A Jacobian beside differences of the function along groups of columns."""

    def __init__(self, problem: MCP, z: Floats, value: Floats, matrix: sp.csr_array) -> None:
        self._problem, self._z, self._value, self._matrix = problem, z, value, matrix
        self._size = abs(matrix) @ np.abs(z) + np.abs(value)
        above, below = problem.upper - z, z - problem.lower
        scale = np.maximum(1.0, np.abs(z))
        self._central = np.minimum(above, below) >= max(_LADDER) * scale
        room = np.where(self._central, np.inf, np.maximum(above, below))
        weights = np.random.default_rng(0).uniform(0.5, 1.0, len(z))  # so that errors do not cancel
        length = weights * np.minimum(scale, room / (2.0 * max(_LADDER)))
        self.base = np.where(above >= below, length, -length)
        """The unit of the steps for each variable: twice the largest step stays within the bounds."""
        self.evaluations = 0

    def sides(self, chosen: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Columns for which central differences fit within the bounds, and those for one-sided ones."""
        moving = chosen & (self.base != 0.0)
        return np.flatnonzero(moving & self._central), np.flatnonzero(moving & ~self._central)

    def mismatch(self, group: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Relative error of each row, 0 if it agrees, and the slopes by differences."""
        if len(group) == 0:
            return np.zeros(self._problem.rows), np.zeros(self._problem.rows)
        direction = np.zeros(len(self._z))
        direction[group] = self.base[group]
        expected = self._matrix @ direction
        low, middle, high, rounding = self._slopes(direction, _FIRST_LOOK)
        if (np.abs(middle - expected) <= rounding + _AGREEMENT * np.abs(expected)).all():
            return np.zeros_like(expected), middle
        with np.errstate(all="ignore"):
            rungs = np.array([self._slopes(direction, step) for step in _LADDER])
            low, middle, high, rounding = np.moveaxis(rungs, 1, 0)
            steps = np.array(_LADDER)[:, None]
            moved = np.maximum(np.abs(low), np.abs(high)) * steps
            quantum = np.where(moved > 0.0, moved, np.inf).min(axis=0)  # values may be quantised
            rounding = rounding + np.where(np.isfinite(quantum), quantum, 0.0) / steps
            change = np.abs(np.diff(middle, axis=0))
            error = np.maximum(change[:-1], change[1:]) + rounding[1:-1]
            error = np.where(np.isfinite(error), error, np.inf)
            outside = np.maximum(np.maximum(low - expected, expected - high), 0.0)[1:-1]
            size = np.maximum(np.abs(expected), np.abs(middle))[1:-1]
            least = error.min(axis=0)
            agrees = (outside <= _DOUBT * error + _AGREEMENT * size) & (error <= _CREDIBLE * least)
            wrong = np.isfinite(least) & ~agrees.any(axis=0)
            # If no change was seen, the values may be coarser than all steps.
            if (wrong & np.isinf(quantum)).any():
                far = self._problem.value(self._problem.clip(self._z + direction))
                wrong &= np.isfinite(quantum) | (far == self._value)
            best = error.argmin(axis=0), np.arange(len(expected))
            return np.where(wrong, (outside / size)[best], 0.0), middle[1:-1][best]

    def _slopes(self, direction: Floats, step: float) -> tuple[Floats, Floats, Floats, Floats]:
        """Smallest, middle and largest slope of F along a direction, and their rounding."""
        self.evaluations += 2
        ahead = self._problem.value(self._z + step * direction)
        with np.errstate(all="ignore"):
            if self._central[direction != 0.0].all():
                other = self._problem.value(self._z - step * direction)
                sides = (ahead - self._value) / step, (self._value - other) / step
                low, high = np.minimum(*sides), np.maximum(*sides)
                middle = 0.5 * (ahead - other) / step
            else:
                other = self._problem.value(self._z + 2.0 * step * direction)
                low = middle = high = (2.0 * (ahead - self._value) - 0.5 * (other - self._value)) / step
            return low, middle, high, 64.0 * _ROUNDING * (self._size + np.abs(ahead) + np.abs(other)) / step
