"""Contenders by name: a solver of this package with its options, or one of another package.

auto   gauss-seidel:acceleration=none   newton:tolerance=1e-10        solvers of this package
clarabel                                                              the relaxed law by Clarabel
siconos:PROX   siconos:ADMM:rho=scaled                                Siconos
pinocchio:ADMM                                                        Pinocchio
script:my_solver.py                                                   a user-defined function
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from nonsmooth._support.registry import advice
from nonsmooth.bench.peers import nonsmooth_solvers, pinocchio_solvers, siconos_solvers
from nonsmooth.errors import MissingSolverError, OptionError
from nonsmooth.solvers import REGISTRY, InteriorPoint, Solver

PROCESS = Path(__file__).parent / "peers" / "process.py"
PEERS = ("clarabel", "siconos", "pinocchio", "script")
"""Prefixes of names that are not solvers of this package."""
_PATIENCE = 60.0
"""Wall time limit in s for a Python interpreter to import a package."""
_INSTALL = {
    "siconos_solvers": "Siconos: apt install python3-siconos",
    "pinocchio_solvers": "Pinocchio: pip install pin",
}


@dataclass(frozen=True)
class Contender:
    """A solver with its options, and the Python interpreter that runs it."""

    label: str
    """Name given by the user."""
    family: str
    """File of `peers` that runs it."""
    setup: Mapping[str, Any] = field(hash=False)
    """Plain data for that file."""
    tolerance: float | None = None
    """Tolerance of this solver in place of the common one, in the solver's measure."""
    python: str = sys.executable
    version: str = ""
    """Version of its package."""

    @classmethod
    def of_solver(
        cls, label: str, solver: Solver, *, tolerance: float | None = None, law: str | None = None
    ) -> Contender:
        """A solver of this package, under `law` if given; the result is judged by the problem's law."""
        from nonsmooth import __version__

        setup = {"solver": nonsmooth_solvers.plain(solver), "law": law}
        return cls(label, "nonsmooth_solvers", setup, tolerance, version=f"nonsmooth {__version__}")

    @property
    def environment(self) -> dict[str, str]:
        """Environment of its process: one thread for linear algebra, and the path of this package."""
        threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
        variables = {**os.environ, **dict.fromkeys(threads, "1")}
        if self.family == "nonsmooth_solvers":
            ways = (str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", ""))
            variables["PYTHONPATH"] = os.pathsep.join(way for way in ways if way)
        return variables


def peer_contender(label: str, pythons: Sequence[str] = ()) -> Contender:
    """A solver of another package by its name; `pythons` are searched first.

    Raises `MissingSolverError` if the package is not found, `OptionError` if the name is wrong.
    """
    first, *words = label.split(":")
    pairs = [word.partition("=") for word in words if "=" in word]
    options = {key.strip(): value.strip() for key, _, value in pairs}
    method = ":".join(word for word in words if "=" not in word)
    tolerance = _tolerance(label, options.pop("tolerance", None))
    if first == "clarabel":
        _check(label, "method", method, ("",))
        _check_options(label, options, {})
        contender = Contender.of_solver(label, InteriorPoint(polish=0), tolerance=tolerance, law="relaxed")
        return replace(contender, version=f"Clarabel {metadata.version('clarabel')}, relaxed law")
    if first == "script":
        _check_options(label, options, {})
        place = Path(method).absolute()
        if not place.is_file():
            raise OptionError(f"{label}: there is no file {method}")
        digest = hashlib.sha256(place.read_bytes()).hexdigest()[:8]  # a changed script is measured again
        return Contender(
            f"script:{place.name}", "own_script", {"file": str(place)}, tolerance, version=f"file {digest}"
        )
    if first == "siconos":
        _check(label, "method", method, siconos_solvers.METHODS)
        _check_options(label, options, siconos_solvers.OPTIONS if method == "ADMM" else {})
    elif first == "pinocchio":
        _check(label, "method", method, tuple(pinocchio_solvers.METHODS))
        _check_options(label, options, {})
    else:
        valid = [*REGISTRY, *(f"{peer}:…" for peer in PEERS)]
        raise OptionError(f"there is no solver {label!r} for the bench: {advice(label, valid)}")
    family = f"{first}_solvers"
    found = find_package(family, tuple(pythons))
    if found is None:
        raise MissingSolverError(
            f"{label}: no Python on the path has the package; install it ({_INSTALL[family]}), "
            "or give a Python that has it with --python"
        )
    python, version = found
    setup = {"method": method, "options": options}
    return Contender(label, family, setup, tolerance, python, f"{first.capitalize()} {version}".strip())


@cache
def find_package(family: str, pythons: tuple[str, ...] = ()) -> tuple[str, str] | None:
    """Return the first Python (of `pythons`, ours, those on the path) that has a package, and its version."""
    folders = os.get_exec_path()
    on_path = (shutil.which(name, path=folder) for folder in folders for name in ("python3", "python"))
    for python in dict.fromkeys([*pythons, sys.executable, *(each for each in on_path if each)]):
        try:
            done = subprocess.run(
                [python, str(PROCESS), family], capture_output=True, text=True, timeout=_PATIENCE, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return python, done.stdout.strip()
    return None


def _tolerance(label: str, text: str | None) -> float | None:
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not value > 0.0:
        raise OptionError(f"{label}: tolerance {text!r} is not a positive number")
    return value


def _check(label: str, what: str, value: str, valid: Sequence[str]) -> None:
    if value not in valid:
        given = f"{what} {value!r}" if value else f"no {what}"
        known = f"choose one of {', '.join(valid)}" if any(valid) else "it has none"
        raise OptionError(f"{label}: {given} is wrong: {known}" if value else f"{label}: {known}")


def _check_options(label: str, options: Mapping[str, str], valid: Mapping[str, Mapping[str, Any]]) -> None:
    for key, value in options.items():
        _check(label, "option", key, (*valid, "tolerance"))
        _check(label, key, value, tuple(valid[key]))
