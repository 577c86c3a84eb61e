"""Fillings from 10 to 16,000 spheres: Melanz, Mazhar and Negrut §3.4, Fig. 11.

Each filling runs as in §3.2. The largest error of Eq. 8 and the mean number of iterations are set against
the number of contacts. The paper's anti-relaxed method becomes costly beyond 1,000 spheres and stops there;
our exact solver goes on beside its relaxed one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nonsmooth._support.progress import Pieces, Progress
from nonsmooth.experiments.base import Comparison, Experiment, Summary
from nonsmooth.experiments.melanz import granular_figures as figures
from nonsmooth.experiments.shared import granular
from nonsmooth.experiments.shared.kept_histories import KEPT, kept_run
from nonsmooth.experiments.shared.kept_work import forget
from nonsmooth.experiments.shared.output import prepare_folder, save_figure, write_csv
from nonsmooth.scenes.filling import filling

PARTS = 10
"""Pieces of a run that are reported."""


@dataclass(frozen=True)
class Setup:
    """How much is computed."""

    sizes: tuple[int, ...]
    """Numbers of spheres."""
    largest: dict[str, int]
    """Most spheres for a method, by key, where larger fillings would take hours."""
    duration: float
    """s"""
    step: float
    """s"""
    effort: granular.Effort
    """For all methods."""

    def runs(self) -> list[tuple[int, granular.Method]]:
        """Every run: size and method, the small ones first."""
        return [
            (size, method)
            for size in self.sizes
            for method in granular.METHODS
            if size <= self.largest.get(method.key, max(self.sizes))
        ]


_LARGEST = {granular.ANTI_RELAXED.key: 1000}
FULL = Setup((10, 30, 100, 300, 1000, 4000, 16000), _LARGEST, 5.0, 0.01, granular.Effort(1e-3, 1000))
"""The paper's time and step."""
QUICK = Setup((10, 30, 100), _LARGEST, 2.0, 0.01, granular.Effort(1e-3, 1000))


def run(folder: Path, quick: bool, progress: Progress) -> Summary:
    """Run the experiment; see `Experiment.run`."""
    return run_setup(folder, QUICK if quick else FULL, progress)


def run_setup(folder: Path, setup: Setup, progress: Progress) -> Summary:
    """Run it in given sizes; runs that are in the folder already are not done again."""
    prepare_folder(folder)
    runs = setup.runs()
    pieces = Pieces(progress, len(runs) * PARTS + 2)
    pieces.begin("compiling kernels, where that was not done before")
    granular.compile_kernels((filling(10), filling(100)))
    histories = [
        kept_run(folder, filling(size), method, setup.duration, setup.step, setup.effort, pieces, PARTS)
        for size, method in runs
    ]
    pieces.begin("data and figures")
    entries = [{"method": each.method.key, **granular.numbers(each)} for each in histories]
    files = [
        write_csv(folder / "runs.csv", tuple(entries[0]), [tuple(entry.values()) for entry in entries]),
        save_figure(figures.scaling(histories), folder / "fig11_scaling.png"),
    ]
    rows = compare(histories, setup)
    summary = Summary(MELANZ_SCALING.name, MELANZ_SCALING.paper, tuple(rows), tuple(files)).write(folder)
    forget(folder)
    pieces.finish()
    return summary


def compare(histories: Sequence[granular.History], setup: Setup) -> list[Comparison]:
    """Set the paper's statements about Fig. 11 beside our numbers."""
    found = {(size, method.key): each for (size, method), each in zip(setup.runs(), histories, strict=True)}
    rows = []
    for (size, _), each in found.items():
        name, certificate = f"{each.method.label}, {size} spheres", each.certificate
        note = f"{setup.effort}; {certificate.missed} of {certificate.steps} steps missed it"
        rows += [
            Comparison(
                f"largest complementarity error, {name}", None, float(each.complementarity.max()), "J",
                f"up to {int(each.contacts.max())} contacts",
            ),
            Comparison(f"mean iterations per step, {name}", None, float(each.iterations.mean()), "", note),
            Comparison(
                f"computing time, {name}", None, each.seconds, "s", f"CPU time of {certificate.steps} steps"
            ),
        ]  # fmt: skip
    relaxed, anti, exact = (method.key for method in granular.METHODS)
    for size in setup.sizes:
        if (size, relaxed) in found:
            ours, theirs = found[size, exact], found[size, relaxed]
            ratio = float(theirs.complementarity.max() / ours.complementarity.max())
            rows.append(
                Comparison(
                    f"complementarity error, relaxed / exact, {size} spheres", None, ratio, "",
                    "largest errors of the two runs; the paper: several orders of magnitude",
                )
            )  # fmt: skip
            cost = ours.seconds / theirs.seconds
            note = "whole runs; below 1: exact friction costs less than the paper's relaxed method"
            rows.append(
                Comparison(f"computing time, exact / relaxed APGD, {size} spheres", None, cost, "", note)
            )
        if (size, anti) in found:
            more = float(found[size, anti].iterations.mean() / found[size, relaxed].iterations.mean())
            rows.append(
                Comparison(
                    f"iterations, anti-relaxed / relaxed APGD, {size} spheres", None, more, "",
                    "the paper: similar below 100 spheres, increasingly costly above",
                )
            )  # fmt: skip
    large = [found[size, exact] for size in setup.sizes if size >= 100]
    if len(large) > 1:
        rows.append(
            Comparison(
                "growth of the exact solver's time with the contacts", None, _exponent(large), "",
                "exponent p of time ~ contacts^p from 100 spheres on, by least squares in logarithms",
            )
        )  # fmt: skip
    return rows


def _exponent(runs: Sequence[granular.History]) -> float:
    """Exponent of computing time against the largest number of contacts."""
    contacts = np.log([float(each.contacts.max()) for each in runs])
    seconds = np.log([each.seconds for each in runs])
    return float(np.polyfit(contacts, seconds, 1)[0])


MELANZ_SCALING = Experiment(
    "melanz-scaling",
    "fillings of 10 to 16,000 spheres: error, iterations and time against the number of contacts",
    "Melanz, Mazhar and Negrut, anti-relaxation, §3.4, Fig. 11",
    run,
    keeps=(KEPT,),
)
