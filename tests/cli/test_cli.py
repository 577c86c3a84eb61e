"""The `nonsmooth` command: what it prints, what it keeps, its exit codes, and how it takes mistakes."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import nonsmooth
from helpers.command_line import SOURCES, assert_mistake, run, run_process
from nonsmooth._support import kernel_cache
from nonsmooth._support.progress import Progress
from nonsmooth.cli import main
from nonsmooth.cli.commands import solve as solve_command
from nonsmooth.cli.solver import solver_with
from nonsmooth.experiments import REGISTRY as EXPERIMENTS
from nonsmooth.experiments import Comparison, Experiment, Summary
from nonsmooth.io import read_problem, read_start, write_problem
from nonsmooth.problem import ContactProblem
from nonsmooth.problem.library import NAMED
from nonsmooth.scenes import SCENES
from nonsmooth.solvers import REGISTRY as SOLVERS
from nonsmooth.solvers import Solver

# ---- help and lists -------------------------------------------------------------------------------------


COMMANDS = tuple(main.FILES)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command_has_examples(command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "Examples" in result.stdout
    assert f"nonsmooth {command}" in result.stdout
    assert "…" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_examples_in_the_help_of_solve_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"^ (nonsmooth solve .*?)  ", run("solve", "--help").stdout, re.MULTILINE)
    assert len(examples) == 6
    for line in examples:
        assert run(*line.split()[1:]).exit_code == 0, line


@pytest.mark.parametrize("words", [(), *((command,) for command in COMMANDS)])
def test_the_flag_for_help_has_no_type(words: tuple[str, ...]) -> None:
    (line,) = re.findall(r"^.*--help .*$", run(*words, "--help").stdout.split("Examples")[0], re.MULTILINE)
    assert " ".join(line.strip("│ ").split()) == "--help -h Show this message and exit."


def test_without_a_command_there_is_help() -> None:
    for words in ([], ["--help"], ["-h"]):
        result = run(*words)
        assert result.exit_code == 0
        assert all(
            command in result.stdout for command in ("list", "solve", "experiment", "info", "Examples")
        )


def test_version() -> None:
    assert run("--version").stdout == f"nonsmooth {nonsmooth.__version__}\n"


def test_list_names_everything() -> None:
    shown = run("list").stdout
    for name in (*SCENES, *EXPERIMENTS, *SOLVERS, *NAMED):
        assert re.search(rf"^{re.escape(name)} ", shown, re.MULTILINE), name
    assert max(map(len, shown.splitlines())) <= 80


def test_list_of_one_section() -> None:
    scenes = run("list", "scenes").stdout
    assert "--set spheres, radius, mass" in scenes
    assert "gauss-seidel" not in scenes
    solvers = run("list", "solvers").stdout
    assert "gauss-seidel" in solvers
    assert "coulomb, relaxed; joints" in solvers
    assert "sliding-ball" not in solvers
    assert "sliding-ball" in run("list", "problems").stdout
    assert run("list", "experiments").stdout == run("experiment").stdout


# ---- solve ----------------------------------------------------------------------------------------------


def test_solve_prints_the_answer() -> None:
    result = run("solve", "sliding-ball", "--solver", "gauss-seidel")
    assert result.exit_code == 0
    assert "sliding-ball: a ball that slides on a plane, exact law" in result.stdout
    assert "1 contact, no joints, law coulomb" in result.stdout
    assert "Solved: The certificate holds to the requested tolerance." in result.stdout
    assert re.search(r"^solver +gauss-seidel", result.stdout, re.MULTILINE)
    assert re.search(r"^momentum balance +\d\.\d\de[-+]\d\d +N·s +\d", result.stdout, re.MULTILINE)
    assert re.search(r"^verdict .* holds to 1e-08", result.stdout, re.MULTILINE)
    # γ = (0.0981, −0.01962) and u = (0, 2 − 3.5·0.01962) by hand: see the library
    row = re.search(r"^0 +0\.2 +0\.0981 +-0\.01962 +(\S+) +1\.9313", result.stdout, re.MULTILINE)
    assert row
    assert abs(float(row[1])) < 1e-8


def test_json_holds_the_whole_answer() -> None:
    result = run("solve", "block-slides", "--json", "--solver", "newton", "--tolerance", "1e-12")
    answer = json.loads(result.stdout)
    assert result.exit_code == 0
    assert answer["solved"] is True
    assert answer["problem"]["contacts"] == 2
    assert answer["problem"]["law"] == "coulomb"
    assert answer["residual"] <= answer["tolerance"] == 1e-12
    assert answer["certificate"]["natural map"]["unit"] == "N·s"
    np.testing.assert_allclose(answer["impulses"], NAMED["block-slides"].impulses, rtol=1e-10)
    np.testing.assert_allclose(answer["velocity"], NAMED["block-slides"].velocity, atol=1e-10)


def test_json_has_null_where_nothing_is_known(tmp_path: Path) -> None:
    problem = ContactProblem(delassus=np.eye(2), free_velocity=[-1.0, 1.0], friction=[0.2])
    write_problem(problem, tmp_path / "w.h5")
    assert json.loads(run("solve", str(tmp_path / "w.h5"), "--json").stdout)["velocity"] is None


def test_law_and_solver_options() -> None:
    words = ("solve", "sliding-ball", "--law", "relaxed", "--json", "--solver", "sor-prox")
    answer = json.loads(run(*words, "--option", "omega=0.9", "--option", "strategy=row-sum").stdout)
    assert answer["problem"]["law"] == "relaxed"
    np.testing.assert_allclose(answer["impulses"], NAMED["sliding-ball-relaxed"].impulses, rtol=1e-6)


def test_options_are_typed_by_the_solvers_fields() -> None:
    apgd = solver_with("apgd", ["anti_relaxation=yes"])
    assert apgd == SOLVERS["apgd"](anti_relaxation=True)
    assert solver_with("apgd", ["anti-relaxation=none"]) == SOLVERS["apgd"]()
    assert solver_with("gauss-seidel", ["threads=7"]) == SOLVERS["gauss-seidel"](threads=7)
    assert solver_with("sor-prox", ["r=0.5"]) == SOLVERS["sor-prox"](r=0.5)
    assert solver_with("jor-prox", ["r=1,2"]) == SOLVERS["jor-prox"](r=[1.0, 2.0])
    inner = SOLVERS["interior-point"]()
    assert solver_with("fixed-point", ["inner=interior-point"]) == SOLVERS["fixed-point"](inner=inner)


def test_every_option_of_every_solver_can_be_given_as_text() -> None:
    for name, solver in SOLVERS.items():
        default = solver()
        for field in dataclasses.fields(solver):
            value = getattr(default, field.name)
            text = value.name if isinstance(value, Solver) else str(value)
            assert solver_with(name, [f"{field.name}={text}"]) == default, f"{name} {field.name}"


def test_unsolved_is_exit_code_2_and_the_answer_so_far_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "block.h5"
    words = ("--solver", "gauss-seidel", "--max-iterations", "3", "--save", str(path))
    result = run("solve", "block-slides", *words)
    assert result.exit_code == 2
    assert "Iteration limit: " in result.stdout
    assert "does not hold to 1e-08" in result.stdout
    assert f"Problem and solution written to {path}" in result.stdout
    assert read_problem(path).contacts == 2
    assert np.any(read_start(path) != 0.0)
    assert run("solve", str(path), "--start", str(path)).exit_code == 0


def test_a_stored_solution_is_a_warm_start(tmp_path: Path) -> None:
    path = str(tmp_path / "ball.h5")
    assert run("solve", "sliding-ball", "--tolerance", "1e-12", "--save", path).exit_code == 0
    again = json.loads(run("solve", path, "--start", path, "--json").stdout)
    assert again["solved"] is True
    assert again["iterations"] == 0


def test_time_limit() -> None:
    words = ("--solver", "jor-prox", "--tolerance", "1e-300", "--max-iterations", "1000000")
    result = run("solve", "block-sticks", *words, "--time-limit", "1e-9")
    assert result.exit_code == 2
    assert "Time limit: " in result.stdout


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_plot(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"history.{suffix}"
    result = run("solve", "block-opens", "--solver", "apgd", "--plot", str(path))
    assert result.exit_code == 0
    assert f"Plot written to {path}" in result.stdout
    start = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}[suffix]
    assert path.read_bytes().startswith(start)


def test_wide_answers_fit_into_80_columns(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    bodies = [[-1, k % 4] for k in range(10)]
    problem = ContactProblem(
        mass=np.ones((4, 6)), jacobian=rng.normal(size=(10, 2, 3, 6)), bodies=bodies,
        friction=rng.uniform(0.1, 1.0, 10), components=[3, 2, 3, 3, 3, 3, 3, 3, 3, 3],
        momentum=-1e-4 * rng.normal(size=24),
        joint_jacobian=rng.normal(size=(1, 2, 6)), joint_bodies=[[0, 1]],
    )  # fmt: skip
    write_problem(problem, tmp_path / "p.h5")
    shown = run("solve", str(tmp_path / "p.h5"), "--max-iterations", "5").stdout
    lines = shown.split("Certificate\n")[1].splitlines()
    assert max(map(len, lines)) <= 80
    assert "…" not in shown
    assert "10 contacts, 1 joint row, law coulomb" in shown
    assert sum(bool(re.match(r"\d +0\.\d+ +\S+ +\S+ +\S+", line)) for line in lines) == 10


def test_large_problems_print_the_certificate_only(tmp_path: Path) -> None:
    problem = ContactProblem(delassus=np.eye(11), free_velocity=-np.ones(11), friction=0.0, components=1)
    write_problem(problem, tmp_path / "p.h5")
    shown = run("solve", str(tmp_path / "p.h5")).stdout
    assert "11 contacts" in shown
    assert "γ_n" not in shown


# ---- mistakes -------------------------------------------------------------------------------------------

MISTAKES = {
    "slove": "no command 'slove': did you mean solve",
    "fly": "no command 'fly': choose one of run, export, inspect, render, view, bench, compare, ",
    "--dbug": "nonsmooth has no option --dbug: did you mean --debug",
    "solve": "Missing argument 'PROBLEM'",
    "solve sliding-bal": "'sliding-bal' is neither a file nor a problem .* did you mean sliding-ball",
    "solve xyz.h5": "there is no file xyz.h5: give a problem file",
    "solve .": "cannot read .: it is a folder",
    f"solve {__file__}": "is not an HDF5 file",
    "solve sliding-ball again": "extra argument",
    "solve sliding-ball --tolerence 1": "solve has no option --tolerence: did you mean --tolerance",
    "solve sliding-ball --bogus": "no option --bogus: choose one of --solver, --option, --law",
    "solve sliding-ball --tolerance tiny": "--tolerance'?: 'tiny' is not a number",
    "solve sliding-ball --tolerance": "--tolerance.* requires an argument",
    "solve sliding-ball --tolerance 0": "--tolerance 0.0: it must be a positive number",
    "solve sliding-ball --max-iterations 1.5": "'1.5' is not a whole number",
    "solve sliding-ball --time-limit -1": "--time-limit -1.0: it must be a positive number",
    "solve sliding-ball --law viscous": "law 'viscous' is not known: use one of coulomb",
    "solve sliding-ball --solver newtn": "no solver 'newtn': did you mean newton",
    "solve sliding-ball --solver quantum": "no solver 'quantum': choose one of auto, apgd",
    "solve sliding-ball --solver sor-prox --option omga=1": "no option 'omga': did you mean omega",
    "solve sliding-ball --solver sor-prox --option omega": "give it as key=value",
    "solve sliding-ball --solver sor-prox --option omega=big": "omega=big: 'big' is not a number",
    "solve sliding-ball --solver sor-prox --option omega=-1": "omega=-1.0.*must be a positive number",
    "solve sliding-ball --solver sor-prox --option order=odd": "--option order=odd: choose one of contact",
    "solve sliding-ball --solver sor-prox --option omega=1 --option omega=2": "omega is given twice",
    "solve sliding-ball --solver gauss-seidel --option threads=2.5": "'2.5' is not a whole number",
    "solve sliding-ball --solver apgd --option anti_relaxation=perhaps": "give true or false",
    "solve sliding-ball --solver fixed-point --option inner=x": "no solver 'x'",
    "solve sliding-ball --solver interior-point": "interior-point supports relaxed problems",
    "solve sliding-ball --start xyz.h5": "cannot read xyz.h5: No such file",
    "solve sliding-ball --save xyz/p.h5": "cannot write xyz/p.h5: there is no folder xyz",
    "solve sliding-ball --plot p.doc": "must end in one of .png, .pdf, .svg",
    "list everything": "no section 'everything' to list: choose one of scenes",
    "experiment melans-ball": "no experiment 'melans-ball': did you mean melanz-ball",
    "experiment ball": "no experiment 'ball': did you mean melanz-ball or bouncing-ball",
    "experiment x": "no experiment 'x': choose one of melanz-ball",
    f"experiment melanz-ball --output {__file__}": "is a file: name a folder",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_is_one_sentence(line: str) -> None:
    assert_mistake(run(*line.split()), MISTAKES[line])


def test_a_warm_start_of_another_size_is_a_mistake(tmp_path: Path) -> None:
    path = str(tmp_path / "block.h5")
    run("solve", "block-opens", "--save", path)
    assert_mistake(
        run("solve", "sliding-ball", "--start", path), "start has 4 impulses and this problem has 2"
    )


@pytest.mark.parametrize("words", [("--debug", "solve", "nothing"), ("solve", "nothing", "--debug")])
def test_debug_shows_the_traceback(words: tuple[str, ...]) -> None:
    result = run(*words)
    assert result.exit_code == 1
    assert "Traceback (most recent call last)" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("Error: 'nothing' is neither")


def test_a_fault_of_the_program_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(solve_command, "find_problem", broken)
    with pytest.raises(ZeroDivisionError, match="a fault"):
        run("solve", "sliding-ball")


def test_ctrl_c_in_a_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(solve_command, "find_problem", interrupted)
    result = run("solve", "sliding-ball")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "Interrupted.\n")


# ---- experiments ----------------------------------------------------------------------------------------


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def add_experiment(monkeypatch: pytest.MonkeyPatch, run_it: object) -> None:
    class Toy(Experiment[None, None]):
        name, summary, paper = "toy", "a toy [not markup]", "A paper, Fig. 1"
        measure = compare = lambda *_: None  # type: ignore[assignment]

    toy = Toy()
    toy.run = run_it  # type: ignore[assignment]
    monkeypatch.setitem(EXPERIMENTS, "toy", toy)


def test_experiment_runs_and_compares(in_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def toy(folder: Path, quick: bool, progress: Progress) -> Summary:
        seen.append(quick)
        for step in range(3):
            progress(step, 3, f"step {step}")
        folder.mkdir(parents=True)
        (folder / "data.csv").write_text("1\n")
        rows = (Comparison("height", 0.25, 0.2500001, "m", "a note"), Comparison("time", None, 3.0, "s"))
        return Summary("toy", "A paper, Fig. 1", rows, (folder / "data.csv",))

    add_experiment(monkeypatch, toy)
    result = run("experiment", "toy")
    assert result.exit_code == 0
    assert "toy: A paper, Fig. 1" in result.stdout
    assert re.search(r"^height +0\.25 +0\.25 +m", result.stdout, re.MULTILINE)
    assert "a note" in result.stdout
    assert re.search(r"^time +– +3 +s", result.stdout, re.MULTILINE)
    assert f"1 file in {Path('results') / 'toy'}" in result.stdout
    assert (in_folder / "results" / "toy" / "data.csv").exists()
    assert run("experiment", "toy", "--quick", "--output", "elsewhere").exit_code == 0
    assert (in_folder / "elsewhere" / "data.csv").exists()
    assert seen == [False, True]
    assert "a toy [not markup]" in run("experiment").stdout


def test_an_experiment_that_failed_says_so(in_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def toy(folder: Path, quick: bool, progress: Progress) -> Summary:
        folder.mkdir(parents=True)
        return Summary("toy", "A paper", (), (), ("the tower fell [down]",)).write(folder)

    add_experiment(monkeypatch, toy)
    result = run("experiment", "toy")
    assert result.exit_code == 2
    assert "Failed: the tower fell [down]" in result.stderr
    page = (in_folder / "results" / "toy" / "summary.md").read_text(encoding="utf-8")
    assert "- the tower fell [down]" in page


def test_ctrl_c_in_an_experiment_says_what_was_kept(in_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def toy(folder: Path, quick: bool, progress: Progress) -> Summary:
        progress(0, 2, "first")
        folder.mkdir(parents=True, exist_ok=True)
        if not quick:
            (folder / "first.csv").write_text("1\n")
        raise KeyboardInterrupt

    add_experiment(monkeypatch, toy)
    result = run("experiment", "toy", "--quick")
    assert result.exit_code == 130
    assert result.stderr.splitlines()[-1] == "Interrupted: no file was written."
    result = run("experiment", "toy")
    assert result.exit_code == 130
    kept = f"Interrupted: kept first.csv in {Path('results') / 'toy'}."
    assert result.stderr.splitlines()[-1] == kept
    assert "Traceback" not in result.stderr


# ---- info, the kernel cache, and real processes ---------------------------------------------------------


def test_info() -> None:
    shown = run("info").stdout
    for name in (
        "nonsmooth",
        "Python",
        "numpy",
        "scipy",
        "numba",
        "h5py",
        "threads",
        "kernel cache",
        "Clarabel",
        "Mosek",
    ):
        assert re.search(rf"^{name} +\S", shown, re.MULTILINE), name
    assert f"numpy         {np.__version__}" in shown
    assert f"{numba.get_num_threads()} for kernels, {os.cpu_count()} processors" in shown


def size_of_compiledkernels() -> int:
    return sum(
        file.stat().st_size
        for kernel in kernel_cache.kernels()
        for file in Path(kernel.stats.cache_path).glob(
            f"*.{kernel.py_func.__name__}-{kernel.py_func.__code__.co_firstlineno}.*.nb[ic]"
        )
        if file.name.startswith(kernel.py_func.__module__.rpartition(".")[2] + ".")
    )


def test_kernel_cache_counts_what_was_compiled() -> None:
    run("solve", "sliding-ball")  # compiles at least the certificate's kernels
    before = size_of_compiledkernels()
    cache = kernel_cache.kernel_cache()
    assert cache.warm
    assert 0 < cache.compiled <= cache.kernels
    assert cache.files >= 2 * cache.compiled  # an index and some code for each
    assert before <= cache.size <= size_of_compiledkernels()  # other processes may compile meanwhile


def test_compilation_is_announced_once_and_only_when_it_happens() -> None:
    @numba.njit
    def first(x: float) -> float:
        return x + 1.0

    @numba.njit
    def second(x: float) -> float:
        return 2.0 * first(x)

    said: list[str] = []
    with kernel_cache.watch_compilation(said.append):
        assert said == []
        second(1.0)
    assert said[0] == "Compiling kernels for the first use…"
    assert re.fullmatch(r"Kernels compiled in \d+\.\d s; they are cached for the next run\.", said[1])
    assert len(said) == 2
    with kernel_cache.watch_compilation(said.append):
        second(1.0)
    assert len(said) == 2


def test_a_cold_cache_is_noticed_in_a_real_process_and_a_warm_one_is_silent(tmp_path: Path) -> None:
    words = ("solve", "sliding-ball", "--solver", "jor-prox")
    cold = run_process(*words, NUMBA_CACHE_DIR=str(tmp_path))
    assert cold.returncode == 0
    assert cold.stderr.startswith("Compiling kernels for the first use…\n")
    warm = run_process(*words, NUMBA_CACHE_DIR=str(tmp_path))
    assert (warm.returncode, warm.stderr) == (0, "")
    info = run_process("info", NUMBA_CACHE_DIR=str(tmp_path)).stdout
    assert f"under {tmp_path}" in info
    assert "kernel cache  warm" in info


def test_a_real_process() -> None:
    version = run_process("--version")
    assert (version.returncode, version.stdout) == (0, f"nonsmooth {nonsmooth.__version__}\n")
    mistake = run_process("solve", "nothing")
    assert (mistake.returncode, mistake.stdout) == (1, "")
    assert mistake.stderr.startswith("Error: 'nothing' is neither")
    assert mistake.stderr.count("\n") == 1


def test_a_terminal_without_greek_letters() -> None:
    result = run_process("solve", "sliding-ball", PYTHONIOENCODING="ascii")
    assert result.returncode == 0
    assert "0.0981" in result.stdout


@pytest.mark.parametrize("words", [["--help"], ["solve", "--help"]])
def test_the_command_itself_imports_nothing_heavy(words: list[str]) -> None:
    """Without the package's own __init__, so that this looks at cli/ alone."""
    code = f"""
import sys, types
package = types.ModuleType("nonsmooth")
package.__path__ = [{str(SOURCES / "nonsmooth")!r}]
sys.modules["nonsmooth"] = package
from nonsmooth.cli.main import app
try:
    app({words})
except SystemExit as end:
    assert end.code == 0
heavy = {{"numba", "numpy", "scipy", "matplotlib", "h5py", "clarabel"}} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=60)
