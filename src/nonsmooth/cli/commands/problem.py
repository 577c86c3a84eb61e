"""The command `nonsmooth problem`: show a problem file, and convert it to another format."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich.text import Text

from nonsmooth._support.registry import advice
from nonsmooth.cli.parts import AsJson, Group, OtherLaw, ProblemName, check_target, command, option, switch
from nonsmooth.cli.problem import problem_contents
from nonsmooth.cli.terminal.console import ERR, OUT, print_json
from nonsmooth.errors import OptionError

if TYPE_CHECKING:
    from nonsmooth._support.arrays import Floats
    from nonsmooth.io.problems.base import Contents, ProblemFormat
    from nonsmooth.problem import ContactProblem

_KINDS = ("global", "local")


@command(
    Group.PROBLEMS,
    ("nonsmooth problem block.hdf5", "contents of the file"),
    ("nonsmooth problem block.hdf5 -o block.dat", "as text for Siconos"),
    ("nonsmooth problem block.hdf5 -o w.hdf5 --kind local", "W and q in place of M, H, f, w"),
    ("nonsmooth problem cube-glides -o cube.hdf5 --fresh", "overwrite an existing file"),
    ("nonsmooth problem block.h5 -o b.dat --law coulomb", "with another law"),
)
def problem(
    problem: ProblemName,
    output: Annotated[
        Path | None,
        option(
            "--output -o", "FILE", "Write the problem to .h5 (own format), .hdf5 (FCLib) or .dat (Siconos)."
        ),
    ] = None,
    form: Annotated[
        str | None,
        option(
            "--format", "NAME", "Format of the output file: own, fclib or siconos.", default="by its ending"
        ),
    ] = None,
    kind: Annotated[
        str | None,
        option(
            "--kind",
            "KIND",
            "Form to write: global (M, H, f, w) or local (W, q).",
            default="global if masses are known",
        ),
    ] = None,
    law: OtherLaw = None,
    fresh: Annotated[bool, switch("--fresh", "Overwrite an existing file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the contents of a problem file, and convert it to another format.

    Residuals of stored solutions and guesses are recomputed from the problem.
    Data that the other format cannot store is listed.
    """
    if output is None:
        for flag, value in (("--format", form), ("--kind", kind), ("--fresh", fresh or None)):
            if value is not None:
                raise OptionError(f"{flag} applies to the output file: name it with -o FILE")
    if kind not in (None, *_KINDS):
        raise OptionError(f"--kind {kind}: choose one of {', '.join(_KINDS)}")
    target = None if output is None else _target(output, form, fresh)
    title, contents = problem_contents(problem)
    if law is not None:
        contents = replace(contents, problem=contents.problem.with_law(law))
    lost: tuple[str, ...] = ()
    if target is not None and output is not None:
        lost = target.write(output, replace(contents, kind=kind or ""))
    if as_json:
        print_json(_facts(problem, title, contents))
    else:
        _show(problem, title, contents)
    if target is None:
        return
    say = ERR if as_json else OUT
    say.print(f"Written to {output}, {target.title}", soft_wrap=True)
    if lost:
        say.print(f"Left out, because this format cannot store it: {', '.join(lost)}", soft_wrap=True)


def _target(output: Path, name: str | None, fresh: bool) -> ProblemFormat:
    """Return the format of the output file; raises if the file exists and is not to be overwritten."""
    from nonsmooth.io.problems.formats import FORMATS

    check_target(output)
    if name is not None and name not in FORMATS:
        raise OptionError(f"--format {name}: {advice(name, list(FORMATS))}")
    found = [each for each in FORMATS.values() if output.suffix.lower() == each.suffix]
    if name is None and not found:
        endings = ", ".join(f"{each.suffix} ({each.name})" for each in FORMATS.values())
        raise OptionError(f"-o {output}: end the name in one of {endings}, or choose a --format")
    if output.exists() and not fresh:
        raise OptionError(f"{output} exists already: overwrite it with --fresh, or name another file")
    return found[0] if name is None else FORMATS[name]


def _facts(name: str, title: str, contents: Contents) -> dict[str, Any]:
    """The facts to show, by name; numbers in SI units."""
    import numpy as np

    problem = contents.problem
    counts = np.bincount(problem.components, minlength=4)
    bounded = int(np.isfinite(problem.joint_bounds).any(axis=1).sum())
    facts: dict[str, Any] = {
        "problem": name,
        "format": title,
        "kind": contents.kind,
        "law": str(problem.law),
        "contacts": problem.contacts,
        "contacts_by_components": {str(k): int(counts[k]) for k in (1, 2, 3) if counts[k]},
        "joint_rows": problem.joint_rows,
        "bounded_joint_rows": bounded,
        "friction": [float(problem.friction.min()), float(problem.friction.max())]
        if problem.contacts
        else [],
        "unknowns": problem.layout.rows,
        "masses": problem.has_masses,
        "freedoms": len(problem.momentum) if problem.has_masses else None,
        "words": dict(contents.words),
        "solution_residual": None if contents.solution is None else _residual(problem, contents.solution),
        "guess_residuals": [_residual(problem, guess) for guess in contents.guesses],
    }
    return facts


def _residual(problem: ContactProblem, start: Floats) -> float | None:
    """Relative residual of stored impulses; None where they are not finite."""
    from nonsmooth.problem.certificate import certify

    rows = problem.layout.contact_rows
    velocity = problem.velocity(start[:rows], start[rows:]) if problem.has_masses else None
    found = certify(problem, start[:rows], start[rows:], velocity).residual
    return found if math.isfinite(found) else None


def _show(name: str, title: str, contents: Contents) -> None:
    facts = _facts(name, title, contents)
    by_components = facts["contacts_by_components"].items()
    contacts = ", ".join(f"{count} of {k} components" for k, count in by_components)
    friction = facts["friction"]
    joints = f"{facts['joint_rows']}"
    if facts["bounded_joint_rows"]:
        joints += f", {facts['bounded_joint_rows']} with bounds"
    rows = [
        ("format", f"{title}, {contents.kind}".removesuffix(", ")),
        ("law", facts["law"]),
        ("contacts", contacts or "0"),
        ("friction", "" if not friction else " to ".join(dict.fromkeys(f"{each:g}" for each in friction))),
        ("joint rows", joints),
        ("unknowns", f"{facts['unknowns']} impulses"),
        ("masses", f"{facts['freedoms']} coordinates" if facts["masses"] else "unknown, given by W and q"),
        *((what, fact) for what, fact in contents.words.items() if not what.endswith(" stored")),
    ]
    if contents.solution is not None and "status stored" in contents.words:
        rows.append(("found by", f"{contents.words['solver stored']}, {contents.words['status stored']}"))
    residuals = [("solution", facts["solution_residual"])] if contents.solution is not None else []
    residuals += [(f"guess {k + 1}", each) for k, each in enumerate(facts["guess_residuals"])]
    rows += [
        (what, "not finite" if found is None else f"residual {found:.2e}, relative, recomputed")
        for what, found in residuals
    ]
    OUT.print(Text(name, "bold"), soft_wrap=True)
    for what, fact in rows:
        if fact:
            OUT.print(f"{what:<14}{fact}", soft_wrap=True)
