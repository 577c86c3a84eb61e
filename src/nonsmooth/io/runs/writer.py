"""The writer of trajectories and checkpoints, while a run goes on.

    recording = Recording("run.h5", interval=0.02, checkpoint_seconds=60.0)
    with Writer(recording) as writer:
        memory = writer.begin(system, settings, numbers={"kinetic_energy": "J"}, resume=True)
        ...                                   # restore the memory if there is one
        for each step:
            writer.frame(frame)
            whole = writer.rows               # with the memory, what a checkpoint of this step needs
            if writer.checkpoint_due:
                writer.checkpoint(stepper.memory(), whole)

The layout of the file stands in `nonsmooth.io.runs.trajectory`. How a killed run stays readable and goes on:

- The file is written in the single-writer-multiple-reader mode (SWMR) of HDF5, in which what is on the
  disk is whole at every moment. All columns are flushed before those that tell how many rows there are.
- Such a file, once its writer was killed, can be read but never be written again. So a run goes on by
  copying the rows up to its last checkpoint into a new file, which then takes the place of the old one.
- A checkpoint is written only after all rows that it counts are on the disk.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.collision.contacts import Contacts
from nonsmooth.errors import FileFormatError, OptionError
from nonsmooth.io._arrays import Arrays, write_constants
from nonsmooth.io._hdf5 import (
    FilePath,
    check_room,
    new_file,
    open_file,
    reading,
    suspicion,
    sync,
    text_type,
    write_header,
    write_text,
    writing,
)
from nonsmooth.io.runs.checkpoint import (
    Checkpoint,
    Memory,
    checkpoint_path,
    read_checkpoint,
    write_checkpoint,
)
from nonsmooth.io.runs.chunked_columns import Chunk, Column, ColumnKind, copy_rows
from nonsmooth.io.runs.constants import constants, fingerprint, version
from nonsmooth.io.runs.recording import FrameLike, ReactionsLike, Recording
from nonsmooth.io.runs.schema import (
    COMMITS,
    CONTACTS,
    REACTIONS,
    STATE,
    STATUS_BYTES,
    STEPS,
    TRAJECTORY,
    column_kinds,
    rows_of,
)
from nonsmooth.model.system import System

_BATCH_BYTES = 4_000_000
"""Full chunks are handed to the disk when they make up this much."""
_FLUSH_SECONDS = 1.0
"""Rows are shown to readers at least this often, while frames come in."""
_FORMAT = ("v110", "v110")
"""Files are laid out as HDF5 1.10 (2016) did it, the first that lets others read a growing file: with newer
layouts, which the newest HDF5 would choose, programs built on older ones cannot open what grows."""
_MAY_CHANGE = ("duration", "threads")
"""Settings that may differ when a run goes on."""
_BEFORE = {"scheme": "stabilised"}
"""What held in runs that were recorded before there was such a setting."""
_FORMER_OPTIONS = {
    "max_blocks": "largest",
    "max_unknowns": "largest",
    "max_proximal_blocks": "proximal_blocks",
    "max_lemke_unknowns": "lemke_unknowns",
}
"""Options of solvers by their present names, and what recordings of version 0.1.0 call them."""


class _Job(NamedTuple):
    """Chunks that were taken from a column when it had so many rows."""

    column: Column
    chunks: list[Chunk]
    rows: int


class Writer:
    """Writes one trajectory and its checkpoints.

    Compression and writing happen on a thread of their own, one batch at a time; what goes wrong there is
    raised by the next call. After an error the rows that readers could see are kept.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._path = recording.path
        self._file: Any = None
        self._columns: dict[str, Column] = {}
        self._numbers: tuple[str, ...] = ()
        self._joint_rows: dict[str, list[int]] = {}  # rows of each label, if forces of joints are kept
        self._fingerprint = ""
        self._kept = 0  # frames that readers can see
        self._waiting = 0  # bytes in full chunks
        self._whole = True  # all columns have the same steps
        self._flushed = self._saved = time.monotonic()
        self._saved_step = 0
        self._thread: ThreadPoolExecutor | None = None
        self._running: Future[None] | None = None

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:  # the first error is the one to tell
            with suppress(OSError):
                self.close()

    def begin(
        self,
        system: System,
        settings: Mapping[str, Any],
        *,
        numbers: Mapping[str, str] | None = None,
        resume: bool = False,
        steps: int | None = None,
        index: int = 0,
        moment: float = 0.0,
    ) -> dict[str, Any] | None:
        """Make the file, or go on with it; return the memory of the checkpoint to go on from, or None.

        Args:
            system: the system in the state that the run begins with, also when it goes on later.
            settings: what the run was asked for: numbers, strings and lists by name.
            numbers: names and units of `frame.numbers`.
            resume: go on from the last checkpoint. Where no step was recorded, the run starts from the
                beginning; a recording of steps without a checkpoint is refused, and stays as it is. Otherwise
                an older file is refused, unless the recording says `overwrite`.
            steps: how many steps the run is to have: resuming a recording of more is refused, as well.
            index: steps that were done before the first frame.
            moment: time of the first frame, in s.
        """
        self._check_older(resume)
        numbers = dict(numbers or {})
        for name in numbers:
            if name in STEPS or "/" in name:
                raise OptionError(f"the number {name!r} of a step cannot be recorded: give it another name")
        text = _as_json(settings)
        arrays = constants(system)
        choice = self.recording
        kept = (choice.every, choice.interval, choice.times, choice.fields, choice.compression, numbers)
        joints = ("joints",) if choice.joints else ()
        self._fingerprint = fingerprint(system, arrays, *kept, *joints)
        self._numbers = tuple(numbers)
        self._joint_rows = {}
        labels = system.joints.table.labels if choice.joints else ()
        for row, label in enumerate(labels):
            self._joint_rows.setdefault(label, []).append(row)
        checkpoint = self._find_checkpoint(text, steps) if resume else None
        kinds = column_kinds(system.count, choice.fields, numbers, (len(system.joints), len(labels)))
        try:
            self._create(arrays, text, kinds, checkpoint)
        except BaseException:
            self._end()
            raise
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="nonsmooth-recording")
        if checkpoint is None:
            self._store(index, moment, np.nan, system, Contacts.empty(), np.zeros((0, 3)))
            self._store_reactions(None)
        else:
            self._saved_step = self._columns["steps/time"].rows
        self._flush()
        return None if checkpoint is None else dict(checkpoint.memory)

    def frame(self, frame: FrameLike) -> None:
        """Take in a step: its scalars, and its state and contacts if it is one of the frames wanted."""
        self._check_open()
        if len(frame.status.encode()) > STATUS_BYTES:
            raise OptionError(f"status {frame.status!r} is too long to be recorded: shorten it")
        if frame.numbers.keys() - set(self._numbers):
            unknown = ", ".join(sorted(frame.numbers.keys() - set(self._numbers)))
            raise OptionError(f"numbers {unknown} of a step have no unit: name them in begin(numbers=…)")
        columns = self._columns
        self._whole = False
        self._waiting += sum(
            columns[f"steps/{name}"].append(getattr(frame, name)) for name in STEPS if name != "status"
        )
        self._waiting += columns["steps/status"].append(frame.status.encode())
        for name in self._numbers:
            self._waiting += columns[f"steps/{name}"].append(frame.numbers.get(name, np.nan))
        if self.recording.wants(frame.index, frame.time, frame.step):
            self._store(frame.index, frame.time, frame.step, frame, frame.contacts, frame.impulses)
            self._store_reactions(frame)
        self._whole = True
        if time.monotonic() - self._flushed >= _FLUSH_SECONDS:
            self._submit(unfinished=True)
        elif self._waiting >= _BATCH_BYTES:
            self._submit(unfinished=False)

    @property
    def checkpoint_due(self) -> bool:
        """Whether it is time for a checkpoint."""
        choice = self.recording
        if choice.checkpoint_every is not None:
            steps = self._columns["steps/time"].rows
            if steps - self._saved_step >= choice.checkpoint_every:
                return True
        seconds = choice.checkpoint_seconds
        return seconds is not None and time.monotonic() - self._saved >= seconds

    @property
    def rows(self) -> dict[str, int]:
        """How many rows of each kind have been taken in so far, those that wait included."""
        self._check_open()
        rows = {"frames": self._columns["frames/time"].rows, "steps": self._columns["steps/time"].rows}
        if "contacts" in self.recording.fields:
            rows["contacts"] = self._columns["contacts/gap"].rows
        return rows

    def checkpoint(self, memory: Memory, rows: Mapping[str, int] | None = None) -> None:
        """Bring all rows to the disk, then write a checkpoint with what the run remembers.

        The memory is that of the moment at which the `rows` were as given; as they are now, if left out.
        """
        rows = self.rows if rows is None else rows
        self._flush()
        with writing(self._path):
            sync(self._path)
        write_checkpoint(checkpoint_path(self._path), Checkpoint(memory, rows, self._fingerprint))
        self._saved = time.monotonic()
        self._saved_step = rows["steps"]

    def close(self) -> None:
        """Write what is left and close the file; more than once does no harm.

        Of a step that could not be taken in, half would be left: then nothing more is written.
        """
        if self._file is None:
            return
        try:
            if self._whole:
                self._flush()
        finally:
            self._end()

    # ---- beginning ------------------------------------------------------------------------------------

    def _check_older(self, resume: bool) -> None:
        """See that no older file is lost in silence."""
        if resume and self.recording.overwrite:
            raise OptionError(
                f"resume=True goes on with {self._path} and overwrite=True replaces it: give one of them"
            )
        if not resume and not self.recording.overwrite and os.path.isfile(self._path):
            raise OptionError(
                f"{self._path} exists already: record in another file, go on with it by resume=True, or "
                "replace it by overwrite=True of a Recording"
            )

    def _find_checkpoint(self, settings: str, steps: int | None) -> Checkpoint | None:
        """The checkpoint to go on from; it must belong to this system and recording, and lose no step."""
        if not os.path.exists(self._path):
            return None
        with reading(self._path, TRAJECTORY, growing=True) as old:
            found, was = old.text("fingerprint"), json.loads(bytes(old.read_text("settings")))
            times = old.group("steps").dataset("time", ("float64",))
            done, reached = len(times), float(times[-1]) if len(times) else 0.0
        self._check_same(self._path, found)
        _check_settings(self._path, was, json.loads(settings))
        if steps is not None and done > steps:
            raise OptionError(
                f"{self._path} has {done} steps already, to t = {reached:g} s, and {steps} were asked for: "
                "give a longer duration to go on, or record in another file"
            )
        path = checkpoint_path(self._path)
        if not os.path.exists(path):
            if done:
                raise OptionError(
                    f"{self._path} has {done} steps and no checkpoint to go on from: put {path} back, or "
                    "replace the recording (overwrite=True)"
                )
            return None  # killed before its first checkpoint
        checkpoint = read_checkpoint(path)
        self._check_same(path, checkpoint.fingerprint)
        return checkpoint

    def _check_same(self, path: FilePath, found: str) -> None:
        if found != self._fingerprint:
            raise OptionError(
                f"{path} belongs to another system or another state of it, or records other frames and "
                "fields: resume with what the run began with, or replace it (overwrite=True)"
            )

    def _create(
        self, arrays: Arrays, settings: str, kinds: list[ColumnKind], checkpoint: Checkpoint | None
    ) -> None:
        """Make the file with all that does not change, and with the rows up to the checkpoint."""
        import h5py

        def start(file: Path) -> None:
            """Open it for good. It is not in its place yet: there, a reader could lock it just now."""
            self._file = h5py.File(file, "r+", libver=_FORMAT)
            self._columns = {kind.path: Column(self._file[kind.path]) for kind in kinds}
            self._file.swmr_mode = True
            if checkpoint is None:
                Path(checkpoint_path(self._path)).unlink(missing_ok=True)  # it is the older run's

        # Always the same name: what a run leaves that is killed right here is taken over by the next.
        part = f".{os.path.basename(self._path)}.part"
        with new_file(self._path, part=part, when_whole=start, libver=_FORMAT) as file:
            write_header(file, TRAJECTORY._replace(version=version(arrays)))
            write_text(file, fingerprint=self._fingerprint)
            write_constants(file, arrays)
            encoded = settings.encode()
            file.create_dataset("settings", data=encoded, dtype=text_type(len(encoded)))
            for kind in kinds:
                kind.create(file, compressed=self.recording.compression)
            if checkpoint is not None:
                check_room(self._path, os.path.getsize(self._path))
                self._copy(file, kinds, checkpoint.rows)

    def _copy(self, file: Any, kinds: list[ColumnKind], rows: Mapping[str, int]) -> None:
        """Copy the rows that a checkpoint counts from the file that the run left."""
        old = open_file(self._path, TRAJECTORY, growing=True)
        try:
            for kind in kinds:
                count = rows.get(rows_of(kind.path), 0)
                with suspicion(self._path):
                    source = kind.find(old)
                    if len(source) < count:
                        raise FileFormatError(
                            f"{self._path} has {len(source)} rows of {kind.path} and its checkpoint counts "
                            f"{count}: it is not the file that the checkpoint was made for; start anew"
                        )
                copy_rows(source, file[kind.path], count, self._path)
        finally:
            old.node.close()

    # ---- writing --------------------------------------------------------------------------------------

    def _store(
        self, index: int, moment: float, step: float, state: Any, contacts: Contacts, impulses: Floats
    ) -> None:
        columns, fields = self._columns, self.recording.fields
        waiting = columns["frames/time"].append(moment)
        waiting += columns["frames/index"].append(index) + columns["frames/step"].append(step)
        for name in STATE:
            if name in fields:
                waiting += columns[f"frames/{name}"].append(getattr(state, name))
        if "contacts" in fields:
            waiting += columns["contacts/first"].append(columns["contacts/gap"].rows)
            waiting += columns["contacts/count"].append(len(contacts))
            for name in CONTACTS:
                values = impulses if name == "impulse" else getattr(contacts, name)
                waiting += columns[f"contacts/{name}"].extend(values)
        self._waiting += waiting

    def _store_reactions(self, frame: FrameLike | None) -> None:
        """Keep what the joints did, if wanted; of the state that a run begins with, nothing is known."""
        if not self._joint_rows:
            return
        found: ReactionsLike | None = None if frame is None else frame.reactions()
        for name in REACTIONS:
            values = np.nan if found is None else getattr(found, name)
            self._waiting += self._columns[f"reactions/{name}"].append(values)
        row_force = np.full(sum(map(len, self._joint_rows.values())), np.nan)
        if found is not None:
            for label, rows in self._joint_rows.items():
                row_force[rows] = found.rows[label]
        self._waiting += self._columns["reactions/row_force"].append(row_force)

    def _flush(self) -> None:
        """Write all rows and wait until readers can see them."""
        self._check_open()
        self._submit(unfinished=True)
        self._wait()

    def _submit(self, *, unfinished: bool) -> None:
        """Hand chunks to the thread, after it has finished the last ones."""
        self._wait()
        jobs = [
            _Job(column, column.take(unfinished=unfinished), column.rows)
            for path, column in self._columns.items()
            if unfinished or path not in COMMITS
        ]
        jobs.sort(key=lambda job: job.column.name in COMMITS)
        self._waiting = 0
        if unfinished:
            self._flushed = time.monotonic()
        assert self._thread is not None
        self._running = self._thread.submit(self._write, jobs, commit=unfinished)

    def _write(self, jobs: list[_Job], *, commit: bool) -> None:
        """Write chunks; the last columns only when all others can be seen."""
        check_room(self._path, sum(chunk.values.nbytes for job in jobs for chunk in job.chunks))
        for job in jobs:
            if job.column.name == COMMITS[0]:
                self._file.flush()
            job.column.write(job.chunks, job.rows)
        if commit:
            self._file.flush()
            self._kept = next(job.rows for job in jobs if job.column.name == COMMITS[0])

    def _wait(self) -> None:
        """Wait for the thread; raise what went wrong there."""
        running, self._running = self._running, None
        if running is None:
            return
        try:
            running.result()
        except (OSError, RuntimeError) as error:  # HDF5 knows both for a write that failed
            self._end()
            code = getattr(error, "errno", None)
            cause = os.strerror(code) if code else " ".join(str(error).split())
            raise OSError(
                f"cannot write {self._path}: {cause}; its first {self._kept} frames are kept"
            ) from error

    def _check_open(self) -> None:
        if self._file is None:
            raise OptionError(f"the recording {self._path} is closed: open a new Writer")

    def _end(self) -> None:
        if self._thread is not None:
            self._thread.shutdown()
        file, self._file = self._file, None
        self._columns = {}
        if file is not None:
            with suppress(OSError, RuntimeError):  # after a failed write HDF5 cannot close properly either
                file.close()


def _as_json(settings: Mapping[str, Any]) -> str:
    try:
        return json.dumps(dict(settings), sort_keys=True, default=_plain)
    except (TypeError, ValueError) as error:
        raise OptionError(f"settings cannot be recorded: {error}; give numbers and strings") from error


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r} is neither a number nor a string")


def _check_settings(path: FilePath, was: dict[str, Any], now: dict[str, Any]) -> None:
    was = {name: value for name, value in _BEFORE.items() if name in now} | was
    options, present = was.get("solver_options"), now.get("solver_options")
    if isinstance(options, dict) and isinstance(present, dict):
        today = {_FORMER_OPTIONS[name]: name for name in present if name in _FORMER_OPTIONS}
        was["solver_options"] = {today.get(name, name): value for name, value in options.items()}
    for name in sorted(was.keys() | now.keys()):
        if name not in _MAY_CHANGE and was.get(name) != now.get(name):
            raise OptionError(
                f"{path} was recorded with {name} = {was.get(name)!r}, and now it is {now.get(name)!r}: "
                "resume with the same, or replace the recording (overwrite=True)"
            )
