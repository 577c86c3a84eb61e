"""The solvers of this package, and Clarabel through it. They apply the time limit to wall time."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nonsmooth.solvers import Solver

COMPILES = True
"""A first solve may take long."""
_WATCH = ExitStack()
"""Watches compilation for the lifetime of the process."""


def version() -> str:
    """Version of this package."""
    from nonsmooth import __version__

    return str(__version__)


def prepare(task: dict[str, Any]) -> Callable[[], Callable[[], dict[str, Any]]]:
    """Read the solver, and check that it supports the problem."""
    event = importlib.import_module("numba.core.event")
    from nonsmooth.errors import UnsupportedError
    from nonsmooth.io import read_problem
    from nonsmooth.solvers import solve

    solver = _solver_from(task["setup"]["solver"])
    law = task["setup"]["law"]
    compilations = event.RecordingListener()
    _WATCH.enter_context(event.install_listener("numba:compile", compilations))

    def begin() -> Callable[[], dict[str, Any]]:
        problem = read_problem(task["problem"])
        if law is not None:
            problem = problem.with_law(law)
        solver.check(problem)

        def timed() -> dict[str, Any]:
            compilations.buffer.clear()
            solution = solve(
                problem, solver, tolerance=task["tolerance"], time_limit=task["time_limit"], throw=False
            )
            return {
                "impulses": solution.impulses,
                "joint_impulses": solution.joint_impulses,
                "iterations": solution.statistics.iterations,
                "says": str(solution.status),
                "note": solution.statistics.note,
                "compiled": bool(compilations.buffer),
            }

        return timed

    try:
        begin()
    except UnsupportedError as error:
        raise NotImplementedError(str(error)) from error
    return begin


def plain(solver: Solver) -> dict[str, Any]:
    """A solver and its options as plain data, for another process."""
    from nonsmooth.solvers import Solver

    values = {option.name: getattr(solver, option.name) for option in fields(solver)}
    return {
        "name": solver.name,
        "options": {
            key: plain(value) if isinstance(value, Solver) else value for key, value in values.items()
        },
    }


def _solver_from(data: Mapping[str, Any]) -> Solver:
    """The solver described by `plain`."""
    from nonsmooth.solvers import REGISTRY

    options = {
        key: _solver_from(value) if isinstance(value, dict) else value
        for key, value in data["options"].items()
    }
    return REGISTRY[data["name"]](**options)
