"""`Run`: what a simulation returns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nonsmooth.model.system import System
from nonsmooth.stepping.frame import Timings
from nonsmooth.stepping.run_certificate import RunCertificate
from nonsmooth.stepping.step_log import StepLog


@dataclass(frozen=True)
class Run:
    """A finished simulation."""

    system: System
    """The system at the end; the given one is not changed."""
    time: float
    """Time reached, in s."""
    steps: StepLog
    certificate: RunCertificate
    timings: Timings
    """Wall time of the parts of all steps of this call."""
    record: Path | None
    """The trajectory file; None without a recording."""
    settings: dict[str, Any]
    """The options of the run."""

    def __repr__(self) -> str:
        return f"Run(time={self.time:g} s, {self.certificate})"
