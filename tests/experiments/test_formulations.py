"""The six models of TR-2014-11: the three exact ones give one velocity, and the three relaxed ones do."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from nonsmooth.complementarity.certificate import certify
from nonsmooth.complementarity.jacobians import check_jacobian
from nonsmooth.errors import MissingSolverError, OptionError, UnsupportedError
from nonsmooth.experiments.mazhar.models import (
    EOM,
    MODELS,
    Dual,
    DualRelaxed,
    EOMRelaxed,
    Primal,
    PrimalRelaxed,
)
from nonsmooth.model.system import System
from nonsmooth.problem import ContactProblem
from nonsmooth.problem.library import NAMED
from nonsmooth.problem.library.named import cube_on_plane, held_on_belt, sliding_ball
from nonsmooth.scenes import (
    box_on_incline,
    box_stack,
    box_wall,
    compaction,
    filling,
    four_bar,
    grasp,
    rolling_ball,
    slider_crank,
)
from nonsmooth.solvers import APGD, InteriorPoint, Newton, Status, solve
from nonsmooth.solvers.base import Goal
from nonsmooth.solvers.equations_of_motion import EquationsOfMotion, MotionSystem
from nonsmooth.stepping import simulate

SMALL_SCENES: dict[str, tuple[Callable[[], System], int]] = {
    "rolling ball": (rolling_ball, 5),
    "box that sticks": (lambda: box_on_incline(friction=0.5), 5),
    "box that slides": (lambda: box_on_incline(friction=0.1), 5),
    "stack": (lambda: box_stack(2), 3),
    "wall": (lambda: box_wall(2, 2), 3),
    "falling spheres": (lambda: filling(spheres=12), 60),
    "slider-crank, joints alone": (slider_crank, 3),
    "four-bar, joints alone": (four_bar, 3),
    "robots that hold a cube, joints and contacts": (grasp, 5),
}
"""Scenes, and the number of time steps after which their problem is taken."""


@cache
def problem_of_scene(name: str) -> ContactProblem:
    build, steps = SMALL_SCENES[name]
    problems: list[ContactProblem] = []
    simulate(
        build(), duration=steps * 0.005, step=0.005, tolerance=1e-8,
        observe=lambda frame: problems.append(frame.solution.problem),
    )  # fmt: skip
    return max(problems, key=lambda problem: problem.contacts)


def assert_one_velocity_for_each_law(problem: ContactProblem, tolerance: float = 1e-11) -> None:
    found: dict[str, Any] = {}
    for kind in MODELS:
        model = kind()
        solution = model.solve(problem, tolerance=tolerance)
        assert solution.problem.law.name == model.law
        assert solution.certificate.residual <= tolerance
        velocity = solution.velocity
        assert velocity is not None
        reference = found.setdefault(model.law, velocity)
        assert np.abs(velocity - reference).max(initial=0.0) <= 1e-8 * max(1.0, np.abs(reference).max())


@pytest.mark.parametrize("name", [name for name, each in NAMED.items() if each.build().has_masses])
def test_models_agree_on_every_named_problem(name: str) -> None:
    assert_one_velocity_for_each_law(NAMED[name].build())


@pytest.mark.parametrize("name", SMALL_SCENES)
def test_models_agree_on_every_small_scene(name: str) -> None:
    assert_one_velocity_for_each_law(problem_of_scene(name))


@pytest.mark.parametrize("kind", [Primal, Dual, EOM])
@pytest.mark.parametrize(
    "name",
    [
        name
        for name, each in NAMED.items()
        if each.velocity is not None and each.build().has_masses and each.build().law.name == "coulomb"
    ],
)
def test_exact_models_meet_the_reference_velocity(name: str, kind: type) -> None:
    solution = kind().solve(NAMED[name].build(), tolerance=1e-11)
    np.testing.assert_allclose(solution.velocity, NAMED[name].velocity, atol=1e-8)


@pytest.mark.parametrize("kind", [PrimalRelaxed, DualRelaxed, EOMRelaxed])
def test_relaxed_models_lift_the_sliding_ball_off(kind: type) -> None:
    solution = kind().solve(sliding_ball(), tolerance=1e-11)
    np.testing.assert_allclose(solution.velocity, NAMED["sliding-ball-relaxed"].velocity, atol=1e-9)
    assert solution.velocity[1] > 0.3


def test_models_are_what_the_report_names() -> None:
    assert [kind.label for kind in MODELS] == [
        "Primal", "Primal-Relaxed", "Dual", "Dual-Relaxed", "EOM", "EOM-Relaxed",
    ]  # fmt: skip
    assert [kind().exact for kind in MODELS] == [True, False] * 3
    assert Dual(inner=InteriorPoint()).solver.inner == InteriorPoint()
    assert DualRelaxed().solver == APGD()


def test_settings_of_a_model_go_into_simulate() -> None:
    run = simulate(rolling_ball(), duration=0.05, step=0.01, **EOM().settings, tolerance=1e-10)
    assert run.certificate.failed == 0
    assert run.settings["solver"] == "eom"
    np.testing.assert_allclose(run.system.linear_velocity[0], [2.0 - 0.2 * 9.81 * 0.05, 0.0, 0.0], atol=1e-9)


# ---- equations of motion ----------------------------------------------------------------------------------


@pytest.mark.parametrize("law", ["coulomb", "relaxed"])
@pytest.mark.parametrize("name", ["cube-glides", "mixed-components", "motor-at-stop", "slider-at-stop"])
def test_jacobian_of_the_system_agrees_with_differences(name: str, law: str) -> None:
    system = MotionSystem(NAMED[name].build().with_law(law))
    z = np.random.default_rng(3).normal(size=system.size)
    check_jacobian(system.mcp, system.mcp.clip(z))


@pytest.mark.parametrize("law", ["coulomb", "relaxed"])
@pytest.mark.parametrize(
    "name", ["cube-glides", "cube-rests", "held-on-belt", "motor-at-stop", "block-opens"]
)
def test_an_answer_of_another_solver_solves_the_system(name: str, law: str) -> None:
    problem = NAMED[name].build().with_law(law)
    answer = solve(problem, Newton(), tolerance=1e-13)
    blocks = problem.blocks_of(answer.impulses, answer.joint_impulses)
    system = MotionSystem(problem)
    point = system.start(blocks)
    np.testing.assert_allclose(system.impulses(point), blocks, atol=1e-12 * max(1.0, np.abs(blocks).max()))
    assert certify(system.mcp, point).residual < 1e-10


def test_an_open_contact_that_moves_sideways_has_no_impulse() -> None:
    problem = ContactProblem(
        mass=np.eye(6),
        jacobian=np.kron(np.eye(2), [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
        momentum=[3.0, 4.0, 1.0, 3.0, 4.0, -1.0],
        friction=[0.5, 0.5],
    )
    solution = EOM().solve(problem, tolerance=1e-12)
    np.testing.assert_allclose(solution.impulses[:3], 0.0, atol=1e-12)
    np.testing.assert_allclose(solution.impulses[3:], [1.0, -0.3, -0.4], atol=1e-12)


def test_an_open_contact_at_rest_is_no_obstacle() -> None:
    """γ = 0 and u_t = 0: neither the direction of friction nor its multiplier is determined there."""
    problem = ContactProblem(
        mass=np.eye(6),
        jacobian=np.kron(np.eye(2), [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
        momentum=[0.0, 0.0, 0.0, 0.0, 0.0, -1.0],
        bias=[0.5, 0.0, 0.0, 0.0, 0.0, 0.0],
        friction=[0.5, 0.5],
    )
    for kind in (EOM, EOMRelaxed):
        np.testing.assert_allclose(
            kind().solve(problem, tolerance=1e-12).impulses, [0, 0, 0, 1, 0, 0], atol=1e-12
        )


def test_velocities_do_not_depend_on_the_unit_of_mass() -> None:
    """The same cube with its mass in about milligrams and kilotonnes takes as many iterations.

    The factors are powers of two: others round differently, and the last digits decide how often Newton's
    method repeats at a tolerance of 1e-11.
    """
    plain = cube_on_plane(speed=1.0)
    counts = {}
    for factor in (1.0, 2.0**-20, 2.0**20):
        problem = ContactProblem(
            mass=factor * plain.mass,
            jacobian=plain.jacobian,
            bodies=plain.bodies,
            momentum=factor * plain.momentum,
            friction=plain.friction,
        )
        solution = EOM().solve(problem, tolerance=1e-11)
        np.testing.assert_allclose(solution.velocity, NAMED["cube-glides"].velocity, atol=1e-10)
        counts[factor] = solution.statistics.iterations
    assert len(set(counts.values())) == 1


def test_history_has_every_iteration() -> None:
    solution = solve(NAMED["cube-rests"].build(), EquationsOfMotion(), tolerance=1e-10, history=True)
    assert solution.statistics.history.iteration.tolist() == list(range(solution.statistics.iterations + 1))
    assert "22 unknowns" in solution.statistics.note


def test_sweeps_and_a_warm_start_save_iterations() -> None:
    problem = problem_of_scene("falling spheres")
    cold = solve(problem, EquationsOfMotion(), tolerance=1e-10)
    swept = solve(problem, EquationsOfMotion(sweeps=30), tolerance=1e-10)
    warm = solve(problem, EquationsOfMotion(), tolerance=1e-10, start=cold)
    assert swept.statistics.iterations < cold.statistics.iterations
    assert warm.statistics.iterations == 0


def test_sweeps_lead_out_of_dead_ends() -> None:
    """A heavy slab on light spheres: the method alone ends in proximal problems, swept it does not."""
    problems: list[ContactProblem] = []
    simulate(
        compaction(spheres=12), duration=0.6, step=0.005, tolerance=1e-8,
        observe=lambda frame: problems.append(frame.solution.problem),
    )  # fmt: skip
    problem = max(problems, key=lambda each: each.contacts).with_law("relaxed")
    swept = solve(problem, EquationsOfMotion(sweeps=30), tolerance=1e-10)
    assert "rescues" in swept.statistics.note
    assert swept.certificate.holds(1e-10)


def test_limits_end_a_run() -> None:
    problem = problem_of_scene("falling spheres")
    solution = solve(problem, EquationsOfMotion(), tolerance=1e-10, max_iterations=2, throw=False)
    assert solution.status is Status.ITERATION_LIMIT
    assert solution.statistics.iterations == 2


def test_the_clock_is_looked_at_between_iterations_and_sweeps() -> None:
    problem = problem_of_scene("falling spheres")
    zero = np.zeros((problem.layout.blocks, 3))
    enough, none_left = Goal(1e-10), Goal(1e-10, time_limit=1e-6)
    in_time, late = (EquationsOfMotion().begin(problem, zero, goal) for goal in (enough, none_left))
    assert in_time.advance(50, 0.0) > 5
    assert (late.advance(50, 0.0), late.outcome) == (1, Status.TIME_LIMIT)
    swept, not_swept = (
        EquationsOfMotion(sweeps=30).begin(problem, zero, goal) for goal in (enough, none_left)
    )
    assert swept.impulses.any()
    assert not not_swept.impulses.any()


def test_what_it_cannot_take_is_named() -> None:
    plain = NAMED["cube-rests"].build()
    matrix = plain.operator.matrix()
    without_masses = ContactProblem(
        delassus=matrix, free_velocity=plain.free_velocity, friction=plain.friction
    )
    with pytest.raises(UnsupportedError, match="needs masses"):
        solve(without_masses, EquationsOfMotion())
    with pytest.raises(UnsupportedError, match=r"supports coulomb and relaxed.*pyramid"):
        solve(plain.with_law("pyramid(8)"), EquationsOfMotion())
    with pytest.raises(UnsupportedError, match=r"about 30 unknowns \(max_unknowns=20\)"):
        solve(plain, EquationsOfMotion(max_unknowns=20))
    with pytest.raises(OptionError, match="backend"):
        EquationsOfMotion(backend="knitro")


# ---- PATH -------------------------------------------------------------------------------------------------


def test_missing_path_names_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingSolverError, match=r"pip install \"nonsmooth\[path\]"):
        EOM(backend="path").solve(sliding_ball())


@pytest.mark.parametrize("problem", [sliding_ball(), cube_on_plane(1.0), held_on_belt()], ids=repr)
@pytest.mark.parametrize("law", ["coulomb", "relaxed"])
def test_path_gives_the_same_velocities(problem: ContactProblem, law: str) -> None:
    pytest.importorskip("gamspy")
    ours = solve(problem.with_law(law), EquationsOfMotion(), tolerance=1e-10)
    path = solve(problem.with_law(law), EquationsOfMotion(backend="path"), tolerance=1e-10)
    np.testing.assert_allclose(path.velocity, ours.velocity, atol=1e-9)
    assert path.statistics.note.startswith("PATH: ")
