"""A03 of the IFToMM library of computational benchmark problems: Andrews' squeezing mechanism.

Seven bodies in three plane loops, a spring, and a motor with a constant torque; 0.05 s from rest. The test
set of initial value problems has the same mechanism with another start and gives its state at 0.03 s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.experiments.base import Work
from nonsmooth.experiments.mechanisms import references
from nonsmooth.experiments.mechanisms.report import MechanismExperiment, More
from nonsmooth.experiments.mechanisms.setting import Plan, Trial, in_words, kept
from nonsmooth.experiments.summary import paper_row, reference_row
from nonsmooth.model.system import System
from nonsmooth.scenes.planar_benchmarks import squeezer
from nonsmooth.stepping.simulate import simulate

START, TORQUE = -0.0620, 0.033
"""Crank angle of A03 in rad, and the motor's torque in N·m."""
TEST_SET = {
    "β": 15.81077119629904,
    "Θ": -15.75637105984298,
    "γ": 0.04082224013073101,
    "Φ": -0.5347301163226948,
    "δ": 0.5244099658805304,
    "Ω": 0.5347301163226948,
    "ε": 1.048080741042263,
}
"""Angles in rad at 0.03 s of the test set for IVP solvers, from its own start."""
MBDYN = {5e-3: 15.5582, 10e-3: 126.9110, 20e-3: 472.1024, 35e-3: 1135.3837, 50e-3: 1940.9948}
"""Rotation of the crank in degrees from the start of A03, by time in s, from MBDyn's input file of A03."""
_COORDINATES = {
    "β": ("O", 1.0),
    "Θ": ("F", 1.0),
    "γ": ("B", 1.0),
    "Φ": ("G", -1.0),
    "δ": ("A of upper arm", 1.0),
    "Ω": ("H", -1.0),
    "ε": ("A of lower arm", 1.0),
}
"""The joint whose coordinate changes with an angle of the literature, and the sign."""
PUBLISHED = {moment: (START + math.radians(degrees),) for moment, degrees in MBDYN.items()}


class IftommSqueezer(MechanismExperiment):
    """Andrews' squeezing mechanism."""

    name = "iftomm-squeezer"
    summary = "Andrews' squeezing mechanism: seven bodies in three loops, driven by a motor against a spring"
    paper = (
        "IFToMM library of computational benchmark problems, A03; "
        "test set for IVP solvers, Andrews' mechanism"
    )
    belongs_to = "negrut"
    seconds = (25.0, 55.0)
    FULL = Plan(0.05, (50e-6, 25e-6, 12.5e-6), 200, order_time=0.01)
    QUICK = Plan(0.01, (50e-6, 25e-6), 20)
    quantity, components, unit, source = "the crank angle", ("β",), "rad", "one freedom by DOP853"
    moments = (0.0, 7e-3, 9e-3, 11e-3, 13e-3)
    published = PUBLISHED
    publisher = "MBDyn with a fixed step"

    def value(self, system: System) -> Floats:
        """The crank angle β (1,) in rad, whole turns included."""
        return np.array([START + system.coordinate("O")])

    @staticmethod
    @kept
    def reference(times: Floats) -> Floats:
        """The crank angle (n, 1) in rad, by integration of the mechanism's only degree of freedom."""
        return references.andrews(times, start=START)[0][:, None]

    def work(self, times: Floats, values: Floats) -> Floats:
        """Work of the motor (n,) in J."""
        return np.asarray(TORQUE * (values[:, 0] - START))

    def more(self, plan: Plan, trials: Sequence[Trial], work: Work) -> More:
        """Run again from the start of the test set to 0.03 s, or as far as the other runs."""
        step = min(trial.step for trial in trials)
        duration = min(0.03, float(trials[0].time[-1]))
        work.begin(f"from the start of the test set, rattle, h = {in_words(step)}")
        run = simulate(
            squeezer(crank=references.ANDREWS_START), duration=duration, step=step, scheme="rattle"
        )
        angle, rate = references.andrews(np.array([duration]))
        before, _ = references.andrews_angles(references.ANDREWS_START, 0.0)
        wanted, _ = references.andrews_angles(float(angle[0]), float(rate[0]))
        rows = []
        for (name, (joint, sign)), start, value in zip(_COORDINATES.items(), before, wanted, strict=True):
            ours = float(start) + sign * run.system.coordinate(joint)
            quantity = f"{name} at t = {duration:g} s from the test set's start, rattle, h = {in_words(step)}"
            if duration == 0.03:
                rows.append(paper_row(quantity, TEST_SET[name], ours, "rad", "test set for IVP solvers"))
            else:
                rows.append(reference_row(quantity, float(value), ours, "rad", self.source))
        return More(rows)

    def build(self) -> System:
        """The mechanism in its initial state."""
        return squeezer()

    def more_pieces(self, plan: Plan) -> int:
        """The test set's initial state."""
        return 1
