"""Long experiments keep what they have done: an interrupted one goes on, another setup does not use it."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from nonsmooth.complementarity.library import optimal_control
from nonsmooth.experiments.andreani import methods as shared
from nonsmooth.experiments.melanz import scaling
from nonsmooth.experiments.shared import granular, kept_histories, kept_outcomes
from nonsmooth.experiments.shared.kept_work import keep, kept
from nonsmooth.scenes.filling import filling


def never(*_: object, **__: object) -> None:
    raise AssertionError("it was computed again")


def test_a_file_is_read_again_for_the_same_words_and_version_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kept" / "it.npz"
    assert kept(path, "this") is None
    keep(path, "this", {"x": np.arange(3.0), "n": 2})
    found = kept(path, "this")
    assert found is not None
    assert found["x"].tolist() == [0.0, 1.0, 2.0]
    assert int(found["n"]) == 2
    assert kept(path, "that") is None
    with monkeypatch.context() as later:
        later.setattr("nonsmooth.__version__", "999.0")
        assert kept(path, "this") is None
    assert [each.name for each in path.parent.iterdir()] == ["it.npz"]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut off", b"no archive at all"])
def test_a_file_that_is_not_whole_is_computed_again(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "it.npz"
    path.write_bytes(content)
    assert kept(path, "this") is None
    keep(path, "this", {"x": 1.0})
    assert kept(path, "this") is not None


def test_histories_come_back_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    effort = granular.Effort(1e-3, 200)

    def run(method: granular.Method, duration: float = 0.3) -> granular.History:
        pieces = granular.Pieces(lambda *_: None, 5)
        found = kept_histories.kept_run(
            tmp_path, filling(5), method, duration, 0.01, effort, pieces, 5, (0.1, 0.3)
        )
        pieces.finish()  # all pieces were reported, also those of a run that was kept
        return found

    first = run(granular.EXACT)
    monkeypatch.setattr(kept_histories, "run_method", never)
    again = run(granular.EXACT)
    for field in fields(granular.History):
        if field.name not in ("system", "snapshots"):
            assert np.array_equal(getattr(first, field.name), getattr(again, field.name)), field.name
    assert granular.numbers(first) == granular.numbers(again)
    assert len(again.snapshots) == 2
    assert np.array_equal(first.snapshots[1].position, again.snapshots[1].position)
    with pytest.raises(AssertionError, match="computed again"):
        run(granular.RELAXED)
    with pytest.raises(AssertionError, match="computed again"):
        run(granular.EXACT, 0.2)


def test_an_interrupted_experiment_goes_on_after_its_last_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = replace(scaling.QUICK, sizes=(3, 5), duration=1.0)
    real, done = granular.run_method, []

    def interrupted(*arguments: object, **options: object) -> granular.History:
        if len(done) == 4:
            raise KeyboardInterrupt
        done.append(arguments)
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(kept_histories, "run_method", interrupted)
    with pytest.raises(KeyboardInterrupt):
        scaling.run_setup(tmp_path, setup, lambda *_: None)
    again: list[object] = []

    def counted(*arguments: object, **options: object) -> granular.History:
        again.append(arguments)
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(kept_histories, "run_method", counted)
    summary = scaling.run_setup(tmp_path, setup, lambda *_: None)
    assert len(again) == len(setup.runs()) - 4
    assert (tmp_path / "summary.json") in summary.files
    assert not (tmp_path / "kept").exists()  # nobody needs it any more


def test_solves_come_back_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, solver = optimal_control(3), shared.methods()["auto"]
    start = np.zeros(problem.size)
    names = ("bert_oc N=3", "y0=(15, 5)", "auto")

    def run(limit: float) -> shared.Outcome:
        return kept_outcomes.kept_solve(tmp_path, problem, start, solver, limit, names)

    first = run(10.0)
    monkeypatch.setattr(kept_outcomes, "timed_solve", never)
    again = run(10.0)
    assert again.solved
    assert shared.row(again) == shared.row(first)
    assert [type(value) for value in shared.row(again)] == [type(value) for value in shared.row(first)]
    assert np.array_equal(again.point, first.point)
    with pytest.raises(AssertionError, match="computed again"):
        run(5.0)
