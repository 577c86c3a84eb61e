"""A four-bar stirrer in a bed of spheres: joints, a motor and contacts with friction in one system.

A motor turns the crank at constant speed as long as its torque suffices, and a paddle on the coupler moves
in a loop through the bed. The experiment measures the torque and the balance of its work. With impulses γ
of the contacts and λ of the motor, and velocities u and ω of contacts and crank before and after a step,

    Σ λ ω̄  =  ΔE  −  Σ γ·ū  +  (what joints and the time step add),

where a bar is the mean of before and after: the motor's work becomes energy and heat.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nonsmooth._support.arrays import Floats, Pixels
from nonsmooth.errors import ToleranceWarning
from nonsmooth.experiments.base import Data, Experiment, Figures, Rows, Table, Work
from nonsmooth.experiments.mechanisms import stirrer_figures as figures
from nonsmooth.experiments.mechanisms.report import JOINT_ERROR
from nonsmooth.experiments.shared.colours import BLUE, GREEN, ORANGE
from nonsmooth.experiments.shared.pictures import run_and_paint, side_by_side
from nonsmooth.experiments.summary import Comparison, Quantity, exact_row
from nonsmooth.io.runs.recording import Recording
from nonsmooth.model import quaternions
from nonsmooth.model.system import System
from nonsmooth.scenes.stirrer import stirrer
from nonsmooth.stepping.frame import Frame
from nonsmooth.stepping.run import Run
from nonsmooth.stepping.simulate import simulate

SPEED = 2.0 * math.pi
"""Speed of the crank in rad/s: one revolution per second."""
MOTOR = "motor of joint 'shaft'"
MOMENTS = (0.1, 0.25, 0.375, 0.5, 0.75, 1.0)
"""Times of the pictures, relative to the duration."""
PARTS = 20
"""Number of progress reports of a run."""


@dataclass(frozen=True)
class Method:
    """A law of friction with a scheme for positions."""

    key: str
    label: str
    law: str
    scheme: str
    colour: str


METHODS = (
    Method("exact", "exact law", "coulomb", "stabilised", GREEN),
    Method("relaxed", "relaxed law", "relaxed", "stabilised", ORANGE),
    Method("exact_projected", "exact law, projected", "coulomb", "projected", BLUE),
)


@dataclass(frozen=True)
class Setup:
    """Size of the computation."""

    spheres: int
    duration: float
    """s"""
    step: float
    """s"""
    tolerance: float
    """Relative residual of every step."""


@dataclass(frozen=True)
class History:
    """One run: the motor's work and its balance, step by step."""

    method: Method
    run: Run
    torque: Floats
    """Torque of the motor in N·m, mean over every step."""
    speed: Floats
    """Speed of the crank in rad/s after every step."""
    motor_work: Floats
    """J in every step."""
    heat: Floats
    """Energy in J dissipated in contacts in every step, by friction and by impacts."""
    energy: Floats
    """Kinetic and potential energy in J, before the first step and after every step."""
    height: Floats
    """Mean height in m of the spheres' centres after every step."""
    pictures: Pixels
    """(k, height, width, 3) at `MOMENTS`."""
    cpu: float
    """CPU time in s."""

    @property
    def time(self) -> Floats:
        """End of every step in s."""
        return self.run.steps["time"]

    @property
    def limit(self) -> float:
        """Largest torque of the motor in N·m."""
        return float(self.run.system.joints.table.upper[-1])

    @property
    def unexplained(self) -> Floats:
        """Work of the motor in J up to every step that is neither energy nor heat."""
        return np.asarray(np.cumsum(self.motor_work - self.heat) - (self.energy[1:] - self.energy[0]))

    @property
    def balance_error(self) -> float:
        """Largest unexplained work relative to all work and heat of motor and contacts."""
        through = float(np.abs(self.motor_work).sum() + np.abs(self.heat).sum())
        return float(np.abs(self.unexplained).max()) / through


def contact_work(before: System, frame: Frame) -> float:
    """Work in J of the contact impulses of a step on the bodies: Σ γ·ū with the mean ū of before and after.

    `before` has the state at the beginning of the step, where its contacts were found.
    """
    contacts = frame.contacts
    if len(contacts) == 0:
        return 0.0
    mean = np.zeros((len(contacts), 3))
    for side, sign in ((0, -1.0), (1, 1.0)):
        body = contacts.bodies[:, side]
        arm = contacts.point - before.position[body]
        moving = ~before.fixed[body]
        for linear, angular in (
            (before.linear_velocity, before.angular_velocity),
            (frame.linear_velocity, frame.angular_velocity),
        ):
            spin = quaternions.rotate(before.quaternion[body], angular[body])
            velocity = linear[body] + np.where(moving[:, None], np.cross(spin, arm), 0.0)
            mean += 0.5 * sign * velocity
    return float(np.sum(frame.impulses * mean))


def stir(setup: Setup, method: Method, work: Work) -> History:
    """Run the stirrer with one method."""
    system = stirrer(setup.spheres, speed=SPEED)
    before, spheres, crank = system.copy(), slice(0, setup.spheres), system.index("crank")
    found: list[tuple[float, float, float, float, float]] = []

    def look(frame: Frame) -> None:
        torque = float(frame.reactions(minimum_norm=False).rows[MOTOR][0])  # motion determines it
        speed = -float(frame.angular_velocity[crank, 1])
        work = torque * frame.step * 0.5 * (speed - before.angular_velocity[crank, 1])
        height = float(frame.position[spheres, 2].mean())
        found.append((torque, speed, work, -contact_work(before, frame), height))
        before.position[:], before.quaternion[:] = frame.position, frame.quaternion
        before.linear_velocity[:], before.angular_velocity[:] = frame.linear_velocity, frame.angular_velocity

    cpu = 0.0

    def run(record: Recording | None) -> Run:
        nonlocal cpu
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ToleranceWarning)  # steps that miss the tolerance are counted
            done = simulate(
                system, duration=setup.duration, step=setup.step, law=method.law, scheme=method.scheme,
                tolerance=setup.tolerance, observe=look, record=record,
                progress=work.each(PARTS, f"{setup.spheres} spheres, {method.label}"),
            )  # fmt: skip
        cpu = time.process_time() - began
        return done

    times = [part * setup.duration for part in MOMENTS] if method is METHODS[0] else []
    stirred, pictures = run_and_paint(run, times, view=(-118.0, 18.0))
    torque, speed, given, heat, height = np.array(found).T
    energy = np.concatenate(
        [[_energy(system)], stirred.steps["kinetic_energy"] + stirred.steps["potential_energy"]]
    )
    return History(method, stirred, torque, speed, given, heat, energy, height, pictures, cpu)


def _energy(system: System) -> float:
    """Kinetic and potential energy in J of the moving bodies."""
    moving = ~system.fixed
    mass, spin = system.mass[moving], system.angular_velocity[moving]
    kinetic = mass @ np.sum(system.linear_velocity[moving] ** 2, axis=1)
    kinetic += np.einsum("ni,nij,nj->", spin, system.inertia[moving], spin)
    return 0.5 * float(kinetic) - float(mass @ (system.position[moving] @ system.gravity))


UNEXPLAINED = Quantity("unexplained work, {}")
MISSED = Quantity("steps that missed the tolerance, {}")


class Found(NamedTuple):
    """What the experiment computes."""

    setup: Setup
    histories: list[History]


class Stirrer(Experiment[Setup, Found]):
    """One bed, both laws, and two schemes for positions."""

    name = "stirrer"
    summary = (
        "a four-bar that stirs a bed of spheres: driving torque, balance of work, joints and certificate"
    )
    paper = "joints and contacts in one problem: Negrut and Serban, TR-2016-12, Eqs. 9 and 13 to 15"
    seconds = (30.0, 150.0)
    FULL = Setup(800, 2.0, 0.004, 1e-3)
    QUICK = Setup(200, 1.0, 0.005, 1e-3)

    def measure(self, setup: Setup, work: Work) -> Found:
        """Run every method."""
        work.expect(len(METHODS) * PARTS)
        return Found(setup, [stir(setup, method, work) for method in METHODS])

    def data(self, found: Found) -> Data:
        """Every step, and every run in a few numbers."""
        runs = {each.method.key: numbers(each) for each in found.histories}
        return {"steps.csv": _steps_table(found.histories), "runs.json": runs}

    def figures(self, found: Found) -> Figures:
        """The scene, torque, work, and the certificate."""
        count, histories = found.setup.spheres, found.histories
        title = f"A four-bar stirs {count} spheres (exact law)"
        return {
            "scene": side_by_side(histories[0].pictures, title),
            "torque": figures.torque(histories),
            "work": figures.work(histories),
            "certificate": figures.certificate(histories),
        }

    def compare(self, found: Found) -> Rows:
        """The balance of work, the joints and the certificate of every run, and both laws."""
        _, histories = found
        for each in histories:
            name, run = each.method.label, numbers(each)
            certificate = each.run.certificate
            parts = (
                f"motor {run['motor_work_J']:.4g} J, heat {run['heat_of_contacts_J']:.4g} J, "
                f"energy {run['change_of_energy_J']:+.4g} J"
            )
            yield exact_row(UNEXPLAINED(name), 0.0, each.balance_error, "",
                                        f"relative to work and heat; {parts}")  # fmt: skip
            yield Comparison(f"mean driving torque, {name}", None, run["mean_torque_Nm"], "N·m",
                       f"the motor's limit is {each.limit:.3g} N·m, reached in "
                       f"{run['steps_at_full_torque']:.0f} steps; {run['turns']:.3f} turns")  # fmt: skip
            yield Comparison(JOINT_ERROR(name), None, run["largest_joint_error_m_or_rad"], "m or rad")
            yield Comparison(MISSED(name), None, float(certificate.missed), "",
                       f"of {certificate.steps}; largest residual {certificate.worst:.1e}, largest "
                       f"penetration {certificate.largest_penetration:.1e} m")  # fmt: skip
            yield Comparison(f"computing time, {name}", None, each.cpu, "s",
                       f"CPU time; {1e3 * each.cpu / certificate.steps:.3g} ms for a step, "
                       f"{run['most_contacts']:.0f} contacts at most")  # fmt: skip
        exact, relaxed = histories[0], histories[1]
        work = float(relaxed.motor_work.sum() / exact.motor_work.sum())
        rise = float(relaxed.height[-1] / exact.height[-1])
        yield Comparison("work of the motor, relaxed / exact law", None, work, "")
        yield Comparison("height of the bed at the end, relaxed / exact law", None, rise, "",
                   "mean height of the centres")  # fmt: skip


def numbers(each: History) -> dict[str, float]:
    """A run in a few numbers."""
    certificate = each.run.certificate
    return {
        "motor_work_J": float(each.motor_work.sum()),
        "heat_of_contacts_J": float(each.heat.sum()),
        "change_of_energy_J": float(each.energy[-1] - each.energy[0]),
        "unexplained_work_J": float(each.unexplained[-1]),
        "balance_error": each.balance_error,
        "turns": float(each.speed.sum() * each.run.settings["step"] / (2.0 * math.pi)),
        "steps_at_full_torque": float(np.sum(each.torque > (1.0 - 1e-6) * each.limit)),
        "mean_torque_Nm": float(each.torque.mean()),
        "largest_torque_Nm": float(np.abs(each.torque).max()),
        "mean_height_at_the_end_m": float(each.height[-1]),
        "largest_joint_error_m_or_rad": float(each.run.steps["joint_error"].max()),
        "largest_residual": certificate.worst,
        "steps_that_missed_the_tolerance": float(certificate.missed),
        "largest_penetration_m": certificate.largest_penetration,
        "mean_iterations": float(each.run.steps["iterations"].mean()),
        "most_contacts": float(each.run.steps["contacts"].max()),
        "cpu_time_s": each.cpu,
    }


def _steps_table(histories: Sequence[History]) -> Table:
    """Every step of every run."""
    rows: list[list[object]] = []
    for each in histories:
        steps = each.run.steps
        columns = (
            each.time, each.torque, each.speed, each.motor_work, each.heat, each.energy[1:], each.height,
            steps["contacts"], steps["iterations"], steps["residual"], steps["joint_error"],
            steps["penetration"],
        )  # fmt: skip
        rows += [[each.method.key, *row] for row in np.column_stack(columns).tolist()]
    header = (
        "method", "time_s", "motor_torque_Nm", "crank_speed_rad_per_s", "motor_work_J",
        "heat_of_contacts_J", "energy_J",
        "mean_height_m", "contacts", "iterations", "residual", "joint_error_m_or_rad", "penetration_m",
    )  # fmt: skip
    return Table(header, rows)
