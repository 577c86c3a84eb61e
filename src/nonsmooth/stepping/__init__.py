"""Time stepping with hard contacts and joints."""

from nonsmooth.stepping.assembly import assemble
from nonsmooth.stepping.frame import Frame
from nonsmooth.stepping.options import STEP_TOLERANCE, StepOptions
from nonsmooth.stepping.reactions import Reactions
from nonsmooth.stepping.run import Run
from nonsmooth.stepping.run_certificate import RunCertificate
from nonsmooth.stepping.sensor import Sensor
from nonsmooth.stepping.simulate import simulate
from nonsmooth.stepping.simulation import Simulation
from nonsmooth.stepping.state import State
from nonsmooth.stepping.step_log import StepLog
from nonsmooth.stepping.time_stepping import TimeStepper

__all__ = [
    "STEP_TOLERANCE",
    "Frame",
    "Reactions",
    "Run",
    "RunCertificate",
    "Sensor",
    "Simulation",
    "State",
    "StepLog",
    "StepOptions",
    "TimeStepper",
    "assemble",
    "simulate",
]
