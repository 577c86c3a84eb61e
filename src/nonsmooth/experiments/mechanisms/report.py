"""How a benchmark of a mechanism is run and reported: trials, data, figures and the table of results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from nonsmooth._support.progress import Pieces, Progress
from nonsmooth.experiments.base import AnyExperiment
from nonsmooth.experiments.mechanisms import figures
from nonsmooth.experiments.mechanisms.setting import (
    SCHEMES,
    Benchmark,
    Plan,
    Trial,
    finest,
    in_words,
    of_scheme,
    order,
    run_trial,
    run_trials,
)
from nonsmooth.experiments.shared import plots
from nonsmooth.experiments.shared.output import prepare_folder, write_csv
from nonsmooth.experiments.summary import Comparison, Summary, paper_row, reference_row

More = Callable[[Sequence[Trial], Pieces], list[Comparison]]


def nothing_more(_trials: Sequence[Trial], _pieces: Pieces) -> list[Comparison]:
    """No rows besides those of every benchmark."""
    return []


def no_more_files(_folder: Path) -> list[Path]:
    """No files besides those of every benchmark."""
    return []


@dataclass(frozen=True)
class Report:
    """What is shown of a benchmark, besides what is shown of all."""

    moments: tuple[float, ...]
    """Times in s at which the mechanism is drawn."""
    plane: tuple[str, str] = ("x in m", "y in m")
    """What the axes of the drawing are."""
    published: Mapping[float, Sequence[float]] = field(default_factory=dict)
    """Published values of the measured quantity, by time in s."""
    publisher: str = ""
    """Who published them."""
    more: More = nothing_more
    """Further rows; called as more(trials, pieces) and may begin `more_pieces` pieces of work."""
    more_pieces: int = 0
    long: Plan | None = None
    """One run that is longer than those of the convergence and is shown instead: one scheme, one step."""
    more_files: Callable[[Path], list[Path]] = no_more_files
    """Writes further files into the folder, after `more` was called, and returns their paths."""


def run_benchmark(
    experiment: AnyExperiment,
    benchmark: Benchmark,
    plan: Plan,
    report: Report,
    folder: Path,
    progress: Progress,
) -> Summary:
    """Run all trials, write data and figures into the folder, and compare."""
    prepare_folder(folder)
    pieces = Pieces(progress, len(plan.trials) + 2 + (report.long is not None) + report.more_pieces)
    trials = run_trials(benchmark, plan, pieces)
    long = [] if report.long is None else _long(benchmark, report.long, pieces)
    shown = [*long, finest(trials, plan.schemes[-1])][0]
    more = report.more(trials, pieces)
    pieces.begin("data and figures")
    picture = figures.motion(
        benchmark, shown, moments=report.moments, plane=report.plane, published=report.published
    )
    files = [
        write_trials(folder / "trials.csv", [*trials, *long]),
        write_motion(folder / "motion.csv", benchmark, trials),
        plots.save_figure(picture, folder / "motion.png"),
        plots.save_figure(figures.convergence(benchmark, trials, plan.until), folder / "convergence.png"),
        plots.save_figure(figures.drift(trials), folder / "drift.png"),
        *report.more_files(folder),
    ]
    rows = [*_published(benchmark, report, shown), *more, *_at_the_end(benchmark, shown)]
    rows += [row for trial in long for row in _of_scheme(benchmark, [trial])]
    rows += compare(benchmark, plan, trials)
    summary = Summary(experiment.name, experiment.paper, tuple(rows), tuple(files)).write(folder)
    pieces.finish()
    return summary


def _published(benchmark: Benchmark, report: Report, trial: Trial) -> list[Comparison]:
    """Published values of the quantity beside ours, as far as the run goes."""
    return [
        paper_row(
            f"{name} at t = {moment:g} s, {trial.name}", value, float(ours), benchmark.unit, report.publisher
        )
        for moment, values in report.published.items()
        if moment <= trial.time[-1] * (1.0 + 1e-9)
        for name, value, ours in zip(benchmark.components, values, trial.at(moment), strict=True)
    ]


def _long(benchmark: Benchmark, plan: Plan, pieces: Pieces) -> list[Trial]:
    """Run the only trial of a plan."""
    ((scheme, step),) = plan.trials
    pieces.begin(f"{scheme}, h = {in_words(step)}, {plan.duration / step:.0f} steps")
    return [run_trial(benchmark, scheme, step, plan)]


def _at_the_end(benchmark: Benchmark, trial: Trial) -> list[Comparison]:
    """The quantity at the end of a run beside its reference."""
    wanted = benchmark.reference(trial.time)[-1]
    return [
        reference_row(
            f"{name} at t = {trial.time[-1]:g} s, {trial.name}", float(value), float(ours), benchmark.unit,
            benchmark.source,
        )
        for name, value, ours in zip(benchmark.components, wanted, trial.value[-1], strict=True)
    ]  # fmt: skip


def compare(benchmark: Benchmark, plan: Plan, trials: Sequence[Trial]) -> list[Comparison]:
    """Error, order, drift and cost of every scheme."""
    rows = []
    for scheme in plan.schemes:
        rows += _of_scheme(benchmark, of_scheme(trials, scheme))
        steps = " and ".join(in_words(step) for step in plan.steps[-2:])
        note = (
            f"in theory {SCHEMES[scheme]}; from the largest errors up to t = {plan.until:g} s at h = {steps}"
        )
        found = order(trials, scheme, plan.until)
        rows.append(Comparison(f"order of convergence, {scheme}", None, found, "", note))
    return rows


def _of_scheme(benchmark: Benchmark, trials: Sequence[Trial]) -> list[Comparison]:
    """Errors for all steps of a scheme; drift, joints and cost for the shortest."""
    rows = []
    for trial in trials:
        missed = trial.run.certificate.missed
        note = f"{trial.run.steps.count} steps to t = {trial.time[-1]:g} s"
        note += f", of which {missed} missed the tolerance" if missed else ""
        rows.append(
            Comparison(
                f"largest error of {benchmark.quantity}, {trial.name}", None, float(trial.error.max()),
                benchmark.unit, note,
            )
        )  # fmt: skip
    trial = trials[-1]
    drift, joints = float(np.abs(trial.drift).max()), float(trial.joint_error.max())
    cost, each = trial.wall / trial.time[-1], 1e3 * trial.wall / trial.run.steps.count
    return [
        *rows,
        Comparison(
            f"largest drift of the energy, {trial.name}", None, drift, "J",
            f"largest kinetic energy {trial.scale:.4g} J",
        ),
        Comparison(f"largest error of the joints, {trial.name}", None, joints, "m or rad"),
        Comparison(f"wall time, {trial.name}", None, trial.wall, "s", f"CPU time {trial.cpu:.3g} s"),
        Comparison(
            f"wall time for a simulated second, {trial.name}", None, cost, "s", f"{each:.3g} ms for a step"
        ),
    ]  # fmt: skip


def write_trials(path: Path, trials: Sequence[Trial]) -> Path:
    """Write one line for each trial."""
    header = (
        "scheme", "duration_s", "step_s", "steps", "largest_error", "error_at_the_end",
        "largest_energy_drift_J", "largest_kinetic_energy_J", "largest_joint_error",
        "steps_that_missed_the_tolerance", "largest_residual", "wall_time_s", "cpu_time_s",
    )  # fmt: skip
    rows = [
        (
            trial.scheme, trial.time[-1], trial.step, trial.run.steps.count, trial.error.max(),
            trial.error[-1], np.abs(trial.drift).max(), trial.scale, trial.joint_error.max(),
            trial.run.certificate.failed, trial.run.certificate.worst, trial.wall, trial.cpu,
        )
        for trial in trials
    ]  # fmt: skip
    return write_csv(path, header, rows)


def write_motion(path: Path, benchmark: Benchmark, trials: Sequence[Trial]) -> Path:
    """Write the quantity at all samples: the reference, and every scheme with its shortest step."""
    shown = [finest(trials, scheme) for scheme in dict.fromkeys(trial.scheme for trial in trials)]
    unit = benchmark.unit
    names = [name.replace(" ", "_") for name in benchmark.components]
    header = ["time_s", *(f"{name}_reference_{unit}" for name in names)]
    columns = [shown[0].time[:, None], benchmark.reference(shown[0].time)]
    for trial in shown:
        header += [f"{name}_{trial.scheme}_{unit}" for name in names]
        header.append(f"energy_drift_{trial.scheme}_J")
        columns += [trial.value, trial.drift[:, None]]
    return write_csv(path, header, np.hstack(columns).tolist())
