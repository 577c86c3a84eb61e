"""Textbook motions and shapes to twelve digits: slider-crank, double pendulum, hanging chain, heavy top.

Like `references` these are independent of this package's bodies, joints and integrators. SI units;
angles in radians; every motion starts at t = 0.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import OptionError
from nonsmooth.experiments.mechanisms.references import COMPLEX_STEP, GRAVITY, history

_ROOT = {"xtol": 1e-300, "rtol": 4.0 * np.finfo(np.float64).eps}


# ---- slider-crank ----------------------------------------------------------------------------------------


def slider_crank(
    angle: ArrayLike, *, crank: float, rod: float, speed: float
) -> tuple[Floats, Floats, Floats]:
    """Position (m), velocity and acceleration of an in-line slider while the crank turns at constant `speed`.

    The crank's pin is at crank·(cos, sin) of `angle`, the slider on the x axis at the far end of the `rod`,
    which is longer than the crank.
    """
    if not rod > crank > 0.0:
        raise OptionError(
            f"rod = {rod:g} m must be longer than crank = {crank:g} m: a shorter one stops the crank."
        )
    theta = np.asarray(angle, dtype=np.float64)
    sine, cosine = crank * np.sin(theta), crank * np.cos(theta)
    root = np.sqrt(rod**2 - sine**2)
    slope = -sine - sine * cosine / root
    bend = -cosine - (cosine**2 - sine**2) / root - (sine * cosine) ** 2 / root**3
    return cosine + root, speed * slope, speed**2 * bend


def slider_crank_torque(
    angle: ArrayLike,
    *,
    crank: float,
    rod: float,
    speed: float,
    slider_mass: float,
    rod_mass: float = 0.0,
    crank_mass: float = 0.0,
    gravity: float = 0.0,
) -> Floats:
    """Torque (N·m) on the crank that keeps its `speed`: ½ speed² dM/dθ + dV/dθ; exact.

    M is the inertia of slider and uniform thin rod as the crank feels it (the crank's own is constant), V the
    energy of the uniform rod and crank with `gravity` along −y.
    """
    theta = np.asarray(angle, dtype=np.float64) + 1j * COMPLEX_STEP
    sine, cosine = crank * np.sin(theta), crank * np.cos(theta)
    root = np.sqrt(rod**2 - sine**2)
    centre_x, centre_y, turn = -sine - 0.5 * sine * cosine / root, 0.5 * cosine, cosine / root
    inertia = slider_mass * (sine + sine * cosine / root) ** 2
    inertia = inertia + rod_mass * (centre_x**2 + centre_y**2 + (rod * turn) ** 2 / 12.0)
    weight = 0.5 * gravity * (crank_mass + rod_mass) * sine
    slopes: Floats = (0.5 * speed**2 * inertia + weight).imag / COMPLEX_STEP
    return slopes


# ---- compound double pendulum ----------------------------------------------------------------------------


class DoublePendulum(NamedTuple):
    """Angles of the two rods from the downward vertical and their rates, one row for each time."""

    angles: Floats
    rates: Floats


def double_pendulum(
    times: ArrayLike,
    *,
    start: tuple[float, float] = (0.5 * math.pi, 0.5 * math.pi),
    rates: tuple[float, float] = (0.0, 0.0),
    lengths: tuple[float, float] = (1.0, 1.0),
    masses: tuple[float, float] = (1.0, 1.0),
    inertias: tuple[float, float] | None = None,
    gravity: float = GRAVITY,
) -> DoublePendulum:
    """Motion of two rods in a plane, pinned to the ground and to each other at their ends.

    The centres are at half length; `inertias` are about the centres, by default those of thin rods
    (m·length²/12). Lagrange's equations in the two angles.
    """
    (length, other), (mass, tip) = lengths, masses
    own = (mass * length**2 / 12.0, tip * other**2 / 12.0) if inertias is None else inertias
    first, second = own[0] + 0.25 * mass * length**2 + tip * length**2, own[1] + 0.25 * tip * other**2
    couple = 0.5 * tip * length * other
    weights = gravity * (0.5 * mass + tip) * length, gravity * 0.5 * tip * other

    def rate(_time: float, state: Floats) -> tuple[float, float, float, float]:
        one, two, one_rate, two_rate = state.tolist()
        cosine, sine = couple * math.cos(one - two), couple * math.sin(one - two)
        push_one = -sine * two_rate**2 - weights[0] * math.sin(one)
        push_two = sine * one_rate**2 - weights[1] * math.sin(two)
        det = first * second - cosine**2
        return (
            one_rate,
            two_rate,
            (second * push_one - cosine * push_two) / det,
            (first * push_two - cosine * push_one) / det,
        )

    motion = history(rate, (*start, *rates), times)
    return DoublePendulum(motion[:, :2], motion[:, 2:])


# ---- hanging chain ---------------------------------------------------------------------------------------


def catenary(length: float, span: float) -> tuple[float, float]:
    """Parameter a and sag (m) of a rope of this `length` between two points at one height, `span` apart.

    y = a cosh(x/a) with 2a sinh(span/2a) = length. The horizontal force is a times the weight per length.
    """
    _check_slack(length, span)
    ratio = length / span
    half: float = brentq(lambda u: math.sinh(u) - ratio * u, 1e-9, 4.0 + 2.0 * math.log(ratio), **_ROOT)
    parameter = 0.5 * span / half
    return parameter, parameter * 2.0 * math.sinh(0.5 * half) ** 2


class Chain(NamedTuple):
    """A chain of rigid links at rest."""

    joints: Floats
    """(links + 1, 2) joints in m from one end to the other, y up; the ends are at (0, 0) and (span, 0)."""
    forces: Floats
    """(links + 1, 2) force in N of each joint on the link to its right; the last one on the support."""


def hanging_chain(links: int, *, length: float, span: float, weight: float) -> Chain:
    """Rest of a chain of equal uniform links, pinned together and to two points at one height; exact.

    `length` (m) and `weight` (N) are those of the whole chain. The horizontal force H is the same in all
    joints and the vertical one drops by a link's weight w at each, so that the moments on link k give it the
    downward slope w((links + 1)/2 − k)/H; the span then fixes H.
    """
    _check_slack(length, span)
    if links < 2:
        raise OptionError(f"links = {links} cannot hang between two points; give at least 2.")
    each, link_weight = length / links, weight / links
    if links % 2 == 1 and span <= each:
        raise OptionError(
            f"span = {span:g} m has no room for the level middle link of {each:g} m; add a link."
        )
    steps = 0.5 * (links + 1) - np.arange(1, links + 1)

    def surplus(pull: float) -> float:
        return float(np.sum(1.0 / np.hypot(1.0, steps / pull))) - span / each

    pull: float = brentq(surplus, 1e-9, 1e9 * links, **_ROOT)
    long = np.hypot(pull, steps)
    directions = np.column_stack([pull / long, -steps / long])
    joints = np.vstack([np.zeros(2), each * np.cumsum(directions, axis=0)])
    vertical = link_weight * (0.5 * links - np.arange(links + 1))
    return Chain(joints, np.column_stack([np.full(links + 1, -link_weight * pull), vertical]))


def _check_slack(length: float, span: float) -> None:
    if not length > span > 0.0:
        raise OptionError(
            f"length = {length:g} m must exceed span = {span:g} m > 0: a taut chain has no sag."
        )


# ---- heavy symmetric top ---------------------------------------------------------------------------------


class Top(NamedTuple):
    """A symmetric top with a fixed point on its axis.

    The inertias (kg·m²) are about the fixed point, `moment` = mass · gravity · distance of the centre (N·m).
    """

    axial: float
    transverse: float
    moment: float

    def steady_precession(self, tilt: float, spin: float) -> tuple[float, float]:
        """The slow and the fast rate Ω (rad/s) of the axis about the vertical at constant `tilt` from it.

        Roots of transverse·cos(tilt)·Ω² − axial·spin·Ω + moment = 0; `spin` > 0 is the whole angular velocity
        about the axis. The fast root is infinite for a level axis.
        """
        momentum, slope = self.axial * spin, self.transverse * math.cos(tilt)
        square = momentum**2 - 4.0 * slope * self.moment
        if square < 0.0:
            least = math.sqrt(4.0 * slope * self.moment) / self.axial
            raise OptionError(
                f"spin = {spin:g} rad/s is too slow for steady precession; give at least {least:g}."
            )
        both = momentum + math.sqrt(square)
        return 2.0 * self.moment / both, math.inf if slope == 0.0 else 0.5 * both / slope

    def motion(
        self,
        times: ArrayLike,
        *,
        tilt: float,
        spin: float,
        precession_rate: float = 0.0,
        tilt_rate: float = 0.0,
    ) -> TopMotion:
        """Motion of the top from this state; precession and roll start at 0, and 0 < tilt < π must hold.

        `spin` is the whole angular velocity about the axis and is constant; so is the angular momentum about
        the vertical, which gives the precession and leaves one equation for the tilt.
        """
        momentum = self.axial * spin
        vertical = self.transverse * math.sin(tilt) ** 2 * precession_rate + momentum * math.cos(tilt)

        def rate(_time: float, state: Floats) -> tuple[float, float, float, float]:
            angle, angle_rate, _, _ = state.tolist()
            sine, cosine = math.sin(angle), math.cos(angle)
            turn = (vertical - momentum * cosine) / (self.transverse * sine**2)
            push = sine * (self.transverse * turn**2 * cosine - momentum * turn + self.moment)
            return angle_rate, push / self.transverse, turn, spin - turn * cosine

        return TopMotion(*history(rate, (tilt, tilt_rate, 0.0, 0.0), times).T)


class TopMotion(NamedTuple):
    """Euler angles of a top, R = R_z(precession) R_x(tilt) R_z(roll) with its axis along the body's z."""

    tilt: Floats
    tilt_rate: Floats
    precession: Floats
    roll: Floats
