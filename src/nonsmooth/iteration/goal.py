"""Goal of an iteration."""

from __future__ import annotations

import math
from dataclasses import dataclass

from nonsmooth._support.options import positive, whole


@dataclass(frozen=True)
class Goal:
    """Tolerance of the residual, limits, and whether every iteration is recorded."""

    tolerance: float = 1e-8
    max_iterations: int | None = None
    """Iteration limit; None for the default of the method."""
    time_limit: float = math.inf
    """Time limit in s."""
    history: bool = False
    """Whether the residual is checked and recorded after every iteration."""

    def __post_init__(self) -> None:
        positive("solve", "tolerance", self.tolerance)
        positive("solve", "time_limit", self.time_limit)
        if self.max_iterations is not None:
            whole("solve", "max_iterations", self.max_iterations)
