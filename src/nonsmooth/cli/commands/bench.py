"""The command `bench`: the league table of solvers over a folder of problem files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nonsmooth._support.registry import advice
from nonsmooth.cli.parts import Group, check_folder, command, number, option, switch, whole_number
from nonsmooth.cli.terminal.console import ERR, OUT, progress_bar
from nonsmooth.errors import MissingSolverError, OptionError

if TYPE_CHECKING:
    from nonsmooth.bench import Contender, Row, Rules


@command(
    Group.PROBLEMS,
    ("nonsmooth bench problems", "the default solver and two others"),
    ("nonsmooth bench problems --solvers auto,newton,siconos:PROX", "beside Siconos"),
    ("nonsmooth bench problems --solvers gauss-seidel:acceleration=none,auto", "options"),
    ("nonsmooth bench problems --solvers auto,siconos:ADMM:rho=scaled:tolerance=1e-12", "more options"),
    ("nonsmooth bench problems --solvers auto,pinocchio:ADMM,clarabel,script:mine.py", "others"),
    ("nonsmooth bench problems --measure siconos --dimension 3", "by Siconos' error"),
)
def bench(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="Folder of problem files (HDF5, FCLib, Siconos), or one file."),
    ],
    solvers: Annotated[
        str,
        option(
            "--solvers",
            "NAMES",
            "Comma-separated: a built-in solver, siconos:METHOD, pinocchio:ADMM, pinocchio:PGS, "
            "clarabel (relaxed law), script:FILE.py; append options, also tolerance, as :key=value.",
        ),
    ] = "auto,gauss-seidel,newton",
    tolerance: Annotated[
        float,
        option("--tolerance", "NUMBER", "Tolerance that every solver must reach.", parser=number),
    ] = 1e-8,
    time_limit: Annotated[
        float,
        option("--time-limit", "SECONDS", "CPU time limit of one solve.", parser=number),
    ] = 10.0,
    repeat: Annotated[
        int,
        option("--repeat", "COUNT", "Number of timed solves; the fastest counts.", parser=whole_number),
    ] = 3,
    tighten: Annotated[
        int,
        option(
            "--tighten",
            "COUNT",
            "Number of times to tighten the tolerance of a solver that stops before the measure is met.",
            parser=whole_number,
        ),
    ] = 3,
    measure: Annotated[
        str,
        option("--measure", "WHICH", "Error compared with the tolerance: invariant, siconos or both."),
    ] = "invariant",
    clock: Annotated[str, option("--clock", "WHICH", "Rank by cpu or wall time.")] = "cpu",
    dimension: Annotated[
        int | None,
        option("--dimension", "2|3", "Solve only planar (2) or spatial (3) problems.", parser=whole_number),
    ] = None,
    python: Annotated[
        list[str] | None,
        option("--python", "FILE", "Python interpreter that has Siconos or Pinocchio; may be repeated."),
    ] = None,
    output: Annotated[Path, option("--output", "DIR", "Output folder.")] = Path("results/bench"),
    fresh: Annotated[bool, switch("--fresh", "Discard saved results and run again.")] = False,
) -> None:
    """Run every solver on every problem file; write a league table, a profile and a report.

    Every solve runs in a separate process: a crash or a hang is a row of the table.
    The time is that of the solver call, from the problem in memory to the impulses,
    after one untimed call; CPU time is summed over all threads.
    Both errors are recomputed from the problem, in the same way for every solver.
    Rows are saved as they are measured: after Ctrl-C, run the same command to continue.
    """
    from nonsmooth.bench import League, Rules, Settings, find_entries, write_results
    from nonsmooth.bench.measure import MEASURES
    from nonsmooth.bench.standings import CLOCKS

    for flag, value, valid in (("--measure", measure, MEASURES), ("--clock", clock, CLOCKS)):
        if value not in valid:
            raise OptionError(f"{flag} {value}: {advice(value, list(valid))}")
    for flag, size in (("--tolerance", tolerance), ("--time-limit", time_limit), ("--repeat", repeat)):
        if not size > 0:
            raise OptionError(f"{flag} {size}: it must be positive")
    if tighten < 0:
        raise OptionError(f"--tighten {tighten}: it must not be negative")
    if dimension not in (None, 2, 3):
        raise OptionError(f"--dimension {dimension}: give 2 or 3")
    check_folder(output)
    for name in python or []:
        if not Path(name).is_file():
            raise OptionError(f"--python {name}: there is no such file")
    settings = Settings(tolerance, measure, time_limit, repeat, tighten)  # type: ignore[arg-type]
    rules = Rules(settings, clock)  # type: ignore[arg-type]
    contenders, remarks = _contenders(solvers, python or [])
    entries, refused = find_entries(folder, dimension)
    remarks += [f"Left out: {name}: {reason}" for name, reason in refused.items()]
    for remark in remarks:
        ERR.print(remark, soft_wrap=True)
    league = League(output, fresh=fresh)
    interrupted = False
    try:
        with progress_bar("bench") as progress:
            league.run(entries, contenders, settings, progress)
    except KeyboardInterrupt:
        interrupted = True
    rows = league.select(entries, contenders, settings)
    if interrupted:
        total = len(entries) * len(contenders)
        remarks.append(f"Interrupted after {len(rows)} of {total} rows; run the same command to continue.")
        ERR.print(remarks[-1], soft_wrap=True)
    if rows:
        files = write_results(output, rows, league.facts, rules, remarks)
        _print_standings(rows, rules)
        OUT.print(
            f"\nReport written to {files[-1]}, with the table and the profile beside it.", soft_wrap=True
        )
    if interrupted:
        raise typer.Exit(130)


def _contenders(names: str, pythons: list[str]) -> tuple[list[Contender], list[str]]:
    """Build the contenders; those whose package is not installed are left out with a notice."""
    from nonsmooth.bench import Contender, peer_contender
    from nonsmooth.cli.solver import solver_with
    from nonsmooth.solvers import REGISTRY

    found: list[Contender] = []
    absent: list[str] = []
    for label in dict.fromkeys(name.strip() for name in names.split(",") if name.strip()):
        first, *words = label.split(":")
        try:
            if first not in REGISTRY:
                found.append(peer_contender(label, pythons))
                continue
        except MissingSolverError as error:
            absent.append(f"Left out: {error}")
            continue
        own = [word.partition("=")[2] for word in words if word.startswith("tolerance=")]
        solver = solver_with(first, [word for word in words if not word.startswith("tolerance=")])
        wanted = float(number(own[-1])) if own else None
        found.append(Contender.of_solver(label, solver, tolerance=wanted))
    labels = [contender.label for contender in found]
    for label in labels:
        if labels.count(label) > 1:
            raise OptionError(f"two solvers are called {label}: rename one")
    if not found:
        raise OptionError("no solver takes part: " + (absent[0] if absent else "name some with --solvers"))
    return found, absent


def _print_standings(rows: list[Row], rules: Rules) -> None:
    from nonsmooth.bench import standings
    from nonsmooth.cli.terminal.tables import plain_table, titled

    columns = ("name", "solved", "first", "ms", "× best", "miss", "late", "crash", "n/a")
    table = plain_table(*columns, numbers=columns[1:])
    for line in standings(rows, rules):
        means = (1e3 * line.mean_time, line.against_best)
        times = ("–" if math.isnan(mean) else f"{mean:.3g}" for mean in means)
        numbers = (line.fastest, *times, line.missed, line.late, line.crashed, line.unsupported)
        table.add_row(line.solver, f"{line.solved}/{line.problems}", *map(str, numbers))
    settings = rules.settings
    title = f"Solved to {settings.tolerance:g} ({settings.measure}), by {rules.clock} time (geometric means)"
    OUT.print(titled(title, table))
