"""Solutions and runs as JSON values: numbers, strings and lists."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from nonsmooth.problem.siconos_error import siconos_error
from nonsmooth.solvers import Solution, Status
from nonsmooth.stepping import Run


def solution_as_json(name: str, solution: Solution, tolerance: float) -> dict[str, Any]:
    """Return everything about a solution of the problem `name`; unknown numbers are None.

    Time in s, impulses in N·s, joint impulses in N·s or N·m·s, contact velocities in m/s, velocity in m/s
    and rad/s, dissipation in J; `tolerance` is the requested relative residual.
    """
    problem, statistics, certificate = solution.problem, solution.statistics, solution.certificate
    return {
        "problem": {
            "name": name,
            "contacts": problem.contacts,
            "components": problem.components.tolist(),
            "joint_rows": problem.joint_rows,
            "law": str(problem.law),
        },
        "status": str(solution.status),
        "sentence": solution.status.sentence,
        "solved": solution.status is Status.SOLVED,
        "solver": statistics.solver,
        "iterations": statistics.iterations,
        "time": statistics.time,
        "note": statistics.note,
        "tolerance": tolerance,
        "residual": _finite(certificate.residual),
        "siconos_error": _finite(siconos_error(problem, solution.impulses, solution.joint_impulses)),
        "certificate": {
            row.name: {"absolute": _finite(row.absolute), "unit": row.unit, "relative": _finite(row.relative)}
            for row in certificate.rows
        },
        "dissipation": _finite(certificate.dissipation),
        "impulses": _numbers(solution.impulses),
        "joint_impulses": _numbers(solution.joint_impulses),
        "contact_velocities": _numbers(solution.contact_velocities),
        "velocity": None if solution.velocity is None else _numbers(solution.velocity),
    }


def run_as_json(name: str, run: Run) -> dict[str, Any]:
    """Return a summary of a run of the scene `name`; unknown numbers are None.

    Times in s, penetration in m, energies in J; `end` has the numbers of the last step, `wall_time` the time
    of the parts of all steps, and `kernel_time` the time for compiling and loading kernels, which is not
    included there. `certified` is also false if joints opened.
    """
    steps, certificate = run.steps, run.certificate
    numbers = ((field.name, getattr(certificate, field.name)) for field in fields(certificate))
    return {
        "scene": name,
        "settings": run.settings,
        "bodies": run.system.count,
        "steps": steps.count,
        "time": run.time,
        "certified": certificate.failed == 0 and certificate.joints_held,
        "certificate": {key: _finite(value) for key, value in numbers},
        "end": {key: _finite(steps[key][-1]) for key in steps} if steps.count else None,
        "wall_time": dict(run.timings.seconds),
        "kernel_time": run.timings.kernels,
        "record": None if run.record is None else str(run.record),
    }


def _finite(value: float) -> float | None:
    if isinstance(value, int):
        return value
    return float(value) if math.isfinite(value) else None


def _numbers(values: Iterable[float]) -> list[float | None]:
    return [_finite(value) for value in values]
