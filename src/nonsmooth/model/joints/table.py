"""`JointTable`: all rows of a system's joints and of the elements on them, as arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth.model import checks as check
from nonsmooth.model.joints.kernels.rows import RowTable

BILATERAL, LIMIT, BOUNDED = 0, 1, 2
"""Roles of a row: λ is free, λ ≥ 0, or λ is between two bounds."""


@dataclass(frozen=True)
class TimedRow:
    """A row that depends on time: its offset in m or rad (None if it has none), and the rate.

    The functions take the time in s.
    """

    row: int
    offset: Callable[[float], float] | None
    rate: Callable[[float], float]


@dataclass(frozen=True, eq=False)
class JointTable:
    """Rows g(q, t) = value(q) − offset(t), whose force λ is in N (unit m) or N·m (unit rad).

    A positive λ pushes the row's value up. All arrays are read-only.

    Args:
        rows: the data for `evaluate` of `kernels.rows`.
        joint: (r,) index of the row's joint.
        role: (r,) BILATERAL, LIMIT or BOUNDED.
        on_velocity: (r,) True if only the rate is prescribed: motors with a speed, and dry friction.
        lower: (r,) least force in N or N·m, −∞ if free.
        upper: (r,) largest force in N or N·m, ∞ if free.
        labels: (r,) names of the rows in messages.
        units: (r,) "m" or "rad".
        timed: the rows that depend on time.
        offset: (r,) offsets in m or rad of those that do not.
        rate: (r,) rates in m/s or rad/s of those that do not.
    """

    rows: RowTable
    joint: Integers
    role: Integers
    on_velocity: NDArray[np.bool_]
    lower: Floats
    upper: Floats
    labels: tuple[str, ...]
    units: tuple[str, ...]
    timed: tuple[TimedRow, ...]
    offset: Floats
    rate: Floats

    def __len__(self) -> int:
        return len(self.joint)

    def offsets(self, t: float) -> tuple[Floats, Floats]:
        """Return offset (r,) in m or rad and rate (r,) in m/s or rad/s at time t (s): ∂g/∂t = −rate.

        If only the rate is prescribed (`on_velocity`) the offset is zero, and the rate is that speed.
        """
        offset, rate = self.offset.copy(), self.rate.copy()
        for timed in self.timed:
            name = f"the {self.labels[timed.row]} at t = {t:g} s"
            rate[timed.row] = check.number(f"the rate of {name}", timed.rate(t))
            if timed.offset is not None:
                offset[timed.row] = check.number(name, timed.offset(t))
        return offset, rate
