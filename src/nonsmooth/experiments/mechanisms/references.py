"""Reference motions of mechanisms, independent of this package's bodies, joints and integrators.

Each mechanism is reduced by hand to its one, two or three true freedoms and then solved in closed form or
integrated to about twelve digits. The problems are the five of the IFToMM library of computational benchmark
problems: A01 pendulum, A02 N four-bar mechanism, A03 Andrews' squeezer, A04 Bricard's mechanism, A05 stiff
flyball governor. SI units throughout; angles in radians; `times` is increasing and not negative, and every
motion starts at t = 0. `textbook_references` has the mechanisms of the textbooks.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import OptionError

Complexes = NDArray[np.complex128]
Rate = Callable[[float, Floats], Sequence[float]]
Energies = Callable[[complex], tuple[complex, complex]]

GRAVITY = 9.81
"""Gravitational acceleration of the IFToMM problems, m/s²; A03 has none."""

COMPLEX_STEP = 1e-30
"""Imaginary increment of a complex step: the derivative is the function's imaginary part divided by it."""


def history(rate: Rate, start: Sequence[float], times: ArrayLike, *, stiff: bool = False) -> Floats:
    """States at `times`, one row each, of d(state)/dt = rate(t, state) from `start` at t = 0.

    By DOP853 or, where `stiff`, by LSODA. Every output time ends a step: an interpolant is not as accurate.
    """
    method = "LSODA" if stiff else "DOP853"
    state, clock, rows = np.asarray(start, dtype=np.float64), 0.0, []
    for end in _column(times):
        if end < clock:
            raise OptionError(f"times go back from {clock:g} to {end:g} s; give them in order from t = 0.")
        if end > clock:
            part = solve_ivp(rate, (clock, end), state, method=method, rtol=1e-13, atol=1e-14)
            if not part.success:
                raise RuntimeError(f"{method} stopped at t = {part.t[-1]:g} s: {part.message}")
            state, clock = part.y[:, -1], float(end)
        rows.append(state)
    return np.array(rows)


def _column(times: ArrayLike) -> Floats:
    return np.atleast_1d(np.asarray(times, dtype=np.float64))


def one_freedom(energies: Energies) -> Rate:
    """Equation of motion of ½M(q)q̇² + V(q) from `energies`: q ↦ (M, V).

    M q̈ = −V′ − ½M′q̇². The derivatives are complex steps, exact to rounding: `energies` must be analytic.
    """

    def rate(_time: float, state: Floats) -> tuple[float, float]:
        inertia, potential = energies(complex(state[0], COMPLEX_STEP))
        push = potential.imag + 0.5 * inertia.imag * state[1] ** 2
        return float(state[1]), -push / (COMPLEX_STEP * inertia.real)

    return rate


# ---- A01: simple pendulum --------------------------------------------------------------------------------


def pendulum(
    times: ArrayLike, *, start: float = -0.5 * math.pi, length: float = 1.0, gravity: float = GRAVITY
) -> tuple[Floats, Floats]:
    """Angle θ and rate of a pendulum released at rest at the angle `start` from the vertical; exact.

    sin(θ/2) = k sn(K + ω₀t), k = sin(start/2), ω₀² = gravity/length, |start| < π. The length of a compound
    pendulum is its inertia about the pivot over mass times distance of the centre. With x to the right and y
    up the bob is at length·(sin θ, −cos θ); the defaults are A01's: from rest at (−1, 0) m.
    """
    modulus = math.sin(0.5 * start)
    frequency, quarter = math.sqrt(gravity / length), float(ellipk(modulus**2))
    argument = np.fmod(quarter + frequency * _column(times), 4.0 * quarter)
    sn, cn, _, _ = ellipj(argument, modulus**2)
    return 2.0 * np.arcsin(modulus * sn), 2.0 * modulus * frequency * cn


# ---- A02: N four-bar mechanism ---------------------------------------------------------------------------


def four_bar_gravity(loops: int, gravity: float = GRAVITY) -> float:
    """Apparent gravity g* in length·θ̈ = −g* cos θ of `loops` four-bar loops of equal uniform links, m/s².

    N + 1 rockers turn by θ (inertia mL²/3, centre at L/2) and N couplers move along (mL², height L sin θ):
    L²m((N+1)/3 + N)θ̈ = −mgL((N+1)/2 + N) cos θ. The links' mass cancels.
    """
    return gravity * 1.5 * (3 * loops + 1) / (4 * loops + 1)


def four_bar(
    times: ArrayLike, *, loops: int = 2, length: float = 1.0, speed: float = 1.0, gravity: float = GRAVITY
) -> tuple[Floats, Floats]:
    """Angle θ of all rockers from the x axis and its rate, for the N four-bar mechanism of A02; exact.

    The rockers start upright, θ = π/2, with the tips B₀, B₁, … moving along +x at `speed` > 0, so that θ
    falls without limit; B₀ = length·(cos θ, sin θ). At sin θ = 0 all links lie on one line and the mechanism
    has N + 1 degrees of freedom for an instant; this is the motion in which all loops stay parallelograms.
    """
    frequency = math.sqrt(four_bar_gravity(loops, gravity) / length)
    lowest = math.hypot(speed / length, 2.0 * frequency)
    squared_modulus = (2.0 * frequency / lowest) ** 2
    half_turn = 2.0 * float(ellipk(squared_modulus))
    turns, argument = np.divmod(0.5 * lowest * _column(times), half_turn)
    _, _, dn, amplitude = ellipj(argument - 0.5 * half_turn, squared_modulus)
    return -0.5 * math.pi - 2.0 * (amplitude + math.pi * turns), -lowest * dn


# ---- A03: Andrews' squeezer ------------------------------------------------------------------------------

ANDREWS_START = -0.0617138900142764496
"""Crank angle with crank and coupler in line, rad: the start of the IVP test set (A03 says −0.0620)."""

_A, _B, _C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
_ABOUT_PIVOT = {  # inertia about the fixed pivot, kg·m²: crank OF, triangle BDE, arm AG, arm AH
    "OF": 2.194e-6 + 0.04325 * 0.00092**2,
    "BDE": 5.255e-6 + 0.02373 * (0.01874**2 + 0.01043**2),
    "AG": 1.169e-5 + 0.0705 * (0.02308**2 + 0.00916**2),
    "AH": 1.912e-5 + 0.05498 * (0.01228**2 + 0.00449**2),
}


class _Point(NamedTuple):
    """A point of the squeezer and its derivative with respect to the crank angle."""

    x: complex
    y: complex
    dx: complex
    dy: complex

    def towards(self, other: _Point, part: float) -> _Point:
        """The point that divides the link from here to `other` at the fraction `part`."""
        return _Point(*(a + part * (b - a) for a, b in zip(self, other, strict=True)))


def _dyad(
    start: _Point, pivot: tuple[float, float], lengths: tuple[float, float], side: float
) -> tuple[_Point, complex, complex]:
    """Joint of two links, one from the moving point `start` and one from a fixed `pivot`, of these `lengths`.

    Returns the joint and the two links' turning rates with respect to the crank angle.
    """
    x, y = pivot[0] - start.x, pivot[1] - start.y
    square = x * x + y * y
    along = 0.5 * (square + lengths[0] ** 2 - lengths[1] ** 2) / square
    across = side * cmath.sqrt(lengths[0] ** 2 / square - along * along)
    ux, uy = along * x - across * y, along * y + across * x
    vx, vy = ux - x, uy - y
    turn = vx * uy - vy * ux
    first, second = (start.dx * vx + start.dy * vy) / turn, (start.dx * ux + start.dy * uy) / turn
    return _Point(start.x + ux, start.y + uy, -second * vy, second * vx), first, second


def _andrews(crank: complex) -> tuple[dict[str, _Point], dict[str, complex]]:
    """Points E, F, G, H of the squeezer and its links' turning rates at this crank angle."""
    cosine, sine = cmath.cos(crank), cmath.sin(crank)
    f = _Point(0.007 * cosine, 0.007 * sine, -0.007 * sine, 0.007 * cosine)
    e, turn_fe, turn_be = _dyad(f, _B, (0.028, 0.035), 1.0)
    g, turn_eg, turn_ag = _dyad(e, _A, (0.02, 0.04), -1.0)
    h, turn_eh, turn_ah = _dyad(e, _A, (0.02, 0.04), 1.0)
    turns = {
        "FE": turn_fe,
        "BDE": turn_be,
        "EG": turn_eg,
        "AG": turn_ag,
        "EH": turn_eh,
        "AH": turn_ah,
        "OF": 1.0,
    }
    return {"E": e, "F": f, "G": g, "H": h}, turns


def _andrews_energies(crank: complex, torque: float = 0.033) -> tuple[complex, complex]:
    """Inertia seen by the crank (kg·m²) and spring energy less the motor's work (J)."""
    points, turns = _andrews(crank)
    e = points["E"]
    inertia = sum((_ABOUT_PIVOT[link] * turns[link] ** 2 for link in _ABOUT_PIVOT), 0j)
    for start, link, mass, moment, part in (
        (points["F"], "FE", 0.00365, 4.410e-7, 0.0115 / 0.028),
        (points["G"], "EG", 0.00706, 5.667e-7, 0.00579 / 0.02),
        (points["H"], "EH", 0.00706, 5.667e-7, 0.00579 / 0.02),
    ):
        centre = start.towards(e, part)
        inertia += mass * (centre.dx**2 + centre.dy**2) + moment * turns[link] ** 2
    wx, wy = (e.x - _B[0]) / 0.035, (e.y - _B[1]) / 0.035
    spring = cmath.sqrt(
        (_B[0] + 0.018 * wx - 0.02 * wy - _C[0]) ** 2 + (_B[1] + 0.018 * wy + 0.02 * wx - _C[1]) ** 2
    )
    return inertia, 0.5 * 4530.0 * (spring - 0.07785) ** 2 - torque * crank


def andrews(times: ArrayLike, *, start: float = ANDREWS_START) -> tuple[Floats, Floats]:
    """Crank angle β and rate of Andrews' squeezer, from rest at `start`, driven by 0.033 N·m; no gravity.

    The seven bodies form three four-bar loops that the crank moves without ever reaching a dead point, so
    that β alone describes them. A03 runs to t = 0.05 s; the crank's tip is F = 0.007 m·(cos β, sin β).
    """
    motion = history(one_freedom(_andrews_energies), (start, 0.0), times)
    return motion[:, 0], motion[:, 1]


def andrews_angles(crank: float, rate: float) -> tuple[Floats, Floats]:
    """The literature's seven angles β, Θ, γ, Φ, δ, Ω, ε and their rates at this crank angle and rate."""
    points, turns = _andrews(complex(crank))
    e, f, g, h = (complex(points[name].x.real, points[name].y.real) for name in "EFGH")
    a, b = complex(*_A), complex(*_B)
    fe, eg, eh = (cmath.phase(z) for z in (f - e, 1j * (e - g), e - h))
    gamma, delta, epsilon = (cmath.phase(z) for z in (1j * (e - b), g - a, 1j * (h - a)))
    angles = (crank, fe - crank, gamma, eg - delta, delta, eh - epsilon, epsilon)
    d_fe, d_gamma, d_eg, d_delta, d_eh, d_epsilon = (
        turns[link].real for link in ("FE", "BDE", "EG", "AG", "EH", "AH")
    )
    rates = (1.0, d_fe - 1.0, d_gamma, d_eg - d_delta, d_delta, d_eh - d_epsilon, d_epsilon)
    return np.array(angles), rate * np.array(rates)


# ---- A04: Bricard's mechanism ----------------------------------------------------------------------------

BRICARD_START = math.acos(1.0 / math.sqrt(3.0))
"""Coordinate σ of A04's start, in which the six links are edges of a cube."""

_BRICARD_LINKS = (  # in the cube: axis (0 = x, …) of the joint before the link, and the link's direction
    (1, (1.0, 0.0, 0.0)),
    (2, (0.0, -1.0, 0.0)),
    (0, (0.0, 0.0, 1.0)),
    (1, (-1.0, 0.0, 0.0)),
    (2, (0.0, 1.0, 0.0)),
)


class _Link(NamedTuple):
    """A moving link: rotation from the cube, angular velocity (for σ̇ = 1) and direction."""

    rotation: Complexes
    spin: Complexes
    direction: Complexes


def _bricard(coordinate: complex) -> list[_Link]:
    """The five moving links at this σ: joint after joint from the frame, with angles θ and φ in turn."""
    cosine, sine, root = cmath.cos(coordinate), cmath.sin(coordinate), math.sqrt(3.0)
    turns = (
        (2.0 * cmath.atan(root * cosine), -2.0 * root * sine / (1.0 + 3.0 * cosine**2)),
        (2.0 * cmath.asin(0.5 * root * sine), root * cosine / cmath.sqrt(1.0 - 0.75 * sine**2)),
    )
    rotation, spin = np.eye(3, dtype=np.complex128), np.zeros(3, dtype=np.complex128)
    links = []
    for index, (axis, direction) in enumerate(_BRICARD_LINKS):
        angle, rate = turns[index % 2]
        spin = spin - rate * rotation[:, axis]
        after, last = (axis + 1) % 3, (axis + 2) % 3
        turn = np.eye(3, dtype=np.complex128)
        # The link has rotated by π/2 − angle from its position in the cube.
        turn[after, after] = turn[last, last] = cmath.sin(angle)
        turn[last, after] = cmath.cos(angle)
        turn[after, last] = -turn[last, after]
        rotation = rotation @ turn
        links.append(_Link(rotation, spin, rotation @ np.array(direction)))
    return links


def bricard_pose(coordinate: float, *, length: float = 1.0) -> tuple[Floats, Floats]:
    """Joints P₁ … P₆ (6, 3) in m, and rotations (5, 3, 3) of the moving links from the cube, at this σ.

    Link k joins P_k and P_(k+1); the frame holds P₆ and P₁. In the cube the axes are y, z, x, y, z, x.
    """
    links = _bricard(complex(coordinate))
    directions = np.array([link.direction.real for link in links])
    joints = np.vstack([np.zeros(3), length * np.cumsum(directions, axis=0)])
    return joints, np.array([link.rotation.real for link in links])


def bricard(
    times: ArrayLike, *, length: float = 1.0, mass: float = 1.0, width: float = 0.1, gravity: float = GRAVITY
) -> tuple[Floats, Floats]:
    """Coordinate σ and rate of Bricard's mechanism under gravity along −y, from rest in the cube (A04).

    Five uniform rods of square section `width` (kg, m). By the threefold symmetry the turning angles are θ at
    P₁, P₃, P₅ and φ at P₂, P₄, P₆ with (1 + cos θ)(1 + cos φ) = 1, that is cos(θ/2)cos(φ/2) = ½: a spherical
    triangle with a right angle and a hypotenuse of 60°. So tan(θ/2) = √3 cos σ and sin(φ/2) = √¾ sin σ close
    the loop for every σ. A04 runs to t = 10 s and measures P₃ (`bricard_pose`).
    """
    transverse, axial = mass * (length**2 + width**2) / 12.0, mass * width**2 / 6.0

    def energies(coordinate: complex) -> tuple[complex, complex]:
        inertia = height = 0j
        end, end_rate = np.zeros(3, dtype=np.complex128), np.zeros(3, dtype=np.complex128)
        for link in _bricard(coordinate):
            half = 0.5 * length * link.direction
            half_rate = np.cross(link.spin, half)
            centre_rate = end_rate + half_rate
            inertia += complex(mass * (centre_rate @ centre_rate) + transverse * (link.spin @ link.spin))
            inertia += (axial - transverse) * complex(link.spin @ link.direction) ** 2
            height += complex(end[1] + half[1])
            end, end_rate = end + 2.0 * half, end_rate + 2.0 * half_rate
        return inertia, mass * gravity * height

    motion = history(one_freedom(energies), (BRICARD_START, 0.0), times)
    return motion[:, 0], motion[:, 1]


# ---- A05: stiff flyball governor -------------------------------------------------------------------------


@dataclass(frozen=True)
class Governor:
    """The flyball governor of A05: a shaft, a slider on it, two rods with balls and two spring-dampers.

    Two square rods (`rod`, `rod_width` in m, kg) hang by pins along y at (±offset, 0, top) of the shaft, a
    point mass at their ends (kg); each spring-damper (N/m, N·s/m, `rest` in m) joins a rod's middle to the
    slider's side at (±offset, 0, height). The slider is a cube (kg, m), the shaft a bar like the rods.
    """

    rod: float = 1.0
    rod_width: float = 0.01
    rod_mass: float = 0.3
    ball_mass: float = 5.0
    slider_mass: float = 3.0
    slider_width: float = 0.1
    top: float = 1.0
    offset: float = 0.05
    stiffness: float = 8e5
    damping: float = 4e4
    rest: float = 0.5
    gravity: float = GRAVITY

    def spin_inertia(self, arm: float) -> tuple[float, float]:
        """Inertia about the shaft with the rods at `arm` below the horizontal, and its derivative, kg·m²."""
        axial = self.rod_mass * self.rod_width**2 / 6.0
        across = self.rod_mass * (self.rod**2 + self.rod_width**2) / 12.0
        cosine, sine = math.cos(arm), math.sin(arm)
        middle, end = self.offset + 0.5 * self.rod * cosine, self.offset + self.rod * cosine
        rods = self.rod_mass * middle**2 + self.ball_mass * end**2 + across * cosine**2 + axial * sine**2
        slope = -sine * self.rod * (self.rod_mass * middle + 2.0 * self.ball_mass * end)
        shaft, slider = axial, self.slider_mass * self.slider_width**2 / 6.0
        inertia = shaft + slider + 2.0 * rods
        return inertia, 2.0 * (slope - 2.0 * (across - axial) * cosine * sine)

    def spring(self, arm: float, height: float) -> tuple[float, float, float]:
        """Length of a spring and its derivatives with respect to the rod's angle and the slider's height."""
        half = 0.5 * self.rod
        x, z = half * math.cos(arm), self.top - half * math.sin(arm) - height
        length = math.hypot(x, z)
        return length, -half * (x * math.sin(arm) + z * math.cos(arm)) / length, -z / length

    def energy(self, spin: float, arm: float, arm_rate: float, height: float, height_rate: float) -> float:
        """Kinetic, gravitational and elastic energy, J; `spin` is the shaft's angular velocity."""
        arms, moment = self._arms()
        kinetic = 0.5 * (self.spin_inertia(arm)[0] * spin**2 + self.slider_mass * height_rate**2)
        weight = self.slider_mass * self.gravity * height - 2.0 * self.gravity * moment * math.sin(arm)
        stretch = self.spring(arm, height)[0] - self.rest
        return kinetic + arms * arm_rate**2 + weight + self.stiffness * stretch**2

    def _arms(self) -> tuple[float, float]:
        """One rod with its ball: inertia about the pin (kg·m²) and first moment of mass (kg·m)."""
        across = self.rod_mass * (self.rod**2 + self.rod_width**2) / 12.0
        inertia = across + (0.25 * self.rod_mass + self.ball_mass) * self.rod**2
        return inertia, (0.5 * self.rod_mass + self.ball_mass) * self.rod

    def rates(self, momentum: float) -> Rate:
        """Equations of motion of turn, arm, arm rate, height, height rate and heat at this `momentum`."""
        arms, moment = self._arms()

        def rate(_time: float, state: Floats) -> tuple[float, ...]:
            _, arm, arm_rate, height, height_rate, _ = state.tolist()
            inertia, slope = self.spin_inertia(arm)
            spin = momentum / inertia
            length, by_arm, by_height = self.spring(arm, height)
            stretching = by_arm * arm_rate + by_height * height_rate
            tension = self.stiffness * (length - self.rest) + self.damping * stretching
            arm_push = 0.25 * slope * spin**2 + self.gravity * moment * math.cos(arm) - tension * by_arm
            lift = -self.gravity - 2.0 * tension * by_height / self.slider_mass
            return spin, arm_rate, arm_push / arms, height_rate, lift, 2.0 * self.damping * stretching**2

        return rate


class GovernorMotion(NamedTuple):
    """Motion of the governor, one entry for each time."""

    turn: Floats
    """Angle of the shaft, rad."""
    spin: Floats
    """Its angular velocity, rad/s."""
    arm: Floats
    """Angle of the rods below the horizontal, rad."""
    arm_rate: Floats
    height: Floats
    """The slider's height s, m: the quantity of A05."""
    height_rate: Floats
    heat: Floats
    """Work done on the two dampers so far, J."""


def governor(
    times: ArrayLike,
    *,
    spin: float = 2.0 * math.pi,
    arm: float = math.pi / 6.0,
    height: float = 0.5,
    design: Governor | None = None,
) -> GovernorMotion:
    """Motion of the freely spinning governor from rods at `arm` below the horizontal (A05: to t = 10 s).

    All parts initially spin together and nothing else moves; A05's springs start relaxed. The angular
    momentum about the shaft is constant, which leaves the rods' angle and the slider's height as coordinates.
    """
    design = Governor() if design is None else design
    momentum = design.spin_inertia(arm)[0] * spin
    motion = history(design.rates(momentum), (0.0, arm, 0.0, height, 0.0, 0.0), times, stiff=True)
    spins = np.array([momentum / design.spin_inertia(value)[0] for value in motion[:, 1]])
    return GovernorMotion(motion[:, 0], spins, *motion[:, 1:].T)
