"""The named problems, with their sources and solutions.

Numbers are derived in the docstrings; none was computed by the package's solvers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth._support.registry import Registry
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.library.geometry import contact_rows


@dataclass(frozen=True)
class NamedProblem:
    """A problem with its reference solution. None marks values not unique or not known in closed form."""

    name: str
    summary: str
    source: str
    build: Callable[[], ContactProblem]
    impulses: Floats | None = None
    """γ in N·s (or N on acceleration level)."""
    velocity: Floats | None = None
    """v in m/s and rad/s (or accelerations)."""
    contact_velocities: Floats | None = None
    """u in m/s (or m/s²)."""
    joint_impulses: Floats | None = None
    """λ in N·s or N·m·s (or N, N·m)."""


NAMED: Registry[NamedProblem] = Registry("problem", {})
"""Every named problem."""
by_name = NAMED.by_name


def _add(
    name: str,
    summary: str,
    source: str,
    build: Callable[[], ContactProblem],
    *,
    impulses: ArrayLike | None = None,
    velocity: ArrayLike | None = None,
    contact_velocities: ArrayLike | None = None,
    joint_impulses: ArrayLike | None = None,
) -> None:
    def frozen(values: ArrayLike | None) -> Floats | None:
        if values is None:
            return None
        array = np.array(values, dtype=float)
        array.setflags(write=False)
        return array

    NAMED[name] = NamedProblem(
        name, summary, source, build, frozen(impulses), frozen(velocity), frozen(contact_velocities),
        frozen(joint_impulses),
    )  # fmt: skip


# ---- the sliding ball -----------------------------------------------------------------------------


def sliding_ball(law: str = "coulomb", step: float = 0.01) -> ContactProblem:
    """The ball of Melanz et al. §3.1 at t = 0: unit sphere, μ = 0.2, sliding at 2 m/s on a plane.

        N = diag(1, 3.5),  r = (−0.0981, 2)

    Exact law. The contact closes, so u_n = γ_n − 0.0981 = 0 gives γ_n = 0.0981. It slides forward
    (u_t = 2 + 3.5 γ_t > 0 for |γ_t| ≤ 0.2·0.0981), so γ_t = −μ γ_n = −0.01962.

    Relaxed law. Sliding forward again, γ_t = −0.2 γ_n, but now u_n = μ u_t:
    γ_n − 0.0981 = 0.2 (2 − 0.7 γ_n), so 1.14 γ_n = 0.4981 and γ_n = 0.43692982…, and the ball lifts
    off with u_n = 0.3388 m/s.
    """
    return ContactProblem(
        mass=np.diag([1.0, 1.0, 0.4]),
        jacobian=[[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]],
        momentum=[2.0, -9.81 * step, 0.0],
        friction=[0.2],
        law=law,
    )


_add(
    "sliding-ball",
    "a ball that slides on a plane, exact law",
    "Melanz et al. §3.1",
    sliding_ball,
    impulses=[0.0981, -0.01962],
    velocity=[2.0 - 0.01962, 0.0, -0.01962 / 0.4],
    contact_velocities=[0.0, 2.0 - 3.5 * 0.01962],
)
_RELAXED_N = 0.4981 / 1.14
_add(
    "sliding-ball-relaxed",
    "the same ball under the relaxed law: it lifts off",
    "Melanz et al. §3.1",
    lambda: sliding_ball("relaxed"),
    impulses=[_RELAXED_N, -0.2 * _RELAXED_N],
    velocity=[2.0 - 0.2 * _RELAXED_N, _RELAXED_N - 0.0981, -0.5 * _RELAXED_N],
    contact_velocities=[_RELAXED_N - 0.0981, 2.0 - 0.7 * _RELAXED_N],
)


# ---- the planar block -----------------------------------------------------------------------------


def planar_block(force: ArrayLike, friction: float = 0.3, law: str = "coulomb") -> ContactProblem:
    """The block of Studer and Glocker §5.8 on acceleration level: two planar contacts, forces in N.

        y ┌────────┐       m = 2.1 kg, half length ℓ = 0.15 m, half height h = 0.05 m
        ↑ │   ·    │       J = m(ℓ² + h²)/3 = 0.0175 kg·m²
        └→└────────┘x      contacts (n, t) at the two lower corners
          1        2

    The paper prints J = 0.018, which does not give its printed G; the homogeneous block's J does.
    `force` is (F_x, F_y, M).
    """
    m, length, height = 2.1, 0.15, 0.05
    normal = [[0.0, 0.0], [1.0, 1.0], [-length, length]]
    tangent = [[1.0, 1.0], [0.0, 0.0], [height, height]]
    jacobian = np.stack([np.array(normal), np.array(tangent)], axis=2).reshape(3, 4)
    return ContactProblem(
        mass=np.diag([m, m, m * (length**2 + height**2) / 3.0]),
        jacobian=jacobian,
        momentum=force,
        friction=[friction, friction],
        law=law,
    )


BLOCK_LOADS = {"stick": (2.0, -20.6, 0.0), "slide": (10.0, -20.6, 0.0), "open": (0.0, -20.6, 4.0)}
"""Loads (F_x, F_y, M) in N and N·m that give the three states of the paper's Fig. 8."""


def block_sticks() -> ContactProblem:
    """Case 1: both corners closed and sticking. The tangential forces are not unique, only their sum.

    At rest: Σ λ_n = 20.6, Σ λ_t = −2, and the moment h·Σλ_t + ℓ(λ_n2 − λ_n1) = 0 gives
    λ_n = (9.9666…, 10.6333…).
    """
    return planar_block(BLOCK_LOADS["stick"])


def block_slides() -> ContactProblem:
    """Case 2: both corners closed and sliding forward, λ_t = −0.3 λ_n.

    Σ λ_n = 20.6, moment −0.3·0.05·20.6 + 0.15 (λ_n2 − λ_n1) = 0: λ_n = (9.27, 11.33);
    acceleration (10 − 6.18)/2.1 = 1.8190… m/s².
    """
    return planar_block(BLOCK_LOADS["slide"])


def block_opens() -> ContactProblem:
    """Case 3: corner 1 closed and sticking, corner 2 opening.

    With λ = (λ_n, λ_t) at corner 1 alone: ẍ = λ_t/m, ÿ = (λ_n − 20.6)/m,
    φ̈ = (4 − 0.15 λ_n + 0.05 λ_t)/J, and both accelerations of the corner vanish:
    ÿ − 0.15 φ̈ = 0, ẍ + 0.05 φ̈ = 0. The answer: λ_n = 24.695, λ_t = −1.365, φ̈ = 13, and corner 2 opens
    with ÿ + 0.15 φ̈ = 3.9 m/s².
    """
    return planar_block(BLOCK_LOADS["open"])


_SLIDE = (10.0 - 6.18) / 2.1
_add(
    "block-sticks", "a planar block, both corners stick; friction not unique", "Studer and Glocker §5.8",
    block_sticks, velocity=[0.0, 0.0, 0.0], contact_velocities=[0.0, 0.0, 0.0, 0.0],
)  # fmt: skip
_add(
    "block-slides", "a planar block, both corners slide", "Studer and Glocker §5.8",
    block_slides, impulses=[9.27, -2.781, 11.33, -3.399], velocity=[_SLIDE, 0.0, 0.0],
    contact_velocities=[0.0, _SLIDE, 0.0, _SLIDE],
)  # fmt: skip
_add(
    "block-opens", "a planar block, one corner sticks and the other opens", "Studer and Glocker §5.8",
    block_opens, impulses=[24.695, -1.365, 0.0, 0.0], velocity=[-0.65, 1.95, 13.0],
    contact_velocities=[0.0, 0.0, 3.9, 0.0],
)  # fmt: skip


# ---- bodies in space --------------------------------------------------------------------------------


def cube_on_plane(
    speed: float = 0.0, friction: float = 0.3, step: float = 0.01, law: str = "coulomb"
) -> ContactProblem:
    """A unit cube of 1 kg with four contacts on a plane, gliding along x at `speed` (m/s), under gravity.

            z ┌───────┐
            ↑ │   ·   │ → speed       contacts at the four lower corners: 12 components
            └→└───────┘ x             for 6 degrees of freedom

    Hyperstatic: the corner impulses are not unique, the velocity is. At rest v = 0. Gliding, exact
    friction reduces the speed by μ g h, unless that stops the cube, and the cube neither turns nor lifts:
    the front corners carry more.
    """
    corners = np.array([[x, y, -0.5] for x in (-0.5, 0.5) for y in (-0.5, 0.5)])
    frames = np.tile([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], (4, 1, 1))
    rows = contact_rows(frames, np.zeros((4, 3)), corners)
    rows[:, 0] = 0.0
    return ContactProblem(
        mass=[[1.0, 1.0, 1.0, 1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0]],
        jacobian=rows,
        bodies=[[-1, 0]] * 4,
        momentum=[speed, 0.0, -9.81 * step, 0.0, 0.0, 0.0],
        friction=friction,
        law=law,
    )


def held_on_belt(belt: float = 1.0, friction: float = 0.5, law: str = "coulomb") -> ContactProblem:
    """A body of 2 kg held in place by a joint on a belt that runs at `belt` m/s along x.

    Five joint rows hold x, y and all rotations; the body may move along z alone. Gravity for 0.01 s
    presses it on the belt: γ_n = 0.1962. The belt enters through the bias b_t = −belt: the contact point
    slides, and γ_t = +μ γ_n pulls the body along; the joint answers with λ_x = −μ γ_n and, as friction acts
    0.5 m below the centre, with the moment λ_ry = +0.5 μ γ_n.
    """
    frames = np.array([[[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    rows = contact_rows(frames, np.zeros((1, 3)), np.array([[0.0, 0.0, -0.5]]))
    rows[:, 0] = 0.0
    joint = np.zeros((5, 2, 6))
    joint[np.arange(5), 1, [0, 1, 3, 4, 5]] = 1.0
    return ContactProblem(
        mass=[[2.0, 2.0, 2.0, 0.3, 0.3, 0.3]],
        jacobian=rows,
        bodies=[[-1, 0]],
        momentum=[0.0, 0.0, -0.1962, 0.0, 0.0, 0.0],
        bias=[0.0, -belt, 0.0],
        friction=friction,
        joint_jacobian=joint,
        joint_bodies=[[-1, 0]] * 5,
        law=law,
    )


def frictionless_drop() -> ContactProblem:
    """A particle of 3 kg that meets a plane at 2 m/s with one component and no friction: γ_n = 6 N·s."""
    return ContactProblem(
        mass=3.0 * np.eye(3), jacobian=[[0.0], [0.0], [1.0]], momentum=[3.0, 0.0, -6.0], friction=[0.0]
    )


def mixed_components() -> ContactProblem:
    """Three particles with contacts of one, two and three components, far from each other.

    1 kg at −1 m/s, frictionless: γ = 1. In a plane at (1, −1) m/s with μ = 0.5, it slides:
    γ = (1, −0.5). In space at (3, 4, −1) m/s with μ = 1: friction 1 against the direction
    (0.6, 0.8): γ = (1, −0.6, −0.8).
    """
    jacobian = np.zeros((6, 6))
    jacobian[0, 0] = 1.0
    jacobian[2, 1] = jacobian[1, 2] = 1.0
    jacobian[5, 3] = jacobian[3, 4] = jacobian[4, 5] = 1.0
    return ContactProblem(
        mass=np.eye(6),
        jacobian=jacobian,
        momentum=[-1.0, 1.0, -1.0, 3.0, 4.0, -1.0],
        friction=[0.7, 0.5, 1.0],
        components=[1, 2, 3],
    )


def nothing_touches() -> ContactProblem:
    """One free particle and no contacts: the velocity follows from the momentum."""
    return ContactProblem(
        mass=2.0 * np.eye(3), jacobian=np.zeros((3, 0)), momentum=[2.0, 4.0, 6.0], friction=[]
    )


_add(
    "cube-rests", "a cube on four corners at rest; corner impulses not unique", "closed form",
    cube_on_plane, velocity=np.zeros(6), contact_velocities=np.zeros(12),
)  # fmt: skip
_GLIDE = 1.0 - 0.3 * 0.0981
_add(
    "cube-glides", "a cube gliding on four corners: loses μ g h, does not lift", "closed form",
    lambda: cube_on_plane(speed=1.0), velocity=[_GLIDE, 0.0, 0.0, 0.0, 0.0, 0.0],
    contact_velocities=np.tile([0.0, _GLIDE, 0.0], 4),
)  # fmt: skip
_add(
    "held-on-belt", "a body held by a joint on a moving belt", "closed form",
    held_on_belt, impulses=[0.1962, 0.0981, 0.0], velocity=np.zeros(6), contact_velocities=[0.0, -1.0, 0.0],
)  # fmt: skip
_add(
    "frictionless-drop", "a particle drops on a plane, one component", "closed form",
    frictionless_drop, impulses=[6.0], velocity=[1.0, 0.0, 0.0], contact_velocities=[0.0],
)  # fmt: skip
_add(
    "mixed-components", "contacts of one, two and three components", "closed form",
    mixed_components, impulses=[1.0, 1.0, -0.5, 1.0, -0.6, -0.8],
    velocity=[0.0, 0.5, 0.0, 2.4, 3.2, 0.0], contact_velocities=[0.0, 0.0, 0.5, 0.0, 2.4, 3.2],
)  # fmt: skip
_add(
    "nothing-touches", "no contacts", "closed form",
    nothing_touches, impulses=[], velocity=[1.0, 2.0, 3.0], contact_velocities=[],
)  # fmt: skip


# ---- joint rows with bounds -------------------------------------------------------------------------


def _held(rows: ArrayLike, bounds: ArrayLike, **arguments: Any) -> ContactProblem:
    """One body with joint rows to ground, the rows of Gᵀ (r, 6); the last ones have bounds."""
    jacobian, given = np.array(rows, dtype=float), np.array(bounds, dtype=float)
    both = np.zeros((len(jacobian), 2, 6))
    both[:, 1] = jacobian
    holding = np.tile([-np.inf, np.inf], (len(jacobian) - len(given), 1))
    return ContactProblem(
        joint_jacobian=both,
        joint_bodies=[[-1, 0]] * len(both),
        joint_bounds=np.concatenate([holding, given]),
        **arguments,
    )


def motor_at_stop(law: str = "coulomb") -> ContactProblem:
    """A motor of limited torque turns a wheel against a stop, for 0.01 s from rest.

    J = 0.5 kg·m². Five rows hold the wheel, which turns about z. The motor is set to 4 rad/s and limited to
    20 N·m, an impulse of 0.2 N·m·s: alone it would reach 0.4 rad/s. The stop is 0.002 rad ahead, so that
    0.2 − ω ≥ 0. The wheel reaches the stop, ω = 0.2: the motor is at its limit, λ_m = 0.2, and the stop
    takes λ_s = 0.2 − J ω = 0.1 N·m·s.
    """
    return _held(
        [*np.eye(6)[:5], np.eye(6)[5], -np.eye(6)[5]],
        [[-0.2, 0.2], [0.0, np.inf]],
        mass=[[1.0, 1.0, 1.0, 0.5, 0.5, 0.5]],
        jacobian=np.zeros((0, 2, 3, 6)),
        bodies=np.zeros((0, 2), dtype=int),
        joint_bias=[0.0, 0.0, 0.0, 0.0, 0.0, -4.0, 0.2],
        friction=[],
        law=law,
    )


def dry_pendulum(torque: float, law: str = "coulomb") -> ContactProblem:
    """A horizontal pendulum released for 0.01 s, with dry friction of `torque` N·m in its bearing.

        z
        ↑   ○────·       2 kg at 0.5 m from the bearing, J = 0.1 kg·m² about its centre:
        └→x              0.6 kg·m² about the bearing, whose axis is y

    Gravity gives 2·9.81·0.5·0.01 = 0.0981 N·m·s about the bearing. Friction of 12 N·m could take 0.12
    and holds it: λ = −0.0981, nothing moves, and the bearing carries 0.1962 N·s. With 5 N·m it slips,
    λ = −0.05, and ω = (0.0981 − 0.05)/0.6; the centre falls with 0.5 ω, and the bearing carries the rest
    of the weight, 0.1962 − 2·0.5·ω.
    """
    bearing = np.zeros((6, 6))
    bearing[:3, :3] = np.eye(3)
    bearing[1, 5], bearing[2, 4] = -0.5, 0.5  # r × e for the bearing at r = (−0.5, 0, 0)
    bearing[[3, 4, 5], [3, 5, 4]] = 1.0
    return _held(
        bearing,
        [[-0.01 * torque, 0.01 * torque]],
        mass=[[2.0, 2.0, 2.0, 0.1, 0.1, 0.1]],
        jacobian=np.zeros((0, 2, 3, 6)),
        bodies=np.zeros((0, 2), dtype=int),
        momentum=[0.0, 0.0, -0.1962, 0.0, 0.0, 0.0],
        friction=[],
        law=law,
    )


def slider_at_stop(law: str = "coulomb") -> ContactProblem:
    """A block of 2 kg slides along x at 1 m/s, on a plane with μ = 0.5 and in a rough rail, into a stop.

    Four rows hold y and the rotations. The rail's dry friction is 5 N, 0.05 N·s in the step of 0.01 s.
    The stop is 5 mm ahead: 0.5 − v_x ≥ 0. The contact is 0.5 m below the centre.

    Exact law. γ_n = 0.1962 carries the weight, γ_t = −0.0981. The block would keep
    (2 − 0.0981 − 0.05)/2 > 0.5 m/s, so it meets the stop: v_x = 0.5 and λ_s = 2 − 0.0981 − 0.05 − 1 = 0.8519.
    Friction at r = (0, 0, −0.5) has the moment r × γ, −0.5 γ_t about y: λ_ry = 0.5 γ_t.
    A pyramid with a corner towards −x gives the same.

    Relaxed law. v_x = 0.5 again, but it lifts: u_n = μ u_t = 0.25, γ_n = 0.1962 + 2·0.25 = 0.6962,
    γ_t = −0.3481, and λ_s = 2 − 0.3481 − 0.05 − 1 = 0.6019.
    """
    frames = np.array([[[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    rows = contact_rows(frames, np.zeros((1, 3)), np.array([[0.0, 0.0, -0.5]]))
    rows[:, 0] = 0.0
    axes = np.eye(6)
    return _held(
        [axes[1], axes[3], axes[4], axes[5], axes[0], -axes[0]],
        [[-0.05, 0.05], [0.0, np.inf]],
        mass=[[2.0, 2.0, 2.0, 0.3, 0.3, 0.3]],
        jacobian=rows,
        bodies=[[-1, 0]],
        momentum=[2.0, 0.0, -0.1962, 0.0, 0.0, 0.0],
        joint_bias=[0.0, 0.0, 0.0, 0.0, 0.0, 0.5],
        friction=0.5,
        law=law,
    )


_add(
    "motor-at-stop", "a motor of limited torque turns a wheel against a stop", "closed form",
    motor_at_stop, impulses=[], velocity=[0.0, 0.0, 0.0, 0.0, 0.0, 0.2], contact_velocities=[],
    joint_impulses=[0.0, 0.0, 0.0, 0.0, 0.0, 0.2, 0.1],
)  # fmt: skip
_add(
    "pendulum-sticks", "a pendulum that dry friction in its bearing holds", "closed form",
    lambda: dry_pendulum(12.0), impulses=[], velocity=np.zeros(6), contact_velocities=[],
    joint_impulses=[0.0, 0.0, 0.1962, 0.0, 0.0, -0.0981],
)  # fmt: skip
_SLIP = (0.0981 - 0.05) / 0.6
_add(
    "pendulum-slips", "a pendulum that falls against dry friction in its bearing", "closed form",
    lambda: dry_pendulum(5.0), impulses=[], velocity=[0.0, 0.0, -0.5 * _SLIP, 0.0, _SLIP, 0.0],
    contact_velocities=[], joint_impulses=[0.0, 0.0, 0.1962 - _SLIP, 0.0, 0.0, -0.05],
)  # fmt: skip
for _law, _n in (("coulomb", 0.1962), ("relaxed", 0.6962), ("pyramid(8)", 0.1962)):
    _add(
        "slider-at-stop" + ("" if _law == "coulomb" else f"-{_law.split('(')[0]}"),
        f"a block slides on a plane and in a rail that rubs, into a stop, {_law}", "closed form",
        lambda law=_law: slider_at_stop(law),  # type: ignore[misc]
        impulses=[_n, -0.5 * _n, 0.0], velocity=[0.5, 0.0, 0.5 * (_n - 0.1962), 0.0, 0.0, 0.0],
        contact_velocities=[0.5 * (_n - 0.1962), 0.5, 0.0],
        joint_impulses=[0.0, 0.0, -0.25 * _n, 0.0, -0.05, 0.95 - 0.5 * _n],
    )  # fmt: skip
