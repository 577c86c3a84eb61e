"""`nonsmooth reproduce`: the catalogue of papers, the rule of verdicts, runs that go on, the report."""

from __future__ import annotations

import base64
import dataclasses
import io
import json
import math
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
from PIL import Image
from rich.console import Console
from typer.testing import Result

import nonsmooth
from helpers import command_line
from nonsmooth._support.words import duration
from nonsmooth.cli.terminal.overall_bar import TimeLeft, overall_bar
from nonsmooth.experiments import REGISTRY, Experiment
from nonsmooth.experiments.base import Data, Figures, Rows, Table, Work
from nonsmooth.experiments.report import (
    PAPERS,
    Claim,
    Entry,
    Outcome,
    Paper,
    Reproduction,
    Source,
    State,
    Verdict,
    judge_entry,
    judge_source,
    write_report,
)
from nonsmooth.experiments.report.machine import this_machine
from nonsmooth.experiments.report.parts import slug
from nonsmooth.experiments.report.pictures import WIDEST, embed
from nonsmooth.experiments.report.runs import BEGUN, MARKER
from nonsmooth.experiments.report.verdicts import half_last_decimal, judge_claim, judge_row
from nonsmooth.experiments.summary import Comparison, Quantity, exact_row, paper_row

ENTRIES = [(paper, entry) for paper in PAPERS.values() for entry in paper.entries]

ERROR, SPEED = Quantity("error, {} spheres"), Quantity("speed of {}")

# ---- the catalogue ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("paper", "figures", "tables"),
    [("melanz", 19, 0), ("negrut", 1, 0), ("mazhar", 20, 1), ("studer", 10, 0), ("andreani", 3, 3)],
)
def test_catalogue_has_every_figure_and_table_once(paper: str, figures: int, tables: int) -> None:
    labels = [entry.label for entry in PAPERS[paper].entries]
    assert len(labels) == len(set(labels))
    assert [label for label in labels if label.startswith("Fig. ")] == [
        f"Fig. {number}" for number in range(1, figures + 1)
    ]
    assert [label for label in labels if label.startswith("Table ")] == [
        f"Table {number}" for number in range(1, tables + 1)
    ]


@pytest.mark.parametrize(
    "entry",
    [entry for _, entry in ENTRIES],
    ids=[f"{paper.name}: {entry.label}" for paper, entry in ENTRIES],
)
def test_entries_say_what_they_need_to(entry: Entry) -> None:
    assert re.fullmatch(r"[A-Z0-9§].*\.", entry.theirs)
    assert entry.sources or entry.remark, "an entry without anything of ours says why"
    assert not (entry.sketch and entry.sources)
    for source in entry.sources:
        assert source.experiment in REGISTRY
        assert source.pictures or source.rows
        assert bool(source.in_kind) == bool(source.why_in_kind)
        assert all(math.isfinite(claim.least) or math.isfinite(claim.most) for claim in source.claims)


def test_every_experiment_belongs_to_a_paper_or_is_a_scene_of_others() -> None:
    named = {name for paper in PAPERS.values() for name in paper.experiments}
    assert named | {"arch", "card-house", "kapla"} == set(REGISTRY)


def assert_catalogue_fits(run: Reproduction) -> None:
    """All that the catalogue names of these experiments was written, and every statement could be tested."""
    for paper, entry in ENTRIES:
        if {source.experiment for source in entry.sources} <= set(run.outcomes):
            for judged in judge_entry(entry, run.outcomes).sources:
                place = f"{paper.name}, {entry.label}"
                assert judged.outcome.complete, f"{place}: {judged.outcome.error}"
                assert not judged.absent, f"{place}: {judged.absent}"
                assert all(claim.verdict is not Verdict.NOT_FOUND for claim in judged.claims), place


def test_an_entry_that_names_what_is_not_reported_is_found() -> None:
    outcome = Outcome(fake("a"), State.DONE, (Comparison("speed of it", None, 1.0, "m/s"),), ("a.png",))
    for row, absent in ((SPEED, ()), (SPEED("it"), ()), (SPEED("that"), ("speed of that",))):
        assert judge_source(Source("a", rows=(row,)), outcome).absent == absent
    assert judge_source(Source("a", rows=(ERROR,)), outcome).absent == ("error, … spheres",)
    assert judge_source(Source("a", ("b.png",)), outcome).absent == ("b.png",)
    claim = judge_source(Source("a", claims=(Claim("Slow.", ERROR, most=1.0),)), outcome).claims[0]
    assert claim.verdict is Verdict.NOT_FOUND


def test_catalogue_fits_a_real_quick_run(tmp_path: Path) -> None:
    names = ("studer-block", "melanz-ball")
    run = Reproduction([REGISTRY[name] for name in names], tmp_path, quick=True)
    run.run(Diary())
    assert_catalogue_fits(run)
    found = {entry.label: judge_entry(entry, run.outcomes).verdict for entry in PAPERS["melanz"].entries[:7]}
    assert found["Fig. 1"] is Verdict.SKETCH
    assert found["Eqs. 46 and 47"] is Verdict.AGREES
    assert found["Fig. 2"] is Verdict.AGREES
    assert found["Fig. 4"] is Verdict.CHECKED
    part = dataclasses.replace(PAPERS["melanz"], entries=PAPERS["melanz"].entries[:7])
    write_report(run, [part])
    report = Page(tmp_path)
    assert len(report.images) == 15  # 9 of the ball and 6 of the block, each once
    assert re.search(r"γn at t = 0, exact law error \S.* 0\.0981 0\.0981 N·s", report.words)


@pytest.mark.long
def test_catalogue_fits_all_quick_runs(tmp_path: Path) -> None:
    run = Reproduction(list(REGISTRY.values()), tmp_path, quick=True)
    run.run(Diary())
    assert_catalogue_fits(run)


# ---- the rule of verdicts -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("paper", "ours", "verdict"),
    [
        (2.0, 2.0199, Verdict.AGREES),
        (2.0, 2.021, Verdict.CLOSE),
        (2.0, 2.199, Verdict.CLOSE),
        (2.0, 2.21, Verdict.DIFFERS),
        (1.8, 1.7619, Verdict.AGREES),  # 2.1 % apart, but it rounds to 1.8
        (1.8, 1.749, Verdict.CLOSE),
        (0.291, 0.2912, Verdict.AGREES),
        (-0.4, 0.4, Verdict.DIFFERS),
        (0.0, 1e-6, Verdict.AGREES),
        (0.0, -1e-3, Verdict.CLOSE),
        (0.0, 0.01, Verdict.DIFFERS),
        (2.0, math.nan, Verdict.NOT_FOUND),
    ],
)
def test_numbers_are_judged_by_the_rule(paper: float, ours: float, verdict: Verdict) -> None:
    assert judge_row(Comparison("x", paper, ours, "m")).verdict is verdict
    same = Verdict.CHECKED if verdict is Verdict.AGREES else verdict
    assert judge_row(Comparison("x", None, ours, "m", reference=paper)).verdict is same


def test_numbers_that_cannot_be_judged() -> None:
    assert judge_row(Comparison("x", None, 1.0, "m")).verdict is Verdict.NO_NUMBER
    assert judge_row(Comparison("x", 5.0, 1.0, "m"), in_kind=True).verdict is Verdict.IN_KIND
    # A closed form is judged also where the paper's numbers are not
    closed = exact_row("x", 5.0, 1.0, "m")
    assert judge_row(closed, in_kind=True).verdict is Verdict.DIFFERS


@pytest.mark.parametrize(
    ("ours", "uncertainty", "verdict"),
    [
        (1.001, 0.002, Verdict.CHECKED),
        (1.001, 0.02, Verdict.CLOSE),  # it would be checked if it were exact
        (1.05, 0.04, Verdict.CLOSE),
        (1.0, 0.2, Verdict.UNDECIDED),  # right by luck
        (0.62, 0.5, Verdict.UNDECIDED),
        (0.62, 0.2, Verdict.DIFFERS),
        (3.0, 0.5, Verdict.DIFFERS),
    ],
)
def test_fitted_numbers_are_judged_with_their_interval(
    ours: float, uncertainty: float, verdict: Verdict
) -> None:
    row = Comparison("order", None, ours, "", reference=1.0, uncertainty=uncertainty)
    assert judge_row(row).verdict is verdict
    assert entry_with([row]) is verdict


def test_half_of_the_last_decimal() -> None:
    assert half_last_decimal(1.8) == pytest.approx(0.05)
    assert half_last_decimal(-0.0215) == pytest.approx(5e-5)
    assert half_last_decimal(100.0) == 0.0
    assert half_last_decimal(8.33e22) == 0.0


def test_quantities_name_rows_and_find_them() -> None:
    rate = Quantity("rate of {what} (in kind), h = {step:g} s")
    assert rate(what="it", step=0.5) == "rate of it (in kind), h = 0.5 s"
    assert rate.finds("rate of it (in kind), h = 0.5 s")
    assert not rate.finds("rate of it (in kind), h = 0.5 s, again")
    assert str(rate) == f"{rate}" == "rate of … (in kind), h = … s"
    of_it = rate.of(what="it")
    assert of_it(step=0.25) == "rate of it (in kind), h = 0.25 s"
    assert of_it.finds("rate of it (in kind), h = 1 s")
    assert not of_it.finds("rate of that (in kind), h = 1 s")
    plain = Quantity("least eigenvalue")
    assert plain.finds("least eigenvalue")
    assert not plain.finds("least eigenvalue of G")


def test_statements_are_tested_on_all_they_name() -> None:
    rows = [Comparison(ERROR(size), None, value, "") for size, value in ((10, 200.0), (30, 90.0))]
    holds = judge_claim(Claim("large", ERROR, least=50.0), rows)
    assert holds.verdict is Verdict.AGREES
    assert holds.values == (200.0, 90.0)
    assert judge_claim(Claim("larger", ERROR, least=100.0), rows).verdict is Verdict.DIFFERS
    grows = Claim("grows", ERROR(30), over=ERROR(10), least=1.0)
    assert judge_claim(grows, rows).values == (0.45,)
    assert judge_claim(grows, rows).verdict is Verdict.DIFFERS
    assert judge_claim(Claim("nothing", "speed", least=1.0), rows).verdict is Verdict.NOT_FOUND


def entry_with(
    rows: list[Comparison], in_kind: tuple[str, ...] = (), claims: tuple[Claim, ...] = ()
) -> Verdict:
    outcome = Outcome(fake("a"), State.DONE, tuple(rows), ("a.png",))
    source = Source("a", ("a.png",), (ANY,), in_kind, "why" if in_kind else "", claims)
    return judge_entry(Entry("Fig. 1", "It.", (source,)), {"a": outcome}).verdict


def test_a_figure_gets_the_worst_of_its_verdicts() -> None:
    agrees, close = Comparison("a", 1.0, 1.0, ""), Comparison("b", 1.0, 1.05, "")
    differs, plain = Comparison("c", 1.0, 2.0, ""), Comparison("d", None, 2.0, "")
    checked = exact_row("e", 1.0, 1.0, "")
    assert entry_with([plain]) is Verdict.DRAWN
    assert entry_with([plain, checked]) is Verdict.CHECKED
    assert entry_with([checked, agrees]) is Verdict.AGREES
    assert entry_with([agrees, close]) is Verdict.CLOSE
    assert entry_with([agrees, close, differs]) is Verdict.DIFFERS
    assert entry_with([agrees, differs], in_kind=("c",)) is Verdict.IN_KIND
    wrong = Claim("d is small", "d", most=1.0)
    assert entry_with([agrees, plain], claims=(wrong,)) is Verdict.DIFFERS
    assert entry_with([]) is Verdict.NOT_FOUND  # the pattern finds nothing


# ---- runs ---------------------------------------------------------------------------------------------


class Diary:
    """A watcher that writes down what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def begin(self, name: str) -> None:
        self.lines.append(f"begin {name}")

    def move(self, done: int, total: int, what: str) -> None:
        self.lines.append(f"{done}/{total} {what}")

    def end(self, outcome: Outcome) -> None:
        self.lines.append(f"end {outcome.experiment.name}: {outcome.state}")


class Fake(Experiment[bool, bool]):
    """An experiment that is through at once; `action` may raise in the middle of it."""

    paper, seconds = "Nobody 2000", (1.0, 2.0)
    QUICK, FULL = True, False

    def __init__(self, name: str, action: Callable[[], None], said: tuple[str, ...]) -> None:
        self.name, self.summary = name, f"what {name} does"
        self.action, self.said = action, said

    def measure(self, setup: bool, work: Work) -> bool:
        work.expect(1)
        work.begin("measuring")
        self.action()
        return setup

    def data(self, found: bool) -> Data:
        return {"data of it.csv": Table(("x",), [(1,)])}

    def figures(self, found: bool) -> Figures:
        return {self.name: np.full((20, 40, 3), 114, dtype=np.uint8)}

    def compare(self, found: bool) -> Rows:
        yield paper_row("speed <of> light & sound", 2.0, 2.001, "m/s", "a note")
        yield exact_row("angle", 1.0, 1.05, "rad")
        yield Comparison("time", 100.0, 1.0, "s")
        yield Comparison("size", None, 60.0 if found else 1000.0, "")

    def failures(self, found: bool) -> tuple[str, ...]:
        return self.said


def fake(name: str, action: Callable[[], None] = lambda: None, failures: tuple[str, ...] = ()) -> Fake:
    return Fake(name, action, failures)


ANY = Quantity("{}")


def paper_of(*names: str) -> Paper:
    sources = [
        Source(
            name,
            (f"{name}.png",),
            (ANY,),
            ("time",),
            "Their machine.",
            (Claim("Large.", "size", least=50.0),),
        )
        for name in names
    ]
    return Paper(
        "nobody",
        "On <nothing>",
        "Nobody & Sons",
        "Nowhere, 2000",
        (
            Entry("Fig. 1", "A sketch of nothing.", sketch=True, remark="It shows nothing."),
            *(Entry(f"Fig. {2 + index}", "A curve.", (source,)) for index, source in enumerate(sources)),
            Entry("Fig. 9", "Something else.", remark="We have nothing like it."),
            Entry("Fig. 10", "The curve once more.", (Source(names[0], (f"{names[0]}.png",)),)),
        ),
    )


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run the command with two experiments of our own making, "first" and "second"."""

    def run(
        folder: Path, *words: str, first: Callable[[], None] = lambda: None, failures: tuple[str, ...] = ()
    ) -> Result:
        experiments = {"first": fake("first", first, failures), "second": fake("second")}
        monkeypatch.setattr("nonsmooth.experiments.REGISTRY", experiments)
        monkeypatch.setattr("nonsmooth.experiments.report.PAPERS", {"nobody": paper_of("first", "second")})
        return command_line.run("reproduce", "-o", folder, *words)

    return run


def raising(error: BaseException) -> Callable[[], None]:
    def action() -> None:
        raise error

    return action


def test_what_is_complete_is_not_run_again(tmp_path: Path) -> None:
    experiments = [fake("first"), fake("second")]
    diary = Diary()
    Reproduction(experiments, tmp_path, quick=True).run(diary)
    assert diary.lines[:5] == [
        "begin first", "0/2 measuring", "1/2 data and figures", "2/2 done", "end first: done"
    ]  # fmt: skip
    again, silent = Reproduction(experiments, tmp_path, quick=True), Diary()
    assert [outcome.state for outcome in again.outcomes.values()] == [State.KEPT, State.KEPT]
    assert again.outcomes["first"].rows[0] == paper_row(
        "speed <of> light & sound", 2.0, 2.001, "m/s", "a note"
    )
    again.run(silent)
    assert silent.lines == []
    fresh = Reproduction(experiments, tmp_path, quick=True, fresh=True)
    assert len(fresh.left) == 2
    assert fresh.expected_seconds == [fresh.earlier_seconds(name) for name in ("first", "second")]
    assert Reproduction(experiments, tmp_path, quick=False).expected_seconds == [2.0, 2.0]


@pytest.mark.parametrize("change", ["nothing", "fresh", "form", "version", "unknown"])
def test_unfinished_work_is_used_in_the_same_form_and_version_only(tmp_path: Path, change: str) -> None:
    folder = tmp_path / "first"
    long = fake("first", raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        Reproduction([long], tmp_path, quick=True).run(Diary())
    work = folder / "kept" / "a.npz"
    work.parent.mkdir()
    work.write_bytes(b"")
    if change == "version":
        (folder / BEGUN).write_text('{"quick": true, "version": "0.0.0"}', encoding="utf-8")
    if change == "unknown":
        (folder / BEGUN).unlink()
    again = Reproduction([long], tmp_path, quick=change != "form", fresh=change == "fresh")
    with pytest.raises(KeyboardInterrupt):
        again.run(Diary())
    assert work.exists() == (change == "nothing")


def test_uncertainty_is_kept_with_the_results(tmp_path: Path) -> None:
    row = Comparison("order", None, 0.9, "", reference=1.0, uncertainty=0.2)

    class Fit(Fake):
        def compare(self, found: bool) -> Rows:
            return (row,)

    found = Reproduction([Fit("fit", lambda: None, ())], tmp_path, quick=True)
    found.run(Diary())
    assert found.outcomes["fit"].rows == (row,)


def test_marker_says_form_version_time_and_machine(tmp_path: Path) -> None:
    Reproduction([fake("first")], tmp_path, quick=True).run(Diary())
    marker = json.loads((tmp_path / "first" / MARKER).read_text(encoding="utf-8"))
    assert marker["quick"] is True
    assert marker["version"] == nonsmooth.__version__
    assert 0.0 <= marker["seconds"] < 60.0
    assert marker["machine"]["cores"] >= 1
    assert marker["machine"]["packages"]["numpy"]


@pytest.mark.parametrize("spoil", ["form", "version", "picture", "summary", "marker", "cut off"])
def test_what_is_not_complete_is_run_again(tmp_path: Path, spoil: str) -> None:
    Reproduction([fake("first")], tmp_path, quick=True).run(Diary())
    folder, quick = tmp_path / "first", True
    if spoil == "form":
        quick = False
    elif spoil == "version":
        marker = json.loads((folder / MARKER).read_text(encoding="utf-8"))
        (folder / MARKER).write_text(json.dumps(marker | {"version": "0.0.0"}), encoding="utf-8")
    elif spoil == "cut off":
        text = (folder / "summary.json").read_text(encoding="utf-8")
        (folder / "summary.json").write_text(text[: len(text) // 2], encoding="utf-8")
    else:
        (folder / {"picture": "first.png", "summary": "summary.json", "marker": MARKER}[spoil]).unlink()
    again = Reproduction([fake("first")], tmp_path, quick=quick)
    assert [each.name for each in again.left] == ["first"]
    again.run(Diary())
    assert again.outcomes["first"].state is State.DONE


def test_a_failure_does_not_stop_the_others(tmp_path: Path, two: Callable[..., Result]) -> None:
    result = two(tmp_path, first=raising(ValueError("the <moon> is\nblue")))
    assert result.exit_code == 2
    assert "first failed: ValueError: the <moon> is blue" in result.stderr
    assert "second: done" in result.stderr
    assert (tmp_path / "second" / MARKER).exists()
    assert not (tmp_path / "first" / MARKER).exists()
    assert "ValueError" in (tmp_path / "first" / "error.txt").read_text(encoding="utf-8")
    report = Page(tmp_path)
    assert "first failed after" in report.words
    assert "ValueError: the <moon> is blue" in report.words
    assert report.verdicts()["Fig. 2"] == "failed"
    assert report.verdicts()["Fig. 3"] == "in kind only"
    mended = two(tmp_path)
    assert mended.exit_code == 0
    assert "1 of 2 experiments were complete before" in mended.stderr
    assert not (tmp_path / "first" / "error.txt").exists()
    assert Page(tmp_path).verdicts()["Fig. 2"] == "in kind only"


def test_what_has_to_hold_and_does_not_fails_the_report(tmp_path: Path, two: Callable[..., Result]) -> None:
    for _ in range(2):  # the second time from what was kept
        result = two(tmp_path, failures=("the <arch> of 25 fell",))
        assert result.exit_code == 2
        assert "first failed: the <arch> of 25 fell" in result.stderr
        report = Page(tmp_path)
        assert "first failed: the <arch> of 25 fell" in report.words
        assert report.verdicts()["Fig. 2"] == "failed"
        assert report.verdicts()["Fig. 3"] == "in kind only"
    assert "2 of 2 experiments were complete before" in result.stderr


def test_ctrl_c_keeps_what_is_done_and_the_same_command_goes_on(
    tmp_path: Path, two: Callable[..., Result]
) -> None:
    result = two(tmp_path, first=raising(KeyboardInterrupt()))
    assert result.exit_code == 130
    assert "Interrupted with 2 of 2 experiments left; run the same command to continue." in result.stderr
    report = Page(tmp_path)
    assert "Not run yet: first, second." in report.words
    assert report.verdicts()["Fig. 2"] == "not run"
    assert two(tmp_path).exit_code == 0
    assert "Not run yet" not in Page(tmp_path).words


# ---- the report ---------------------------------------------------------------------------------------


class Page(HTMLParser):
    """A report, parsed: every tag must be closed in its turn."""

    OPEN = frozenset({"meta", "img", "br"})
    """Tags without an end."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.text = (folder / "report.html").read_text(encoding="utf-8")
        self.stack: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self.pieces: list[str] = []
        self.feed(self.text)
        self.close()
        assert self.stack == []
        self.words = " ".join("".join(self.pieces).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag not in self.OPEN:
            self.stack.append(tag)
        if values.get("id"):
            self.ids.append(str(values["id"]))
        if tag == "a":
            self.links.append(str(values["href"]))
        if tag == "img":
            self.images.append(values)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag
        self.pieces.append(" " * (tag in ("td", "th", "p", "h3")))

    def handle_data(self, data: str) -> None:
        if self.stack and self.stack[-1] != "style":
            self.pieces.append(data)

    def verdicts(self) -> dict[str, str]:
        """Verdict by label, as the table of contents has them."""
        found = re.findall(r"<li><a href='#[^']*'>([^<]*)</a><span class='badge [^']*'>([^<]*)<", self.text)
        return dict(found)


def test_report_sets_theirs_beside_ours(tmp_path: Path, two: Callable[..., Result]) -> None:
    result = two(tmp_path, "--quick")
    assert result.exit_code == 0
    assert "in kind only 2" in " ".join(result.stdout.split())
    assert f"Report written to {tmp_path / 'report.html'}" in result.stdout.replace("\n", "")
    report = Page(tmp_path)
    assert report.verdicts() == {
        "Fig. 1": "sketch",
        "Fig. 2": "in kind only",
        "Fig. 3": "in kind only",
        "Fig. 9": "not reproduced",
        "Fig. 10": "drawn",
    }
    for words in (
        "Reproduction of Nobody & Sons",
        "On <nothing>, Nowhere, 2000",
        "quick form",
        f"nonsmooth {nonsmooth.__version__}",
        "2 of 2 experiments",
        "speed <of> light & sound",
        "+0.05 %",  # 2.001 beside 2
        "× 0.01",  # 1 s beside 100 s, in kind only
        "In kind only: Their machine.",
        "They say: Large. holds",
        "is at least 50, found 60",
        "We have nothing like it.",
        this_machine().processor,
        this_machine().python,
    ):
        assert words in report.words, words


def test_report_needs_nothing_else_and_its_links_lead_somewhere(
    tmp_path: Path, two: Callable[..., Result]
) -> None:
    two(tmp_path, "--quick")
    report = Page(tmp_path)
    assert "<script" not in report.text
    assert not re.search(r"(src|href)='(https?:)?//", report.text)
    assert len(report.ids) == len(set(report.ids))
    for link in report.links:
        if link.startswith("#"):
            assert link[1:] in report.ids, link
        else:
            assert (tmp_path / unquote(link)).is_file(), link
    assert "first/data%20of%20it.csv" in report.links
    assert len(report.images) == 2, "each picture once: the third place links to the first"
    assert f"#{slug('nobody', 'Fig. 2')}" in report.links
    for image in report.images:
        kind, _, content = str(image["src"]).partition(";base64,")
        assert kind == "data:image/webp"
        with Image.open(io.BytesIO(base64.b64decode(content))) as picture:
            assert picture.size == (int(str(image["width"])), int(str(image["height"]))) == (40, 20)
        assert image["alt"] in ("first: first", "second: second")


def test_wide_pictures_are_scaled_and_transparent_ones_become_white(tmp_path: Path) -> None:
    Image.new("RGBA", (2 * WIDEST, 100), (0, 0, 0, 0)).save(tmp_path / "wide.png")
    picture = embed(tmp_path / "wide.png")
    assert (picture.width, picture.height) == (WIDEST, 50)
    content = base64.b64decode(picture.address.partition(",")[2])
    with Image.open(io.BytesIO(content)) as shown:
        assert shown.convert("RGB").getpixel((10, 10)) == (255, 255, 255)


def test_experiments_of_no_paper_are_shown_too(tmp_path: Path) -> None:
    run = Reproduction([fake("first"), fake("stray")], tmp_path, quick=True)
    run.run(Diary())
    write_report(run, [paper_of("first")])
    words = Page(tmp_path).words
    assert "Other experiments stray done" in words


# ---- the command --------------------------------------------------------------------------------------


def test_one_paper_runs_only_its_experiments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiments = {name: fake(name) for name in REGISTRY}
    monkeypatch.setattr("nonsmooth.experiments.REGISTRY", experiments)
    monkeypatch.chdir(tmp_path)
    result = command_line.run("reproduce", "--paper", "andreani", "--quick")
    assert result.exit_code == 0, result.output
    folder = tmp_path / "results" / "reproduce-quick"
    assert sorted(path.name for path in folder.iterdir() if path.is_dir()) == [
        "andreani-grasps", "andreani-mcplib", "andreani-pyramid", "andreani-solvers",
    ]  # fmt: skip
    assert "Melanz, Mazhar and Negrut" not in Page(folder).words


def test_mistakes_are_one_sentence(tmp_path: Path) -> None:
    wrong = command_line.run("reproduce", "--paper", "studr")
    assert wrong.exit_code == 1
    assert "--paper studr: did you mean studer?" in wrong.stderr
    (tmp_path / "file").write_text("", encoding="utf-8")
    taken = command_line.run("reproduce", "-o", str(tmp_path / "file"))
    assert taken.exit_code == 1
    assert "is a file: name a folder" in taken.stderr


def test_time_left_follows_what_was_measured() -> None:
    now = 0.0
    left = TimeLeft([100.0, 300.0], clock=lambda: now)
    assert left.left == pytest.approx(400.0)  # nothing known yet: as expected
    now = 200.0  # half of the first part took twice its whole time
    left.move(0.5)
    assert left.done == pytest.approx(50.0)
    assert left.left == pytest.approx((200.0 + 20.0) / (50.0 + 20.0) * 350.0)
    left.finish_part()
    left.finish_part()
    assert left.left == 0.0


def test_bars_of_all_parts_and_of_the_one_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    terminal = Console(file=shown, force_terminal=True, width=100)
    monkeypatch.setattr("nonsmooth.cli.terminal.console.ERR", terminal)
    with overall_bar([2.0, 3.0]) as bar:
        for name in ("first", "second"):
            bar.begin(name)
            bar.move(1, 4, "a piece")
            bar._bar.refresh()  # it is drawn ten times a second by itself
            bar.finish_part()
            bar.say(f"{name}: done")
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.getvalue())
    for words in ("first: a piece", "second: a piece", "1/4", "0/2", "1/2", "s left", "second: done"):
        assert words in text, words


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0 s"), (3.21, "3.2 s"), (59.4, "59 s"), (252.0, "4 min 12 s"), (7500.0, "2 h 5 min")],
)
def test_times_are_for_people(seconds: float, text: str) -> None:
    assert duration(seconds) == text
