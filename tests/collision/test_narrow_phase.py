"""Contacts of all pairs of shapes that almost touch, against brute force: nothing may be wrong.

Poses, brute force and judge are shared with `benchmarks/collision.py right`; they use NumPy alone and none of
the package's kernels.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

from helpers.paths import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
try:
    from _narrow import shapes as catalogue
    from _narrow import speed, table
    from _narrow.areas import area
    from _narrow.brute_force import separation
    from _narrow.engines import Coal, MuJoCo, Ours, PyBullet, Unavailable
    from _narrow.judge import Answer, fault
    from _narrow.poses import Shapes, laid, poses, true_contact
finally:
    sys.path.pop(0)

from nonsmooth.model import quaternions

PAIRS = catalogue.pairs()
SOLID = [pair for pair in PAIRS if "half-space" not in pair]


@pytest.fixture(scope="module")
def every() -> Shapes:
    return Shapes()


def _wrong(pair: tuple[str, str], count: int, every: Shapes) -> list[str]:
    judged, wrong = 0, []
    for found in table.findings(pair, count, ("ours",), every):
        judged += 1
        if found.wrong is not None:
            wrong.append(f"{found.pose.label}: {found.wrong}")
    assert judged == count
    return wrong


@pytest.mark.parametrize("pair", PAIRS, ids=" – ".join)
def test_contacts_are_those_of_brute_force(pair, every):
    wrong = _wrong(pair, 15, every)
    assert not wrong, "\n".join(wrong)


@pytest.mark.long
@pytest.mark.parametrize("pair", PAIRS, ids=" – ".join)
def test_contacts_are_those_of_brute_force_at_300_poses(pair, every):
    wrong = _wrong(pair, 300, every)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("pair", catalogue.rounded_pairs(), ids=" – ".join)
def test_contacts_of_rounded_shapes_are_those_of_brute_force(pair, every):
    wrong = _wrong(pair, 6, every)
    assert not wrong, "\n".join(wrong)


# ---- the reference itself -----------------------------------------------------------------------


@pytest.mark.parametrize("pair", SOLID, ids=" – ".join)
def test_no_direction_separates_better_than_that_of_brute_force(pair, every):
    rng = np.random.default_rng(3)
    for pose in poses(pair, 3, every):
        ways = rng.standard_normal((2000, 3))
        near = [pose.truth.normal + 10.0**-k * ways[:200] for k in range(1, 14)]
        trial = np.vstack([ways, *near])
        trial /= np.linalg.norm(trial, axis=1)[:, None]
        p, q = every.placed(pose, 0), every.placed(pose, 1)
        assert separation(p, q, trial).max() <= pose.truth.gap + 5e-15
        assert separation(p, q, pose.truth.normal[None])[0] == pytest.approx(pose.truth.gap, abs=5e-15)


@pytest.mark.parametrize("pair", PAIRS, ids=" – ".join)
def test_features_that_touch_have_no_gap(pair, every):
    """Two spots of convex shapes with opposite normals touch: the gap is 0 by construction."""
    rng = np.random.default_rng(8)
    for first in catalogue.FEATURES[pair[0]]:
        for second in catalogue.FEATURES[pair[1]]:
            variants = rng.integers(catalogue.VARIANTS, size=2)
            cores = [every.core(name, int(k)) for name, k in zip(pair, variants, strict=True)]
            spots = [
                catalogue.spot(name, core, feature, rng)
                for name, core, feature in zip(pair, cores, (first, second), strict=True)
            ]
            turn = quaternions.normalise(rng.standard_normal(4))
            place = laid(*spots, rng.uniform(-1.0, 1.0, 3), turn, float(rng.uniform(0.0, 6.0)))
            assert abs(true_contact(pair, cores, *place).gap) < 1e-14


def test_the_area_of_two_crossed_plates_is_a_square(every):
    """Boxes of 1.7 × 0.9 × 0.11 m, one turned by 90° on the other, share 0.9 × 0.9 m."""
    core = every.core("box", 2)
    pose = next(iter(poses(("box", "box"), 1, every)))
    half = np.sqrt(0.5)
    pose = replace(
        pose,
        variants=(2, 2),
        position=np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.11]]),
        quaternion=np.array([[1.0, 0.0, 0.0, 0.0], [half, 0.0, 0.0, half]]),
    )
    corners = area(every.placed(pose, 0), every.placed(pose, 1), np.array([0.0, 0.0, 1.0]), core.size).corners
    assert sorted(map(tuple, np.round(corners[:, :2], 12))) == [
        (-0.45, -0.45), (-0.45, 0.45), (0.45, -0.45), (0.45, 0.45),
    ]  # fmt: skip


# ---- the judge ----------------------------------------------------------------------------------


def _plates(every: Shapes) -> tuple[object, Answer]:
    """Two crossed plates that touch, and the right answer."""
    half = np.sqrt(0.5)
    pose = next(iter(poses(("box", "box"), 1, every)))
    position = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.11]])
    quaternion = np.array([[1.0, 0.0, 0.0, 0.0], [half, 0.0, 0.0, half]])
    cores = [every.core("box", 2)] * 2
    true = true_contact(("box", "box"), cores, position, quaternion)
    pose = replace(pose, variants=(2, 2), position=position, quaternion=quaternion, truth=true)
    point = np.array([[x, y, 0.055] for x in (-0.45, 0.45) for y in (-0.45, 0.45)])
    return pose, Answer(point, np.tile([0.0, 0.0, 1.0], (4, 1)), np.zeros(4))


def test_the_judge_finds_what_is_wrong(every):
    pose, right = _plates(every)
    assert fault(pose, right, every) is None
    rows = slice(0, 0)
    assert fault(pose, Answer(right.point[rows], right.normal[rows], right.gap[rows]), every) == "no contact"
    assert fault(pose, replace(right, gap=right.gap + 1e-8), every).startswith("gap")
    leaning = right.normal + np.array([1e-7, 0.0, 0.0])
    assert fault(pose, replace(right, normal=leaning), every).startswith("normal off")
    assert fault(pose, replace(right, normal=-right.normal), every).startswith("normal off")
    three = Answer(right.point[:3], right.normal[:3], right.gap[:3])
    assert "span too little" in fault(pose, three, every)
    moved = right.point + np.array([1e-3, 0.0, 0.0])
    assert "off the surface" in fault(pose, replace(right, point=moved), every)
    assert fault(pose, replace(right, gap=np.array([0.0, 0.0, 0.0, np.nan])), every) == "not finite"


@pytest.mark.parametrize("engine", [Coal, MuJoCo, PyBullet])
@pytest.mark.parametrize("pair", [("sphere", "box"), ("half-space", "capsule")], ids=" – ".join)
def test_other_engines_are_asked_the_same(engine, pair, every):
    """Signs and frames: what is easy for all engines is right to 1e-6 of the size."""
    for pose in poses(pair, 5, every):
        shapes = tuple(every.shape(*shape) for shape in zip(pose.names, pose.variants, strict=True))
        try:
            answer = engine(shapes).answer(pose.position, pose.quaternion)
        except Unavailable:
            pytest.skip(f"{engine.__name__} needs: pip install coal mujoco pybullet")
        ours = Ours(shapes).answer(pose.position, pose.quaternion)
        assert answer.gap.min() == pytest.approx(ours.gap.min(), abs=1e-6)
        assert np.allclose(answer.normal[0], ours.normal[0], atol=1e-5)


# ---- the benchmark's commands -------------------------------------------------------------------


def test_the_table_of_wrong_answers_is_printed(capsys):
    table.print_table(2, ("ours", "coal"), [("sphere", "sphere"), ("sphere", "box")], show=1)
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split() == ["sphere", "–", "sphere", "0", "(0)", "0", "(0)"]
    assert lines[5].split() == ["poses", "4", "4"]


def test_the_speed_of_every_case_is_printed(monkeypatch, capsys):
    cases = {name: speed.CASES[name] for name in ("box – box", "cylinder – cylinder")}
    monkeypatch.setattr(speed, "CASES", cases)
    speed.print_table(4, 0.01)
    rows = capsys.readouterr().out.splitlines()[2:]
    assert [row[:28].strip() for row in rows] == list(cases)
    for row in rows:
        assert float(row[28:].split()[0]) > 0.0
