"""The static experiments of TR-2014-11 §5.1 and §5.2 in tiny sizes, against independent computations."""

from __future__ import annotations

import csv
import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from nonsmooth.experiments.mazhar import scaling, static
from nonsmooth.experiments.mazhar import settled_spheres as spheres
from nonsmooth.experiments.shared.granular import Effort
from nonsmooth.experiments.shared.resume import Store
from nonsmooth.solvers.apgd import APGD
from nonsmooth.solvers.equations_of_motion import EquationsOfMotion
from nonsmooth.solvers.fixed_point import FixedPoint
from nonsmooth.solvers.gauss_seidel import GaussSeidel
from nonsmooth.solvers.interior_point import InteriorPoint, dual_program
from nonsmooth.solvers.solve import solve

TINY = static.Setup(size=12, duration=1.0, step=0.01, tolerance=1e-3, apgd_iterations=2000)
RECIPE = TINY.recipes()[0]
QUICKLY = scaling.Setup(
    (9, 12, 16), 1.0, 0.01, Effort(1e-2, 50), 1e-6, 5.0, (scaling.METHODS[0], scaling.METHODS[2])
)


def silent(done: int, total: int, what: str) -> None:
    assert 0 <= done <= total


@pytest.fixture(scope="module")
def heap() -> spheres.Settled:
    return spheres.settle(RECIPE, silent)


def test_a_data_set_is_computed_once(
    tmp_path: Path, heap: spheres.Settled, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    first = spheres.settled(RECIPE, store, silent)
    np.testing.assert_array_equal(first.position, heap.position)
    other = spheres.settled(dataclasses.replace(RECIPE, duration=0.2), store, silent)
    assert not np.array_equal(other.position, first.position)  # another recipe is not mistaken for it
    spheres.settled(RECIPE, store, silent)
    monkeypatch.setattr(spheres, "settle", None)
    again = spheres.settled(RECIPE, store, silent)
    for field in dataclasses.fields(spheres.Settled):
        np.testing.assert_array_equal(getattr(again, field.name), getattr(first, field.name))
    with monkeypatch.context() as heavier:
        heavier.setattr(spheres, "MASS", 2.0)
        with pytest.raises(TypeError):  # other spheres are settled, which this test has switched off
            spheres.settled(RECIPE, store, silent)


def test_an_interrupted_run_keeps_whole_data_sets(tmp_path: Path) -> None:
    def interrupt(done: int, total: int, what: str) -> None:
        if what.startswith("poorly"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        static.MazharStatic().run_setup(tmp_path, TINY, interrupt)
    assert len(list(tmp_path.glob("kept/settled_thoroughly-*.npz"))) == 1
    assert not list(tmp_path.glob("kept/settled_poorly-*.npz"))


def test_the_next_problem_is_that_of_the_settled_state(heap: spheres.Settled) -> None:
    problem = heap.next_problem(0.0005)
    assert str(problem.law) == "relaxed"
    before = scaling.velocity_before(heap, problem)
    kinetic = 0.5 * before @ (problem.mass_matrix() @ before)
    assert kinetic == pytest.approx(heap.kinetic_energy, rel=1e-9)
    assert np.abs(before.reshape(-1, 6)[:, :3]).max() == pytest.approx(np.abs(heap.linear_velocity).max())
    # objective before solving, in closed form: ½ n m (g h)²
    expected = 0.5 * RECIPE.spheres * spheres.MASS * (9.81 * 0.0005) ** 2
    assert scaling.distance_from_free_motion(problem, before) == pytest.approx(expected, rel=1e-9)


def test_condition_number_is_numpys(heap: spheres.Settled) -> None:
    system = spheres.spheres_above_container(1)
    system.position[0] = (0.0, 0.0, spheres.RADIUS)  # one sphere on the floor: 1/m and twice 7/(2m)
    state = (system.position, system.quaternion, system.linear_velocity, system.angular_velocity)
    alone = spheres.Settled(dataclasses.replace(RECIPE, spheres=1), *state, 0.0, 0.0, 0.0, 0)
    problem = alone.next_problem(0.0005)
    found = static.Spectrum.of(problem)
    assert (found.rank, found.size) == (3, 3)
    assert found.condition == pytest.approx(3.5)
    assert found.condition == pytest.approx(np.linalg.cond(problem.operator.matrix().toarray()))
    heaped = heap.next_problem(0.0005)
    assert static.Spectrum.of(heaped).rank == np.linalg.matrix_rank(
        heaped.operator.matrix().toarray(), hermitian=True
    )


def test_the_objective_is_clarabels_own(heap: spheres.Settled) -> None:
    clarabel = pytest.importorskip("clarabel")
    problem = heap.next_problem(0.0005)
    program, _ = dual_program(problem)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    cones = [clarabel.SecondOrderConeT(size) for size in program.cones]
    quadratic = program.quadratic.tocsc()
    solver = clarabel.DefaultSolver(
        sp.triu(quadratic, format="csc"), program.linear, sp.csc_matrix(program.constraint), program.right,
        cones, settings,
    )  # fmt: skip
    assert static.objective(static.most_exact(problem)) == pytest.approx(solver.solve().obj_val, rel=1e-6)


def test_strong_duality(heap: spheres.Settled) -> None:
    problem = heap.next_problem(0.0005)
    exact = static.most_exact(problem)
    assert exact.velocity is not None
    free = problem.velocity(np.zeros_like(exact.impulses))
    total = static.objective(exact) + static.primal_objective(problem, exact.velocity)
    assert total == pytest.approx(-0.5 * problem.momentum @ free, rel=1e-9)
    assert scaling.distance_from_free_motion(problem, exact.velocity) == pytest.approx(
        -static.objective(exact), rel=1e-6
    )


def test_traces_come_down_to_the_least_objective(heap: spheres.Settled) -> None:
    problem = heap.next_problem(0.0005)
    least = static.objective(static.most_exact(problem))
    apgd, interior = static.apgd_trace(problem, 2000), static.interior_trace(problem)
    assert apgd.objective[0] == interior.objective[0] == 0.0
    assert np.all(apgd.objective >= least * (1.0 + 1e-9))  # impulses in their cones are never below it
    assert apgd.objective[-1] == pytest.approx(least, rel=1e-7)
    assert np.all(np.diff(apgd.residual) <= 0.0)  # the best iterate is kept
    assert interior.objective[-1] == pytest.approx(least, rel=1e-5)
    assert list(interior.iteration) == list(range(len(interior.iteration)))


def test_iterations_to_a_target() -> None:
    trace = static.Trace("x", np.arange(4), np.array([0.0, -0.5, -0.99, -1.0]), np.ones(4))
    assert [trace.reaches(-1.0, accuracy) for accuracy in (1.0, 0.5, 0.02, 1e-9)] == [0, 1, 2, 3]
    assert math.isnan(trace.reaches(-2.0, 0.1))


def test_static_experiment_runs_and_goes_on(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    summary = static.MazharStatic().run_setup(
        tmp_path, TINY, lambda done, total, _: seen.append((done, total))
    )
    assert all(path.exists() for path in summary.files)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1][0] == seen[-1][1]
    again = static.MazharStatic().run_setup(tmp_path, TINY, silent)
    assert [row.ours for row in again.comparisons] == [row.ours for row in summary.comparisons]
    table = list(csv.DictReader((tmp_path / "table1.csv").read_text(encoding="utf-8").splitlines()))
    assert [(row["data_set"], row["source"]) for row in table] == [
        ("thoroughly", "report"), ("thoroughly", "ours"), ("poorly", "report"), ("poorly", "ours")
    ]  # fmt: skip
    assert float(table[0]["kinetic_energy_J"]) == 0.0215


def test_report_values() -> None:
    thoroughly, poorly = static.PRINTED["thoroughly"], static.PRINTED["poorly"]
    assert thoroughly.accuracy == pytest.approx(4.3e-5, rel=0.01)
    assert poorly.accuracy == pytest.approx(1.9e-5, rel=0.01)


def test_fitted_exponent() -> None:
    def row(contacts: int, status: str = "solved") -> scaling.Measured:
        return scaling.Measured(
            contacts, contacts, "m", status, 1, 3.0 * contacts**1.5, 0.0, 1.0, 1.0, 1e-4, 9.0
        )

    slope, count = scaling.exponent([row(10), row(20), row(40), row(80, "stalled")], "m")
    assert (slope, count) == (pytest.approx(1.5), 3)
    assert math.isnan(scaling.exponent([row(10), row(20)], "m")[0])


def test_scaling_runs_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = dataclasses.replace(QUICKLY, sizes=QUICKLY.sizes[:2])
    scaling.MazharScaling().run_setup(tmp_path, part, silent)
    first = (tmp_path / "times.csv").read_text(encoding="utf-8").splitlines()
    assert len(first) == 1 + 4
    summary = scaling.MazharScaling().run_setup(tmp_path, QUICKLY, silent)
    whole = (tmp_path / "times.csv").read_text(encoding="utf-8").splitlines()
    assert whole[: len(first)] == first  # nothing was measured twice
    assert len(whole) == 1 + 6
    assert all(path.exists() for path in summary.files)
    rows = list(csv.DictReader(whole))
    assert {row["status"] for row in rows} == {"solved"}
    assert max(float(row["residual"]) for row in rows) <= 1e-6
    monkeypatch.setattr(spheres, "settle", lambda *_: pytest.fail("settled again"))
    monkeypatch.setattr(scaling, "_warm_up", lambda _: None)
    scaling.MazharScaling().run_setup(tmp_path, QUICKLY, silent)
    assert (tmp_path / "times.csv").read_text(encoding="utf-8").splitlines() == whole


def test_a_solver_that_gives_up_is_marked_and_not_tried_beyond(tmp_path: Path) -> None:
    methods = (
        scaling.Method("in time", GaussSeidel()),
        scaling.Method("refuses", EquationsOfMotion(max_unknowns=1)),
        scaling.Method("never", APGD()),
    )
    setup = dataclasses.replace(QUICKLY, sizes=QUICKLY.sizes[:2], methods=methods)
    problem = spheres.settle(setup.recipe(12), silent).next_problem(scaling.STEP)
    late = scaling.measure(problem, 12, 0.0, methods[2], dataclasses.replace(setup, time_limit=1e-6))
    assert late.status == "time limit"
    scaling.MazharScaling().run_setup(tmp_path, setup, silent)
    rows = list(csv.DictReader((tmp_path / "times.csv").read_text(encoding="utf-8").splitlines()))
    assert [(row["spheres"], row["method"], row["status"]) for row in rows] == [
        ("9", "in time", "solved"), ("9", "refuses", "too large"), ("9", "never", "solved"),
        ("12", "in time", "solved"), ("12", "never", "solved"),
    ]  # fmt: skip


@pytest.fixture(scope="module", params=(9, 12, 16, 40))
def coarse_heap(request: pytest.FixtureRequest) -> spheres.Settled:
    return spheres.settle(QUICKLY.recipe(request.param), silent)


@pytest.mark.parametrize("form", ["primal", "dual"])
def test_interior_point_asked_for_more_gives_more(coarse_heap: spheres.Settled, form: str) -> None:
    """Alone, without Newton steps; with constraints to 1e-14 the primal form ends with a residual of 0.03."""
    problem = coarse_heap.next_problem(scaling.STEP)
    little, more = (
        solve(problem, InteriorPoint(form=form, polish=0), tolerance=tolerance, throw=False)
        for tolerance in (1e-3, 1e-6)
    )
    assert more.certificate.residual <= 1e-6
    assert more.certificate.residual < little.certificate.residual


def test_combined_changes_of_the_tilting_term_save_iterations() -> None:
    heap = spheres.settle(QUICKLY.recipe(24), silent)
    problem = heap.next_problem(scaling.STEP).with_law("coulomb")
    alone, combined = (solve(problem, FixedPoint(memory=memory), tolerance=1e-8) for memory in (0, 5))
    assert combined.statistics.iterations <= alone.statistics.iterations // 2
    assert combined.velocity is not None
    assert alone.velocity is not None
    np.testing.assert_allclose(combined.velocity, alone.velocity, rtol=0.0, atol=1e-8)


def test_all_solvers_find_the_same_objective(heap: spheres.Settled) -> None:
    problem = heap.next_problem(scaling.STEP)
    found = [
        scaling.measure(problem, 9, 0.0, method, dataclasses.replace(QUICKLY, time_limit=20.0))
        for method in scaling.METHODS
        if method.law == "relaxed"
    ]
    solved = [each for each in found if each.solved]
    assert len(solved) >= len(found) - 2
    least = -static.objective(solve(problem, InteriorPoint(form="primal"), tolerance=1e-8))
    for each in solved:
        assert each.objective_after == pytest.approx(least, rel=1e-4)
