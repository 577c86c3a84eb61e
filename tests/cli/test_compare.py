"""`nonsmooth compare`: several solvers on one problem, one table and one plot."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import pytest

from helpers import command_line
from nonsmooth.io import write_problem
from nonsmooth.problem.library import NAMED
from nonsmooth.solvers import REGISTRY
from nonsmooth.solvers.equations_of_motion import EquationsOfMotion

run = partial(command_line.run, "compare", columns=100)


def found(*words: str) -> dict:
    result = run(*words, "--json")
    return json.loads(result.stdout)


def test_table_has_a_row_for_every_solver() -> None:
    result = run("cube-glides", "--solvers", "newton,apgd,gauss-seidel", "--tolerance", "1e-10")
    assert result.exit_code == 0, result.stderr
    assert "4 contacts, 0 joint rows, law coulomb, tolerance 1e-10" in result.stdout
    rows = re.findall(r"^(\S+) +solved +(\d+) +\d+\.\d+ m?s +(\d\.\d\de-\d\d)", result.stdout, re.MULTILINE)
    assert [name for name, _, _ in rows] == ["newton", "apgd", "gauss-seidel"]
    assert all(float(residual) <= 1e-10 for _, _, residual in rows)


def test_solvers_that_cannot_take_it_are_shown_with_the_reason() -> None:
    result = run("cube-glides", "--solvers", "newton,lemke,interior-point")
    assert result.exit_code == 0
    assert re.search(r"^lemke +not supported +– +– +–", result.stdout, re.MULTILINE)
    assert re.search(r"^interior-point: interior-point supports relaxed", result.stdout, re.MULTILINE)


def test_all_solvers_are_the_default() -> None:
    answer = found("sliding-ball", "--law", "relaxed")
    assert [row["name"] for row in answer["solvers"]] == list(REGISTRY)
    assert answer["problem"] == {
        "name": "sliding-ball", "contacts": 1, "joint_rows": 0, "law": "relaxed",
    }  # fmt: skip
    status = {row["name"]: row["status"] for row in answer["solvers"]}
    assert status["interior-point"] == "solved"
    assert status["fixed-point"] == "not supported"


def test_json_has_numbers_reasons_and_histories(tmp_path: Path) -> None:
    plot = tmp_path / "plot.png"
    answer = found("mixed-components", "--solvers", "sor-prox,lemke", "-o", str(plot))
    slow, cannot = answer["solvers"]
    assert answer["tolerance"] == 1e-8
    assert slow["solved"]
    assert slow["residual"] <= 1e-8
    assert slow["time"] > 0.0
    assert slow["history"]["iteration"] == list(range(len(slow["history"]["iteration"])))
    assert slow["history"]["residual"][-1] <= 1e-8
    assert slow["history"]["residual"][0] == pytest.approx(1.0)
    assert cannot["status"] == "not supported"
    assert "polyhedral" in cannot["reason"]
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_stored_problems_are_compared_too(tmp_path: Path) -> None:
    stored = tmp_path / "cube.h5"
    write_problem(NAMED["cube-glides"].build(), stored)
    answer = found(str(stored), "--solvers", "newton,apgd")
    assert [row["solved"] for row in answer["solvers"]] == [True, True]


def test_options_of_a_solver_follow_its_name() -> None:
    answer = found(
        "sliding-ball", "--law", "relaxed", "--solvers", "interior-point,interior-point:form=primal"
    )
    notes = [row["note"] for row in answer["solvers"]]
    assert "dual form" in notes[0]
    assert "primal form" in notes[1]


def test_limits_hold_and_nothing_solved_is_exit_code_two() -> None:
    result = run("cube-glides", "--solvers", "apgd", "--max-iterations", "2", "--tolerance", "1e-12")
    assert result.exit_code == 2
    assert re.search(r"^apgd +iteration limit +2 ", result.stdout, re.MULTILINE)


def test_a_solver_that_fails_does_not_hide_one_that_does_not() -> None:
    result = run("cube-glides", "--solvers", "apgd,newton", "--max-iterations", "2", "--tolerance", "1e-12")
    assert result.exit_code == 0
    assert "iteration limit" in result.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("cube-glides", "--solvers", "newton,foo,bar"), "no solver 'foo': choose one of auto, apgd"),
        (("cube-glides", "--solvers", "apgd,newtn"), "no solver 'newtn': did you mean newton?"),
        (
            ("cube-glids", "--solvers", "apgd"),
            "neither a file nor a problem of the library: did you mean cube",
        ),
        (("cube-glides", "--solvers", "newton,newton"), "names newton twice"),
        (("cube-glides", "--solvers", "newton:speed=3"), "solver newton has no option 'speed'"),
        (("no-such-problem",), "neither a file nor a problem of the library"),
        (("cube-glides", "--tolerance", "-1"), "tolerance"),
        (("cube-glides", "-o", "plot.doc"), "must end in one of"),
        (("cube-glides", "-o", "nowhere/plot.png"), "there is no folder"),
    ],
)
def test_mistakes_end_in_one_sentence(words: tuple[str, ...], message: str) -> None:
    result = run(*words, columns=200)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert re.fullmatch(r"Error: [^\n]+\n", result.stderr), result.stderr
    assert message in result.stderr


def test_examples_in_the_help_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(REGISTRY, "eom", EquationsOfMotion)
    write_problem(NAMED["block-slides"].build(), tmp_path / "block.h5")
    help_text = run("--help", columns=80).stdout
    assert max(map(len, help_text.splitlines())) <= 80
    examples = re.findall(r"^ nonsmooth compare (.*?)  ", help_text, re.MULTILINE)
    assert len(examples) == 4
    for line in examples:
        assert run(*line.split()).exit_code == 0, line
    assert (tmp_path / "block.png").exists()
