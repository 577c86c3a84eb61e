"""Shared parts of the experiments with buildings: they must stand, with every step and contact certified."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nonsmooth._support.arrays import Floats, Pixels
from nonsmooth.errors import ContactWarning, ToleranceWarning
from nonsmooth.experiments.base import Data, Experiment, Figures, Rows, Table, Work
from nonsmooth.experiments.shared import plots
from nonsmooth.experiments.shared.colours import BLUE, DARK_GREY, GREEN, ORANGE
from nonsmooth.experiments.shared.pictures import run_and_paint
from nonsmooth.experiments.summary import Comparison, exact_row
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
"""Number of progress reports of a run."""
_COLOURS = (BLUE, ORANGE, GREEN)


@dataclass(frozen=True)
class Building:
    """A scene that must stand, and its settings."""

    key: str
    """In file names."""
    label: str
    """In tables and figures."""
    build: Callable[[], System]
    step: float
    """s"""
    tolerance: float
    """Relative residual that every step must reach."""
    view: tuple[float, float, float] = (-75.0, 12.0, 1.0)
    """View of the picture: azimuth and elevation in degrees, and zoom."""
    published: tuple[Comparison, ...] = ()
    """Published numbers; `ours` is filled in by `measured`."""
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
    """Relative difference of the vertical force on all fixed bodies from the weight, over the last tenth."""
    picture: Pixels
    """Picture of the final state."""

    @property
    def largest_displacement(self) -> float:
        """m"""
        return float(self.displacement.max())

    @property
    def per_step(self) -> float:
        """Wall time of a step in s, without compilation, the check of the contacts and the recording."""
        parts = ("motion", "collision", "assembly", "solver")
        return sum(self.share(part) for part in parts) / self.run.steps.count

    def share(self, part: str) -> float:
        """Wall time in s of a part of all steps: "collision", "checking" or "solver"."""
        return float(self.run.timings.seconds[part])


def stand(building: Building, steps: int, work: Work) -> Standing:
    """Run a building for a number of steps."""
    system = building.build()
    moving = ~system.fixed
    weight = float(np.linalg.norm(system.gravity)) * float(system.mass[moving].sum())
    first = system.position[moving].copy()
    displacement, carried = np.empty(steps), np.empty(steps)

    def look(frame: Frame) -> None:
        displacement[frame.index - 1] = np.linalg.norm(frame.position[moving] - first, axis=1).max()
        fixed = ~moving[frame.contacts.bodies]
        sign = fixed[:, 0].astype(float) - fixed[:, 1]
        carried[frame.index - 1] = sign @ frame.impulses[:, 2] / frame.step

    end = steps * building.step

    def go(record: Recording | None) -> Run:
        with warnings.catch_warnings():
            for counted in (ToleranceWarning, ContactWarning):
                warnings.simplefilter("ignore", counted)  # the summary counts such steps
            return simulate(
                system, duration=end, step=building.step, tolerance=building.tolerance, record=record,
                observe=look, contact_check="all", progress=work.each(PARTS, building.label),
            )  # fmt: skip

    run, (picture,) = run_and_paint(go, [end], view=building.view, size=(1440, 900), colour="force")
    late = carried[-max(1, steps // 10) :].mean()
    return Standing(building, system, run, displacement, abs(late / weight - 1.0), picture)


class Setup(NamedTuple):
    """Size of the computation."""

    buildings: Sequence[Building]
    steps: int


class StandingBuildings(Experiment[Setup, list[Standing]]):
    """Some buildings that must stand."""

    def measure(self, setup: Setup, work: Work) -> list[Standing]:
        """Run all buildings."""
        work.expect(PARTS * len(setup.buildings))
        return [stand(building, setup.steps, work) for building in setup.buildings]

    def data(self, found: list[Standing]) -> Data:
        """Every step, and every run in a few numbers."""
        runs = {each.building.key: numbers(each) for each in found}
        return {"steps.csv": _steps_table(found), "runs.json": runs}

    def figures(self, found: list[Standing]) -> Figures:
        """Every building in its final state, and the history."""
        return {**{each.building.key: each.picture for each in found}, "history": _history(found)}

    def compare(self, found: list[Standing]) -> Rows:
        """Certificate, displacement and time of every building."""
        return (row for each in found for row in compare(each))

    def failures(self, found: list[Standing]) -> list[str]:
        """Violated requirements of the buildings."""
        return [sentence for each in found for sentence in failures_of(each)]


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


def compare(each: Standing) -> Rows:
    """Certificate, displacement and time of a building, with published numbers."""
    name, found = each.building.label, numbers(each)
    certificate = each.run.certificate
    yield Comparison(f"steps that missed the tolerance, {name}", None, float(certificate.missed), "",
               f"must be 0, of {certificate.steps} at {certificate.tolerance:g}; largest residual "
               f"{certificate.worst:.2e}; {found['contacts']:.0f} contacts at most", 0.0)  # fmt: skip
    yield Comparison(f"largest displacement, {name}", None, each.largest_displacement, "m",
               f"it stands if this is at most {ALLOWED:g} m")  # fmt: skip
    yield Comparison(f"steps with a wrong or missing contact, {name}", None,
               float(certificate.wrong_contact_steps), "",
               f"must be 0; {certificate.contacts_checked} of {certificate.contacts} contacts checked; "
               f"largest error of a gap {certificate.largest_gap_error:.1e} m, of a normal "
               f"{certificate.largest_normal_error:.1e} rad", 0.0)  # fmt: skip
    yield exact_row(f"weight carried, relative to all, {name}", 1.0, 1.0 - each.force_error,
                                "", "mean over the last tenth of the run")  # fmt: skip
    yield Comparison(f"largest penetration, {name}", None, certificate.largest_penetration, "m")
    yield Comparison(f"time of a step, {name}", None, 1e3 * each.per_step, "ms",
               f"contacts {1e3 * each.share('collision') / certificate.steps:.3g} ms, solver "
               f"{1e3 * each.share('solver') / certificate.steps:.3g} ms, check of all contacts "
               f"{1e3 * each.share('checking') / certificate.steps:.3g} ms")  # fmt: skip
    if each.building.measured is not None:
        ours = each.building.measured(each)
        for row, value in zip(each.building.published, ours, strict=True):
            yield Comparison(f"{row.quantity}, {name}", row.paper, value, row.unit, row.error_or_note)


def failures_of(each: Standing) -> list[str]:
    """Violated requirements of a building, one sentence each."""
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


def _steps_table(found: Sequence[Standing]) -> Table:
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
    return Table(header, rows)


def _history(found: Sequence[Standing]) -> Figure:
    """Residual and displacement of every step."""
    figure, (left, right) = plots.new_axes((11.0, 5.4), columns=2)
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
    plots.legend_below(figure, len(found) + 2)
    return figure
