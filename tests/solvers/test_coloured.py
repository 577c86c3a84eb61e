"""Gauss-Seidel by colours: schedule, lanes and threads against plain sweeps; the same bits in whole runs."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nonsmooth as ns
from helpers.random_bodies import build_scene
from nonsmooth.errors import UnsupportedError
from nonsmooth.problem.kernels.operator import Factored
from nonsmooth.problem.library import NAMED, random_problem, sphere_packing
from nonsmooth.problem.library.geometry import contact_frames, contact_rows
from nonsmooth.solvers import GaussSeidel
from nonsmooth.solvers.kernels import coloured as kernels
from nonsmooth.solvers.kernels.simd_lanes import LANES, find_round
from nonsmooth.solvers.parts.coloured import schedule_of

LAWS = ("coulomb", "relaxed")
SCALAR = float(np.nextafter(1.0, 0.0))
"""A relaxation that turns the lanes off and changes nothing else by more than rounding."""


def balls(seed: int, *, count: int = 40, contacts: int = 120, law: str = "coulomb") -> ns.ContactProblem:
    """Spheres of very different mass and size with contacts in random directions, some with ground.

    A third of the contacts has no friction, gaps are open or closed, and ground is on either side.
    """
    rng = np.random.default_rng(seed)
    radius, mass = rng.uniform(0.1, 2.0, count), 10.0 ** rng.uniform(-1.5, 1.5, count)
    pairs = np.array([rng.choice(np.arange(-1, count), 2, replace=False) for _ in range(contacts)])
    normals = rng.standard_normal((contacts, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    rows = contact_rows(
        contact_frames(normals), radius[pairs[:, :1]] * normals, -radius[pairs[:, 1:]] * normals
    )
    rows[pairs < 0] = 0.0
    moment = 0.4 * mass * radius**2
    diagonal = np.stack([mass] * 3 + [moment] * 3, axis=1)
    bias = np.zeros((contacts, 3))
    bias[:, 0] = np.maximum(rng.uniform(-1.0, 1.0, contacts), 0.0)
    friction = np.where(rng.random(contacts) < 1.0 / 3.0, 0.0, rng.uniform(0.1, 1.5, contacts))
    return ns.ContactProblem(
        mass=diagonal,
        jacobian=rows,
        bodies=pairs,
        momentum=(diagonal * rng.standard_normal((count, 6))).ravel(),
        bias=bias.ravel(),
        friction=friction,
        law=law,
    )


def hedgehog(law: str = "coulomb", spikes: int = 60) -> ns.ContactProblem:
    """One ball (radius 3 m) with `spikes` small balls around it: more contacts than there are colours."""
    rng = np.random.default_rng(5)
    normals = rng.standard_normal((spikes, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    around = np.stack([np.zeros(spikes, dtype=int), np.arange(1, spikes + 1)], axis=1)
    walls = np.stack([np.full(spikes, -1), np.arange(1, spikes + 1)], axis=1)
    aside = contact_frames(normals)[:, 1]  # walls beside the small balls: behind, they would jam
    frames = contact_frames(np.concatenate([normals, aside]))
    rows = contact_rows(
        frames,
        np.concatenate([3.0 * normals, np.zeros((spikes, 3))]),
        np.concatenate([-0.1 * normals, -0.1 * aside]),
    )
    rows[spikes:, 0] = 0.0
    diagonal = np.tile([1.0, 1.0, 1.0, 0.004, 0.004, 0.004], (spikes + 1, 1))
    diagonal[0] = [20.0, 20.0, 20.0, 72.0, 72.0, 72.0]
    velocity = rng.standard_normal((spikes + 1, 6))
    return ns.ContactProblem(
        mass=diagonal,
        jacobian=rows,
        bodies=np.concatenate([around, walls]),
        momentum=(diagonal * velocity).ravel(),
        friction=0.4,
        law=law,
    )


def mixed(law: str = "coulomb") -> ns.ContactProblem:
    """Round and other contacts, of one, two and three components, and joints, side by side."""
    scene, round_ones = build_scene(3, bodies=12, contacts=40), balls(4, law=law)
    arguments = scene.block_arguments()
    shift = len(scene.mass)
    pairs = np.where(round_ones.bodies < 0, -1, round_ones.bodies + shift)
    rows = round_ones.jacobian.copy()
    moved = np.flatnonzero(pairs[:, 1] >= 0)[::5]
    pairs[moved, 0] = 1  # some touch a body of the scene too
    rows[moved, 0] = -rows[moved, 1]
    dense = np.einsum("bi,ij->bij", round_ones.mass, np.eye(6))
    return ns.ContactProblem(
        mass=np.concatenate([scene.mass, dense]),
        jacobian=np.concatenate([scene.jacobian, rows]),
        bodies=np.concatenate([scene.bodies, pairs]),
        components=np.concatenate([scene.components, np.full(len(pairs), 3)]),
        friction=np.concatenate([scene.friction, round_ones.friction]),
        momentum=np.concatenate([scene.momentum.ravel(), round_ones.momentum]),
        bias=np.concatenate([scene.bias, round_ones.bias]),
        joint_jacobian=arguments["joint_jacobian"],
        joint_bodies=arguments["joint_bodies"],
        joint_bias=arguments["joint_bias"],
        law=law,
    )


def spindle(law: str = "coulomb") -> ns.ContactProblem:
    """A body whose inertia is the same about x and y alone, pressed on its axis z: it fits into lanes."""
    rows = contact_rows(
        contact_frames(np.array([[0.0, 0.0, 1.0]])), np.zeros((1, 3)), np.array([[0.0, 0.0, -0.7]])
    )
    rows[:, 0] = 0.0
    return ns.ContactProblem(
        mass=[[2.0, 2.0, 2.0, 0.3, 0.3, 0.1]],
        jacobian=rows,
        bodies=[[-1, 0]],
        momentum=[1.0, -0.5, -2.0, 0.2, 0.1, 0.3],
        friction=0.3,
        law=law,
    )


LIBRARY: dict[str, Callable[[str], ns.ContactProblem]] = {
    **{
        name: (lambda law, build=entry.build: build().with_law(law))
        for name, entry in NAMED.items()
        if isinstance(entry.build().operator.kernel_form, Factored)
    },
    "packing": lambda law: sphere_packing(80, law=law),
    "random": lambda law: random_problem(1, contacts=30, law=law),
    "random with joints": lambda law: random_problem(2, contacts=20, joint_rows=4, law=law),
    "balls": lambda law: balls(0, law=law),
    "hedgehog": hedgehog,
    "mixed": mixed,
    "spindle": spindle,
}


def lanes_of(problem: ns.ContactProblem) -> np.ndarray:
    form = problem.operator.kernel_form
    fits = np.empty(problem.layout.blocks, dtype=np.uint8)
    find_round(form, problem.cones, fits)
    return fits.astype(bool)


def impulses(problem: ns.ContactProblem, sweeps: int, **options: Any) -> np.ndarray:
    """What a number of sweeps gives, whether or not that is a solution."""
    solver = GaussSeidel(order="coloured", **options)
    solution = ns.solve(problem, solver, tolerance=1e-300, max_iterations=sweeps, throw=False)
    return np.concatenate([solution.impulses, solution.joint_impulses])


# ---- the schedule ------------------------------------------------------------------------------------


def check_schedule(bodies: np.ndarray, ground: int, fits: np.ndarray) -> None:
    colour = np.empty(len(bodies), dtype=np.int64)
    colours = kernels.colour_blocks(bodies, ground, colour)
    assert colours == colour.max(initial=-1) + 1
    for c in range(colours):
        moving = bodies[colour == c].ravel()
        moving = moving[moving != ground]
        assert len(np.unique(moving)) == len(moving), "two blocks of one colour share a body"
    degree = np.bincount(bodies.ravel(), minlength=ground + 1)
    degree[ground] = 0
    heavy = (degree[bodies] > kernels.COLOURS).any(axis=1)
    assert np.all(colour[heavy] == -1)

    form = SimpleNamespace(bodies=bodies, body_count=ground + 1)
    schedule, contact = schedule_of(form, fits, np.arange(len(fits)))
    visited = np.concatenate([contact[contact >= 0], schedule.blocks])
    assert np.array_equal(np.sort(visited), np.arange(len(bodies))), "every block is visited once"
    for c in range(colours):
        rows = contact[schedule.row_start[c] : schedule.row_start[c + 1]].ravel()
        blocks = schedule.blocks[schedule.block_start[c] : schedule.block_start[c + 1]]
        assert np.all(colour[rows[rows >= 0]] == c)
        assert np.all(colour[blocks] == c)
    assert np.all(colour[schedule.blocks[schedule.block_start[-1] :]] == -1)
    assert contact.shape[1] == LANES


@given(
    st.integers(1, 30).flatmap(
        lambda n: st.tuples(
            st.just(n), st.lists(st.tuples(st.integers(0, n), st.integers(0, n), st.booleans()), max_size=200)
        )
    )
)
def test_blocks_of_one_colour_share_no_moving_body(case: tuple[int, list[tuple[int, int, bool]]]) -> None:
    ground, triples = case
    triples = [t for t in triples if t[0] != t[1]]
    bodies = np.array([t[:2] for t in triples], dtype=np.int64).reshape(-1, 2)
    check_schedule(bodies, ground, np.array([t[2] for t in triples], dtype=np.uint8))


@pytest.mark.parametrize("seed", range(5))
def test_colours_run_out_gracefully(seed: int) -> None:
    """49 bodies that all touch each other have 48 contacts each, and random orders need many colours."""
    first, second = np.triu_indices(49, 1)
    rng = np.random.default_rng(seed)
    bodies = rng.permutation(np.stack([first, second], axis=1))
    check_schedule(bodies, 49, rng.integers(0, 2, len(bodies)).astype(np.uint8))
    star = np.stack([np.zeros(300, dtype=np.int64), np.arange(1, 301)], axis=1)
    check_schedule(np.concatenate([bodies + 1, star]), 301, np.ones(len(bodies) + 300, dtype=np.uint8))


# ---- the answer --------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", LIBRARY)
def test_same_answer_as_natural_order(name: str, law: str) -> None:
    problem = LIBRARY[name](law)
    tolerance = 1e-10
    natural, coloured = (
        ns.solve(problem, GaussSeidel(order=order), tolerance=tolerance, max_iterations=100_000)
        for order in ("natural", "coloured")
    )
    assert coloured.certificate.holds(tolerance)
    speed = max(
        np.abs(natural.contact_velocities).max(initial=0.0), np.abs(problem.free_velocity).max(initial=0.0)
    )
    np.testing.assert_allclose(
        coloured.contact_velocities, natural.contact_velocities, rtol=0, atol=1e-6 * speed
    )
    np.testing.assert_allclose(
        coloured.velocity, natural.velocity, rtol=0, atol=1e-6 * (speed + np.abs(natural.velocity).max())
    )


@pytest.mark.parametrize("name", [n for n in LIBRARY if n in NAMED and not NAMED[n].build().law.sides])
def test_known_answers(name: str) -> None:
    known = NAMED[name]
    solution = ns.solve(known.build(), GaussSeidel(order="coloured"), tolerance=1e-12, max_iterations=100_000)
    for field in ("impulses", "velocity", "contact_velocities"):
        if getattr(known, field) is not None:
            np.testing.assert_allclose(getattr(solution, field), getattr(known, field), atol=1e-9)


# ---- lanes -------------------------------------------------------------------------------------------


def test_who_fits_into_lanes() -> None:
    assert lanes_of(sphere_packing(80)).all()
    assert lanes_of(balls(0)).all()
    assert lanes_of(spindle()).all()
    assert lanes_of(hedgehog()).all()
    assert not lanes_of(random_problem(1, contacts=30)).any()
    flags = lanes_of(mixed())
    assert not flags[:40].any()
    assert flags[40:160].any()
    assert not flags[160:].any(), "joints are not contacts"
    flat = sphere_packing(20)
    narrow = ns.ContactProblem(
        mass=flat.mass,
        jacobian=flat.jacobian[:, :, :2],
        bodies=flat.bodies,
        friction=0.3,
        momentum=flat.momentum,
    )
    assert not lanes_of(narrow).any(), "two components"


@pytest.mark.parametrize("acceleration", ["none", "nesterov"])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("sweeps", [1, 2, 7])
def test_lanes_sweep_like_the_scalar_kernels(sweeps: int, law: str, acceleration: str) -> None:
    for problem in (sphere_packing(80, law=law), balls(7, law=law), hedgehog(law), mixed(law), spindle(law)):
        lanes = impulses(problem, sweeps, acceleration=acceleration)
        scalar = impulses(problem, sweeps, acceleration=acceleration, relaxation=SCALAR)
        np.testing.assert_allclose(lanes, scalar, rtol=0, atol=1e-10 * np.abs(scalar).max())


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 60), st.sampled_from(LAWS))
def test_lanes_on_any_balls(seed: int, contacts: int, law: str) -> None:
    problem = balls(seed, count=8, contacts=contacts, law=law)
    lanes, scalar = impulses(problem, 4), impulses(problem, 4, relaxation=SCALAR)
    np.testing.assert_allclose(lanes, scalar, rtol=0, atol=1e-9 * max(np.abs(scalar).max(), 1e-12))
    x = lanes.reshape(-1, 3)
    size = np.abs(x).max(initial=1e-300)
    assert np.all(x[:, 0] >= -1e-12 * size)
    assert np.all(np.hypot(x[:, 1], x[:, 2]) <= problem.friction * x[:, 0] + 1e-12 * size)


def test_one_lane_is_the_closed_form() -> None:
    """A ball of radius 1 m slides at 2 m/s: γ = (0.0981, −0.01962), Melanz et al. §3.1."""
    rows = contact_rows(np.eye(3)[[2, 0, 1]][None], np.zeros((1, 3)), np.array([[0.0, 0.0, -1.0]]))
    rows[:, 0] = 0.0
    mass, momentum = [[1.0, 1.0, 1.0, 0.4, 0.4, 0.4]], [2.0, 0.0, -0.0981, 0.0, 0.0, 0.0]
    for law, normal in (("coulomb", 0.0981), ("relaxed", 0.4981 / 1.14)):
        problem = ns.ContactProblem(
            mass=mass, jacobian=rows, bodies=[[-1, 0]], momentum=momentum, friction=0.2, law=law
        )
        assert lanes_of(problem).all()
        solution = ns.solve(problem, GaussSeidel(order="coloured"), tolerance=1e-13)
        np.testing.assert_allclose(solution.impulses, [normal, -0.2 * normal, 0.0], atol=1e-14)


# ---- threads -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", ["packing", "balls", "hedgehog", "mixed", "spindle"])
def test_threads_give_the_same_bits(name: str, law: str) -> None:
    problem = sphere_packing(400, law=law) if name == "packing" else LIBRARY[name](law)
    for acceleration in ("none", "nesterov"):
        one = impulses(problem, 60, acceleration=acceleration)
        for threads in (2, 3):
            many = impulses(problem, 60, acceleration=acceleration, threads=threads)
            assert many.tobytes() == one.tobytes(), f"{threads} threads, {acceleration}"


def test_converged_answer_and_iterations_do_not_depend_on_threads() -> None:
    problem = sphere_packing(400)
    answers = [ns.solve(problem, GaussSeidel(threads=threads), tolerance=1e-9) for threads in (1, 2, 3, 2, 1)]
    assert len({a.impulses.tobytes() for a in answers}) == 1
    assert len({a.statistics.iterations for a in answers}) == 1
    assert len({a.certificate.residual for a in answers}) == 1


# ---- options -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"form": "block-sparse"}, {"acceleration": "nncg"}])
def test_what_colours_cannot_do(options: dict[str, str]) -> None:
    with pytest.raises(UnsupportedError, match="order='natural'"):
        ns.solve(sphere_packing(20), GaussSeidel(order="coloured", **options))


def test_colours_need_bodies() -> None:
    problem = ns.ContactProblem(**build_scene(0, joints=False).delassus_arguments())
    with pytest.raises(UnsupportedError, match="masses by body"):
        ns.solve(problem, GaussSeidel(order="coloured"))
    assert ns.solve(problem, GaussSeidel(), tolerance=1e-8).certificate.holds(1e-8)


def test_automatic_is_coloured_where_there_are_many_blocks() -> None:
    problem = sphere_packing(80)
    automatic = ns.solve(problem, GaussSeidel(), tolerance=1e-9)
    coloured = ns.solve(problem, GaussSeidel(order="coloured"), tolerance=1e-9)
    assert automatic.impulses.tobytes() == coloured.impulses.tobytes()


@pytest.mark.parametrize("problem", [sphere_packing(80), mixed()], ids=["packing", "mixed"])
def test_warm_start_ends_at_once(problem: ns.ContactProblem) -> None:
    solver = GaussSeidel(order="coloured")
    first = ns.solve(problem, solver, tolerance=1e-9, max_iterations=100_000)
    again = ns.solve(problem, solver, tolerance=1e-8, start=first)
    assert again.statistics.iterations == 0
    size = np.abs(first.impulses).max()
    np.testing.assert_allclose(again.impulses, first.impulses, rtol=0, atol=1e-13 * size)


# ---- the same bits in whole runs ---------------------------------------------------------------------

RUNS = """
import hashlib, json, sys
import nonsmooth as ns

SMALL = {"filling": {"spheres": 150}, "compaction": {"spheres": 60}, "capsule-heap": {"capsules": 30},
         "box-wall": {"rows": 3, "columns": 4}, "box-pyramid": {"base": 4}}

def go(name, threads, **options):
    scene = ns.scenes.SCENES[name]
    step = min(0.01, scene.settings.get("step", 0.01))
    system = scene.build(**SMALL.get(name, {}))
    return ns.simulate(system, duration=60 * step, step=step, threads=threads, **options)

def digest(run):
    end = run.system
    state = (end.position, end.quaternion, end.linear_velocity, end.angular_velocity, run.steps.table())
    return hashlib.sha256(b"".join(array.tobytes() for array in state)).hexdigest()
"""
HERE: dict[str, Any] = {}
exec(RUNS, HERE)


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    """A fresh interpreter that runs `code` after RUNS."""
    paths = os.pathsep.join([str(Path(ns.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", RUNS + code, *map(str, arguments)]
    surroundings = {**os.environ, "PYTHONPATH": paths}
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=surroundings, text=True)


def test_runs_give_the_same_bits_in_every_process_and_for_any_threads() -> None:
    code = "print(json.dumps({name: digest(go(name, 2)) for name in reversed(ns.scenes.SCENES)}))"
    child = start(code)
    here = {name: HERE["digest"](HERE["go"](name, 1)) for name in ns.scenes.SCENES}
    assert len(set(here.values())) == len(here)
    assert HERE["digest"](HERE["go"]("filling", 3)) == here["filling"]
    assert json.loads(child.communicate(timeout=300)[0]) == here


def test_killed_run_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    """Killed without warning at random moments, and resumed each time on another number of threads."""
    code = """
tell = lambda frame: print(frame.index, flush=True)
record = ns.Recording(sys.argv[1], checkpoint_every=4)
print(digest(go("filling", int(sys.argv[2]), record=record, resume=True, observe=tell)))
"""
    rng, path = random.Random(0), tmp_path / "killed.h5"
    for attempt in range(4):
        child = start(code, path, 1 + attempt % 2)
        assert child.stdout is not None
        for _ in range(rng.randint(0, 15)):
            child.stdout.readline()
        child.kill()
        child.communicate()
        assert child.returncode < 0, "it ended before it was killed"
    killed = start(code, path, 1).communicate(timeout=300)[0].splitlines()[-1]
    whole = HERE["go"]("filling", 1, record=tmp_path / "whole.h5")
    assert killed == HERE["digest"](whole)
    with ns.Trajectory(path) as a, ns.Trajectory(tmp_path / "whole.h5") as b:
        assert len(a.times) == len(b.times) == 61
        for i in range(61):
            for name in ("position", "quaternion", "linear_velocity", "angular_velocity"):
                assert np.array_equal(getattr(a.frame(i), name), getattr(b.frame(i), name))
            assert np.array_equal(a.contacts(i).impulse, b.contacts(i).impulse)


def test_threads_work_in_a_forked_process() -> None:
    code = """
import os, signal
go("filling", 2)
child = os.fork()
if child == 0:
    signal.alarm(20)  # ends it if it hangs
    go("filling", 2)
    os._exit(0)
print(os.waitpid(child, 0)[1])
"""
    assert start(code).communicate(timeout=120)[0].split() == ["0"]
