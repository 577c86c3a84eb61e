"""Spheres in a container under a heavy slab: Melanz, Mazhar and Negrut §3.3, Figs. 9 and 10.

1,000 spheres (1 kg, radius 1 m, μ = 0.25) fall, a slab of 4,000 kg falls after them and presses them
together. The picture has 4,000 spheres, as in the paper. Start and container are those of
`scenes.compaction`; the paper prints neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from nonsmooth.experiments.base import Data, Experiment, Figures, Rows, Work
from nonsmooth.experiments.melanz import granular_figures as figures
from nonsmooth.experiments.shared import granular
from nonsmooth.experiments.shared.pictures import side_by_side
from nonsmooth.scenes.compaction import compaction


@dataclass(frozen=True)
class Setup:
    """Size of the computation."""

    spheres: int
    slab_mass: float
    """kg"""
    pictured: int | None
    """Number of spheres of the run to draw, under the exact law only; None draws the run of `spheres`."""
    plan: granular.Plan


_MOMENTS = (0.075, 0.2, 0.3, 0.4, 0.55, 1.0)


class Found(NamedTuple):
    """What the experiment computes."""

    setup: Setup
    histories: list[granular.History]
    pictured: list[granular.History]
    """The run that is drawn, if it is a separate one."""


class MelanzCompaction(Experiment[Setup, Found]):
    """Some spheres under a slab, by the three methods."""

    name = "melanz-compaction"
    summary = "a slab of 4,000 kg presses 1,000 spheres: force on the container and complementarity error"
    paper = "Melanz, Mazhar and Negrut, anti-relaxation, §3.3, Figs. 9 and 10"
    seconds = (25.0, 3600.0)
    FULL = Setup(1000, 4000.0, 4000, granular.Plan(4.0, 0.001, granular.Effort(1e-2, 2000), 40, _MOMENTS))
    """The paper's sizes, time and step."""
    QUICK = Setup(60, 240.0, None, granular.Plan(4.0, 0.005, granular.Effort(1e-3, 1000), 40, _MOMENTS))
    """The same slab mass per sphere."""

    def measure(self, setup: Setup, work: Work) -> Found:
        """Run every method; stored runs are reused."""
        more = () if setup.pictured is None else (setup.pictured,)
        work.expect((len(granular.METHODS) + len(more)) * setup.plan.parts + 1)
        work.begin("compiling kernels")
        granular.compile_kernels((compaction(10), compaction(100)))

        def history(spheres: int, method: granular.Method) -> granular.History:
            return granular.kept_run(work, compaction(spheres, slab_mass=setup.slab_mass), method, setup.plan)

        histories = [history(setup.spheres, method) for method in granular.METHODS]
        return Found(setup, histories, [history(spheres, granular.EXACT) for spheres in more])

    def data(self, found: Found) -> Data:
        """Every step, and every run in a few numbers."""
        runs = {each.method.key: granular.numbers(each) for each in found.histories}
        for each in found.pictured:
            runs[f"{each.method.key}_{found.setup.pictured}"] = granular.numbers(each)
        return {"steps.csv": granular.steps_table(found.histories), "runs.json": runs}

    def figures(self, found: Found) -> Figures:
        """The scene, forces and errors, cost and motion."""
        setup, histories = found.setup, found.histories
        (shown,) = found.pictured or histories[2:]
        count, slab = setup.pictured or setup.spheres, f"a slab of {setup.slab_mass:g} kg"
        title, weight = f"{count} spheres under {slab}", f"the {setup.spheres} spheres and the slab"
        return {
            "fig09_scene": side_by_side(shown.pictures, f"{title} (exact Coulomb friction)"),
            "fig10_force_and_error": figures.forces_and_errors(histories, weight),
            "iterations_and_motion": figures.cost_and_motion(histories),
        }

    def compare(self, found: Found) -> Rows:
        """The paper's statements about Fig. 10 beside our numbers."""
        effort = found.setup.plan.effort
        yield from granular.compare(found.histories, effort)
        for each in found.pictured:
            yield from granular.compare([each], effort, f", {found.setup.pictured} spheres")
