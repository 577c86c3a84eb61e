"""The solution of a step that `kernels.walk` has solved, as an object."""

from __future__ import annotations

from collections.abc import Callable

from nonsmooth.iteration.status import Status
from nonsmooth.problem.mass import BodyMass
from nonsmooth.solvers.auto import AFTER, TOWER
from nonsmooth.solvers.parts.first_sweeps import SMALL
from nonsmooth.solvers.solution import Entry, History, Solution, Statistics
from nonsmooth.solvers.solve import NOTHING_APPROACHES
from nonsmooth.stepping.kernels import world as at
from nonsmooth.stepping.options import ChosenOptions
from nonsmooth.stepping.schemes.step_problem import Motion, step_problem
from nonsmooth.stepping.world import World

_NOTES = (NOTHING_APPROACHES, SMALL, f"picked admm: {TOWER}", f"picked gauss-seidel: {AFTER}")


def walked_solution(world: World, mass: BodyMass, options: ChosenOptions) -> Callable[[], Solution]:
    """Copy the problem and the impulses of the last step; return what makes the solution of them."""
    count, arrays = world.count, world.arrays
    c, iterations = int(count[at.FOUND]), int(count[at.SWEPT])
    status = Status.SOLVED if count[at.REACHED] else Status.STALLED
    rows, friction = world.rows(), arrays.detection.contacts.found.friction[:c].copy()
    motion = Motion(arrays.move.momentum.copy(), arrays.move.free)
    blocks, residual = arrays.problem.x[:c].copy(), float(arrays.real[at.SOLVED_TO])
    note = _NOTES[int(count[at.METHOD])]

    def solution() -> Solution:
        problem = step_problem(mass, motion, rows, friction, options.law)
        history = History((Entry(iterations, residual, 0.0),))
        statistics = Statistics(options.solver.name, iterations, 0.0, history, note)
        return Solution.of(problem, status, blocks, statistics)

    return solution
