"""One contender on one problem: its process, its time limits, and the judgement of its result.

Both errors are recomputed here from the problem for the impulses that the process wrote.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nonsmooth.bench.contender import PROCESS, Contender
from nonsmooth.bench.peers import siconos_solvers
from nonsmooth.errors import NonsmoothError
from nonsmooth.io import read_problem
from nonsmooth.io.problems.siconos import write_siconos
from nonsmooth.problem.certificate import certify
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.siconos_error import siconos_error

Measure = Literal["invariant", "siconos", "both"]
MEASURES: tuple[Measure, ...] = ("invariant", "siconos", "both")

_START = 180.0
"""Wall time in s that a process may take before its first solve, and for compilation in it."""
_OUT_OF_TIME = int(getattr(signal, "SIGPROF", 0))
"""The signal that ends a process whose solve has used up its CPU time."""
_ROUNDING = 1e-6
"""Relative difference allowed between an error and its recomputation with another order of sums."""
_LEAST = 1e-15
"""Smallest tolerance requested of a solver."""
_LOOK = 0.02
"""Wall time in s between two checks of a process."""


@dataclass(frozen=True)
class Settings:
    """Tolerance, limits and measure for every contender."""

    tolerance: float = 1e-8
    measure: Measure = "invariant"
    """Error to be met: "invariant" (the certificate's residual), "siconos" (its error), or "both"."""
    time_limit: float = 10.0
    """CPU time limit of one solve in s."""
    repeat: int = 3
    """Number of timed solves after an untimed one; the fastest counts."""
    tighten: int = 3
    """Number of times to tighten the tolerance of a solver that stops before this measure is met."""

    @property
    def patience(self) -> float:
        """Wall time in s after which a solve is stopped from outside, if it sleeps or the machine is busy."""
        return 5.0 * self.time_limit + 2.0

    def meets(self, residual: float, siconos: float) -> bool:
        """Return whether a result with these errors is a solution."""
        return self._error(residual, siconos) <= self.tolerance * (1.0 + _ROUNDING)

    def next_tolerance(self, row: Row) -> float | None:
        """Tighter tolerance for a solver that stopped before the measure was met; None if it did not."""
        error = self._error(row.residual, row.siconos_error)
        done = row.ended != "answered" or not row.content or self.meets(row.residual, row.siconos_error)
        if done or not error < math.inf:
            return None
        asked = row.tolerance * min(0.1, 0.5 * self.tolerance / error)
        return asked if asked >= _LEAST else None

    def _error(self, residual: float, siconos: float) -> float:
        if self.measure == "both":
            return math.nan if math.isnan(residual + siconos) else max(residual, siconos)
        return siconos if self.measure == "siconos" else residual


@dataclass(frozen=True)
class Row:
    """Result of one contender on one problem. Unknown numbers are NaN."""

    problem: str
    """File name relative to the folder of the bench."""
    digest: str
    """Digest of the file's content."""
    solver: str
    version: str
    asked: str
    """Settings of the measurement; rows under other settings are different rows."""
    tolerance: float
    """Last tolerance requested of this solver, in its measure."""
    ended: str
    """answered, time limit, crashed or unsupported."""
    content: bool
    """Whether the solver reports success."""
    cpu: float
    """CPU time of the solve in s."""
    wall: float
    """Wall time of the solve in s."""
    iterations: float
    residual: float
    """Relative residual of the certificate, independent of units."""
    siconos_error: float
    """Error of Siconos."""
    note: str


class Entry:
    """A problem file of the bench, read on first use and passed to processes in their format."""

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.name = name
        self.digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]

    @cached_property
    def problem(self) -> ContactProblem:
        """The problem; raises if the file does not hold one."""
        return read_problem(self.path)

    @cached_property
    def dimension(self) -> int:
        """2 or 3 if all contacts have that number of components, otherwise 0."""
        kinds = set(self.problem.components.tolist())
        return kinds.pop() if len(kinds) == 1 and kinds <= {2, 3} else 0

    def task(self, contender: Contender, folder: Path) -> dict[str, Any]:
        """Write the problem for a process and return its task. Raises if the format cannot store it."""
        problem = self.problem
        task: dict[str, Any] = {
            "setup": dict(contender.setup),
            "problem": str(self.path.absolute()),
            "dimension": self.dimension,
            "rows": problem.layout.contact_rows,
            "has_masses": problem.has_masses,
        }
        if contender.family == "siconos_solvers":
            method = contender.setup["method"]
            kind: Any = "global" if method in siconos_solvers.GLOBAL and problem.has_masses else "local"
            storage: Any = siconos_solvers.storage(method)
            task["matrix"] = str(folder / "problem.dat")
            write_siconos(problem, task["matrix"], kind=kind, storage=storage)
        elif contender.family != "nonsmooth_solvers":
            if problem.joint_rows:
                raise NotImplementedError("joint rows")
            matrix = problem.operator.matrix().tocoo()
            task["arrays"] = str(folder / "arrays.npz")
            np.savez(
                task["arrays"], row=matrix.coords[0], column=matrix.coords[1], value=matrix.data,
                q=problem.free_velocity, friction=problem.friction, components=problem.components,
            )  # fmt: skip
        return task


def measure(contender: Contender, entry: Entry, settings: Settings, folder: Path) -> Row:
    """Run a contender on a problem in fresh processes, and judge its answer.

    A solver that stops before the measure is met is run again with a tighter tolerance, as often as the
    settings allow. The row is that of the last attempt, or of the one before if the last was worse.

    Args:
        contender: the solver.
        entry: the problem.
        settings: tolerance, measure, time limit, repetitions.
        folder: a folder for the exchange.
    """
    tolerance = settings.tolerance if contender.tolerance is None else contender.tolerance
    row = _attempt(contender, entry, settings, tolerance, folder)
    for _ in range(settings.tighten):
        stricter = settings.next_tolerance(row)
        if stricter is None:
            break
        again = _attempt(contender, entry, settings, stricter, folder)
        if again.ended != "answered":
            return replace(row, note=f"{row.note}; asked for {stricter:.0e}: {again.ended}".lstrip("; "))
        row = again
    return row


def _attempt(contender: Contender, entry: Entry, settings: Settings, tolerance: float, folder: Path) -> Row:
    facts: dict[str, Any]
    impulses = joint_impulses = np.zeros(0)
    try:
        task = entry.task(contender, folder)
    except (NonsmoothError, NotImplementedError) as error:
        facts = {"ended": "unsupported", "note": str(error)}
    else:
        task.update(
            tolerance=tolerance, time_limit=settings.time_limit, repeat=settings.repeat,
            beat=str(folder / "beat"), answer=str(folder / "answer.npz"),
        )  # fmt: skip
        facts, impulses, joint_impulses = _run(contender, task, settings, folder)
    residual = error_of_siconos = math.nan
    if len(impulses):
        residual, error_of_siconos = judge(entry.problem, impulses, joint_impulses)
    content = facts.get("says") in (None, "solved")
    remarks = ("" if content else facts["says"], facts.get("note") or "")
    return Row(
        problem=entry.name,
        digest=entry.digest,
        solver=contender.label,
        version=contender.version,
        asked=repr(settings),
        tolerance=tolerance,
        ended=facts["ended"],
        content=content,
        cpu=_number(facts.get("cpu")),
        wall=_number(facts.get("wall")),
        iterations=_number(facts.get("iterations")),
        residual=residual,
        siconos_error=error_of_siconos,
        note=" ".join(": ".join(part for part in remarks if part).split()),
    )


def judge(problem: ContactProblem, impulses: Any, joint_impulses: Any = ()) -> tuple[float, float]:
    """Both errors of impulses, recomputed from the problem: the certificate's residual and Siconos' error."""
    joints = np.asarray(joint_impulses, dtype=float)
    if np.shape(impulses) != (problem.layout.contact_rows,) or joints.shape != (problem.joint_rows,):
        return math.nan, math.nan  # not impulses of this problem
    with np.errstate(over="ignore", invalid="ignore"):  # a diverged result is judged like any other
        velocity = problem.velocity(impulses, joints) if problem.has_masses else None
        certificate = certify(problem, impulses, joints, velocity)
        return certificate.residual, siconos_error(problem, impulses, joints)


def _run(
    contender: Contender, task: dict[str, Any], settings: Settings, folder: Path
) -> tuple[dict[str, Any], Any, Any]:
    """Start the process, wait for it within the time limits, and read its result."""
    order, log, answer = folder / "task.json", folder / "log", Path(task["answer"])
    for old in (answer, Path(task["beat"])):
        old.unlink(missing_ok=True)
    order.write_text(json.dumps(task), encoding="utf-8")
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [contender.python, str(PROCESS), contender.family, str(order)],
            stdout=stream, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=folder,
            env=contender.environment, start_new_session=True,
        )  # fmt: skip
        try:
            compilation = _START if contender.family == "nonsmooth_solvers" else 0.0
            code = _wait(process, Path(task["beat"]), settings.patience, compilation)
        finally:
            if process.poll() is None:
                _kill(process)
    nothing = np.zeros(0)
    if code is None or code == -_OUT_OF_TIME:
        return {"ended": "time limit", "note": "cut off"}, nothing, nothing
    if code != 0:
        return {"ended": "crashed", "note": _last_words(code, log)}, nothing, nothing
    with np.load(answer, allow_pickle=False) as found:
        return json.loads(str(found["facts"])), found["impulses"], found["joint_impulses"]


def _wait(process: subprocess.Popen[bytes], beat: Path, patience: float, compilation: float) -> int | None:
    """The exit code of a process, or None if it took longer for a solve than it may (wall time in s).

    A first solve is allowed `compilation` in addition: it is repeated until it compiles nothing.
    """
    last, deadline = "", time.monotonic() + _START
    while True:
        try:
            return process.wait(_LOOK)
        except subprocess.TimeoutExpired:
            pass
        number = beat.read_text(encoding="utf-8") if beat.exists() else ""
        if number and number != last:
            last, deadline = number, time.monotonic() + patience + (compilation if number == "0" else 0.0)
        elif time.monotonic() > deadline:
            return None


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and its children."""
    if sys.platform == "win32":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)  # it leads a session of its own
    process.wait()


def _last_words(code: int, log: Path) -> str:
    """Reason for the end of a process: the signal, or its last line of output."""
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else f"exit code {code}"


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)
