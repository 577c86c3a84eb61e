"""The double pendulum: two uniform bars from rest, against Lagrange's equations solved to twelve digits.

Both bars of 1 m and 1 kg start level and swing for 2 s. The motion is chaotic: over longer times methods
diverge from each other, and errors are not meaningful.
"""

from __future__ import annotations

import math

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.experiments.mechanisms import textbook_references as references
from nonsmooth.experiments.mechanisms.report import MechanismExperiment
from nonsmooth.experiments.mechanisms.setting import Plan
from nonsmooth.model.system import System
from nonsmooth.scenes.linkages import double_pendulum

START = (0.5 * math.pi, 0.5 * math.pi)
"""Angles in rad from the downward vertical."""


class DoublePendulum(MechanismExperiment):
    """Two bars that hang from each other."""

    name = "double-pendulum"
    summary = "two bars that hang from each other: error and order of all schemes, drift of energy and joints"
    paper = "checked against Lagrange's equations, integrated to twelve digits"
    belongs_to = "negrut"
    seconds = (15.0, 30.0)
    FULL = Plan(2.0, (0.008, 0.004, 0.002, 0.001), 50)
    QUICK = Plan(0.8, (0.008, 0.004), 20)
    quantity, components, unit = "angles", ("upper bar", "lower bar"), "rad"
    source = "Lagrange's equations by DOP853"
    moments = (0.0, 0.24, 0.36, 0.48, 0.6, 0.72)
    plane = ("x in m", "z in m")

    def value(self, system: System) -> Floats:
        """Angles (2,) in rad of both bars from the downward vertical."""
        shoulder, elbow = system.coordinate("shoulder"), system.coordinate("elbow")
        return np.array([START[0] + shoulder, START[1] + shoulder + elbow])

    def reference(self, times: Floats) -> Floats:
        """The same angles (n, 2) by integration of the two degrees of freedom."""
        return references.double_pendulum(times, start=START).angles

    def draw(self, system: System) -> list[Floats]:
        """Both bars, seen along +y."""
        upper, lower = self.value(system)
        elbow = np.array([math.sin(upper), -math.cos(upper)])
        tip = elbow + np.array([math.sin(lower), -math.cos(lower)])
        return [np.array([np.zeros(2), elbow, tip])]

    def build(self) -> System:
        """Both bars, level."""
        return double_pendulum()
