"""`simulate`: one call that moves a system through time, records it, and can go on where it was cut off."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.interrupts import uninterrupted
from nonsmooth._support.kernel_clock import work_seconds
from nonsmooth._support.options import choice, whole
from nonsmooth._support.progress import Progress
from nonsmooth.errors import ContactError, ContactWarning, NonsmoothError, OptionError, ToleranceWarning
from nonsmooth.io.runs.recording import Recording
from nonsmooth.io.runs.writer import Writer
from nonsmooth.iteration.solution import SolveError
from nonsmooth.model.system import System
from nonsmooth.problem.laws import Law
from nonsmooth.solvers.base import Solver
from nonsmooth.stepping.assembly import check_assembled
from nonsmooth.stepping.contact_numbers import WRONG_CONTACTS
from nonsmooth.stepping.frame import Frame
from nonsmooth.stepping.options import StepOptions
from nonsmooth.stepping.run import Run, RunCertificate, StepLog, numbers_of
from nonsmooth.stepping.time_stepping import TimeStepper


def simulate(
    system: System,
    duration: float,
    step: float,
    *,
    law: Law | str = "coulomb",
    solver: Solver | None = None,
    tolerance: float = 1e-4,
    max_iterations: int | None = None,
    record: Recording | str | os.PathLike[str] | None = None,
    resume: bool = False,
    observe: Callable[[Frame], object] | None = None,
    until: Callable[[Frame], bool] | None = None,
    progress: Progress | None = None,
    on_failure: str = "count",
    threads: int | None = None,
    margin: float | None = None,
    push_out_speed: float | None = None,
    restitution_speed: float | None = None,
    scheme: str = "stabilised",
    world: ArrayLike | None = None,
    contact_check: str = "sampled",
) -> Run:
    """Move a system through time in steps of half-implicit Euler with hard contact.

    The system that is given stays as it is; the state at the end is in the run's `system`.

    Args:
        system: bodies, shapes, materials, forces, and the state to begin with.
        duration: simulated time in s; the last step may end a little later.
        step: time step h in s.
        law: "coulomb" (exact), "relaxed" or "pyramid(m)".
        solver: any solver object; the default picks one by itself.
        tolerance: relative residual of the certificate that every step is asked for. It is relative to what
            zero impulses would leave; in a heap at rest, where impulses are much larger than what gravity
            adds in a step, 1e-3 means contact forces to about 2e-5 already (`run.steps["force_error"]`):
            looser is often enough there, and much faster.
        max_iterations: iterations after which a step takes what its solver has found so far (and counts as
            failed); each solver has its own default.
        record: a file name, or a `Recording` that says what to keep and when.
        resume: go on from the last checkpoint of the recording, with the same bits as if the run had never
            been cut off; from the beginning if there is no recording yet. One that has more steps than asked
            for, or steps and no checkpoint, is refused.
        observe: called with the `Frame` of every step.
        until: called with the `Frame` of every step; the run ends, checkpoint included, when it returns True.
        progress: called as progress(done, total, what) after every step, and before the first one of a run
            that goes on.
        on_failure: what to do with a step that does not reach its tolerance: "count" it and warn at the
            end, or "raise" `SolveError`.
        threads: threads for the contact solver, the solver's own option if not given; the result has the
            same bits for any number.
        scheme: "stabilised" (the papers' half-implicit Euler), "projected" (joints and overlaps put right on
            position level), "rattle" (of second order while nothing touches) or "ballistic" (free flight is
            exact in uniform gravity); see `StepOptions`.
        margin: see `StepOptions`.
        push_out_speed: see `StepOptions`.
        restitution_speed: see `StepOptions`.
        world: see `StepOptions`.
        contact_check: "sampled", "all" or "none", see `StepOptions`.
    """
    choice("simulate", "on_failure", on_failure, ("count", "raise"))
    if threads is not None:
        whole("simulate", "threads", threads, 1)
    total = _step_count(duration, step)
    options = StepOptions.of(
        system, step, law=law, solver=solver, tolerance=tolerance, max_iterations=max_iterations,
        margin=margin, push_out_speed=push_out_speed, restitution_speed=restitution_speed, scheme=scheme,
        world=world, contact_check=contact_check,
    )  # fmt: skip
    if len(system.joints):
        check_assembled(system)
        system.joints.stiffest(step, system)
    system = system.copy()
    if threads is not None:
        options = replace(options, solver=options.solver.on_threads(threads))
    settings = _settings(options, duration, step)
    given = {"margin": margin, "push_out_speed": push_out_speed, "restitution_speed": restitution_speed}
    settings.update(given)  # what follows from the system and the step need not be compared on resuming
    stepper = TimeStepper(system, step, options)
    log = StepLog()
    if resume and record is None:
        raise OptionError("resume needs a recording: name its file with record=")
    recording = record if isinstance(record, Recording) or record is None else Recording(record)
    with Writer(recording) if recording is not None else nullcontext() as writer:
        keeper = None
        if writer is not None:
            memory = writer.begin(
                system, settings, numbers=numbers_of(system, scheme), resume=resume, steps=total
            )
            if memory is not None:
                stepper.restore(dict(memory))
                log.restore(np.asarray(memory["log"]))
                if progress is not None:
                    progress(stepper.index, total, f"goes on from t = {stepper.time:.3f} s")
            keeper = _Keeper(writer, stepper, log)
        with keeper or nullcontext():
            while stepper.index < total:
                frame = stepper.advance()
                log.add(frame)
                if frame.status != "solved" and on_failure == "raise":
                    raise _failure(frame)
                if keeper is not None:
                    began = work_seconds()
                    keeper.take(frame)
                    stepper.timings.add(recording=work_seconds() - began)
                if observe is not None:
                    observe(frame)
                if progress is not None:
                    what = f"t = {stepper.time:.3f} s, {len(frame.contacts)} contacts"
                    progress(stepper.index, total, what)
                if until is not None and until(frame):
                    break
    certificate = RunCertificate.of(log, tolerance)
    if certificate.missed:
        warnings.warn(
            f"{certificate.missed} of {certificate.steps} steps did not reach the tolerance "
            f"{tolerance:g} (largest residual {certificate.worst:.1e}): see run.certificate, and try "
            "another solver",
            ToleranceWarning,
            stacklevel=2,
        )
    if certificate.wrong_contact_steps:
        warnings.warn(
            f"the contacts of {certificate.wrong_contact_steps} of {certificate.steps} steps did not "
            "pass their check: see frame.contacts.certificate.worst of such a step",
            ContactWarning,
            stacklevel=2,
        )
    path = None if recording is None else Path(recording.path)
    return Run(system, stepper.time, log, certificate, stepper.timings, path, settings)


def _failure(frame: Frame) -> NonsmoothError:
    """Why a step failed."""
    certificate = frame.contacts.certificate
    if frame.status == WRONG_CONTACTS and certificate is not None:
        return ContactError(
            f"the contacts of step {frame.index} did not pass their check: {certificate.worst}"
        )
    return SolveError(frame.solution)


class _Keeper:
    """Records steps, and leaves a checkpoint of the last whole one however the run ends."""

    def __init__(self, writer: Writer, stepper: TimeStepper, log: StepLog) -> None:
        self._writer, self._stepper, self._log = writer, stepper, log
        self._last: tuple[dict[str, Any], dict[str, int]] | None = stepper.memory(), writer.rows
        self._save()  # a run that is killed before the next one goes on from here

    def __enter__(self) -> _Keeper:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._save()
        else:  # the first error is the one to tell
            with suppress(OSError, NonsmoothError):
                self._save()

    def take(self, frame: Frame) -> None:
        """Record a step, and write a checkpoint if one is due."""
        with uninterrupted():
            self._last = None  # a writer that fails has done nobody knows what
            self._writer.frame(frame)
            last = self._stepper.memory(), self._writer.rows
            if self._writer.checkpoint_due:
                self._write(*last)
            self._last = last

    def _save(self) -> None:
        """Write a checkpoint of the last step that was recorded; the step under way is none yet."""
        if self._last is not None:
            self._write(*self._last)

    def _write(self, memory: dict[str, Any], rows: dict[str, int]) -> None:
        self._writer.checkpoint({**memory, "log": self._log.table()[: memory["index"]]}, rows)


def _step_count(duration: float, step: float) -> int:
    if not (math.isfinite(step) and step > 0.0):
        raise OptionError(f"step is {step} s: give a positive time step, for example 0.01")
    if not (math.isfinite(duration) and duration >= 0.0):
        raise OptionError(f"duration is {duration} s: give a time that is not negative")
    return math.ceil(duration / step - 1e-9)


def _settings(options: StepOptions, duration: float, step: float) -> dict[str, Any]:
    """What was asked for, in numbers and strings, for the record."""
    return {
        "duration": duration,
        "step": step,
        "law": str(options.law),
        "solver": options.solver.name,
        "solver_options": {
            name: value for name, value in asdict(options.solver).items() if name != "threads"
        },
        "tolerance": options.tolerance,
        "max_iterations": options.max_iterations,
        "scheme": options.scheme,
        "world": None if options.world is None else [corner.tolist() for corner in options.world],
        "threads": getattr(options.solver, "threads", 1),
    }
