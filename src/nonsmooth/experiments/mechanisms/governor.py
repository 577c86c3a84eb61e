"""A05 of the IFToMM library of computational benchmark problems: the stiff flyball governor.

A shaft that rotates freely carries two arms with heavy balls and a slider, which stiff springs with strong
dampers hold to the arms. The slider's height is measured for 10 s. Springs and dampers are explicit here, so
that the dampers, under which motion dies out like exp(−8117 t/s), limit the step: orders are measured over
0.25 s.
"""

from __future__ import annotations

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.experiments.mechanisms import references
from nonsmooth.experiments.mechanisms.report import MechanismExperiment
from nonsmooth.experiments.mechanisms.setting import Line, Plan, kept
from nonsmooth.model import quaternions
from nonsmooth.model.system import System
from nonsmooth.scenes.spatial_benchmarks import governor

LONG = Plan(10.0, (200e-6,), 200, schemes=("rattle",))


@kept
def motion(times: Floats) -> Floats:
    """The slider's height in m and the heat of the dampers in J, (n, 2), by integration of arm and slider."""
    found = references.governor(times)
    return np.column_stack([found.height, found.heat])


class IftommGovernor(MechanismExperiment):
    """The flyball governor."""

    name = "iftomm-governor"
    summary = "a flyball governor with stiff springs and dampers: the slider's height"
    paper = "IFToMM library of computational benchmark problems, A05"
    belongs_to = "negrut"
    seconds = (25.0, 130.0)
    FULL = Plan(0.25, (200e-6, 100e-6), 25, long=LONG)
    QUICK = Plan(0.05, (200e-6, 100e-6), 10)
    quantity, components, unit = "the slider's height", ("s",), "m"
    source = "two freedoms by DOP853"
    moments = (0.0, 0.15, 0.25, 0.5)
    plane = ("x of the shaft in m", "z in m")

    def value(self, system: System) -> Floats:
        """The slider's height (1,) in m."""
        return system.position[system.index("slider"), 2:].copy()

    def reference(self, times: Floats) -> Floats:
        """The slider's height (n, 1) in m."""
        return motion(times)[:, :1]

    def work(self, times: Floats, values: Floats) -> Floats:
        """Work of the dampers (n,) in J, as the reference has it."""
        return -motion(times)[:, 1]

    def draw(self, system: System) -> list[Line]:
        """Shaft, arms, slider and springs in the frame that rotates with the shaft: its own x, and z."""
        back = quaternions.conjugate(system.quaternion[system.index("shaft")])
        anchors = system.joints.anchors(system.position, system.quaternion)

        def on_paper(*points: Floats) -> Line:
            return quaternions.rotate(back, np.array(points))[:, [0, 2]]

        lines = [on_paper(np.zeros(3), np.array([0.0, 0.0, 1.0]))]
        sides = []
        for name in ("right", "left"):
            pin = anchors[system.joints.index(f"{name} pin"), 0]
            bottom, middle = anchors[system.joints.index(f"{name} spring")]
            lines += [on_paper(pin, pin + 2.0 * (middle - pin)), on_paper(bottom, middle)]
            sides.append(bottom)
        return [*lines, on_paper(*sides)]

    def build(self) -> System:
        """The governor in its initial state."""
        return governor()
