"""Run experiments one after the other: complete results are kept, and a failure does not stop the rest.

Every experiment has its own folder. When it is complete, `done.json` is written beside its summary: the form
(quick or full), the version of the package, the time it took and the machine. A later run of the same form
and version finds it and does not run the experiment again. Long experiments store intermediate results
(`shared.resume`) and resume from them if they are started again in the same form and version.
"""

from __future__ import annotations

import json
import math
import os
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from nonsmooth.experiments import Comparison
from nonsmooth.experiments.base import AnyExperiment
from nonsmooth.experiments.report.machine import Machine, this_machine
from nonsmooth.experiments.shared.output import prepare_folder, write_json, write_text
from nonsmooth.experiments.shared.resume import Store

MARKER = "done.json"
BEGUN = "begun.json"
"""Form and version of the run whose unfinished work is in the folder."""
ERROR_FILE = "error.txt"


class State(StrEnum):
    """The state of an experiment after a run."""

    DONE = "done"
    KEPT = "done before"
    FAILED = "failed"
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Outcome:
    """Results of one experiment after a run."""

    experiment: AnyExperiment
    state: State
    rows: tuple[Comparison, ...] = ()
    files: tuple[str, ...] = ()
    """File names in the experiment's folder."""
    seconds: float = math.nan
    """Wall time of the run that wrote the files, or that failed."""
    finished: str = ""
    """Date and time (UTC) of completion."""
    machine: str = ""
    """The machine in one line."""
    error: str = ""
    """One sentence, if it failed."""
    details: str = ""
    """The traceback, if it failed."""
    failures: tuple[str, ...] = ()
    """Violated requirements, one sentence each; the results are complete nevertheless."""

    @property
    def complete(self) -> bool:
        """Whether there are results."""
        return self.state in (State.DONE, State.KEPT)


class Watcher(Protocol):
    """Receives notifications about the progress of a run."""

    def begin(self, name: str) -> None:
        """Report that an experiment begins."""

    def move(self, done: int, total: int, what: str) -> None:
        """Report the number of finished pieces, their total, and the current one."""

    def end(self, outcome: Outcome) -> None:
        """Report its result."""


class Reproduction:
    """A run of some experiments into one folder, in the quick or the full form."""

    def __init__(
        self, experiments: Sequence[AnyExperiment], folder: Path, *, quick: bool, fresh: bool = False
    ) -> None:
        """Look for existing results; `fresh` discards them."""
        self.folder = prepare_folder(folder)
        self.quick = quick
        self.fresh = fresh
        self.experiments = tuple(experiments)
        self.machine: Machine = this_machine()
        self.outcomes: dict[str, Outcome] = {}
        for each in self.experiments:
            kept = None if fresh else self._kept(each)
            self.outcomes[each.name] = kept or Outcome(each, State.NOT_RUN)

    @property
    def left(self) -> list[AnyExperiment]:
        """The experiments without results."""
        return [each for each in self.experiments if not self.outcomes[each.name].complete]

    @property
    def failed(self) -> list[Outcome]:
        """The experiments that failed in this run or violate a requirement."""
        return [each for each in self.outcomes.values() if each.state is State.FAILED or each.failures]

    @property
    def expected_seconds(self) -> list[float]:
        """Time in s of every remaining experiment: measured before in this folder and form, or estimated."""
        return [self.earlier_seconds(each.name) or each.seconds[0 if self.quick else 1] for each in self.left]

    def earlier_seconds(self, name: str) -> float | None:
        """Earlier time of an experiment here in the same form, in any version."""
        marker = _read_json(self.folder / name / MARKER)
        if marker is None or marker.get("quick") is not self.quick:
            return None
        seconds = marker.get("seconds")
        return float(seconds) if isinstance(seconds, int | float) else None

    def run(self, watcher: Watcher) -> None:
        """Run the remaining experiments. After Ctrl-C `outcomes` is consistent."""
        for experiment in self.left:
            watcher.begin(experiment.name)
            outcome = self._run(experiment, watcher)
            self.outcomes[experiment.name] = outcome
            watcher.end(outcome)

    def _run(self, experiment: AnyExperiment, watcher: Watcher) -> Outcome:
        folder = self.folder / experiment.name
        started = time.perf_counter()
        try:
            prepare_folder(folder)
            for stale in (MARKER, ERROR_FILE):
                (folder / stale).unlink(missing_ok=True)
            self._begin(experiment)
            experiment.run(folder, self.quick, watcher.move)
            seconds = time.perf_counter() - started
            self._mark(experiment, seconds)
            found = self._kept(experiment)
            if found is None:
                raise RuntimeError(f"{experiment.name} ended without a complete summary.json in {folder}")
        except Exception as error:
            # Any failure of one experiment becomes a line of the report, and the others continue.
            details = traceback.format_exc()
            if folder.is_dir():
                write_text(folder / ERROR_FILE, details)
            return Outcome(
                experiment,
                State.FAILED,
                seconds=time.perf_counter() - started,
                finished=_now(),
                machine=self.machine.line(),
                error=f"{type(error).__name__}: {' '.join(str(error).split())}",
                details=details,
            )
        return Outcome(
            experiment, State.DONE, found.rows, found.files, seconds, found.finished, found.machine,
            failures=found.failures,
        )  # fmt: skip

    def _begin(self, experiment: AnyExperiment) -> None:
        """Discard unfinished work of another form or version, and all of it if the run is fresh."""
        folder = self.folder / experiment.name
        begun = {"quick": self.quick, "version": self.machine.packages["nonsmooth"]}
        if self.fresh or _read_json(folder / BEGUN) != begun:
            Store(folder).forget()
        write_json(folder / BEGUN, begun)

    def _mark(self, experiment: AnyExperiment, seconds: float) -> None:
        """Write the marker atomically, so that a killed run leaves none or a complete one."""
        folder = self.folder / experiment.name
        content = {
            "experiment": experiment.name,
            "quick": self.quick,
            "version": self.machine.packages["nonsmooth"],
            "seconds": seconds,
            "finished": _now(),
            "machine": self.machine.as_json(),
            "machine_line": self.machine.line(),
        }
        draft = write_json(folder / f"{MARKER}.part", content)
        os.replace(draft, folder / MARKER)

    def _kept(self, experiment: AnyExperiment) -> Outcome | None:
        """The results of an earlier run if they are complete and of this form and version."""
        folder = self.folder / experiment.name
        marker, summary = _read_json(folder / MARKER), _read_json(folder / "summary.json")
        if marker is None or summary is None or marker.get("quick") is not self.quick:
            return None
        if marker.get("version") != self.machine.packages["nonsmooth"]:
            return None
        try:
            rows = tuple(_row(each) for each in summary["comparisons"])
            files = tuple(str(name) for name in summary["files"])
            failures = tuple(str(sentence) for sentence in summary.get("failures", ()))
            seconds, finished = float(marker["seconds"]), str(marker["finished"])
            machine = str(marker["machine_line"])
        except (KeyError, TypeError, ValueError):
            return None
        if not all((folder / name).is_file() for name in files):
            return None
        return Outcome(experiment, State.KEPT, rows, files, seconds, finished, machine, failures=failures)


def _row(content: Mapping[str, Any]) -> Comparison:
    ours = content["ours"]
    paper, reference, uncertainty = (
        None if content.get(name) is None else float(content[name])
        for name in ("paper", "reference", "uncertainty")
    )
    return Comparison(
        str(content["quantity"]),
        paper,
        math.nan if ours is None else float(ours),
        str(content["unit"]),
        str(content["error_or_note"]),
        reference,
        uncertainty,
    )


def _read_json(path: Path) -> dict[str, Any] | None:
    """The content of a file; None if it is missing or truncated."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
