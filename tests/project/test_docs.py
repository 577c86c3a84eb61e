"""The documentation is run: its Python, its command lines, what it says they print, and its links.

Rules for a page, read from top to bottom in one namespace and one empty folder:

- ```python runs. A ```text block that follows it at once is what it prints.
- ```console holds command lines `$ nonsmooth …`, which run and must end with exit code 0. Lines below a
  command are lines of its output, in order; a line `…` leaves some out.
- ```sh is for installing and for tools of the repository, and is not run.
- ```toml is a scene file, read by tests/io/test_scene_file.py.

Outputs are compared word by word, and numbers below 1e-12 count as equal: rounding differs by computer.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import nonsmooth
from helpers import command_line
from helpers.paths import ROOT
from nonsmooth.solvers import REGISTRY, Status

GUIDES = sorted((ROOT / "docs").glob("*.md"))
PAGES = [
    page for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md") if page.exists()
]
PAGES += GUIDES
LANGUAGES = ("python", "console", "sh", "text", "toml")
ELLIPSIS = "…"


@dataclasses.dataclass(frozen=True)
class Block:
    """A fenced block of a page; `line` is the number of its first line of content."""

    language: str
    line: int
    content: list[str]
    follows_python: bool


def blocks_of(page: Path) -> Iterator[Block]:
    lines = page.read_text(encoding="utf-8").splitlines()
    at, previous = 0, ""
    while at < len(lines):
        if lines[at].startswith("```"):
            language, first = lines[at][3:].strip(), at + 1
            end = lines.index("```", first)
            yield Block(language, first + 1, lines[first:end], previous == "python")
            at, previous = end, language
        elif lines[at].strip():
            assert not re.match(r"\s*(```|~~~)", lines[at]), (
                f"{page.name}:{at + 1}: fences are ``` in column 1"
            )
            previous = ""
        at += 1


def words(line: str) -> list[str]:
    """Words of a line without brackets; what is zero up to rounding is written ~0, and -0. as 0."""
    line = re.sub(r"-?\b(0\.0+e\+00|\d\.\d+e-(1[2-9]|[2-9]\d))\b", "~0", line)
    return re.sub(r"[\[\]]", " ", re.sub(r"-(0\.0*)(?!\d)", r"\1", line)).split()


def check_output(place: str, shown: list[str], printed: str) -> None:
    """Every line shown must be printed, in this order, one right after the other unless … stands between."""
    left = [words(line) for line in printed.splitlines() if line.strip()]
    skipping = True
    for line in shown:
        if not line.strip():
            continue
        if line.strip() == ELLIPSIS:
            skipping = True
            continue
        while skipping and left and left[0] != words(line):
            left.pop(0)
        assert left, f"{place} shows {line!r}, which is not printed there:\n{printed}"
        assert left.pop(0) == words(line), f"{place} shows {line!r}, and printed is:\n{printed}"
        skipping = False


def run_python(page: Path, block: Block, names: dict[str, Any], source: Path) -> str:
    """Run a block with the page's line numbers; its source is a file because kernels are cached beside it."""
    text = "\n" * (block.line - 1) + "\n".join(block.content) + "\n"
    source.write_text(text, encoding="utf-8")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(text, str(source), "exec", dont_inherit=True), names)
    return printed.getvalue()


def run_console(page: Path, block: Block) -> None:
    starts = [i for i, line in enumerate(block.content) if line.startswith("$ ")]
    assert starts[:1] == [0], f"{page.name}:{block.line}: a console block begins with a line '$ nonsmooth …'"
    for start, end in zip(starts, [*starts[1:], len(block.content)], strict=True):
        place = f"{page.name}:{block.line + start}"
        program, *arguments = shlex.split(block.content[start][2:])
        assert program == "nonsmooth", f"{place}: only nonsmooth is run here; use a sh block for {program}"
        result = command_line.run(*arguments)
        assert result.exit_code == 0, f"{place} ends with exit code {result.exit_code}: {result.output}"
        check_output(place, block.content[start + 1 : end], result.stdout)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    names: dict[str, Any] = {"__name__": page.stem}
    printed = ""
    for number, block in enumerate(blocks_of(page)):
        place = f"{page.name}:{block.line}"
        assert block.language in LANGUAGES, f"{place}: ```{block.language} is not one of {LANGUAGES}"
        if block.language == "python":
            printed = run_python(page, block, names, sources / f"block{number}.py")
        elif block.language == "console":
            run_console(page, block)
        elif block.language == "text" and block.follows_python:
            check_output(place, block.content, printed)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page)):
        if re.match(r"https?:|mailto:", target):
            continue
        name, _, anchor = target.partition("#")
        found = (page.parent / name).resolve() if name else page
        assert found.exists(), f"{page.name} links to {target}, which is not there"
        if anchor:
            assert anchor in anchors(found), f"{page.name} links to {target}, which has no such heading"


def without_code(page: Path) -> str:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "`", text)


def anchors(page: Path) -> set[str]:
    """Names that headings get on GitHub and on a docs site."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_on_the_map() -> None:
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", (ROOT / "docs" / "index.md").read_text(encoding="utf-8")))
    assert linked == {page.name for page in GUIDES} - {"index.md"}


def table_rows(page: str, first_cell: str) -> dict[str, list[str]]:
    """Cells of the rows whose first cell is a name in backticks, in the table headed `first_cell`."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    table = text[text.index(f"| {first_cell} |") :].split("\n\n")[0]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()]
    return {row[0].strip("` "): row[1:] for row in cells if row[0].strip().startswith("`")}


def test_table_of_solvers_is_the_registry() -> None:
    rows = table_rows("choosing-a-solver.md", "solver")
    assert list(rows) == list(REGISTRY)
    for name, (kind, laws, joints, *_) in rows.items():
        assert kind == f"`{REGISTRY[name].__name__}`"
        assert tuple(re.findall(r"coulomb|relaxed|pyramid", laws)) == REGISTRY[name].laws
        assert joints == ("yes" if REGISTRY[name].takes_joints else "no")


def test_table_of_options_has_every_option_and_its_default() -> None:
    text = (ROOT / "docs" / "choosing-a-solver.md").read_text(encoding="utf-8")
    for solver in REGISTRY.values():
        for option in dataclasses.fields(solver):
            value = option.default_factory() if callable(option.default_factory) else option.default
            shown = f"{type(value).__name__}()" if option.name == "inner" else repr(value).replace("'", '"')
            row = rf"^\|.*\b{solver.__name__}\b.*\| `{option.name}` \| `{re.escape(shown)}` \|"
            assert re.search(row, text, re.MULTILINE), (
                f"no row for {solver.__name__}: {option.name} = {shown}"
            )


def test_table_of_statuses_is_complete() -> None:
    assert list(table_rows("choosing-a-solver.md", "status")) == [status.name for status in Status]


def test_table_of_rooms_is_the_import_contracts() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    lines = text[text.index("| room |") :].split("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.split("|")[1:4]] for line in lines]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    first, *others = settings["tool"]["importlinter"]["contracts"]
    layers = [layer.split(" | ") for layer in first["layers"]]
    shown = [name.strip("`/ ").removesuffix(".py") for room, _, _ in cells for name in room.split(",")]
    assert shown == [name for layer in layers for name in layer]
    walls: dict[str, set[str]] = {name: set() for name in shown}
    for contract in others:
        for source in contract.get("source_modules", []):
            walls.get(source.removeprefix("nonsmooth."), set()).update(contract["forbidden_modules"])
    for room, _, allowed in cells[:-1]:
        name = room.strip("`/")
        below = layers[[name in layer for layer in layers].index(True) + 1 : -2]
        open_to = [other for layer in below for other in layer if f"nonsmooth.{other}" not in walls[name]]
        every = [other for layer in below for other in layer]
        named = every if allowed.startswith("all below") else re.findall(r"`(\w+)`", allowed)
        assert named == open_to, f"{name} may import {open_to}"
        assert bool(named) != allowed.startswith("nothing"), name


def test_list_of_long_tests_is_complete() -> None:
    listed = re.findall(r"^\| `(test_\w+)` \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.M)
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    marked = [name for text in sources for name in re.findall(r"mark\.long\n(?:@.+\n)*def (\w+)", text)]
    assert sorted(listed) == sorted(marked)


def test_version_is_the_same_everywhere() -> None:
    version = nonsmooth.__version__
    assert f'\nversion = "{version}"\n' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## [{version}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_shown_output_that_is_not_printed_is_caught() -> None:
    check_output("here", ["a 1.00e-16", ELLIPSIS, "c"], "a 0.00e+00\nb\nc\n")
    for shown in (["b", "a"], ["a", "c"], ["d"], ["a 2"]):
        with pytest.raises(AssertionError, match="here shows"):
            check_output("here", shown, "a\nb\nc\n")
