"""The loop alone, with an iteration that halves one number; and what both families share."""

import math

import numpy as np
import pytest

import nonsmooth as ns
from nonsmooth.complementarity import LCP
from nonsmooth.complementarity import solve as solve_point
from nonsmooth.iteration.certificate import Certificate
from nonsmooth.iteration.goal import Goal
from nonsmooth.iteration.iteration import Iteration
from nonsmooth.iteration.loop import Clock, Ended, Loop
from nonsmooth.iteration.solution import Entry
from nonsmooth.iteration.status import Status


class Halving(Iteration[float]):
    """x ← x/2; its own residual is `factor` times the true one."""

    look_every = 10
    stalls_after = 30

    def __init__(self, goal: Goal, factor: float = 1.0, floor: float = 0.0) -> None:
        super().__init__(1.0, goal)
        self.x, self.factor, self.floor, self.refreshed = 1.0, factor, floor, 0

    @property
    def answer(self) -> np.ndarray:
        return np.array([self.x])

    def residual(self) -> float:
        return self.x

    def entry(self, iteration: int, residual: float, time: float) -> Entry:
        return Entry(iteration, residual, time)

    def refresh(self) -> None:
        self.refreshed += 1

    def advance(self, count: int, stop: float) -> int:
        done = 0
        while done < count and not self.own_residual <= stop:
            self.x = max(0.5 * self.x, self.floor)
            self.own_residual = self.factor * self.x
            done += 1
        return done


def run(work: Halving, limit: int = 1000, at_once: int = 1) -> Ended:
    return Loop(work, limit, Clock(), at_once).run()


def test_it_stops_where_its_own_residual_is_right() -> None:
    ended = run(Halving(Goal(1e-3)), at_once=7)
    assert (ended.status, ended.iterations, ended.answer[0]) == (Status.SOLVED, 10, 2.0**-10)
    assert [entry.iteration for entry in ended.entries] == [0, 10]


def test_a_residual_of_its_own_that_is_too_small_is_asked_for_more() -> None:
    work = Halving(Goal(1e-3), factor=0.1)
    ended = run(work)
    assert ended.status is Status.SOLVED
    assert work.refreshed >= 1
    assert ended.answer[0] <= 1e-3


def test_one_that_is_too_large_is_found_out_at_the_next_look() -> None:
    ended = run(Halving(Goal(1e-4), factor=math.inf), at_once=3)
    assert (ended.status, ended.iterations) == (Status.SOLVED, 24)  # looks at 12 and 24


def test_the_history_has_every_iteration() -> None:
    ended = run(Halving(Goal(1e-3, history=True)))
    assert [entry.residual for entry in ended.entries] == [0.5**k for k in range(11)]


def test_a_limit_between_two_looks_is_followed_by_one() -> None:
    ended = run(Halving(Goal(1e-4), factor=math.inf), limit=15)
    assert (ended.status, [entry.iteration for entry in ended.entries]) == (Status.SOLVED, [0, 10, 15])
    assert run(Halving(Goal(1e-9), factor=math.inf), limit=15).status is Status.ITERATION_LIMIT


def test_no_smaller_residual_is_a_stall() -> None:
    ended = run(Halving(Goal(1e-3), floor=0.1))
    assert (ended.status, ended.answer[0]) == (Status.STALLED, 0.1)
    assert ended.iterations == 40  # the look at 10 was the last better one


def test_every_status_has_a_sentence_and_words() -> None:
    for status in Status:
        assert status.sentence.endswith(".")
        assert str(status) == status.name.lower().replace("_", " ")
        assert Status[status.name] is status


def test_one_error_catches_both_families() -> None:
    cube = ns.problems.by_name("cube-rests").build()
    with pytest.raises(ns.SolveError, match="relative residual") as contacts:
        ns.solve(cube, ns.solvers.APGD(), tolerance=1e-12, max_iterations=1)
    assert contacts.value.solution.problem is cube
    with pytest.raises(ns.SolveError, match="natural residual"):
        solve_point(LCP(np.zeros((1, 1)), [-1.0]))


def test_certificates_have_a_residual_and_hold_to_a_tolerance() -> None:
    fall = ns.System(gravity=(0.0, 0.0, -10.0))
    fall.add_sphere(radius=0.1, mass=1.0, position=(0.0, 0.0, 1.0))
    contact = ns.GapContact(
        gap=lambda q, t: q[0], normal=lambda q, t: np.array([1.0]), restitution=0.5, name="floor"
    )
    ball = ns.GeneralisedSystem(
        mass=lambda q: np.eye(1), force=lambda q, u, t: np.array([-10.0]), contacts=[contact]
    )
    certificates: list[Certificate] = [
        ns.solve(ns.problems.by_name("cube-rests").build()).certificate,
        solve_point(LCP(np.eye(2), [-1.0, 1.0])).certificate,
        ns.simulate(fall, duration=0.01, step=0.001).certificate,
        ns.simulate_events(ball, [1.0], [0.0], duration=0.5).certificate,
    ]
    for certificate in certificates:
        assert certificate.holds(1e-4)
        assert certificate.residual <= 1e-4
        assert not certificate.holds(-1.0)
        assert str(certificate)
