"""Small problems of MCPLIB with solutions in closed form: billups, josephy, kojshin and transmcp."""

from __future__ import annotations

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.complementarity.library.entry import NamedProblem, Reference, frozen
from nonsmooth.complementarity.problem import LCP, MCP

MCPLIB = "MCPLIB, Dirkse and Ferris 1995"
EXACT = 1e-12
"""Accuracy of a closed form in double precision, for numbers near 1."""


def billups() -> MCP:
    """F = (x − 1)² − 1.01 with x ≥ 0: the solution is 1 + √1.01, where F = 0 and increases.

    x = 0 with F = −0.01 is not a solution, but the merit functions of most methods have a local minimum
    nearby, at which they stop when started from 0.
    """
    return MCP(
        lambda x: (x - 1.0) ** 2 - 1.01,
        [0.0],
        np.inf,
        jacobian=lambda x: np.array([[2.0 * (x[0] - 1.0)]]),
        start=[0.0],
        name="billups",
    )


def _four(second: float, third: float, constant: float, name: str) -> MCP:
    """The form that josephy and kojshin share, with what differs: 3c, 3d and −1, or 10c, 9d and −9."""
    linear = np.array([[0, 0, 1, 3], [1, 0, second, 2], [0, 0, 2, third], [0, 0, 2, 3]], dtype=float)
    shift = np.array([-6.0, -2.0, constant, -3.0])
    # coefficients of a², ab and b² in each function
    quadratic = np.array([[3, 2, 2], [2, 0, 1], [3, 1, 2], [1, 0, 3]], dtype=float)

    def function(z: Floats) -> Floats:
        a, b = z[0], z[1]
        value: Floats = quadratic @ np.array([a * a, a * b, b * b]) + linear @ z + shift
        return value

    def jacobian(z: Floats) -> Floats:
        a, b = z[0], z[1]
        matrix = linear.copy()
        matrix[:, :2] += quadratic @ np.array([[2.0 * a, 0.0], [b, a], [0.0, 2.0 * b]])
        return matrix

    return MCP(function, np.zeros(4), np.inf, jacobian=jacobian, start=np.zeros(4), name=name)


def josephy() -> MCP:
    """Four quadratic functions of z = (a, b, c, d) ≥ 0 (Josephy 1979).

        F1 = 3a² + 2ab + 2b² + c + 3d − 6        F3 = 3a² + ab + 2b² + 2c + 3d − 1
        F2 = 2a² + b² + a + 3c + 2d − 2          F4 = a² + 3b² + 2c + 3d − 3

    At (√1.5, 0, 0, ½): F1 = 4.5 + 1.5 − 6 = 0, F4 = 1.5 + 1.5 − 3 = 0, F2 = 3 + √1.5 + 1 − 2 > 0,
    F3 = 4.5 + 1.5 − 1 > 0.
    """
    return _four(3.0, 3.0, -1.0, "josephy")


def kojshin() -> MCP:
    """Josephy's functions with 10c in F2, and 9d and −9 in F3 (Kojima and Shindo 1986): two solutions.

    At (√1.5, 0, 0, ½), F3 = 4.5 + 4.5 − 9 = 0 while c = 0: the solution is degenerate. At (1, 0, 3, 0):
    F1 = 3 + 3 − 6 = 0, F3 = 3 + 6 − 9 = 0, F2 = 2 + 1 + 30 − 2 = 31, F4 = 1 + 6 − 3 = 4.
    """
    return _four(10.0, 9.0, -9.0, "kojshin")


STARTS = {
    "zero": (0, 0, 0, 0), "ones": (1, 1, 1, 1), "hundreds": (100, 100, 100, 100), "1010": (1, 0, 1, 0),
    "1000": (1, 0, 0, 0), "0110": (0, 1, 1, 0), "0101": (0, 1, 0, 1), "near": (1.25, 0, 0, 0.5),
}  # fmt: skip
"""The eight starts of josephy and kojshin."""


CAPACITY, DEMAND = (350.0, 600.0), (325.0, 300.0, 275.0)
DISTANCE = ((2.5, 1.7, 1.8), (2.5, 1.8, 1.4))
"""Dantzig's plants and markets: cases a day, and thousands of miles."""


def transmcp() -> LCP:
    """Dantzig's transportation problem as the optimality conditions of its linear program.

    z = (x_ij: cases sent from plant i to market j; w_i: rent of plant i; p_j: price in market j), all ≥ 0,
    with freight c_ij = 0.09·distance in thousands of dollars for each case:

        w_i + c_ij − p_j ⟂ x_ij,     capacity_i − Σ_j x_ij ⟂ w_i,     Σ_i x_ij − demand_j ⟂ p_j

    The plants can supply 50 more cases than are demanded, so no rent is paid (w = 0) and each market pays
    the freight from its nearest plant: p = 0.09·(2.5, 1.7, 1.4) and x_12 = 300, x_23 = 275. Market 1 is as
    far from both plants: of its 325 cases plant 1 can send 0 to 50.
    """
    rows, columns = len(CAPACITY), len(DEMAND)
    by_plant = np.kron(np.eye(rows), np.ones((1, columns)))
    by_market = np.kron(np.ones((1, rows)), np.eye(columns))
    flows = rows * columns
    matrix = np.zeros((flows + rows + columns, flows + rows + columns))
    matrix[:flows, flows:] = np.hstack([by_plant.T, -by_market.T])
    matrix[flows:, :flows] = np.vstack([-by_plant, by_market])
    vector = np.concatenate([0.09 * np.ravel(DISTANCE), CAPACITY, -np.array(DEMAND)])
    return LCP(matrix, vector, name="transmcp")


def _unique_part(z: Floats) -> Floats:
    return np.concatenate([z[[1, 2, 4, 5]], [z[0] + z[3]], z[6:]])


def _named() -> tuple[NamedProblem, ...]:
    degenerate = Reference(frozen([np.sqrt(1.5), 0.0, 0.0, 0.5]), EXACT)
    other = Reference(frozen([1.0, 0.0, 3.0, 0.0]), EXACT)
    dantzig = Reference(
        frozen([300.0, 0.0, 0.0, 275.0, 325.0, 0.0, 0.0, 0.225, 0.153, 0.126]),
        1e-9,
        "x12 x13 x22 x23, x11 + x21, w, p",
        _unique_part,
    )
    return (
        NamedProblem(
            "billups", "one variable; from 0 most methods fail", f"{MCPLIB}; Billups 1995", billups,
            lambda: {"zero": [0.0], "two": [2.0]}, (Reference(frozen([1.0 + np.sqrt(1.01)]), EXACT),),
        ),
        NamedProblem(
            "josephy", "four quadratic functions, one solution", f"{MCPLIB}; Josephy 1979", josephy,
            lambda: STARTS, (degenerate,),
        ),
        NamedProblem(
            "kojshin", "four quadratic functions, two solutions, one degenerate",
            f"{MCPLIB}; Kojima and Shindo 1986", kojshin, lambda: STARTS, (degenerate, other),
        ),
        NamedProblem(
            "transmcp", "Dantzig's transportation problem; flows to market 1 not unique", MCPLIB, transmcp,
            lambda: {"zero": np.zeros(11), "ones": np.ones(11)}, (dantzig,),
        ),
    )  # fmt: skip


PROBLEMS = _named()
"""The problems of this file."""
