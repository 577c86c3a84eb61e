"""Tables, plots and the JSON form: what they show of answers that are known by hand."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console, RenderableType

import nonsmooth as ns
from nonsmooth.cli.terminal import tables
from nonsmooth.cli.terminal.as_json import solution_as_json
from nonsmooth.cli.terminal.plots import FORMATS, history_figure
from nonsmooth.problem.library import by_name
from nonsmooth.solvers import APGD, GaussSeidel, Solver


def shown(renderable: RenderableType) -> str:
    console = Console(width=100, markup=False, highlight=False, no_color=True)
    with console.capture() as capture:
        console.print(renderable)
    return capture.get()


def solved(name: str, solver: Solver | None = None, history: bool = False) -> ns.Solution:
    return ns.solve(by_name(name).build(), solver, history=history)


# ---- tables ---------------------------------------------------------------------------------------------


def test_contacts_by_hand() -> None:
    """γ = W⁻¹(−q) for two contacts that stick; the velocities vanish."""
    problem = ns.ContactProblem(
        delassus=np.diag([2.0, 1.0, 4.0]), free_velocity=[-1.0, 0.125, -2.0], friction=[0.5, 0.0],
        components=[2, 1],
    )  # fmt: skip
    text = shown(tables.contact_table(ns.solve(problem, GaussSeidel())))
    assert re.search(r"# +μ +γ_n +γ_t +u_n +u_t", text)
    first, second = text.splitlines()[-2:]
    assert first.split()[:4] == ["0", "0.5", "0.5", "-0.125"]
    assert second.split()[:3] == ["1", "0", "0.5"]
    assert len(second.split()) == 4  # no tangential cells where there is no friction


def test_joint_rows_by_hand() -> None:
    """Two unit masses on a line, 2 m/s apart, are tied: λ = −1 N·s makes them equally fast."""
    problem = ns.ContactProblem(
        mass=np.eye(2), jacobian=np.zeros((2, 0)), momentum=[2.0, 0.0], friction=[],
        joint_jacobian=np.array([[1.0], [-1.0]]),
    )  # fmt: skip
    row = shown(tables.joint_table(ns.solve(problem))).splitlines()[-1].split()
    assert row[:2] == ["0", "-1"]
    assert abs(float(row[2])) < 1e-8


def test_certificate_names_every_residual_and_the_verdict() -> None:
    certificate = solved("block-slides").certificate
    text = shown(tables.certificate_table(certificate, 1e-8))
    for row in certificate.rows:
        cells = [re.escape(cell) for cell in (row.name, f"{row.absolute:.2e}", row.unit)]
        assert re.search("^" + " +".join(cells), text, re.MULTILINE), row.name
    assert "holds to 1e-08" in text
    assert "does not hold to 1e-300" in shown(tables.certificate_table(certificate, 1e-300))


def test_a_note_of_the_solver_is_reported() -> None:
    solution = solved("sliding-ball")
    noted = dataclasses.replace(solution.statistics, note="picked [by hand]", time=2.5)
    text = shown(tables.solution_report(dataclasses.replace(solution, statistics=noted), 1e-8))
    assert re.search(r"^note +picked \[by hand\]$", text.replace(" \n", "\n"), re.MULTILINE)
    assert re.search(r"^time +2\.50 s", text, re.MULTILINE)


def test_comparison_shows_what_is_missing() -> None:
    rows = [("height", 0.25, 0.2500001, "m", "a note"), ("time", None, math.nan, "s", "")]
    text = shown(tables.comparison_table(rows))
    assert re.search(r"^height +0\.25 +0\.25 +m", text, re.MULTILINE)
    assert re.search(r"^a note", text, re.MULTILINE)
    assert re.search(r"^time +– +nan +s", text, re.MULTILINE)


def test_counted() -> None:
    assert [tables.counted(n, "file") for n in (0, 1, 2)] == ["0 files", "1 file", "2 files"]


# ---- JSON -----------------------------------------------------------------------------------------------


def test_json_has_no_nan() -> None:
    solution = solved("sliding-ball")
    lost = dataclasses.replace(solution, impulses=np.array([np.nan, np.inf]))
    answer = solution_as_json("ball", lost, 1e-8)
    assert answer["impulses"] == [None, None]
    assert set(answer["velocity"]) == {None}
    assert json.loads(json.dumps(answer, allow_nan=False)) == answer


# ---- plots ----------------------------------------------------------------------------------------------


def test_the_figure_draws_the_history() -> None:
    solution = solved("block-slides", solver=APGD(), history=True)
    history = solution.statistics.history
    upper, lower = history_figure("block", solution, 1e-8).axes
    drawn = upper.lines[0].get_xydata()
    np.testing.assert_array_equal(drawn[:, 0], history.iteration)
    positive = history.residual > 0.0
    np.testing.assert_array_equal(drawn[positive, 1], history.residual[positive])
    assert np.all(np.isnan(drawn[~positive, 1]))
    assert upper.get_yscale() == "log"
    np.testing.assert_array_equal(upper.lines[1].get_ydata(), 1e-8)
    np.testing.assert_array_equal(lower.lines[0].get_ydata(), history.objective)


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_figure_can_be_saved_in_every_format(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"history{suffix}"
    history_figure("ball", solved("sliding-ball", history=True), 1e-8).savefig(path)
    assert path.stat().st_size > 1000


def test_matplotlib_waits_for_the_first_figure() -> None:
    code = "import sys, nonsmooth.cli.terminal.plots; assert 'matplotlib' not in sys.modules"
    sources = str(Path(ns.__file__).parent.parent)
    subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {sources!r}); {code}"], check=True)
