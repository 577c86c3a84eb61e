"""Options of the event-driven integrator."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypedDict

from nonsmooth._support.options import choice, positive, whole
from nonsmooth.events.acceleration import GAP_TOLERANCE, VELOCITY_TOLERANCE

IMPACT_LAWS = ("newton", "poisson")


class EventOverrides(TypedDict, total=False):
    """The fields of `EventOptions` as keywords of `simulate_events`; see there."""

    impact: str
    relative: float
    absolute: float
    max_step: float
    looks: int
    gap_tolerance: float
    velocity_tolerance: float
    accumulation_gap: float
    check_gaps: bool
    max_events: int
    max_events_at_once: int
    look_ahead: float


@dataclass(frozen=True)
class EventOptions:
    """Options of event location, and thresholds for events."""

    impact: str = "newton"
    """Law of impact: "newton", γ_N⁺ = −e γ_N⁻, or "poisson", which returns e times the impulse."""
    relative: float = 1e-12
    """Relative tolerance of smooth motion."""
    absolute: float = 1e-12
    """Absolute tolerance of smooth motion, in the units of q and u."""
    max_step: float = math.inf
    """Longest step of smooth motion in s."""
    looks: int = 200
    """Smallest number of samples of gaps, forces and sliding speeds over the duration; raise it if something
    may appear and vanish between two samples."""
    gap_tolerance: float = GAP_TOLERANCE
    """Gap in m up to which a contact counts as closed; a larger overlap at the start is an error."""
    velocity_tolerance: float = VELOCITY_TOLERANCE
    """Speed in m/s up to which a contact counts as neither opening nor sliding."""
    accumulation_gap: float = 1e-11
    """Bounce height in m below which a shrinking sequence of impacts is passed as one."""
    check_gaps: bool = True
    """Whether directions are compared with differences of gaps at the start; False if a gap has a kink."""
    max_events: int = 10_000
    """Events after which a simulation stops."""
    max_events_at_once: int = 100
    """Events without time passing after which a simulation stops."""
    look_ahead: float = 1e-6
    """Time in s after an event at which forces on their limit are evaluated, on one side of the limit."""

    def __post_init__(self) -> None:
        owner = "EventOptions"
        choice(owner, "impact", self.impact, IMPACT_LAWS)
        for name in ("relative", "absolute", "max_step", "gap_tolerance", "velocity_tolerance"):
            positive(owner, name, getattr(self, name))
        positive(owner, "accumulation_gap", self.accumulation_gap)
        positive(owner, "look_ahead", self.look_ahead)
        whole(owner, "looks", self.looks, 1)
        whole(owner, "max_events", self.max_events, 1)
        whole(owner, "max_events_at_once", self.max_events_at_once, 1)
