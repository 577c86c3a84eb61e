"""The league table: verdicts, crashes, hangs, resuming, standings by hand, and the files it writes."""

from __future__ import annotations

import csv
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from helpers import command_line
from nonsmooth.bench import (
    Contender,
    Entry,
    League,
    Row,
    Rules,
    Settings,
    find_entries,
    measure,
    peer_contender,
    profile,
    profile_figure,
    standings,
    write_results,
)
from nonsmooth.bench import league as league_module
from nonsmooth.bench.contender import find_package
from nonsmooth.bench.facts import facts_of
from nonsmooth.bench.peers.nonsmooth_solvers import _solver_from, plain
from nonsmooth.errors import FileFormatError, MissingSolverError, OptionError
from nonsmooth.io import write_problem
from nonsmooth.io.problems.siconos import write_siconos
from nonsmooth.problem import ContactProblem
from nonsmooth.problem.library import NAMED
from nonsmooth.problem.library.random_problems import random_problem
from nonsmooth.solvers import REGISTRY, FixedPoint, GaussSeidel, solve

QUICK = Settings(tolerance=1e-6, time_limit=0.3, repeat=2)

SCRIPTS = {
    # projected Gauss-Seidel on the diagonal, for one contact whose blocks are multiples of the identity
    "right": "return exact(matrix, free_velocity, friction)",
    "zeros": "return free_velocity * 0",
    "short": "return free_velocity[:1]",
    "crash": "os.kill(os.getpid(), signal.SIGSEGV)",
    "raise": "raise ValueError('no such luck')",
    "sleep": "open('asleep', 'w').close(); time.sleep(1000)",
    "spin": "while True: pass",
    "picky": "raise NotImplementedError('too many contacts')",
    "rough": "return exact(matrix, free_velocity, friction) * (1 + 100 * tolerance)",
    "hopeless": "return exact(matrix, free_velocity, friction) * 1.001",
    "nan": "return free_velocity * float('nan')",
}
"""Solvers of all sorts, for a point of mass that slides on a plane: matrix = c · identity."""
HEAD = """
import os, signal, time
import numpy as np

def exact(matrix, q, friction):
    normal = -q[0] / matrix[0, 0]
    return np.array([normal, -friction[0] * normal * np.sign(q[1]), 0.0])

def solve(matrix, free_velocity, friction, components, tolerance, time_limit):
    """


def sliding_point(inverse_mass: float = 0.5) -> ContactProblem:
    """A point that hits a plane at 1 m/s and slides on at 2 m/s less what friction takes."""
    return ContactProblem(
        delassus=inverse_mass * np.eye(3), free_velocity=[-1.0, 2.0, 0.0], friction=[0.4], components=3
    )


@pytest.fixture
def scripts(tmp_path: Path) -> dict[str, Contender]:
    found = {}
    for name, body in SCRIPTS.items():
        file = tmp_path / f"{name}.py"
        file.write_text(HEAD + body + "\n", encoding="utf-8")
        found[name] = replace(peer_contender(f"script:{file}"), label=name)
    return found


@pytest.fixture
def point(tmp_path: Path) -> Entry:
    folder = tmp_path / "problems"
    folder.mkdir()
    write_problem(sliding_point(), folder / "point.h5")
    return Entry(folder / "point.h5", "point.h5")


def row_of(contender: Contender, entry: Entry, tmp_path: Path, settings: Settings = QUICK) -> Row:
    folder = tmp_path / f"exchange-{contender.label}".replace(":", "-")
    folder.mkdir()
    return measure(contender, entry, settings, folder)


# ---- one contender on one problem -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "verdict", "note"),
    [
        ("right", "solved", ""),
        ("zeros", "missed", ""),
        ("short", "missed", ""),
        ("nan", "missed", ""),
        ("hopeless", "missed", ""),
        ("crash", "crashed", "SIGSEGV"),
        ("raise", "crashed", "no such luck"),
        ("spin", "time limit", "cut off"),
        ("picky", "unsupported", "too many contacts"),
    ],
)
def test_every_way_to_end_is_a_row(
    name: str, verdict: str, note: str, scripts: dict[str, Contender], point: Entry, tmp_path: Path
) -> None:
    row = row_of(scripts[name], point, tmp_path)
    assert Rules(QUICK).verdict(row) == verdict
    assert note in row.note
    answered = verdict in ("solved", "missed")
    assert math.isfinite(row.cpu) == math.isfinite(row.wall) == answered
    if name == "right":
        assert row.residual < 1e-12
        assert row.siconos_error < 1e-12
        assert 0.0 <= row.cpu < 0.1
    if name == "zeros":
        assert row.residual == pytest.approx(1.0)  # as wrong as doing nothing


def test_one_that_sleeps_is_killed(scripts: dict[str, Contender], point: Entry, tmp_path: Path) -> None:
    began = time.monotonic()
    row = row_of(scripts["sleep"], point, tmp_path)
    assert row.ended == "time limit"
    assert QUICK.patience <= time.monotonic() - began < QUICK.patience + 20.0


def test_one_that_is_content_too_early_is_asked_for_more(
    scripts: dict[str, Contender], point: Entry, tmp_path: Path
) -> None:
    row = row_of(scripts["rough"], point, tmp_path)
    assert Rules(QUICK).verdict(row) == "solved"
    assert row.tolerance < 0.1 * QUICK.tolerance
    as_it_is = replace(QUICK, tighten=0)
    (tmp_path / "again").mkdir()
    row = measure(scripts["rough"], point, as_it_is, tmp_path / "again")
    assert Rules(as_it_is).verdict(row) == "missed"
    assert row.tolerance == QUICK.tolerance


def test_our_solver_beside_a_script(scripts: dict[str, Contender], point: Entry, tmp_path: Path) -> None:
    ours = Contender.of_solver("gauss-seidel", GaussSeidel())
    row = row_of(ours, point, tmp_path, replace(QUICK, time_limit=5.0))
    assert Rules(QUICK).verdict(row) == "solved"
    assert row.iterations >= 1
    same = solve(sliding_point(), GaussSeidel(), tolerance=QUICK.tolerance)
    assert row.residual == pytest.approx(same.certificate.residual, abs=1e-15)


def test_the_measure_decides(point: Entry, tmp_path: Path, scripts: dict[str, Contender]) -> None:
    # a mass of 1e9: half of the impulse is right to Siconos' error, and half wrong to ours
    write_problem(sliding_point(1e-9), point.path)
    heavy = Entry(point.path, "heavy")
    half = tmp_path / "half.py"
    half.write_text(HEAD + "return 0.5 * exact(matrix, free_velocity, friction)\n", encoding="utf-8")
    contender = peer_contender(f"script:{half}")
    verdicts = {}
    for which in ("invariant", "siconos", "both"):
        settings = replace(QUICK, measure=which, tighten=0)
        (tmp_path / which).mkdir()
        verdicts[which] = Rules(settings).verdict(measure(contender, heavy, settings, tmp_path / which))
    assert verdicts == {"invariant": "missed", "siconos": "solved", "both": "missed"}


# ---- all of them ------------------------------------------------------------------------------------


def test_resume_measures_nothing_twice(
    scripts: dict[str, Contender], point: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries, refused = find_entries(point.path.parent)
    assert not refused
    pair = [scripts["right"], scripts["zeros"]]
    output = tmp_path / "out"
    calls: list[tuple[int, int, str]] = []
    League(output).run(entries, pair, QUICK, lambda *call: calls.append(call))
    assert calls[0][:2] == (0, 2)
    assert calls[-1][:2] == (2, 2)

    measured: list[str] = []

    def counting(contender: Contender, *rest: object) -> Row:
        measured.append(contender.label)
        return measure(contender, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(league_module, "measure", counting)
    again = League(output)
    again.run(entries, pair, QUICK)
    assert measured == []
    rows = again.select(entries, pair, QUICK)
    assert [(row.solver, row.residual < 1e-6) for row in rows] == [("right", True), ("zeros", False)]
    # a line that was cut off is measured again, and only that one
    file = output / "rows.jsonl"
    file.write_text(file.read_text(encoding="utf-8")[:-30], encoding="utf-8")
    for _ in range(2):
        League(output).run(entries, pair, QUICK)
    assert measured == ["zeros"]
    # other settings, other rows; and fresh forgets
    League(output).run(entries, pair[:1], replace(QUICK, repeat=1))
    assert measured == ["zeros", "right"]
    assert League(output, fresh=True).rows == []


def test_a_file_of_another_bench_is_named(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"solver": "x"}\n', encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"rows\.jsonl, line 1.*--fresh"):
        League(tmp_path)


def test_files_are_found_by_their_content(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    write_problem(random_problem(1, contacts=4), tmp_path / "deep" / "own.h5")
    write_siconos(sliding_point(), tmp_path / "text.dat")
    write_problem(NAMED["block-slides"].build(), tmp_path / "planar.hdf5")
    (tmp_path / "broken.dat").write_text("3 1 1", encoding="utf-8")
    (tmp_path / "notes.md").write_text("not looked at", encoding="utf-8")
    entries, refused = find_entries(tmp_path)
    sizes = [entry.problem.layout.rows for entry in entries]
    assert sizes == sorted(sizes)
    assert {entry.name for entry in entries} == {"deep/own.h5", "text.dat", "planar.hdf5"}
    assert list(refused) == ["broken.dat"]
    assert [entry.name for entry in find_entries(tmp_path, 2)[0]] == ["planar.hdf5"]
    assert [entry.name for entry in find_entries(tmp_path / "text.dat")[0]] == ["text.dat"]
    with pytest.raises(OptionError, match="no problem file"):
        find_entries(tmp_path / "broken.dat")
    with pytest.raises(OptionError, match="there is no folder"):
        find_entries(tmp_path / "nowhere")


def test_facts_of_a_matrix_by_hand(tmp_path: Path) -> None:
    matrix = np.diag([4.0, 2.0, 1.0, 2.0, 0.0, 1.0])
    matrix[3, 3], matrix[4, 4] = 2.0, 2.0
    matrix[3, 4] = matrix[4, 3] = 2.0  # rows 3 and 4 say the same: one singular value is zero
    matrix[0, 1] = 1e-6
    problem = ContactProblem(delassus=matrix, free_velocity=np.zeros(6), friction=[0.1, 0.1], components=3)
    write_problem(problem, tmp_path / "matrix.h5")
    facts = facts_of(Entry(tmp_path / "matrix.h5", "matrix"))
    assert (facts.kind, facts.contacts, facts.dimension, facts.rows, facts.joint_rows) == ("W", 2, 3, 6, 0)
    assert facts.rank_defect == 1
    assert facts.condition == pytest.approx(4.0, rel=1e-6)
    assert facts.asymmetry == pytest.approx(1e-6 / 4.0)
    assert facts.smallest_eigenvalue == pytest.approx(0.0, abs=1e-12)


# ---- standings, profile, files ----------------------------------------------------------------------


def made_up(problem: str, solver: str, cpu: float, residual: float = 1e-9, ended: str = "answered") -> Row:
    return Row(
        problem=problem, digest=problem, solver=solver, version="1.0", asked="", tolerance=1e-8, ended=ended,
        content=True, cpu=cpu, wall=2 * cpu, iterations=3.0, residual=residual,
        siconos_error=1e-12, note="a < b",
    )  # fmt: skip


ROWS = [
    made_up("p", "a", 1.0), made_up("p", "b", 4.0), made_up("p", "c", math.nan, math.nan, "crashed"),
    made_up("q", "a", 2.0), made_up("q", "b", 1.0), made_up("q", "c", 1e-3, 1e-3),
    made_up("r", "a", 0.5, 1e-2), made_up("r", "b", math.nan, math.nan, "time limit"),
    made_up("r", "c", math.nan, math.nan, "unsupported"),
]  # fmt: skip
RULES = Rules(Settings(tolerance=1e-8, time_limit=10.0))


def test_standings_by_hand() -> None:
    first, second, third = standings(ROWS, RULES)
    assert (first.solver, first.solved, first.fastest, first.missed) == ("a", 2, 1, 1)
    assert first.mean_time == pytest.approx(math.sqrt(2.0))
    assert first.penalised_time == pytest.approx((1.0 * 2.0 * 10.0) ** (1 / 3))
    assert first.against_best == pytest.approx(math.sqrt(1.0 / 4.0 * 2.0 / 1.0))
    assert second.against_best == pytest.approx(math.sqrt(4.0 / 1.0 * 1.0 / 2.0))
    assert (second.solver, second.solved, second.fastest, second.late) == ("b", 2, 1, 1)
    assert (third.solver, third.solved, third.missed, third.crashed, third.unsupported) == ("c", 0, 1, 1, 1)
    assert math.isnan(third.mean_time)
    assert third.penalised_time == pytest.approx(10.0)


def test_profile_by_hand() -> None:
    # problem r is left out: nobody solved it
    found = profile(ROWS, RULES)
    assert {solver: curve.tolist() for solver, curve in found.items()} == {
        "a": [1.0, 2.0], "b": [1.0, 4.0], "c": [math.inf, math.inf],
    }  # fmt: skip
    (axes,) = profile_figure(ROWS, RULES, "title").axes
    line = next(line for line in axes.lines if str(line.get_label()).startswith("b"))
    x, y = np.array(line.get_xdata()), np.array(line.get_ydata())
    assert x[:-1].tolist() == [0.0, 0.0, 2.0]  # log₂ of the ratios
    assert y.tolist() == [0.0, 0.5, 1.0, 1.0]
    assert "log₂" in axes.get_xlabel()


def test_a_profile_of_nothing_solved_is_drawn(tmp_path: Path) -> None:
    profile_figure(ROWS[-2:], RULES, "nothing").savefig(tmp_path / "nothing.png")
    assert (tmp_path / "nothing.png").stat().st_size > 1000


class Balance(HTMLParser):
    """Counts open tags; remembers links to elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "link", "br", "img"):
            self.open.append(tag)
        self.links += [
            value or "" for key, value in attrs if key in ("src", "href") and not str(value).startswith("#")
        ]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_files_of_a_bench(scripts: dict[str, Contender], point: Entry, tmp_path: Path) -> None:
    odd = replace(scripts["right"], label="right <b>&")
    league = League(tmp_path / "out")
    league.run([point], [odd, scripts["crash"]], QUICK)
    rows = league.select([point], [odd, scripts["crash"]], QUICK)
    files = write_results(tmp_path / "out", rows, league.facts, Rules(QUICK), ["Left out: <nothing>"])
    assert [file.name for file in files] == ["table.csv", "profile.png", "profile.svg", "report.html"]
    with files[0].open(encoding="utf-8") as stream:
        first, second = csv.DictReader(stream)
    assert (first["solver"], first["status"], first["problem"]) == ("right <b>&", "solved", "point.h5")
    assert float(first["residual"]) < 1e-12
    assert (second["status"], second["cpu_s"], second["residual"]) == ("crashed", "", "")
    text = files[3].read_text(encoding="utf-8")
    page = Balance()
    page.feed(text)
    assert page.open == []
    assert page.links == []  # one page, nothing fetched from elsewhere
    assert "right &lt;b&gt;&amp;" in text
    assert "right <b>" not in re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    assert "1 of 1" in text
    assert "SIGSEGV" in text
    assert "<svg" in text


# ---- names ------------------------------------------------------------------------------------------


def test_solvers_survive_the_way_to_another_process() -> None:
    for kind in REGISTRY.values():
        solver = kind()
        assert _solver_from(json.loads(json.dumps(plain(solver)))) == solver
    nested = FixedPoint(inner=GaussSeidel(acceleration="none"), damping=0.25)
    assert _solver_from(json.loads(json.dumps(plain(nested)))) == nested


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("gaus-seidel", "did you mean gauss-seidel"),
        ("siconos:NSGSS", "choose one of NSGS"),
        ("siconos", "choose one of NSGS"),
        ("siconos:ADMM:rho=big", "rho 'big' is wrong: choose one of constant, balanced, scaled"),
        ("siconos:NSGS:rho=scaled", "option 'rho' is wrong"),
        ("siconos:NSGS:tolerance=-1", "tolerance '-1' is not a positive number"),
        ("pinocchio:NSGS", "choose one of ADMM, PGS"),
        ("script:nowhere.py", "there is no file nowhere.py"),
    ],
)
def test_wrong_names_are_answered_with_the_right_ones(label: str, words: str) -> None:
    with pytest.raises(OptionError, match=re.escape(words)):
        peer_contender(label)


def test_a_package_that_is_not_there_is_named_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nonsmooth.bench.contender.find_package", lambda family, pythons: None)
    with pytest.raises(MissingSolverError, match="pip install pin"):
        peer_contender("pinocchio:ADMM")


# ---- other packages, where they are installed -------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["siconos:NSGS", "siconos:PROX", "siconos:ADMM:rho=scaled", "pinocchio:ADMM", "clarabel"]
)
def test_other_packages_take_part(name: str, point: Entry, tmp_path: Path) -> None:
    try:
        contender = peer_contender(name)
    except MissingSolverError as error:
        pytest.skip(str(error))
    row = row_of(contender, point, tmp_path, replace(QUICK, time_limit=5.0))
    verdict = Rules(QUICK).verdict(row)
    # the relaxed law lifts a sliding point off: its answer is another one
    assert verdict == ("missed" if name == "clarabel" else "solved"), row


def test_siconos_in_the_plane(tmp_path: Path) -> None:
    if find_package("siconos_solvers") is None:
        pytest.skip("Siconos is not installed")
    problem = ContactProblem(
        delassus=np.array([[2.0, 0.3], [0.3, 1.0]]), free_velocity=[-1.0, 0.5], friction=[0.2], components=2
    )
    write_problem(problem, tmp_path / "planar.h5")
    entry = Entry(tmp_path / "planar.h5", "planar.h5")
    for method, verdict in (("LEMKE", "solved"), ("NSGS", "solved"), ("PROX", "unsupported")):
        row = row_of(peer_contender(f"siconos:{method}"), entry, tmp_path)
        assert Rules(QUICK).verdict(row) == verdict, row


# ---- the command ------------------------------------------------------------------------------------


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "nonsmooth", "bench", *words]


def test_the_command(scripts: dict[str, Contender], point: Entry, tmp_path: Path) -> None:
    names = ",".join(f"script:{tmp_path / name}.py" for name in ("right", "crash"))
    words = [str(point.path.parent), "--output", str(tmp_path / "out"), "--time-limit", "0.5"]
    done = subprocess.run(command(*words, "--solvers", names), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert re.search(r"script:right.py +1/1", done.stdout)
    assert re.search(r"script:crash.py +0/1 .* 1 +0\s*$", done.stdout, re.MULTILINE)
    assert (tmp_path / "out" / "report.html").exists()
    for wrong, sentence in (
        (["--measure", "invariand"], "did you mean invariant?"),
        (["--repeat", "0"], "--repeat 0: it must be positive"),
        (["--dimension", "4"], "give 2 or 3"),
        (["--solvers", "gaus-seidel"], "there is no solver 'gaus-seidel' for the bench"),
    ):
        result = command_line.run("bench", *words, *wrong, columns=200)
        assert result.exit_code == 1
        assert sentence in result.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to one process there")
def test_ctrl_c_keeps_what_is_done(scripts: dict[str, Contender], point: Entry, tmp_path: Path) -> None:
    sleeper = tmp_path / "sleeper.py"
    sleeper.write_text(
        HEAD + f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(1000)\n"
    )
    names = f"script:{tmp_path / 'right.py'},script:{sleeper}"
    words = [
        str(point.path.parent),
        "--output",
        str(tmp_path / "out"),
        "--time-limit",
        "100",
        "--solvers",
        names,
    ]
    process = subprocess.Popen(command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    pid = tmp_path / "pid"
    deadline = time.monotonic() + 60.0
    while not (pid.exists() and pid.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    try:
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, errors
    assert "Interrupted after 1 of 2 rows; run the same command to continue." in errors
    assert len((tmp_path / "out" / "rows.jsonl").read_text(encoding="utf-8").splitlines()) == 1
    assert (tmp_path / "out" / "report.html").exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)  # the solver's process is gone too
