"""A02 of the IFToMM library of computational benchmark problems: the N four-bar mechanism.

Two (in the older table: forty) four-bar loops of equal links of 1 m and 1 kg turn under gravity. Twice in
every turn all links lie on one line, where the mechanism has N + 1 freedoms instead of one for an instant.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.experiments.base import Work
from nonsmooth.experiments.mechanisms import references
from nonsmooth.experiments.mechanisms.report import MechanismExperiment, More
from nonsmooth.experiments.mechanisms.setting import Plan, Trial, finest, in_words
from nonsmooth.experiments.summary import Comparison, exact_row, paper_row, reference_row
from nonsmooth.model.system import System
from nonsmooth.scenes.planar_benchmarks import n_four_bar
from nonsmooth.stepping.simulate import simulate

FORTY_TIME, FORTY_LOOPS = 5.0, (-0.540191, -0.841543)
"""A time in s, and the position (m) of B0 then in the published table for forty loops."""
EXUDYN = {10.0: (0.32845810, 0.94451854)}
"""Position (m) of B0 by time in s."""


class IftommFourBar(MechanismExperiment):
    """Two loops, and forty in the full form."""

    name = "iftomm-four-bar"
    summary = "two four-bar loops through their singular positions, where all links are in line"
    paper = "IFToMM library of computational benchmark problems, A02"
    belongs_to = "negrut"
    seconds = (20.0, 55.0)
    FULL = Plan(10.0, (0.01, 0.005, 0.0025), 200, order_time=1.5)
    QUICK = Plan(1.5, (0.01, 0.005), 30)
    quantity, components, unit, source = "tip B0", ("x", "y"), "m", "closed form"
    moments = (0.0, 0.5, 0.65, 0.8, 0.9)
    published = EXUDYN
    publisher = "Exudyn at h = 0.25 and 0.125 ms, extrapolated"

    def value(self, system: System) -> Floats:
        """The tip B0 of the first rocker, (2,) in m: twice as far from its pin as its centre."""
        return 2.0 * system.position[system.index("rocker 0"), :2]

    def reference(self, times: Floats) -> Floats:
        """The tip B0 (n, 2) in m by elliptic functions."""
        angle, _ = references.four_bar(times)
        return np.column_stack([np.cos(angle), np.sin(angle)])

    def singular_positions(self, trials: Sequence[Trial]) -> list[Comparison]:
        """Number of singular positions passed, and whether the loops stayed parallelograms."""
        trial = finest(trials)
        angle, _ = references.four_bar(trial.time)
        turned = np.unwrap(np.arctan2(trial.value[:, 1], trial.value[:, 0]))
        wanted, passed = (math.floor(-float(end) / math.pi) + 1 for end in (angle[-1], turned[-1]))
        system = trial.run.system
        tips = [2.0 * system.position[system.index(f"rocker {k}"), 1] for k in range(3)]
        return [
            reference_row(f"singular positions passed, {trial.name}", wanted, passed, "", self.source),
            exact_row(
                f"difference of the tips' heights at the end, {trial.name}", 0.0, float(np.ptp(tips)), "m",
                "zero as long as all loops are parallelograms",
            ),
        ]  # fmt: skip

    def build(self) -> System:
        """Two loops."""
        return n_four_bar()

    def more_pieces(self, plan: Plan) -> int:
        """Forty loops, if the run is long enough."""
        return int(plan.duration > FORTY_TIME)

    def more(self, plan: Plan, trials: Sequence[Trial], work: Work) -> More:
        """Singular positions, and forty loops compared with the older table."""
        rows = self.singular_positions(trials)
        if not self.more_pieces(plan):
            return More(rows)
        step = finest(trials).step
        work.begin(f"forty loops, rattle, h = {in_words(step)}")
        system = simulate(n_four_bar(40), duration=FORTY_TIME, step=step, scheme="rattle").system
        name = f"of forty loops at t = {FORTY_TIME:g} s, rattle, h = {in_words(step)}"
        for part, value, ours in zip(self.components, FORTY_LOOPS, self.value(system), strict=True):
            rows.append(paper_row(f"{part} {name}", value, float(ours), "m", "the table published with A02"))
        return More(rows)
