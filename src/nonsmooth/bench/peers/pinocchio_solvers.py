"""Pinocchio's contact solvers (`pin`): ADMM, and projected Gauss-Seidel on a dense matrix.

Its stopping tests, absolute and relative, on feasibility and complementarity, both use the tolerance.
Its contacts have three components and its matrices are symmetric: it solves with (W + Wᵀ)/2, a
neighbouring problem if W is not symmetric, and its impulses are judged on the true one.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

METHODS = {"ADMM": "alternating directions", "PGS": "projected Gauss-Seidel"}
_ITERATIONS = 10**6
"""Iteration limit, so large that the time limit decides."""
_ORDER = [1, 2, 0]
"""Pinocchio's components are (t1, t2, n)."""


def version() -> str:
    """Version of Pinocchio."""
    pinocchio = importlib.import_module("pinocchio")
    if not hasattr(pinocchio, "ADMMConstraintSolver"):
        raise ImportError(f"pinocchio {pinocchio.__version__} has no constraint solvers: install version 4")
    return str(pinocchio.__version__)


def prepare(task: dict[str, Any]) -> Callable[[], Callable[[], dict[str, Any]]]:
    """Reorder W and q for Pinocchio."""
    pin = importlib.import_module("pinocchio")
    if task["dimension"] != 3:
        raise NotImplementedError("Pinocchio has no planar contacts")
    name = task["setup"]["method"]
    given = np.load(task["arrays"])
    size, friction = len(given["q"]), given["friction"]
    order = (3 * np.arange(size // 3)[:, None] + _ORDER).ravel()
    matrix = np.zeros((size, size))
    matrix[given["row"], given["column"]] = given["value"]
    matrix = 0.5 * (matrix + matrix.T)[np.ix_(order, order)]
    free = given["q"][order]

    def begin() -> Callable[[], dict[str, Any]]:
        models, datas = _contacts(pin, friction)
        solver = getattr(pin, f"{name}ConstraintSolver")()
        settings, result = getattr(pin, f"{name}SolverSettings")(), getattr(pin, f"{name}SolverResult")()
        settings.max_iterations = _ITERATIONS
        if name == "ADMM":
            settings.lanczos_size = min(
                10, size
            )  # the default is as large as the problem and dominates the time
        for kind in ("feasibility", "complementarity"):
            setattr(settings, f"absolute_{kind}_tol", task["tolerance"])
            setattr(settings, f"relative_{kind}_tol", task["tolerance"])
        delassus = pin.DelassusOperatorDense(matrix)

        def solve() -> dict[str, Any]:
            solver.solve(delassus, free, models, datas, settings, result)
            impulses = np.empty(size)
            impulses[order] = np.asarray(result.retrieveConstraintImpulses())
            return {
                "impulses": impulses,
                "iterations": int(result.iterations),
                "says": "solved" if result.converged else "not converged",
            }

        return solve

    return begin


def _contacts(pin: Any, friction: Any) -> tuple[Any, Any]:
    """A contact model for each coefficient of friction: the solver uses only their cones."""
    body = pin.Model()
    body.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    for coefficient in friction:
        contact = pin.PointContactConstraintModel(body, 1)
        contact.setFriction(float(coefficient))
        model = pin.ConstraintModel(contact)
        models.append(model)
        datas.append(model.createData())
    return models, datas
