"""A solution for other programs: plain numbers, words and lists, as JSON has them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from nonsmooth.solvers import Solution, Status


def solution_as_json(name: str, solution: Solution, tolerance: float) -> dict[str, Any]:
    """Return everything about a solution of the problem `name`; numbers that were not found are None.

    Time in s, impulses in N·s, joint impulses in N·s or N·m·s, contact velocities in m/s, velocity in m/s
    and rad/s, dissipation in J; `tolerance` is the relative residual that was asked for.
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


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _numbers(values: Iterable[float]) -> list[float | None]:
    return [_finite(value) for value in values]
