"""A02 of the IFToMM library of computational benchmark problems: the N four-bar mechanism.

Two (in the older table: forty) four-bar loops of equal links of 1 m and 1 kg turn under gravity. Twice in
every turn all links lie on one line, where the mechanism has N + 1 freedoms instead of one for an instant.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.progress import Pieces, Progress
from nonsmooth.experiments.base import Comparison, Experiment, Summary
from nonsmooth.experiments.mechanisms import references
from nonsmooth.experiments.mechanisms.report import Report, run_benchmark
from nonsmooth.experiments.mechanisms.setting import Benchmark, Plan, Trial, finest, in_words, skeleton
from nonsmooth.model.system import System
from nonsmooth.scenes.planar_benchmarks import n_four_bar
from nonsmooth.stepping.simulate import simulate

FULL = Plan(10.0, (0.01, 0.005, 0.0025), 200, order_time=1.5)
QUICK = Plan(1.5, (0.01, 0.005), 30)
FORTY_TIME, FORTY_LOOPS = 5.0, (-0.540191, -0.841543)
"""A time in s, and the place (m) of B0 then in the published table, which is that of forty loops."""


def measure(system: System) -> Floats:
    """The tip B0 of the first rocker, (2,) in m: twice as far from its pin at the origin as its centre."""
    return 2.0 * system.position[system.index("rocker 0"), :2]


def reference(times: Floats) -> Floats:
    """The tip B0 (n, 2) in m by elliptic functions."""
    angle, _ = references.four_bar(times)
    return np.column_stack([np.cos(angle), np.sin(angle)])


def singular_positions(trials: Sequence[Trial], _pieces: Pieces) -> list[Comparison]:
    """How often all links came to lie on one line, and whether the loops stayed parallelograms."""
    trial = finest(trials)
    angle, _ = references.four_bar(trial.time)
    turned = np.unwrap(np.arctan2(trial.value[:, 1], trial.value[:, 0]))
    wanted, passed = (math.floor(-float(end) / math.pi) + 1 for end in (angle[-1], turned[-1]))
    system = trial.run.system
    tips = [2.0 * system.position[system.index(f"rocker {k}"), 1] for k in range(3)]
    return [
        Comparison.with_reference(
            f"singular positions passed, {trial.name}", wanted, passed, "", BENCHMARK.source
        ),
        Comparison.with_closed_form(
            f"difference of the tips' heights at the end, {trial.name}", 0.0, float(np.ptp(tips)), "m",
            "zero as long as all loops are parallelograms",
        ),
    ]  # fmt: skip


def with_forty_loops(trials: Sequence[Trial], pieces: Pieces) -> list[Comparison]:
    """The same, and forty loops beside the older table, which has them."""
    step = finest(trials).step
    pieces.begin(f"forty loops, rattle, h = {in_words(step)}")
    system = simulate(n_four_bar(40), duration=FORTY_TIME, step=step, scheme="rattle").system
    name = f"of forty loops at t = {FORTY_TIME:g} s, rattle, h = {in_words(step)}"
    rows = [
        Comparison.with_paper(f"{part} {name}", value, float(ours), "m", "the table that goes with A02")
        for part, value, ours in zip(BENCHMARK.components, FORTY_LOOPS, measure(system), strict=True)
    ]
    return singular_positions(trials, pieces) + rows


BENCHMARK = Benchmark(
    build=n_four_bar, quantity="tip B0", components=("x", "y"), unit="m", measure=measure,
    reference=reference, source="closed form", draw=skeleton,
)  # fmt: skip
REPORT = Report(
    moments=(0.0, 0.5, 0.65, 0.8, 0.9),
    published={10.0: (0.32845810, 0.94451854)},
    publisher="Exudyn at h = 0.25 and 0.125 ms, extrapolated",
    more=singular_positions,
)


def run(folder: Path, quick: bool, progress: Progress) -> Summary:
    """Run the experiment; see `Experiment.run`."""
    plan, report = (QUICK, REPORT) if quick else (FULL, replace(REPORT, more=with_forty_loops, more_pieces=1))
    return run_benchmark(IFTOMM_FOUR_BAR, BENCHMARK, plan, report, folder, progress)


IFTOMM_FOUR_BAR = Experiment(
    "iftomm-four-bar",
    "two four-bar loops through their singular positions, where all links are in line",
    "IFToMM library of computational benchmark problems, A02",
    run,
)
