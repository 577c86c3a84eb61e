"""`StepLog`: the numbers of every step, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.registry import advice
from nonsmooth.model.system import System
from nonsmooth.stepping.kernels.numbers import NAMES

NUMBERS = {
    "contacts": "1",
    "kinetic_energy": "J",
    "potential_energy": "J",
    "contact_work": "J",
    "dissipation": "J",
    "complementarity": "J",
    "force_error": "1",
    "penetration": "m",
    "late_contacts": "1",
    "largest_speed": "m/s",
    "joint_error": "m or rad",
    "impacts": "1",
    "impact_work": "J",
    "reduced_impacts": "1",
    "unfinished_impacts": "1",
    "flight_work": "J",
    "contacts_checked": "1",
    "gap_error": "m",
    "normal_error": "rad",
    "wrong_contacts": "1",
    "missing_contacts": "1",
    "withheld_contacts": "1",
    "deep_contacts": "1",
}
"""Names and units of the numbers of a step besides its certificate."""

_OF_IMPACTS = ("impacts", "impact_work", "reduced_impacts", "unfinished_impacts")

ABSENT = {name: 0.0 if name in ("joint_error", *_OF_IMPACTS) else np.nan for name in NUMBERS}
"""Values of numbers that a step does not report: 0 for joint errors without joints and for impacts without
restitution; all others are unknown."""


def numbers_of(system: System, scheme: str = "stabilised") -> dict[str, str]:
    """Names and units of the numbers of this system's steps.

    Without joints there is no joint error, without restitution there are no impacts; the work of flight is
    reported with restitution and in the scheme "ballistic". Recordings contain exactly these numbers, so that
    older ones of systems without restitution can be continued.
    """
    bounces = bool(system.materials.pair_table().restitution.any())
    known = {name: len(system.joints) > 0 for name in ("joint_error",)}
    known |= dict.fromkeys(_OF_IMPACTS, bounces) | {"flight_work": bounces or scheme == "ballistic"}
    return {name: unit for name, unit in NUMBERS.items() if known.get(name, True)}


class StepLog(Mapping[str, Floats]):
    """Scalars of every step by name: time, residual, iterations, solved (1 or 0), and those of `NUMBERS`.

    Columns are read-only; unknown numbers are NaN.
    """

    def __init__(self) -> None:
        self._names = NAMES
        self._place = {name: place for place, name in enumerate(self._names)}
        self._rows = np.empty((64, len(self._names)))
        self.count = 0
        """Number of steps."""

    def add(self, rows: Floats) -> None:
        """Append steps, a row (names,) of each."""
        count = self.count + len(rows)
        while count > len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._rows[self.count : count] = rows
        self.count = count

    def __getitem__(self, name: str) -> Floats:
        if name not in self._place:
            raise KeyError(f"the steps have no number {name!r}: {advice(name, self._names)}")
        column = self._rows[: self.count, self._place[name]]
        column.flags.writeable = False
        return column

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def table(self) -> Floats:
        """All numbers, (steps, names)."""
        return self._rows[: self.count].copy()

    def restore(self, table: Floats) -> None:
        """Restore what `table` returned; it may be older and lack the last of the names."""
        table = np.asarray(table, dtype=float)
        self.count = len(table)
        self._rows = np.empty((max(64, self.count), len(self._names)))
        self._rows[: self.count, : table.shape[1]] = table
        for name in self._names[table.shape[1] :]:
            self._rows[: self.count, self._place[name]] = ABSENT[name]
