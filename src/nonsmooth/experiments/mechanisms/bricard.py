"""A04 of the IFToMM library of computational benchmark problems: Bricard's mechanism.

Six equal bars, one of them the ground, along edges of a cube: 30 rows for the 30 degrees of freedom of five
bodies, and yet it moves, because one row is redundant in every position. It swings under gravity for 10 s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.experiments.base import Work
from nonsmooth.experiments.mechanisms import references
from nonsmooth.experiments.mechanisms.report import MechanismExperiment, More
from nonsmooth.experiments.mechanisms.setting import Line, Plan, Trial, kept, skeleton
from nonsmooth.experiments.summary import paper_row
from nonsmooth.model import quaternions
from nonsmooth.model.system import System
from nonsmooth.scenes.spatial_benchmarks import bricard
from nonsmooth.stepping.simulate import simulate

OBLIQUE = np.array([[1.0, 0.0, -0.45], [0.0, 1.0, -0.3]])
"""Cavalier view: z comes out of the paper to the lower left."""
EXUDYN, EXUDYN_STEP = 4.172189649307425 - 2.0, 1e-3
"""Result of Exudyn's test, less 1 for the freedom and 1 for the redundant row, and its step in s."""


def places(system: System) -> Floats:
    """The joints P1 to P6, (6, 3) in m."""
    return np.asarray(system.joints.anchors(system.position, system.quaternion)[:, 0])


class IftommBricard(MechanismExperiment):
    """Bricard's mechanism."""

    name = "iftomm-bricard"
    summary = "Bricard's mechanism, which moves although its joints remove all freedoms: one row is redundant"
    paper = "IFToMM library of computational benchmark problems, A04"
    belongs_to = "negrut"
    seconds = (25.0, 40.0)
    FULL = Plan(10.0, (0.01, 0.005, 0.0025), 200, order_time=1.0)
    QUICK = Plan(1.0, (0.01, 0.005), 20)
    quantity, components, unit, source = "joint P3", ("x", "y", "z"), "m", "one freedom by DOP853"
    moments = (0.0, 0.6, 0.9, 1.2, 1.5)
    plane = ("x − 0.45 z in m", "y − 0.3 z in m")

    def value(self, system: System) -> Floats:
        """The joint P3, (3,) in m."""
        return np.asarray(places(system)[2])

    @staticmethod
    @kept
    def reference(times: Floats) -> Floats:
        """The joint P3 (n, 3) in m, by integration of the mechanism's only degree of freedom."""
        coordinates, _ = references.bricard(times)
        return np.array([references.bricard_pose(float(coordinate))[0][2] for coordinate in coordinates])

    def draw(self, system: System) -> list[Line]:
        """The six bars in the oblique view, that of the ground included."""
        ground = places(system)[[5, 0]] @ OBLIQUE.T
        return [*skeleton(system, OBLIQUE), ground]

    def more(self, plan: Plan, trials: Sequence[Trial], work: Work) -> More:
        """Exudyn's own number at 1 s: all displacements of the bars' first joints and Euler parameters."""
        work.begin("Exudyn's test at t = 1 s, rattle, h = 1 ms")
        start = bricard()
        end = simulate(start, duration=1.0, step=EXUDYN_STEP, scheme="rattle").system
        half = math.sqrt(0.5)
        # Exudyn's bars have their own x axes, ours those of the cube: only the change is compared.
        frames = [(1, 0, 0, 0), (half, 0, 0, -half), (half, 0, -half, 0), (0, 0, 0, 1), (half, 0, 0, half)]
        turned = quaternions.product(end.quaternion, frames) - np.array(frames)
        moved = (places(end) - places(start))[:5]
        norm = float(np.linalg.norm(np.concatenate([moved.ravel(), turned.ravel()])))
        name = "norm of the bars' motion at t = 1 s, rattle, h = 1 ms"
        return More([paper_row(name, EXUDYN, norm, "m and 1", "Exudyn, bricardMechanism, h = 1 ms")])

    def build(self) -> System:
        """The mechanism in its initial state."""
        return bricard()

    def more_pieces(self, plan: Plan) -> int:
        """Exudyn's test."""
        return 1
