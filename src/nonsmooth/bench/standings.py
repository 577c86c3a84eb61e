"""The standings of the solvers, and the performance profile of Dolan and Moré."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.bench.measure import Row, Settings

Clock = Literal["cpu", "wall"]

CLOCKS: tuple[Clock, ...] = ("cpu", "wall")


_TICK = 1e-7
"""Smallest time in s: a coarse clock may return zero."""


@dataclass(frozen=True)
class Rules:
    """The criterion for solved rows, and the clock."""

    settings: Settings
    clock: Clock = "cpu"
    """"cpu" (CPU time of the process) or "wall"."""

    def verdict(self, row: Row) -> str:
        """solved, missed (an answer that does not meet the tolerance), time limit, crashed or unsupported."""
        if row.ended != "answered":
            return row.ended
        return "solved" if self.settings.meets(row.residual, row.siconos_error) else "missed"

    def time(self, row: Row) -> float:
        """Time in s of a solved row, infinite for any other."""
        if self.verdict(row) != "solved":
            return math.inf
        return max(row.cpu if self.clock == "cpu" else row.wall, _TICK)


@dataclass(frozen=True)
class Standing:
    """One line of the league table. Times in s."""

    solver: str
    version: str
    problems: int
    """Number of problems tried."""
    solved: int
    fastest: int
    """Number of problems solved faster than by all others."""
    mean_time: float
    """Geometric mean over the solved problems; NaN if there are none."""
    penalised_time: float
    """Geometric mean over all problems, where an unsolved one counts with the time limit."""
    against_best: float
    """Time over that of the fastest other, geometric mean over the problems that it and another solved."""
    missed: int
    late: int
    crashed: int
    unsupported: int


def standings(rows: Sequence[Row], rules: Rules) -> list[Standing]:
    """The league table: most solved first, then the fastest."""
    best: dict[str, float] = {}
    for row in rows:
        best[row.problem] = min(best.get(row.problem, math.inf), rules.time(row))
    table = []
    for solver in dict.fromkeys(row.solver for row in rows):
        own = [row for row in rows if row.solver == solver]
        verdicts = [rules.verdict(row) for row in own]
        times = [rules.time(row) for row in own]
        solved = [time for time in times if math.isfinite(time)]
        penalised = [min(time, rules.settings.time_limit) for time in times]
        table.append(
            Standing(
                solver=solver,
                version=own[-1].version,
                problems=len(own),
                solved=len(solved),
                fastest=sum(
                    time == best[row.problem] < math.inf for time, row in zip(times, own, strict=True)
                ),
                mean_time=geometric_mean(solved),
                penalised_time=geometric_mean(penalised),
                against_best=geometric_mean(_ratios(solver, rows, rules)),
                missed=verdicts.count("missed"),
                late=verdicts.count("time limit"),
                crashed=verdicts.count("crashed"),
                unsupported=verdicts.count("unsupported"),
            )
        )
    return sorted(table, key=lambda line: (-line.solved, line.penalised_time))


def _ratios(solver: str, rows: Sequence[Row], rules: Rules) -> list[float]:
    """A solver's times over the best of all others, for the problems that it and another solved."""
    own = {row.problem: rules.time(row) for row in rows if row.solver == solver}
    others: dict[str, float] = {}
    for row in rows:
        if row.solver != solver:
            others[row.problem] = min(others.get(row.problem, math.inf), rules.time(row))
    ratios = (own[problem] / others[problem] for problem in own if others.get(problem, math.inf) < math.inf)
    return [ratio for ratio in ratios if math.isfinite(ratio)]


def profile(rows: Sequence[Row], rules: Rules) -> dict[str, Floats]:
    """Performance ratios of Dolan and Moré (2002): a solver's times over the best time of the same problem.

    One array per solver, sorted, with a number for every problem that some solver solved; infinite if this
    one did not. The profile at τ is the share of entries ≤ τ.
    """
    problems = list(dict.fromkeys(row.problem for row in rows))
    solvers = list(dict.fromkeys(row.solver for row in rows))
    times = np.full((len(solvers), len(problems)), np.inf)
    for row in rows:
        times[solvers.index(row.solver), problems.index(row.problem)] = rules.time(row)
    best = times.min(axis=0, initial=np.inf)
    ratios = times[:, np.isfinite(best)] / best[np.isfinite(best)]
    return {solver: np.sort(line) for solver, line in zip(solvers, ratios, strict=True)}


def geometric_mean(values: Sequence[float]) -> float:
    """Geometric mean of positive numbers; NaN of none."""
    return float(np.exp(np.mean(np.log(values)))) if len(values) else math.nan
