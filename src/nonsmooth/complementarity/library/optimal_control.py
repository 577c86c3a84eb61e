"""bert_oc: Bertsekas' optimal control problem in discrete time (SIAM J. Control Optim. 20, 1982).

With S = 1/N and a given state y(0), choose controls u(0), …, u(N−1) within ±1 so that

    J = (S/2) Σ_t [2 y1(t+1)² + y2(t+1)² + 6 u(t)²]    is least, where
    y1(t+1) = y1(t) + S y2(t),      y2(t+1) = y2(t) − S y1(t) + S u(t)

Bound and initial states other than (15, 5) are our choice: MCPLIB's file is not available. With multipliers
λ(t) of c(t) = (y1(t+1) − y1(t) − S y2(t), y2(t+1) − y2(t) + S y1(t) − S u(t)) = 0, J + Σ λ·c is stationary:

    2S y1(t+1) + λ1(t) − λ1(t+1) + S λ2(t+1) = 0      [y1(t+1), free]
     S y2(t+1) + λ2(t) − λ2(t+1) − S λ1(t+1) = 0      [y2(t+1), free]
    −c(t) = 0                                         [λ(t), free]
    6S u(t) − S λ2(t) ⟂ −1 ≤ u(t) ≤ 1

and λ(N) = 0. The sign of c's rows makes the matrix [[H, Cᵀ], [−C, 0]] with H = S·diag(2, 1, 6) positive
semidefinite. The control's bounds are two-sided, so problem (2) of Andreani et al. has 5N + 2N = 7N
variables.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import sparse as sp
from nonsmooth._support.options import whole
from nonsmooth.complementarity.library.entry import NamedProblem, Reference, frozen
from nonsmooth.complementarity.problem import LCP

BLOCK = 5
"""Variables of one time step: y1(t+1), y2(t+1), λ1(t), λ2(t), u(t); the matrix then is banded."""


def optimal_control(steps: int = 10, initial: tuple[float, float] = (15.0, 5.0)) -> LCP:
    """Bertsekas' problem with N = `steps` from the state y(0) = `initial`: 5N variables, a banded matrix."""
    whole("optimal_control", "steps", steps, 1)
    s = 1.0 / steps
    # blocks (row, column) within a step, and with the step after (column t+1) or before (column t−1)
    here = np.array(
        [
            [2.0 * s, 0.0, 1.0, 0.0, 0.0],
            [0.0, s, 0.0, 1.0, 0.0],
            [-1.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, -1.0, 0.0, 0.0, s],
            [0.0, 0.0, 0.0, -s, 6.0 * s],
        ]
    )
    costate = np.array([[-1.0, s], [-s, -1.0]])  # ∂(rows of y)/∂λ of the step after
    after = np.zeros((BLOCK, BLOCK))
    after[:2, 2:4] = costate
    before = np.zeros((BLOCK, BLOCK))
    before[2:4, :2] = -costate.T  # ∂(−c)/∂y of the step before: y(t) + S(…)
    ones = np.ones(steps - 1)
    matrix = (
        sp.kron(sp.eye_array(steps), here)
        + sp.kron(sp.diags_array(ones, offsets=1, shape=(steps, steps)), after)
        + sp.kron(sp.diags_array(ones, offsets=-1, shape=(steps, steps)), before)
    )
    matrix = sp.csr_array(matrix)
    matrix.eliminate_zeros()
    vector = np.zeros(BLOCK * steps)
    vector[2:4] = -costate.T @ np.asarray(initial, dtype=float)
    upper = np.tile([np.inf, np.inf, np.inf, np.inf, 1.0], steps)
    return LCP(
        matrix, vector, lower=-upper, upper=upper, start=trajectory(np.zeros(steps), initial),
        name=f"bert-oc-{initial[0]:g}-{initial[1]:g}",
    )  # fmt: skip


def trajectory(controls: Floats, initial: tuple[float, float]) -> Floats:
    """The point z with given controls, the states that follow from them, and no multipliers."""
    s = 1.0 / len(controls)
    z = np.zeros((len(controls), BLOCK))
    y1, y2 = initial
    for t, u in enumerate(controls.tolist()):
        y1, y2 = y1 + s * y2, y2 - s * y1 + s * u
        z[t] = y1, y2, 0.0, 0.0, u
    return z.ravel()


def objective(z: Floats) -> float:
    """J of a point."""
    step = z.reshape(-1, BLOCK)
    return float((2.0 * step[:, 0] ** 2 + step[:, 1] ** 2 + 6.0 * step[:, 4] ** 2).sum() / (2 * len(step)))


def controls_at_bound(z: Floats, tolerance: float = 1e-9) -> int:
    """Number of controls at ±1."""
    return int(np.count_nonzero(np.abs(z.reshape(-1, BLOCK)[:, 4]) >= 1.0 - tolerance))


def start_of_family(initial: tuple[float, float], steps: int) -> Floats:
    """The start of a test family: its control trajectory and the states that follow."""
    return trajectory(_CONTROLS[initial](steps), initial)


def _alternating(steps: int) -> Floats:
    return np.where(np.arange(steps) % 2 == 0, 1.0, -1.0)


_CONTROLS: dict[tuple[float, float], Callable[[int], Floats]] = {
    (15.0, 5.0): np.zeros,
    (10.0, 10.0): np.ones,
    (5.0, 15.0): lambda steps: -np.ones(steps),
    (20.0, 0.0): _alternating,
}
FAMILIES = tuple(_CONTROLS)
"""Initial states of the four test families. Their initial controls are 0, 1, −1, and ±1 alternating."""
SIZES = (10, 100, 1000, 10_000)
OBJECTIVES = {
    (15.0, 5.0): (246.486899, 236.401388, 235.513895, 235.426348),
    (10.0, 10.0): (195.125826, 183.369742, 182.301037, 182.195225),
    (5.0, 15.0): (202.072611, 187.106447, 185.736528, 185.600795),
    (20.0, 0.0): (355.363502, 345.650366, 344.844806, 344.765908),
}
"""Optimal J for each family and each N of `SIZES`, found with PATH 5.2."""
AT_BOUND = {
    (15.0, 5.0): (2, 18, 183, 1834),
    (10.0, 10.0): (4, 37, 366, 3662),
    (5.0, 15.0): (6, 54, 536, 5359),
    (20.0, 0.0): (0, 3, 30, 307),
}
"""Controls at their bound."""
PRINTED = 5e-7
"""Half a unit of the objectives' last digit."""


def _answer(z: Floats) -> Floats:
    return np.array([objective(z)])


def _starts(initial: tuple[float, float], steps: int) -> dict[str, Floats]:
    return {"own": start_of_family(initial, steps), "zero": np.zeros(BLOCK * steps)}


def _named() -> tuple[NamedProblem, ...]:
    steps = 100
    column = SIZES.index(steps)
    return tuple(
        NamedProblem(
            f"bert-oc-{initial[0]:g}-{initial[1]:g}",
            f"optimal control, {steps} steps from y(0) = ({initial[0]:g}, {initial[1]:g})",
            "MCPLIB bert_oc; Bertsekas 1982",
            partial(optimal_control, steps, initial),
            partial(_starts, initial, steps),
            (Reference(frozen([OBJECTIVES[initial][column]]), PRINTED, "objective J", _answer),),
        )
        for initial in FAMILIES
    )


PROBLEMS = _named()
"""The problems of this file, with N = 100."""
