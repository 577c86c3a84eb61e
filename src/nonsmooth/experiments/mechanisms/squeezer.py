"""A03 of the IFToMM library of computational benchmark problems: Andrews' squeezing mechanism.

Seven bodies in three plane loops, a spring, and a motor with a constant torque; 0.05 s from rest. The test
set of initial value problems has the same mechanism with another start and gives its state at 0.03 s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.progress import Pieces, Progress
from nonsmooth.experiments.base import Comparison, Experiment, Summary
from nonsmooth.experiments.mechanisms import references
from nonsmooth.experiments.mechanisms.report import Report, run_benchmark
from nonsmooth.experiments.mechanisms.setting import Benchmark, Plan, Trial, in_words, kept, skeleton
from nonsmooth.model.system import System
from nonsmooth.scenes.planar_benchmarks import squeezer
from nonsmooth.stepping.simulate import simulate

START, TORQUE = -0.0620, 0.033
"""Crank angle of A03 in rad, and the motor's torque in N·m."""
FULL = Plan(0.05, (50e-6, 25e-6, 12.5e-6), 200, order_time=0.01)
QUICK = Plan(0.01, (50e-6, 25e-6), 20)
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
"""Way of the crank in degrees from the start of A03, by time in s, as MBDyn's own input of A03 gives it."""
_COORDINATES = {
    "β": ("O", 1.0),
    "Θ": ("F", 1.0),
    "γ": ("B", 1.0),
    "Φ": ("G", -1.0),
    "δ": ("A of upper arm", 1.0),
    "Ω": ("H", -1.0),
    "ε": ("A of lower arm", 1.0),
}
"""The joint whose coordinate changes as an angle of the literature does, and the sign."""


def measure(system: System) -> Floats:
    """The crank angle β (1,) in rad, whole turns included."""
    return np.array([START + system.coordinate("O")])


@kept
def reference(times: Floats) -> Floats:
    """The crank angle (n, 1) in rad, by integration of the mechanism's only freedom."""
    return references.andrews(times, start=START)[0][:, None]


def work(_times: Floats, values: Floats) -> Floats:
    """Work of the motor (n,) in J."""
    return np.asarray(TORQUE * (values[:, 0] - START))


def test_set(trials: Sequence[Trial], pieces: Pieces) -> list[Comparison]:
    """Run once more from the start of the test set to 0.03 s, or as far as the other runs went."""
    step = min(trial.step for trial in trials)
    duration = min(0.03, float(trials[0].time[-1]))
    pieces.begin(f"from the start of the test set, rattle, h = {in_words(step)}")
    run = simulate(squeezer(crank=references.ANDREWS_START), duration=duration, step=step, scheme="rattle")
    angle, rate = references.andrews(np.array([duration]))
    before, _ = references.andrews_angles(references.ANDREWS_START, 0.0)
    wanted, _ = references.andrews_angles(float(angle[0]), float(rate[0]))
    rows = []
    for (name, (joint, sign)), start, value in zip(_COORDINATES.items(), before, wanted, strict=True):
        ours = float(start) + sign * run.system.coordinate(joint)
        quantity = f"{name} at t = {duration:g} s from the test set's start, rattle, h = {in_words(step)}"
        if duration == 0.03:
            rows.append(
                Comparison.with_paper(quantity, TEST_SET[name], ours, "rad", "test set for IVP solvers")
            )
        else:
            rows.append(Comparison.with_reference(quantity, float(value), ours, "rad", BENCHMARK.source))
    return rows


BENCHMARK = Benchmark(
    build=squeezer, quantity="the crank angle", components=("β",), unit="rad", measure=measure,
    reference=reference, source="one freedom by DOP853", draw=skeleton, work=work,
)  # fmt: skip
REPORT = Report(
    moments=(0.0, 7e-3, 9e-3, 11e-3, 13e-3),
    published={moment: (START + math.radians(degrees),) for moment, degrees in MBDYN.items()},
    publisher="MBDyn with a fixed step",
    more=test_set,
    more_pieces=1,
)


def run(folder: Path, quick: bool, progress: Progress) -> Summary:
    """Run the experiment; see `Experiment.run`."""
    return run_benchmark(IFTOMM_SQUEEZER, BENCHMARK, QUICK if quick else FULL, REPORT, folder, progress)


IFTOMM_SQUEEZER = Experiment(
    "iftomm-squeezer",
    "Andrews' squeezing mechanism: seven bodies in three loops, driven by a motor against a spring",
    "IFToMM library of computational benchmark problems, A03; test set for IVP solvers, Andrews' mechanism",
    run,
)
