"""Painlevé's rods: their initial states, their accelerations, and their paths through the plane."""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq, minimize_scalar

from nonsmooth._support.arrays import Floats
from nonsmooth.events import EventRun, simulate_events
from nonsmooth.events.acceleration import AccelerationLevel
from nonsmooth.events.enumeration import Mode, ModeSolution, all_solutions
from nonsmooth.scenes.closed_form.sliding_rod import Region, SlidingRod

ROD = SlidingRod()
SAFE = SlidingRod(friction=1.3)
"""A rod whose friction is below the critical one."""
ANGLES, SPINS = (0.02, 1.55), (-7.0, 7.0)
"""Ranges of the map in rad and rad/s."""
DURATION = 0.3
SPEED = 3.0
"""Initial speed of the tip in m/s."""
STARTS = {
    "below the critical friction": (SAFE, 0.9, 0.0),
    Region.SLIDING: (ROD, 0.3, 0.0),
    Region.LIFT_OFF: (ROD, 0.4, 6.0),
    "sliding until it lifts off": (ROD, 0.4, 4.6),
    Region.INCONSISTENT: (ROD, 0.9, 0.0),
    Region.INDETERMINATE: (ROD, 0.9, 5.0),
}
"""Rod, angle (rad) and spin (rad/s) of every start."""
APPROACHES = (0.5, 1.0, 2.0, 3.0)
"""Spins in rad/s from which the rod slides into the singular point."""
APPROACH_ANGLE, APPROACH_SPEED = 0.5, 20.0
FIT = (1e-7, 1e-3)
"""G m of the part of such a path over which its exponent is measured."""
RegionMap = tuple[Floats, Floats, list[list[Region]]]
"""Angles (rad), spins (rad/s), and the region at each pair: a row for each spin."""


def solutions(rod: SlidingRod, angle: float, spin: float) -> list[ModeSolution]:
    """Every acceleration of a rod that slides to the right."""
    return all_solutions(AccelerationLevel.of(rod.system(), *rod.sliding(angle, spin, SPEED)))


def region_found(rod: SlidingRod, angle: float, spin: float) -> Region:
    """The region by enumeration."""
    modes = sorted(str(each.modes[0]) for each in solutions(rod, angle, spin))
    named = {
        (): Region.INCONSISTENT,
        (str(Mode.OPEN),): Region.LIFT_OFF,
        (str(Mode.SLIDE),): Region.SLIDING,
        (str(Mode.OPEN), str(Mode.SLIDE)): Region.INDETERMINATE,
    }
    return named[tuple(modes)]


def region_map(rod: SlidingRod, count: int) -> RegionMap:
    """Angles, spins and the region found at each pair: a row for each spin."""
    angles, spins = np.linspace(*ANGLES, count), np.linspace(*SPINS, count)
    found = [[region_found(rod, float(angle), float(spin)) for angle in angles] for spin in spins]
    return angles, spins, found


def critical_friction() -> float:
    """μ above which the smallest G is negative."""

    def smallest(mu: float) -> float:
        rod = SlidingRod(friction=mu)

        def compliance(angle: float) -> float:
            q, u = rod.sliding(angle, 0.0, SPEED)
            return float(AccelerationLevel.of(rod.system(), q, u).matrix[0, 0])

        return float(
            minimize_scalar(compliance, bounds=(0.5, 1.5), method="bounded", options={"xatol": 1e-9}).fun
        )

    return float(brentq(smallest, 1.0, 2.0, xtol=1e-12))


def let_go(name: str) -> EventRun:
    """Simulate from one of the starts."""
    rod, angle, spin = STARTS[name]
    return simulate_events(rod.system(), *rod.sliding(angle, spin, SPEED), duration=DURATION)


def approach(spin: float) -> EventRun:
    """Slide into the singular point, where forces grow without bound.

    There the integrator stops, or finds two solutions: rounding decides on which side the rod arrives.
    """
    start = ROD.sliding(APPROACH_ANGLE, spin, APPROACH_SPEED)
    return simulate_events(ROD.system(), *start, duration=DURATION, relative=1e-8, absolute=1e-12)


def arrival(run: EventRun) -> float:
    """Time in s at which sliding ends."""
    return run.events[0].time if run.events else run.final.t


def on_the_way(run: EventRun) -> tuple[Floats, Floats, Floats]:
    """Times in s at the ends of steps, G in 1/kg and c in m/s² there."""
    times = np.array([piece.end for piece in run.pieces])
    times = times[times < arrival(run)]
    motion = run.sample(times)
    return times, ROD.compliance(motion.q[:, 2]), ROD.free_acceleration(motion.q[:, 2], motion.u[:, 2])


def exponent(run: EventRun) -> float:
    """Slope of log(−c) over log G on the last part of the way."""
    _, compliance, free = on_the_way(run)
    inside = (compliance * ROD.mass > FIT[0]) & (compliance * ROD.mass < FIT[1])
    return float(np.polyfit(np.log(compliance[inside]), np.log(-free[inside]), 1)[0])


def swing_error(found: EventRun) -> float:
    """Difference in rad of the final angle from that of a rod that rotates about its tip after the jump.

    Energy gives ω(θ), and the integral of 1/ω the time at which the rod has the computed angle.
    """
    rod, angle, spin = STARTS[Region.INCONSISTENT]
    after, _, _ = rod.jump(angle, spin, SPEED)
    fall = 1.5 * rod.gravity / rod.half_length  # of ω² over sin θ, from ½ (4/3) m l² ω² + m g l sin θ

    def speed(theta: float) -> float:
        return math.sqrt(after[2] ** 2 - fall * (math.sin(theta) - math.sin(angle)))

    end = float(found.final.q[2])
    time, _ = quad(lambda theta: 1.0 / speed(theta), angle, end, epsabs=1e-14, epsrel=1e-13)
    return abs(float(time) - DURATION) * speed(end)
