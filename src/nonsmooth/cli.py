"""The `nonsmooth` command: lists, solves, runs experiments, and says what is installed.

Exit codes: 0 all went well, 1 a mistake that the user can mend (one sentence on stderr), 2 a problem
that was not solved to its tolerance, 130 interrupted. Heavy packages are imported inside the commands,
so that help and mistakes answer at once.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer.core import TyperGroup

from nonsmooth.errors import NonsmoothError, OptionError

if TYPE_CHECKING:
    from nonsmooth.experiments import Summary
    from nonsmooth.problem import Certificate, ContactProblem
    from nonsmooth.solvers import Solution, Solver

_OUT = Console(markup=False, highlight=False)
_ERR = Console(markup=False, highlight=False, stderr=True)

_SECTIONS = ("scenes", "experiments", "solvers", "problems")
_PLOT_FORMATS = (".png", ".pdf", ".svg")
_SMALL = 10
"""Contacts, and joint rows, up to which the answer itself is printed, not only its certificate."""

# Newer versions of Typer carry their own click: what both have in common is that this is the base class.
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]


# ---- mistakes ---------------------------------------------------------------------------------------


class _Commands(TyperGroup):
    """The group of all commands: a user's mistake ends in one sentence on stderr and exit code 1."""

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run a command line and exit."""
        given = args[0] if args else settings.pop("args", None)
        words = list(sys.argv[1:] if given is None else given)
        debug = "--debug" in words
        # The flag may stand anywhere; the parser wants it in front of the command's name.
        words = ["--debug"] * debug + [word for word in words if word != "--debug"]
        try:
            code = super().main(words, *args[1:], **{**settings, "standalone_mode": False})
        except (NonsmoothError, OSError, _UsageError) as error:
            if debug:
                traceback.print_exception(error)
            _ERR.print(Text("Error:", "bold red"), _sentence(error), soft_wrap=True)
            code = 1
        sys.exit(code or 0)

    def invoke(self, ctx: Any) -> Any:
        """Run the named command; Ctrl-C ends it in one line."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            _ERR.print("Interrupted.")
            raise typer.Exit(130) from None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the named command."""
        if self.get_command(ctx, args[0]) is None:
            raise OptionError(f"there is no command {args[0]!r}: {_advice(args[0], list(self.commands))}")
        return super().resolve_command(ctx, args)


def _sentence(error: Exception) -> str:
    """One sentence for the user about a mistake."""
    if isinstance(error, _UsageError):
        context: Any = getattr(error, "ctx", None)
        option: str | None = getattr(error, "option_name", None)
        text = error.format_message()  # type: ignore[attr-defined]
        if context is not None and text.startswith("No such option"):
            valid = [name for param in context.command.params for name in param.opts if name.startswith("--")]
            text = (
                f"{context.command_path} has no option {option}: {_advice(str(option), [*valid, '--help'])}"
            )
        elif context is not None:
            text = f"{text.rstrip('.')}; see {context.command_path} --help"
    elif isinstance(error, OSError) and error.filename and error.strerror:
        text = f"cannot use {error.filename}: {error.strerror}"
    else:
        text = str(error)
    return " ".join(text.split())


def _advice(wrong: str, valid: Sequence[str]) -> str:
    """Name the closest valid name, or all of them."""
    close = get_close_matches(wrong, valid, n=1)
    return f"did you mean {close[0]}?" if close else f"choose one of {', '.join(valid)}"


def _number(text: str, kind: type = float) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a {'whole ' * (kind is int)}number") from None


def _whole_number(text: str) -> Any:
    return _number(text, int)


# ---- the command itself -----------------------------------------------------------------------------

app = typer.Typer(
    cls=_Commands,
    rich_markup_mode="rich",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the `nonsmooth` command."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without γ shows ? and does not fail
    app(prog_name="nonsmooth")


def _examples(*lines: tuple[str, str]) -> str:
    """Text below a command's help: command lines, each with what it does."""
    return "\n\n".join(
        ["[bold]Examples[/bold]", *(f"[cyan]{line}[/cyan]  [dim]{what}[/dim]" for line, what in lines)]
    )


def _print_version(wanted: bool) -> None:
    if wanted:
        from nonsmooth import __version__

        _OUT.print(f"nonsmooth {__version__}")
        raise typer.Exit


@app.callback(
    invoke_without_command=True,
    epilog=_examples(
        ("nonsmooth list", "what there is"),
        ("nonsmooth solve sliding-ball", "solve a problem of the library"),
        ("nonsmooth solve failing.h5 --solver newton", "solve a stored problem"),
        ("nonsmooth experiment", "the papers' experiments"),
    ),
)
def _root(
    context: typer.Context,
    debug: Annotated[
        bool, typer.Option("--debug", metavar="", help="Show the traceback of an error.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", metavar="", help="Show the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Rigid contact with exact Coulomb friction, and a certificate with every answer."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@contextmanager
def _compile_notice() -> Iterator[None]:
    """Say on stderr when kernels are being compiled."""
    from nonsmooth._kernel_cache import watch_compilation

    with watch_compilation(lambda text: _ERR.print(text, style="dim")):
        yield


def _table(*columns: str, numbers: Sequence[str] = ()) -> Table:
    """Return an empty table in the house style; names and numbers are never broken over two lines."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        whole = column in numbers or column == "name"
        table.add_column(column, justify="right" if column in numbers else "left", no_wrap=whole)
    return table


def _print_table(title: str, table: Table) -> None:
    _OUT.print()
    _OUT.print(Text(title, "bold"))
    _OUT.print(table)


# ---- list -------------------------------------------------------------------------------------------


@app.command(
    "list",
    epilog=_examples(
        ("nonsmooth list", "everything"),
        ("nonsmooth list solvers", "the solvers and what they take"),
        ("nonsmooth list problems", "the problems of the library"),
    ),
)
def _list(
    section: Annotated[
        str | None,
        typer.Argument(metavar="SECTION", help=f"One of {', '.join(_SECTIONS)}; all if left out."),
    ] = None,
) -> None:
    """Show the scenes, experiments, solvers and library problems that there are."""
    if section is not None and section not in _SECTIONS:
        raise OptionError(f"there is no section {section!r} to list: {_advice(section, _SECTIONS)}")
    shown = [section] if section else _SECTIONS
    if "scenes" in shown:
        _OUT.print(Text("Scenes", "bold"), "none yet", sep=": ")
    if "experiments" in shown:
        _list_experiments()
    if "solvers" in shown:
        from nonsmooth.solvers import REGISTRY

        joints = {True: "joints", False: "no joints"}
        rows = [
            (s.name, s.summary, f"{', '.join(s.laws)}; {joints[s.takes_joints]}") for s in REGISTRY.values()
        ]
        _print_list("Solvers", rows)
    if "problems" in shown:
        from nonsmooth.library import NAMED

        _print_list("Problems", [(named.name, named.summary, named.source) for named in NAMED.values()])


def _list_experiments() -> None:
    from nonsmooth.experiments import REGISTRY

    _print_list("Experiments", [(each.name, each.summary, each.paper) for each in REGISTRY.values()])


def _print_list(title: str, rows: Iterable[tuple[str, str, str]]) -> None:
    """Print names with their summaries, and a paler line of detail below each."""
    table = _table("name", "summary")
    for name, summary, detail in rows:
        table.add_row(Text(name, "cyan"), Text.assemble(summary, "\n", (detail, "dim")))
    _print_table(title, table)


# ---- solve ------------------------------------------------------------------------------------------


@app.command(
    "solve",
    epilog=_examples(
        ("nonsmooth solve sliding-ball", "the default solver"),
        ("nonsmooth solve sliding-ball --law relaxed --solver apgd", "another law"),
        ("nonsmooth solve block-slides --solver sor-prox --option omega=0.5", "options"),
        ("nonsmooth solve block-slides --save block.h5 --plot block.png", "keep it"),
        ("nonsmooth solve block.h5 --initial block.h5 --tolerance 1e-12", "go on"),
        ("nonsmooth solve block.h5 --json", "for other programs"),
    ),
)
def _solve(
    problem: Annotated[
        str,
        typer.Argument(metavar="PROBLEM", help="A problem file (HDF5), or a library problem."),
    ],
    solver: Annotated[
        str,
        typer.Option("--solver", metavar="NAME", help="The method; see [cyan]nonsmooth list solvers[/cyan]."),
    ] = "auto",
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="KEY=VALUE", help="Set an option of the solver; may be repeated."),
    ] = None,
    law: Annotated[
        str | None,
        typer.Option(
            "--law", metavar="LAW", help="coulomb, relaxed or pyramid(8) in place of the problem's law."
        ),
    ] = None,
    tolerance: Annotated[
        float, typer.Option("--tolerance", metavar="NUMBER", parser=_number, help="Wanted relative residual.")
    ] = 1e-8,
    max_iterations: Annotated[
        int | None,
        typer.Option("--max-iterations", metavar="COUNT", parser=_whole_number, help="Iteration limit."),
    ] = None,
    time_limit: Annotated[
        float,
        typer.Option(
            "--time-limit", metavar="SECONDS", parser=_number, help="Time limit.", show_default=False
        ),
    ] = math.inf,
    initial: Annotated[
        Path | None,
        typer.Option("--initial", metavar="FILE", help="Start from the solution stored in this file."),
    ] = None,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Store the problem and its solution (HDF5).")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE.png", help="Draw residual and objective over iterations."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Print everything as JSON.")] = False,
) -> None:
    """Solve one contact problem and print the answer's certificate.

    Exit code 0 if it was solved to the tolerance, 2 if not; what was found is printed and saved either way.
    On acceleration level read N for N·s and m/s² for m/s.
    """
    for target in (save, plot):
        _check_target(target)
    if plot is not None and plot.suffix.lower() not in _PLOT_FORMATS:
        raise OptionError(f"--plot {plot}: the name must end in one of {', '.join(_PLOT_FORMATS)}")
    from nonsmooth.io import read_initial, write_problem
    from nonsmooth.solvers import Status, solve

    with _compile_notice():
        method = _solver_with(solver, option or [])
        name, summary, question = _find_problem(problem)
        if law is not None:
            question = question.with_law(law)
        solution = solve(
            question,
            method,
            tolerance=tolerance,
            max_iterations=max_iterations,
            time_limit=time_limit,
            initial=None if initial is None else read_initial(initial),
            record=plot is not None,
            throw=False,
        )
    if as_json:
        typer.echo(
            json.dumps(_as_json(name, solution, tolerance), indent=2, ensure_ascii=False, allow_nan=False)
        )
    else:
        _OUT.print(Text.assemble((name, "bold"), f": {summary}" if summary else ""), soft_wrap=True)
        _print_solution(solution, tolerance)
    say = _ERR if as_json else _OUT
    if save is not None:
        write_problem(question, save, solution=solution)
        say.print(f"Problem and solution stored in {save}", soft_wrap=True)
    if plot is not None:
        _plot_history(name, solution, tolerance, plot)
        say.print(f"History drawn in {plot}", soft_wrap=True)
    if solution.status is not Status.SOLVED:
        raise typer.Exit(2)


def _check_target(path: Path | None) -> None:
    """Find out before a long run whether its file has a folder to go to."""
    if path is not None and not path.absolute().parent.is_dir():
        raise OptionError(f"cannot write {path}: there is no folder {path.parent}")


def _find_problem(name: str) -> tuple[str, str, ContactProblem]:
    """Read a file, or build a problem of the library; return its name, its summary and itself."""
    from nonsmooth.io import read_problem
    from nonsmooth.library import NAMED

    if not Path(name).exists() and name in NAMED:
        return name, NAMED[name].summary, NAMED[name].build()
    if not Path(name).exists():
        raise OptionError(
            f"{name!r} is neither a file nor a problem of the library: {_advice(name, list(NAMED))}"
        )
    return name, "", read_problem(name)


def _solver_with(name: str, pairs: Iterable[str]) -> Solver:
    """Build a solver with options given as key=value."""
    import dataclasses
    import typing

    from nonsmooth.solvers import REGISTRY

    if name not in REGISTRY:
        raise OptionError(f"there is no solver {name!r}: {_advice(name, list(REGISTRY))}")
    kind = REGISTRY[name]
    hints = typing.get_type_hints(kind)
    valid = {field.name: hints[field.name] for field in dataclasses.fields(kind)}
    options: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        key = key.strip().replace("-", "_")
        if not equals:
            raise OptionError(f"--option {pair}: give it as key=value")
        if key not in valid:
            known = f"choose one of {', '.join(valid)}" if valid else "it has none"
            raise OptionError(f"solver {name} has no option {key!r}: {known}")
        if key in options:
            raise OptionError(f"--option {key} is given twice: give it once")
        options[key] = _converted(f"--option {pair}", text.strip(), valid[key])
    return kind(**options)


def _converted(place: str, text: str, hint: Any) -> Any:
    """Turn text into the type of a dataclass field: a number, a word, yes or no, a list, an inner solver."""
    import types
    import typing

    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        members = [member for member in typing.get_args(hint) if member is not type(None)]
        if text.lower() == "none" and len(members) < len(typing.get_args(hint)):
            return None
        hint = members[0] if len(members) == 1 else list
    if hint is str:
        return text
    if hint is bool:
        answers = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if text.lower() not in answers:
            raise OptionError(f"{place}: give true or false")
        return answers[text.lower()]
    if hint in (int, float):
        try:
            return hint(text)
        except ValueError:
            wanted = "a whole number" if hint is int else "a number"
            raise OptionError(f"{place}: {text!r} is not {wanted}") from None
    if hint is list:
        numbers = [_converted(place, part, float) for part in text.split(",")]
        return numbers if "," in text else numbers[0]
    return _solver_with(text, [])


def _print_solution(solution: Solution, tolerance: float) -> None:
    from nonsmooth.solvers import Status

    problem, statistics = solution.problem, solution.statistics
    joints = _count(problem.joint_rows, "joint row") if problem.joint_rows else "no joints"
    _OUT.print(f"{_count(problem.contacts, 'contact')}, {joints}, law {problem.law}\n")
    solved = solution.status is Status.SOLVED
    style = "bold green" if solved else "bold red"
    _OUT.print(Text.assemble((str(solution.status).capitalize(), style), f": {solution.status.sentence}"))
    facts = Table.grid(padding=(0, 2))
    facts.add_row("solver", statistics.solver)
    facts.add_row("iterations", str(statistics.iterations))
    facts.add_row("time", _duration(statistics.time))
    if statistics.note:
        facts.add_row("note", statistics.note)
    _OUT.print(facts)
    _print_table("Certificate", _certificate_table(solution.certificate, tolerance))
    if 0 < problem.contacts <= _SMALL:
        _print_table("Contacts: impulses γ in N·s, velocities u in m/s", _contact_table(solution))
    if 0 < problem.joint_rows <= _SMALL:
        _print_table(
            "Joint rows: impulses λ in N·s or N·m·s, velocities in m/s or rad/s", _joint_table(solution)
        )


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1.0 else f"{1e3 * seconds:.2f} ms"


def _certificate_table(certificate: Certificate, tolerance: float) -> Table:
    table = _table("residual", "absolute", "unit", "relative", "meaning", numbers=("absolute", "relative"))
    for row in certificate.rows:
        table.add_row(row.name, f"{row.absolute:.2e}", row.unit, f"{row.relative:.2e}", row.meaning)
    table.add_section()
    holds = certificate.holds(tolerance)
    verdict = f"holds to {tolerance:g}" if holds else f"does not hold to {tolerance:g}"
    style = "bold green" if holds else "bold red"
    table.add_row("verdict", "", "", f"{certificate.residual:.2e}", Text(verdict, style))
    return table


def _contact_table(solution: Solution) -> Table:
    problem = solution.problem
    most = int(problem.components.max())
    parts = ("n", *{1: (), 2: ("t",), 3: ("t1", "t2")}[most])
    columns = ["#", "μ", *(f"{symbol}_{part}" for symbol in ("γ", "u") for part in parts)]
    table = _table(*columns, numbers=columns)
    last = problem.components.cumsum()
    for contact, (friction, count, end) in enumerate(
        zip(problem.friction, problem.components, last, strict=True)
    ):
        cells = [str(contact), f"{friction:.3g}"]
        for values in (solution.impulses, solution.contact_velocities):
            cells += [_short(value) for value in values[end - count : end]] + [""] * (most - count)
        table.add_row(*cells)
    return table


def _joint_table(solution: Solution) -> Table:
    columns = ("row", "λ", "Gᵀv + b_G")
    table = _table(*columns, numbers=columns)
    for row, values in enumerate(zip(solution.joint_impulses, solution.joint_velocities, strict=True)):
        table.add_row(str(row), *map(_short, values))
    return table


def _short(value: float) -> str:
    """Five digits, or three where they would take more than nine characters."""
    text = f"{value:.5g}"
    return text if len(text) <= 9 else f"{value:.2e}"


def _as_json(name: str, solution: Solution, tolerance: float) -> dict[str, Any]:
    """Everything about a solution; numbers that were not found are null."""
    from nonsmooth.solvers import Status

    problem, statistics, certificate = solution.problem, solution.statistics, solution.certificate
    velocity = None if solution.velocity is None else _numbers(solution.velocity)
    return {
        "problem": {
            "name": name,
            "contacts": problem.contacts,
            "components": problem.components.tolist(),
            "joint_rows": problem.joint_rows,
            "law": str(problem.law),
        },
        "status": str(solution.status),
        "sentence": solution.status.sentence,
        "solved": solution.status is Status.SOLVED,
        "solver": statistics.solver,
        "iterations": statistics.iterations,
        "time": statistics.time,
        "note": statistics.note,
        "tolerance": tolerance,
        "residual": _finite(certificate.residual),
        "certificate": {
            row.name: {"absolute": _finite(row.absolute), "unit": row.unit, "relative": _finite(row.relative)}
            for row in certificate.rows
        },
        "dissipation": _finite(certificate.dissipation),
        "impulses": _numbers(solution.impulses),
        "joint_impulses": _numbers(solution.joint_impulses),
        "contact_velocities": _numbers(solution.contact_velocities),
        "velocity": velocity,
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _numbers(values: Iterable[float]) -> list[float | None]:
    return [_finite(value) for value in values]


def _plot_history(name: str, solution: Solution, tolerance: float, path: Path) -> None:
    """Draw residual and objective over the iterations."""
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    history = solution.statistics.history
    figure = Figure(figsize=(7.0, 5.5), layout="constrained")
    FigureCanvasAgg(figure)
    upper, lower = figure.subplots(2, 1, sharex=True)
    figure.suptitle(
        f"{name}, law {solution.problem.law}: {solution.status} by {solution.statistics.solver}", wrap=True
    )
    upper.semilogy(history.iteration, np.where(history.residual > 0.0, history.residual, np.nan), marker=".")
    upper.axhline(tolerance, color="0.4", linestyle="--", linewidth=1.0, label=f"tolerance {tolerance:g}")
    upper.legend(loc="best")
    upper.set_ylabel("relative residual")
    lower.plot(history.iteration, history.objective, marker=".")
    lower.set_ylabel("objective ½ γᵀNγ + qᵀγ (J)")
    lower.set_xlabel("iteration")
    lower.xaxis.set_major_locator(MaxNLocator(integer=True))
    for axes in (upper, lower):
        axes.grid(True, color="0.9")
    figure.savefig(path, dpi=150)


# ---- experiment -------------------------------------------------------------------------------------


@app.command(
    "experiment",
    epilog=_examples(
        ("nonsmooth experiment", "list them"),
        ("nonsmooth experiment melanz-ball", "files go to results/melanz-ball"),
        ("nonsmooth experiment melanz-ball --quick --output trial", "a coarser run"),
    ),
)
def _experiment(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Which one; lists them if left out.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="DIR", help="Folder for the files.  [dim]\\[results/NAME][/dim]"),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", metavar="", help="Coarser and faster.")] = False,
) -> None:
    """Run an experiment of a paper: writes data and figures, prints the paper's values beside ours."""
    from nonsmooth.experiments import REGISTRY

    if name is None:
        _list_experiments()
        return
    if name not in REGISTRY:
        raise OptionError(f"there is no experiment {name!r}: {_advice(name, list(REGISTRY))}")
    folder = output if output is not None else Path("results") / name
    if folder.exists() and not folder.is_dir():
        raise OptionError(f"--output {folder} is a file: name a folder")
    started = time.time()
    try:
        with _compile_notice(), _progress_bar(name) as progress:
            summary = REGISTRY[name].run(folder, quick, progress)
    except KeyboardInterrupt:
        kept = sorted(file.name for file in folder.glob("*") if file.stat().st_mtime >= started)
        what = f"kept {', '.join(kept)} in {folder}" if kept else "no file was written"
        _ERR.print(f"Interrupted: {what}.", soft_wrap=True)
        raise typer.Exit(130) from None
    _print_summary(summary)
    _OUT.print(f"\n{_count(len(summary.files), 'file')} in {folder}", soft_wrap=True)


@contextmanager
def _progress_bar(name: str) -> Iterator[Callable[[int, int, str], None]]:
    """Show a bar with the time left on stderr; give the function that moves it."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Column

    what = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, ratio=1))
    columns = (what, BarColumn(24), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=_ERR, expand=True, transient=True) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total, now: bar.update(task, completed=done, total=total, description=now)


def _print_summary(summary: Summary) -> None:
    table = _table("quantity, error or note", "paper", "ours", "unit", numbers=("paper", "ours"))
    for row in summary.comparisons:
        quantity = Text.assemble(
            row.quantity, *([("\n" + row.error_or_note, "dim")] if row.error_or_note else [])
        )
        paper = "–" if row.paper is None else f"{row.paper:.6g}"
        table.add_row(quantity, paper, f"{row.ours:.6g}", row.unit)
        table.add_section()
    _print_table(f"{summary.experiment}: {summary.paper}", table)


# ---- info -------------------------------------------------------------------------------------------


@app.command("info", epilog=_examples(("nonsmooth info", "what to put into a bug report")))
def _info() -> None:
    """Show versions, threads, the cache of compiled kernels, and which optional solvers are present."""
    import platform
    from importlib import metadata

    import numba

    from nonsmooth import __version__
    from nonsmooth._kernel_cache import kernel_cache

    def version(package: str) -> str | None:
        try:
            return metadata.version(package)
        except metadata.PackageNotFoundError:
            return None

    cache = kernel_cache()
    state = f"warm, {cache.compiled} of {cache.kernels} kernels compiled" if cache.warm else "cold"
    clarabel, mosek = version("clarabel"), version("mosek")
    packages = ("numpy", "scipy", "numba", "h5py", "matplotlib", "typer", "rich")
    facts = [
        ("nonsmooth", __version__),
        ("Python", f"{platform.python_version()} on {platform.platform(terse=True)}"),
        *((package, version(package) or "not installed") for package in packages),
        ("threads", f"{numba.get_num_threads()} for kernels, {os.cpu_count()} processors"),
        ("kernel cache", f"{state}; {cache.files} files, {cache.size / 1e6:.1f} MB"),
        ("", f"under {cache.location}"),
        ("Clarabel", f"installed, {clarabel}" if clarabel else "not installed: pip install clarabel"),
        (
            "Mosek",
            f"installed, {mosek}; its licence is looked at when it is used"
            if mosek
            else "not installed: pip install 'nonsmooth[mosek]'",
        ),
    ]
    for what, fact in facts:
        _OUT.print(f"{what:<14}{fact}", soft_wrap=True)  # a path stays in one piece
