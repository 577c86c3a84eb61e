"""Spheres that fall into a container: Melanz, Mazhar and Negrut §3.2, Figs. 7 and 8.

1,000 spheres (1 kg, radius 1 m, μ = 0.25) start on a lattice with small random shifts above the floor of
an open container and come to rest in it. The paper does not print the initial state and the size of the
container, so its curves can be compared in kind only: their final values, and the difference of the laws.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from nonsmooth.experiments.base import Data, Experiment, Figures, Rows, Work
from nonsmooth.experiments.melanz import granular_figures as figures
from nonsmooth.experiments.shared import granular
from nonsmooth.experiments.shared.pictures import side_by_side
from nonsmooth.scenes.filling import filling


@dataclass(frozen=True)
class Setup:
    """Size of the computation."""

    spheres: int
    plan: granular.Plan


_MOMENTS = (0.05, 0.15, 0.25, 0.35, 0.5, 1.0)


class Found(NamedTuple):
    """What the experiment computes."""

    setup: Setup
    histories: list[granular.History]


class MelanzFilling(Experiment[Setup, Found]):
    """Some spheres under the three methods."""

    name = "melanz-filling"
    summary = "1,000 spheres fall into a container: force on it and complementarity error, relaxed and exact"
    paper = "Melanz, Mazhar and Negrut, anti-relaxation, §3.2, Figs. 7 and 8"
    seconds = (15.0, 370.0)
    FULL = Setup(1000, granular.Plan(5.0, 0.01, granular.Effort(1e-4, 3000), 25, _MOMENTS))
    """The paper's size, time and step."""
    QUICK = Setup(60, granular.Plan(4.0, 0.01, granular.Effort(1e-3, 1500), 25, _MOMENTS))

    def measure(self, setup: Setup, work: Work) -> Found:
        """Run every method; stored runs are reused."""
        work.expect(len(granular.METHODS) * setup.plan.parts + 1)
        work.begin("compiling kernels")
        granular.compile_kernels((filling(10), filling(100)))
        histories = [
            granular.kept_run(work, filling(setup.spheres), method, setup.plan) for method in granular.METHODS
        ]
        return Found(setup, histories)

    def data(self, found: Found) -> Data:
        """Every step, and every run in a few numbers."""
        return {
            "steps.csv": granular.steps_table(found.histories),
            "runs.json": {each.method.key: granular.numbers(each) for each in found.histories},
        }

    def figures(self, found: Found) -> Figures:
        """The scene, forces and errors, cost and motion."""
        count, (relaxed, _, exact) = found.setup.spheres, found.histories
        title = f"{count} spheres fall into a container ({{}})"
        return {
            "fig07_scene_exact": side_by_side(exact.pictures, title.format("exact Coulomb friction")),
            "fig07_scene_relaxed": side_by_side(relaxed.pictures, title.format("relaxed")),
            "fig08_force_and_error": figures.forces_and_errors(found.histories, f"the {count} spheres"),
            "iterations_and_motion": figures.cost_and_motion(found.histories),
        }

    def compare(self, found: Found) -> Rows:
        """The paper's statements about Fig. 8 beside our numbers."""
        return granular.compare(found.histories, found.setup.plan.effort)
