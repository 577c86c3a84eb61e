"""The planar block of Studer and Glocker §5.8 on its two lower corners, as linear complementarity problems.

    y ┌────────┐       m = 2.1 kg, half length ℓ = 0.15 m, half height h = 0.05 m
    ↑ │   ·    │       J = m(ℓ² + h²)/3 = 0.0175 kg·m²
    └→└────────┘x      loads (F_x, F_y, M) in N and N·m
      1        2

Contact forces λ = (λ_n1, λ_n2, λ_t1, λ_t2) in N give the corners the accelerations G λ + b in m/s², with
G = Wᵀ diag(m, m, J)⁻¹ W. The tangential forces are either within fixed limits ±a or within ±μ λ_n.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.complementarity.library.entry import NamedProblem, Reference, frozen
from nonsmooth.complementarity.problem import LCP

Loads = tuple[float, float, float]

MASS, HALF_LENGTH, HALF_HEIGHT = 2.1, 0.15, 0.05
STICK: Loads = (2.0, -20.6, 0.0)
SLIDE: Loads = (10.0, -20.6, 0.0)
OPEN: Loads = (0.0, -20.6, 4.0)
LIMIT, FRICTION = 3.0, 0.3
"""a in N, and μ."""


def dynamics(loads: Loads) -> tuple[Floats, Floats]:
    """G in 1/kg and b in m/s² for rows (n1, n2, t1, t2)."""
    length, height = HALF_LENGTH, HALF_HEIGHT
    w = np.array([[0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.0], [-length, length, height, height]])
    inverse = 1.0 / np.array([MASS, MASS, MASS * (length**2 + height**2) / 3.0])
    return w.T @ (inverse[:, None] * w), w.T @ (inverse * np.array(loads))


def block_with_limits(loads: Loads) -> LCP:
    """0 ≤ λ_n ⟂ G λ + b, and −3 N ≤ λ_t ≤ 3 N ⟂ G λ + b: the forces λ are the variables.

    Sliding, loads (10, −20.6, 0): both λ_t = −3, Σλ_n = 20.6, and the moment h·Σλ_t + ℓ(λ_n2 − λ_n1) = 0
    gives λ_n = (9.3, 11.3). Sticking, (2, −20.6, 0): only Σλ_t = −2 is determined, and
    λ_n = (9.9666…, 10.6333…).
    """
    g, b = dynamics(loads)
    return LCP(
        g, b, lower=[0.0, 0.0, -LIMIT, -LIMIT], upper=[np.inf, np.inf, LIMIT, LIMIT], name="block-limits"
    )


def block_with_friction(loads: Loads) -> LCP:
    """The block with |λ_t| ≤ μ λ_n: six variables (λ_n, λ_R, a_L), two each, all ≥ 0.

    λ_R = μ λ_n + λ_t and λ_L = μ λ_n − λ_t are how far friction is from its two limits, and the tangential
    acceleration is a_t = a_R − a_L with 0 ≤ λ_R ⟂ a_R ≥ 0 and 0 ≤ λ_L ⟂ a_L ≥ 0. With λ_t = λ_R − μ λ_n,

        G_nn λ_n + G_nt λ_t + b_n ⟂ λ_n,      G_tn λ_n + G_tt λ_t + b_t + a_L ⟂ λ_R,      2μ λ_n − λ_R ⟂ a_L

    Sliding, (10, −20.6, 0): λ_t = −0.3 λ_n and the moment give λ_n = (9.27, 11.33). One corner opens,
    (0, −20.6, 4): corner 1 sticks with λ = (24.695, −1.365), as its two accelerations vanish.
    """
    g, b = dynamics(loads)
    nn, nt, tn, tt = g[:2, :2], g[:2, 2:], g[2:, :2], g[2:, 2:]
    one, none = np.eye(2), np.zeros((2, 2))
    matrix = np.block(
        [
            [nn - FRICTION * nt, nt, none],
            [tn - FRICTION * tt, tt, one],
            [2.0 * FRICTION * one, -one, none],
        ]
    )
    return LCP(matrix, np.concatenate([b, np.zeros(2)]), name="block-friction")


def forces(z: Floats) -> Floats:
    """λ = (λ_n, λ_t) in N of a point of `block_with_friction`."""
    normal = z[:2]
    return np.concatenate([normal, z[2:4] - FRICTION * normal])


def _normals_and_sum(z: Floats) -> Floats:
    return np.array([z[0], z[1], z[2] + z[3]])


def _starts(size: int) -> dict[str, Floats]:
    return {"zero": np.zeros(size), "ones": np.ones(size)}


def _named() -> tuple[NamedProblem, ...]:
    source = "Studer and Glocker §5.8"
    exact = 1e-10
    four, six = partial(_starts, 4), partial(_starts, 6)
    stick = Reference(
        frozen([20.6 / 2 - 1 / 3, 20.6 / 2 + 1 / 3, -2.0]), exact, "λ_n1, λ_n2, λ_t1 + λ_t2", _normals_and_sum
    )
    slide = Reference(frozen([9.3, 11.3, -3.0, -3.0]), exact, "λ")
    slide_mu = Reference(frozen([9.27, 11.33, -2.781, -3.399]), exact, "λ", forces)
    opens = Reference(frozen([24.695, 0.0, -1.365, 0.0]), exact, "λ", forces)
    return (
        NamedProblem(
            "block-sticks", "a planar block sticks, friction within ±3 N; friction not unique", source,
            partial(block_with_limits, STICK), four, (stick,),
        ),
        NamedProblem(
            "block-slides", "a planar block slides, friction within ±3 N", source,
            partial(block_with_limits, SLIDE), four, (slide,),
        ),
        NamedProblem(
            "block-slides-coulomb", "a planar block slides, μ = 0.3", source,
            partial(block_with_friction, SLIDE), six, (slide_mu,),
        ),
        NamedProblem(
            "block-opens-coulomb", "a planar block, one corner sticks and one opens, μ = 0.3", source,
            partial(block_with_friction, OPEN), six, (opens,),
        ),
    )  # fmt: skip


PROBLEMS = _named()
"""The problems of this file."""
