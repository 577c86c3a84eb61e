"""The command `nonsmooth record-problems`: save the contact problems of a run as FCLib files."""

from __future__ import annotations

from dataclasses import dataclass, field
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from nonsmooth.cli.parts import Group, check_folder, command, compile_notice, option, switch, whole_number
from nonsmooth.cli.scene import (
    Duration,
    FoundScene,
    MaxIterations,
    Parameters,
    Quiet,
    SceneName,
    Scheme,
    SolverName,
    SolverOptions,
    Step,
    Threads,
    Tolerance,
    find_scene,
    simulate_scene,
)
from nonsmooth.cli.terminal.console import OUT, headline
from nonsmooth.errors import OptionError

if TYPE_CHECKING:
    from rich.table import Table

    from nonsmooth.io.problems.fclib import FclibInfo, Kind
    from nonsmooth.solvers import Solution
    from nonsmooth.stepping import Frame

_KINDS: tuple[Kind, ...] = ("global", "local")


@command(
    Group.PROBLEMS,
    ("nonsmooth record-problems box-stack --every 50", "four problems"),
    ("nonsmooth record-problems filling --every 5 --limit 2", "stop early"),
    ("nonsmooth record-problems box-wall --every 20 --limit 1 --kind local", "W, q"),
    ("nonsmooth record-problems my_scene.toml --every 5 --output ball", "a scene file"),
    ("nonsmooth record-problems box-on-incline --every 50 --with-solutions", "answers"),
)
def record_problems(
    scene: SceneName,
    every: Annotated[
        int,
        option("--every", "STEPS", "Save the contact problem every N steps.", parser=whole_number),
    ],
    parameters: Parameters = None,
    duration: Duration = None,
    step: Step = None,
    first: Annotated[
        int | None,
        option(
            "--first",
            "STEP",
            "First step to save, counted from 1.",
            default="as --every",
            parser=whole_number,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        option("--limit", "COUNT", "Stop after N problems.", parser=whole_number),
    ] = None,
    contacts_at_least: Annotated[
        int,
        option("--contacts-at-least", "COUNT", "Skip problems with fewer contacts.", parser=whole_number),
    ] = 1,
    kind: Annotated[
        str,
        option("--kind", "KIND", "Form to write: global (M, H, f, w) or local (W, q)."),
    ] = "global",
    with_solutions: Annotated[
        bool,
        switch("--with-solutions", "Also store the impulses and velocities found."),
    ] = False,
    output: Annotated[Path, option("--output", "DIR", "Output folder.")] = Path("problems"),
    solver: SolverName = None,
    option: SolverOptions = None,
    tolerance: Tolerance = None,
    max_iterations: MaxIterations = None,
    scheme: Scheme = None,
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Run a scene and save the contact problem of every Nth step as an FCLib file (HDF5).

    Files are named SCENE-iSTEP-CONTACTS.hdf5. Problems that were not solved are
    also saved, and marked so. Exits with status 0 if every step reached its
    tolerance and the joints held, 2 if not. After Ctrl-C the files written so
    far are kept.
    """
    from nonsmooth._support.words import counted

    name = Path(scene).stem
    _check_counts(every=every, first=first, limit=limit, contacts_at_least=contacts_at_least)
    form = _kind(kind)
    _check_folder(output, name)
    with compile_notice():
        found = find_scene(scene, parameters or [])
        settings = found.with_settings(
            duration=duration, step=step, solver=solver, tolerance=tolerance,
            max_iterations=max_iterations, scheme=scheme, threads=threads, throw=False,
        )  # fmt: skip
        if (law := settings.get("law", "coulomb")) != "coulomb":
            raise OptionError(
                f'{scene} uses the law {law}, but FCLib files store Coulomb friction: set law = "coulomb"'
            )
        recorder = _Recorder(
            name, found, output, every, first or every, limit, contacts_at_least, form, with_solutions,
            settings.get("scheme", "stabilised"),
        )  # fmt: skip
        result = simulate_scene(
            name, found.system, settings, option or [], kept=recorder.kept, last=recorder.last_needed,
            quiet=quiet, observe=recorder.take, until=recorder.is_full,
        )  # fmt: skip
    if not recorder.written:
        most = int(result.steps["contacts"].max(initial=0.0))
        raise OptionError(
            f"no problem was written: of {counted(result.steps.count, 'step')} none that was due (step "
            f"{recorder.first}, then every {every}) has {counted(contacts_at_least, 'contact')} or more, the "
            f"most in any step is {most}; choose a longer --duration, or less for --first, --every or "
            "--contacts-at-least"
        )
    if not quiet:
        headline(name, found.summary)
        OUT.print(recorder.table())
        OUT.print(f"\n{recorder.kept(in_past=True)}", soft_wrap=True)
        if result.certificate.failed or not result.certificate.joints_held:
            OUT.print(str(result.certificate), soft_wrap=True)
    if result.certificate.failed or not result.certificate.joints_held:
        raise typer.Exit(2)


def _check_counts(**counts: int | None) -> None:
    for name, value in counts.items():
        if value is not None and value < 1:
            raise OptionError(f"--{name.replace('_', '-')} is {value}: give a whole number, 1 or more")


def _kind(word: str) -> Kind:
    for kind in _KINDS:
        if word == kind:
            return kind
    raise OptionError(f"--kind {word}: choose one of {', '.join(_KINDS)}")


def _check_folder(folder: Path, name: str) -> None:
    """Check before the run whether files could be overwritten: their names are known only during it."""
    check_folder(folder)
    older = sorted(folder.glob(f"{escape(name)}-i*.hdf5"))
    if older:
        raise OptionError(
            f"{folder} already holds problems of {name} ({older[0].name}): choose another folder with "
            "--output, or delete them"
        )


@dataclass
class _Recorder:
    """Writes the problems of the steps first, first + every, … that have enough contacts."""

    name: str
    scene: FoundScene
    folder: Path
    every: int
    first: int
    limit: int | None
    contacts_at_least: int
    kind: Kind
    with_solutions: bool
    scheme: str = "stabilised"
    written: list[tuple[Path, Solution]] = field(default_factory=list)

    def take(self, frame: Frame) -> None:
        """Write the step's problem if it is wanted."""
        import numpy as np

        from nonsmooth.io.problems.fclib import write_fclib

        solution, wanted = frame.solution, frame.index >= self.first
        if not wanted or (frame.index - self.first) % self.every or self.is_full(frame):
            return
        if solution.problem.contacts < self.contacts_at_least:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{self.name}-i{frame.index:05d}-{solution.problem.contacts}.hdf5"
        solved = frame.status == "solved"
        impulses = np.concatenate([solution.impulses, solution.joint_impulses])
        useful = self.with_solutions and bool(np.isfinite(impulses).all())
        write_fclib(
            solution.problem,
            path,
            kind=self.kind,
            solution=solution if useful and solved else None,
            guesses=(impulses,) if useful and not solved else (),
            info=self._info(frame),
        )
        self.written.append((path, solution))

    def is_full(self, frame: Frame) -> bool:
        """True when no further problem is wanted."""
        return self.limit is not None and len(self.written) >= self.limit

    def last_needed(self, done: int) -> int:
        """The last step needed if all remaining wanted steps have enough contacts."""
        if self.limit is None:
            return 2**62
        left = self.limit - len(self.written)
        if left <= 0:
            return done
        turns = max(0, -(-(done + 1 - self.first) // self.every))  # turns before the next wanted step
        return self.first + (turns + left - 1) * self.every

    def kept(self, in_past: bool = False) -> str:
        """A short summary of the files written; worded for an interrupted run unless `in_past`."""
        from nonsmooth._support.words import counted

        if not self.written:
            return "no problem was written"
        unsolved = sum(str(solution.status) != "solved" for _, solution in self.written)
        problems = counted(len(self.written), "problem")
        text = f"{problems} in {self.folder}" if in_past else f"{problems} kept in {self.folder}"
        return f"{text}, {unsolved} of them not solved to the tolerance" if unsolved else text

    def table(self) -> Table:
        """A table with one row per file."""
        from nonsmooth.cli.terminal.tables import BAD, plain_table

        table = plain_table("file", "contacts", "status", "residual", numbers=("contacts", "residual"))
        for path, solution in self.written:
            status = str(solution.status)
            table.add_row(
                path.name,
                str(solution.problem.contacts),
                Text(status, "" if status == "solved" else BAD),
                f"{solution.certificate.residual:.1e}",
            )
        return table

    def _info(self, frame: Frame) -> FclibInfo:
        """The origin of the problem, and how the run solved it."""
        from nonsmooth import __version__
        from nonsmooth._support.words import counted
        from nonsmooth.io.problems.fclib import FclibInfo

        solution, problem = frame.solution, frame.solution.problem
        summary = self.scene.summary
        parameters = ", ".join(f"{key}={value}" for key, value in self.scene.parameters.items())
        scene = f"the scene {self.name} ({parameters})" if parameters else f"the scene file {self.name}"
        fixed, bodies = int(self.scene.system.fixed.sum()), self.scene.system.count
        found = f"{solution.statistics.solver} at a relative residual of {solution.certificate.residual:.2e}"
        verdict = f"solved by {found}"
        if frame.status != "solved":
            kept = "; its impulses are stored as a guess" if self.with_solutions else ""
            verdict = f"NOT solved: {frame.status} of {found}{kept}"
        joints = f"{counted(problem.joint_rows, 'joint row')}, " if problem.joint_rows else ""
        rows = ", a joint row's its error divided by the step and the rate of its driver" if joints else ""
        biases = f"its bias is the gap divided by the step{rows}"
        if self.scheme != "stabilised":
            biases = "overlaps and joint errors are corrected after the step and are not part of the biases"
        return FclibInfo(
            title=f"{self.name}, step {frame.index}" + (f": {summary}" if summary else ""),
            description=(
                f"Step {frame.index}, which ends at t = {frame.time:.6g} s, of {scene} in steps of "
                f"{frame.step:.6g} s; nonsmooth {__version__}. SI units: masses in kg and kg m^2, velocities "
                "in m/s and rad/s, impulses in N s and N m s. A contact's components are normal, tangent, "
                f"tangent; {biases}."
            ),
            math_info=(
                f"{problem.contacts} contacts, {joints}{bodies} bodies, {fixed} of them fixed (unit mass, no "
                f"contact rows); law {problem.law}; {verdict}"
            ),
        )
