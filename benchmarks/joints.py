"""Cost of a time step of chains and of grids of four-bars against the number of joints.

    python benchmarks/joints.py

There are no contacts: this is the cost of joints alone. Chains swing about one end, and four-bars are driven.
Times are CPU times of a step (the median over a run), with the share of the solver. The exponent of cost is
fitted for 1,000 joint rows and more, where the overhead of calls is negligible; 1 is linear.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from _bench import machine
from nonsmooth.model.system import System
from nonsmooth.scenes import chain, four_bar_grid
from nonsmooth.stepping import TimeStepper
from nonsmooth.stepping.options import StepOptions

LINKS = (10, 30, 100, 300, 1_000, 3_000, 10_000)
GRIDS = (2, 5, 10, 20, 30)
"""Four-bars along each side."""
SCHEMES = ("stabilised", "projected", "rattle")
STEPS, SECONDS = 50, 3.0
"""Largest number of steps of a run, and CPU time in s after which it ends (after at least five steps)."""
LARGE = 1_000
"""Smallest number of joint rows in the fit of the exponent."""


@dataclass(frozen=True)
class Cost:
    """Cost of a step."""

    joints: int
    rows: int
    seconds: float
    """CPU time of a step."""
    solver: float
    """Share of the solver."""


def measure(system: System, step: float, scheme: str) -> Cost:
    """Median cost of a step, without the first two, which compile kernels and analyse structures."""
    stepper = TimeStepper(system.copy(), step, StepOptions(scheme=scheme))
    for _ in range(2):
        stepper.advance()
    stepper.timings.seconds.clear()
    times: list[float] = []
    while len(times) < STEPS and (sum(times) < SECONDS or len(times) < 5):
        began = time.process_time()
        frame = stepper.advance()
        times.append(time.process_time() - began)
        assert frame.status == "solved", f"{scheme}: a step ended as {frame.status!r}"
    share = stepper.timings.seconds["solver"] / stepper.timings.total
    return Cost(len(system.joints), len(system.joints.table.role), float(np.median(times)), share)


def exponent(costs: Sequence[Cost]) -> float:
    """Slope of log cost over log rows of the large systems; NaN if there are fewer than two."""
    large = [cost for cost in costs if cost.rows >= LARGE]
    if len(large) < 2:
        return float("nan")
    slope, _ = np.polyfit([np.log(cost.rows) for cost in large], [np.log(cost.seconds) for cost in large], 1)
    return float(slope)


def hanging(links: int) -> tuple[System, float]:
    """A swinging chain fixed at one end, and a step in s that resolves its fastest oscillations."""
    return chain(links, span=None), 0.1 / links


def grid(side: int) -> tuple[System, float]:
    """side × side four-bars, and a step in s."""
    return four_bar_grid(side, side), 1e-3


def table(
    title: str, name: Callable[[int], str], sizes: Sequence[int], build: Callable[[int], tuple[System, float]]
) -> None:
    """Print one row for each size and the exponents."""
    header = f"{title:<14}{'joints':>8}{'rows':>8}"
    print(header + "".join(f"{scheme + ' ms':>16}{'solver':>8}" for scheme in SCHEMES))
    costs: dict[str, list[Cost]] = {scheme: [] for scheme in SCHEMES}
    for size in sizes:
        system, step = build(size)
        for scheme in SCHEMES:
            costs[scheme].append(measure(system, step, scheme))
        last = [costs[scheme][-1] for scheme in SCHEMES]
        row = f"{name(size):<14}{last[0].joints:>8}{last[0].rows:>8}"
        print(row + "".join(f"{1e3 * cost.seconds:>16.3f}{cost.solver:>8.0%}" for cost in last), flush=True)
    line = f"{'exponent':<14}{'':>16}"
    print(line + "".join(f"{exponent(costs[scheme]):>16.2f}{'':>8}" for scheme in SCHEMES))


def main() -> None:
    print(machine())
    table("chain of", str, LINKS, hanging)
    table("four-bars", lambda side: f"{side} × {side}", GRIDS, grid)


if __name__ == "__main__":
    main()
