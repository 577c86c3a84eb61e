"""Error messages of the library for the command line: flags in place of arguments and calls.

The library's errors name Python arguments. Their command-line equivalents are defined here, in one place, so
that neither side depends on the other.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_PHRASES = {
    "FixedPoint(inner=InteriorPoint())": "--solver fixed-point --option inner=interior-point",
    "give an LCP(M, q), or use ": "use --solver ",
    "write it with write_problem(problem, path, solution=solution)": "store it with nonsmooth solve --save",
    "a file that write_problem, FCLib or Siconos wrote": "a problem file of nonsmooth, FCLib or Siconos",
    "a file that write_problem wrote": "a problem file of nonsmooth",
    "write problem.with_law": "give problem.with_law",
    "write it with kind=": "choose kind=",
    "raise max_iterations or loosen the tolerance": "raise --max-iterations or loosen the --tolerance",
    "raise time_limit or loosen the tolerance": "raise --time-limit or loosen the --tolerance",
    "was given every and interval": "was given --every and --interval",
    "the system has no bodies: add some, for example with add_sphere": (
        "the scene has no bodies: add [[bodies]] to its file"
    ),
    "give two different bodies, or one and None": "give two different bodies, or one alone",
    " (overwrite=True)": " with --fresh",
    "record with joints=True": "record with --reactions",
    "give a longer duration": "give a longer --duration",
    " (throw=False returns the solution as it is.)": "",
    " (throw=False counts such steps and goes on.)": " (--no-throw counts such steps and goes on.)",
}
"""Whole phrases, replaced before the patterns."""

_FORMATS = {"write_problem": ("own", "files of our own"), "write_fclib": ("fclib", "FCLib files")}
"""Calls that write problem files: the --format of the command that has it, and the files."""

_PATTERNS = (
    (r"problem\.with_law\('([^']*)'\)", r"--law \1"),
    (
        r"\b(?:solve|simulate|StepOptions)\((\w+)=('?)([^')]*)\2\)",
        r"«\1 \3»",
    ),  # a flag, if the command has it
    (r"\b[A-Z]\w+\((\w+)=('?)([^')]*)\2\)", r"--option \1=\3"),
    (r"\b(measure|kind)='([^']*)'", r"--\1 \2"),
    (r"(?<![\w-])(\w+)='([^']*)'", r"--option \1=\2"),
    (r"\bname its file with record=", "name its file with --record FILE"),
    (r"\b(\w+)=True\b", r"\1 = true"),  # as scene files have it
    (r"\b([a-z]\w*)=(?=[ ,;]|$)", r"\1"),
)


def in_flags(text: str, flags: Collection[str] = ()) -> str:
    """Rewrite a message of the library with flags; `flags` are those of the command, such as --time-limit."""
    for phrase, ours in _PHRASES.items():
        text = text.replace(phrase, ours)
    for call, (form, files) in _FORMATS.items():
        text = text.replace(call, f"--format {form}" if "--format" in flags else f"{files}, from Python")
    for pattern, ours in _PATTERNS:
        text = re.sub(pattern, ours, text)

    def flag(match: re.Match[str]) -> str:
        name = "--" + match[1].replace("_", "-")
        return name if name in flags else match[1]

    text = re.sub(r"«(\w+) ([^»]*)»", lambda match: f"{flag(match)} {match[2]}", text)
    text = re.sub(r"^(\w+)(?= (?:is|has|of a \w+ is) )", flag, text)
    return re.sub(r"(?<![\w-])([a-z]+(?:_[a-z]+)+)\b", flag, text)
