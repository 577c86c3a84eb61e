"""How time moves: time stepping with hard contact and joints, and event-driven integration."""

from nonsmooth.integrators.assembly import assemble
from nonsmooth.integrators.events import EventOptions, EventRun, simulate_events, simulate_steps
from nonsmooth.integrators.frame import Frame
from nonsmooth.integrators.options import StepOptions
from nonsmooth.integrators.reactions import Reactions
from nonsmooth.integrators.run import Run, RunCertificate, StepLog
from nonsmooth.integrators.simulate import simulate
from nonsmooth.integrators.time_stepping import TimeStepper

__all__ = [
    "EventOptions",
    "EventRun",
    "Frame",
    "Reactions",
    "Run",
    "RunCertificate",
    "StepLog",
    "StepOptions",
    "TimeStepper",
    "assemble",
    "simulate",
    "simulate_events",
    "simulate_steps",
]
