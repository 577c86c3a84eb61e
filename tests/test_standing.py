"""Arches, card houses and the Kapla tower: the experiments in their quick form."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import pytest

from nonsmooth import experiments

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
