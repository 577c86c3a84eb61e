"""`simulate`: run, record and resume a simulation in one call."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Unpack

from nonsmooth._support.options import overridden
from nonsmooth._support.progress import Progress
from nonsmooth.errors import ContactWarning, OptionError, ToleranceWarning
from nonsmooth.io.runs.recording import Recording
from nonsmooth.model.system import System
from nonsmooth.stepping.frame import Frame
from nonsmooth.stepping.options import StepOptions, StepOverrides
from nonsmooth.stepping.run import Run
from nonsmooth.stepping.run_certificate import RunCertificate
from nonsmooth.stepping.simulation import Simulation
from nonsmooth.stepping.step_count import step_count


def simulate(
    system: System,
    *,
    duration: float,
    step: float,
    options: StepOptions | None = None,
    record: Recording | str | os.PathLike[str] | None = None,
    resume: bool = False,
    observe: Callable[[Frame], object] | None = None,
    until: Callable[[Frame], bool] | None = None,
    progress: Progress | None = None,
    throw: bool = False,
    **overrides: Unpack[StepOverrides],
) -> Run:
    """Simulate a system by half-implicit Euler time stepping with hard contact.

    The given system is not changed; the final state is in the run's `system`.

    Args:
        system: bodies, shapes, materials, forces and the initial state.
        duration: simulated time in s; the last step may end a little later.
        step: time step h in s, no longer than the duration.
        options: options of a step; the fields of `StepOptions` are keywords of this call as well, such as
            law="relaxed", solver=ns.solvers.Newton() or tolerance=1e-6.
        record: a file name, or a `Recording` that says what to save and when. An existing file is an error,
            unless the run resumes it or the recording says overwrite=True.
        resume: continue from the last checkpoint of the recording; results are bitwise identical to those of
            an uninterrupted run. Starts from the beginning if there is no recording yet. A recording with
            more steps than requested, or with steps but no checkpoint, is refused.
        observe: called with the `Frame` of every step.
        until: called with the `Frame` of every step; the run ends, checkpoint included, when it returns True.
        progress: called as progress(done, total, what) after every step, and before the first step of a
            resumed run.
        throw: raise `SolveError` at the first step that does not reach its tolerance. Unlike in `solve`,
            the default is to count such steps and warn at the end: a single failed step seldom invalidates a
            run of thousands, and `Run.certificate` reports its residual.
        **overrides: fields of `StepOptions` that replace those of `options`.
    """
    total = step_count(duration, step)
    if resume and record is None:
        raise OptionError("resume needs a recording: name its file with record=")
    asked = overridden("simulate", StepOptions, options, overrides)
    simulation = Simulation(system, step=step, options=asked, throw=throw)
    if observe is not None:
        simulation.observe(observe)

    def is_last(frame: Frame) -> bool:
        if progress is not None:
            contacts = int(frame.numbers["contacts"])
            progress(frame.index, total, f"t = {frame.time:.3f} s, {contacts} contacts")
        return bool(until is not None and until(frame)) or frame.index >= total

    recorder = None if record is None else simulation.record(record, resume=resume, duration=duration)
    with recorder or nullcontext():
        if recorder is not None and recorder.resumed and progress is not None:
            progress(simulation.index, total, f"resumes at t = {simulation.time:.3f} s")
        if simulation.index < total and progress is None and until is None:
            simulation.step(total - simulation.index)
        elif simulation.index < total:
            simulation.run(until=is_last)
    _warn(simulation.certificate)
    return Run(
        simulation.system, simulation.time, simulation.steps, simulation.certificate, simulation.timings,
        None if recorder is None else recorder.path, simulation.options.settings(duration, step),
    )  # fmt: skip


def _warn(certificate: RunCertificate) -> None:
    """Warn of steps that failed."""
    if certificate.missed:
        warnings.warn(
            f"{certificate.missed} of {certificate.steps} steps did not reach the tolerance "
            f"{certificate.tolerance:g} (largest residual {certificate.worst:.1e}): see run.certificate, and "
            "try another solver",
            ToleranceWarning,
            stacklevel=3,
        )
    if certificate.wrong_contact_steps:
        warnings.warn(
            f"the contacts of {certificate.wrong_contact_steps} of {certificate.steps} steps did not "
            "pass their check: see frame.contacts.certificate.worst of such a step",
            ContactWarning,
            stacklevel=3,
        )
