"""The factors r of the proximal iterations: one for every row, from a matrix's diagonal or row sums.

In Studer and Glocker, r is a relaxation factor (Sect. 5), a penalty (Sect. 6) or the slope of a regularised
law (Sect. 7). It is the same number in all three.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth._support.options import choice, positive
from nonsmooth.errors import OptionError
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.layout import Layout
from nonsmooth.solvers.base import Solver


@dataclass(frozen=True)
class RelaxationSolver(Solver):
    """Options of the solvers with factors r: the source of r."""

    strategies: ClassVar[tuple[str, ...]] = ("diagonal", "row-sum")

    strategy: str = "diagonal"
    """"diagonal": r = ω/G_hh (Eq. 69); "row-sum": r = ω/Σ_k|G_hk| (Eq. 70)."""
    omega: float = 1.0
    """Relaxation factor ω on the strategy's r."""
    r: ArrayLike | None = None
    """Explicit r_i > 0 (kg), one for all or one per row; replaces the strategy."""

    def __post_init__(self) -> None:
        owner = type(self).__name__
        choice(owner, "strategy", self.strategy, self.strategies)
        positive(owner, "omega", self.omega)
        if self.r is not None and not np.all(np.asarray(self.r, dtype=float) > 0.0):
            raise OptionError(f"{owner}(r=…): every factor r must be positive")

    def factors(self, problem: ContactProblem) -> Floats:
        """r for every row of the problem's own matrix G, (blocks, 3)."""
        if self.strategy == "row-sum" and self.r is None:
            sums = problem.layout.pad(np.asarray(abs(problem.operator.matrix()).sum(axis=1)).ravel())
        else:
            sums = np.einsum("bkk->bk", problem.operator.diagonal_blocks)
        return self.spread_factors(problem.layout, sums)

    def spread_factors(self, layout: Layout, sums: Floats) -> Floats:
        """r for every row, (blocks, 3), from the strategy's sums (blocks, 3), or as given by the user.

        The rows of a friction disk share the smaller one.
        """
        if self.r is not None:
            given = np.asarray(self.r, dtype=float)
            if given.ndim and given.shape != (layout.rows,):
                raise OptionError(
                    f"r has shape {given.shape}: give one number, or {layout.rows}, one per row"
                )
            r = layout.pad(np.broadcast_to(given, (layout.rows,)).copy())
        else:
            r = np.full_like(sums, np.inf)  # rows that move no body
            np.divide(self.omega, sums, out=r, where=sums > 0.0)
        r[layout.padding] = np.inf
        contacts = slice(0, layout.contacts)
        r[contacts, 1:] = r[contacts, 1:].min(axis=1, keepdims=True)
        r[np.isinf(r)] = 1.0
        return r
