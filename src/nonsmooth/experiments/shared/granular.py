"""Shared parts of the experiments with falling spheres: the compared methods, and a run's history."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from nonsmooth._support.arrays import Floats, Pixels
from nonsmooth._support.progress import Progress
from nonsmooth.errors import ToleranceWarning
from nonsmooth.experiments.base import Rows, Table, Work
from nonsmooth.experiments.shared.colours import BLUE, GREEN, ORANGE
from nonsmooth.experiments.shared.pictures import run_and_paint
from nonsmooth.experiments.summary import Comparison, Quantity, exact_row, paper_row
from nonsmooth.io.runs.recording import Recording
from nonsmooth.model.system import System
from nonsmooth.solvers.apgd import APGD
from nonsmooth.solvers.base import Solver
from nonsmooth.solvers.gauss_seidel import GaussSeidel
from nonsmooth.stepping.frame import Frame
from nonsmooth.stepping.run import Run
from nonsmooth.stepping.run_certificate import RunCertificate
from nonsmooth.stepping.simulate import simulate

PLANES = ("floor", "left", "right", "front", "back")
"""The container, with the names of `scenes.filling`."""
WINDOW = 0.1
"""Time in s over which forces are averaged before they are evaluated: single impacts last one step."""
SETTLED = 0.05
"""Relative distance of the mean force from the weight within which the force counts as settled."""

FINAL_FORCE = Quantity("force at the end / weight, {}")
SETTLED_FROM = Quantity(f"force stays within {SETTLED:.0%} of the weight from, {{}}")
JITTER = Quantity("jitter of the force, {}")
LATE_ERROR = Quantity("complementarity error, {}")
RELAXED_BY = Quantity("complementarity error, relaxed / {}")
LARGEST_RELAXED_BY = Quantity("largest complementarity error, relaxed / {}")
BALANCE = Quantity("momentum balance, {}")


@dataclass(frozen=True)
class Method:
    """A law with its solver."""

    key: str
    """In data files."""
    label: str
    """In figures and summaries."""
    law: str
    solver: Solver
    colour: str


RELAXED = Method("relaxed_apgd", "relaxed, APGD", "relaxed", APGD(anti_relaxation=False), BLUE)
ANTI_RELAXED = Method(
    "anti_relaxed_apgd", "anti-relaxed, APGD", "coulomb", APGD(anti_relaxation=True), ORANGE
)
EXACT = Method("exact_gauss_seidel", "exact, Gauss-Seidel", "coulomb", GaussSeidel(), GREEN)
METHODS = (RELAXED, ANTI_RELAXED, EXACT)
"""The paper's two, and ours for comparison."""


@dataclass(frozen=True)
class Effort:
    """Effort per step: required relative residual, and iteration limit."""

    tolerance: float
    max_iterations: int

    def __str__(self) -> str:
        return (
            f"relative residual {self.tolerance:g} required, at most {self.max_iterations} iterations a step"
        )


@dataclass(frozen=True)
class Plan:
    """Durations of runs, steps, and effort per step."""

    duration: float
    """s"""
    step: float
    """s"""
    effort: Effort
    """Effort of all methods."""
    parts: int
    """Number of pieces of a run that are reported."""
    moments: tuple[float, ...] = ()
    """Times of snapshots, relative to the duration."""


@dataclass(frozen=True)
class History:
    """One run: numbers of every step."""

    method: Method
    system: System
    """At the start."""
    weight: float
    """Of all moving bodies, in N."""
    time: Floats
    """End of every step in s."""
    force: Floats
    """Vertical contact force on the container in N, positive downwards: the mean over each step."""
    momentum: Floats
    """Vertical momentum of all moving bodies in N·s, before the first step and after every step."""
    complementarity: Floats
    """Error of Eq. 8: the largest |γ_n (Φ/h + u_n)| over the contacts, in J."""
    iterations: Floats
    contacts: Floats
    speed: Floats
    """Largest speed of a body in m/s."""
    kinetic_energy: Floats
    """J"""
    force_error: Floats
    """Relative error of all forces together, from the certificate."""
    seconds: float
    """CPU time of the run, which does not depend on the load of the machine."""
    certificate: RunCertificate
    pictures: Pixels
    """(k, height, width, 3) at the moments of the plan."""

    @property
    def step(self) -> float:
        """s"""
        return float(self.time[0])

    @property
    def mean_force(self) -> Floats:
        """Force in N averaged over `WINDOW` around every step."""
        width = 2 * (round(WINDOW / self.step) // 2) + 1
        ones = np.ones(min(width, 2 * (len(self.force) // 2) - 1))
        return np.asarray(
            np.convolve(self.force, ones, "same") / np.convolve(np.ones_like(self.force), ones, "same")
        )

    @property
    def final_force(self) -> float:
        """Mean force over the last tenth of the run, in N."""
        return float(self.force[-max(1, len(self.force) // 10) :].mean())

    @property
    def settled(self) -> float:
        """Time in s after which the averaged force stays within `SETTLED` of the weight; NaN if never."""
        away = np.abs(self.mean_force / self.weight - 1.0) > SETTLED
        if away[-1]:
            return float("nan")
        last = int(np.flatnonzero(away)[-1]) + 1 if away.any() else 0
        return float(self.time[last])

    @property
    def balance_error(self) -> float:
        """Largest mismatch of forces and change of momentum over all times, relative to weight × time.

        Σ h (F − W) must equal the change of the vertical momentum up to rounding.
        """
        gained = np.cumsum(self.step * (self.force - self.weight))
        missed = gained - (self.momentum[1:] - self.momentum[0])
        return float(np.abs(missed / (self.weight * self.time)).max())

    @property
    def late_complementarity(self) -> float:
        """Geometric mean of the error of Eq. 8 in J over the second half of the run.

        Steps without error, where nothing touches, have no logarithm and are omitted.
        """
        error = self.complementarity[len(self.complementarity) // 2 :]
        return float(np.exp(np.log(error[error > 0.0]).mean())) if error.any() else 0.0


@contextmanager
def _misses_are_counted() -> Iterator[None]:
    """Suppress warnings of steps that missed the tolerance: the certificate counts them for the summary."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ToleranceWarning)
        yield


def compile_kernels(systems: Sequence[System]) -> None:
    """Do one step of every method with all bodies approaching, so that no run's time includes compilation."""
    for system in systems:
        moving = ~system.fixed
        place = system.position[moving]
        system.linear_velocity[moving] = -10.0 * (place - place.mean(axis=0))  # spheres meet within 0.01 s
        for method in METHODS:
            with _misses_are_counted():
                simulate(
                    system,
                    duration=0.01,
                    step=0.01,
                    law=method.law,
                    solver=method.solver,
                    tolerance=1e-6,
                    max_iterations=60,
                )


def run_method(system: System, method: Method, plan: Plan, report: Progress) -> History:
    """Run a system by one method."""
    planes = np.isin(np.arange(system.count), [system.names[name] for name in PLANES])
    moving = ~system.fixed
    mass = np.where(moving, system.mass, 0.0)
    force: list[float] = []
    momentum = [float(mass[moving] @ system.linear_velocity[moving, 2])]

    def observe(frame: Frame) -> None:
        pairs = frame.contacts.bodies
        sign = planes[pairs[:, 1]].astype(float) - planes[pairs[:, 0]]
        force.append(-float(sign @ frame.impulses[:, 2]) / frame.step)
        momentum.append(float(mass[moving] @ frame.linear_velocity[moving, 2]))

    seconds = 0.0

    def run(record: Recording | None) -> Run:
        nonlocal seconds
        began = time.process_time()
        with _misses_are_counted():
            done = simulate(
                system, duration=plan.duration, step=plan.step, law=method.law, solver=method.solver,
                tolerance=plan.effort.tolerance, max_iterations=plan.effort.max_iterations, observe=observe,
                progress=report, record=record,
            )  # fmt: skip
        seconds = time.process_time() - began
        return done

    times = [part * plan.duration for part in plan.moments]
    found, pictures = run_and_paint(run, times, view=(-62.0, 18.0))
    return History(
        method=method,
        system=system,
        weight=float(-system.gravity[2] * mass.sum()),
        time=found.steps["time"],
        force=np.array(force),
        momentum=np.array(momentum),
        complementarity=found.steps["complementarity"],
        iterations=found.steps["iterations"],
        contacts=found.steps["contacts"],
        speed=found.steps["largest_speed"],
        kinetic_energy=found.steps["kinetic_energy"],
        force_error=found.steps["force_error"],
        seconds=seconds,
        certificate=found.certificate,
        pictures=pictures,
    )


def kept_run(work: Work, system: System, method: Method, plan: Plan) -> History:
    """Run a system by one method, or load the stored run; its pieces are reported in both cases."""
    bodies = int(np.sum(~system.fixed))
    report = work.each(plan.parts, f"{bodies} bodies, {method.label}")
    found = work.store.kept(
        f"run {bodies:05d} {method.key}",
        (system, method.law, method.solver, plan),
        lambda: _content(run_method(system, method, plan, report)),
    )
    report(1, 1, "")
    return _history(method, system, found)


def _content(history: History) -> dict[str, Any]:
    """A history whose results are unknown before a run."""
    content = {name: value for name, value in vars(history).items() if name not in _KNOWN}
    return content | {_CERTIFIED + name: value for name, value in asdict(history.certificate).items()}


def _history(method: Method, system: System, content: Mapping[str, Any]) -> History:
    own = {name: value for name, value in content.items() if not name.startswith(_CERTIFIED)}
    certified = {name.removeprefix(_CERTIFIED): content[name] for name in content.keys() - own.keys()}
    return History(method=method, system=system, certificate=RunCertificate(**certified), **own)


_CERTIFIED = "certificate."
_KNOWN = ("method", "system", "certificate")
_COLUMNS = (
    "method", "time_s", "force_on_container_N", "weight_N", "complementarity_error_J", "iterations",
    "contacts", "largest_speed_m_per_s", "kinetic_energy_J", "relative_force_error",
)  # fmt: skip


def steps_table(histories: Sequence[History]) -> Table:
    """The numbers of every step of every run in one table."""
    rows: list[list[object]] = []
    for each in histories:
        columns = (
            each.time, each.force, np.full_like(each.time, each.weight), each.complementarity,
            each.iterations, each.contacts, each.speed, each.kinetic_energy, each.force_error,
        )  # fmt: skip
        rows += [[each.method.key, *row] for row in np.column_stack(columns).tolist()]
    return Table(_COLUMNS, rows)


def numbers(history: History) -> dict[str, object]:
    """A run in a few numbers, for JSON."""
    certificate = history.certificate
    return {
        "spheres": _spheres(history.system),
        "law": history.method.law,
        "solver": history.method.solver.name,
        "steps": certificate.steps,
        "tolerance": certificate.tolerance,
        "steps_that_missed_it": certificate.missed,
        "largest_residual": certificate.worst,
        "weight_N": history.weight,
        "final_force_N": history.final_force,
        "settled_s": None if np.isnan(history.settled) else history.settled,
        "momentum_balance_error": history.balance_error,
        "largest_complementarity_error_J": float(history.complementarity.max()),
        "late_complementarity_error_J": history.late_complementarity,
        "mean_iterations": float(history.iterations.mean()),
        "largest_contacts": int(history.contacts.max()),
        "largest_speed_m_per_s": float(history.speed.max()),
        "largest_penetration_m": certificate.largest_penetration,
        "median_relative_force_error": float(np.median(history.force_error)),
        "cpu_seconds": history.seconds,
    }


def _spheres(system: System) -> int:
    return int(np.sum(~system.fixed)) - ("slab" in system.names)


def compare(histories: Sequence[History], effort: Effort, where: str = "") -> Rows:
    """Rows of every such experiment: the paper's statements about Figs. 8 and 10 beside our numbers."""
    by_key = {each.method.key: each for each in histories}
    named = [(f"{each.method.label}{where}", each) for each in histories]
    for name, each in named:
        yield paper_row(
            FINAL_FORCE(name), 1.0, each.final_force / each.weight, "",
            f"mean over the last {each.step * max(1, len(each.time) // 10):.2g} s; "
            "the paper says that it converges to the weight",
        )  # fmt: skip
    for name, each in named:
        yield Comparison(
            SETTLED_FROM(name), None,
            each.settled, "s",
            f"mean over {WINDOW:g} s; the paper: the anti-relaxed one settles much sooner",
        )  # fmt: skip
    for name, each in named:
        yield Comparison(
            JITTER(name), None, _jitter(each), "",
            "standard deviation over the last tenth, relative to the weight",
        )  # fmt: skip
    for name, each in named:
        yield Comparison(
            LATE_ERROR(name), None, each.late_complementarity, "J",
            "largest |γ_n u_n| of a step, geometric mean over the second half; "
            f"maximum {each.complementarity.max():.2g} J",
        )  # fmt: skip
    for key in (ANTI_RELAXED.key, EXACT.key):
        if RELAXED.key in by_key and key in by_key:
            relaxed, other = by_key[RELAXED.key], by_key[key]
            name = f"{other.method.label}{where}"
            yield Comparison(
                RELAXED_BY(name), None,
                relaxed.late_complementarity / other.late_complementarity, "",
                "second half, where little slides; the paper: several orders of magnitude; "
                "the exact one is set by the tolerance",
            )  # fmt: skip
            yield Comparison(
                LARGEST_RELAXED_BY(name), None,
                float(relaxed.complementarity.max() / other.complementarity.max()), "",
                "largest over the whole run",
            )  # fmt: skip
    for name, each in named:
        yield from _cost_rows(name, each, effort)


def _cost_rows(name: str, each: History, effort: Effort) -> list[Comparison]:
    certificate = each.certificate
    return [
        Comparison(f"mean iterations per step, {name}", None, float(each.iterations.mean()), "", str(effort)),
        Comparison(
            f"steps that missed the tolerance, {name}", None, float(certificate.missed), "",
            f"of {certificate.steps}; largest residual {certificate.worst:.1e}, "
            f"median relative error of the forces {np.median(each.force_error):.1e}"
        ),
        Comparison(
            f"computing time, {name}", None, each.seconds, "s", f"CPU time of {certificate.steps} steps"
        ),
        Comparison(f"largest speed, {name}", None, float(each.speed.max()), "m/s"),
        Comparison(f"largest penetration, {name}", None, certificate.largest_penetration, "m"),
        exact_row(
            BALANCE(name), 0.0, each.balance_error, "",
            "forces on the container against the momentum of all bodies, relative to weight × time",
        ),
    ]  # fmt: skip


def _jitter(each: History) -> float:
    return float(each.force[-max(1, len(each.force) // 10) :].std() / each.weight)
