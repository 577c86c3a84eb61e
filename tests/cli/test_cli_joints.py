"""Scenes with joints on the command line: `run`, `inspect` and `record-problems`."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import nonsmooth as ns
from helpers import command_line
from nonsmooth.io.problems.fclib import read_fclib
from nonsmooth.problem.certificate import certify

run = partial(command_line.run, columns=100)

PENDULUM = """
[run]
duration = 0.1
step = 0.005

[[bodies]]
shape = "plane"

[[bodies]]
name = "bob"
shape = "sphere"
radius = 0.1
mass = 2.0
position = [1.0, 0.0, 1.0]

[[joints]]
type = "revolute"
name = "pin"
b = "bob"
point = [0.0, 0.0, 1.0]
axis = [0.0, 1.0, 0.0]
"""
CART = """
[run]
duration = 0.1
step = 0.01

[[bodies]]
shape = "plane"

[[bodies]]
name = "left"
shape = "sphere"
radius = 0.1
mass = 1.0
position = [0.0, 0.0, 0.1]

[[bodies]]
name = "right"
shape = "sphere"
radius = 0.1
mass = 1.0
position = [1.0, 0.0, 0.1]
velocity = [0.0, 1.0, 0.0]

[[joints]]
type = "distance"
name = "rod"
a = "left"
b = "right"
anchor_a = [0.0, 0.0, 0.0]
anchor_b = [0.0, 0.0, 0.0]
"""
APART = PENDULUM.replace("position = [1.0, 0.0, 1.0]", "position = [1.02, 0.0, 1.0]").replace(
    "point = [0.0, 0.0, 1.0]\naxis = [0.0, 1.0, 0.0]",
    "anchor_a = [0.0, 0.0, 1.0]\nanchor_b = [-1.0, 0.0, 0.0]\n"
    "axis_a = [0.0, 1.0, 0.0]\naxis_b = [0.0, 1.0, 0.0]",
)


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"pendulum": PENDULUM, "cart": CART, "apart": APART}.items():
        (tmp_path / f"{name}.toml").write_text(text)
    return tmp_path


def row(output: str, name: str) -> list[str]:
    """The words of a row of a table after its name."""
    return next(line for line in output.splitlines() if line.startswith(name)).removeprefix(name).split()


def test_the_summary_shows_joints_scheme_and_error() -> None:
    result = run("run", "pendulum.toml", "--record", "run.h5")
    assert result.exit_code == 0
    assert "2 bodies, 1 of them fixed; 1 joint; law coulomb, solver auto, scheme stabilised" in result.stdout
    scene = ns.io.read_scene("pendulum.toml")
    wanted = ns.simulate(scene.system, duration=0.1, step=0.005).steps["joint_error"].max()
    assert row(result.stdout, "joint error")[:3] == [f"{wanted:.2e}", "m,", "rad"]
    assert wanted > 1e-9  # the stabilised scheme leaves a little
    shown = run("inspect", "run.h5").stdout
    assert row(shown, "joint error") == row(result.stdout, "joint error")
    assert "1 joint" in shown


def test_without_joints_nothing_is_said_of_them() -> None:
    result = run("run", "rolling-ball", "--duration", "0.05", "--step", "0.01")
    assert "joint" not in result.stdout
    assert "scheme" not in result.stdout


@pytest.mark.parametrize("scheme", ["projected", "rattle"])
def test_scheme_is_handed_on(scheme: str) -> None:
    result = run("run", "pendulum.toml", "--scheme", scheme, "--json")
    answer = json.loads(result.stdout)
    assert answer["settings"]["scheme"] == scheme
    assert answer["end"]["joint_error"] < 1e-10


def test_the_scheme_of_the_file_holds_unless_the_command_line_says_otherwise(in_folder: Path) -> None:
    (in_folder / "own.toml").write_text(PENDULUM.replace("[run]", '[run]\nscheme = "rattle"'))
    for words, scheme in (((), "rattle"), (("--scheme", "projected"), "projected")):
        result = run("run", "own.toml", *words, "--json")
        assert json.loads(result.stdout)["settings"]["scheme"] == scheme


def test_a_wrong_scheme_is_one_sentence() -> None:
    result = run("run", "pendulum.toml", "--scheme", "verlet")
    assert result.exit_code == 1
    assert "verlet" in result.stderr
    assert "stabilised, projected" in result.stderr.replace("\n", " ")


def test_a_file_can_ask_for_assembling(in_folder: Path) -> None:
    result = run("run", "apart.toml")
    assert result.exit_code == 1
    assert "joint 'pin' is open by 0.02 m" in result.stderr
    (in_folder / "closed.toml").write_text(APART.replace("[run]", "[run]\nassemble = true"))
    result = run("run", "closed.toml", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["end"]["joint_error"] < 1e-3


def test_a_run_with_joints_goes_on_with_the_same_bits(in_folder: Path) -> None:
    (in_folder / "closed.toml").write_text(APART.replace("[run]", "[run]\nassemble = true"))
    run("run", "closed.toml", "--duration", "0.2", "--record", "whole.h5")
    run("run", "closed.toml", "--duration", "0.1", "--record", "half.h5")
    result = run("run", "closed.toml", "--duration", "0.2", "--record", "half.h5", "--resume")
    assert result.exit_code == 0, result.stderr
    with ns.Trajectory("whole.h5") as whole, ns.Trajectory("half.h5") as half:
        assert np.array_equal(whole.history("position", "bob"), half.history("position", "bob"))


def test_inspect_says_that_there_are_reactions() -> None:
    system = ns.io.read_scene("pendulum.toml").system
    ns.simulate(system, duration=0.02, step=0.01, record=ns.Recording("run.h5", joints=True))
    assert "contacts, reactions" in " ".join(run("inspect", "run.h5").stdout.split())


# ---- record-problems ------------------------------------------------------------------------------------


def test_joint_rows_are_in_the_problems() -> None:
    result = run("record-problems", "cart.toml", "--every", "4", "--with-solutions", "--tolerance", "1e-8")
    assert result.exit_code == 0, result.stderr
    files = sorted(Path("problems").glob("*.hdf5"))
    assert [file.name for file in files] == ["cart-i00004-2.hdf5", "cart-i00008-2.hdf5"]
    for file in files:
        stored = read_fclib(file)
        assert stored.problem.joint_rows == 1
        assert stored.info.math_info.startswith("2 contacts, 1 joint row, 3 bodies")
        assert "a joint row's its error" in stored.info.description
        found = stored.solution
        assert found is not None
        assert found.joint_impulses is not None
        certificate = certify(
            stored.problem, found.impulses, found.joint_impulses, found.generalised_velocity
        )
        assert certificate.residual < 1e-7


def test_problems_of_the_projected_scheme_say_so() -> None:
    run("record-problems", "cart.toml", "--every", "5", "--scheme", "projected", "--limit", "1")
    stored = read_fclib(next(Path("problems").glob("*.hdf5")))
    assert "corrected after the step" in stored.info.description


def test_what_was_not_solved_is_a_guess_with_joint_impulses() -> None:
    result = run(
        "record-problems", "cart.toml", "--every", "5", "--limit", "1", "--with-solutions",
        "--solver", "apgd", "--max-iterations", "1", "--tolerance", "1e-12",
    )  # fmt: skip
    assert result.exit_code == 2, result.stderr
    stored = read_fclib(next(Path("problems").glob("*.hdf5")))
    assert stored.solution is None
    assert len(stored.guesses) == 1
    assert stored.guesses[0].joint_impulses is not None


def test_bounded_rows_are_refused_in_one_sentence(in_folder: Path) -> None:
    (in_folder / "rope.toml").write_text(
        CART + '\n[[joints]]\ntype = "strut"\nname = "rope"\nb = "right"\n'
        'point_a = [1.0, 1.0, 0.1]\nanchor_b = [0.0, 0.0, 0.0]\n[[limits]]\njoint = "rope"\nupper = 2.0\n'
    )
    result = run("record-problems", "rope.toml", "--every", "5")
    assert result.exit_code == 1
    assert "joint rows have bounds, which FCLib files do not store" in " ".join(result.stderr.split())


def test_run_records_reactions(tmp_path: Path) -> None:
    scene, file = tmp_path / "pendulum.toml", tmp_path / "pendulum.h5"
    scene.write_text(PENDULUM)
    result = run("run", str(scene), "--record", str(file), "--reactions", "--quiet")
    assert result.exit_code == 0, result.output
    with ns.Trajectory(file) as trajectory:
        force, _ = trajectory.reactions(-1).of("pin")
        assert np.linalg.norm(force) > 1.0
    assert "--record FILE" in run("run", str(scene), "--reactions").output
