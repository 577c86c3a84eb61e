"""Histories of runs with falling spheres that are kept in the experiment's folder, each after its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

import numpy as np

from nonsmooth._support.progress import Pieces
from nonsmooth.experiments.shared.granular import Effort, History, Method, Snapshot, run_method
from nonsmooth.experiments.shared.kept_work import keep, kept, kept_folder
from nonsmooth.model.system import System
from nonsmooth.stepping.run_certificate import RunCertificate

KEPT = "kept/run_*.npz"
"""Pattern of the files."""
_ARRAYS = (
    "time", "force", "momentum", "complementarity", "iterations", "contacts", "speed", "kinetic_energy",
    "force_error",
)  # fmt: skip
_NUMBERS = ("weight", "seconds")
_WHOLE = {field.name for field in fields(RunCertificate) if field.type == "int"}


def kept_run(
    folder: Path,
    system: System,
    method: Method,
    duration: float,
    step: float,
    effort: Effort,
    pieces: Pieces,
    parts: int,
    snapshots: Sequence[float] = (),
) -> History:
    """Return `run_method(...)`: from the folder where it was run before, else run and kept there."""
    bodies = int((~system.fixed).sum())
    mass = float(system.mass[~system.fixed].sum())
    path = kept_folder(folder) / f"run_{bodies:05d}_{method.key}.npz"
    identity = (
        f"{bodies} bodies of {mass!r} kg by {method.law}, {method.solver!r}, duration {duration!r}, "
        f"step {step!r}, {effort!r}, snapshots {tuple(snapshots)!r}"
    )
    content = kept(path, identity)
    if content is not None:
        for _ in range(parts):
            pieces.begin(f"{bodies} bodies, {method.label}: run before")
        return _history(content, system, method)
    found = run_method(system, method, duration, step, effort, pieces, parts, snapshots)
    keep(path, identity, _content(found))
    return found


def _content(history: History) -> dict[str, Any]:
    content = {name: getattr(history, name) for name in (*_ARRAYS, *_NUMBERS)}
    content["certificate"] = np.array(astuple(history.certificate), dtype=float)
    for field in fields(Snapshot):
        content[f"snapshot_{field.name}"] = np.array(
            [getattr(shot, field.name) for shot in history.snapshots]
        )
    return content


def _history(content: dict[str, Any], system: System, method: Method) -> History:
    names = [field.name for field in fields(RunCertificate)]
    certified: dict[str, Any] = {
        name: int(value) if name in _WHOLE else float(value)
        for name, value in zip(names, content["certificate"], strict=True)
    }
    columns = [content[f"snapshot_{field.name}"] for field in fields(Snapshot)]
    snapshots = tuple(Snapshot(float(time), *arrays) for time, *arrays in zip(*columns, strict=True))
    values: dict[str, Any] = {name: content[name] for name in _ARRAYS}
    values |= {name: float(content[name]) for name in _NUMBERS}
    return History(
        method=method, system=system, certificate=RunCertificate(**certified), snapshots=snapshots, **values
    )
