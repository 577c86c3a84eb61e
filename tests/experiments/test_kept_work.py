"""Long experiments keep what they have done: an interrupted one goes on, another setup does not use it."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from nonsmooth.complementarity.library import optimal_control
from nonsmooth.experiments.andreani import methods as shared
from nonsmooth.experiments.base import Work
from nonsmooth.experiments.melanz.scaling import MelanzScaling, Setup
from nonsmooth.experiments.shared import granular
from nonsmooth.experiments.shared.resume import Store, key_of
from nonsmooth.scenes.filling import filling


def never(*_: object, **__: object) -> None:
    raise AssertionError("it was computed again")


def work_in(folder: Path) -> Work:
    return Work(lambda *_: None, Store(folder))


def test_work_is_taken_again_for_the_same_identity_and_version_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    first = store.kept("it", ("this",), lambda: {"x": np.arange(3.0), "n": 2, "word": "yes", "share": 0.5})
    again = store.kept("it", ("this",), never)
    for found in (first, again):
        assert found["x"].tolist() == [0.0, 1.0, 2.0]
        assert (found["n"], found["word"], found["share"]) == (2, "yes", 0.5)
        assert [type(found[name]) for name in ("n", "word", "share")] == [int, str, float]
    with pytest.raises(AssertionError, match="computed again"):
        store.kept("it", ("that",), never)
    with monkeypatch.context() as later:
        later.setattr("nonsmooth.__version__", "999.0")
        with pytest.raises(AssertionError, match="computed again"):
            store.kept("it", ("this",), never)
    assert len(list((tmp_path / "kept").iterdir())) == 1
    store.forget()
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut off", b"no archive at all"])
def test_a_file_that_is_not_whole_is_computed_again(tmp_path: Path, content: bytes) -> None:
    store = Store(tmp_path)
    store.kept("it", (), lambda: {"x": 1.0})
    (path,) = (tmp_path / "kept").iterdir()
    path.write_bytes(content)
    assert store.kept("it", (), lambda: {"x": 2.0})["x"] == 2.0
    assert store.kept("it", (), never)["x"] == 2.0


def test_the_identity_of_a_scene_holds_all_its_constants_and_its_state() -> None:
    keys = {
        key_of(filling(5)),
        key_of(filling(5, friction=0.3)),
        key_of(filling(5, radius=0.9)),
        key_of(filling(5, width=9.0)),
        key_of(filling(6)),
    }
    lighter, moving = filling(5, gravity=1.62), filling(5)
    moving.linear_velocity[0, 0] = 1.0
    assert len(keys | {key_of(lighter), key_of(moving)}) == 7
    assert key_of(filling(5)) in keys


PLAN = granular.Plan(0.3, 0.01, granular.Effort(1e-3, 200), 5, (0.3, 1.0))


def test_histories_come_back_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(method: granular.Method, plan: granular.Plan = PLAN, friction: float = 0.25) -> granular.History:
        work = work_in(tmp_path)
        work.expect(PLAN.parts - 1)
        found = granular.kept_run(work, filling(5, friction=friction), method, plan)
        work.finish()  # all pieces were reported, also those of a run that was kept
        return found

    first = run(granular.EXACT)
    monkeypatch.setattr(granular, "run_method", never)
    again = run(granular.EXACT)
    for field in fields(granular.History):
        if field.name != "system":
            assert np.array_equal(getattr(first, field.name), getattr(again, field.name)), field.name
    assert granular.numbers(first) == granular.numbers(again)
    assert again.pictures.shape[0] == 2
    assert again.pictures.dtype == np.uint8
    with pytest.raises(AssertionError, match="computed again"):
        run(granular.RELAXED)
    with pytest.raises(AssertionError, match="computed again"):
        run(granular.EXACT, replace(PLAN, duration=0.2))
    with pytest.raises(AssertionError, match="computed again"):
        run(granular.EXACT, friction=0.3)


def test_an_interrupted_experiment_goes_on_after_its_last_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = MelanzScaling.QUICK
    setup = Setup((3, 5), quick.largest, replace(quick.plan, duration=1.0))
    real, done = granular.run_method, []

    def interrupted(*arguments: object) -> granular.History:
        if len(done) == 4:
            raise KeyboardInterrupt
        done.append(arguments)
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(granular, "run_method", interrupted)
    with pytest.raises(KeyboardInterrupt):
        MelanzScaling().run_setup(tmp_path, setup, lambda *_: None)
    again: list[object] = []

    def counted(*arguments: object) -> granular.History:
        again.append(arguments)
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(granular, "run_method", counted)
    summary = MelanzScaling().run_setup(tmp_path, setup, lambda *_: None)
    assert len(again) == len(setup.runs()) - 4
    assert (tmp_path / "summary.json") in summary.files
    assert not (tmp_path / "kept").exists()  # nobody needs it any more


def test_solves_come_back_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, solver = optimal_control(3), shared.methods()["auto"]
    start = np.zeros(problem.size)
    names = ("bert_oc N=3", "y0=(15, 5)", "auto")

    def run(limit: float) -> shared.Outcome:
        return shared.kept_solve(Store(tmp_path), problem, start, solver, limit, names)

    first = run(10.0)
    monkeypatch.setattr(shared, "timed_solve", never)
    again = run(10.0)
    assert again.solved
    assert shared.row(again) == shared.row(first)
    assert [type(value) for value in shared.row(again)] == [type(value) for value in shared.row(first)]
    assert np.array_equal(again.point, first.point)
    with pytest.raises(AssertionError, match="computed again"):
        run(5.0)
