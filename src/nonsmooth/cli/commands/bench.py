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
            "With commas between them: a solver of ours, siconos:METHOD, pinocchio:ADMM, pinocchio:PGS, "
            "clarabel (relaxed law), script:FILE.py; options as :key=value, also tolerance=.",
        ),
    ] = "auto,gauss-seidel,newton",
    tolerance: Annotated[
        float,
        option("--tolerance", "NUMBER", "Asked of all, and judged by.", parser=number),
    ] = 1e-8,
    time_limit: Annotated[
        float,
        option("--time-limit", "SECONDS", "CPU time of one solve.", parser=number),
    ] = 10.0,
    repeat: Annotated[
        int,
        option("--repeat", "COUNT", "Timed solves; the best counts.", parser=whole_number),
    ] = 3,
    tighten: Annotated[
        int,
        option(
            "--tighten",
            "COUNT",
            "Times that a solver which stops too early by the measure is asked for more.",
            parser=whole_number,
        ),
    ] = 3,
    measure: Annotated[
        str,
        option("--measure", "WHICH", "Which error decides: invariant, siconos or both."),
    ] = "invariant",
    clock: Annotated[str, option("--clock", "WHICH", "Rank by cpu or wall time.")] = "cpu",
    dimension: Annotated[
        int | None,
        option("--dimension", "2|3", "Only planar or spatial problems.", parser=whole_number),
    ] = None,
    python: Annotated[
        list[str] | None,
        option("--python", "FILE", "A Python to look for Siconos or Pinocchio in; repeatable."),
    ] = None,
    output: Annotated[Path, option("--output", "DIR", "Folder for the files.")] = Path("results/bench"),
    fresh: Annotated[bool, switch("--fresh", "Measure everything anew.")] = False,
) -> None:
    """Run every solver over every problem file: league table, profile and report.

    Every solve has a process of its own: a crash or a hang is a row of the table.
    What is timed is the call of the solver alone, from the problem in memory to
    the impulses, after a first call that is not timed; CPU time is that of all
    threads. Both errors are recomputed from the problem, for every solver alike.
    Rows are kept as they come: after Ctrl-C the same command goes on.
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
        remarks.append(f"Interrupted after {len(rows)} of {total} rows: the same command goes on.")
        ERR.print(remarks[-1], soft_wrap=True)
    if rows:
        files = write_results(output, rows, league.facts, rules, remarks)
        _print_standings(rows, rules)
        OUT.print(f"\nThe report is {files[-1]}; table and profile are beside it.", soft_wrap=True)
    if interrupted:
        raise typer.Exit(130)


def _contenders(names: str, pythons: list[str]) -> tuple[list[Contender], list[str]]:
    """Build who takes part; packages that are not installed are left out with a sentence."""
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
