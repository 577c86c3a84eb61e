"""scarfanum and scarfasum: Scarf's general equilibrium (The Computation of Economic Equilibria, 1973, ch. 5).

Six commodities, five consumers h and eight activities j with input and output a_cj at level 1. At prices p,
a consumer with endowment e_h has the income Σ_k p_k e_kh and buys

    x_ch(p) = a_ch p_c^(−b_h) (Σ_k p_k e_kh) / (Σ_k a_kh p_k^(1−b_h))

(constant elasticity b_h, shares a_ch = D_ch/Σ_c D_ch of the reference demands D). In equilibrium demand
does not exceed supply, and no activity makes a profit:

    s(p, y) = A y + Σ_h e_h − Σ_h x_h(p) ≥ 0 ⟂ p,          −Aᵀp ≥ 0 ⟂ y

Demand does not change if all prices are scaled, so p is determined up to a factor, fixed by a condition.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.complementarity.library.entry import NamedProblem, Reference, frozen
from nonsmooth.complementarity.problem import MCP
from nonsmooth.errors import OptionError

COMMODITIES = ("K1", "ND", "DU", "K0", "SL", "UL")
"""Capital at the end, nondurables, durables, capital at the beginning, skilled and unskilled labour."""
ACTIVITIES = ("d1", "d2", "n1", "n2", "n3", "cd", "c1", "c2")
LOWEST_PRICE = 1e-5
"""Lower bound of the prices: demand is not defined at 0."""
LOWEST_MULTIPLIER = -10.0
OUTPUT = frozen(
    [
        [4.0, 4.0, 1.6, 1.6, 1.6, 0.9, 7.0, 8.0],
        [0.0, 0.0, 6.0, 8.0, 7.0, 0.0, 0.0, 0.0],
        [4.0, 3.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [-5.3, -5.0, -2.0, -2.0, -2.0, -1.0, -4.0, -5.0],
        [-2.0, -1.0, -2.0, -4.0, -1.0, 0.0, -3.0, -2.0],
        [-1.0, -6.0, -3.0, -1.0, -8.0, 0.0, -1.0, -8.0],
    ]
)
"""A (commodities, activities)."""
ENDOWMENT = frozen(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [1.0, 2.0, 1.5, 1.0, 2.0],
        [3.0, 0.1, 2.0, 1.0, 6.0],
        [5.0, 0.1, 6.0, 0.1, 0.1],
        [0.1, 7.0, 0.1, 8.0, 0.5],
    ]
)
"""e (commodities, consumers)."""
DEMAND = frozen(
    [
        [4.0, 0.4, 2.0, 5.0, 3.0],
        [2.0, 4.0, 2.0, 5.0, 4.0],
        [3.2, 1.0, 1.5, 4.5, 2.0],
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [0.2, 0.0, 0.5, 0.0, 0.0],
        [0.0, 0.6, 0.0, 0.2, 0.2],
    ]
)
"""D (commodities, consumers)."""
ELASTICITY = frozen([1.2, 1.6, 0.8, 0.5, 0.6])
SHARE = frozen(DEMAND / DEMAND.sum(0))
PRICES = len(COMMODITIES)
SIZE = PRICES + len(ACTIVITIES)


def demand(p: Floats) -> Floats:
    """x (commodities, consumers) at prices p."""
    spread = SHARE * p[:, None] ** (1.0 - ELASTICITY)
    found: Floats = spread / p[:, None] * ((p @ ENDOWMENT) / spread.sum(0))
    return found


def demand_slope(p: Floats) -> Floats:
    """∂(Σ_h x_ch)/∂p_k.

    ∂x_ch/∂p_k = x_ch (e_kh/Σ_j p_j e_jh − (1 − b_h) a_kh p_k^(−b_h)/Σ_j a_jh p_j^(1−b_h)), and −b_h x_ch/p_c
    more where k = c.
    """
    bought = demand(p)
    spread = SHARE * p[:, None] ** (1.0 - ELASTICITY)
    relative = ENDOWMENT / (p @ ENDOWMENT) - (1.0 - ELASTICITY) * spread / p[:, None] / spread.sum(0)
    slope: Floats = bought @ relative.T - np.diag(bought @ ELASTICITY / p)
    return slope


def _equilibrium(z: Floats) -> Floats:
    p, y = z[:PRICES], z[PRICES:SIZE]
    supply = OUTPUT @ y + ENDOWMENT.sum(1) - demand(p).sum(1)
    return np.concatenate([supply, -OUTPUT.T @ p])


def _equilibrium_slope(z: Floats) -> Floats:
    matrix = np.zeros((SIZE, SIZE))
    matrix[:PRICES, :PRICES] = -demand_slope(z[:PRICES])
    matrix[:PRICES, PRICES:] = OUTPUT
    matrix[PRICES:, :PRICES] = -OUTPUT.T
    return matrix


def scarf_numeraire(numeraire: str = "K1") -> MCP:
    """Scarfanum: one price is 1. z = (p, y): 14 variables, 28 in problem (2).

    The numeraire's price stays a variable, and its market row, which holds by Walras' law when the others
    hold (Σ_c p_c s_c = 0), makes room for p_c − 1 ⟂ p_c.
    """
    if numeraire not in COMMODITIES:
        raise OptionError(f"scarf_numeraire(numeraire={numeraire!r}): choose one of {', '.join(COMMODITIES)}")
    row = COMMODITIES.index(numeraire)

    def function(z: Floats) -> Floats:
        value = _equilibrium(z)
        value[row] = z[row] - 1.0
        return value

    def jacobian(z: Floats) -> Floats:
        matrix = _equilibrium_slope(z)
        matrix[row] = 0.0
        matrix[row, row] = 1.0
        return matrix

    lower = np.concatenate([np.full(PRICES, LOWEST_PRICE), np.zeros(SIZE - PRICES)])
    return MCP(function, lower, np.inf, jacobian=jacobian, start=np.ones(SIZE), name="scarfanum")


def scarf_sum() -> MCP:
    """Scarfasum: the prices sum to 1. z = (p, y, τ): 15 variables, 30 in problem (2).

    The row 1 − Σp has a multiplier τ that is added to each market row. By Walras' law
    0 = Σ p_c (s_c + τ) = τ Σp, so τ = 0 in equilibrium, and the markets clear as they should. The lower bound
    −10 of τ only makes all 15 rows pairs, as the paper's 30 wants: a free τ gives 29. (Methods would
    stall at a bound close to 0.)
    """

    def function(z: Floats) -> Floats:
        value = _equilibrium(z)
        value[:PRICES] += z[SIZE]
        return np.append(value, 1.0 - z[:PRICES].sum())

    def jacobian(z: Floats) -> Floats:
        matrix = np.zeros((SIZE + 1, SIZE + 1))
        matrix[:SIZE, :SIZE] = _equilibrium_slope(z)
        matrix[:PRICES, SIZE], matrix[SIZE, :PRICES] = 1.0, -1.0
        return matrix

    lower = np.concatenate([np.full(PRICES, LOWEST_PRICE), np.zeros(SIZE - PRICES), [LOWEST_MULTIPLIER]])
    start = _starts(1.0)["mcplib"]
    return MCP(function, lower, np.inf, jacobian=jacobian, start=start, name="scarfasum")


EQUILIBRIUM_PRICES = frozen([0.22032088, 0.10607704, 0.20658325, 0.25106573, 0.16101507, 0.05493803])
"""Prices that sum to 1, found with PATH 5.2."""
EQUILIBRIUM_LEVELS = frozen([0.46349293, 0.0, 3.93919506, 0.00602299, 0.0, 0.0, 0.43826284, 0.0])
PRINTED = 5e-9
"""Half a unit of their last digit."""


def _starts(total: float | None) -> dict[str, Floats]:
    """Four starts: MCPLIB's, an idle economy, a busy one, and uneven prices. `total` is the prices' sum."""
    even, uneven = np.ones(PRICES), np.linspace(0.5, 1.5, PRICES)
    levels = {"mcplib": (even, 1.0), "idle": (even, 0.0), "busy": (even, 2.0), "uneven": (uneven, 1.0)}
    starts = {}
    for name, (p, y) in levels.items():
        scaled = p if total is None else p * (total / p.sum())
        tail = [] if total is None else [0.0]
        starts[name] = np.concatenate([scaled, np.full(SIZE - PRICES, y), tail])
    return starts


def _named() -> tuple[NamedProblem, ...]:
    source = "MCPLIB; Scarf 1973, ch. 5, example I"
    first = EQUILIBRIUM_PRICES[0]
    by_numeraire = np.concatenate([EQUILIBRIUM_PRICES / first, EQUILIBRIUM_LEVELS])
    by_sum = np.concatenate([EQUILIBRIUM_PRICES, EQUILIBRIUM_LEVELS, [0.0]])
    # a quotient of two printed prices is off by up to 5e-9 (1 + largest quotient)/first
    quotient = PRINTED * (1.0 + by_numeraire[:PRICES].max()) / first
    return (
        NamedProblem(
            "scarfanum", "general equilibrium, capital at the end as numeraire", source, scarf_numeraire,
            partial(_starts, None), (Reference(frozen(by_numeraire), quotient),),
        ),
        NamedProblem(
            "scarfasum", "general equilibrium, prices that sum to 1", source, scarf_sum,
            partial(_starts, 1.0), (Reference(frozen(by_sum), PRINTED),),
        ),
    )  # fmt: skip


PROBLEMS = _named()
"""The problems of this file."""
