"""How time moves in steps, with hard contact and joints."""

from nonsmooth.stepping.assembly import assemble
from nonsmooth.stepping.frame import Frame
from nonsmooth.stepping.options import StepOptions
from nonsmooth.stepping.reactions import Reactions
from nonsmooth.stepping.run import Run, RunCertificate, StepLog
from nonsmooth.stepping.sensor import Sensor
from nonsmooth.stepping.simulate import simulate
from nonsmooth.stepping.time_stepping import TimeStepper

__all__ = [
    "Frame",
    "Reactions",
    "Run",
    "RunCertificate",
    "Sensor",
    "StepLog",
    "StepOptions",
    "TimeStepper",
    "assemble",
    "simulate",
]
