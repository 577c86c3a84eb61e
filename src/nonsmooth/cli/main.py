"""The `nonsmooth` command: lists, solves, runs scenes and experiments, and says what is installed.

Exit codes: 0 all went well, 1 a mistake that the user can mend (one sentence on stderr), 2 a problem or
a step that was not solved to its tolerance, or joints that came apart, 130 interrupted. Heavy packages are
imported inside the commands, so that help and mistakes answer at once.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from nonsmooth._support.registry import advice
from nonsmooth.cli.commands.bench import BENCH_EXAMPLES, bench
from nonsmooth.cli.commands.compare import COMPARE_EXAMPLES, compare
from nonsmooth.cli.commands.export import EXPORT_EXAMPLES, export
from nonsmooth.cli.commands.mcp import MCP_EXAMPLES, list_complementarity, mcp
from nonsmooth.cli.commands.record_problems import RECORD_EXAMPLES, record_problems
from nonsmooth.cli.commands.render import RENDER_EXAMPLES, render
from nonsmooth.cli.commands.reproduce import REPRODUCE_EXAMPLES, reproduce
from nonsmooth.cli.commands.run import INSPECT_EXAMPLES, RUN_EXAMPLES, inspect, run
from nonsmooth.cli.commands.view import VIEW_EXAMPLES, view
from nonsmooth.cli.errors import Commands
from nonsmooth.cli.parts import (
    AsJson,
    IterationLimit,
    Method,
    MethodOptions,
    OtherLaw,
    ProblemName,
    TimeLimit,
    WantedResidual,
    check_target,
    compile_notice,
    examples,
)
from nonsmooth.cli.problem import find_problem as _find_problem
from nonsmooth.cli.terminal.console import ERR, OUT, progress_bar
from nonsmooth.errors import OptionError

_SECTIONS = ("scenes", "experiments", "solvers", "problems", "complementarity")


# ---- the command itself -----------------------------------------------------------------------------

app = typer.Typer(
    cls=Commands,
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


def _print_version(wanted: bool) -> None:
    if wanted:
        from nonsmooth import __version__

        OUT.print(f"nonsmooth {__version__}")
        raise typer.Exit


@app.callback(
    invoke_without_command=True,
    epilog=examples(
        ("nonsmooth list", "what there is"),
        ("nonsmooth solve sliding-ball", "solve a problem of the library"),
        ("nonsmooth solve failing.h5 --solver newton", "solve a stored problem"),
        ("nonsmooth compare sliding-ball --solvers auto,newton,apgd", "solvers side by side"),
        ("nonsmooth run filling --record filling.h5", "run a scene"),
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


# ---- list -------------------------------------------------------------------------------------------


@app.command(
    "list",
    epilog=examples(
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
    """Show the scenes, experiments, solvers and problems that there are."""
    from nonsmooth.cli.terminal.tables import name_list

    if section is not None and section not in _SECTIONS:
        raise OptionError(f"there is no section {section!r} to list: {advice(section, _SECTIONS)}")
    shown = [section] if section else _SECTIONS
    if "scenes" in shown:
        _list_scenes()
    if "experiments" in shown:
        _list_experiments()
    if "solvers" in shown:
        from nonsmooth.solvers import REGISTRY

        joints = {True: "joints", False: "no joints"}
        rows = [
            (s.name, s.summary, f"{', '.join(s.laws)}; {joints[s.takes_joints]}") for s in REGISTRY.values()
        ]
        OUT.print(name_list("Solvers", rows))
    if "problems" in shown:
        from nonsmooth.problem.library import NAMED

        OUT.print(name_list("Problems", [(each.name, each.summary, each.source) for each in NAMED.values()]))
        _list_shipped()
    if "complementarity" in shown:
        list_complementarity()


def _list_scenes() -> None:
    from inspect import signature

    from nonsmooth.cli.terminal.tables import name_list
    from nonsmooth.scenes import SCENES

    rows = [
        (each.name, each.summary, f"--set {', '.join(signature(each.build).parameters)}")
        for each in SCENES.values()
    ]
    OUT.print(name_list("Scenes", rows))


def _list_shipped() -> None:
    from nonsmooth.cli.terminal.tables import name_list
    from nonsmooth.io import read_fclib
    from nonsmooth.problem.library import shipped_problems

    infos = {name: read_fclib(path).info for name, path in shipped_problems().items()}
    rows = [(name, info.title, info.math_info) for name, info in infos.items()]
    OUT.print(name_list("Problems in FCLib's format", rows))


def _list_experiments() -> None:
    from nonsmooth.cli.terminal.tables import name_list
    from nonsmooth.experiments import REGISTRY

    OUT.print(name_list("Experiments", [(each.name, each.summary, each.paper) for each in REGISTRY.values()]))


# ---- solve ------------------------------------------------------------------------------------------


@app.command(
    "solve",
    epilog=examples(
        ("nonsmooth solve sliding-ball", "the default solver"),
        ("nonsmooth solve sliding-ball --law relaxed --solver apgd", "another law"),
        ("nonsmooth solve block-slides --solver sor-prox --option omega=0.5", "options"),
        ("nonsmooth solve block-slides --save block.h5 --plot block.png", "keep it"),
        ("nonsmooth solve block.h5 --start block.h5 --tolerance 1e-12", "go on"),
        ("nonsmooth solve block.h5 --json", "for other programs"),
    ),
)
def _solve(
    problem: ProblemName,
    solver: Method = "auto",
    option: MethodOptions = None,
    law: OtherLaw = None,
    tolerance: WantedResidual = 1e-8,
    max_iterations: IterationLimit = None,
    time_limit: TimeLimit = math.inf,
    measure: Annotated[
        str,
        typer.Option(
            "--measure",
            metavar="NAME",
            help="invariant: the certificate's residual; both: Siconos' error too.",
        ),
    ] = "invariant",
    start: Annotated[
        Path | None,
        typer.Option("--start", metavar="FILE", help="Start from the solution stored in this file."),
    ] = None,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Store the problem and its solution (HDF5).")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE.png", help="Draw residual and objective over iterations."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Solve one contact problem and print the answer's certificate.

    Exit code 0 if it was solved to the tolerance, 2 if not; what was found is printed and saved either way.
    On acceleration level read N for N·s and m/s² for m/s.
    """
    from nonsmooth.cli.solver import solver_with
    from nonsmooth.cli.terminal.as_json import solution_as_json
    from nonsmooth.cli.terminal.plots import FORMATS, history_figure
    from nonsmooth.cli.terminal.tables import solution_report
    from nonsmooth.io import read_start, write_problem
    from nonsmooth.problem import siconos_error
    from nonsmooth.solvers import Status, solve

    for target in (save, plot):
        check_target(target)
    if plot is not None and plot.suffix.lower() not in FORMATS:
        raise OptionError(f"--plot {plot}: the name must end in one of {', '.join(FORMATS)}")
    with compile_notice():
        method = solver_with(solver, option or [])
        name, summary, question = _find_problem(problem)
        if law is not None:
            question = question.with_law(law)
        solution = solve(
            question,
            method,
            tolerance=tolerance,
            max_iterations=max_iterations,
            time_limit=time_limit,
            start=None if start is None else read_start(start),
            history=plot is not None,
            throw=False,
            measure=measure,
        )
    if as_json:
        answer = solution_as_json(name, solution, tolerance)
        typer.echo(json.dumps(answer, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        OUT.print(Text.assemble((name, "bold"), f": {summary}" if summary else ""), soft_wrap=True)
        OUT.print(solution_report(solution, tolerance))
        if measure == "both":
            error = siconos_error(question, solution.impulses, solution.joint_impulses)
            verdict = "within" if error <= tolerance else "above"
            OUT.print(f"Siconos' error {error:.2e}, {verdict} {tolerance:g}")
    say = ERR if as_json else OUT
    if save is not None:
        write_problem(question, save, solution=solution)
        say.print(f"Problem and solution stored in {save}", soft_wrap=True)
    if plot is not None:
        history_figure(name, solution, tolerance).savefig(plot)
        say.print(f"History drawn in {plot}", soft_wrap=True)
    if solution.status is not Status.SOLVED:
        raise typer.Exit(2)


# ---- run and inspect --------------------------------------------------------------------------------

app.command("run", epilog=RUN_EXAMPLES)(run)
app.command("inspect", epilog=INSPECT_EXAMPLES)(inspect)
app.command("render", epilog=RENDER_EXAMPLES)(render)
app.command("view", epilog=VIEW_EXAMPLES)(view)
app.command("export", epilog=EXPORT_EXAMPLES)(export)
app.command("record-problems", epilog=RECORD_EXAMPLES)(record_problems)
app.command("bench", epilog=BENCH_EXAMPLES)(bench)
app.command("compare", epilog=COMPARE_EXAMPLES)(compare)
app.command("mcp", epilog=MCP_EXAMPLES)(mcp)
app.command("reproduce", epilog=REPRODUCE_EXAMPLES)(reproduce)


# ---- experiment -------------------------------------------------------------------------------------


@app.command(
    "experiment",
    epilog=examples(
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
        typer.Option(
            "--output", "-o", metavar="DIR", help="Folder for the files.  [dim]\\[results/NAME][/dim]"
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", metavar="", help="Coarser and faster.")] = False,
) -> None:
    """Run an experiment of a paper: writes data and figures, prints the paper's values beside ours."""
    from nonsmooth._support.words import counted
    from nonsmooth.cli.terminal.tables import comparison_table, titled
    from nonsmooth.experiments import REGISTRY

    if name is None:
        _list_experiments()
        return
    experiment = REGISTRY.by_name(name)
    folder = output if output is not None else Path("results") / name
    if folder.exists() and not folder.is_dir():
        raise OptionError(f"--output {folder} is a file: name a folder")
    started = time.time()
    try:
        with compile_notice(), progress_bar(name) as progress:
            summary = experiment.run(folder, quick, progress)
    except KeyboardInterrupt:
        written = [file for file in folder.rglob("*") if file.is_file() and file.stat().st_mtime >= started]
        kept = sorted(file.name for file in written if file.parent == folder)
        what = f"kept {', '.join(kept)} in {folder}" if kept else "no file was written"
        if len(written) > len(kept):
            what = f"what is finished is kept in {folder}; the same command goes on"
        ERR.print(f"Interrupted: {what}.", soft_wrap=True)
        raise typer.Exit(130) from None
    rows = [(row.quantity, row.paper, row.ours, row.unit, row.error_or_note) for row in summary.comparisons]
    OUT.print(titled(f"{summary.experiment}: {summary.paper}", comparison_table(rows)))
    OUT.print(f"\n{counted(len(summary.files), 'file')} in {folder}", soft_wrap=True)
    for sentence in summary.failures:
        ERR.print(f"Failed: {sentence}", soft_wrap=True, markup=False)
    if summary.failures:
        raise typer.Exit(2)


# ---- info -------------------------------------------------------------------------------------------


@app.command("info", epilog=examples(("nonsmooth info", "what to put into a bug report")))
def _info() -> None:
    """Show versions, threads, the cache of compiled kernels, and which optional solvers are present."""
    import platform
    from importlib import metadata

    import numba

    from nonsmooth import __version__
    from nonsmooth._support.kernel_cache import kernel_cache

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
            else "not installed: pip install mosek",
        ),
    ]
    for what, fact in facts:
        OUT.print(f"{what:<14}{fact}", soft_wrap=True)  # a path stays in one piece
