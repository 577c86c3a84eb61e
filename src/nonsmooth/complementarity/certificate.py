"""The certificate of a complementarity problem: residuals of a point, recomputed from the problem."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.complementarity.problem import MCP


@dataclass(frozen=True)
class Certificate:
    """Residuals of a point; each number is the largest over all rows, in the units of the problem.

    All are zero at a solution. NaN if the function is not finite there.
    """

    bounds: float
    """Largest violation of the bounds by z."""
    signs: float
    """Largest violation of the sign of F: |F| of free variables, −F without an upper bound, F without a lower
    one."""
    complementarity: float
    """Largest product: (z − l)·F where F > 0, (u − z)·(−F) where F < 0, over finite bounds."""
    natural_map: float
    """|z − mid(l, z − F, u)|."""
    worst_row: int
    """The row with the largest natural map; −1 if there are no rows."""

    @property
    def residual(self) -> float:
        """The number compared with the tolerance: the natural map."""
        return self.natural_map

    def holds(self, tolerance: float) -> bool:
        """Return whether the point is a solution to `tolerance`."""
        return self.residual <= tolerance

    def __str__(self) -> str:
        lines = [f"{'residual':<18}{'largest':>12}"]
        lines += [
            f"{name:<18}{value:>12.3e}"
            for name, value in (
                ("bounds", self.bounds),
                ("signs", self.signs),
                ("complementarity", self.complementarity),
                ("natural map", self.natural_map),
            )
        ]
        return "\n".join([*lines, f"{'worst row':<18}{self.worst_row:>12}"])


def certify(problem: MCP, z: Floats) -> Certificate:
    """Recompute every residual of a point from the problem."""
    value = problem.value(z)
    if not (np.isfinite(value).all() and np.isfinite(z).all()):
        return Certificate(math.nan, math.nan, math.nan, math.nan, -1)
    natural = np.abs(problem.natural_map(z, value))
    paired = min(problem.rows, problem.size)  # the equations of an MNCP beyond its variables have no partner
    low, high, f = problem.lower[:paired], problem.upper[:paired], value[:paired]
    outside = np.maximum(problem.lower - z, z - problem.upper)
    signs = np.maximum(np.where(np.isinf(low), f, 0.0), np.where(np.isinf(high), -f, 0.0))
    with np.errstate(invalid="ignore"):
        above = np.where(np.isfinite(low) & (f > 0.0), np.abs(z[:paired] - low) * f, 0.0)
        below = np.where(np.isfinite(high) & (f < 0.0), np.abs(high - z[:paired]) * -f, 0.0)
    return Certificate(
        float(np.maximum(outside, 0.0).max(initial=0.0)),
        max(abs(float(signs.max(initial=0.0))), float(np.abs(value[paired:]).max(initial=0.0))),
        float(np.maximum(above, below).max(initial=0.0)),
        float(natural.max(initial=0.0)),
        int(natural.argmax()) if len(natural) else -1,
    )


def residual_of(problem: MCP, z: Floats, value: Floats) -> float:
    """Largest natural map of a point whose function value is known; NaN if a number is not finite."""
    if not np.isfinite(value).all():
        return math.nan
    return float(np.abs(problem.natural_map(z, value)).max(initial=0.0))
