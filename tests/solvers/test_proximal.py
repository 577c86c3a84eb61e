"""The proximal point method: linear systems, islands, restarts, and problems collected by others."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import nonsmooth as ns
from helpers.collection import collected
from nonsmooth.errors import OptionError, UnsupportedError
from nonsmooth.io import read_problem
from nonsmooth.problem.library import random_problem, sphere_packing
from nonsmooth.problem.siconos_error import siconos_error
from nonsmooth.solvers import GaussSeidel
from nonsmooth.solvers.parts import semismooth
from nonsmooth.solvers.parts.semismooth import FORMULATIONS, Equations
from nonsmooth.solvers.proximal_point import Proximal

TOLERANCE = 1e-8


# ---- the linear systems ------------------------------------------------------------------------------


@pytest.mark.parametrize("dense", [0, 10**9])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_short_step_takes_its_part_of_the_equations_away(formulation, dense, monkeypatch):
    """J d = −F means F(x + h d) = (1 − h) F(x) up to h², whatever was taken out of the system before."""
    monkeypatch.setattr(semismooth, "_DENSE", dense)
    problem = random_problem(3, contacts=12, joint_rows=4, mass_ratio=10.0)
    equations = Equations(problem, formulation, np.arange(problem.layout.blocks))
    x = np.where(
        problem.layout.padding, 0.0, np.random.default_rng(1).normal(size=(problem.layout.blocks, 3))
    )
    x[2:5] = [-5.0, 0.0, 0.0]  # these pull, so that they count as open
    before = equations.evaluate(x, equations.velocities(x))
    F = equations.F.copy()
    d = equations.step(1e-12)
    assert d is not None
    h = 1e-6
    equations.evaluate(x + h * d, equations.velocities(x + h * d))
    assert np.linalg.norm(equations.F - (1.0 - h) * F) <= 1e-3 * h * before


def test_velocities_are_those_of_the_problem():
    problem = random_problem(8, contacts=20, joint_rows=5)
    equations = Equations(problem, "natural-map", np.arange(problem.layout.blocks))
    x = np.random.default_rng(0).normal(size=(problem.layout.blocks, 3))
    x[problem.layout.padding] = 0.0
    expected = problem.operator.apply(equations.root * x) + problem.free_blocks
    np.testing.assert_allclose(equations.velocities(x), equations.root * expected, rtol=0, atol=1e-12)


# ---- islands, restarts and options -------------------------------------------------------------------


def test_islands_are_solved_each_on_its_own_scale():
    """Two packings that do not touch, one of them with masses and momenta a million times as large."""
    parts = [sphere_packing(12, seed=1), sphere_packing(12, seed=2)]
    matrices = [parts[0].operator.matrix(), 1e-6 * parts[1].operator.matrix()]
    both = ns.ContactProblem(
        delassus=sp.block_diag(matrices).tocsr(),
        free_velocity=np.concatenate([part.free_velocity for part in parts]),
        friction=np.concatenate([part.friction for part in parts]),
    )
    solution = ns.solve(both, Proximal(), tolerance=1e-12)
    for part, u in zip(parts, np.split(solution.contact_velocities, [3 * parts[0].contacts]), strict=True):
        alone = ns.solve(part, Proximal(), tolerance=1e-12)
        np.testing.assert_allclose(u, alone.contact_velocities, atol=1e-9)


@pytest.mark.parametrize("sweeps", [0, 5])
def test_restarts_do_not_lose_what_was_found(sweeps):
    """Without patience islands start anew again and again: from zero, then from more and more sweeps."""
    problem = random_problem(5, contacts=40, mass_ratio=1e4)
    solution = ns.solve(problem, Proximal(warm_sweeps=sweeps, patience=1, newton_steps=1), tolerance=1e-9)
    assert solution.certificate.holds(1e-9)


def test_relaxed_velocities_agree_with_gauss_seidel():
    """Impulses of a packing are not unique, its velocities are under the relaxed law."""
    problem = sphere_packing(40, law="relaxed")
    velocities = [
        ns.solve(problem, solver, tolerance=1e-12).velocity for solver in (Proximal(), GaussSeidel())
    ]
    np.testing.assert_allclose(*velocities, atol=1e-10)


def test_same_call_gives_the_same_bits():
    problem = random_problem(11, contacts=60, mass_ratio=1e5)
    first, second = (ns.solve(problem, Proximal(warm_sweeps=0)).impulses for _ in range(2))
    assert np.array_equal(first, second)


def test_options_are_checked():
    for option in ({"radius": 0.0}, {"newton_steps": 0}, {"patience": 0}, {"warm_sweeps": -1}):
        with pytest.raises(OptionError, match=next(iter(option))):
            Proximal(**option)
    with pytest.raises(UnsupportedError, match="max_blocks=3"):
        ns.solve(random_problem(0, contacts=4), Proximal(max_blocks=3))


# ---- problems collected by others --------------------------------------------------------------------


SPATIAL = [path for path in collected(".dat", ".hdf5") if "c2d" not in path.name.lower()]


@pytest.mark.parametrize("path", SPATIAL, ids=lambda path: path.name)
def test_collected_problems_hold_by_our_residual_and_by_siconos(path):
    """RockPile among them, which no solver of Siconos brings to 1e-8."""
    problem = read_problem(path)
    solution = ns.solve(problem, Proximal(), tolerance=TOLERANCE)
    assert solution.certificate.holds(TOLERANCE)
    assert siconos_error(problem, solution.impulses, solution.joint_impulses, solution.velocity) <= TOLERANCE
