"""`nonsmooth problem`: what a problem file holds, and the same problem in another format."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from helpers.command_line import assert_mistake, run
from nonsmooth.io import read_fclib, read_problem, read_start
from nonsmooth.io.problems.formats import FORMATS
from nonsmooth.problem.library import NAMED, shipped_problems


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def facts(name: object) -> dict[str, object]:
    return json.loads(run("problem", name, "--json").stdout)


def test_what_a_file_holds() -> None:
    path = shipped_problems()["random-joints-8"]
    shown = run("problem", path, columns=200).stdout
    for text in (
        "FCLib (HDF5), global",
        "8 of 3 components",
        "joint rows    3",
        "27 impulses",
        "random-joints",
    ):
        assert text in shown
    found = facts(path)
    assert found["contacts_by_components"] == {"3": 8}
    assert found["solution_residual"] < 1e-9
    assert found["words"]["title"].startswith("random-joints")


@pytest.mark.parametrize("name", NAMED)
def test_every_problem_of_the_library_is_described(name: str) -> None:
    found, problem = facts(name), NAMED[name].build()
    assert (found["contacts"], found["joint_rows"]) == (problem.contacts, problem.joint_rows)
    assert found["law"] == str(problem.law)


@pytest.mark.parametrize("name", ["box-stack-i00020-20", "planar-slide-6"])
@pytest.mark.parametrize("form", FORMATS)
def test_every_format_gives_the_problem_back(name: str, form: str) -> None:
    first = read_fclib(shipped_problems()[name])
    result = run("problem", name, "-o", "x.file", "--format", form)
    assert result.exit_code == 0, result.stderr
    assert FORMATS[form].title in result.stdout
    again = read_problem("x.file")
    np.testing.assert_allclose(again.free_velocity, first.problem.free_velocity, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(again.friction, first.problem.friction)
    if form == "siconos":
        assert "Left out" in result.stdout
        assert "the solution" in result.stdout
    else:
        np.testing.assert_array_equal(read_start("x.file"), first.start)
        assert facts("x.file")["solution_residual"] == pytest.approx(
            facts(name)["solution_residual"], abs=1e-9
        )


def test_a_solution_keeps_who_found_it() -> None:
    run("solve", "cube-glides", "--solver", "newton", "--save", "cube.h5")
    run("problem", "cube.h5", "-o", "again.h5")
    assert facts("again.h5")["words"] == {"status stored": "solved", "solver stored": "newton"}


def test_the_name_says_the_format_and_nothing_is_overwritten() -> None:
    assert run("problem", "cube-glides", "-o", "c.dat").exit_code == 0
    assert facts("c.dat")["format"] == "Siconos (text)"
    before = Path("c.dat").read_bytes()
    assert_mistake(run("problem", "cube-rests", "-o", "c.dat"), "exists already: overwrite it with --fresh")
    assert Path("c.dat").read_bytes() == before
    assert run("problem", "cube-rests", "-o", "c.dat", "--fresh").exit_code == 0
    assert Path("c.dat").read_bytes() != before


def test_local_form_and_another_law() -> None:
    assert run("problem", "cube-glides", "-o", "w.hdf5", "--kind", "local").exit_code == 0
    assert facts("w.hdf5")["masses"] is False
    assert run("problem", "sliding-ball-relaxed", "-o", "r.hdf5", "--law", "coulomb").exit_code == 0
    assert facts("r.hdf5")["law"] == "coulomb"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("cube-glide", "did you mean cube-glides"),
        ("cube-glides -o c.txt", r"end the name in one of .*\.h5 \(own\)"),
        ("cube-glides -o c.dat --format sicnos", "did you mean siconos"),
        ("cube-glides -o c.h5 --kind local", "omit kind"),
        ("cube-glides -o c.hdf5 --kind loca", "choose one of global, local"),
        ("cube-glides --fresh", "name it with -o FILE"),
        ("cube-glides -o nowhere/c.h5", "there is no folder nowhere"),
        ("held-on-belt -o h.dat", "5 joint rows, and Siconos text files store contacts only"),
        ("mixed-components -o m.hdf5", "in an FCLib file all have 2, or all 3"),
        ("motor-at-stop -o m.hdf5", "joint rows have bounds"),
    ],
)
def test_mistakes(line: str, sentence: str) -> None:
    assert_mistake(run("problem", *line.split()), sentence)
    assert not list(Path().iterdir())
