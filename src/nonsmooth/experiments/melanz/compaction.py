"""Spheres in a container under a heavy slab: Melanz, Mazhar and Negrut §3.3, Figs. 9 and 10.

1,000 spheres (1 kg, radius 1 m, μ = 0.25) fall, a slab of 4,000 kg falls after them and presses them
together. The picture has 4,000 spheres, as in the paper. Start and container are those of
`scenes.compaction`; the paper prints neither.
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
from nonsmooth.scenes.compaction import compaction

PARTS = 40
"""Pieces of a run that are reported."""


@dataclass(frozen=True)
class Setup:
    """How much is computed."""

    spheres: int
    slab_mass: float
    """kg"""
    pictured: int | None
    """Spheres of the run that is drawn, under the exact law alone; None draws the run of `spheres`."""
    duration: float
    """s"""
    step: float
    """s"""
    effort: granular.Effort
    """For all methods."""


FULL = Setup(1000, 4000.0, 4000, 4.0, 0.001, granular.Effort(1e-2, 2000))
"""The paper's sizes, time and step."""
QUICK = Setup(60, 240.0, None, 4.0, 0.005, granular.Effort(1e-3, 1000))
"""As heavy a slab for each sphere."""


def run(folder: Path, quick: bool, progress: Progress) -> Summary:
    """Run the experiment; see `Experiment.run`."""
    return run_setup(folder, QUICK if quick else FULL, progress)


def run_setup(folder: Path, setup: Setup, progress: Progress) -> Summary:
    """Run it in a given size; runs that are in the folder already are not done again."""
    prepare_folder(folder)
    more = () if setup.pictured is None else (setup.pictured,)
    pieces = Pieces(progress, (len(granular.METHODS) + len(more)) * PARTS + 2)
    pieces.begin("compiling kernels, where that was not done before")
    granular.compile_kernels((compaction(10), compaction(100)))
    moments = [setup.duration * part for part in (0.075, 0.2, 0.3, 0.4, 0.55, 1.0)]

    def history(spheres: int, method: granular.Method) -> granular.History:
        system = compaction(spheres, slab_mass=setup.slab_mass)
        return kept_run(
            folder, system, method, setup.duration, setup.step, setup.effort, pieces, PARTS, moments
        )

    histories = [history(setup.spheres, method) for method in granular.METHODS]
    pictured = [history(spheres, granular.EXACT) for spheres in more]
    shown = pictured[0] if pictured else histories[2]
    pieces.begin("data and figures")
    count = setup.pictured or setup.spheres
    title = f"{count} spheres under a slab of {setup.slab_mass:g} kg (exact Coulomb friction)"
    drawn = {
        "fig09_scene": figures.scene_over_time(shown, title),
        "fig10_force_and_error": figures.forces_and_errors(
            histories, f"the {setup.spheres} spheres and the slab"
        ),
        "iterations_and_motion": figures.cost_and_motion(histories),
    }
    runs = {each.method.key: granular.numbers(each) for each in histories}
    runs |= {f"{each.method.key}_{setup.pictured}": granular.numbers(each) for each in pictured}
    files = [
        granular.write_histories(folder / "steps.csv", histories),
        write_json(folder / "runs.json", runs),
        *(save_figure(figure, folder / f"{name}.png") for name, figure in drawn.items()),
    ]
    rows = granular.compare(histories, setup.effort)
    for each in pictured:
        rows += granular.compare([each], setup.effort, f", {setup.pictured} spheres")
    summary = Summary(MELANZ_COMPACTION.name, MELANZ_COMPACTION.paper, tuple(rows), tuple(files)).write(
        folder
    )
    forget(folder)
    pieces.finish()
    return summary


MELANZ_COMPACTION = Experiment(
    "melanz-compaction",
    "a slab of 4,000 kg presses 1,000 spheres: force on the container and complementarity error",
    "Melanz, Mazhar and Negrut, anti-relaxation, §3.3, Figs. 9 and 10",
    run,
    keeps=(KEPT,),
)
