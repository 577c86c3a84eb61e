"""Tables for the terminal: a solution and its certificate, lists of names, a paper's values beside ours.

Impulses are in N·s and velocities in m/s; on acceleration level read N and m/s².
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from nonsmooth._support.words import counted
from nonsmooth.cli.wording import in_flags
from nonsmooth.problem import Certificate
from nonsmooth.solvers import Solution, Status

_SMALL = 10
"""Largest number of contacts, and of joint rows, for which the solution is shown with its certificate."""
GOOD, BAD = "bold green", "bold red"
"""Styles of passed and failed checks."""


def titled(title: str, table: Table) -> Group:
    """Return a table below a blank line and its title."""
    return Group(Text(), Text(title, "bold"), table)


def name_list(title: str, rows: Iterable[tuple[str, str, str]]) -> Group:
    """Return names with their summaries, a paler line of detail below each; rows (name, summary, detail)."""
    table = plain_table("name", "summary")
    for name, summary, detail in rows:
        table.add_row(Text(name, "cyan"), Text.assemble(summary, "\n", (detail, "dim")))
    return titled(title, table)


def comparison_table(rows: Iterable[tuple[str, float | None, float, str, str]]) -> Table:
    """Return a paper's values beside ours; rows (quantity, paper, ours, unit of both, error or note).

    A dash means that the paper prints no value; nan that none was found here.
    """
    table = plain_table("quantity, error or note", "paper", "ours", "unit", numbers=("paper", "ours"))
    for quantity, paper, ours, unit, note in rows:
        what = Text.assemble(quantity, *([("\n" + note, "dim")] if note else []))
        table.add_row(what, "–" if paper is None else f"{paper:.6g}", f"{ours:.6g}", unit)
        table.add_section()
    return table


def solution_report(solution: Solution, tolerance: float) -> Group:
    """Return tables of a solution: size, status, method, certificate, and the values if there are few.

    `tolerance` is the requested relative residual; the time is in s or ms.
    """
    problem, statistics = solution.problem, solution.statistics
    joints = counted(problem.joint_rows, "joint row") if problem.joint_rows else "no joints"
    style = GOOD if solution.status is Status.SOLVED else BAD
    facts = Table.grid(padding=(0, 2))
    facts.add_row("solver", statistics.solver)
    facts.add_row("iterations", str(statistics.iterations))
    facts.add_row("time", duration(statistics.time))
    if statistics.note:
        facts.add_row("note", statistics.note)
    parts: list[RenderableType] = [
        Text(f"{counted(problem.contacts, 'contact')}, {joints}, law {problem.law}\n"),
        Text.assemble((str(solution.status).capitalize(), style), f": {in_flags(solution.status.sentence)}"),
        facts,
        titled("Certificate", certificate_table(solution.certificate, tolerance)),
    ]
    if 0 < problem.contacts <= _SMALL:
        parts.append(titled("Contacts: impulses γ in N·s, velocities u in m/s", contact_table(solution)))
    elif problem.contacts:
        parts.append(Text(f"\n{problem.contacts} contacts are too many to show here: --json prints them all"))
    if 0 < problem.joint_rows <= _SMALL:
        title = "Joint rows: impulses λ in N·s or N·m·s, velocities in m/s or rad/s"
        parts.append(titled(title, joint_table(solution)))
    return Group(*parts)


def certificate_table(certificate: Certificate, tolerance: float) -> Table:
    """Return all residuals with units and meanings, and whether they are within a relative tolerance."""
    table = plain_table(
        "residual", "absolute", "unit", "relative", "meaning", numbers=("absolute", "relative")
    )
    for row in certificate.rows:
        table.add_row(row.name, f"{row.absolute:.2e}", row.unit, f"{row.relative:.2e}", row.meaning)
    table.add_section()
    holds = certificate.holds(tolerance)
    verdict = f"holds to {tolerance:g}" if holds else f"does not hold to {tolerance:g}"
    table.add_row("verdict", "", "", f"{certificate.residual:.2e}", Text(verdict, GOOD if holds else BAD))
    decides = "the larger of momentum balance and natural map"
    table.add_row("", "", "", "", Text(decides, "dim"))
    return table


def contact_table(solution: Solution) -> Table:
    """Return one row per contact: friction μ, impulses γ in N·s, velocities u in m/s, both as (n, t1, t2)."""
    problem = solution.problem
    most = int(problem.components.max())
    parts = ("n", *{1: (), 2: ("t",), 3: ("t1", "t2")}[most])
    columns = ["#", "μ", *(f"{symbol}_{part}" for symbol in ("γ", "u") for part in parts)]
    table = plain_table(*columns, numbers=columns)
    last = problem.components.cumsum()
    for contact, (friction, count, end) in enumerate(
        zip(problem.friction, problem.components, last, strict=True)
    ):
        cells = [str(contact), f"{friction:.3g}"]
        for values in (solution.impulses, solution.contact_velocities):
            cells += [_short(value) for value in values[end - count : end]] + [""] * (most - count)
        table.add_row(*cells)
    return table


def joint_table(solution: Solution) -> Table:
    """Return one row per joint row: impulse λ in N·s or N·m·s, velocity Gᵀv + b_G in m/s or rad/s."""
    columns = ("row", "λ", "Gᵀv + b_G")
    table = plain_table(*columns, numbers=columns)
    for row, values in enumerate(zip(solution.joint_impulses, solution.joint_velocities, strict=True)):
        table.add_row(str(row), *map(_short, values))
    return table


def plain_table(*columns: str, numbers: Sequence[str] = ()) -> Table:
    """Return an empty table in the common style; names and numbers are not broken over two lines."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        whole = column in numbers or column == "name"
        table.add_column(column, justify="right" if column in numbers else "left", no_wrap=whole)
    return table


def duration(seconds: float) -> str:
    """Return a time in s, or in ms if it is short."""
    return f"{seconds:.2f} s" if seconds >= 1.0 else f"{1e3 * seconds:.2f} ms"


def _short(value: float) -> str:
    """Five digits, or three if five would take more than nine characters."""
    text = f"{value:.5g}"
    return text if len(text) <= 9 else f"{value:.2e}"
