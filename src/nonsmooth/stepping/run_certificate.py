"""The certificate of all steps of a run."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.stepping.step_log import StepLog

JOINT_BOUND = 0.01
"""Opening of a joint in m or rad above which a mechanism has come apart, and the step is too long."""


@dataclass(frozen=True)
class RunCertificate:
    """Accuracy of all steps of a run."""

    tolerance: float
    """Requested relative residual."""
    worst: float
    """Largest relative residual over all steps; NaN if any is NaN."""
    worst_step: int
    """The step with the largest residual, counted from 1; 0 if there were no steps."""
    failed: int
    """Steps that are not certified: `missed` for their solution, the others for their contacts alone."""
    steps: int
    largest_contact_work: float
    """Largest energy in J that the contacts of a step added; not above rounding where no gap is negative."""
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
    """Contacts that were checked, by code that is independent of the narrow phase."""
    largest_gap_error: float = 0.0
    """Largest difference in m between a gap and the separation of the shapes along its normal."""
    largest_normal_error: float = 0.0
    """Largest angle in rad between a normal and a direction of larger separation; 0 if there is none."""
    wrong_contact_steps: int = 0
    """Steps whose contacts did not pass the check; they count as failed."""
    missing_contacts: int = 0
    """Touching pairs that had no contact."""
    withheld_contacts: int = 0
    """Contacts that were omitted or changed for a stated reason: seams, sweeps."""
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
        return self.steps == 0 or self.largest_joint_error <= JOINT_BOUND

    @classmethod
    def of(cls, log: StepLog, tolerance: float) -> RunCertificate:
        """Collect it from the steps."""
        if log.count == 0:
            nan = math.nan
            return cls(
                tolerance, nan, 0, 0, 0, nan, nan, 0, largest_joint_error=nan, largest_impact_work=nan,
                largest_gap_error=nan, largest_normal_error=nan,
            )  # fmt: skip
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
            _total(log["late_contacts"]),
            float(log["joint_error"].max()),
            _total(log["impacts"]),
            max(0.0, float(log["impact_work"].max())),
            _total(log["reduced_impacts"]),
            _total(log["unfinished_impacts"]),
            _total(log["contacts"]),
            _total(log["contacts_checked"]),
            float(log["gap_error"].max()),
            float(log["normal_error"].max()),
            _total(log["wrong_contacts"]),
            _total(log["missing_contacts"]),
            _total(log["withheld_contacts"]),
            _total(log["deep_contacts"]),
            # where both fail, the status refers to the contacts
            int(np.sum(~(residual <= tolerance) | ((log["solved"] == 0.0) & (log["wrong_contacts"] == 0.0)))),
        )

    def __str__(self) -> str:
        if self.steps == 0:
            return "no step was done"
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
        """Result of the contact check; empty without contacts."""
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
        """Result of the impacts; empty without impacts."""
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


def _total(counts: Floats) -> int:
    """Sum over the steps that report the number; steps of older recordings may not."""
    return int(np.nansum(counts))
