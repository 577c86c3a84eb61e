"""Islands of impacts that sweeps do not finish: the law, phase by phase, checked with NumPy alone; energy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nonsmooth as ns
from helpers.random_bodies import cross_matrix, random_rotation
from nonsmooth.stepping.kernels import impacts as kernels
from nonsmooth.stepping.schemes import impact_newton

CLOSE = 1e-9  # part of the island's speeds (and of impulses that give such speeds) by which a law may miss
SEEDS = st.integers(0, 2**32 - 1)


def random_jacobian(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """DᵀL⁻ᵀ of 2 to 8 corners of a face on the floor, with a second body on some of it; and its twists."""
    count, above = int(rng.integers(2, 9)), int(rng.integers(0, 5))
    side, height = 10.0 ** rng.uniform(-1.0, 0.5), 10.0 ** rng.uniform(-1.5, 0.5)
    if count == 4:  # corners of a rectangle: rows that depend on each other exactly
        corners = side * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]]) * [1.0, rng.uniform(0.1, 1.0)]
    else:
        corners = side * rng.uniform(-1.0, 1.0, (count, 2))
    lower = np.column_stack([corners, np.full(count, -height)])
    upper = np.column_stack([side * rng.uniform(-1.0, 1.0, (above, 2)), np.full(above, height)])
    bodies = 2 if above else 1
    rows = np.zeros((count + above, 3, bodies, 6))
    axes = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    for i, arm in enumerate(lower):
        rows[i, :, 0] = axes @ np.hstack([np.eye(3), -cross_matrix(arm)])
    for i, arm in enumerate(upper, start=count):
        rows[i, :, 0] = -axes @ np.hstack([np.eye(3), -cross_matrix(arm)])
        rows[i, :, 1] = axes @ np.hstack([np.eye(3), -cross_matrix(arm * [1, 1, -1])])
    twist = rng.normal(size=(bodies, 6)) * [0.5, 0.5, 0.1, 0.3, 0.3, 0.3]
    twist[:, 2] -= np.arange(1.0, bodies + 1.0)
    velocity = np.einsum("ipbk,bk->ip", rows, twist)
    for body in range(bodies):
        mass, turn = 10.0 ** rng.uniform(-1.0, 1.0), random_rotation(rng)
        size = rng.uniform(0.5, 1.0, 3) * max(side, height)
        moments = np.sum(size**2) - size**2
        root = np.linalg.cholesky(mass * turn @ np.diag(moments) @ turn.T / 3.0)
        rows[:, :, body, :3] /= np.sqrt(mass)
        rows[:, :, body, 3:] = rows[:, :, body, 3:] @ np.linalg.inv(root).T
    closing = velocity[:, 0] < 0.0
    return rows[closing].reshape(3 * int(closing.sum()), -1), velocity[closing]


def random_island(seed: int, law: str) -> tuple[kernels.Struck, np.ndarray]:
    """Contacts that approach, and their W."""
    rng = np.random.default_rng(seed)
    jacobian, before = random_jacobian(rng)
    k = len(before)
    whole = jacobian @ jacobian.T
    block = np.array([whole[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] for i in range(k)]).reshape(k, 3, 3)
    poisson = {"newton": np.zeros(k, bool), "poisson": np.ones(k, bool), "both": rng.random(k) < 0.5}[law]
    struck = kernels.Struck(
        np.zeros((k, 2), dtype=np.int64), np.zeros((k, 2, 3, 6)), before, np.full(k, rng.uniform(0.0, 1.0)),
        np.full(k, rng.uniform(0.0, 1.0)), poisson, block, np.linalg.inv(block), np.abs(before).sum(axis=1),
    )  # fmt: skip
    return struck, whole


def law_error(
    struck: kernels.Struck,
    target: Any,
    least: np.ndarray,
    impulse: np.ndarray,
    after: np.ndarray,
    exact: bool,
) -> float:
    """Largest violation of 0 ≤ γ_n − least ⟂ u_n + target ≥ 0 and of Coulomb's law, by size of the speeds."""
    weight = np.trace(struck.block, axis1=1, axis2=2)
    load, slip = impulse[:, 0], np.linalg.norm(after[:, 1:], axis=1)
    excess, radius = load - least, struck.friction * load
    gap_speed = (
        after[:, 0] + target - (0.0 if exact else 1.0) * np.where(least > 0, 0, struck.friction * slip)
    )
    power = np.sum(impulse[:, 1:] * after[:, 1:], axis=1)  # least where friction opposes the slip
    speed = float(struck.scale.max())
    errors = [
        -gap_speed,
        -weight * excess,
        np.minimum(weight * excess, gap_speed),
        weight * (np.linalg.norm(impulse[:, 1:], axis=1) - radius),
        weight * (power + radius * slip) / speed,
    ]
    return max(float(np.max(each)) for each in errors) / speed


def check(struck: kernels.Struck, whole: np.ndarray, exact: bool) -> impact_newton.Found:
    """Resolve an island and judge both phases by the law."""
    found = impact_newton.resolve(struck, whole, 1.0 if exact else 0.0)
    k, poisson, none = len(struck.before), struck.poisson, np.zeros(len(struck.before))
    e = found.factor * struck.restitution
    second = found.impulse - found.compression
    after = struck.before + (whole @ found.impulse.ravel()).reshape(k, 3)
    target = np.where(poisson, 0.0, e * struck.before[:, 0])
    least = np.where(poisson, e * found.compression[:, 0], 0.0)
    assert found.converged
    if poisson.all():  # else the others' impulses of the compression are not part of the answer
        middle = struck.before + (whole @ found.compression.ravel()).reshape(k, 3)
        assert law_error(struck, 0.0, none, found.compression, middle, exact) <= CLOSE
    if not poisson.all() or least.any():
        assert law_error(struck, target, least, second, after, exact) <= CLOSE
    work = 0.5 * np.sum(found.impulse * (struck.before + after))
    size = np.sum(np.abs(found.impulse) * (np.abs(struck.before) + np.abs(after)))
    assert work <= 2e-12 * size
    assert found.work == pytest.approx(work, abs=1e-13 * size)
    return found


@pytest.mark.parametrize("law", ["newton", "poisson", "both"])
@given(seed=SEEDS)
def test_impulses_obey_the_law(law: str, seed: int) -> None:
    struck, whole = random_island(seed, law)
    if len(struck.before):
        check(struck, whole, exact=True)


@given(seed=SEEDS)
def test_impulses_obey_the_relaxed_law(seed: int) -> None:
    struck, whole = random_island(seed, "newton")
    if len(struck.before):
        check(struck, whole, exact=False)


@pytest.mark.parametrize("law", ["newton", "poisson"])
def test_restitution_is_reduced_no_further_than_needed(law: str) -> None:
    """Newton's law with friction creates energy in some islands; a little more restitution would again."""
    reduced = 0
    for seed in range(60):
        struck, whole = random_island(seed, law)
        struck = struck._replace(restitution=np.ones(len(struck.before)))
        if len(struck.before) == 0:
            continue
        found = check(struck, whole, exact=True)
        if found.factor < 1.0:
            reduced += 1
            more = struck._replace(restitution=struck.restitution * (found.factor + 2.0**-9))
            assert impact_newton.resolve(more, whole, 1.0).factor < 1.0
    assert reduced > 0 or law == "poisson"


@pytest.mark.parametrize("law", ["newton", "poisson"])
def test_bouncing_box_leaves_no_impact_unfinished(law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Corners are struck at once, and sweeps alone do not finish all of that."""
    calls: list[int] = []
    resolve = impact_newton.resolve

    def counted(struck: kernels.Struck, whole: np.ndarray, tilting: float) -> impact_newton.Found:
        calls.append(len(struck.before))
        return resolve(struck, whole, tilting)

    monkeypatch.setattr(impact_newton, "resolve", counted)
    for seed in (0, 3, 7, 11):
        rng = np.random.default_rng(seed)
        system = ns.System()
        system.add_material("m", friction=0.9, restitution=0.6, impact_law=law)
        system.add_plane(material="m")
        drift, spin = rng.normal(size=2), 2.0 * rng.normal(size=3)
        system.add_box(
            (0.4, 0.3, 0.1), mass=1.0, position=(0, 0, 0.4), velocity=(*drift, -1.0), angular_velocity=spin,
            material="m",
        )  # fmt: skip
        run = ns.simulate(system, duration=1.0, step=0.004)
        assert run.certificate.impacts > 10
        assert run.certificate.unfinished_impacts == 0
        assert run.steps["impact_work"].max() <= 1e-14
    assert calls
