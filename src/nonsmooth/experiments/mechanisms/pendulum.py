"""A01 of the IFToMM library of computational benchmark problems: the simple pendulum.

A point mass of 1 kg on a massless rod of 1 m is let go at (−1, 0) m and swings for 10 s.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.progress import Progress
from nonsmooth.experiments.base import Old
from nonsmooth.experiments.mechanisms import references
from nonsmooth.experiments.mechanisms.report import Report, run_benchmark
from nonsmooth.experiments.mechanisms.setting import Benchmark, Plan, skeleton
from nonsmooth.experiments.summary import Summary
from nonsmooth.model.system import System
from nonsmooth.scenes.planar_benchmarks import pendulum

FULL = Plan(10.0, (0.01, 0.005, 0.0025), 200, order_time=1.0)
QUICK = Plan(1.0, (0.01, 0.005), 20)
REPORT = Report(
    moments=(0.0, 0.25, 0.4, 0.55, 0.7, 0.9, 1.2),
    published={1.0: (0.986292, -0.165011), 5.0: (-0.942305, -0.334754), 10.0: (-0.275087, -0.961419)},
    publisher="the table that goes with A01",
)


def measure(system: System) -> Floats:
    """The bob's place (2,) in m."""
    return system.position[0, :2].copy()


def reference(times: Floats) -> Floats:
    """The bob's place (n, 2) in m by elliptic functions."""
    angle, _ = references.pendulum(times)
    return np.column_stack([np.sin(angle), -np.cos(angle)])


BENCHMARK = Benchmark(
    build=pendulum, quantity="the bob's place", components=("x", "y"), unit="m", measure=measure,
    reference=reference, source="closed form", draw=skeleton,
)  # fmt: skip


def run(folder: Path, quick: bool, progress: Progress) -> Summary:
    """Run the experiment; see `Experiment.run`."""
    return run_benchmark(IFTOMM_PENDULUM, BENCHMARK, QUICK if quick else FULL, REPORT, folder, progress)


IFTOMM_PENDULUM = Old(
    "iftomm-pendulum",
    "the simple pendulum: error, energy and cost of all schemes against elliptic functions",
    "IFToMM library of computational benchmark problems, A01",
    run,
)
