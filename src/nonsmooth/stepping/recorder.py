"""`Recorder`: writes the steps of a simulation to a file, with checkpoints for resuming."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np

from nonsmooth._support.kernel_clock import work_seconds
from nonsmooth.errors import NonsmoothError, OptionError
from nonsmooth.io.runs.recording import Recording
from nonsmooth.io.runs.writer import Writer
from nonsmooth.stepping.frame import Frame
from nonsmooth.stepping.step_log import StepLog, numbers_of
from nonsmooth.stepping.time_stepping import TimeStepper


class Recorder:
    """Records the steps of a simulation until it is closed; `Simulation.record` makes it.

    Use it in a `with` block: a checkpoint of the last complete step is written however the block ends.
    """

    def __init__(
        self,
        recording: Recording,
        stepper: TimeStepper,
        log: StepLog,
        settings: Mapping[str, Any],
        *,
        resume: bool,
        steps: int | None,
    ) -> None:
        self.path = Path(recording.path)
        self._stepper, self._log = stepper, log
        self._writer: Writer | None = Writer(recording)
        self._whole = True
        memory = self._writer.begin(
            stepper.system, settings, numbers=numbers_of(stepper.system, stepper.options.scheme),
            resume=resume, steps=steps, index=stepper.index, moment=stepper.time,
        )  # fmt: skip
        self.resumed = memory is not None
        """Whether it continues an older recording."""
        try:
            if memory is not None:
                stepper.restore(dict(memory))
                log.restore(np.asarray(memory["log"]))
            self._save()  # a run that is killed before the next checkpoint resumes from here
        except BaseException as error:
            self._close(error)
            raise

    @property
    def closed(self) -> bool:
        """Whether the recording is closed."""
        return self._writer is None

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, *_: object) -> None:
        self._close(error)

    def close(self) -> None:
        """Write a checkpoint of the last step and all buffered data, and close the file."""
        self._close(None)

    def take(self, frame: Frame) -> None:
        """Record a step, and write a checkpoint if one is due; Ctrl-C is deferred meanwhile."""
        if self._writer is None or not self._whole:
            raise OptionError(f"the last step could not be written to {self.path}: record to another file")
        began = work_seconds()
        self._whole = False  # after a failed write the state of the file is unknown
        self._writer.frame(frame)
        if self._writer.checkpoint_due:
            self._save()
        self._whole = True
        self._stepper.timings.add(recording=work_seconds() - began)

    def _save(self) -> None:
        assert self._writer is not None
        self._writer.checkpoint({**self._stepper.memory(), "log": self._log.table()})

    def _close(self, error: BaseException | None) -> None:
        if self._writer is None:
            return
        quietly = (
            nullcontext() if error is None else suppress(OSError, NonsmoothError)
        )  # the first step counts
        try:
            with quietly:
                if self._whole:
                    self._save()
        finally:
            writer, self._writer = self._writer, None
            with quietly:
                writer.close()
