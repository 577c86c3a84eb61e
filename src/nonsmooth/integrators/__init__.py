"""How time moves: time stepping with hard contact."""

from nonsmooth.integrators.frame import Frame
from nonsmooth.integrators.run import Run, RunCertificate, StepLog
from nonsmooth.integrators.simulate import simulate
from nonsmooth.integrators.time_stepping import StepOptions, TimeStepper

__all__ = ["Frame", "Run", "RunCertificate", "StepLog", "StepOptions", "TimeStepper", "simulate"]
