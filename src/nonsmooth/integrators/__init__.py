"""How time moves: time stepping with hard contact and joints."""

from nonsmooth.integrators.assembly import assemble
from nonsmooth.integrators.frame import Frame
from nonsmooth.integrators.options import StepOptions
from nonsmooth.integrators.reactions import Reactions
from nonsmooth.integrators.run import Run, RunCertificate, StepLog
from nonsmooth.integrators.simulate import simulate
from nonsmooth.integrators.time_stepping import TimeStepper

__all__ = [
    "Frame",
    "Reactions",
    "Run",
    "RunCertificate",
    "StepLog",
    "StepOptions",
    "TimeStepper",
    "assemble",
    "simulate",
]
