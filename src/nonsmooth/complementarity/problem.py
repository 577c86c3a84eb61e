"""Mixed, linear and mixed nonlinear complementarity problems.

    l ≤ z ≤ u ⟂ F(z):   z_i = l_i ⇒ F_i ≥ 0,   z_i = u_i ⇒ F_i ≤ 0,   l_i < z_i < u_i ⇒ F_i = 0

Every problem of this package has this form. A nonlinear complementarity problem has l = 0 and u = ∞; an
equation belongs to a variable without bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import sparse as sp
from nonsmooth.complementarity.jacobians import Jacobian, jacobian_of
from nonsmooth.errors import ProblemError

Function = Callable[[Floats], ArrayLike]


class MCP:
    """Mixed complementarity problem: find z with l ≤ z ≤ u ⟂ F(z).

    Args:
        function: F, called with z as a read-only array (n,), returns n numbers.
        lower: l, one number for all or one for each variable; −inf for none.
        upper: u, the same; +inf for none.
        jacobian: a function of z that returns ∂F/∂z, dense or sparse (n, n), or a method:
            "finite-differences" (the default), "complex-step" or "autograd".
        sparsity: pattern of the nonzeros of the Jacobian, (n, n); differences then need few evaluations.
        start: default start of `solve`; the point within the bounds nearest to 0 if not given.
        name: how messages call the problem.
    """

    matrix: sp.csr_array | None = None
    """The Jacobian of an affine problem; None if it may change."""

    def __init__(
        self,
        function: Function,
        lower: ArrayLike,
        upper: ArrayLike,
        *,
        jacobian: Function | str | None = None,
        sparsity: Any = None,
        start: ArrayLike | None = None,
        name: str = "",
    ) -> None:
        self.name = name
        self.lower, self.upper = _bounds(lower, upper, start)
        self.size = len(self.lower)
        self._function = function
        self.jacobian_by: Jacobian = jacobian_of(jacobian, sparsity, (self.rows, self.size))
        wanted = np.zeros(self.size) if start is None else _vector("start", start, self.size)
        self.start = self.clip(wanted)
        self.moved_at_start = 0 if start is None else int(np.count_nonzero(self.start != wanted))
        """Components of the start outside their bounds, which were moved to the bounds."""

    @property
    def rows(self) -> int:
        """Number of functions: as many as variables, except for an `MNCP` with more or fewer equations."""
        return self.size

    @property
    def square(self) -> bool:
        """True if there are as many functions as variables."""
        return self.rows == self.size

    def clip(self, z: Floats) -> Floats:
        """The point within the bounds that is nearest to z."""
        return np.clip(z, self.lower, self.upper)

    def value(self, z: Floats) -> Floats:
        """F(z), which may hold NaN or infinity if the function is not defined; its length is checked."""
        point = z.view()
        point.flags.writeable = False
        with np.errstate(all="ignore"):
            found = self._function(point)
        if np.iscomplexobj(found):
            raise ProblemError(f"the function{self._of_name()} returned complex numbers for real variables")
        value = np.array(found, dtype=float)
        if value.shape != (self.rows,):
            raise ProblemError(
                f"the function{self._of_name()} returned an array of shape {value.shape} for {self.size} "
                f"variables: it must return {self.rows} numbers, shape ({self.rows},)"
            )
        return value

    def jacobian(self, z: Floats, value: Floats | None = None) -> sp.csr_array:
        """∂F/∂z, sparse (rows, size). `value` is F(z) if known, which saves one evaluation."""
        point = z.view()
        point.flags.writeable = False
        with np.errstate(all="ignore"):
            return self.jacobian_by(self, point, value)

    @property
    def parts(self) -> tuple[Callable[[Any], Any], ...]:
        """The user's functions of z; F is the concatenation of their values."""
        return (self._function,)

    def natural_map(self, z: Floats, value: Floats) -> Floats:
        """z − mid(l, z − F, u), one number for each function, without cancellation; zero at a solution."""
        found = np.where(z - value < self.lower, z - self.lower, value)
        return np.where(z - value > self.upper, z - self.upper, found)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name + ', ' if self.name else ''}{self.size} variables)"

    def _of_name(self) -> str:
        return f" of {self.name}" if self.name else ""


class LCP(MCP):
    """Linear complementarity problem: 0 ≤ z ⟂ M z + q ≥ 0, or l ≤ z ≤ u ⟂ M z + q with bounds given.

    Args:
        matrix: M (n, n), dense or sparse.
        vector: q (n,).
        lower: l, 0 unless given.
        upper: u, +inf unless given.
        start: z to start from.
        name: how messages call the problem.
    """

    matrix: sp.csr_array

    def __init__(
        self,
        matrix: Any,
        vector: ArrayLike,
        *,
        lower: ArrayLike = 0.0,
        upper: ArrayLike = np.inf,
        start: ArrayLike | None = None,
        name: str = "",
    ) -> None:
        self.vector = np.array(vector, dtype=float)
        if self.vector.ndim != 1 or not np.isfinite(self.vector).all():
            raise ProblemError("vector q must be a one-dimensional array of finite numbers")
        size = len(self.vector)
        self.matrix = sp.csr_array(matrix, dtype=float)
        if self.matrix.shape != (size, size):
            raise ProblemError(
                f"matrix M has shape {self.matrix.shape} and vector q has {size} numbers: M must be square "
                "and as large as q"
            )
        if not np.isfinite(self.matrix.data).all():
            raise ProblemError("matrix M has numbers that are not finite")
        super().__init__(
            lambda z: self.matrix @ z + self.vector,
            np.broadcast_to(np.asarray(lower, dtype=float), (size,)),
            np.broadcast_to(np.asarray(upper, dtype=float), (size,)),
            jacobian=lambda z: self.matrix,
            start=start,
            name=name,
        )


class MNCP(MCP):
    """Mixed nonlinear complementarity problem of Andreani et al., Eq. (1).

        u ≥ 0,  f(u, v) ≥ 0,  uᵀ f(u, v) = 0,  g(u, v) = 0

    u has n components, v has m, f returns n numbers and g returns p; p may differ from m. Solvers see one
    vector z = (u, v) and one function F = (f, g); `split` returns (u, v) from z.

    Args:
        f: called as f(u, v), returns n numbers.
        g: called as g(u, v), returns p numbers.
        sizes: (n, m), or (n, m, p) if p is not m.
        jacobian: called as jacobian(u, v), returns ∂(f, g)/∂(u, v), (n + p, n + m), or a name as in `MCP`.
        sparsity: as in `MCP`.
        start: (u, v) to start from; zeros unless given.
        name: how messages call the problem.
    """

    def __init__(
        self,
        f: Callable[[Floats, Floats], ArrayLike],
        g: Callable[[Floats, Floats], ArrayLike],
        sizes: tuple[int, ...],
        *,
        jacobian: Callable[[Floats, Floats], Any] | str | None = None,
        sparsity: Any = None,
        start: tuple[ArrayLike, ArrayLike] | None = None,
        name: str = "",
    ) -> None:
        if len(sizes) not in (2, 3) or min(sizes) < 0:
            raise ProblemError(f"sizes is {sizes}: give (n, m) or (n, m, p), none of them negative")
        n, m = sizes[:2]
        self.bounded, self.free = n, m
        self.equations = sizes[2] if len(sizes) == 3 else m
        self.f, self.g = f, g
        together: Function | str | None
        if callable(jacobian):
            whole = jacobian
            together = lambda z: whole(*self.split(z))  # noqa: E731
        else:
            together = jacobian
        first = None if start is None else np.concatenate([np.ravel(part) for part in start])
        super().__init__(
            self._together,
            np.repeat([0.0, -np.inf], [n, m]),
            np.full(n + m, np.inf),
            jacobian=together,
            sparsity=sparsity,
            start=first,
            name=name,
        )

    @property
    def rows(self) -> int:
        """n + p."""
        return self.bounded + self.equations

    def split(self, z: Floats) -> tuple[Floats, Floats]:
        """(u, v) of z."""
        return z[: self.bounded], z[self.bounded :]

    def natural_map(self, z: Floats, value: Floats) -> Floats:
        """u − max(0, u − f), and g, one number for each function."""
        u, f = z[: self.bounded], value[: self.bounded]
        return np.concatenate([np.where(u - f < 0.0, u, f), value[self.bounded :]])

    @property
    def parts(self) -> tuple[Callable[[Any], Any], ...]:
        """f and g as functions of z."""
        return lambda z: self.f(*self.split(z)), lambda z: self.g(*self.split(z))

    def _together(self, z: Floats) -> ArrayLike:
        parts = []
        u, v = self.split(z)
        for letter, function, length in (("f", self.f, self.bounded), ("g", self.g, self.equations)):
            part = np.asarray(function(u, v))
            if part.shape != (length,):
                raise ProblemError(
                    f"{letter}(u, v){self._of_name()} returned an array of shape {part.shape}: "
                    f"by sizes it must have {length} numbers"
                )
            parts.append(part)
        return np.concatenate(parts)


def _bounds(lower: ArrayLike, upper: ArrayLike, start: ArrayLike | None) -> tuple[Floats, Floats]:
    low, high = np.array(lower, dtype=float), np.array(upper, dtype=float)
    if low.ndim == high.ndim == 0:
        if start is None:
            raise ProblemError(
                "lower and upper are single numbers: give an array for one of them, or a start, "
                "so that the number of variables is known"
            )
        low = np.full(np.size(start), low)
    try:
        low, high = (np.array(part) for part in np.broadcast_arrays(low, high))
    except ValueError:
        raise ProblemError(
            f"lower has shape {low.shape} and upper has shape {high.shape}: give one number for each variable"
        ) from None
    if low.ndim != 1:
        raise ProblemError(f"the bounds have shape {low.shape}: give one number for each variable")
    if np.isnan(low).any() or np.isnan(high).any():
        raise ProblemError("a bound is NaN: use −inf or inf for no bound")
    wrong = np.flatnonzero((low > high) | (low == np.inf) | (high == -np.inf))
    if len(wrong):
        i = int(wrong[0])
        raise ProblemError(
            f"variable {i} has lower bound {low[i]:g} and upper bound {high[i]:g} ({len(wrong)} in all): "
            "lower must not exceed upper"
        )
    return low, high


def _vector(what: str, values: ArrayLike, size: int) -> Floats:
    array = np.array(values, dtype=float)
    if array.shape != (size,):
        raise ProblemError(f"{what} has shape {array.shape} and the problem has {size} variables")
    if not np.isfinite(array).all():
        raise ProblemError(f"{what} has numbers that are not finite")
    return array
