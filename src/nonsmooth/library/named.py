"""The problems that have names, each with where it comes from and what its answer is.

Numbers are worked out in the docstrings; nothing here was computed by the package's own solvers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth.errors import OptionError
from nonsmooth.problem.contact_problem import ContactProblem

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NamedProblem:
    """A problem with its reference answer. What is None is not unique or not known in closed form."""

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


NAMED: dict[str, NamedProblem] = {}
"""Every named problem."""


def by_name(name: str) -> NamedProblem:
    """Return a named problem."""
    if name not in NAMED:
        raise OptionError(f"problem {name!r} is not known: choose one of {', '.join(NAMED)}")
    return NAMED[name]


def _add(
    name: str,
    summary: str,
    source: str,
    build: Callable[[], ContactProblem],
    *,
    impulses: ArrayLike | None = None,
    velocity: ArrayLike | None = None,
    contact_velocities: ArrayLike | None = None,
) -> None:
    def frozen(values: ArrayLike | None) -> Floats | None:
        if values is None:
            return None
        array = np.array(values, dtype=float)
        array.setflags(write=False)
        return array

    NAMED[name] = NamedProblem(
        name, summary, source, build, frozen(impulses), frozen(velocity), frozen(contact_velocities)
    )


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
    ÿ − 0.15 φ̈ = 0, ẍ + 0.05 φ̈ = 0. The answer: λ_n = 24.695, λ_t = −1.365, φ̈ = 13, corner 2 opens with
    ÿ + 0.15 φ̈ = 3.9 m/s².
    """
    return planar_block(BLOCK_LOADS["open"])


_SLIDE = (10.0 - 6.18) / 2.1
_add(
    "block-sticks", "a planar block, both corners stick; friction forces not unique", "Studer and Glocker §5.8",
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
