"""The ball and the boxes of TR-2014-11 §5.3 to §5.5, against closed forms worked out here."""

from __future__ import annotations

import csv
import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

from nonsmooth.experiments.mazhar import dynamics as experiment
from nonsmooth.experiments.mazhar.dynamics import CASES, Case, follow, order_of
from nonsmooth.experiments.mazhar.models import (
    EOM,
    MODELS,
    Dual,
    DualRelaxed,
    EOMRelaxed,
    Primal,
    PrimalRelaxed,
)

BALL, BOX, FROM_REST, TO_REST = CASES


def test_closed_forms_are_those_of_the_textbook() -> None:
    assert BALL.sliding_ends == pytest.approx(0.291, abs=5e-4)
    assert BALL.closed_form(np.array([1.0]))[1][0] == pytest.approx(5.0 / 7.0 * 2.0)
    assert BALL.closed_form(np.array([1.0]))[2][0] == pytest.approx(5.0 / 7.0 * 2.0)  # rolls, R = 1 m
    assert BOX.stop_distance == pytest.approx(4.0 / (2.0 * 0.3 * 9.81))
    assert BOX.closed_form(np.array([5.0]))[0][0] == pytest.approx(BOX.stop_distance)
    sine, cosine = math.sin(math.radians(65.0)), math.cos(math.radians(65.0))
    assert FROM_REST.closed_form(np.array([2.0]))[0][0] == pytest.approx(2.0 * 9.81 * (sine - 0.2 * cosine))
    sine, cosine = math.sin(math.radians(25.0)), math.cos(math.radians(25.0))
    assert TO_REST.stop_distance == pytest.approx(4.0 / (2.0 * 9.81 * (0.6 * cosine - sine)))


@pytest.mark.parametrize("kind", [Primal, Dual, EOM])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_exact_models_follow_the_closed_form(case: Case, kind: type) -> None:
    step = 0.02
    track = follow(dataclasses.replace(case, duration=0.4), kind(), step)
    position, speed, spin = track.errors
    # the velocity is right to the solver's tolerance; the position lags by ½ a h t, which is first order
    assert position == pytest.approx(
        0.5 * abs(case.acceleration) * step * min(0.4, case.sliding_ends), rel=0.05
    )
    assert speed < 1e-9
    assert spin < 1e-9
    assert np.abs(track.height).max() < 1e-12


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_halving_the_step_halves_the_error(case: Case) -> None:
    coarse, fine = (follow(case, Dual(), step) for step in (0.02, 0.01))
    assert order_of(coarse, fine) == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("kind", [PrimalRelaxed, DualRelaxed, EOMRelaxed])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_relaxed_models_lift_off_as_fast_as_worked_out_by_hand(case: Case, kind: type) -> None:
    track = follow(dataclasses.replace(case, duration=0.04), kind(), 0.01)
    assert track.lift[1] == pytest.approx(case.relaxed_lift(0.01), abs=1e-9)
    assert track.height.max() > 1e-4


def test_box_at_rest_does_not_creep() -> None:
    slow = dataclasses.replace(TO_REST, speed=0.1)  # stops after 0.084 s
    for kind in (Primal, Dual, EOM):
        track = follow(slow, kind(), 0.01, duration=1.2)
        since, moved = track.moved_at_rest
        assert since[-1] > 1.0
        assert track.drift == moved.max() < 1e-13


def test_a_box_that_moves_at_the_end_is_not_called_at_rest() -> None:
    track = follow(FROM_REST, Dual(), 0.02, duration=0.1)
    assert math.isnan(track.drift)


def test_run_writes_tables_figures_and_summary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    durations = (0.4, 0.1, 0.1, 0.1)
    short = [
        dataclasses.replace(case, duration=length) for case, length in zip(CASES, durations, strict=True)
    ]
    short[-1] = dataclasses.replace(short[-1], speed=0.05)
    monkeypatch.setattr(experiment, "CASES", tuple(short))
    monkeypatch.setattr(experiment, "REST", 0.2)
    calls: list[tuple[int, int, str]] = []
    summary = experiment.MazharDynamics().run(tmp_path, True, lambda *call: calls.append(call))
    assert [done for done, _, _ in calls] == sorted(done for done, _, _ in calls)
    assert calls[-1][0] == calls[-1][1] == 44
    names = {path.name for path in summary.files}
    assert names == {
        "tracks.csv", "errors.csv", "ball.png", "box.png", "incline_from_rest.png", "incline_to_rest.png",
        "order.png", "rest.png", "summary.md", "summary.json",
    }  # fmt: skip
    assert all(path.stat().st_size > 0 for path in summary.files)
    with (tmp_path / "errors.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["model"] for row in rows} == {kind.label for kind in MODELS}
    assert all(float(row["residual"]) <= experiment.TOLERANCE for row in rows)
    ours = {row.quantity: row.ours for row in summary.comparisons}
    assert ours["ball rolls from, EOM"] == pytest.approx(BALL.sliding_ends, abs=1e-9)
    assert ours["creep at rest, Dual"] < 1e-12
    assert ours["box on plane: largest distance between exact models"] < 1e-10
