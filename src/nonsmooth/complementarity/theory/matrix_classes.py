"""Matrix classes of the theory of complementarity.

For an (n, n) matrix M, with (M x)_i the i-th component:

    positive semidefinite   xᵀM x ≥ 0 for all x (M need not be symmetric)
    P, P₀                   every principal minor > 0, ≥ 0
    S                       M x > 0 for some x ≥ 0
    column sufficient       x_i (M x)_i ≤ 0 for all i only if all of these are 0; row sufficient: Mᵀ is
    Z, M                    no positive entry off the diagonal; Z and P
    copositive              xᵀM x ≥ 0 for all x ≥ 0

Positive semidefinite and P-matrices are sufficient (row and column), and those are P₀ (Cottle, Pang and
Stone). M is sufficient exactly if M and all its principal pivot transforms are so in every two rows and
columns (Cottle and Guu). Every test is "to rounding": numbers within the margin of zero are taken as zero.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import optimize
from nonsmooth._support.lazy import sparse as sp
from nonsmooth._support.options import positive, whole
from nonsmooth.complementarity.kernels.conditions import bad_minors
from nonsmooth.complementarity.standard_form import equilibrating
from nonsmooth.errors import ProblemError


@dataclass(frozen=True)
class Limits:
    """Largest size for each test. The work of the first three doubles with each additional row."""

    minors: int = 18
    """P and P₀: 2ⁿ determinants."""
    pivots: int = 12
    """Sufficiency and copositivity: 2ⁿ principal pivot transforms."""
    programs: int = 8
    """Row or column sufficiency alone, if the other one fails: 2ⁿ⁻¹ linear programs."""
    dense: int = 1500
    """Eigenvalues, and linear programs for S."""

    def __post_init__(self) -> None:
        for name in ("minors", "pivots", "programs", "dense"):
            whole("Limits", name, getattr(self, name))


@dataclass(frozen=True)
class MatrixClass:
    """Membership of a matrix in each class, to rounding: True, False, or None if not tested."""

    size: int
    positive_semidefinite: bool | None = None
    positive_definite: bool | None = None
    p_matrix: bool | None = None
    p0_matrix: bool | None = None
    s_matrix: bool | None = None
    column_sufficient: bool | None = None
    row_sufficient: bool | None = None
    z_matrix: bool | None = None
    copositive: bool | None = None
    reasons: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Reasons by class name: why the matrix is or is not in the class, or was not tested."""
    witnesses: Mapping[str, Floats] = field(default_factory=lambda: MappingProxyType({}))
    """Counterexamples by class name, vectors x that exclude the matrix from the class: xᵀM x < 0; for the
    sufficient ones x_i (M x)_i ≤ 0 and not all 0 (with Mᵀ for row sufficient); for S x ≥ 0 with Mᵀx ≤ 0."""

    @property
    def sufficient(self) -> bool | None:
        """Row and column sufficient."""
        return _both(self.row_sufficient, self.column_sufficient)

    @property
    def m_matrix(self) -> bool | None:
        """A Z-matrix that is a P-matrix."""
        return _both(self.z_matrix, self.p_matrix)

    def __str__(self) -> str:
        names = [name for name in self.__dataclass_fields__ if name not in ("size", "reasons", "witnesses")]
        lines = [f"{self.size} × {self.size}, to rounding"]
        for name in [*names, "sufficient", "m_matrix"]:
            verdict = {True: "yes", False: "no", None: "not tested"}[getattr(self, name)]
            reason = self.reasons.get(name, "")
            lines.append(f"{name.replace('_', ' '):<24}{verdict}{': ' + reason if reason else ''}")
        return "\n".join(lines)


def _both(first: bool | None, second: bool | None) -> bool | None:
    if first is False or second is False:
        return False
    return None if first is None or second is None else True


def matrix_class(matrix: Any, *, limits: Limits | None = None, margin: float = 1e-10) -> MatrixClass:
    """Test which classes a matrix belongs to.

    Args:
        matrix: M (n, n), dense or sparse.
        limits: largest size for each test.
        margin: numbers below this fraction of the matrix are taken as zero.
    """
    positive("matrix_class", "margin", margin)
    dense = matrix.toarray() if sp.issparse(matrix) else matrix
    values = np.array(dense, dtype=float)
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise ProblemError(f"the matrix has shape {values.shape}: it must be square")
    if not np.isfinite(values).all():
        raise ProblemError("the matrix has numbers that are not finite")
    return _Tests(values, limits or Limits(), margin).result()


class _Tests:
    """Run the tests in an order in which each can save work in the next ones."""

    def __init__(self, matrix: Floats, limits: Limits, margin: float) -> None:
        self._matrix, self._limits, self._margin = matrix, limits, margin
        self._size = len(matrix)
        rows, columns = equilibrating(matrix)
        self._scaled = rows[:, None] * matrix * columns  # the same classes except the (semi)definite ones
        self._columns, self._rows = columns, rows
        self._verdicts: dict[str, bool] = {}
        self._reasons: dict[str, str] = {}
        self._witnesses: dict[str, Floats] = {}

    def result(self) -> MatrixClass:
        self._definite()
        self._signs_off_the_diagonal()
        self._s_matrix()
        self._minors()
        self._sufficient()
        self._copositive()
        return MatrixClass(
            self._size,
            **self._verdicts,
            reasons=MappingProxyType(self._reasons),
            witnesses=MappingProxyType(self._witnesses),
        )

    def _say(self, name: str, verdict: bool, reason: str, witness: Floats | None = None) -> None:
        if name in self._verdicts:
            return
        self._verdicts[name] = verdict
        self._reasons[name] = reason
        if witness is not None:
            self._witnesses[name] = witness

    def _too_large(self, limit: str, *names: str) -> bool:
        """True, with the reason noted, if all of these tests have to be skipped."""
        left = [name for name in names if name not in self._verdicts]
        if self._size <= getattr(self._limits, limit):
            return not left
        for name in left:
            self._reasons[name] = f"n = {self._size} is above limits.{limit} = {getattr(self._limits, limit)}"
        return True

    def _definite(self) -> None:
        names = ("positive_semidefinite", "positive_definite")
        if self._too_large("dense", *names):
            return
        symmetric = 0.5 * (self._matrix + self._matrix.T)
        values, vectors = np.linalg.eigh(symmetric)
        smallest = float(values.min(initial=np.inf))
        zero = self._margin * float(np.abs(self._matrix).max(initial=0.0))
        reason = f"smallest eigenvalue of the symmetric part {smallest:.3g}"
        if smallest > zero:
            self._say("positive_definite", True, reason)
            for name in ("p_matrix", "p0_matrix", "s_matrix"):
                self._say(name, True, "positive definite")
        else:
            self._say("positive_definite", False, reason, vectors[:, 0])
        if smallest >= -zero:
            self._say("positive_semidefinite", True, reason)
            for name in ("p0_matrix", "column_sufficient", "row_sufficient", "copositive"):
                self._say(name, True, "positive semidefinite")
        else:
            self._say("positive_semidefinite", False, reason, vectors[:, 0])

    def _signs_off_the_diagonal(self) -> None:
        off = self._scaled - np.diag(np.diag(self._scaled))
        wrong = np.argwhere(off > self._margin)
        if len(wrong):
            i, j = wrong[0]
            self._say("z_matrix", False, f"entry ({i}, {j}) is {self._matrix[i, j]:.3g}")
        else:
            self._say("z_matrix", True, "no positive entry off the diagonal")

    def _s_matrix(self) -> None:
        """max t with M x ≥ t, x ≥ 0, Σx = 1; its dual is min s with Mᵀy ≤ s, y ≥ 0, Σy = 1."""
        if not self._too_large("dense", "s_matrix"):
            n = self._size
            answer = optimize.linprog(
                np.concatenate([np.zeros(n), [-1.0]]),
                A_ub=np.hstack([-self._scaled, np.ones((n, 1))]),
                b_ub=np.zeros(n),
                A_eq=np.concatenate([np.ones(n), [0.0]])[None],
                b_eq=[1.0],
                bounds=[(0.0, None)] * n + [(None, None)],
                method="highs",
            )
            if answer.status != 0:
                self._reasons["s_matrix"] = "the linear program was not solved"
            elif -answer.fun > 1e-7:  # to which HiGHS solves
                self._say("s_matrix", True, f"M x ≥ {-answer.fun:.3g} for some x ≥ 0 (scaled)")
            else:
                y = self._rows * np.maximum(-answer.ineqlin.marginals, 0.0)
                self._say("s_matrix", False, "Mᵀx ≤ 0 for some x ≥ 0", y / y.max(initial=1e-300))
        if self._verdicts["z_matrix"] and self._verdicts.get("s_matrix"):
            for name in ("p_matrix", "p0_matrix", "column_sufficient", "row_sufficient"):
                self._say(name, True, "a Z-matrix that is an S-matrix")

    def _minors(self) -> None:
        if not self._too_large("minors", "p_matrix", "p0_matrix"):
            not_positive, negative = bad_minors(self._scaled, self._margin)
            if not_positive < 0:
                self._say("p_matrix", True, "all principal minors are positive")
            else:
                self._say("p_matrix", False, self._minor(int(not_positive)))
            if negative < 0:
                self._say("p0_matrix", True, "no principal minor is negative")
            else:
                self._say("p0_matrix", False, self._minor(int(negative)))
        if self._verdicts.get("p_matrix"):
            for name in ("column_sufficient", "row_sufficient", "s_matrix"):
                self._say(name, True, "a P-matrix")
        if self._verdicts.get("p0_matrix") is False:
            self._say("column_sufficient", False, "not a P₀-matrix")
            self._say("row_sufficient", False, "not a P₀-matrix")

    def _minor(self, bits: int) -> str:
        rows = [i for i in range(self._size) if bits >> i & 1]
        value = float(np.linalg.det(self._matrix[np.ix_(rows, rows)]))
        return f"the principal minor of rows {', '.join(map(str, rows))} is {value:.3g}"

    def _sufficient(self) -> None:
        """Only for P₀-matrices: the others were excluded before."""
        sides = ("column_sufficient", "row_sufficient")
        if self._too_large("pivots", *sides):
            return
        left = [name for name in sides if name not in self._verdicts]
        found = {name: pair_violation(self._side(name), self._margin) for name in sides}
        if all(witness is None for witness in found.values()):
            for name in left:
                self._say(name, True, "all principal pivot transforms are sufficient in every two rows")
            return
        for name in left:
            witness = found[name]
            if witness is None and self._size <= self._limits.programs:
                witness = orthant_violation(self._side(name))
                if witness is None:
                    self._say(name, True, "linear programs in all orthants")
                    continue
            if witness is None:
                self._reasons[name] = f"n = {self._size} is above limits.programs = {self._limits.programs}"
            elif self._shows(name, witness):
                scale = self._columns if name == "column_sufficient" else self._rows
                x = scale * witness
                self._say(name, False, "a vector shows it", x / np.abs(x).max())
            else:
                self._reasons[name] = "too close to the boundary of the class to decide"

    def _side(self, name: str) -> Floats:
        return self._scaled if name == "column_sufficient" else np.ascontiguousarray(self._scaled.T)

    def _shows(self, name: str, x: Floats) -> bool:
        products = x * (self._side(name) @ x)
        return bool(products.min() < 0.0 and products.max() <= 1e-6 * -products.min())

    def _copositive(self) -> None:
        """Hadeler: not copositive exactly if the inverse of a principal submatrix has no positive entry."""
        if self._too_large("pivots", "copositive"):
            return
        symmetric = 0.5 * (self._matrix + self._matrix.T)
        for rows in _subsets(self._size):
            part = symmetric[np.ix_(rows, rows)]
            try:
                x = -np.linalg.solve(part, np.ones(len(rows)))
            except np.linalg.LinAlgError:
                continue
            if x.min() < 0.0:
                continue
            value = float(x @ part @ x)
            if value < -self._margin * float(x @ np.abs(part) @ x):
                whole_x = np.zeros(self._size)
                whole_x[list(rows)] = x / x.max()
                self._say("copositive", False, "a vector shows it", whole_x)
                return
        self._say("copositive", True, "no principal submatrix shows otherwise")


def _subsets(size: int) -> Iterator[tuple[int, ...]]:
    """All nonempty sets of rows, small ones first."""
    for order in range(1, size + 1):
        yield from itertools.combinations(range(size), order)


def pair_violation(matrix: Floats, margin: float) -> Floats | None:
    """Search all principal pivot transforms of a P₀-matrix for two rows that are not column sufficient.

    Such a pair has m_ii = 0 and m_ij = 0 ≠ m_ji. Returns x with x_i (M x)_i ≤ 0, not all 0, or None. None
    for the matrix and for its transpose means that it is sufficient.
    """
    size = len(matrix)
    for rows in itertools.chain([()], _subsets(size)):
        pivoted, rest = list(rows), [i for i in range(size) if i not in rows]
        block = matrix[np.ix_(pivoted, pivoted)]
        if pivoted and np.linalg.svd(block, compute_uv=False)[-1] <= margin:
            continue
        transform = _pivot_transform(matrix, pivoted, rest)
        zero = margin * max(1.0, float(np.abs(transform).max()))
        for i in np.flatnonzero(np.abs(np.diag(transform)) <= zero):
            wrong = (np.abs(transform[i]) <= zero) & (np.abs(transform[:, i]) > zero)
            if wrong.any():
                j = int(np.flatnonzero(wrong)[0])
                x = np.zeros(size)
                x[j] = 1.0
                x[i] = -(1.0 + transform[j, j]) / transform[j, i]
                x[pivoted] = (transform @ x)[pivoted]
                return x
    return None


def _pivot_transform(matrix: Floats, pivoted: list[int], rest: list[int]) -> Floats:
    """The matrix that takes (w of `pivoted`, z of `rest`) to (z of `pivoted`, w of `rest`), w = M z."""
    found = matrix.copy()
    inverse = np.linalg.inv(matrix[np.ix_(pivoted, pivoted)])
    across, below = matrix[np.ix_(pivoted, rest)], matrix[np.ix_(rest, pivoted)]
    found[np.ix_(pivoted, pivoted)] = inverse
    found[np.ix_(pivoted, rest)] = -inverse @ across
    found[np.ix_(rest, pivoted)] = below @ inverse
    found[np.ix_(rest, rest)] -= below @ inverse @ across
    return found


def orthant_violation(matrix: Floats) -> Floats | None:
    """Search every orthant for x with x_i (M x)_i ≤ 0, not all 0: the matrix is not column sufficient then.

    In the orthant of the signs s, y = s x and B = (s_i M_ij s_j): the y ≥ 0 with B y ≤ 0 form a cone, and one
    of its vectors has as many y_i > 0 and (B y)_i < 0 as any. Maximising Σ (a_i + b_i) with a ≤ y, b ≤ −B y,
    a, b ≤ 1 finds it.
    """
    n = len(matrix)
    eye, zero = np.eye(n), np.zeros((n, n))
    for tail in itertools.product((1.0, -1.0), repeat=n - 1):
        signs = np.array([1.0, *tail])
        turned = signs[:, None] * matrix * signs
        answer = optimize.linprog(
            np.concatenate([np.zeros(n), -np.ones(2 * n)]),
            A_ub=np.block([[turned, zero, zero], [-eye, eye, zero], [turned, zero, eye]]),
            b_ub=np.zeros(3 * n),
            bounds=[(0.0, 1e5)] * n + [(0.0, 1.0)] * (2 * n),
            method="highs",
        )
        both = np.minimum(answer.x[n : 2 * n], answer.x[2 * n :])
        if both.max() > 0.5:
            return np.asarray(signs * answer.x[:n])
    return None
