"""A04 of the IFToMM library of computational benchmark problems: Bricard's mechanism.

Six equal bars, one of them the ground, along edges of a cube: 30 rows for the 30 freedoms of five bodies, and
yet it moves, because one row is redundant in every position. It swings under gravity for 10 s.
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
from nonsmooth.experiments.mechanisms.setting import Benchmark, Line, Plan, Trial, kept, skeleton
from nonsmooth.model import quaternions
from nonsmooth.model.system import System
from nonsmooth.scenes.spatial_benchmarks import bricard
from nonsmooth.stepping.simulate import simulate

FULL = Plan(10.0, (0.01, 0.005, 0.0025), 200, order_time=1.0)
QUICK = Plan(1.0, (0.01, 0.005), 20)
OBLIQUE = np.array([[1.0, 0.0, -0.45], [0.0, 1.0, -0.3]])
"""Cavalier view: z comes out of the paper to the lower left."""
EXUDYN, EXUDYN_STEP = 4.172189649307425 - 2.0, 1e-3
"""What Exudyn's test prints, less 1 for the freedom and 1 for the redundant row, and its step in s."""


def places(system: System) -> Floats:
    """The joints P1 to P6, (6, 3) in m."""
    return np.asarray(system.joints.anchors(system.position, system.quaternion)[:, 0])


def measure(system: System) -> Floats:
    """The joint P3, (3,) in m."""
    return np.asarray(places(system)[2])


@kept
def reference(times: Floats) -> Floats:
    """The joint P3 (n, 3) in m, by integration of the mechanism's only freedom."""
    coordinates, _ = references.bricard(times)
    return np.array([references.bricard_pose(float(coordinate))[0][2] for coordinate in coordinates])


def draw(system: System) -> list[Line]:
    """The six bars in the oblique view, that of the ground included."""
    ground = places(system)[[5, 0]] @ OBLIQUE.T
    return [*skeleton(system, OBLIQUE), ground]


def exudyn(_trials: Sequence[Trial], pieces: Pieces) -> list[Comparison]:
    """Exudyn's own number at 1 s: all displacements of the bars' first joints and Euler parameters."""
    pieces.begin("Exudyn's test at t = 1 s, rattle, h = 1 ms")
    start = bricard()
    end = simulate(start, duration=1.0, step=EXUDYN_STEP, scheme="rattle").system
    half = math.sqrt(0.5)
    # Exudyn's bars have their own x axes along them, ours those of the cube: only the change is compared.
    frames = [(1, 0, 0, 0), (half, 0, 0, -half), (half, 0, -half, 0), (0, 0, 0, 1), (half, 0, 0, half)]
    turned = quaternions.product(end.quaternion, frames) - np.array(frames)
    moved = (places(end) - places(start))[:5]
    norm = float(np.linalg.norm(np.concatenate([moved.ravel(), turned.ravel()])))
    note = "Exudyn, bricardMechanism, h = 1 ms"
    return [
        Comparison.with_paper(
            "norm of the bars' motion at t = 1 s, rattle, h = 1 ms", EXUDYN, norm, "m and 1", note
        )
    ]


BENCHMARK = Benchmark(
    build=bricard, quantity="joint P3", components=("x", "y", "z"), unit="m", measure=measure,
    reference=reference, source="one freedom by DOP853", draw=draw,
)  # fmt: skip
REPORT = Report(
    moments=(0.0, 0.6, 0.9, 1.2, 1.5),
    plane=("x − 0.45 z in m", "y − 0.3 z in m"),
    more=exudyn,
    more_pieces=1,
)


def run(folder: Path, quick: bool, progress: Progress) -> Summary:
    """Run the experiment; see `Experiment.run`."""
    return run_benchmark(IFTOMM_BRICARD, BENCHMARK, QUICK if quick else FULL, REPORT, folder, progress)


IFTOMM_BRICARD = Experiment(
    "iftomm-bricard",
    "Bricard's mechanism, which moves although its joints take all freedoms: one row is redundant",
    "IFToMM library of computational benchmark problems, A04",
    run,
)
