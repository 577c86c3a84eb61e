"""The experiments on complementarity problems: their numbers against the papers, and the profiles by hand."""

from __future__ import annotations

import csv
import math

import numpy as np
import pytest

from nonsmooth.complementarity import Status
from nonsmooth.complementarity.library import NAMED
from nonsmooth.experiments.andreani import mcplib as andreani_mcplib
from nonsmooth.experiments.andreani import methods as shared
from nonsmooth.experiments.andreani import solvers
from nonsmooth.experiments.andreani.figures import profile
from nonsmooth.experiments.andreani.methods import Outcome


def table(path):
    with path.open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def few_methods(request):
    everything = shared.methods()
    chosen = {name: everything[name] for name in ("semismooth-newton", "box-trust-region", "lemke", "slsqp")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared, "methods", lambda: chosen)
        yield chosen


@pytest.fixture(scope="module")
def mcplib(few_methods, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mcplib")
    setup = andreani_mcplib.Setup((10, 100), 1.0, (10, 20, 40))
    calls = []
    summary = andreani_mcplib.AndreaniMcplib().run_setup(folder, setup, lambda *call: calls.append(call))
    assert calls[0][0] == 0
    assert calls[-1][0] == calls[-1][1]
    return folder, {row.quantity: row for row in summary.comparisons}


def test_mcplib_has_the_papers_dimensions_and_objectives(mcplib):
    _, rows = mcplib
    for model, sizes in andreani_mcplib.HARKER_SIZES.items():
        for example, size in zip((1, 2), sizes, strict=True):
            assert rows[f"harkmcp-{model}-example-{example}: dimension of problem (2)"].ours == size
            assert rows[f"harkmcp-{model}-example-{example}: objective"].ours < 1e-10
    assert rows["scarfanum: dimension of problem (2)"].ours == 28
    assert rows["scarfasum: dimension of problem (2)"].ours == 30


def test_mcplib_sets_table_1_beside_ours(mcplib):
    _, rows = mcplib
    for name in ("scarfanum", "scarfasum"):
        for column, paper in zip(andreani_mcplib.COLUMNS, andreani_mcplib.TABLE_1[name], strict=True):
            row = rows[f"{name}: {column}"]
            assert row.paper == paper
            assert row.ours > 0.0
            assert "4 of 4" in row.error_or_note
        assert rows[f"{name}: FE"].ours >= rows[f"{name}: ItBox"].ours
        assert rows[f"{name}: MVP"].ours >= rows[f"{name}: ItQua"].ours > rows[f"{name}: ItBox"].ours


def test_mcplib_finds_the_objectives_of_optimal_control(mcplib):
    folder, rows = mcplib
    for (a, b), values in andreani_mcplib.OBJECTIVES.items():
        for steps, value in zip((10, 100), values[:2], strict=True):
            assert rows[f"bert_oc N={steps}, y0=({a:g}, {b:g}): J"].ours == pytest.approx(value, abs=6e-7)
    written = table(folder / "runs.csv")
    assert {row["problem"] for row in written} >= {"bert_oc N=40", "bert_oc N=100", "scarfanum"}
    solved = [float(row["residual"]) for row in written if row["status"] == "solved"]
    assert len(solved) > len(written) / 2
    assert max(solved) <= shared.TOLERANCE
    for name in ("fig01_cost_of_inner_iterations.png", "growth.png", "summary.md"):
        assert (folder / name).stat().st_size > 1000


def test_exponent_is_the_slope_without_the_first_size():
    assert andreani_mcplib.exponent([10, 100, 1000], [5.0, 1.0, 100.0]) == pytest.approx(2.0)
    assert math.isnan(andreani_mcplib.exponent([10, 100], [1.0, 2.0]))


def test_solvers_writes_one_cell_for_every_method(few_methods, tmp_path, monkeypatch):
    chosen = {name: NAMED[name] for name in ("billups", "josephy", "block-slides")}
    monkeypatch.setattr(solvers, "NAMED", chosen)
    summary = solvers.AndreaniSolvers().run(tmp_path, True, lambda *call: None)
    rows = {row.quantity: row for row in summary.comparisons}
    assert rows["semismooth-newton: solved"].ours == 3
    assert rows["lemke: solved"].ours == 1
    assert "of 1 supported" in rows["lemke: solved"].error_or_note
    assert rows["cases that no method solves"].ours == 0
    written = table(tmp_path / "solvers.csv")
    assert len(written) == 3 * 3 + 1
    found = {(row["method"], row["problem"]): row["status"] for row in written}
    assert found["box-trust-region", "billups"] == "stationary"
    page = (tmp_path / "solvers.md").read_text(encoding="utf-8")
    assert "| billups | zero |" in page
    assert "*stationary*" in page
    assert (tmp_path / "profiles.png").stat().st_size > 1000


def outcome(method, problem, seconds, status=Status.SOLVED):
    return Outcome(problem, "zero", method, 1, status, 0.0, 0.0, 1, 1, 1, 0, 0, seconds, np.zeros(1))


def test_ratios_and_profile_by_hand():
    """Times a: 1, 2, not solved; b: 2, 1, 4. So a is within 1 on one of three and within 2 on two."""
    cases = [solvers.Case(name, "zero") for name in ("p", "q", "r")]
    outcomes = {
        ("a", cases[0]): outcome("a", "p", 1.0), ("b", cases[0]): outcome("b", "p", 2.0),
        ("a", cases[1]): outcome("a", "q", 2.0), ("b", cases[1]): outcome("b", "q", 1.0),
        ("a", cases[2]): outcome("a", "r", 0.1, Status.STALLED), ("b", cases[2]): outcome("b", "r", 4.0),
    }  # fmt: skip
    found = solvers.ratios(["a", "b", "c"], cases, outcomes, lambda one: one.seconds)
    assert found["a"].tolist() == [1.0, 2.0, math.inf]
    assert found["b"].tolist() == [2.0, 1.0, 1.0]
    assert found["c"].tolist() == [math.inf] * 3
    tau, share = profile(found["a"])
    assert tau.tolist() == [1.0, 1.0, 2.0]
    np.testing.assert_allclose(share, [0.0, 1 / 3, 2 / 3])
