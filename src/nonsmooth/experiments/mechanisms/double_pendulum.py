"""The double pendulum: two uniform bars from rest, against Lagrange's equations solved to twelve digits.

Both bars of 1 m and 1 kg start level and swing for 2 s. The motion is chaotic in the long run: then no two
methods agree, and errors say nothing.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.progress import Progress
from nonsmooth.experiments.base import Old
from nonsmooth.experiments.mechanisms import textbook_references as references
from nonsmooth.experiments.mechanisms.report import Report, run_benchmark
from nonsmooth.experiments.mechanisms.setting import Benchmark, Plan
from nonsmooth.experiments.summary import Summary
from nonsmooth.model.system import System
from nonsmooth.scenes.linkages import double_pendulum

START = (0.5 * math.pi, 0.5 * math.pi)
"""Angles in rad from the downward vertical."""
FULL = Plan(2.0, (0.008, 0.004, 0.002, 0.001), 50)
QUICK = Plan(0.8, (0.008, 0.004), 20)
REPORT = Report(moments=(0.0, 0.24, 0.36, 0.48, 0.6, 0.72), plane=("x in m", "z in m"))


def measure(system: System) -> Floats:
    """Angles (2,) in rad of both bars from the downward vertical."""
    shoulder, elbow = system.coordinate("shoulder"), system.coordinate("elbow")
    return np.array([START[0] + shoulder, START[1] + shoulder + elbow])


def reference(times: Floats) -> Floats:
    """The same angles (n, 2) by integration of the two freedoms."""
    return references.double_pendulum(times, start=START).angles


def draw(system: System) -> list[Floats]:
    """Both bars, seen along +y."""
    upper, lower = measure(system)
    elbow = np.array([math.sin(upper), -math.cos(upper)])
    tip = elbow + np.array([math.sin(lower), -math.cos(lower)])
    return [np.array([np.zeros(2), elbow, tip])]


BENCHMARK = Benchmark(
    build=double_pendulum,
    quantity="angles",
    components=("upper bar", "lower bar"),
    unit="rad",
    measure=measure,
    reference=reference,
    source="Lagrange's equations by DOP853",
    draw=draw,
)


def run(folder: Path, quick: bool, progress: Progress) -> Summary:
    """Run the experiment; see `Experiment.run`."""
    return run_benchmark(DOUBLE_PENDULUM, BENCHMARK, QUICK if quick else FULL, REPORT, folder, progress)


DOUBLE_PENDULUM = Old(
    "double-pendulum",
    "two bars that hang from each other: error and order of all schemes, drift of energy and joints",
    "checked against Lagrange's equations, integrated to twelve digits",
    run,
)
