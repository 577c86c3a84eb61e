"""Conic programs and the packages that solve them: Clarabel, and Mosek if it is installed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.lazy import sparse as sp
from nonsmooth.errors import MissingSolverError
from nonsmooth.iteration.status import Status

NO_MOSEK = 'Mosek is not installed: pip install "nonsmooth[mosek]" (it needs a licence)'

_FINEST = 1e-15
"""Smallest useful tolerance in double precision."""
_FINEST_FEASIBILITY = 1e-10
"""Clarabel stops, whatever the gap, if the constraints' residual is above its tolerance and a hundred times
the one before; near rounding this happens by chance."""


@dataclass(frozen=True)
class ConicProgram:
    """min ½ xᵀPx + cᵀx with A x + s = b: the first `equalities` of s zero, then cones of the given sizes.

    A cone of size 1 is the half line, a larger one the second-order cone s_0 ≥ |s_1…|.
    """

    quadratic: Any
    linear: Floats
    constraint: Any
    right: Floats
    equalities: int
    cones: list[int]


@dataclass(frozen=True)
class ConicAnswer:
    """Variables x, multipliers z of the constraints (None if none were found), and the status."""

    variables: Floats | None
    multipliers: Floats | None
    iterations: int
    status: Status
    message: str


def clarabel(program: ConicProgram, tolerance: float, iterations: int, time_limit: float) -> ConicAnswer:
    """Solve with Clarabel, to a duality gap of `tolerance`."""
    import clarabel as package

    cones: list[Any] = [package.ZeroConeT(program.equalities)] if program.equalities else []
    cones += [package.SecondOrderConeT(n) if n > 1 else package.NonnegativeConeT(1) for n in program.cones]
    settings = package.DefaultSettings()
    settings.verbose = False
    settings.max_iter = iterations
    if np.isfinite(time_limit):
        settings.time_limit = time_limit
    settings.tol_gap_abs = settings.tol_gap_rel = max(tolerance, _FINEST)
    settings.tol_feas = max(tolerance, _FINEST_FEASIBILITY)
    solver = package.DefaultSolver(
        sp.triu(program.quadratic, format="csc"), program.linear,
        sp.csc_matrix(program.constraint), program.right, cones, settings,
    )  # fmt: skip
    result = solver.solve()
    name = str(result.status)
    if "Infeasible" in name:
        return ConicAnswer(None, None, result.iterations, Status.INFEASIBLE, name)
    status = {"MaxIterations": Status.ITERATION_LIMIT, "MaxTime": Status.TIME_LIMIT}.get(name, Status.SOLVED)
    if name in ("NumericalError", "InsufficientProgress", "Unsolved"):
        status = Status.STALLED
    return ConicAnswer(np.array(result.x), np.array(result.z), result.iterations, status, name)


def mosek(program: ConicProgram, tolerance: float, iterations: int, time_limit: float) -> ConicAnswer:
    """Solve with Mosek: P = F Fᵀ goes into a rotated cone, as Mosek has no quadratic conic objective."""
    try:
        import mosek as package
    except ImportError:
        raise MissingSolverError(NO_MOSEK) from None
    try:
        return _mosek(package, program, tolerance, iterations, time_limit)
    except package.Error as error:
        if "license" in str(error).lower():
            raise MissingSolverError(
                "Mosek is installed but finds no licence: install a licence file, or use backend='clarabel'"
            ) from None
        return ConicAnswer(None, None, 0, Status.FAILED, str(error))


def _mosek(
    package: Any, program: ConicProgram, tolerance: float, iterations: int, time_limit: float
) -> ConicAnswer:
    size = len(program.linear)
    values, vectors = np.linalg.eigh(program.quadratic.toarray())
    kept = values > 1e-14 * max(float(values.max()), 1e-300)
    factor = np.sqrt(values[kept])[:, None] * vectors[:, kept].T  # P = factorᵀ factor
    with package.Env() as env, env.Task(0, 0) as task:
        task.appendvars(size + 1)  # x and t ≥ ½|factor x|²
        for j in range(size + 1):
            task.putvarbound(j, package.boundkey.fr, 0.0, 0.0)
        task.putclist(range(size + 1), [*program.linear, 1.0])
        task.putobjsense(package.objsense.minimize)
        slack = -sp.coo_array(program.constraint)
        count = len(program.right)
        rank = len(factor)
        task.appendafes(count + rank + 2)
        rows, columns = slack.coords
        task.putafefentrylist(rows.tolist(), columns.tolist(), slack.data.tolist())
        task.putafegslice(0, count, program.right.tolist())
        task.putafefentry(count, size, 1.0)
        task.putafeg(count + 1, 1.0)
        for k in range(rank):
            task.putafefrow(count + 2 + k, range(size), factor[k])
        domains = [(package.Task.appendrzerodomain, program.equalities)] if program.equalities else []
        domains += [
            (package.Task.appendquadraticconedomain if n > 1 else package.Task.appendrplusdomain, n)
            for n in program.cones
        ]
        at = 0
        for make, n in domains:
            task.appendacc(make(task, n), range(at, at + n), None)
            at += n
        task.appendacc(task.appendrquadraticconedomain(rank + 2), range(count, count + rank + 2), None)
        tight = min(max(tolerance, 1e-12), 1e-8)
        for name in ("intpnt_co_tol_rel_gap", "intpnt_co_tol_pfeas", "intpnt_co_tol_dfeas"):
            task.putdouparam(getattr(package.dparam, name), tight)
        task.putintparam(package.iparam.intpnt_max_iterations, iterations)
        if np.isfinite(time_limit):
            task.putdouparam(package.dparam.optimizer_max_time, time_limit)
        code = task.optimize()
        state = task.getsolsta(package.soltype.itr)
        used = task.getintinf(package.iinfitem.intpnt_iter)
        if state in (package.solsta.prim_infeas_cer, package.solsta.dual_infeas_cer):
            return ConicAnswer(None, None, used, Status.INFEASIBLE, str(state))
        x = np.array(task.getxx(package.soltype.itr))[:size]
        z = np.concatenate([np.array(task.getaccdoty(package.soltype.itr, k)) for k in range(len(domains))])
        limit = code == package.rescode.trm_max_iterations
        status = Status.ITERATION_LIMIT if limit else Status.SOLVED
        if code == package.rescode.trm_max_time:
            status = Status.TIME_LIMIT
        return ConicAnswer(x, z, used, status, str(state))
