"""Two SCARA robots and a cube: the scene, its matrix, the three families of problems, and the experiments."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import nonsmooth as ns
from nonsmooth.complementarity.library import grasps as library
from nonsmooth.complementarity.problem import MCP
from nonsmooth.complementarity.solve import solve
from nonsmooth.complementarity.solvers.box_trust_region import BoxTrustRegion
from nonsmooth.complementarity.solvers.lemke import Lemke
from nonsmooth.complementarity.solvers.semismooth_newton import SemismoothNewton
from nonsmooth.experiments.andreani import sliding_cube as cube
from nonsmooth.experiments.andreani.grasp_parts import (
    Polygon,
    angles_between,
    contact_problem,
    in_paper_order,
    outside_cone,
    transitions,
)
from nonsmooth.experiments.andreani.grasps import AndreaniGrasps, contact_answer_of, objective_of
from nonsmooth.experiments.andreani.pyramid import AndreaniPyramid
from nonsmooth.scenes.grasp import grasp_data, grasp_problem

PRINTED = [
    [1.2688, -1.0, 0.0850, 0, 0, 0],
    [-1.0, 1.2688, 0, -0.0850, 0, 0],
    [0.0850, 0, 2.7216, -0.5, 0, 0],
    [0, -0.0850, -0.5, 2.7216, 0, 0],
    [0, 0, 0, 0, 3.5, 0.5],
    [0, 0, 0, 0, 0.5, 3.5],
]
"""A in 1/kg, to four decimals, worked out apart from this package."""
INSTANCES = library.grasps()
FAMILIES = {"sliding": 2, "rolling": 12, "pyramid": 10}


def problem_of(grasp: library.Grasp, family: str) -> MCP:
    return getattr(grasp, family)()


# ---- the matrix, three ways ----------------------------------------------------------------------------


def test_the_matrix_from_joint_space_inertia_is_the_printed_one() -> None:
    np.testing.assert_allclose(library.grasp_matrix(), PRINTED, atol=5e-5)
    assert library.Scara().elbow() == pytest.approx(1.68996, abs=5e-6)


def test_the_matrix_of_our_own_model_is_that_of_the_closed_form() -> None:
    matrix, _ = grasp_data(ns.scenes.grasp())
    np.testing.assert_allclose(matrix, library.grasp_matrix(), atol=1e-10)


def test_other_robots_have_another_matrix() -> None:
    heavy = library.grasp_matrix(library.Scara(masses=(4.0, 3.0, 1.0, 2.0)))
    assert heavy[4, 4] == pytest.approx(2.5 + 1.0 / 2.0)  # o is vertical: the cube, and the quill alone
    assert np.linalg.eigvalsh(heavy).min() > 0.0


# ---- the scene -----------------------------------------------------------------------------------------


def test_the_cube_is_held_by_friction() -> None:
    """At rest each finger presses with the squeeze and carries half of the cube's weight."""
    problem = grasp_problem(ns.scenes.grasp(squeeze=20.0))
    solution = ns.solve(problem, tolerance=1e-12)
    np.testing.assert_allclose(solution.impulses, [20.0, 0, -4.905, 20.0, 0, 4.905], atol=1e-9)
    np.testing.assert_allclose(solution.velocity, 0.0, atol=1e-9)


def test_free_accelerations_are_those_of_torques_and_gravity_alone() -> None:
    """Without the cube the quills rise by half its weight and the arms are pushed by the squeeze."""
    system = ns.scenes.grasp(squeeze=20.0)
    matrix, free = grasp_data(system)
    held = np.array([20.0, 20.0, 0.0, 0.0, -4.905, 4.905])
    np.testing.assert_allclose(matrix @ held + free, 0.0, atol=1e-9)
    np.testing.assert_allclose(free[4:], [4.905 + 9.81, -(4.905 + 9.81)], atol=1e-9)


@pytest.mark.parametrize(("squeeze", "falls"), [(20.0, False), (5.0, True)])
def test_the_cube_falls_when_it_is_not_pressed_enough(squeeze: float, falls: bool) -> None:
    run = ns.simulate(ns.scenes.grasp(squeeze=squeeze), duration=0.1, step=0.005, tolerance=1e-8)
    assert run.certificate.failed == 0
    height = run.system.position[run.system.index("cube"), 2]
    if falls:  # friction carries 2 μ F = 5 N of 9.81 N
        assert height == pytest.approx(-0.5 * (9.81 - 5.0) * 0.1**2, rel=0.1)
    else:
        assert abs(height) < 1e-6


# ---- the families --------------------------------------------------------------------------------------


def test_instances_are_always_the_same_and_drawn_one_after_the_other() -> None:
    generator = np.random.default_rng(2003)
    for grasp in library.grasps(3):
        np.testing.assert_array_equal(grasp.free, generator.standard_normal(6))
        np.testing.assert_array_equal(grasp.slip, generator.uniform(0.0, 2.0 * np.pi, 2))
    assert len(INSTANCES) == 200


@pytest.mark.parametrize("family", FAMILIES)
def test_families_have_the_papers_variables_and_right_jacobians(family: str) -> None:
    generator = np.random.default_rng(0)
    for grasp in INSTANCES[:3]:
        problem = problem_of(grasp, family)
        assert problem.size == FAMILIES[family]
        bounded = int(np.isfinite(problem.lower).sum())
        assert problem.size + bounded == {"sliding": 4, "rolling": 16, "pyramid": 20}[family]
        z = generator.uniform(0.1, 1.0, problem.size)
        steps = 1e-6 * np.eye(problem.size)
        differences = [(problem.value(z + s) - problem.value(z - s)) / 2e-6 for s in steps]
        np.testing.assert_allclose(problem.jacobian(z).toarray(), np.array(differences).T, atol=1e-8)


@pytest.mark.parametrize("family", FAMILIES)
def test_semismooth_newton_solves_all_instances(family: str) -> None:
    for grasp in INSTANCES:
        assert solve(problem_of(grasp, family), SemismoothNewton(), tolerance=1e-10).certificate.holds(1e-10)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_papers_method_solves_instances_of_every_family(family: str) -> None:
    for grasp in INSTANCES[:25]:
        problem = problem_of(grasp, family)
        found = solve(problem, BoxTrustRegion(), tolerance=1e-10)
        assert objective_of(problem, found.point) < 1e-10


@pytest.mark.parametrize("family", ["sliding", "pyramid"])
def test_lemke_and_newton_agree_on_linear_families(family: str) -> None:
    for grasp in INSTANCES[:40]:
        force = getattr(grasp, f"{family}_force")
        points = [
            solve(problem_of(grasp, family), solver, tolerance=1e-10).point
            for solver in (Lemke(), SemismoothNewton())
        ]
        np.testing.assert_allclose(force(points[0]), force(points[1]), atol=1e-8)


def test_sliding_forces_oppose_the_slip() -> None:
    for grasp in INSTANCES[:20]:
        force = grasp.sliding_force(solve(grasp.sliding(), Lemke(), tolerance=1e-10).point)
        slip = np.concatenate([np.cos(grasp.slip), np.sin(grasp.slip)])
        np.testing.assert_allclose(force[2:], -0.5 * np.tile(force[:2], 2) * slip, atol=1e-14)
        assert np.all(force[:2] >= 0.0)
        assert np.all(grasp.acceleration(force)[:2] >= -1e-10)


@pytest.mark.parametrize("family", ["rolling", "pyramid"])
def test_the_contact_solver_gives_the_answer_of_the_complementarity_problem(family: str) -> None:
    """Coulomb's cone, and the paper's square pyramid as our law pyramid(4), turned and circumscribed."""
    for grasp in INSTANCES:
        answer = contact_answer_of(grasp, family)
        assert answer.residual <= 1e-10
        assert answer.objective <= 1e-20


def test_what_rolling_contacts_do_next_is_known() -> None:
    """Counts that were found apart from this package: 34 and 40 pyramid forces outside the cone."""
    outside, same = np.zeros(2), np.zeros(2)
    for grasp in INSTANCES:
        forces = [contact_answer_of(grasp, family).force for family in ("rolling", "pyramid")]
        moving = [grasp.acceleration(force) for force in forces]
        kinds = [transitions(force, a) for force, a in zip(forces, moving, strict=True)]
        same += kinds[0] == kinds[1]
        outside += outside_cone(forces[1], grasp.friction)
        sliding = kinds[0] == "slide"
        assert np.all(angles_between(forces[0], moving[0])[sliding] < 1e-4)
    np.testing.assert_array_equal(outside, [34, 40])
    assert np.all(same / len(INSTANCES) >= 0.96)


def test_a_circumscribed_square_is_the_papers_pyramid() -> None:
    polygon = Polygon(4, circumscribed=True)
    for grasp in INSTANCES[:20]:
        problem, turned = contact_problem(grasp, polygon)
        force = in_paper_order(turned.T @ ns.solve(problem, tolerance=1e-10).impulses)
        assert np.all(np.abs(force[2:]) <= 0.5 * np.tile(force[:2], 2) + 1e-9)
        expected = grasp.pyramid_force(solve(grasp.pyramid(), Lemke(), tolerance=1e-10).point)
        np.testing.assert_allclose(force, expected, atol=1e-7)


# ---- polygons by hand ----------------------------------------------------------------------------------


@pytest.mark.parametrize("circumscribed", [False, True])
@pytest.mark.parametrize("sides", [4, 8, 16])
@pytest.mark.parametrize("push", [1.2, 3.0, 30.0])
def test_friction_on_a_polygon_is_the_nearest_point(sides: int, circumscribed: bool, push: float) -> None:
    polygon = Polygon(sides, circumscribed)
    for angle in np.linspace(0.0, 2.0 * np.pi, 7).tolist():
        force = push * cube.FRICTION * cube.GRAVITY * np.array([np.cos(angle), np.sin(angle)])
        found = cube.cube_friction(force, polygon)
        np.testing.assert_allclose(found, cube.friction_by_hand(force, polygon), atol=1e-9)


@pytest.mark.parametrize("circumscribed", [False, True])
@pytest.mark.parametrize("sides", [4, 8, 16, 32])
@pytest.mark.parametrize("push", [1.2, 3.0, 30.0])
def test_the_worst_direction_by_hand_is_the_worst_of_all(
    sides: int, circumscribed: bool, push: float
) -> None:
    polygon = Polygon(sides, circumscribed)
    angles = np.linspace(0.0, 2.0 * np.pi / sides, 4001)
    worst = np.degrees(cube.worst_push(polygon, push)[1])
    found = cube.angle_by_hand(polygon, push, angles).max()
    assert found == pytest.approx(worst, abs=0.05)
    assert found <= worst + 1e-9
    assert worst < 180.0 / sides


def test_friction_of_a_round_cone_opposes_the_push() -> None:
    force = np.array([6.0, 8.0])
    np.testing.assert_allclose(cube.cube_friction(force, None), -0.4905 * force, atol=1e-9)


@pytest.mark.parametrize("sides", [0, 4, 8])
def test_a_gliding_cube_rests_where_it_does_by_hand(sides: int) -> None:
    polygon = Polygon(sides) if sides else None
    angle = cube.glide_angle(polygon)
    rest = cube.glide(polygon, angle)[-1]
    np.testing.assert_allclose(rest, cube.rest_by_hand(polygon, angle), atol=1e-5)


# ---- experiments ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("experiment", [AndreaniGrasps(), AndreaniPyramid()], ids=lambda each: each.name)
def test_experiments_write_their_files_and_keep_their_closed_forms(experiment, tmp_path: Path) -> None:
    summary = experiment.run(tmp_path, True, lambda *call: None)
    assert all(path.stat().st_size > 100 for path in summary.files)
    content = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    rows = {row["quantity"]: row["ours"] for row in content["comparisons"]}
    for name, value in rows.items():
        if name.startswith("A of "):
            assert value < 1e-10
        if name.startswith("solved") and "from 1" not in name:
            assert value == 100.0
        if name.startswith("cube: friction"):
            assert value < 1e-9
    for table in tmp_path.glob("*.csv"):
        with table.open(encoding="utf-8") as stream:
            assert len(list(csv.DictReader(stream))) > 5
