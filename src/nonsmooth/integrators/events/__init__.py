"""Event-driven integration: switching times themselves, and high order between them."""

from nonsmooth.integrators.events.from_robot import RobotPoint, robot_system
from nonsmooth.integrators.events.from_system import FreeBodies, generalised
from nonsmooth.integrators.events.moreau import SteppedRun, simulate_steps
from nonsmooth.integrators.events.options import EventOptions
from nonsmooth.integrators.events.run import (
    Energies,
    Event,
    EventCertificate,
    EventKind,
    EventRun,
    EventStatus,
    Samples,
)
from nonsmooth.integrators.events.simulate import simulate_events

__all__ = [
    "Energies",
    "Event",
    "EventCertificate",
    "EventKind",
    "EventOptions",
    "EventRun",
    "EventStatus",
    "FreeBodies",
    "RobotPoint",
    "Samples",
    "SteppedRun",
    "generalised",
    "robot_system",
    "simulate_events",
    "simulate_steps",
]
