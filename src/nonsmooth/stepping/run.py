"""What a simulation returns: the numbers of every step, and the certificate over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.model.system import System
from nonsmooth.stepping.frame import Frame, Timings

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
"""Names and units of the numbers that a step hands out besides its certificate."""

JOINT_BOUND = 0.01
"""Opening of a joint in m or rad from which on a mechanism has come apart: no step is meant to be so long."""

_ALWAYS = ("time", "residual", "iterations", "solved")


_OF_IMPACTS = ("impacts", "impact_work", "reduced_impacts", "unfinished_impacts")


def numbers_of(system: System, scheme: str = "stabilised") -> dict[str, str]:
    """Names and units of the numbers of this system's steps.

    Without joints there is no joint error, without restitution there are no impacts, and the work of flight
    is reported if there are impacts, and in the scheme "ballistic". Recordings have these numbers and no
    others, so that older ones of systems without restitution can be continued.
    """
    bounces = bool(system.materials.pair_table().restitution.any())
    known = {name: len(system.joints) > 0 for name in ("joint_error",)}
    known |= dict.fromkeys(_OF_IMPACTS, bounces) | {"flight_work": bounces or scheme == "ballistic"}
    return {name: unit for name, unit in NUMBERS.items() if known.get(name, True)}


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
    """Steps that are not certified: `missed` of them by their solution, others by their contacts alone."""
    steps: int
    largest_contact_work: float
    """Largest energy in J that the contacts of a step put in; not above rounding where no gap is negative."""
    largest_penetration: float
    """m"""
    late_contacts: int
    """Contacts that were found only when bodies already overlapped: a larger margin finds them in time."""
    largest_joint_error: float = 0.0
    """Largest opening of a joint in m or rad; zero where there are no joints."""
    impacts: int = 0
    """Impacts of contacts with restitution."""
    largest_impact_work: float = 0.0
    """Largest energy in J that the impacts of a step created; not above rounding."""
    reduced_impacts: int = 0
    """Impacts whose coefficients of restitution were reduced, because they would have created energy."""
    unfinished_impacts: int = 0
    """Contacts that still approached after the last pass of a step's impacts, or did not converge."""
    contacts: int = 0
    """Contacts of all steps."""
    contacts_checked: int = 0
    """Those that were checked, by code that shares nothing with the narrow phase."""
    largest_gap_error: float = 0.0
    """Largest difference in m between a gap and the separation of the shapes along its normal."""
    largest_normal_error: float = 0.0
    """Largest angle in rad between a normal and a direction that separates better; 0 if none does."""
    wrong_contact_steps: int = 0
    """Steps whose contacts did not pass the check; they count as failed."""
    missing_contacts: int = 0
    """Touching pairs that had no contact."""
    withheld_contacts: int = 0
    """Contacts that were left out or changed for a stated reason: seams, sweeps."""
    deep_contacts: int = 0
    """Contacts that overlap by more than a tenth of the smaller body's bounding radius."""
    missed: int = 0
    """Steps that did not reach the tolerance."""

    @property
    def residual(self) -> float:
        """The largest relative residual over all steps, `worst`."""
        return self.worst

    def holds(self, tolerance: float) -> bool:
        """Tell whether every step was solved to a relative `tolerance` and no contact was wrong."""
        return self.residual <= tolerance and self.wrong_contact_steps == 0

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
            int(log["impacts"].sum()),
            max(0.0, float(log["impact_work"].max())),
            int(log["reduced_impacts"].sum()),
            int(log["unfinished_impacts"].sum()),
            int(log["contacts"].sum()),
            int(log["contacts_checked"].sum()),
            float(log["gap_error"].max()),
            float(log["normal_error"].max()),
            int(log["wrong_contacts"].sum()),
            int(log["missing_contacts"].sum()),
            int(log["withheld_contacts"].sum()),
            int(log["deep_contacts"].sum()),
            # the status tells of the contacts where both are wrong
            int(np.sum(~(residual <= tolerance) | ((log["solved"] == 0.0) & (log["wrong_contacts"] == 0.0)))),
        )

    def __str__(self) -> str:
        reached = f"{self.steps - self.missed} of {self.steps} steps within {self.tolerance:g}"
        apart = f"; joints came apart, by {self.largest_joint_error:.2g} m or rad"
        return (
            f"{reached}; largest residual {self.worst:.2e} (step {self.worst_step}), "
            f"largest penetration {self.largest_penetration:.2e} m, late contacts {self.late_contacts}"
            + ("" if self.joints_held else apart)
            + self._of_impacts()
            + self._of_contacts()
        )

    def _of_contacts(self) -> str:
        """What the check of the contacts found; nothing where there were no contacts."""
        said = f"; 0 of {self.contacts} contacts checked" if self.contacts else ""
        if self.contacts_checked:
            said = (
                f"; {self.contacts_checked} of {self.contacts} contacts checked, largest gap error "
                f"{self.largest_gap_error:.1e} m, largest normal error {self.largest_normal_error:.1e} rad"
            )
        if self.wrong_contact_steps:
            said += (
                f"; contacts of {self.wrong_contact_steps} steps are wrong, {self.missing_contacts} missing"
            )
        if self.deep_contacts:
            said += f"; {self.deep_contacts} deep overlaps"
        return said

    def _of_impacts(self) -> str:
        """What there is to say of impacts; nothing where there were none."""
        if self.impacts == 0:
            return ""
        said = f"; {self.impacts} impacts, which created {self.largest_impact_work:.1e} J at most in a step"
        if self.reduced_impacts:
            said += f", {self.reduced_impacts} with reduced restitution"
        if self.unfinished_impacts:
            said += (
                f"; {self.unfinished_impacts} contacts of impacts stayed unfinished (neither sweeps nor "
                "Newton's method converged, or they still approached after the last pass): the contact "
                "problem of the step stops what approaches"
            )
        return said


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
