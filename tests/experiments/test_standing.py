"""Arches, card houses and the Kapla tower: the experiments in their quick form."""

from __future__ import annotations

import csv
import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pytest

import nonsmooth as ns
from nonsmooth import experiments
from nonsmooth.experiments.masonry.standing import Building, Standing, compare, failures_of

FILES = {
    "arch": {"arch_25.png", "arch_101.png"},
    "card-house": {"levels_4.png", "levels_5.png"},
    "kapla": {"hulls.png", "boxes.png"},
}
"""Pictures besides `history.png`."""


@pytest.mark.parametrize("name", FILES)
def test_buildings_stand(name: str, tmp_path: Path) -> None:
    from matplotlib.image import imread

    calls: list[tuple[int, int, str]] = []
    summary = experiments.by_name(name).run(tmp_path / name, True, lambda *call: calls.append(call))
    wanted = FILES[name] | {"history.png", "steps.csv", "runs.json", "summary.md", "summary.json"}
    assert {path.name for path in summary.files} == wanted
    assert {path.name for path in (tmp_path / name).iterdir()} == wanted
    done = [call[0] for call in calls]
    assert done == list(range(done[-1] + 1))
    assert {call[1] for call in calls} == {done[-1]}
    assert all(math.isfinite(row.ours) for row in summary.comparisons)
    assert summary.failures == ()
    for path in summary.files:
        if path.suffix == ".png":
            image = imread(path)
            assert min(image.shape[:2]) > 500
            assert image[:, :, :3].std() > 0.05
    with (tmp_path / name / "steps.csv").open(encoding="utf-8") as stream:
        assert len(list(csv.DictReader(stream))) >= 40
    runs = json.loads((tmp_path / name / "runs.json").read_text(encoding="utf-8"))
    assert len(runs) == len(FILES[name])
    for run in runs.values():
        assert run["steps_that_missed_the_tolerance"] == 0
        assert run["largest_residual"] <= 1e-8
        # All contacts are closed at the start and balanced: nothing moves but by rounding.
        assert run["largest_displacement_m"] < 1e-6
        assert run["error_of_the_carried_weight"] < 1e-5
        assert run["contacts_checked"] > 0
        assert run["steps_with_wrong_contacts"] == 0
        assert run["missing_contacts"] == 0


def failing(missed: int, wrong: int, moved: float) -> Standing:
    """A run of ten steps, of which the first ones missed the tolerance and the last had wrong contacts."""
    run = ns.simulate(ns.scenes.box_stack(2), duration=0.1, step=0.01, tolerance=1e-8, contact_check="all")
    table = run.steps.table()
    names = list(run.steps)
    table[:missed, names.index("residual")] = 1e-3
    table[:missed, names.index("solved")] = 0.0
    table[10 - wrong :, names.index("wrong_contacts")] = 1.0
    table[10 - wrong :, names.index("solved")] = 0.0
    run.steps.restore(table)
    certificate = type(run.certificate).of(run.steps, 1e-8)
    building = Building("stack", "stack", ns.scenes.box_stack, 0.01, 1e-8)
    return Standing(
        building,
        run.system,
        dataclasses.replace(run, certificate=certificate),
        np.array([moved]),
        0.0,
        np.zeros((1, 1, 3), dtype=np.uint8),
    )


def test_what_failed_is_told_apart() -> None:
    """A wrong contact is no missed tolerance, and a step may have both."""
    each = failing(missed=0, wrong=3, moved=0.0)
    assert (each.run.certificate.missed, each.run.certificate.failed) == (0, 3)
    assert "10 of 10 steps within 1e-08" in str(each.run.certificate)
    assert [row.ours for row in compare(each) if row.reference == 0.0] == [0.0, 3.0]
    assert failures_of(each) == ["stack: the contacts of 3 of 10 steps did not pass their check"]
    each = failing(missed=9, wrong=3, moved=0.2)
    assert (each.run.certificate.missed, each.run.certificate.failed) == (9, 10)
    assert [row.ours for row in compare(each) if row.reference == 0.0] == [9.0, 3.0]
    said = failures_of(each)
    assert len(said) == 3
    assert said[0].startswith("stack: 9 of 10 steps missed the tolerance 1e-08")
    assert said[2] == "stack: it does not stand, a body moved by 0.2 m"
