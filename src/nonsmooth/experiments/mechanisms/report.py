"""Base class of experiments on mechanisms: trials, data, figures and the table of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from nonsmooth.experiments.base import Data, Experiment, Figures, Rows, Table, Work
from nonsmooth.experiments.mechanisms import figures
from nonsmooth.experiments.mechanisms.setting import (
    SCHEMES,
    Mechanism,
    Plan,
    Trial,
    finest,
    in_words,
    of_scheme,
    order,
    run_trial,
    run_trials,
)
from nonsmooth.experiments.summary import Comparison, Quantity, paper_row, reference_row

JOINT_ERROR = Quantity("largest error of the joints, {}")


class More(NamedTuple):
    """Additional results of a mechanism."""

    rows: Sequence[Comparison] = ()
    figures: Figures = MappingProxyType({})


class Found(NamedTuple):
    """What the experiment computes."""

    plan: Plan
    trials: list[Trial]
    long: list[Trial]
    """At most one run, longer than those of the convergence, which is shown instead."""
    more: More

    @property
    def shown(self) -> Trial:
        """The run that is drawn."""
        return [*self.long, finest(self.trials, self.plan.schemes[-1])][0]


class MechanismExperiment(Mechanism, Experiment[Plan, Found]):
    """All schemes and steps of a plan on one mechanism."""

    moments: tuple[float, ...]
    """Times in s at which the mechanism is drawn."""
    plane: tuple[str, str] = ("x in m", "y in m")
    """Labels of the axes of the drawing."""
    published: Mapping[float, Sequence[float]] = MappingProxyType({})
    """Published values of the measured quantity, by time in s."""
    publisher: str = ""
    """Publisher of these values."""

    def more_pieces(self, plan: Plan) -> int:
        """Number of pieces of work in `more`."""
        return 0

    def more(self, plan: Plan, trials: Sequence[Trial], work: Work) -> More:
        """Further runs."""
        return More()

    def measure(self, setup: Plan, work: Work) -> Found:
        """Run all trials of the plan."""
        work.expect(len(setup.trials) + 1 + (setup.long is not None) + self.more_pieces(setup))
        trials, long = run_trials(self, setup, work), []
        if setup.long is not None:
            ((scheme, step),) = setup.long.trials
            work.begin(f"{scheme}, h = {in_words(step)}, {setup.long.duration / step:.0f} steps")
            long = [run_trial(self, scheme, step, setup.long)]
        return Found(setup, trials, long, self.more(setup, trials, work))

    def data(self, found: Found) -> Data:
        """One line for each trial, and the motion."""
        return {
            "trials.csv": _trials_table([*found.trials, *found.long]),
            "motion.csv": _motion_table(self, found.trials),
        }

    def figures(self, found: Found) -> Figures:
        """The motion, the convergence and the drift."""
        return {
            "motion": figures.motion(self, found.shown, self.moments, self.plane, self.published),
            "convergence": figures.convergence(self, found.trials, found.plan.until),
            "drift": figures.drift(found.trials),
            **found.more.figures,
        }

    def compare(self, found: Found) -> Rows:
        """Compare with published values and references; error, order, drift and cost of every scheme."""
        plan, trials, trial = found.plan, found.trials, found.shown
        for moment, values in self.published.items():
            if moment <= trial.time[-1] * (1.0 + 1e-9):
                for part, value, ours in zip(self.components, values, trial.at(moment), strict=True):
                    name = f"{part} at t = {moment:g} s, {trial.name}"
                    yield paper_row(name, value, float(ours), self.unit, self.publisher)
        yield from found.more.rows
        wanted = self.reference(trial.time)[-1].tolist()
        for part, value, ours in zip(self.components, wanted, trial.value[-1], strict=True):
            name = f"{part} at t = {trial.time[-1]:g} s, {trial.name}"
            yield reference_row(name, value, float(ours), self.unit, self.source)
        for each in found.long:
            yield from _of_scheme(self, [each])
        steps = " and ".join(in_words(step) for step in plan.steps[-2:])
        until = f"from the largest errors up to t = {plan.until:g} s at h = {steps}"
        for scheme in plan.schemes:
            yield from _of_scheme(self, of_scheme(trials, scheme))
            fitted = order(trials, scheme, plan.until)
            note = f"theory: {SCHEMES[scheme]}; {until}"
            yield Comparison(f"order of convergence, {scheme}", None, fitted, "", note)


def _of_scheme(mechanism: Mechanism, trials: Sequence[Trial]) -> Rows:
    """Errors for all steps of a scheme; drift, joints and cost for the shortest."""
    for trial in trials:
        missed = trial.run.certificate.missed
        note = f"{trial.run.steps.count} steps to t = {trial.time[-1]:g} s"
        note += f", of which {missed} missed the tolerance" if missed else ""
        yield Comparison(
            f"largest error of {mechanism.quantity}, {trial.name}", None, float(trial.error.max()),
            mechanism.unit, note,
        )  # fmt: skip
    trial = trials[-1]
    drift, joints = float(np.abs(trial.drift).max()), float(trial.joint_error.max())
    cost, each = trial.wall / trial.time[-1], 1e3 * trial.wall / trial.run.steps.count
    yield Comparison(
        f"largest drift of the energy, {trial.name}", None, drift, "J",
        f"largest kinetic energy {trial.scale:.4g} J",
    )  # fmt: skip
    yield Comparison(JOINT_ERROR(trial.name), None, joints, "m or rad")
    yield Comparison(f"wall time, {trial.name}", None, trial.wall, "s", f"CPU time {trial.cpu:.3g} s")
    yield Comparison(
        f"wall time for a simulated second, {trial.name}", None, cost, "s", f"{each:.3g} ms for a step"
    )


def _trials_table(trials: Sequence[Trial]) -> Table:
    """One line for each trial."""
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
    return Table(header, rows)


def _motion_table(mechanism: Mechanism, trials: Sequence[Trial]) -> Table:
    """The quantity at all samples: the reference, and every scheme with its shortest step."""
    shown = [finest(trials, scheme) for scheme in dict.fromkeys(trial.scheme for trial in trials)]
    unit = mechanism.unit
    names = [name.replace(" ", "_") for name in mechanism.components]
    header = ["time_s", *(f"{name}_reference_{unit}" for name in names)]
    columns = [shown[0].time[:, None], mechanism.reference(shown[0].time)]
    for trial in shown:
        header += [f"{name}_{trial.scheme}_{unit}" for name in names]
        header.append(f"energy_drift_{trial.scheme}_J")
        columns += [trial.value, trial.drift[:, None]]
    return Table(header, np.hstack(columns).tolist())
