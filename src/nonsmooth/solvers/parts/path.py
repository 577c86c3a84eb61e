"""PATH, the mixed complementarity solver of Dirkse and Ferris, through GAMSPy if that is installed."""

from __future__ import annotations

import importlib.util
import logging
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import MissingSolverError, UnsupportedError
from nonsmooth.iteration.status import Status

Products = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], Floats]

NO_PATH = (
    'PATH is not installed: pip install "nonsmooth[path]" for gamspy, which includes PATH under its licence '
    "terms, or use backend='semismooth-newton'"
)


@dataclass(frozen=True)
class PathAnswer:
    """The point that PATH reached, its iterations, and its message."""

    point: Floats
    iterations: int
    status: Status
    message: str


def require() -> None:
    """Raise `MissingSolverError` if PATH is not available."""
    if importlib.util.find_spec("gamspy") is None:
        raise MissingSolverError(NO_PATH)


def solve(
    linear: Any,
    constant: Floats,
    products: Products,
    lower: Floats,
    upper: Floats,
    start: Floats,
    tolerance: float,
    iterations: int,
    time_limit: float,
) -> PathAnswer:
    """Solve l ≤ z ≤ u ⟂ A z + c + Σ b z_i z_j with products (row, i, j, b)."""
    require()
    import gamspy as gp
    from gamspy.exceptions import GamspyException

    size = len(constant)
    names = np.arange(size).astype(str)
    with gp.Container() as container:
        rows = gp.Set(container, "r", records=names.tolist())
        first, second = gp.Alias(container, "i", rows), gp.Alias(container, "j", rows)
        entries = linear.tocoo()
        matrix = gp.Parameter(container, "A", [rows, first])
        matrix.setRecords(_table(names, (*entries.coords, entries.data)))
        vector = gp.Parameter(container, "c", [rows])
        vector.setRecords(_table(names, (np.arange(size), constant)))
        factors = gp.Parameter(container, "b", [rows, first, second])
        factors.setRecords(_table(names, products))
        z = gp.Variable(container, "z", domain=[rows])
        z.setRecords(_levels(names, start, lower, upper))
        f = gp.Equation(container, "f", type="nonbinding", domain=[rows])
        f[rows] = vector[rows] + gp.Sum(first, matrix[rows, first] * z[first]) + gp.Sum(
            (first, second), factors[rows, first, second] * z[first] * z[second]
        ) == gp.Number(0)
        model = gp.Model(container, "eom", problem=gp.Problem.MCP, matches={f: z})
        options: dict[str, Any] = {"iteration_limit": max(100 * iterations, 1000)}  # minor ones are counted
        if math.isfinite(time_limit):
            options["time_limit"] = time_limit
        settings = {"convergence_tolerance": tolerance, "major_iteration_limit": iterations}
        try:
            with _silence():
                model.solve(solver="path", solver_options=settings, options=gp.Options(**options))
        except GamspyException as error:
            if "licen" in str(error).lower():
                raise UnsupportedError(
                    f"PATH's licence does not cover {size} unknowns: give GAMSPy a larger licence, or use "
                    "backend='semismooth-newton'"
                ) from None
            return PathAnswer(start, 0, Status.FAILED, " ".join(str(error).split())[:200])
        used = int(model.num_iterations or 0)
        ended = model.solve_status.name
        message = f"{model.status.name}, {ended}, {used} minor iterations"
        return PathAnswer(np.asarray(z.toDense(), dtype=float), used, _status(ended), message)


@contextmanager
def _silence() -> Iterator[None]:
    """Suppress GAMSPy's printed messages; they are returned as a status."""
    logger = logging.getLogger("MODEL")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def _status(name: str) -> Status:
    """Translate the status of GAMS."""
    known = {
        "NormalCompletion": Status.SOLVED,
        "IterationInterrupt": Status.ITERATION_LIMIT,
        "ResourceInterrupt": Status.TIME_LIMIT,
        "TerminatedBySolver": Status.STALLED,
    }
    return known.get(name, Status.FAILED)


def _table(names: NDArray[np.str_], columns: Any) -> Any:
    """Records of a GAMS symbol: names of the indices, then the value; pandas comes with GAMSPy."""
    import pandas

    *indices, values = columns
    return pandas.DataFrame({**{f"d{k}": names[index] for k, index in enumerate(indices)}, "value": values})


def _levels(names: NDArray[np.str_], start: Floats, lower: Floats, upper: Floats) -> Any:
    import pandas

    return pandas.DataFrame({"r": names, "level": start, "lower": lower, "upper": upper})
