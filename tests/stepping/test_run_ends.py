"""However a recorded run ends, it goes on from its last whole step; and the time of its parts is theirs."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import numba
import numpy as np
import pytest

import nonsmooth as ns
from nonsmooth.io.runs.checkpoint import read_checkpoint
from nonsmooth.io.runs.chunked_columns import Column
from nonsmooth.io.runs.writer import Writer
from nonsmooth.solvers import SolveError
from nonsmooth.stepping import StepLog
from nonsmooth.stepping.run_certificate import RunCertificate

STEP = 0.01


class Trouble(Exception):
    """Something of the user's that fails."""


class Troubled:
    """A force field without forces that fails in the step that begins at `moment` (s), once."""

    def __init__(self, moment: float, error: type[BaseException] = Trouble) -> None:
        self.moment, self.error, self.happened = moment, error, False

    def __call__(self, t: float, system: ns.System) -> tuple[np.ndarray, None]:
        if t >= self.moment - 1e-9 and not self.happened:
            self.happened = True
            raise self.error("trouble")
        return np.zeros((system.count, 3)), None


def heap(trouble: Troubled | None = None) -> ns.System:
    system = ns.scenes.filling(10)
    system.add_force_field(trouble if trouble is not None else Troubled(1e9))
    return system


def same_as_unbroken(path: Path, steps: int) -> None:
    """What was recorded has the bits of a run that was never cut off."""
    whole = path.with_name("whole.h5")
    ns.simulate(heap(), duration=steps * STEP, step=STEP, record=whole)
    with ns.Trajectory(path) as broken, ns.Trajectory(whole) as unbroken:
        assert broken.steps.count == unbroken.steps.count == steps
        assert broken.indices.tolist() == unbroken.indices.tolist()
        for name in ("residual", "kinetic_energy"):
            assert broken.steps[name].tobytes() == unbroken.steps[name].tobytes()
        assert broken.frame(-1).position.tobytes() == unbroken.frame(-1).position.tobytes()
        assert broken.contacts(-1).impulse.tobytes() == unbroken.contacts(-1).impulse.tobytes()


@pytest.mark.parametrize("error", [Trouble, KeyboardInterrupt, SystemExit, MemoryError])
@pytest.mark.parametrize("broken", [0, 1, 12])
def test_an_error_in_a_step(broken: int, error: type[BaseException], tmp_path: Path) -> None:
    system, path = heap(Troubled(broken * STEP, error)), tmp_path / "run.h5"
    with pytest.raises(error, match="trouble"):
        ns.simulate(system, duration=20 * STEP, step=STEP, record=path)
    assert read_checkpoint(f"{path}.checkpoint").memory["index"] == broken
    done = []
    run = ns.simulate(
        system,
        duration=20 * STEP,
        step=STEP,
        record=path,
        resume=True,
        progress=lambda n, _, __: done.append(n),
    )
    assert done == list(range(broken, 21))  # told before its first step, as well
    assert run.steps.count == 20
    same_as_unbroken(path, 20)


def test_an_observer_that_fails(tmp_path: Path) -> None:
    def observe(frame: ns.stepping.Frame) -> None:
        if frame.index == 7:
            raise Trouble

    path = tmp_path / "run.h5"
    with pytest.raises(Trouble):
        ns.simulate(heap(), duration=20 * STEP, step=STEP, record=path, observe=observe)
    assert read_checkpoint(f"{path}.checkpoint").memory["index"] == 7
    ns.simulate(heap(), duration=20 * STEP, step=STEP, record=path, resume=True)
    same_as_unbroken(path, 20)


def test_a_step_that_missed_its_tolerance_is_not_recorded_and_can_be_counted_later(tmp_path: Path) -> None:
    path, options = tmp_path / "run.h5", {"max_iterations": 1, "solver": ns.solvers.APGD()}
    system = ns.scenes.box_stack(3)
    system.position[~system.fixed, 2] += 0.02  # it falls for some steps
    with pytest.raises(SolveError):
        ns.simulate(system, duration=0.2, step=STEP, record=path, throw=True, **options)
    done = read_checkpoint(f"{path}.checkpoint").memory["index"]
    with ns.Trajectory(path) as trajectory:
        assert 0 < done == trajectory.steps.count < 20
        assert set(trajectory.steps["status"]) == {"solved"}
    with pytest.warns(ns.errors.ToleranceWarning):
        run = ns.simulate(system, duration=0.2, step=STEP, record=path, resume=True, **options)
    assert run.steps.count == 20
    assert run.steps["solved"][done] == 0.0


def test_a_writer_that_was_interrupted_keeps_its_older_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, frame = tmp_path / "run.h5", Writer.frame

    def interrupted(self: Writer, step: ns.stepping.Frame) -> None:
        if step.index == 6:
            self._columns["steps/time"].append(step.time)  # half of a row
            raise KeyboardInterrupt
        frame(self, step)

    record = ns.Recording(path, checkpoint_every=4)
    with monkeypatch.context() as patch:
        patch.setattr(Writer, "frame", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ns.simulate(heap(), duration=20 * STEP, step=STEP, record=record)
    assert read_checkpoint(f"{path}.checkpoint").memory["index"] == 4
    ns.simulate(heap(), duration=20 * STEP, step=STEP, record=record, resume=True)
    same_as_unbroken(path, 20)


@pytest.mark.parametrize("place", [30, 61, 62, 63, 64, 65, 66, 67, 68])
def test_ctrl_c_inside_the_writer_waits_for_the_whole_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    path, extend, calls = tmp_path / "run.h5", Column.extend, []

    def pressed(self: Column, rows: np.ndarray) -> int:
        calls.append(1)
        if len(calls) == place:
            signal.raise_signal(signal.SIGINT)
        return extend(self, rows)

    with monkeypatch.context() as patch:
        patch.setattr(Column, "extend", pressed)
        with pytest.raises(KeyboardInterrupt):
            ns.simulate(heap(), duration=20 * STEP, step=STEP, record=path)
    assert len(calls) >= place
    with ns.Trajectory(path) as kept:
        done = kept.steps.count
        assert len(kept) == done + 1
        kept.contacts(-1)
    assert 0 < done < 20
    assert read_checkpoint(f"{path}.checkpoint").memory["index"] == done
    ns.simulate(heap(), duration=20 * STEP, step=STEP, record=path, resume=True)
    same_as_unbroken(path, 20)


@pytest.mark.parametrize("place", [30, 61, 62, 63, 64, 65, 66, 67, 68])
def test_a_step_that_cannot_be_recorded_is_not_half_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    path, extend, calls = tmp_path / "run.h5", Column.extend, []

    def failing(self: Column, rows: np.ndarray) -> int:
        calls.append(1)
        if len(calls) == place:
            raise MemoryError
        return extend(self, rows)

    with monkeypatch.context() as patch:
        patch.setattr(Column, "extend", failing)
        with pytest.raises(MemoryError):
            ns.simulate(heap(), duration=20 * STEP, step=STEP, record=path)
    with ns.Trajectory(path) as kept:
        kept.contacts(-1)
    ns.simulate(heap(), duration=20 * STEP, step=STEP, record=path, resume=True)
    same_as_unbroken(path, 20)


def test_a_run_stopped_by_until_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    ns.simulate(heap(), duration=20 * STEP, step=STEP, record=path, until=lambda frame: frame.index == 5)
    assert read_checkpoint(f"{path}.checkpoint").memory["index"] == 5
    ns.simulate(heap(), duration=20 * STEP, step=STEP, record=path, resume=True)
    same_as_unbroken(path, 20)


def test_a_shorter_run_is_refused_and_one_of_the_same_length_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    ns.simulate(heap(), duration=10 * STEP, step=STEP, record=path)
    before = path.read_bytes()
    with pytest.raises(ns.errors.OptionError, match=r"10 steps already, to t = 0\.1 s, and 5 were asked for"):
        ns.simulate(heap(), duration=5 * STEP, step=STEP, record=path, resume=True)
    assert path.read_bytes() == before
    assert ns.simulate(heap(), duration=10 * STEP, step=STEP, record=path, resume=True).steps.count == 10
    same_as_unbroken(path, 10)


# ---- the time of the parts ------------------------------------------------------------------------------


def test_kernels_that_are_compiled_in_a_step_are_no_part_of_it() -> None:
    compiling = []

    def field(t: float, system: ns.System) -> tuple[np.ndarray, None]:
        if not compiling:
            began = time.perf_counter()
            numba.njit(lambda values: np.linalg.norm(values) + values.sum())(np.ones(3))
            compiling.append(time.perf_counter() - began)
        return np.zeros((system.count, 3)), None

    ns.simulate(heap(), duration=2 * STEP, step=STEP)  # all of the package's own kernels are there then
    system = ns.scenes.filling(10)
    system.add_force_field(field)
    began = time.perf_counter()
    timings = ns.simulate(system, duration=2 * STEP, step=STEP).timings
    wall = time.perf_counter() - began
    assert 0.7 * compiling[0] < timings.kernels <= compiling[0]
    assert timings.total + timings.kernels <= wall
    assert timings.seconds["motion"] <= wall - timings.kernels  # the field is called in that part
    assert ns.simulate(heap(), duration=2 * STEP, step=STEP).timings.kernels == 0.0


# ---- joints that open -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("opening", "held"), [(0.0, True), (0.0099, True), (0.0101, False), (np.nan, False)])
def test_a_certificate_tells_whether_joints_held(opening: float, held: bool) -> None:
    log = StepLog()
    table = np.zeros((3, len(log)))
    table[:, list(log).index("solved")] = 1.0
    table[1, list(log).index("joint_error")] = opening
    log.restore(table)
    certificate = RunCertificate.of(log, 1e-4)
    assert certificate.joints_held is held
    assert ("joints came apart" in str(certificate)) is not held
