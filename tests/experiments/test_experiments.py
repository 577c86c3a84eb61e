"""The papers' experiments: files, pictures and numbers, the latter against closed forms worked out here."""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from nonsmooth import experiments
from nonsmooth.errors import OptionError
from nonsmooth.experiments.summary import Comparison, Summary
from nonsmooth.problem.library.named import BLOCK_LOADS, planar_block


class Outcome:
    """One run in quick mode: its folder, summary and progress calls."""

    def __init__(self, name: str, folder: Path) -> None:
        self.folder = folder
        self.calls: list[tuple[int, int, str]] = []
        self.summary = experiments.by_name(name).run(folder, True, lambda *call: self.calls.append(call))

    def ours(self, quantity: str) -> float:
        (row,) = [row for row in self.summary.comparisons if row.quantity == quantity]
        return row.ours

    def paper(self, quantity: str) -> float | None:
        (row,) = [row for row in self.summary.comparisons if row.quantity == quantity]
        return row.paper

    def table(self, name: str) -> list[dict[str, str]]:
        with (self.folder / name).open(encoding="utf-8") as stream:
            return list(csv.DictReader(stream))

    def json(self, name: str) -> dict:
        return json.loads((self.folder / name).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def ball(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return Outcome("melanz-ball", tmp_path_factory.mktemp("out") / "deeper" / "ball")


@pytest.fixture(scope="module")
def block(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return Outcome("studer-block", tmp_path_factory.mktemp("out"))


@pytest.fixture(scope="module")
def filling(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return Outcome("melanz-filling", tmp_path_factory.mktemp("out"))


@pytest.fixture(scope="module")
def compaction(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return Outcome("melanz-compaction", tmp_path_factory.mktemp("out"))


@pytest.fixture(scope="module")
def scaling(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return Outcome("melanz-scaling", tmp_path_factory.mktemp("out"))


@pytest.fixture(params=["ball", "filling", "compaction", "scaling", "block"])
def outcome(request: pytest.FixtureRequest) -> Outcome:
    return request.getfixturevalue(request.param)


# ---- what every experiment does -------------------------------------------------------------------

FIGURES = {
    "melanz-ball": [
        "fig02_velocities", "fig03_original_dvi", "fig04_relaxed_dvi", "fig05_relaxed_ccqo",
        "fig06_anti_relaxed_ccqo", "fig12_original_dvi_surface", "fig13_relaxed_dvi_surface",
        "fig14_relaxed_ccqo_surface", "fig15_anti_relaxed_ccqo_surface",
    ],
    "melanz-filling": [
        "fig07_scene_exact", "fig07_scene_relaxed", "fig08_force_and_error", "iterations_and_motion",
    ],
    "melanz-compaction": ["fig09_scene", "fig10_force_and_error", "iterations_and_motion"],
    "melanz-scaling": ["fig11_scaling"],
    "studer-block": [
        "fig03_prox_half_line", "fig04_contraction", "fig05_lipschitz", "fig08_iterations",
        "fig09_exact_regularisation", "fig10_force_laws",
    ],
}  # fmt: skip
DATA = {
    "melanz-ball": ["history.csv", "optima.json"],
    "melanz-filling": ["steps.csv", "runs.json"],
    "melanz-compaction": ["steps.csv", "runs.json"],
    "melanz-scaling": ["runs.csv"],
    "studer-block": ["iterations.csv", "block.json"],
}


def test_every_file_is_there_and_listed(outcome: Outcome) -> None:
    name = outcome.summary.experiment
    wanted = {f"{figure}.png" for figure in FIGURES[name]} | set(DATA[name]) | {"summary.md", "summary.json"}
    assert {path.name for path in outcome.summary.files} == wanted
    assert {path.name for path in outcome.folder.iterdir()} == wanted
    assert all(path.parent == outcome.folder for path in outcome.summary.files)


def test_pictures_are_not_blank(outcome: Outcome) -> None:
    from matplotlib.image import imread

    for path in outcome.summary.files:
        if path.suffix == ".png":
            image = imread(path)
            assert image.shape[0] > 500
            assert image.shape[1] > 700
            assert image[:, :, :3].std() > 0.05, path.name


def test_progress_counts_up_to_the_total(outcome: Outcome) -> None:
    done = [call[0] for call in outcome.calls]
    totals = {call[1] for call in outcome.calls}
    assert done == list(range(len(done)))
    assert totals == {done[-1]}
    assert all(what for _, _, what in outcome.calls)


def test_summary_is_written_as_it_is_returned(outcome: Outcome) -> None:
    written = outcome.json("summary.json")
    rows = outcome.summary.comparisons
    assert [row["quantity"] for row in written["comparisons"]] == [row.quantity for row in rows]
    found = [None if math.isnan(row.ours) else row.ours for row in rows]
    assert [row["ours"] for row in written["comparisons"]] == found
    page = (outcome.folder / "summary.md").read_text(encoding="utf-8")
    assert page == outcome.summary.markdown()
    assert all(row.quantity in page for row in rows)


def test_summary_says_what_was_not_found_and_what_is_not_printed(tmp_path: Path) -> None:
    rows = (Comparison("|u| of nothing", None, math.nan, "m/s", "a note"), Comparison("x", 2.0, 1.0, ""))
    summary = Summary("name", "Paper", rows, ()).write(tmp_path)
    content = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert content["comparisons"][0]["ours"] is None
    assert content["comparisons"][0]["paper"] is None
    assert content["files"] == ["summary.md", "summary.json"]
    assert "| \\|u\\| of nothing |  | nan | m/s | a note |" in summary.markdown()
    assert "| x | 2 | 1 |  |  |" in summary.markdown()


def test_unknown_names_are_answered_with_those_alike() -> None:
    with pytest.raises(OptionError, match=r"did you mean melanz-ball or .*bouncing-ball"):
        experiments.by_name("ball")


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "taken"
    path.write_text("")
    with pytest.raises(OptionError, match="taken"):
        experiments.by_name("studer-block").run(path, True, lambda *_: None)


def test_matplotlib_waits_for_the_first_figure() -> None:
    code = "import sys, nonsmooth.experiments; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_experiment_is_imported_when_it_is_asked_for() -> None:
    code = """
import sys
from nonsmooth.experiments import REGISTRY
REGISTRY["studer-block"]
print([name for name in sys.modules if name.startswith("nonsmooth.experiments.") and name.count(".") == 3])
"""
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert "nonsmooth.experiments.studer.block" in found
    assert not any(other in found for other in ("melanz", "mazhar", "andreani", "mechanisms", "impacts"))


def test_names_in_the_registry_are_those_of_the_experiments() -> None:
    for name, experiment in experiments.REGISTRY.items():
        assert experiment.name == name
        assert experiment.summary
        assert experiment.paper
        assert min(experiment.seconds) > 0.0


# ---- the ball: v = 2 − μ g t sliding, −ω R = 5/2 μ g t, rolling at 10/7 m/s from t = 4/(7 μ g) --------

MU, G = 0.2, 9.81
SLIDING_ENDS = 4.0 / (7.0 * MU * G)


def history(ball: Outcome, law: str) -> dict[str, np.ndarray]:
    rows = [row for row in ball.table("history.csv") if row["law"] == law]
    return {key: np.array([float(row[key] or "nan") for row in rows]) for key in rows[0] if key != "law"}


def test_exact_law_gives_the_closed_form(ball: Outcome) -> None:
    run = history(ball, "coulomb")
    time = run["time_s"]
    assert len(time) == 101
    sliding = time < SLIDING_ENDS
    forward = np.where(sliding, 2.0 - MU * G * time, 10.0 / 7.0)
    rolling = np.where(sliding, 2.5 * MU * G * time, 10.0 / 7.0)
    np.testing.assert_allclose(run["v_x_m_per_s"], forward, atol=1e-11)
    np.testing.assert_allclose(-run["omega_rad_per_s"], rolling, atol=1e-11)
    np.testing.assert_allclose(run["v_y_m_per_s"], 0.0, atol=1e-11)
    np.testing.assert_allclose(run["q_y_m"], 1.0, atol=1e-11)
    np.testing.assert_allclose(run["gamma_n_N_s"][1:], G * 0.01, atol=1e-11)
    assert run["residual"][1:].max() <= 1e-12


def test_relaxed_law_throws_the_ball_up(ball: Outcome) -> None:
    run = history(ball, "relaxed")
    normal = (2.0 * MU + G * 0.01) / (1.0 + 3.5 * MU**2)
    assert run["gamma_n_N_s"][1] == pytest.approx(normal, abs=1e-11)
    assert run["gamma_t_N_s"][1] == pytest.approx(-MU * normal, abs=1e-11)
    assert run["v_y_m_per_s"].max() == pytest.approx(normal - G * 0.01, abs=1e-11)
    # Free flight with the implicit step: after l steps v = v_1 − g h (l − 1), and the top is where v turns.
    first = normal - G * 0.01
    flight = first - G * 0.01 * np.arange(4)
    assert flight[-1] > 0.0 > first - G * 0.01 * 4
    assert run["q_y_m"].max() - 1.0 == pytest.approx(0.01 * flight.sum(), abs=1e-11)
    assert run["residual"][1:].max() <= 1e-12


def test_optima_agree_with_the_closed_forms_and_with_a_second_method(ball: Outcome) -> None:
    normal = (2.0 * MU + G * 0.01) / (1.0 + 3.5 * MU**2)
    wanted = {
        3: (0.0981, -0.01962),
        4: (normal, -MU * normal),
        5: (normal, -MU * normal),
        6: (0.0981, -0.01962),
    }
    optima = ball.json("optima.json")
    for number, point in wanted.items():
        found = optima[f"figure {number}"]
        np.testing.assert_allclose(found["optimum_apgd_N_s"], point, atol=1e-11)
        np.testing.assert_allclose(found["optimum_slsqp_N_s"], point, atol=1e-7)
        assert found["analytical_N_s"] == [0.0981, -0.01962]
    u_t = 2.0 - 3.5 * 0.01962
    assert optima["figure 3"]["objective_at_optimum_J"] == pytest.approx(-0.01962 * u_t, abs=1e-11)
    least = 0.5 * (normal**2 + 3.5 * (MU * normal) ** 2) - 0.0981 * normal - 2.0 * MU * normal
    assert optima["figure 5"]["objective_at_optimum_J"] == pytest.approx(least, abs=1e-11)


def test_ball_summary_holds_the_papers_numbers(ball: Outcome) -> None:
    assert (ball.ours("N_nn (Eq. 46)"), ball.ours("N_nt (Eq. 46)")) == (1.0, 0.0)
    assert ball.ours("N_tt (Eq. 46)") == pytest.approx(3.5, rel=1e-15)
    assert ball.ours("r_n (Eq. 47)") == pytest.approx(-0.0981, rel=1e-15)
    assert ball.ours("r_t (Eq. 47)") == 2.0
    assert ball.paper("γ_n at t = 0, relaxed law") is None
    assert ball.paper("transition time, exact law") == pytest.approx(0.291, abs=5e-4)
    assert ball.ours("transition time, exact law") == pytest.approx(SLIDING_ENDS, abs=1e-10)
    assert ball.ours("first step that rolls, exact law") == pytest.approx(
        0.01 * math.ceil(100 * SLIDING_ENDS)
    )
    assert ball.paper("v_x after 1 s, exact law") == pytest.approx(1.429, abs=5e-4)
    assert ball.ours("−ω R after 1 s, exact law") == pytest.approx(10.0 / 7.0, abs=1e-11)
    assert ball.ours("largest velocity error, exact law") < 1e-11
    part = 100 * SLIDING_ENDS - 29
    corner = ball.ours("largest error of −ω R between the time points, exact law")
    assert corner == pytest.approx(2.5 * MU * G * 0.01 * part * (1 - part), abs=1e-10)
    assert ball.ours("largest velocity error, relaxed law") > 0.3
    for number in (3, 4, 5, 6):
        assert ball.ours(f"Fig. {number}: optimum found twice") < 1e-7


# ---- the block ------------------------------------------------------------------------------------


def test_block_forces_are_the_ones_worked_out_by_hand(block: Outcome) -> None:
    cases = block.json("block.json")["cases"]
    stick, slide, opens = (cases[case] for case in ("stick", "slide", "open"))
    assert stick["forces_N"][:2] == pytest.approx([9.966666666667, 10.633333333333], abs=1e-9)
    assert sum(stick["forces_N"][2:]) == pytest.approx(-2.0, abs=1e-9)
    assert stick["contact_accelerations_m_per_s2"] == pytest.approx([0.0] * 4, abs=1e-9)
    assert slide["forces_N"] == pytest.approx([9.27, 11.33, -2.781, -3.399], abs=1e-9)
    assert slide["contact_accelerations_m_per_s2"] == pytest.approx(
        [0.0, 0.0, 3.82 / 2.1, 3.82 / 2.1], abs=1e-9
    )
    assert opens["forces_N"] == pytest.approx([24.695, 0.0, -1.365, 0.0], abs=1e-9)
    assert opens["contact_accelerations_m_per_s2"] == pytest.approx([0.0, 3.9, 0.0, 0.0], abs=1e-9)


def test_printed_matrix_needs_the_homogeneous_block(block: Outcome) -> None:
    for name, printed in {"G11": 1.8, "G12": -0.8, "G13": -0.4, "G33": 0.6}.items():
        assert block.paper(name) == printed
        assert round(block.ours(name), 1) == printed
    assert round(block.ours("G11 with the printed J = 0.018"), 1) != 1.8
    assert block.ours("least eigenvalue of G") == pytest.approx(0.0, abs=1e-14)


def test_local_limits_of_jorprox(block: Outcome) -> None:
    # Rows that stay: (a, −a, b, b) of all four; the two normals; one normal and its friction.
    parts = {
        "stick": [[54 / 37, -18 / 37], [-18 / 13, 2.0]],
        "slide": [[1.0, -17 / 37], [-17 / 37, 1.0]],
        "open": [[1.0, -9 / 37], [-9 / 13, 1.0]],
    }
    for case, rounded in {"stick": 0.771, "slide": 1.370, "open": 1.418}.items():
        limit = 2.0 / np.linalg.eigvals(np.array(parts[case])).real.max()
        assert round(limit, 3) == rounded
        assert block.ours(f"local limit of ω, JORprox, {case}") == pytest.approx(limit, abs=1e-12)


def jacobi(case: str, omega: float) -> bool:
    """Eqs. 60 and 61 in plain NumPy: does it converge from λ = 0?"""
    problem = planar_block(BLOCK_LOADS[case])
    matrix, free = problem.operator.matrix().toarray(), problem.free_velocity
    r, force = omega / np.diag(matrix), np.zeros(4)
    for _ in range(3000):
        step = force - r * (matrix @ force + free)
        normal = np.maximum(step[::2], 0.0)
        radius = 0.3 * np.maximum(force[::2], 0.0)
        step[::2], step[1::2] = normal, np.clip(step[1::2], -radius, radius)
        if np.abs(step - force).max() < 1e-9:
            return True
        force = step
    return False


def test_measured_ends_of_convergence(block: Outcome) -> None:
    for case in BLOCK_LOADS:
        assert block.ours(f"measured end of ω, SORprox, {case}") == pytest.approx(1.995)
    ends = {case: block.ours(f"measured end of ω, JORprox, {case}") for case in BLOCK_LOADS}
    assert 0.0 <= 0.7711 - ends["stick"] < 0.005  # just below the local limits
    assert 0.0 <= 37.0 / 27.0 - ends["slide"] < 0.01
    # From λ = 0 the iteration is caught in a cycle before the local limit 1.418: at 1.35.
    assert ends["open"] == pytest.approx(1.35, abs=0.01)
    assert jacobi("open", ends["open"])
    assert not jacobi("open", ends["open"] + 0.01)


def test_iterations_over_omega(block: Outcome) -> None:
    counts = {
        (row["case"], row["method"], round(float(row["omega"]), 2)): int(row["iterations"])
        for row in block.table("iterations.csv")
        if row["converged"] == "yes"
    }
    missed = [row for row in block.table("iterations.csv") if row["converged"] == "no"]
    assert missed
    assert all(row["iterations"] == "" for row in missed)
    limits = {"stick": 0.7711, "slide": 1.3704, "open": 1.4181}
    for (case, method, omega), count in counts.items():
        assert 0 < count <= 500
        if method == "JORprox":
            assert omega < limits[case]
            assert counts[case, "SORprox", omega] <= count
    # Small ω: the slowest error shrinks by 1 − ω λ_min each time, so ω times the count is nearly constant.
    for case in BLOCK_LOADS:
        assert 0.12 * counts[case, "JORprox", 0.12] == pytest.approx(
            0.24 * counts[case, "JORprox", 0.24], rel=0.1
        )


def test_runs_are_repeatable(block: Outcome, tmp_path: Path) -> None:
    again = Outcome("studer-block", tmp_path)
    for path in again.summary.files:
        assert path.read_bytes() == (block.folder / path.name).read_bytes(), path.name


# ---- falling spheres: what must hold whatever the start --------------------------------------------

LABELS = ("relaxed, APGD", "anti-relaxed, APGD", "exact, Gauss-Seidel")
KEYS = ("relaxed_apgd", "anti_relaxed_apgd", "exact_gauss_seidel")


@pytest.fixture(params=["filling", "compaction"])
def granular(request: pytest.FixtureRequest) -> Outcome:
    return request.getfixturevalue(request.param)


def steps(outcome: Outcome, key: str) -> dict[str, np.ndarray]:
    rows = [row for row in outcome.table("steps.csv") if row["method"] == key]
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0] if name != "method"}


def test_force_on_the_container_ends_at_the_weight(granular: Outcome) -> None:
    slab = 240.0 if granular.summary.experiment == "melanz-compaction" else 0.0
    for key, label in zip(KEYS, LABELS, strict=True):
        run = steps(granular, key)
        np.testing.assert_allclose(run["weight_N"], 9.81 * (60.0 + slab), rtol=1e-14)
        force = run["force_on_container_N"]
        assert np.all(force[:3] == 0.0)  # the spheres start above the floor
        assert force.min() > -1e-9
        last = force[-(len(force) // 10) :].mean() / run["weight_N"][0]
        assert last == pytest.approx(1.0, abs=0.05)
        assert granular.ours(f"force at the end / weight, {label}") == pytest.approx(last, rel=1e-12)
        assert granular.paper(f"force at the end / weight, {label}") == 1.0


def test_forces_are_what_changes_the_momentum(granular: Outcome) -> None:
    for label in LABELS:
        assert granular.ours(f"momentum balance, {label}") < 1e-12


def test_only_the_relaxed_law_breaks_complementarity(granular: Outcome) -> None:
    relaxed, anti, exact = (steps(granular, key)["complementarity_error_J"] for key in KEYS)
    for label, error in zip(LABELS[1:], (anti, exact), strict=True):
        largest = granular.ours(f"largest complementarity error, relaxed / {label}")
        assert largest == pytest.approx(relaxed.max() / error.max(), rel=1e-12)
        assert largest > 10.0
    # Where spheres slide the relaxed law opens contacts, |γ_n u_n| = γ_n μ |u_t|: at rest it does not.
    late = [np.exp(np.log(error[len(error) // 2 :]).mean()) for error in (relaxed, anti, exact)]
    for label, error in zip(LABELS[1:], late[1:], strict=True):
        ratio = granular.ours(f"complementarity error, relaxed / {label}")
        assert ratio == pytest.approx(late[0] / error, rel=1e-9)
        assert ratio > 10.0
    for key in KEYS:
        assert steps(granular, key)["contacts"].max() > 60


def test_settling_is_read_off_the_averaged_force(granular: Outcome) -> None:
    for key, label in zip(KEYS, LABELS, strict=True):
        run = steps(granular, key)
        h, settled = (
            run["time_s"][0],
            granular.ours(f"force stays within 5% of the weight from, {label}"),
        )
        if math.isnan(settled):
            continue
        half = round(0.1 / h) // 2
        ratio = run["force_on_container_N"] / run["weight_N"]
        means = [ratio[max(0, i - half) : i + half + 1].mean() for i in range(len(ratio))]
        after = np.array(means)[run["time_s"] >= settled - 1e-9]
        assert np.abs(after - 1.0).max() <= 0.05 + 1e-12
        before = np.array(means)[round(settled / h) - 2]
        assert abs(before - 1.0) > 0.05


def test_steps_that_missed_the_tolerance_are_counted(tmp_path: Path) -> None:
    from nonsmooth.experiments.melanz.filling import MelanzFilling, Setup
    from nonsmooth.experiments.shared.granular import Effort, Plan

    setup = Setup(20, Plan(1.0, 0.01, Effort(1e-9, 3), 25, (1.0,)))
    summary = MelanzFilling().run_setup(tmp_path, setup, lambda *_: None)
    found = {row.quantity: row for row in summary.comparisons}
    for label in LABELS:
        row = found[f"steps that missed the tolerance, {label}"]
        assert 0 < row.ours <= 100
        assert "of 100; largest residual" in row.error_or_note


def test_scaling_covers_every_size(scaling: Outcome) -> None:
    rows = scaling.table("runs.csv")
    assert [(row["method"], int(row["spheres"])) for row in rows] == [
        (key, size) for size in (10, 30, 100) for key in KEYS
    ]
    contacts = {(row["method"], int(row["spheres"])): int(row["largest_contacts"]) for row in rows}
    for key in KEYS:
        assert contacts[key, 10] < contacts[key, 30] < contacts[key, 100]
    for size in (10, 30, 100):
        assert scaling.ours(f"complementarity error, relaxed / exact, {size} spheres") > 20.0
        iterations = [scaling.ours(f"mean iterations per step, {name}, {size} spheres") for name in LABELS]
        ratio = scaling.ours(f"iterations, anti-relaxed / relaxed APGD, {size} spheres")
        assert ratio == pytest.approx(iterations[1] / iterations[0])
        assert ratio < 2.0  # the paper: similar for low numbers of collisions


def test_large_fillings_leave_out_what_would_take_hours() -> None:
    from nonsmooth.experiments.melanz.scaling import MelanzScaling

    runs = MelanzScaling.FULL.runs()
    largest = {key: max(size for size, method in runs if method.key == key) for key in KEYS}
    assert largest == {"relaxed_apgd": 16000, "anti_relaxed_apgd": 1000, "exact_gauss_seidel": 16000}
