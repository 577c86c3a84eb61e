"""The benchmarks still run: they are not timed here, only kept from rotting."""

from __future__ import annotations

import json
import re
import shutil
import sys

import pytest

from helpers.paths import ROOT
from nonsmooth.problem.library import random_problem

FOLDER = ROOT / "benchmarks"


@pytest.fixture(autouse=True)
def _benchmarks_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    for name in (
        "_bench",
        "per_iteration",
        "choose_solver",
        "first_use",
        "joints",
        "complementarity",
        "viewer",
        "impacts",
        "peers",
        "recording",
    ):
        sys.modules.pop(name, None)


def test_cost_of_an_iteration_is_printed_for_every_solver(monkeypatch, capsys):
    import per_iteration

    monkeypatch.setattr(per_iteration, "SIZES", (20,))
    per_iteration.main()
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[2:]]
    assert len(rows) == len(per_iteration.SOLVERS)
    for row in rows:
        measured, touched, bandwidth, bound, ratio = (float(cell) for cell in row[-5:])
        assert bound == pytest.approx(touched / bandwidth, rel=0.02)
        assert ratio == pytest.approx(measured / bound, rel=0.02)


def test_choice_of_a_solver_counts_what_was_solved():
    import choose_solver

    problems = [random_problem(seed, contacts=4) for seed in range(2)]
    for name, solver in choose_solver.SOLVERS.items():
        result = choose_solver.measure(problems, solver, 1e-4)
        assert (result is None) == (name in ("int. point", "lemke"))
        assert result is None or 0 <= result[0] <= 2
    assert choose_solver.measure(problems, choose_solver.SOLVERS["auto"], 1e-4)[0] == 2


def test_impacts_of_random_bodies_are_all_finished(monkeypatch, capsys):
    import impacts

    monkeypatch.setattr(sys, "argv", ["impacts.py", "--scenes", "4"])
    impacts.main()
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[0] for row in rows] == ["newton", "poisson"]
    for row in rows:
        done, groups, left, unfinished = (int(cell) for cell in row[1:5])
        assert done > groups > left >= 0
        assert unfinished == 0


def test_recordings_are_measured_in_every_way(monkeypatch, capsys):
    import recording

    monkeypatch.setattr(sys, "argv", ["recording.py", "--bodies", "30", "--steps", "200"])
    recording.main()
    rows = [
        line.split()
        for line in capsys.readouterr().out.splitlines()
        if line.startswith(tuple(recording.WAYS))
    ]
    assert len(rows) == 2 * len(recording.WAYS)
    for none, planes, *_ in (rows[: len(rows) // 2], rows[len(rows) // 2 :]):
        assert float(none[-2]) == 1.0
        assert 0.3 < float(planes[-2]) < 1.0


def test_first_use_counts_compilations(monkeypatch, tmp_path, capsys):
    import first_use

    assert "ns.simulate(scene" in first_use.first_simulation()
    code = "import numba\nassert numba.njit(lambda x: x + 1)(1) == 2"
    monkeypatch.setattr(first_use, "first_simulation", lambda: code)
    assert 0.1 < first_use.simulate(sys.executable, tmp_path) < 60.0
    assert ", 1 compilations: imports " in re.sub(" +", " ", capsys.readouterr().out)


def test_small_scenes_are_timed_with_their_residuals(capsys):
    import small_scenes

    small_scenes.main(["ball", "stack-5", "pendulum", "--steps", "5", "--repeats", "1"])
    rows = {line.split()[0]: line.split() for line in capsys.readouterr().out.splitlines() if line}
    for name in ("ball", "stack-5", "pendulum"):
        assert float(rows[name][1]) > 0.0
    assert float(rows["ball"][8]) < 1e-4  # ours, whether or not MuJoCo is there
    assert set(small_scenes.SCENES) == {
        "ball", "balls-9", "stack-5", "stack-20", "wall", "pendulum", "chain", "slider-crank", "table",
    }  # fmt: skip


def test_cost_of_joints_is_printed_for_every_scheme(monkeypatch, capsys):
    import joints

    for name, value in {"LINKS": (2, 4), "GRIDS": (1, 2), "STEPS": 5, "LARGE": 5}.items():
        monkeypatch.setattr(joints, name, value)
    joints.main()
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split() for line in lines if line.endswith("%")]
    assert [row[-8:-6] for row in rows] == [["2", "10"], ["4", "20"], ["4", "21"], ["16", "84"]]
    for row in rows:
        assert all(float(cell) > 0.0 for cell in row[-6::2])
        assert all(0 < int(cell[:-1]) <= 100 for cell in row[-5::2])
    exponents = [line.split()[1:] for line in lines if line.startswith("exponent")]
    assert len(exponents) == 2
    assert all(len(row) == len(joints.SCHEMES) for row in exponents)


def test_complementarity_is_measured_by_every_method(monkeypatch, capsys):
    import complementarity

    quick = {"STEPS": (3, 6), "LIMIT": 0.2, "PIVOTING_SIZES": (4, 8), "NAMED_LIMIT": 0.05}
    for name, value in quick.items():
        monkeypatch.setattr(complementarity, name, value)
    few = {name: complementarity.NAMED[name] for name in ("josephy", "transmcp", "block-slides")}
    monkeypatch.setattr(complementarity, "NAMED", few)
    complementarity.main()
    lines = capsys.readouterr().out.splitlines()
    for label in complementarity.methods():
        assert sum(line.startswith(f"{label} ") for line in lines) == 2
    with_quantecon = sum(line.startswith(("definite", "degenerate")) for line in lines) == 4
    assert with_quantecon != any(line.startswith("quantecon is not installed") for line in lines)


def test_every_engine_that_is_installed_fills_the_container(monkeypatch, capsys, tmp_path):
    """Eight spheres, long enough to reach the floor."""
    import peers

    monkeypatch.setattr(peers, "SETTINGS", {name: found[-1:] for name, found in peers.SETTINGS.items()})
    words = ["--spheres", "8", "--steps", "90", "--output", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["peers.py", *words])
    peers.main()
    printed = capsys.readouterr().out
    rows = {row["engine"]: row for row in json.loads((tmp_path / "peers.json").read_text())["runs"]}
    assert "nonsmooth" in rows
    for name, (_, package) in peers.PACKAGES.items():
        assert (name in rows) != (f"{name}: not installed: pip install {package}\n" in printed)
    for name, row in rows.items():
        assert "error" not in row, (name, row)
        assert (row["steps"], row["stopped"]) == (90, "")
        assert row["force_momentum"] > 0.0
    ours = rows["nonsmooth"]
    assert ours["missed"] == 0
    assert ours["residual_end"] < 1e-4
    assert ours["force_container"] == pytest.approx(ours["force_momentum"], abs=1e-9)
    assert (tmp_path / "peers.png").stat().st_size > 10_000


def test_what_the_viewer_takes_is_measured_in_a_browser(monkeypatch, capsys):
    hint = 'the viewer in a browser needs: pip install "nonsmooth[view]" playwright, apt install chromium'
    for package in ("viser", "playwright"):
        pytest.importorskip(package, reason=hint)
    if not (shutil.which("chromium") or shutil.which("google-chrome")):
        pytest.skip(hint)
    import viewer

    monkeypatch.setattr(sys, "argv", ["viewer.py", "--spheres", "20", "--seconds", "1"])
    viewer.main()
    lines = capsys.readouterr().out.splitlines()
    names = (
        "s to open it",
        "ms of the server for a frame",
        "ms of scripts for a frame",
        "pictures in a second",
    )
    for name in names:
        (row,) = (line for line in lines if line.startswith(name))
        assert float(row.split()[-1]) > 0.0
