"""Siconos' error: by hand, beside our own residual, and against Siconos itself where it is installed."""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.paths import INTEROP
from nonsmooth.bench.contender import find_package
from nonsmooth.errors import ProblemError
from nonsmooth.io.problems.siconos import write_siconos
from nonsmooth.problem import ContactProblem
from nonsmooth.problem.certificate import certify
from nonsmooth.problem.library.random_problems import random_problem
from nonsmooth.problem.siconos_error import siconos_error

SCRIPT = INTEROP / "siconos_errors.py"


def one_contact(q: list[float], mu: float = 0.5, inverse_mass: float = 1.0) -> ContactProblem:
    """A point of mass 1/inverse_mass on a plane."""
    return ContactProblem(
        delassus=inverse_mass * np.eye(len(q)), free_velocity=q, friction=[mu], components=len(q)
    )


# ---- by hand ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("tangents", [[], [0.2], [0.0, 0.2]])
def test_doing_nothing_is_wrong_by_the_velocity_that_stays(tangents: list[float]) -> None:
    # z = −(u + μ|u_t| e_n) = (0.9, −0.2) lies inside the cone, so F = −z
    problem = one_contact([-1.0, *tangents])
    tilt = 0.5 * sum(tangents)
    wanted = math.hypot(1.0 - tilt, *tangents) / math.hypot(1.0, *tangents)
    assert siconos_error(problem, np.zeros(1 + len(tangents))) == pytest.approx(wanted, rel=1e-14)


def test_sliding_block_has_no_error() -> None:
    # r = (1, −μ, 0) stops the approach and slows the slide from 2 to 2 − μ
    problem = one_contact([-1.0, 2.0, 0.0])
    assert siconos_error(problem, [1.0, -0.5, 0.0]) == 0.0


def test_masses_add_the_momentum_that_does_not_balance() -> None:
    # M = 2, k = (−2, 0, 0): at rest with r = (2, 0, 0); the velocity given is wrong by 0.5 along t1
    problem = ContactProblem(
        mass=2.0 * np.eye(3), jacobian=np.eye(3), momentum=[-2.0, 0.0, 0.0], friction=[0.3], components=3
    )
    assert siconos_error(problem, [2.0, 0.0, 0.0]) == 0.0
    # momentum: |(0, 1, 0)| / max(2, 1, 2); map: z = (2 − 0.15, −0.5), inside the cone, F = (0.15, 0.5)
    wanted = 1.0 / 2.0 + math.hypot(0.15, 0.5) / 2.0
    found = siconos_error(problem, [2.0, 0.0, 0.0], velocity=[0.0, 0.5, 0.0])
    assert found == pytest.approx(wanted, rel=1e-14)


def test_joint_rows_count_with_their_velocity() -> None:
    problem = ContactProblem(
        delassus=np.eye(4), free_velocity=[1.0, 0.0, 0.0, -3.0], friction=[0.5], components=3, joint_rows=1
    )
    assert siconos_error(problem, np.zeros(3), [3.0]) == 0.0
    assert siconos_error(problem, np.zeros(3), [1.0]) == pytest.approx(2.0 / math.hypot(1.0, 3.0))


def test_nothing_at_all_is_not_divided_by_nothing() -> None:
    assert siconos_error(one_contact([0.0, 0.0, 0.0]), np.zeros(3)) == 0.0


def test_answers_that_are_not_finite_have_no_error() -> None:
    assert math.isnan(siconos_error(one_contact([-1.0, 0.0, 0.0]), [math.nan, 0.0, 0.0]))
    assert math.isnan(siconos_error(one_contact([-1.0, 0.0, 0.0]), [math.inf, 0.0, 0.0]))


def test_it_depends_on_units_and_the_certificate_does_not() -> None:
    # the same question in kg and in mg, the same half of the right impulse
    errors, residuals = [], []
    for mass in (1.0, 1e6):
        problem = one_contact([-1.0, 0.0, 0.0], inverse_mass=1.0 / mass)
        half = np.array([0.5 * mass, 0.0, 0.0])
        errors.append(siconos_error(problem, half))
        residuals.append(certify(problem, half, np.zeros(0), None).residual)
    assert residuals[0] == pytest.approx(residuals[1], rel=1e-12)
    assert errors == pytest.approx([0.5, 1e-6], rel=1e-9)  # of 0.5 and 5e5: |F| = 0.5 m/s both times


def test_mistakes_are_named() -> None:
    problem = one_contact([-1.0, 0.0, 0.0])
    with pytest.raises(ProblemError, match="velocity needs masses"):
        siconos_error(problem, np.zeros(3), velocity=np.zeros(3))
    with pytest.raises(ProblemError, match="impulses have shape"):
        siconos_error(problem, np.zeros(2))
    masses = ContactProblem(mass=np.eye(3), jacobian=np.eye(3), friction=[0.3], components=3)
    with pytest.raises(ProblemError, match="3 generalised velocities"):
        siconos_error(masses, np.zeros(3), velocity=np.zeros(2))


# ---- against Siconos --------------------------------------------------------------------------------


def random_matrices(rng: np.random.Generator, contacts: int, dimension: int) -> ContactProblem:
    size = dimension * contacts
    factor = rng.normal(size=(size, size))
    return ContactProblem(
        delassus=factor @ factor.T * 10.0 ** rng.uniform(-4, 4),
        free_velocity=rng.normal(size=size),
        friction=rng.uniform(0.0, 1.2, contacts),
        components=dimension,
    )


def test_the_same_numbers_as_siconos(tmp_path: Path) -> None:
    found = find_package("siconos_solvers")
    if found is None:
        pytest.skip("Siconos is not installed")
    rng = np.random.default_rng(7)
    jobs: list[dict[str, Any]] = []
    ours = []
    for number in range(30):
        dimension = (3, 3, 2)[number % 3]
        kind = "global" if number % 3 == 1 else "local"
        if kind == "global":
            problem = random_problem(number, contacts=5)
        else:
            problem = random_matrices(rng, contacts=1 + number % 5, dimension=dimension)
        file = tmp_path / f"{number}.dat"
        write_siconos(problem, file, kind=kind, storage="sparse-block" if kind == "local" else "dense")
        impulses = rng.normal(size=problem.layout.contact_rows) * 10.0 ** rng.uniform(-3, 3)
        job = {"file": str(file), "kind": kind, "impulses": impulses.tolist()}
        velocity = None
        if kind == "global":
            velocity = problem.velocity(impulses) + rng.normal(size=len(problem.momentum))
            job["velocity"] = velocity.tolist()
        jobs.append(job)
        ours.append(siconos_error(problem, impulses, velocity=velocity))
    done = subprocess.run(
        [found[0], str(SCRIPT)],
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    theirs = json.loads(done.stdout.splitlines()[-1])
    assert len(theirs) == len(jobs)
    np.testing.assert_allclose(ours, theirs, rtol=1e-11)
