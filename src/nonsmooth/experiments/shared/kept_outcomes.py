"""Solves of complementarity problems that are kept in the experiment's folder, each when it is through."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.complementarity import MCP, Solver, Status
from nonsmooth.experiments.andreani.methods import TOLERANCE, Outcome, timed_solve
from nonsmooth.experiments.shared.kept_work import keep, kept, kept_folder

KEPT = "kept/solve_*.npz"
"""Pattern of the files."""


def kept_solve(
    folder: Path, problem: MCP, start: Floats, solver: Solver, time_limit: float, names: tuple[str, str, str]
) -> Outcome:
    """Return `timed_solve(...)`: from the folder where it was solved before, else solved and kept there."""
    identity = f"{names!r} by {solver!r}, residual {TOLERANCE!r}, at most {time_limit!r} s"
    words = "_".join(re.findall(r"[A-Za-z0-9.-]+", " ".join(names)))
    path = kept_folder(folder) / f"solve_{words}.npz"
    content = kept(path, identity)
    if content is not None:
        return _outcome(content)
    found = timed_solve(problem, start, solver, time_limit, names)
    content = {field.name: getattr(found, field.name) for field in fields(Outcome)}
    keep(path, identity, content | {"status": found.status.name})
    return found


def _outcome(content: dict[str, Any]) -> Outcome:
    kinds: dict[str, Callable[[Any], Any]] = {"int": int, "float": float, "str": str}
    values = {
        field.name: kinds.get(str(field.type), np.asarray)(content[field.name]) for field in fields(Outcome)
    }
    return Outcome(**values | {"status": Status[str(content["status"])]})
