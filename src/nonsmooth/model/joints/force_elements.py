"""Forces on coordinates of joints: springs, dampers, and motors with a given force."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth.model import checks as check
from nonsmooth.model.bodies import Bodies
from nonsmooth.model.growing_table import GrowingTable
from nonsmooth.model.joints.evaluation import Evaluation
from nonsmooth.model.joints.kernels import rows as kernels

Force = float | Callable[[float], float]
"""N or N·m on a coordinate, or a function of time in s."""


class ForceElements:
    """Elements that put the force  applied − stiffness (x − rest) − damping ẋ  on coordinates x."""

    def __init__(self) -> None:
        self._rows = GrowingTable(
            coordinate=((), np.int64),
            stiffness=((), np.float64),
            damping=((), np.float64),
            rest=((), np.float64),
            applied=((), np.float64),
        )
        self._timed: list[tuple[int, Callable[[float], float]]] = []
        self.labels: list[str] = []

    def __len__(self) -> int:
        return self._rows.count

    @property
    def coordinate(self) -> Integers:
        """Place of each element's coordinate (e,) in the table of all."""
        return self._rows["coordinate"]

    @property
    def stiffness(self) -> Floats:
        """In N/m or N·m/rad (e,)."""
        return self._rows["stiffness"]

    @property
    def damping(self) -> Floats:
        """In N·s/m or N·m·s/rad (e,)."""
        return self._rows["damping"]

    def add(
        self,
        label: str,
        coordinate: int,
        *,
        stiffness: float = 0.0,
        damping: float = 0.0,
        rest: float = 0.0,
        applied: Force = 0.0,
    ) -> None:
        """Add an element; `label` names it in errors."""
        constant = 0.0 if callable(applied) else applied
        if callable(applied):
            self._timed.append((len(self), applied))
        self._rows.append(
            1, coordinate=coordinate, stiffness=stiffness, damping=damping, rest=rest, applied=constant
        )
        self.labels.append(label)

    def set_applied(self, element: int, force: float) -> None:
        """Set the given force of an element, in N or N·m, in place of a number or a function of time."""
        self._timed = [timed for timed in self._timed if timed[0] != element]
        self._rows["applied"][element] = force

    def add_to(
        self, total: Floats, t: float, system: Bodies, table: kernels.RowTable, now: Evaluation
    ) -> None:
        """Add the forces at time t (s) to `total` (n, 6); `now` is the table of coordinates evaluated."""
        if len(self) == 0:
            return
        at = self.coordinate
        bodies, rows = table.bodies[at], now.rows[at]
        force = self._rows["applied"] - self.stiffness * (now.value[at] - self._rows["rest"])
        for element, function in self._timed:
            name = f"the {self.labels[element]} at t = {t:g} s"
            force[element] += check.number(name, function(t))
        rate = np.empty(len(self))
        kernels.rates(bodies, rows, system.linear_velocity, system.angular_velocity, rate)
        force -= self.damping * rate
        kernels.add_forces(bodies, rows, force, system.fixed, total)

    def energy(self, value: Floats) -> float:
        """Return the energy of the springs in J for these values of the coordinates."""
        stretch = value[self.coordinate] - self._rows["rest"]
        return float(0.5 * np.sum(self.stiffness * stretch**2))

    def copy(self) -> ForceElements:
        """Return an independent copy; functions are shared."""
        other = ForceElements()
        other._rows, other._timed, other.labels = self._rows.copy(), list(self._timed), list(self.labels)
        return other
