"""A01 of the IFToMM library of computational benchmark problems: the simple pendulum.

A point mass of 1 kg on a massless rod of 1 m is released at (−1, 0) m and swings for 10 s.
"""

from __future__ import annotations

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.experiments.mechanisms import references
from nonsmooth.experiments.mechanisms.report import MechanismExperiment
from nonsmooth.experiments.mechanisms.setting import Plan
from nonsmooth.model.system import System
from nonsmooth.scenes.planar_benchmarks import pendulum

TABLE = {1.0: (0.986292, -0.165011), 5.0: (-0.942305, -0.334754), 10.0: (-0.275087, -0.961419)}
"""The bob's position in m by time in s."""


class IftommPendulum(MechanismExperiment):
    """The simple pendulum."""

    name = "iftomm-pendulum"
    summary = "the simple pendulum: error, energy and cost of all schemes against elliptic functions"
    paper = "IFToMM library of computational benchmark problems, A01"
    belongs_to = "negrut"
    seconds = (15.0, 35.0)
    FULL = Plan(10.0, (0.01, 0.005, 0.0025), 200, order_time=1.0)
    QUICK = Plan(1.0, (0.01, 0.005), 20)
    quantity, components, unit, source = "the bob's position", ("x", "y"), "m", "closed form"
    moments = (0.0, 0.25, 0.4, 0.55, 0.7, 0.9, 1.2)
    published = TABLE
    publisher = "the table published with A01"

    def value(self, system: System) -> Floats:
        """The bob's position (2,) in m."""
        return system.position[0, :2].copy()

    def reference(self, times: Floats) -> Floats:
        """The bob's position (n, 2) in m by elliptic functions."""
        angle, _ = references.pendulum(times)
        return np.column_stack([np.sin(angle), -np.cos(angle)])

    def build(self) -> System:
        """The pendulum, released from a horizontal rod."""
        return pendulum()
