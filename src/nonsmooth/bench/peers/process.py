"""One solver on one problem in this process: python process.py FAMILY [TASK.json]

Without a task it prints the version of the family's package. With one it solves the problem `repeat` times
after a first solve that is not timed (and not counted while it compiles), and keeps the best times: CPU
time of this process over all its threads, and wall time, in s, of the solver call only, from the problem in
memory to the impulses. A first solve longer than the time limit counts as it is, a solve of more than a
second is timed once, and one of less than 5 ms up to a hundred times more in a row, each on a newly read
problem, because files written in between leave cold caches and a cold interpreter.

The time limit is one of CPU time, so that a busy machine does not change the outcome; if there are CPU timers
(not on Windows) the process is ended by SIGPROF. Before each solve its number is written to the file `beat`,
from which the parent process sees when to stop waiting. The latest result is always in `answer` (.npz).
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

if sys.platform != "win32":
    import resource

_LONG = 1.0
"""CPU time in s above which a solve is timed once: its noise is then small."""
_SHORT, _BATCH, _GROUPS, _GROUP = 5e-3, 50e-3, 5, 20
"""CPU time in s below which a solve is timed in a batch, how long the batch takes, its groups and their
largest size: solves of microseconds would otherwise measure cold caches and a cold interpreter."""
_GRACE = 1.1
"""CPU time, in time limits, after which a solve is ended: solvers that respect the limit can finish."""


def main() -> None:
    """Print a version, or run a task."""
    here = str(Path(__file__).parent)
    sys.path[:] = [way for way in sys.path if way != here]  # its files must not shadow packages
    family = _load(sys.argv[1])
    if len(sys.argv) == 2:
        print(family.version())
        return
    task = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    try:
        _carry_out(task, family)
    except NotImplementedError as error:
        _write(task, {"ended": "unsupported", "note": str(error)}, {})


def _carry_out(task: dict[str, Any], family: Any) -> None:
    """Solve the problem of a task, first untimed, then timed."""
    begin = family.prepare(task)
    compiles = getattr(family, "COMPILES", False)
    best_cpu = best_wall = float("inf")
    number = 0
    while number <= task["repeat"]:
        solve = begin()
        Path(task["beat"]).write_text(str(number), encoding="utf-8")
        if number > 0 or not compiles:
            _die_after(_GRACE * task["time_limit"])
        wall, cpu = time.perf_counter(), _cpu_time()
        answer = solve()
        cpu, wall = _cpu_time() - cpu, time.perf_counter() - wall
        _die_after(0.0)
        if answer.pop("compiled", False):
            continue
        late = cpu > task["time_limit"] or answer.get("says") == "time limit"
        if number > 0 or late:
            best_cpu, best_wall = min(best_cpu, cpu), min(best_wall, wall)
            facts = {key: answer.get(key) for key in ("iterations", "says", "note")}
            facts.update(ended="time limit" if late else "answered", cpu=best_cpu, wall=best_wall)
            _write(task, facts, answer)
        if late or (number > 0 and cpu > _LONG):
            return
        number += 1
    if best_cpu < _SHORT:
        facts["cpu"], facts["wall"] = _batch(begin, task, best_cpu, best_wall)
        _write(task, facts, answer)


def _batch(begin: Any, task: dict[str, Any], cpu: float, wall: float) -> tuple[float, float]:
    """Best mean times of groups of solves in a row, each on a separate problem, with nothing in between.

    The CPU clock has a resolution of microseconds: a group is timed as a whole.
    """
    size = min(_GROUP, int(_BATCH / _GROUPS / max(cpu, 1e-6)) + 1)
    groups = [[begin() for _ in range(size)] for _ in range(_GROUPS)]
    Path(task["beat"]).write_text(str(task["repeat"] + 1), encoding="utf-8")
    _die_after(_GRACE * task["time_limit"] * size * _GROUPS)
    for group in groups:
        before = time.perf_counter(), _cpu_time()
        for solve in group:
            solve()
        cpu, wall = (
            min(cpu, (_cpu_time() - before[1]) / size),
            min(wall, (time.perf_counter() - before[0]) / size),
        )
    _die_after(0.0)
    return cpu, wall


def _cpu_time() -> float:
    """CPU time of this process and its threads in s.

    Linux updates the clock behind `time.process_time` only occasionally while a CPU timer runs.
    """
    if sys.platform == "win32":
        return time.process_time()
    used = resource.getrusage(resource.RUSAGE_SELF)
    return float(used.ru_utime + used.ru_stime)


def _die_after(seconds: float) -> None:
    """End this process by SIGPROF after `seconds` of CPU time; 0 cancels."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _load(family: str) -> Any:
    place = Path(__file__).with_name(f"{family}.py")
    spec = importlib.util.spec_from_file_location(f"peer_{family}", place)
    if spec is None or spec.loader is None:
        raise ImportError(f"there is no family of solvers {family!r}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _write(task: dict[str, Any], facts: dict[str, Any], answer: dict[str, Any]) -> None:
    """Replace the answer atomically: a process killed meanwhile leaves the previous one."""
    arrays = {
        key: np.asarray(answer.get(key, ()), dtype=float).ravel() for key in ("impulses", "joint_impulses")
    }
    place = Path(task["answer"])
    unfinished = place.with_suffix(".part.npz")
    np.savez(unfinished, allow_pickle=False, facts=np.array(json.dumps(facts)), **arrays)
    os.replace(unfinished, place)


if __name__ == "__main__":
    main()
