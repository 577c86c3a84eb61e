"""Tables for the terminal: the solution of a complementarity problem and its certificate."""

from __future__ import annotations

from rich.console import Group
from rich.text import Text

from nonsmooth._support.words import counted
from nonsmooth.cli.terminal.tables import BAD, GOOD, plain_table, titled
from nonsmooth.cli.wording import in_flags
from nonsmooth.complementarity import Solution, Status

_ROWS = (
    ("bounds", "by how much z violates its bounds"),
    ("signs", "by how much F has a sign that no bound allows"),
    ("complementarity", "distance from a bound times F"),
    ("natural_map", "|z − mid(l, z − F, u)|, which is compared with the tolerance"),
)


def complementarity_report(solution: Solution, tolerance: float, most_shown: int) -> Group:
    """Return tables of a solution; z is included if it has few enough variables."""
    problem, statistics, certificate = solution.problem, solution.statistics, solution.certificate
    style = GOOD if solution.status is Status.SOLVED else BAD
    lines = [
        Text(f"{problem.size} variables, {problem.rows} functions"),
        Text.assemble((str(solution.status).capitalize(), style), f": {in_flags(solution.status.sentence)}"),
        Text(
            f"{statistics.solver}, {counted(statistics.iterations, 'iteration')}, "
            f"{counted(statistics.function_evaluations, 'evaluation')} of F and "
            f"{statistics.jacobian_evaluations} of its Jacobian, {statistics.time:.3g} s"
        ),
    ]
    if statistics.note:
        lines.append(Text(statistics.note, "dim"))
    table = plain_table("residual", "largest", "meaning", numbers=("largest",))
    for name, meaning in _ROWS:
        table.add_row(name.replace("_", " "), f"{getattr(certificate, name):.2e}", Text(meaning, "dim"))
    parts: list[object] = [*lines, titled(f"Certificate, tolerance {tolerance:g}", table)]
    if problem.size <= most_shown:
        answer = plain_table("variable", "z", "F", numbers=("variable", "z", "F"))
        values = solution.value.tolist()
        for k, z in enumerate(solution.point.tolist()):
            answer.add_row(str(k), f"{z:.10g}", f"{values[k]:.3g}" if k < len(values) else "")
        parts.append(titled("Answer", answer))
    return Group(*parts)  # type: ignore[arg-type]
