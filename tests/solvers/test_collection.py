"""The problems that other codes made: the default solver solves them all, by both measures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nonsmooth as ns
from helpers.collection import SHIPPED, collected


@pytest.mark.parametrize("path", collected(".dat", ".hdf5"), ids=lambda path: path.name)
def test_auto_solves_what_others_made(path: Path) -> None:
    problem = ns.io.read_problem(path)
    solution = ns.solve(problem, tolerance=1e-8, measure="both", time_limit=60.0)
    assert solution.certificate.holds(1e-8)
    if np.all(problem.components == 3):
        assert ns.problem.siconos_error(problem, solution.impulses, solution.joint_impulses) <= 1e-8


def test_siconos_error_alone_is_not_enough() -> None:
    """One sweep over this badly scaled problem passes at 4e-6, with a normal velocity of −0.18 m/s."""
    problem = ns.io.read_problem(SHIPPED / "LMGC_100_PR_PerioBox-i00361-60-03000.hdf5")
    swept = ns.solve(
        problem, ns.solvers.GaussSeidel(acceleration="none"), max_iterations=1, tolerance=1e-8, throw=False
    )
    assert ns.problem.siconos_error(problem, swept.impulses) < 1e-4
    assert swept.certificate.penetration.absolute > 0.01
    assert swept.certificate.residual > 1e-2
