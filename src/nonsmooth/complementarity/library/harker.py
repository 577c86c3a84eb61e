"""harkmcp: Harker's models of spatial competition (Oper. Res. 34, 1986), four models on two networks.

Regions 1, 2, 3 produce y and consume d; goods flow over arcs (i, j) in amounts t_ij. Production costs
αy + βy², so at the margin α + 2βy; an arc costs κt + νt³, so κ + νt² on average and κ + 3νt² at the margin;
at a price p a region wants d = (ρ − p)/η. c_i is the value of one unit at node i.

model 1: perfect competition, arcs charge their average cost
model 2: a monopoly that owns the network: it counts its effect on prices and the arcs' marginal cost
model 3: a monopoly that pays the arcs' average cost
model 4: an oligopoly, one producer at each region, each of which counts its own effect on prices; the arcs
    charge the average cost of their total flow

Every function is affine except for the arcs' costs: F(z) = A z + b + W (B z)², where B z are the arcs' flows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import sparse as sp
from nonsmooth.complementarity.library.entry import NamedProblem, Reference, frozen
from nonsmooth.complementarity.problem import MCP, MNCP
from nonsmooth.errors import OptionError

ALPHA, BETA = frozen([1.0, 2.0, 1.5]), frozen([0.5, 0.4, 0.3])
RHO, ETA = frozen([19.0, 27.0, 30.0]), frozen([0.2, 0.01, 0.3])
REGIONS = 3


@dataclass(frozen=True)
class Network:
    """Nodes, of which the first three are the regions, and arcs (from, to) with cost κt + νt³."""

    nodes: int
    arcs: tuple[tuple[int, int], ...]
    kappa: Floats
    nu: Floats

    @classmethod
    def of(cls, nodes: int, table: dict[tuple[int, int], tuple[float, float]]) -> Network:
        """A network from a table (from, to): (κ, ν), nodes counted from 1."""
        costs = np.array(list(table.values()))
        arcs = tuple((i - 1, j - 1) for i, j in table)
        return cls(nodes, arcs, frozen(costs[:, 0]), frozen(costs[:, 1]))

    @property
    def incidence(self) -> sp.csr_array:
        """(nodes, arcs): −1 where an arc begins and +1 where it ends, so that E t is inflow − outflow."""
        arcs = np.arange(len(self.arcs))
        tails, heads = np.array(self.arcs).T
        rows, columns = np.concatenate([tails, heads]), np.concatenate([arcs, arcs])
        signs = np.repeat([-1.0, 1.0], len(arcs))
        return sp.csr_array((signs, (rows, columns)), shape=(self.nodes, len(arcs)))

    @property
    def regions(self) -> sp.csr_array:
        """(nodes, regions): puts the regions' numbers at their nodes."""
        return sp.eye_array(self.nodes, REGIONS, format="csr")


EXAMPLE_1 = Network.of(
    3,
    {
        (1, 2): (4, 0.85), (1, 3): (4, 0.8), (2, 1): (6, 1.5),
        (2, 3): (5, 0.5), (3, 1): (4, 1.6), (3, 2): (3, 0.65),
    },
)  # fmt: skip
"""The regions alone, with an arc for each origin and destination.

Harker's costs for these arcs are not available; the sums of the costs along the cheapest path of example 2
replace them.
"""
EXAMPLE_2 = Network.of(
    6,
    {
        (1, 4): (1, 0.5), (1, 5): (2, 0.2), (2, 6): (3, 0.3), (3, 6): (1, 0.4), (4, 1): (2, 0.3),
        (4, 5): (1, 0.1), (4, 6): (1, 0.1), (5, 1): (3, 0.5), (5, 4): (2, 0.2), (5, 6): (1, 1.0),
        (6, 2): (2, 0.25), (6, 3): (2, 0.2), (6, 4): (1, 0.9), (6, 5): (3, 0.8),
    },
)  # fmt: skip
"""Harker's network with the transshipment nodes 4, 5 and 6."""
NETWORKS = {1: EXAMPLE_1, 2: EXAMPLE_2}


@dataclass(frozen=True)
class _Functions:
    """F(z) = A z + b + W (B z)² and its Jacobian A + 2 W diag(B z) B."""

    linear: sp.csr_array
    constant: Floats
    weights: sp.csr_array
    flows: sp.csr_array

    def value(self, z: Floats) -> Floats:
        found: Floats = self.linear @ z + self.constant + self.weights @ (self.flows @ z) ** 2
        return found

    def jacobian(self, z: Floats) -> sp.csr_array:
        slope = sp.diags_array(2.0 * (self.flows @ z))
        return sp.csr_array(self.linear + self.weights @ slope @ self.flows)

    def rows(self, wanted: slice) -> _Functions:
        return _Functions(self.linear[wanted], self.constant[wanted], self.weights[wanted], self.flows)


def harker(model: int) -> MCP:
    """One of the four models on the network of example 2 as MCPLIB has it: 32 variables, or 92 for model 4.

    Models 1 to 3: z = (d, c, p, x, t, y) ≥ 0 with

        η d + p − ρ ⟂ d                 balance of each node ⟂ c           x − d ⟂ p
        c − p + m η x ⟂ x               c_i + κ + k ν t² − c_j ⟂ t         α + 2β y − c ⟂ y

    where x is the supply of a region; model 1 has m = 0 and k = 1, model 2 has m = 1 and k = 3, model 3 has
    m = k = 1. Model 4 has x, t and c for each producer q, and free variables T_ij = Σ_q t_q,ij:
    z = (d, c, p, x, t, y, T).
    """
    _check(model)
    network = EXAMPLE_2
    return _oligopoly(network) if model == 4 else _one_seller(model, network)


def _one_seller(model: int, network: Network) -> MCP:
    m, k = _MONOPOLY[model], _ARC_COST[model]
    e, s, one = network.incidence, network.regions, sp.eye_array(REGIONS)
    linear = sp.block_array(
        [
            [sp.diags_array(ETA), None, one, None, None, None],
            [None, None, None, -s, e, s],
            [-one, None, None, one, None, None],
            [None, s.T, -one, m * sp.diags_array(ETA), None, None],
            [None, -e.T, None, None, sp.csr_array((len(network.arcs),) * 2), None],
            [None, -s.T, None, None, None, 2.0 * sp.diags_array(BETA)],
        ],
        format="csr",
    )
    constant = np.concatenate([-RHO, np.zeros(network.nodes + 6), network.kappa, ALPHA])
    size, first = len(constant), network.nodes + 9
    pick = _pick(size, first, len(network.arcs))
    functions = _Functions(linear, constant, sp.csr_array(pick.T * (k * network.nu)), pick)
    return MCP(
        functions.value, np.zeros(size), np.inf, jacobian=functions.jacobian,
        start=_start(size, flows=slice(first, size - 3), production=slice(size - 3, size)),
        name=f"harkmcp-{model}",
    )  # fmt: skip


def _oligopoly(network: Network) -> MCP:
    arcs, parts = len(network.arcs), _ProducerParts.of(network)
    one = sp.eye_array(REGIONS)
    linear = sp.block_array(
        [
            [sp.diags_array(ETA), None, one, None, None, None, None],
            [None, None, None, -parts.arrive, parts.balance, parts.produce, None],
            [-one, None, None, parts.total, None, None, None],
            [None, parts.arrive.T, -parts.total.T, sp.diags_array(np.tile(ETA, 3)), None, None, None],
            [None, -parts.balance.T, None, None, None, None, sp.csr_array((3 * arcs, arcs))],
            [None, -parts.produce.T, None, None, None, 2.0 * sp.diags_array(BETA), None],
            [None, None, None, None, -parts.carry, None, sp.eye_array(arcs)],
        ],
        format="csr",
    )
    nodes = 3 * network.nodes
    constant = np.concatenate(
        [-RHO, np.zeros(nodes + 3 + 9), np.tile(network.kappa, 3), ALPHA, np.zeros(arcs)]
    )
    size, first = len(constant), nodes + 15
    weights = sp.csr_array(_pick(size, first, 3 * arcs).T @ parts.carry.T * network.nu)
    functions = _Functions(linear, constant, weights, _pick(size, size - arcs, arcs))
    lower = np.zeros(size)
    lower[size - arcs :] = -np.inf
    end = first + 3 * arcs
    return MCP(
        functions.value, lower, np.inf, jacobian=functions.jacobian,
        start=_start(size, flows=slice(first, end), production=slice(end, end + 3)),
        name="harkmcp-4",
    )  # fmt: skip


def harker_reduced(model: int, example: int) -> MNCP:
    """One of the four models with the dimensions of Andreani et al., on the network of an example.

    A region's price and consumption follow from its supply, d = x and p = ρ − ηx, and the balances of
    the nodes are equations with the free multipliers c. Models 1 to 3: u = (y, x, t) ≥ 0, v = c,

        f = (α + 2β y − c;   c − ρ + (1 + m) η x;   c_i + κ + k ν t² − c_j),     g = balances

    so that problem (2) has 27 variables in example 1 and 46 in example 2. Model 4: u = (y, x_q, t_q),
    v = (c_q, p), T = Σ_q t_q; the prices stay, each with the equation Σ_q x_q = (ρ − p)/η: 72 and 129.
    """
    _check(model)
    if example not in NETWORKS:
        raise OptionError(f"harker_reduced(example={example!r}): choose 1 (regions alone) or 2 (six nodes)")
    network = NETWORKS[example]
    functions, bounded = _reduced_oligopoly(network) if model == 4 else _reduced_one_seller(model, network)
    size = len(functions.constant)
    f, g = functions.rows(slice(bounded)), functions.rows(slice(bounded, None))
    sold = REGIONS**2 if model == 4 else REGIONS
    start = _start(size, flows=slice(3 + sold, bounded), production=slice(3))
    return MNCP(
        lambda u, v: f.value(np.concatenate([u, v])),
        lambda u, v: g.value(np.concatenate([u, v])),
        (bounded, size - bounded),
        jacobian=lambda u, v: functions.jacobian(np.concatenate([u, v])),
        start=(start[:bounded], start[bounded:]),
        name=f"harkmcp-{model}-example-{example}",
    )


def _reduced_one_seller(model: int, network: Network) -> tuple[_Functions, int]:
    m, k = _MONOPOLY[model], _ARC_COST[model]
    e, s = network.incidence, network.regions
    arcs = len(network.arcs)
    linear = sp.block_array(
        [
            [2.0 * sp.diags_array(BETA), None, None, -s.T],
            [None, (1.0 + m) * sp.diags_array(ETA), None, s.T],
            [None, None, sp.csr_array((arcs, arcs)), -e.T],
            [s, -s, e, None],
        ],
        format="csr",
    )
    constant = np.concatenate([ALPHA, -RHO, network.kappa, np.zeros(network.nodes)])
    pick = _pick(len(constant), 6, arcs)
    return _Functions(linear, constant, sp.csr_array(pick.T * (k * network.nu)), pick), 6 + arcs


def _reduced_oligopoly(network: Network) -> tuple[_Functions, int]:
    parts = _ProducerParts.of(network)
    arcs = len(network.arcs)
    linear = sp.block_array(
        [
            [2.0 * sp.diags_array(BETA), None, None, -parts.produce.T, None],
            [None, sp.diags_array(np.tile(ETA, 3)), None, parts.arrive.T, -parts.total.T],
            [None, None, sp.csr_array((3 * arcs, 3 * arcs)), -parts.balance.T, None],
            [parts.produce, -parts.arrive, parts.balance, None, None],
            [None, parts.total, None, None, sp.diags_array(1.0 / ETA)],
        ],
        format="csr",
    )
    constant = np.concatenate(
        [ALPHA, np.zeros(9), np.tile(network.kappa, 3), np.zeros(3 * network.nodes), -RHO / ETA]
    )
    carried = _pick(len(constant), 12, 3 * arcs)
    weights = sp.csr_array(carried.T @ parts.carry.T * network.nu)
    return _Functions(linear, constant, weights, sp.csr_array(parts.carry @ carried)), 12 + 3 * arcs


@dataclass(frozen=True)
class _ProducerParts:
    """Matrices of model 4 with one copy per producer q, the slower index."""

    balance: sp.csr_array
    """Inflow − outflow at the nodes of each producer's flows."""
    arrive: sp.csr_array
    """Sales of each producer in a region, at its node."""
    produce: sp.csr_array
    """Production of producer q, at node q of its flows."""
    total: sp.csr_array
    """Sales in each region, summed over producers."""
    carry: sp.csr_array
    """Flow on each arc, summed over producers."""

    @classmethod
    def of(cls, network: Network) -> _ProducerParts:
        each, together = sp.eye_array(REGIONS), np.ones((1, REGIONS))
        made = np.zeros((REGIONS * network.nodes, REGIONS))
        for q in range(REGIONS):
            made[q * network.nodes + q, q] = 1.0
        return cls(
            sp.csr_array(sp.kron(each, network.incidence)),
            sp.csr_array(sp.kron(each, network.regions)),
            sp.csr_array(made),
            sp.csr_array(sp.kron(together, sp.eye_array(REGIONS))),
            sp.csr_array(sp.kron(together, sp.eye_array(len(network.arcs)))),
        )


_MONOPOLY = {1: 0.0, 2: 1.0, 3: 1.0}
_ARC_COST = {1: 1.0, 2: 3.0, 3: 1.0}


def _check(model: int) -> None:
    if model not in (1, 2, 3, 4):
        raise OptionError(f"harker(model={model!r}): choose 1, 2, 3 or 4")


def _pick(size: int, first: int, count: int) -> sp.csr_array:
    """(count, size): selects `count` components, beginning at `first`."""
    return sp.eye_array(count, size, k=first, format="csr")


def _start(size: int, *, flows: slice, production: slice) -> Floats:
    """MCPLIB's start: no flow, production 25, everything else 1."""
    start = np.ones(size)
    start[flows], start[production] = 0.0, 25.0
    return start


# ---- answers ------------------------------------------------------------------------------------------

ANSWERS: dict[int, Sequence[float]] = {
    1: (15.580174, 30.820431, 31.688012, 12.099132, 34.365511, 31.623975, 16.580174, 26.656345, 20.512807),
    2: (13.337419, 30.419964, 24.300256, 11.656453, 33.201442, 23.199744, 16.668709, 26.667986, 23.040077),
    3: (13.662290, 30.372910, 24.696336, 10.844275, 35.083597, 22.803664, 16.831145, 26.649164, 23.158901),
    4: (13.859603, 30.434367, 24.601443, 10.350991, 34.816239, 23.728184, 16.929802, 26.651838, 22.881545),
}  # fmt: skip
"""(y, d, p) of each model on the network of example 2, found with PATH 5.2."""
ANSWERS_EXAMPLE_1: dict[int, Sequence[float]] = {
    1: (15.541907, 30.805310, 32.172813, 12.290463, 35.575194, 30.654373, 16.541907, 26.644248, 20.803688),
    2: (13.361845, 30.398508, 24.697357, 11.595387, 34.059682, 22.802643, 16.680923, 26.659403, 23.159207),
    3: (13.709272, 30.337540, 25.339207, 10.726821, 36.498405, 22.160793, 16.854636, 26.635016, 23.351762),
    4: (14.258026, 30.411508, 24.917445, 9.354935, 36.667828, 23.564216, 17.129013, 26.633322, 22.930735),
}
"""The same in example 1 with its stand-in costs.

Every model's Jacobian is symmetric in (y, x, t), so each is the optimality condition of a convex program: the
minimum of production cost and arc cost less the buyers' willingness to pay, with a term for the sellers'
effect on prices, subject to the nodes' balances. A plain Newton
method found these numbers to a residual of 1e-12, and scipy's SLSQP to 1e-5 in them.
"""
PRINTED = 5e-7
"""Half a unit of the last digit of the solutions."""


def outcome(model: int, z: ArrayLike) -> Floats:
    """(y, d, p) of a point of `harker`."""
    point = np.asarray(z, dtype=float)
    prices = slice(21, 24) if model == 4 else slice(9, 12)
    produced = slice(75, 78) if model == 4 else slice(29, 32)
    return np.concatenate([point[produced], point[:3], point[prices]])


def outcome_reduced(model: int, z: ArrayLike) -> Floats:
    """(y, d, p) of a point of `harker_reduced`."""
    point = np.asarray(z, dtype=float)
    demand = point[3:12].reshape(3, 3).sum(0) if model == 4 else point[3:6]
    return np.concatenate([point[:3], demand, RHO - ETA * demand])


def _starts(build: Callable[[], MCP]) -> dict[str, Floats]:
    first = build().start
    return {"mcplib": first, "ones": np.ones(len(first))}


def _named() -> tuple[NamedProblem, ...]:
    source = "MCPLIB harkmcp; Harker 1986"
    titles = {
        1: "perfect competition",
        2: "monopoly that owns the network",
        3: "monopoly, average cost",
        4: "oligopoly",
    }
    found = []
    for model, title in titles.items():
        values = frozen(ANSWERS[model])
        whole = Reference(values, PRINTED, "y, d, p", partial(outcome, model))
        forms: list[tuple[str, str, Callable[[], MCP], tuple[Reference, ...]]] = [
            (f"harkmcp-{model}", "MCPLIB's form", partial(harker, model), (whole,))
        ]
        for example in NETWORKS:
            answer = frozen(ANSWERS_EXAMPLE_1[model]) if example == 1 else values
            known = Reference(answer, PRINTED, "y, d, p", partial(outcome_reduced, model))
            forms.append(
                (
                    f"harkmcp-{model}-example-{example}",
                    f"reduced, example {example}" + (", stand-in costs" if example == 1 else ""),
                    partial(harker_reduced, model, example),
                    (known,),
                )
            )
        for name, form, build, references in forms:
            starts = partial(_starts, build)
            found.append(NamedProblem(name, f"{title}; {form}", source, build, starts, references))
    return tuple(found)


PROBLEMS = _named()
"""The problems of this file."""
