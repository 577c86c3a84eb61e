"""Shared parts of the benchmarks of mechanisms: trials of every scheme and step, with errors, drift and cost.

A mechanism is a system, a measured quantity, and an independent reference for that quantity. The error at a
time is the Euclidean distance from the reference; the drift of the energy is |E − E(0) − W| with the work W
of motors and dampers.
"""

from __future__ import annotations

import math
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import ToleranceWarning
from nonsmooth.experiments.base import Work
from nonsmooth.model.joints import Distance, Strut
from nonsmooth.model.system import System
from nonsmooth.stepping.frame import Frame
from nonsmooth.stepping.run import Run
from nonsmooth.stepping.simulate import simulate

Line = NDArray[np.float64]
"""Points (p, 2) in m of a drawing that are joined by a line."""

SCHEMES = {"stabilised": 1, "projected": 1, "rattle": 2}
"""The schemes of `simulate` and their theoretical orders in the step."""


def kept(motion: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
    """Cache a function of times: all trials of a plan use the same times."""

    @lru_cache(maxsize=8)
    def of_bytes(times: bytes) -> Floats:
        found = motion(np.frombuffer(times))
        found.flags.writeable = False
        return found

    return lambda times: of_bytes(np.ascontiguousarray(times, dtype=np.float64).tobytes())


class Mechanism(ABC):
    """A mechanism with its reference motion."""

    quantity: str
    """Name of the measured quantity."""
    components: tuple[str, ...]
    """Names of its components."""
    unit: str
    source: str
    """Source of the reference, in words."""

    @abstractmethod
    def build(self) -> System:
        """The system in its initial state."""

    @abstractmethod
    def value(self, system: System) -> Floats:
        """The quantity (k,) in the present state."""

    @abstractmethod
    def reference(self, times: Floats) -> Floats:
        """Its values (n, k) at times (n,) in s, computed without this package's bodies and integrators."""

    def work(self, times: Floats, values: Floats) -> Floats:
        """Work (n,) in J of motors and dampers up to times (n,) at which the quantity is (n, k)."""
        return np.zeros_like(times)

    def draw(self, system: System) -> list[Line]:
        """The mechanism in the present state, as lines in a plane."""
        return skeleton(system)


@dataclass(frozen=True)
class Plan:
    """Size of the computation."""

    duration: float
    """s"""
    steps: tuple[float, ...]
    """Time steps in s, in descending order; each is half the one before it."""
    samples: int
    """Times at which the motion is compared; every step must hit all of them."""
    order_time: float | None = None
    """Time in s up to which orders are measured, while errors are small against the motion; None for all."""
    schemes: tuple[str, ...] = tuple(SCHEMES)
    long: Plan | None = None
    """A longer run that is shown instead: one scheme, one step."""

    @property
    def trials(self) -> list[tuple[str, float]]:
        """All runs: scheme and step in s."""
        return [(scheme, step) for scheme in self.schemes for step in self.steps]

    @property
    def until(self) -> float:
        """Time in s up to which orders are measured."""
        return self.duration if self.order_time is None else self.order_time

    @property
    def times(self) -> Floats:
        """Times of the samples in s, the start included; bitwise identical for every trial."""
        return np.asarray(np.linspace(0.0, self.duration, self.samples + 1))

    def every(self, step: float) -> int:
        """Steps between two samples."""
        count = self.duration / (self.samples * step)
        assert abs(count - round(count)) < 1e-6, f"{self.samples} samples do not fit to steps of {step} s"
        return round(count)


@dataclass(frozen=True)
class Trial:
    """One run."""

    scheme: str
    step: float
    """s"""
    time: Floats
    """Samples (n,) in s, the start included."""
    value: Floats
    """The quantity there (n, k)."""
    error: Floats
    """Its distance from the reference (n,)."""
    drift: Floats
    """Energy (n,) in J less that of the start and the work done."""
    scale: float
    """Largest kinetic energy in J."""
    joint_error: Floats
    """Largest |g| over the joints after every step, in m or rad."""
    lines: tuple[list[Line], ...]
    """The mechanism at every sample."""
    run: Run
    wall: float
    """Wall time in s."""
    cpu: float
    """CPU time in s, which does not depend on the load of the machine."""

    @property
    def name(self) -> str:
        """Scheme and step, for tables."""
        return f"{self.scheme}, h = {in_words(self.step)}"

    def largest_error(self, until: float) -> float:
        """Largest error up to a time (s), in the quantity's unit."""
        return float(self.error[self.time <= until * (1.0 + 1e-9)].max())

    def at(self, moment: float) -> Floats:
        """The quantity (k,) at a sample's time (s)."""
        found = int(np.argmin(np.abs(self.time - moment)))
        assert abs(self.time[found] - moment) < 1e-9 * max(1.0, moment), f"{moment} s is not a sample"
        return np.asarray(self.value[found])


def in_words(step: float) -> str:
    """A time step with a suitable unit."""
    return f"{1e3 * step:g} ms" if step >= 0.999e-3 else f"{1e6 * step:g} µs"


def energies(system: System) -> tuple[float, float]:
    """Kinetic and potential energy in J in the present state; that of springs is included."""
    spin = system.angular_velocity
    kinetic = float(
        system.mass @ np.sum(system.linear_velocity**2, axis=1)
        + np.einsum("ni,nij,nj->", spin, system.inertia, spin)
    )
    potential = -float(system.mass @ (system.position @ system.gravity))
    return 0.5 * kinetic, potential + system.joints.potential_energy(system)


def run_trial(mechanism: Mechanism, scheme: str, step: float, plan: Plan) -> Trial:
    """Simulate the mechanism with one scheme and one step."""
    system, every = mechanism.build(), plan.every(step)
    times, values = [0.0], [mechanism.value(system)]
    both, lines = [energies(system)], [mechanism.draw(system)]

    def look(frame: Frame) -> None:
        if frame.index % every == 0:
            times.append(frame.time)
            values.append(mechanism.value(frame.system))
            both.append(energies(frame.system))
            lines.append(mechanism.draw(frame.system))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ToleranceWarning)  # steps that miss the tolerance are counted below
        wall, cpu = time.perf_counter(), time.process_time()
        run = simulate(system, duration=plan.duration, step=step, scheme=scheme, observe=look)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    clock, value, energy = plan.times, np.array(values), np.array(both)
    assert np.allclose(clock, times, rtol=1e-9, atol=0.0)
    error = np.linalg.norm(value - mechanism.reference(clock), axis=1)
    total = energy.sum(axis=1)
    drift = total - total[0] - mechanism.work(clock, value)
    return Trial(
        scheme, step, clock, value, error, drift, float(energy[:, 0].max()), run.steps["joint_error"],
        tuple(lines), run, wall, cpu,
    )  # fmt: skip


def run_trials(mechanism: Mechanism, plan: Plan, work: Work) -> list[Trial]:
    """Run all trials of a plan; kernels are compiled before times are measured."""
    work.begin("compiling kernels")
    for scheme in plan.schemes:
        simulate(mechanism.build(), duration=2.0 * plan.steps[-1], step=plan.steps[-1], scheme=scheme)
    trials = []
    for scheme, step in plan.trials:
        work.begin(f"{scheme}, h = {in_words(step)}, {plan.duration / step:.0f} steps")
        trials.append(run_trial(mechanism, scheme, step, plan))
    return trials


def of_scheme(trials: Sequence[Trial], scheme: str) -> list[Trial]:
    """The trials of one scheme, in descending order of the step."""
    return sorted((trial for trial in trials if trial.scheme == scheme), key=lambda trial: -trial.step)


def finest(trials: Sequence[Trial], scheme: str = "rattle") -> Trial:
    """The trial of a scheme with the shortest step."""
    return of_scheme(trials, scheme)[-1]


def order(trials: Sequence[Trial], scheme: str, until: float) -> float:
    """Order of convergence of the largest error up to a time (s), from the two shortest steps."""
    coarse, fine = of_scheme(trials, scheme)[-2:]
    ratio = coarse.largest_error(until) / fine.largest_error(until)
    return math.log(ratio) / math.log(coarse.step / fine.step)


# ---- drawing ---------------------------------------------------------------------------------------------

FRONT = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""Looking along −z: x to the right, y up."""


def skeleton(system: System, view: Floats = FRONT) -> list[Line]:
    """Lines through the joints of each body and along rods and springs; `view` (2, 3) is the projection."""
    anchors = system.joints.anchors(system.position, system.quaternion) @ view.T
    on_body: dict[int | str, list[Floats]] = {}
    lines = []
    for joint, pair in zip(system.joints, anchors, strict=True):
        if isinstance(joint, Distance | Strut):
            lines.append(pair)
        for body, place in zip((joint.a, joint.b), pair, strict=True):
            if body is not None:
                on_body.setdefault(body, []).append(place)
    bodies = [np.array([*places, places[0]]) for places in on_body.values() if len(places) > 1]
    return bodies + lines
