"""What the experiments with buildings share: they must stand, with every step and every contact certified."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.progress import Pieces, Progress
from nonsmooth.errors import ContactWarning, ToleranceWarning
from nonsmooth.experiments.base import Comparison, Experiment, Summary
from nonsmooth.experiments.shared.output import (
    BLUE,
    DARK_GREY,
    GREEN,
    ORANGE,
    legend_below,
    new_axes,
    prepare_folder,
    save_figure,
    write_csv,
    write_json,
)
from nonsmooth.io.runs.recording import Recording
from nonsmooth.model.system import System
from nonsmooth.stepping.frame import Frame
from nonsmooth.stepping.run import Run
from nonsmooth.stepping.simulate import simulate

if TYPE_CHECKING:
    from matplotlib.figure import Figure


ALLOWED = 0.05
"""Displacement in m up to which a building counts as standing."""
PARTS = 10
"""Pieces of a run that are reported."""
_COLOURS = (BLUE, ORANGE, GREEN)


@dataclass(frozen=True)
class Building:
    """A scene that must stand, and how it is run."""

    key: str
    """In file names."""
    label: str
    """In tables and figures."""
    build: Callable[[], System]
    step: float
    """s"""
    tolerance: float
    """Relative residual asked of every step."""
    view: tuple[float, float, float] = (-75.0, 12.0, 1.0)
    """Of the picture: azimuth and elevation in degrees, and zoom."""
    published: tuple[Comparison, ...] = ()
    """What others print of it; `ours` is filled in by `measured`."""
    measured: Callable[[Standing], Sequence[float]] | None = None
    """Returns our number for each row of `published`."""


@dataclass(frozen=True)
class Standing:
    """One run of a building."""

    building: Building
    start: System
    run: Run
    displacement: Floats
    """Largest distance in m of a body from where it started, after every step."""
    force_error: float
    """Vertical force on all that is fixed against the weight, mean over the last tenth, as a part of it."""

    @property
    def largest_displacement(self) -> float:
        """m"""
        return float(self.displacement.max())

    @property
    def per_step(self) -> float:
        """Wall time of a step in s; compilation, the check of the contacts and the recording are left out."""
        parts = ("motion", "collision", "assembly", "solver")
        return sum(self.share(part) for part in parts) / self.run.steps.count

    def share(self, part: str) -> float:
        """Wall time in s of a part of all steps: "collision", "checking" or "solver"."""
        return float(self.run.timings.seconds[part])


def stand(building: Building, steps: int, folder: Path, pieces: Pieces) -> tuple[Standing, Path]:
    """Run a building for some steps; returns the run and a picture of its end."""
    system = building.build()
    moving = ~system.fixed
    weight = float(np.linalg.norm(system.gravity)) * float(system.mass[moving].sum())
    first = system.position[moving].copy()
    displacement, carried = np.empty(steps), np.empty(steps)
    due = {round(part * steps / PARTS) for part in range(PARTS)}

    def look(frame: Frame) -> None:
        displacement[frame.index - 1] = np.linalg.norm(frame.position[moving] - first, axis=1).max()
        fixed = ~moving[frame.contacts.bodies]
        sign = fixed[:, 0].astype(float) - fixed[:, 1]
        carried[frame.index - 1] = sign @ frame.impulses[:, 2] / frame.step
        if frame.index in due:
            pieces.begin(f"{building.label}, step {frame.index} of {steps}")

    pieces.begin(f"{building.label}, step 0 of {steps}")
    with tempfile.TemporaryDirectory() as scratch:
        record = Recording(Path(scratch) / "run.h5", times=(steps * building.step,), checkpoint_seconds=None)
        with warnings.catch_warnings():
            for counted in (ToleranceWarning, ContactWarning):
                warnings.simplefilter("ignore", counted)  # the summary counts such steps
            run = simulate(
                system, duration=steps * building.step, step=building.step, tolerance=building.tolerance,
                record=record, observe=look, contact_check="all",
            )  # fmt: skip
        picture = _paint(Path(scratch) / "run.h5", building, folder / f"{building.key}.png")
    late = carried[-max(1, steps // 10) :].mean()
    return Standing(building, system, run, displacement, abs(late / weight - 1.0)), picture


def _paint(recording: Path, building: Building, target: Path) -> Path:
    """Draw the last frame, bodies coloured by the contact forces on them."""
    from PIL import Image

    from nonsmooth.io import Trajectory
    from nonsmooth.view.drawing.camera import View
    from nonsmooth.view.drawing.colours import ColourBy
    from nonsmooth.view.drawing.picture import Look, Painter

    with Trajectory(recording) as trajectory:
        end = float(trajectory.times[-1])
        look = Look(colour=ColourBy.FORCE, width=1440, height=900)
        Image.fromarray(Painter(trajectory, [end], look, View(*building.view)).paint(end)).save(target)
    return target


def run_buildings(
    experiment: Experiment, buildings: Sequence[Building], steps: int, folder: Path, progress: Progress
) -> Summary:
    """Run buildings, write data, figures and the summary of an experiment."""
    prepare_folder(folder)
    pieces = Pieces(progress, PARTS * len(buildings) + 1)
    found, pictures = [], []
    for building in buildings:
        standing, picture = stand(building, steps, folder, pieces)
        found.append(standing)
        pictures.append(picture)
    pieces.begin("data and figures")
    files = [
        _write_steps(folder / "steps.csv", found),
        write_json(folder / "runs.json", {each.building.key: numbers(each) for each in found}),
        *pictures,
        save_figure(_history(found), folder / "history.png"),
    ]
    rows = tuple(row for each in found for row in compare(each))
    failures = tuple(sentence for each in found for sentence in failures_of(each))
    summary = Summary(experiment.name, experiment.paper, rows, tuple(files), failures).write(folder)
    pieces.finish()
    return summary


def numbers(each: Standing) -> dict[str, float]:
    """A run in a few numbers."""
    certificate, steps = each.run.certificate, each.run.steps
    return {
        "bodies": float(np.sum(~each.start.fixed)),
        "contacts": float(steps["contacts"].max()),
        "steps": float(certificate.steps),
        "steps_that_missed_the_tolerance": float(certificate.missed),
        "largest_residual": certificate.worst,
        "largest_displacement_m": each.largest_displacement,
        "largest_penetration_m": certificate.largest_penetration,
        "error_of_the_carried_weight": each.force_error,
        "mean_iterations": float(steps["iterations"].mean()),
        "time_of_a_step_s": each.per_step,
        "time_for_contacts_s": each.share("collision"),
        "time_for_the_solver_s": each.share("solver"),
        "contacts_checked": float(certificate.contacts_checked),
        "steps_with_wrong_contacts": float(certificate.wrong_contact_steps),
        "missing_contacts": float(certificate.missing_contacts),
        "largest_gap_error_m": certificate.largest_gap_error,
        "largest_normal_error_rad": certificate.largest_normal_error,
    }


def compare(each: Standing) -> list[Comparison]:
    """Certificate, displacement and time of a building, with what others print beside."""
    name, found = each.building.label, numbers(each)
    certificate = each.run.certificate
    rows = [
        Comparison(f"steps that missed the tolerance, {name}", None, float(certificate.missed), "",
                   f"must be 0, of {certificate.steps} at {certificate.tolerance:g}; largest residual "
                   f"{certificate.worst:.2e}; {found['contacts']:.0f} contacts at most", 0.0),
        Comparison(f"largest displacement, {name}", None, each.largest_displacement, "m",
                   f"it stands if this is at most {ALLOWED:g} m"),
        Comparison(f"steps with a wrong or missing contact, {name}", None,
                   float(certificate.wrong_contact_steps), "",
                   f"must be 0; {certificate.contacts_checked} of {certificate.contacts} contacts checked; "
                   f"largest error of a gap {certificate.largest_gap_error:.1e} m, of a normal "
                   f"{certificate.largest_normal_error:.1e} rad", 0.0),
        Comparison.with_closed_form(f"weight carried, as a part of all, {name}", 1.0, 1.0 - each.force_error,
                                    "", "mean over the last tenth of the run"),
        Comparison(f"largest penetration, {name}", None, certificate.largest_penetration, "m"),
        Comparison(f"time of a step, {name}", None, 1e3 * each.per_step, "ms",
                   f"contacts {1e3 * each.share('collision') / certificate.steps:.3g} ms, solver "
                   f"{1e3 * each.share('solver') / certificate.steps:.3g} ms, check of all contacts "
                   f"{1e3 * each.share('checking') / certificate.steps:.3g} ms"),
    ]  # fmt: skip
    if each.building.measured is not None:
        ours = each.building.measured(each)
        for row, value in zip(each.building.published, ours, strict=True):
            rows.append(Comparison(f"{row.quantity}, {name}", row.paper, value, row.unit, row.error_or_note))
    return rows


def failures_of(each: Standing) -> list[str]:
    """What a building must do and does not, a sentence each."""
    name, certificate = each.building.label, each.run.certificate
    said = []
    if certificate.missed:
        said.append(
            f"{name}: {certificate.missed} of {certificate.steps} steps missed the tolerance "
            f"{certificate.tolerance:g}, the largest residual is {certificate.worst:.2e}"
        )
    if certificate.wrong_contact_steps:
        said.append(
            f"{name}: the contacts of {certificate.wrong_contact_steps} of {certificate.steps} steps did not "
            "pass their check"
        )
    if not each.largest_displacement <= ALLOWED:
        said.append(f"{name}: it does not stand, a body moved by {each.largest_displacement:.3g} m")
    return said


def _write_steps(path: Path, found: Sequence[Standing]) -> Path:
    rows: list[list[object]] = []
    for each in found:
        steps = each.run.steps
        columns = (
            steps["time"], each.displacement, steps["residual"], steps["iterations"], steps["contacts"],
            steps["penetration"], steps["kinetic_energy"],
        )  # fmt: skip
        rows += [[each.building.key, *row] for row in np.column_stack(columns).tolist()]
    header = (
        "building", "time_s", "displacement_m", "residual", "iterations", "contacts", "penetration_m",
        "kinetic_energy_J",
    )  # fmt: skip
    return write_csv(path, header, rows)


def _history(found: Sequence[Standing]) -> Figure:
    """Residual and displacement of every step."""
    figure, (left, right) = new_axes((11.0, 5.4), columns=2)
    for each, colour in zip(found, _COLOURS, strict=False):
        time_, residual = each.run.steps["time"], each.run.steps["residual"]
        left.semilogy(
            time_, np.maximum(residual, 1e-17), color=colour, linewidth=0.9, label=each.building.label
        )
        right.semilogy(time_, np.maximum(each.displacement, 1e-17), color=colour, linewidth=1.2)
        asked = each.building.tolerance
        left.axhline(asked, color=colour, linestyle=":", linewidth=1.0)
    left.plot([], [], ":", color=DARK_GREY, linewidth=1.0, label="tolerance")
    right.axhline(ALLOWED, color=DARK_GREY, linestyle="--", linewidth=1.0, label="counts as standing below")
    left.set(xlabel="time in s", ylabel="relative residual", title="residual of every step")
    right.set(xlabel="time in s", ylabel="displacement in m", title="largest displacement of a body")
    legend_below(figure, len(found) + 2)
    return figure
