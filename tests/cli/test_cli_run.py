"""`nonsmooth run` and `nonsmooth inspect`: what they print and keep, exit codes, Ctrl-C and mistakes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import nonsmooth as ns
from helpers.command_line import run
from nonsmooth.cli.scene import find_scene
from nonsmooth.io import write_problem
from nonsmooth.scenes import SCENES, NamedScene

BALL = """
[run]
duration = 0.1
step = 0.01
tolerance = 1e-6

[[bodies]]
name = "ball"
shape = "sphere"
radius = 0.1
mass = 2.0
position = [0.0, 0.0, 0.1]

[[bodies]]
shape = "plane"
"""
SHORT = ("--duration", "0.05", "--step", "0.01")


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ball.toml").write_text(BALL)
    return tmp_path


def answer(*words: str) -> dict:
    result = run("run", *words, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


# ---- what is run ----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("default::nonsmooth.errors.GeometryWarning")
def test_notes_on_geometry_are_one_sentence(in_folder: Path) -> None:
    points = "[[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]"
    (in_folder / "hull.toml").write_text(
        f"[[bodies]]\nname = 'wedge'\nshape = 'hull'\nmass = 1.0\npoints = {points}\n"
    )
    result = run("run", "hull.toml", *SHORT)
    assert result.exit_code == 0, result.output
    assert "Note: body 'wedge': removed from its convex hull: 1 repeated point\n" in result.stderr


def test_a_ready_made_scene_with_parameters() -> None:
    result = run("run", "box-stack", "--set", "boxes=2", "--set", "edge=0.5", *SHORT)
    assert result.exit_code == 0, result.stderr
    assert "box-stack: cubes one upon the other" in result.stdout
    assert "3 bodies, 1 of them fixed; law coulomb, solver auto" in result.stdout
    assert "5 steps of 0.01 s, to t = 0.05 s" in result.stdout
    assert "Certified: every step holds to 0.0001" in result.stdout
    # two cubes of 62.5 kg with their centres at 0.25 m and 0.75 m, at rest on eight corners
    assert re.search(r"^contacts +8 ", result.stdout, re.MULTILINE)
    assert re.search(r"^potential energy +613\.1 +J", result.stdout, re.MULTILINE)
    assert re.search(r"^missed steps +0 ", result.stdout, re.MULTILINE)
    for part in ("motion", "collision", "assembly", "solver"):
        assert re.search(rf"^{part} +\S+ m?s +\d+%", result.stdout, re.MULTILINE), part
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_a_scene_file_brings_its_settings_and_the_command_line_changes_them() -> None:
    settings = answer("ball.toml")["settings"]
    assert (settings["duration"], settings["step"], settings["tolerance"]) == (0.1, 0.01, 1e-6)
    words = ("--duration", "0.04", "--law", "relaxed", "--tolerance", "1e-3", "--solver", "gauss-seidel")
    changed = answer("ball.toml", *words, "--option", "acceleration=none", "--threads", "2")
    settings = changed["settings"]
    assert (settings["duration"], settings["law"], settings["tolerance"]) == (0.04, "relaxed", 1e-3)
    assert (settings["solver"], settings["threads"]) == ("gauss-seidel", 2)
    assert settings["solver_options"]["acceleration"] == "none"
    assert changed["steps"] == 4


def test_without_a_word_about_time_the_defaults_of_the_help_hold() -> None:
    settings = answer("rolling-ball")["settings"]
    assert (settings["duration"], settings["step"]) == (1.0, 0.005)
    text = " ".join(run("run", "--help").stdout.split())
    assert "[scene's, or 1]" in text
    assert "[scene's, or 0.005]" in text


def test_the_answer_is_that_of_simulate() -> None:
    found = answer("rolling-ball", "--set", "speed=1.5", "--duration", "0.2", "--step", "0.01")
    direct = ns.simulate(ns.scenes.rolling_ball(speed=1.5), duration=0.2, step=0.01)
    assert found["end"]["kinetic_energy"] == direct.steps["kinetic_energy"][-1]
    assert found["certificate"]["worst"] == direct.certificate.worst
    assert found["time"] == pytest.approx(0.2)
    # it slides with μ g = 1.962 m/s² and spins up with 2.5 μ g / r
    v, w = 1.5 - 0.2 * 1.962, 0.2 * 2.5 * 1.962
    assert found["end"]["kinetic_energy"] == pytest.approx(0.5 * (v**2 + 0.4 * w**2), rel=1e-3)


def test_values_of_a_scene_are_typed_by_its_parameters() -> None:
    scene = find_scene("box-wall", ["rows=2", "columns=1", "size=0.4,0.2,0.1"])
    np.testing.assert_array_equal(scene.system.shapes.size[0], [0.2, 0.1, 0.05, 0.0])
    scene = find_scene("filling", ["spheres=3", "width=none", "seed=7"])
    np.testing.assert_array_equal(scene.system.position, ns.scenes.filling(3, seed=7).position)


def test_a_run_of_no_time() -> None:
    result = run("run", "ball.toml", "--duration", "0")
    assert result.exit_code == 0
    assert "The run has no steps." in result.stdout
    assert answer("ball.toml", "--duration", "0")["end"] is None


def test_examples_in_the_help_run(in_folder: Path) -> None:
    (in_folder / "my_scene.toml").write_text(BALL)
    lines = re.findall(r"^ (nonsmooth run .*?)  ", run("run", "--help").stdout, re.MULTILINE)
    lines += re.findall(r"^ (nonsmooth inspect .*?)  ", run("inspect", "--help").stdout, re.MULTILINE)
    assert len(lines) == 8
    for line in lines:
        assert run(*line.split()[1:]).exit_code == 0, line


def test_quiet_prints_nothing() -> None:
    run("run", "ball.toml")  # compiles what is not compiled yet, which is announced
    result = run("run", "ball.toml", "--quiet")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_missed_tolerances_are_exit_code_2() -> None:
    words = ("run", "box-stack", *SHORT, "--solver", "apgd", "--max-iterations", "1")
    result = run(*words)
    assert result.exit_code == 2
    assert "5 of 5 steps missed the tolerance 0.0001" in result.stdout
    assert json.loads(run(*words, "--json").stdout)["certified"] is False
    result = run(*words, "--throw", "--record", "r.h5")
    assert (result.exit_code, result.stdout) == (2, "")
    assert re.search(
        r"Error: step 1 ended as 'iteration limit' at a residual of \S+: r\.h5 is kept; continue with "
        "--resume --no-throw, or try another --solver\n", result.stderr
    )  # fmt: skip
    result = run(*words, "--no-throw", "--record", "r.h5", "--resume")
    assert result.exit_code == 2
    assert result.stderr == "r.h5 continues from step 0, t = 0 s\n"
    assert "5 of 5 steps missed the tolerance 0.0001" in result.stdout


# ---- recording ------------------------------------------------------------------------------------------


def test_a_recording_is_kept_and_inspected() -> None:
    result = run("run", "ball.toml", "--record", "ball.h5", "--every", "5")
    assert result.exit_code == 0, result.stderr
    assert "Recorded in ball.h5" in result.stdout
    with ns.Trajectory("ball.h5") as trajectory:
        np.testing.assert_allclose(trajectory.times, [0.0, 0.05, 0.1])
    shown = run("inspect", "ball.h5")
    assert shown.exit_code == 0
    assert "2 bodies, 1 of them fixed; law coulomb, solver auto" in shown.stdout
    assert "10 steps of 0.01 s, to t = 0.1 s\n" in shown.stdout
    assert "3 frames from t = 0 to 0.1 s with position, " in shown.stdout
    # the tables are those that the run itself printed
    tables = result.stdout.split("Certified")[1].split("Wall time")[0]
    assert shown.stdout.split("Certified")[1].rstrip() == tables.rstrip()


def test_frames_at_intervals() -> None:
    assert run("run", "ball.toml", "--record", "ball.h5", "--interval", "0.04").exit_code == 0
    with ns.Trajectory("ball.h5") as trajectory:
        np.testing.assert_allclose(trajectory.times, [0.0, 0.04, 0.08])


def test_a_finished_run_is_made_longer_by_resume_with_the_same_bits() -> None:
    words = ("rolling-ball", "--step", "0.01")
    whole = answer(*words, "--duration", "0.2", "--record", "whole.h5")
    assert answer(*words, "--duration", "0.1", "--record", "parts.h5")["steps"] == 10
    result = run("run", *words, "--duration", "0.2", "--record", "parts.h5", "--resume", "--json")
    assert result.stderr == "parts.h5 continues from step 10, t = 0.1 s\n"
    assert json.loads(result.stdout)["end"] == whole["end"]
    with ns.Trajectory("whole.h5") as first, ns.Trajectory("parts.h5") as second:
        np.testing.assert_array_equal(first.history("position", "ball"), second.history("position", "ball"))


def test_a_finished_run_has_nothing_to_go_on_with() -> None:
    words = ("run", "ball.toml", "--record", "ball.h5")
    assert run(*words).exit_code == 0
    again = run(*words, "--resume")
    assert again.exit_code == 0
    assert again.stderr == (
        "ball.h5 has already reached step 10, t = 0.1 s: give a longer --duration to continue\n"
    )
    assert "10 steps of 0.01 s, to t = 0.1 s" in again.stdout
    assert run(*words, "--resume", "--quiet").stderr == ""


def test_resuming_loses_nothing(in_folder: Path) -> None:
    words = ("run", "ball.toml", "--record", "ball.h5")
    assert run(*words).exit_code == 0
    file, checkpoint = in_folder / "ball.h5", in_folder / "ball.h5.checkpoint"
    before = file.read_bytes(), checkpoint.read_bytes()

    shorter = run(*words, "--resume", "--duration", "0.05")
    assert shorter.exit_code == 1
    assert "ball.h5 has 10 steps already, to t = 0.1 s, and 5 were asked for: give a lon" in shorter.stderr
    assert (file.read_bytes(), checkpoint.read_bytes()) == before

    checkpoint.unlink()
    lost = run(*words, "--resume", "--duration", "0.2")
    assert lost.exit_code == 1
    assert "has 10 steps but no checkpoint to resume from: restore ball.h5.checkpoint beside it, or repl" in (
        lost.stderr
    )
    assert "--fresh in place of --resume" in lost.stderr
    assert file.read_bytes() == before[0]

    nothing = run("run", "ball.toml", "--record", "bal.h5", "--resume")
    assert nothing.exit_code == 1
    assert "there is no recording bal.h5 to resume: omit --resume to start one" in nothing.stderr
    assert not (in_folder / "bal.h5").exists()


def test_a_recording_is_replaced_only_on_demand(in_folder: Path) -> None:
    words = ("run", "ball.toml", "--record", "ball.h5")
    assert run(*words).exit_code == 0
    before = (in_folder / "ball.h5").read_bytes()
    again = run(*words, "--duration", "0.05")
    assert (again.exit_code, again.stdout) == (1, "")
    assert again.stderr == (
        "Error: ball.h5 already holds a run of 10 of 10 steps: continue with --resume, replace it with "
        "--fresh, or name another file\n"
    )
    assert (in_folder / "ball.h5").read_bytes() == before
    both = run(*words, "--resume", "--fresh")
    assert both.exit_code == 1
    assert "--resume continues ball.h5 and --fresh replaces it: give one of them" in both.stderr
    assert run(*words, "--duration", "0.05", "--fresh").exit_code == 0
    with ns.Trajectory("ball.h5") as trajectory:
        assert trajectory.steps.count == 5


def test_fresh_replaces_recordings_only(in_folder: Path) -> None:
    (in_folder / "notes.h5").write_text("my notes")
    result = run("run", "ball.toml", "--record", "notes.h5", "--fresh")
    assert result.exit_code == 1
    assert "notes.h5 is not an HDF5 file" in result.stderr
    assert (in_folder / "notes.h5").read_text() == "my notes"


@pytest.fixture
def pressing(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """A scene in whose first run Ctrl-C is pressed, once or twice, in the step that begins at t = 0.05 s."""
    pressed = []

    def press(t: float, system: ns.System) -> tuple[np.ndarray, None]:
        if t >= 0.05 and not pressed:
            pressed.append(t)
            for _ in range(getattr(request, "param", 1)):
                signal.raise_signal(signal.SIGINT)
        return np.zeros((system.count, 3)), None

    def build() -> ns.System:
        system = ns.scenes.rolling_ball()
        system.add_force_field(press)
        return system

    monkeypatch.setitem(SCENES, "pressing", NamedScene("pressing", "Ctrl-C", build))


@pytest.mark.usefixtures("pressing")
def test_ctrl_c_keeps_the_recording_and_resume_goes_on_with_the_same_bits() -> None:
    words = ("run", "pressing", "--duration", "0.1", "--step", "0.01", "--record", "p.h5")
    handler = signal.getsignal(signal.SIGINT)
    result = run(*words)
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr == (
        "Interrupted after 6 of 10 steps: p.h5 is kept; run the same command with --resume to continue.\n"
    )
    assert signal.getsignal(signal.SIGINT) is handler
    assert "6 steps of 0.01 s, to t = 0.06 s of 0.1 s: unfinished" in run("inspect", "p.h5").stdout
    again = run(*words)  # without --resume it would be lost
    assert again.exit_code == 1
    assert "p.h5 already holds a run of 6 of 10 steps: continue with --resume" in again.stderr
    resumed = run(*words, "--resume")
    assert resumed.exit_code == 0
    assert resumed.stderr == "p.h5 continues from step 6, t = 0.06 s\n"
    straight = ns.simulate(ns.scenes.rolling_ball(), duration=0.1, step=0.01)
    with ns.Trajectory("p.h5") as trajectory:
        assert trajectory.steps.count == 10
        np.testing.assert_array_equal(trajectory.frame(-1).position, straight.system.position)
        np.testing.assert_array_equal(trajectory.steps["residual"], straight.steps["residual"])


@pytest.mark.parametrize("pressing", [2], indirect=True)
@pytest.mark.usefixtures("pressing")
def test_a_second_ctrl_c_breaks_the_step_off_and_what_was_whole_is_kept() -> None:
    words = ("run", "pressing", "--duration", "0.1", "--step", "0.01", "--record", "p.h5")
    result = run(*words)
    assert result.exit_code == 130
    assert result.stderr.startswith("Interrupted after 5 of 10 steps: p.h5 is kept; run the same command")
    resumed = run(*words, "--resume")
    assert resumed.exit_code == 0
    assert resumed.stderr == "p.h5 continues from step 5, t = 0.05 s\n"
    straight = ns.simulate(ns.scenes.rolling_ball(), duration=0.1, step=0.01)
    with ns.Trajectory("p.h5") as trajectory:
        np.testing.assert_array_equal(trajectory.frame(-1).position, straight.system.position)


@pytest.mark.parametrize("pressing", [1, 2], indirect=True)
@pytest.mark.usefixtures("pressing")
def test_what_goes_on_after_ctrl_c_depends_on_the_flags() -> None:
    words = ("run", "pressing", "--duration", "0.1", "--step", "0.01", "--record", "p.h5")
    assert (
        "run the same command with --resume in place of --fresh to continue.\n"
        in run(*words, "--fresh").stderr
    )


@pytest.mark.usefixtures("pressing")
def test_ctrl_c_without_a_recording() -> None:
    result = run("run", "pressing", "--duration", "0.1", "--step", "0.01")
    assert result.exit_code == 130
    assert result.stderr == (
        "Interrupted after 6 of 10 steps: nothing was recorded; give --record FILE to keep results.\n"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGINT")
def test_ctrl_c_in_a_process_of_its_own(in_folder: Path) -> None:
    words = ["run", "filling", "--set", "spheres=30", "--step", "0.001", "--record", "f.h5", "--every", "3"]
    command = [sys.executable, "-m", "nonsmooth", *words, "--duration", "100"]
    source = str(Path(ns.__file__).parent.parent)
    child = subprocess.Popen(
        command, cwd=in_folder, env={**os.environ, "PYTHONPATH": source}, stderr=subprocess.PIPE, text=True
    )
    try:
        deadline = time.monotonic() + 240.0
        while not _recorded_steps():
            assert child.poll() is None, child.communicate()[1]
            assert time.monotonic() < deadline
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        said = child.communicate(timeout=60)[1]
    finally:
        child.kill()
    assert child.returncode == 130
    found = re.search(
        r"Interrupted after (\d+) of 100000 steps: f\.h5 is kept; run the same command with ", said
    )
    assert found, said
    done = int(found[1])
    assert _recorded_steps() == done
    more = run(*words, "--duration", str(0.001 * (done + 5)), "--resume")
    assert more.exit_code == 0, more.stderr
    assert f"f.h5 continues from step {done}, t = {0.001 * done:.6g} s\n" in more.stderr
    straight = ns.simulate(ns.scenes.filling(30), duration=0.001 * (done + 5), step=0.001)
    with ns.Trajectory("f.h5") as trajectory:
        assert trajectory.steps.count == done + 5
        assert trajectory.indices.tolist() == list(range(0, done + 6, 3))
        np.testing.assert_array_equal(trajectory.steps["residual"], straight.steps["residual"])


def _recorded_steps() -> int:
    """Steps that f.h5 shows so far."""
    if not Path("f.h5").exists():
        return 0
    with ns.Trajectory("f.h5") as trajectory:
        return trajectory.steps.count


# ---- joints that open -----------------------------------------------------------------------------------


def test_joints_that_come_apart_are_told_and_exit_code_2() -> None:
    words = ("run", "chain", "--set", "links=40", "--duration", "1")
    result = run(*words, "--scheme", "stabilised", "--step", "0.02", "--record", "c.h5")
    assert result.exit_code == 2
    told = r"Joints opened by \S+ m or rad: choose a shorter --step or another --scheme"
    assert re.search(told, result.stdout), result.stdout
    assert "Certified" not in result.stdout
    assert re.search(told, run("inspect", "c.h5").stdout)
    as_json = json.loads(run(*words, "--scheme", "stabilised", "--step", "0.02", "--json").stdout)
    assert as_json["certified"] is False
    assert as_json["certificate"]["largest_joint_error"] > 0.01


def test_the_chain_holds_as_it_comes() -> None:
    found = answer("chain")
    assert found["settings"]["scheme"] == "rattle"
    assert found["settings"]["step"] == 0.001
    assert found["certificate"]["largest_joint_error"] < 1e-10
    assert answer("chain", "--set", "links=4", "--scheme", "projected")["settings"]["scheme"] == "projected"


# ---- mistakes -------------------------------------------------------------------------------------------

MISTAKES = {
    "run": "Missing argument 'SCENE'",
    "run filing": "'filing' is neither a file nor a ready-made scene: did you mean filling",
    "run xyz": f"neither a file nor a ready-made scene: choose one of {', '.join(SCENES)}",
    "run .": "cannot read .: Is a directory",
    "run wrong.toml": "wrong.toml, line 2, .*'spere' is not known: use one of sphere, box",
    "run ball.toml --set radius=1": "ball.toml is a file: set its values in the file",
    "run filling --set sphere=3": "scene filling has no parameter 'sphere': did you mean spheres",
    "run filling --set spheres": "--set spheres: give it as key=value",
    "run filling --set spheres=2.5": "--set spheres=2.5: '2.5' is not a whole number",
    "run filling --set spheres=0": "spheres is 0: give a whole number, 1 or more",
    "run filling --set spheres=1 --set spheres=2": "--set spheres is given twice",
    "run box-wall --set size=1,2": "--set size=1,2: give 3 numbers",
    "run ball.toml --step 0": "step is 0.0 s: give a positive time step",
    "run ball.toml --step fast": "'fast' is not a number",
    "run ball.toml --duration -1": "duration is -1.0 s: give a time that is not negative",
    "run ball.toml --law viscous": "law 'viscous' is not known",
    "run ball.toml --solver newtn": "no solver 'newtn': did you mean newton",
    "run ball.toml --option omega=1": "solver auto has no option 'omega'",
    "run ball.toml --tolerance 0": "--tolerance 0.0: it must be a positive number",
    "run ball.toml --threads 0": "--threads 0: it must be a whole number, 1 or more",
    "run ball.toml --duration 0.001 --step 1": "step is 1 s, which is longer than the duration of 0.001 s",
    "run ball.toml --every 2": "--every applies to a recording: name its file with --record FILE",
    "run ball.toml --interval 0.1": "--interval applies to a recording",
    "run ball.toml --resume": "--resume applies to a recording",
    "run ball.toml --fresh": "--fresh applies to a recording",
    "run ball.toml --record r.h5 --every 0": "every of a recording is 0",
    "run ball.toml --record r.h5 --every 2 --interval 0.1": "--every and --interval: give one of them",
    "run ball.toml --record no/r.h5": "cannot write no/r.h5: there is no folder no",
    "run ball.toml --record problem.h5": "problem.h5 is an HDF5 file, but not a trajectory",
    "inspect": "Missing argument 'FILE'",
    "inspect xyz.h5": "cannot read xyz.h5: No such file",
    "inspect ball.toml": "ball.toml is not an HDF5 file",
    "inspect problem.h5": "problem.h5 is an HDF5 file, but not a trajectory",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_is_one_sentence(line: str, in_folder: Path) -> None:
    (in_folder / "wrong.toml").write_text('[[bodies]]\nshape = "spere"\n')
    write_problem(ns.problems.by_name("sliding-ball").build(), in_folder / "problem.h5")
    before = (in_folder / "problem.h5").read_bytes()
    result = run(*line.split())
    assert (result.exit_code, result.stdout) == (1, ""), result.stderr
    assert re.fullmatch(r"Error: [^\n]+\n", result.stderr), result.stderr
    assert re.search(MISTAKES[line], result.stderr), result.stderr
    assert (in_folder / "problem.h5").read_bytes() == before
