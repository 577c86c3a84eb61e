"""A user-defined solver: a Python file with a function

solve(matrix, free_velocity, friction, components, tolerance, time_limit) -> impulses

where u = matrix @ impulses + free_velocity, flat, contact by contact (n, t1, t2), `friction` and
`components` have one number per contact, and the time limit is in s. It may raise NotImplementedError for
unsupported problems.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def version() -> str:
    """A script has no version."""
    return ""


def prepare(task: dict[str, Any]) -> Callable[[], Callable[[], dict[str, Any]]]:
    """Load the script and the problem."""
    place = Path(task["setup"]["file"])
    sys.path.insert(0, str(place.parent))
    spec = importlib.util.spec_from_file_location(place.stem, place)
    if spec is None or spec.loader is None:
        raise ImportError(f"{place} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    given = np.load(task["arrays"])
    matrix = np.zeros((len(given["q"]), len(given["q"])))
    matrix[given["row"], given["column"]] = given["value"]

    def begin() -> Callable[[], dict[str, Any]]:
        arrays = (matrix.copy(), given["q"].copy(), given["friction"].copy(), given["components"].copy())
        return lambda: {"impulses": module.solve(*arrays, task["tolerance"], task["time_limit"])}

    return begin
