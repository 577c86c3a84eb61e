"""Event-driven integration: switching times are located, and smooth motion between them is of high order."""

from nonsmooth.events.acceleration import AccelerationLevel, ActiveContact
from nonsmooth.events.enumeration import Mode, ModeSolution, all_solutions
from nonsmooth.events.from_system import FreeBodies, generalised
from nonsmooth.events.moreau import SteppedRun, simulate_steps
from nonsmooth.events.options import EventOptions
from nonsmooth.events.run import Energies, Event, EventCertificate, EventError, EventKind, EventRun, Samples
from nonsmooth.events.simulate import simulate_events

__all__ = [
    "AccelerationLevel",
    "ActiveContact",
    "Energies",
    "Event",
    "EventCertificate",
    "EventError",
    "EventKind",
    "EventOptions",
    "EventRun",
    "FreeBodies",
    "Mode",
    "ModeSolution",
    "Samples",
    "SteppedRun",
    "all_solutions",
    "generalised",
    "simulate_events",
    "simulate_steps",
]
