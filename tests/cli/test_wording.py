"""Mistakes on the command line are answered in its own words: flags, not calls and arguments of Python."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from helpers.command_line import assert_mistake, run
from nonsmooth.cli.wording import in_flags

PYTHON = re.compile(
    r"\w\(\w+=|\bns\.|\w='|\bthrow\b|\b(?:record|resume)=|with_law|write_problem|\b[a-z]+_[a-z]+ is"
)
"""What only a program could write."""

MISTAKES = {
    # an argument of a call
    "solve sliding-ball --tolerance -1": "--tolerance -1.0: it must be a positive number",
    "solve sliding-ball --max-iterations -1": "--max-iterations -1: it must be a whole number",
    "solve sliding-ball --time-limit 0": "--time-limit 0.0: it must be",
    "solve sliding-ball --measure foo": "--measure foo: choose one of",
    "solve sliding-ball --measure both --law relaxed": "--measure both needs Coulomb's law",
    "compare sliding-ball --tolerance 0": "--tolerance 0.0: it must be",
    "complementarity josephy --tolerance 0": "--tolerance 0.0: it must be",
    "run rolling-ball --scheme foo": "--scheme foo: choose one of",
    "run rolling-ball --contact-check foo": "--contact-check foo: choose one of",
    "run rolling-ball --threads 0": "--threads 0: it must be",
    # a number that is named first
    "run rolling-ball --step 0": "--step is 0.0 s",
    "run rolling-ball --duration -1": "--duration is -1.0 s",
    "run rolling-ball --record x.h5 --every 0": "--every of a recording is 0",
    # an option of a solver
    "solve sliding-ball --solver admm --option relaxation=3": "--option relaxation=3.0: it must be below 2",
    "solve sliding-ball --solver admm --option form=foo": "--option form=foo: choose one of",
    "solve w.hdf5 --solver admm --option form=bodies": "use --option form=rows",
    "compare sliding-ball --solvers newton:warm_sweeps=-1": "--option warm_sweeps=-1: it must be",
    "complementarity josephy --solver projected-gauss-seidel --option omega=3": "--option omega=3.0",
    # another law or solver
    "solve sliding-ball --solver interior-point": "--option inner=interior-point, or --law relaxed",
    "complementarity josephy --solver lemke": "use --solver semismooth-newton",
    # files
    "solve sliding-ball --start w.hdf5": "holds no solution|--start has",
    "solve sliding-ball --start plain.h5": "store it with nonsmooth solve --save",
    "solve scene.toml": "give a problem file of nonsmooth, FCLib or Siconos",
    "problem sliding-ball-relaxed -o x.hdf5": "give --law coulomb, or keep the law with --format own",
    "problem w.hdf5 -o x.dat --kind global": "has no masses: choose --kind local",
    "run scene.toml": "or fixed = true",
    "record-problems limited.toml --every 1": "have bounds, .*: keep them with files of our own, from Python",
    "problem motor-at-stop -o x.hdf5": "have bounds, .*: keep them with --format own",
    "run empty.toml": "the scene has no bodies: add ..bodies",
    "run nowhere.toml": "there is no file nowhere.toml: give a scene in TOML",
    # names
    "compare sliding-ball --solvers newtn": "there is no solver 'newtn': did you mean newton",
    "bench . --solvers newtn": "there is no solver 'newtn' for the bench: did you mean newton",
    "experiment melanz-bal": "there is no experiment 'melanz-bal': did you mean melanz-ball",
    "solve sliding-ball --solver newton --option formulatoin=x": "did you mean formulation",
}


LIMITED = """
run = { duration = 0.01, step = 0.005 }
bodies = [
    { shape = "plane" },
    { name = "arm", shape = "sphere", radius = 0.1, mass = 1.0, position = [0.5, 0, 0.1] },
]
joints = [{ name = "pivot", type = "revolute", b = "arm", point = [0, 0, 0.1], axis = [0, 0, 1] }]
motors = [{ joint = "pivot", speed = 1.0, limit = 2.0 }]
"""
"""A scene whose joint has a motor of limited torque."""


@pytest.mark.parametrize("line", MISTAKES)
def test_mistakes_speak_of_flags(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scene.toml").write_text('[[bodies]]\nshape = "sphere"\nradius = 0.1\n')
    Path("empty.toml").write_text("")
    Path("limited.toml").write_text(LIMITED)
    run("problem", "sliding-ball", "-o", "plain.h5")
    run("problem", "random-joints-local-8", "-o", "w.hdf5")
    result = run(*line.split())
    assert_mistake(result, MISTAKES[line])
    assert not PYTHON.search(result.stderr), result.stderr


def test_a_recording_of_another_run_is_answered_in_flags(tmp_path: Path) -> None:
    words = ("run", "rolling-ball", "--duration", "0.02", "--record", tmp_path / "f.h5")
    assert run(*words).exit_code == 0
    assert_mistake(
        run(*words, "--resume", "--law", "relaxed"),
        "resume with the same, or replace the recording with --fresh",
    )
    assert_mistake(run(*words[:3], "0.005", *words[4:], "--resume"), "give a longer --duration")


@pytest.mark.parametrize(
    ("sentence", "ours"),
    [
        ("Newton(largest=-1): it must be positive", "--option largest=-1: it must be positive"),
        ("use problem.with_law('pyramid(8)')", "use --law pyramid(8)"),
        ("simulate(step=0): it must be positive", "step 0: it must be positive"),  # without such a flag
        ("spheres is 0: give 1 or more", "spheres is 0: give 1 or more"),
        ("the time_limit must be positive", "the --time-limit must be positive"),
        ("f_1=2 and W_T(q, t)", "f_1=2 and W_T(q, t)"),
    ],
)
def test_sentences_in_flags(sentence: str, ours: str) -> None:
    assert in_flags(sentence, ("--time-limit", "--law")) == ours
