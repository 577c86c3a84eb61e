"""Event-driven integration: switching times themselves, and high order between them."""

from nonsmooth.events.from_robot import RobotPoint, robot_system
from nonsmooth.events.from_system import FreeBodies, generalised
from nonsmooth.events.moreau import SteppedRun, simulate_steps
from nonsmooth.events.options import EventOptions
from nonsmooth.events.run import Energies, Event, EventCertificate, EventError, EventKind, EventRun, Samples
from nonsmooth.events.simulate import simulate_events

__all__ = [
    "Energies",
    "Event",
    "EventCertificate",
    "EventError",
    "EventKind",
    "EventOptions",
    "EventRun",
    "FreeBodies",
    "RobotPoint",
    "Samples",
    "SteppedRun",
    "generalised",
    "robot_system",
    "simulate_events",
    "simulate_steps",
]
