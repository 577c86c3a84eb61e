"""`simulate`: one call that moves a system through time, records it, and can go on where it was cut off."""

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
    """Move a system through time in steps of half-implicit Euler with hard contact.

    The system that is given stays as it is; the state at the end is in the run's `system`.

    Args:
        system: bodies, shapes, materials, forces, and the state to begin with.
        duration: simulated time in s; the last step may end a little later.
        step: time step h in s, no longer than the duration.
        options: how a step is done; the fields of `StepOptions` are keywords of this call as well, such as
            law="relaxed", solver=ns.solvers.Newton() or tolerance=1e-6.
        record: a file name, or a `Recording` that says what to keep and when. An older file of that name is
            an error, unless the run goes on with it or the recording says overwrite=True.
        resume: go on from the last checkpoint of the recording, with the same bits as if the run had never
            been cut off; from the beginning if there is no recording yet. One that has more steps than asked
            for, or steps and no checkpoint, is refused.
        observe: called with the `Frame` of every step.
        until: called with the `Frame` of every step; the run ends, checkpoint included, when it returns True.
        progress: called as progress(done, total, what) after every step, and before the first one of a run
            that goes on.
        throw: raise `SolveError` at the first step that does not reach its tolerance. The default, other than
            that of `solve`, counts such steps and warns at the end: one of ten thousand is seldom a reason to
            lose the others, and `Run.certificate` tells how far off it was.
        **overrides: fields of `StepOptions`, in place of those of `options`.
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
            progress(frame.index, total, f"t = {frame.time:.3f} s, {len(frame.contacts)} contacts")
        return bool(until is not None and until(frame)) or frame.index >= total

    recorder = None if record is None else simulation.record(record, resume=resume, duration=duration)
    with recorder or nullcontext():
        if recorder is not None and recorder.resumed and progress is not None:
            progress(simulation.index, total, f"goes on from t = {simulation.time:.3f} s")
        if simulation.index < total:
            simulation.run(until=is_last)
    _warn(simulation.certificate)
    return Run(
        simulation.system, simulation.time, simulation.steps, simulation.certificate, simulation.timings,
        None if recorder is None else recorder.path, simulation.options.settings(duration, step),
    )  # fmt: skip


def _warn(certificate: RunCertificate) -> None:
    """Tell of steps that failed."""
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
