"""Data sets of settled spheres for TR-2014-11 §5.1 and §5.2: a recipe in place of the data.

The report prints the number of spheres, the duration, the step and the number of iterations. Radius,
mass, friction, container, start and contact margin are ours; see `spheres_above_container` and `MARGIN`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

from nonsmooth._support.arrays import Floats
from nonsmooth._support.progress import Progress
from nonsmooth.errors import ToleranceWarning
from nonsmooth.experiments.shared.granular import Effort
from nonsmooth.experiments.shared.resume import Store
from nonsmooth.model.system import System
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.scenes.filling import filling
from nonsmooth.solvers.apgd import APGD
from nonsmooth.solvers.base import Solver
from nonsmooth.stepping.options import StepOptions
from nonsmooth.stepping.simulate import simulate
from nonsmooth.stepping.time_stepping import TimeStepper

RADIUS, MASS, FRICTION = 0.1, 1.0, 0.25
"""Of every sphere, in m, in kg and without unit; the report prints none of them."""
MARGIN = 0.12
"""Contacts are found where the gap is at most this, in radii: 320 spheres then have about the report's 1,050
contacts, open ones among them."""


@dataclass(frozen=True)
class Recipe:
    """How spheres are settled, always under the relaxed law."""

    name: str
    spheres: int
    duration: float
    """s"""
    step: float
    """s"""
    effort: Effort
    """Effort of every step, which is warm-started from the step before."""
    solver: Solver = field(default_factory=APGD)

    def __str__(self) -> str:
        return (
            f"{self.spheres} spheres settled for {self.duration:g} s with h = {self.step:g} s by "
            f"{self.solver.name}, {self.effort}"
        )


@dataclass(frozen=True, eq=False)
class Settled:
    """The state of all bodies after settling, with its recipe."""

    recipe: Recipe
    position: Floats
    """(n, 3) in m."""
    quaternion: Floats
    """(n, 4)"""
    linear_velocity: Floats
    """(n, 3) in m/s."""
    angular_velocity: Floats
    """(n, 3) in rad/s, body frame."""
    kinetic_energy: float
    """J"""
    penetration: float
    """Largest overlap in the last step, in m."""
    mean_iterations: float
    """Per step."""
    missed: int
    """Steps that did not reach the tolerance."""

    def system(self) -> System:
        """The spheres in their container, settled."""
        system = spheres_above_container(self.recipe.spheres)
        system.position[:], system.quaternion[:] = self.position, self.quaternion
        system.linear_velocity[:], system.angular_velocity[:] = self.linear_velocity, self.angular_velocity
        return system

    def next_problem(self, step: float) -> ContactProblem:
        """The relaxed problem of one further step of `step` seconds."""
        system = self.system()
        options = StepOptions(law="relaxed", solver=APGD(), max_iterations=1, margin=MARGIN * RADIUS)
        return TimeStepper(system, step, options).advance().solution.problem


def spheres_above_container(spheres: int) -> System:
    """Spheres at rest on a lattice with small random shifts, in a container about as wide as the heap."""
    return filling(spheres, radius=RADIUS, mass=MASS, friction=FRICTION)


def settled(recipe: Recipe, store: Store, progress: Progress) -> Settled:
    """Return a data set: the stored one, or else a computed one, which is then stored.

    `progress` is called as progress(steps done, steps, what).
    """

    def compute() -> dict[str, Any]:
        return {name: value for name, value in vars(settle(recipe, progress)).items() if name != "recipe"}

    identity = (spheres_above_container(recipe.spheres), recipe, MARGIN)
    return Settled(recipe, **store.kept(f"settled {recipe.name}", identity, compute))


def settle(recipe: Recipe, progress: Progress) -> Settled:
    """Let the spheres fall and come to rest."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ToleranceWarning)  # counted in `missed`
        run = simulate(
            spheres_above_container(recipe.spheres), duration=recipe.duration, step=recipe.step,
            law="relaxed", solver=recipe.solver, tolerance=recipe.effort.tolerance,
            max_iterations=recipe.effort.max_iterations, margin=MARGIN * RADIUS, progress=progress,
        )  # fmt: skip
    system = run.system
    return Settled(
        recipe, system.position, system.quaternion, system.linear_velocity, system.angular_velocity,
        float(run.steps["kinetic_energy"][-1]), float(run.steps["penetration"][-1]),
        float(run.steps["iterations"].mean()), run.certificate.missed,
    )  # fmt: skip
