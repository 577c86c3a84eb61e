"""Every named complementarity problem, with its starts and reference solutions.

No reference was computed by the package's solvers: they are closed forms, or were found
with PATH 5.2 and checked a second way, or with two methods of other libraries.
"""

from __future__ import annotations

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth._support.registry import Registry
from nonsmooth.complementarity.library.block import PROBLEMS as BLOCK
from nonsmooth.complementarity.library.entry import NamedProblem
from nonsmooth.complementarity.library.grasps import grasps
from nonsmooth.complementarity.library.harker import PROBLEMS as HARKER
from nonsmooth.complementarity.library.obstacle import PROBLEMS as OBSTACLE
from nonsmooth.complementarity.library.optimal_control import PROBLEMS as OPTIMAL_CONTROL
from nonsmooth.complementarity.library.scarf import PROBLEMS as SCARF
from nonsmooth.complementarity.library.small import PROBLEMS as SMALL


def _starts(size: int) -> dict[str, Floats]:
    return {"zero": np.zeros(size), "ones": np.ones(size)}


_SOURCE = "Andreani et al. §4.2, the first of 200 instances"
_GRASPS = (
    NamedProblem(
        "grasp-sliding", "two robots grasp a cube, both contacts slide", _SOURCE,
        lambda: grasps(1)[0].sliding(), lambda: _starts(2),
    ),
    NamedProblem(
        "grasp-rolling", "two robots grasp a cube, both contacts roll, Coulomb's cone", _SOURCE,
        lambda: grasps(1)[0].rolling(), lambda: _starts(12),
    ),
    NamedProblem(
        "grasp-pyramid", "two robots grasp a cube, both contacts roll, a pyramid", _SOURCE,
        lambda: grasps(1)[0].pyramid(), lambda: _starts(10),
    ),
)  # fmt: skip

NAMED: Registry[NamedProblem] = Registry(
    "complementarity problem",
    {
        problem.name: problem
        for problems in (SMALL, HARKER, SCARF, OPTIMAL_CONTROL, OBSTACLE, BLOCK, _GRASPS)
        for problem in problems
    },
)
"""Every named problem."""
by_name = NAMED.by_name
