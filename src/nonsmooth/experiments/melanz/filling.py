"""Spheres that fall into a container: Melanz, Mazhar and Negrut §3.2, Figs. 7 and 8.

1,000 spheres (1 kg, radius 1 m, μ = 0.25) start on a lattice with small random shifts above the floor of
an open container and come to rest in it. The paper prints no start and no size of the container, so its
curves can be compared in kind only: where they end, and how far the two laws are apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nonsmooth._support.progress import Pieces, Progress
from nonsmooth.experiments.base import Experiment, Summary
from nonsmooth.experiments.melanz import granular_figures as figures
from nonsmooth.experiments.shared import granular
from nonsmooth.experiments.shared.kept_histories import KEPT, kept_run
from nonsmooth.experiments.shared.kept_work import forget
from nonsmooth.experiments.shared.output import prepare_folder, save_figure, write_json
from nonsmooth.scenes.filling import filling

PARTS = 25
"""Pieces of a run that are reported."""


@dataclass(frozen=True)
class Setup:
    """How much is computed."""

    spheres: int
    duration: float
    """s"""
    step: float
    """s"""
    effort: granular.Effort
    """For all methods."""


FULL = Setup(1000, 5.0, 0.01, granular.Effort(1e-4, 3000))
"""The paper's size, time and step."""
QUICK = Setup(60, 4.0, 0.01, granular.Effort(1e-3, 1500))


def run(folder: Path, quick: bool, progress: Progress) -> Summary:
    """Run the experiment; see `Experiment.run`."""
    return run_setup(folder, QUICK if quick else FULL, progress)


def run_setup(folder: Path, setup: Setup, progress: Progress) -> Summary:
    """Run it in a given size; runs that are in the folder already are not done again."""
    prepare_folder(folder)
    pieces = Pieces(progress, len(granular.METHODS) * PARTS + 2)
    pieces.begin("compiling kernels, where that was not done before")
    granular.compile_kernels((filling(10), filling(100)))
    moments = [setup.duration * part for part in (0.05, 0.15, 0.25, 0.35, 0.5, 1.0)]
    histories = [
        kept_run(
            folder,
            filling(setup.spheres),
            method,
            setup.duration,
            setup.step,
            setup.effort,
            pieces,
            PARTS,
            moments,
        )
        for method in granular.METHODS
    ]
    pieces.begin("data and figures")
    title = f"{setup.spheres} spheres fall into a container ({{}})"
    drawn = {
        "fig07_scene_exact": figures.scene_over_time(histories[2], title.format("exact Coulomb friction")),
        "fig07_scene_relaxed": figures.scene_over_time(histories[0], title.format("relaxed")),
        "fig08_force_and_error": figures.forces_and_errors(histories, f"the {setup.spheres} spheres"),
        "iterations_and_motion": figures.cost_and_motion(histories),
    }
    files = [
        granular.write_histories(folder / "steps.csv", histories),
        write_json(folder / "runs.json", {each.method.key: granular.numbers(each) for each in histories}),
        *(save_figure(figure, folder / f"{name}.png") for name, figure in drawn.items()),
    ]
    rows = granular.compare(histories, setup.effort)
    summary = Summary(MELANZ_FILLING.name, MELANZ_FILLING.paper, tuple(rows), tuple(files)).write(folder)
    forget(folder)
    pieces.finish()
    return summary


MELANZ_FILLING = Experiment(
    "melanz-filling",
    "1,000 spheres fall into a container: force on it and complementarity error, relaxed and exact",
    "Melanz, Mazhar and Negrut, anti-relaxation, §3.2, Figs. 7 and 8",
    run,
    keeps=(KEPT,),
)
