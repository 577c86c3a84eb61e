"""What a simulation returns: the numbers of every step, and the certificate over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.integrators.frame import Frame, Timings
from nonsmooth.model.system import System

Floats = NDArray[np.float64]

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
}
"""Names and units of the numbers that a step hands out besides its certificate."""

JOINT_BOUND = 0.01
"""Opening of a joint in m or rad from which on a mechanism has come apart: no step is meant to be so long."""

_ALWAYS = ("time", "residual", "iterations", "solved")


def numbers_of(system: System) -> dict[str, str]:
    """Names and units of the numbers of this system's steps: without joints there is no joint error."""
    return {name: unit for name, unit in NUMBERS.items() if name != "joint_error" or len(system.joints)}


class StepLog(Mapping[str, Floats]):
    """Scalars of every step by name: time, residual, iterations, solved (1 or 0), and those of `NUMBERS`."""

    def __init__(self) -> None:
        self._rows: list[tuple[float, ...]] = []
        self._names = (*_ALWAYS, *NUMBERS)

    def add(self, frame: Frame) -> None:
        """Take in a step."""
        own = (frame.time, frame.residual, float(frame.iterations), float(frame.status == "solved"))
        self._rows.append((*own, *(frame.numbers.get(name, 0.0) for name in NUMBERS)))

    def __getitem__(self, name: str) -> Floats:
        if name not in self._names:
            raise KeyError(f"{name!r}: choose one of {', '.join(self._names)}")
        return self.table()[:, self._names.index(name)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    @property
    def count(self) -> int:
        """Number of steps."""
        return len(self._rows)

    def table(self) -> Floats:
        """All numbers, (steps, names)."""
        return np.array(self._rows, dtype=float).reshape(len(self._rows), len(self._names))

    def restore(self, table: Floats) -> None:
        """Go back to what `table` returned; numbers that it did not know yet are zero."""
        table = np.asarray(table)
        missing = np.zeros((len(table), len(self._names) - table.shape[1]))
        self._rows = [tuple(row) for row in np.column_stack([table, missing]).tolist()]


@dataclass(frozen=True)
class RunCertificate:
    """How exact all steps of a run were."""

    tolerance: float
    """Relative residual that was asked for."""
    worst: float
    """Largest relative residual over all steps; NaN if one is."""
    worst_step: int
    """The step that has it, counted from 1; 0 if there was none."""
    failed: int
    """Steps that did not reach the tolerance."""
    steps: int
    largest_contact_work: float
    """Largest energy in J that the contacts of a step put in; not above rounding where no gap is negative."""
    largest_penetration: float
    """m"""
    late_contacts: int
    """Contacts that were found only when bodies already overlapped: a larger margin finds them in time."""
    largest_joint_error: float = 0.0
    """Largest opening of a joint in m or rad; zero where there are no joints."""

    @property
    def joints_held(self) -> bool:
        """Whether no joint opened by more than 0.01 m or rad: else shorten the step or change the scheme."""
        return self.largest_joint_error <= JOINT_BOUND

    @classmethod
    def of(cls, log: StepLog, tolerance: float) -> RunCertificate:
        """Collect it from the steps."""
        if log.count == 0:
            return cls(tolerance, 0.0, 0, 0, 0, 0.0, 0.0, 0)
        residual = log["residual"]
        bad = np.isnan(residual)
        worst = int(np.argmax(bad)) if bad.any() else int(np.argmax(residual))
        return cls(
            tolerance,
            float(residual[worst]),
            worst + 1,
            int(np.sum(log["solved"] == 0.0)),
            log.count,
            float(log["contact_work"].max()),
            float(log["penetration"].max()),
            int(log["late_contacts"].sum()),
            float(log["joint_error"].max()),
        )

    def __str__(self) -> str:
        reached = f"{self.steps - self.failed} of {self.steps} steps within {self.tolerance:g}"
        apart = f"; joints came apart, by {self.largest_joint_error:.2g} m or rad"
        return (
            f"{reached}; largest residual {self.worst:.2e} (step {self.worst_step}), "
            f"largest penetration {self.largest_penetration:.2e} m, late contacts {self.late_contacts}"
            + ("" if self.joints_held else apart)
        )


@dataclass(frozen=True)
class Run:
    """A finished simulation."""

    system: System
    """The system at the end; the one that was given is not changed."""
    time: float
    """Time reached, in s."""
    steps: StepLog
    certificate: RunCertificate
    timings: Timings
    """Wall time of the parts of all steps that this call did."""
    record: Path | None
    """The trajectory file, if there is one."""
    settings: dict[str, Any]
    """What the run was asked for."""

    def __repr__(self) -> str:
        return f"Run(time={self.time:g} s, {self.certificate})"
