"""Coulomb's cone against pyramids with 4 to 32 sides: their errors and their cost.

The closing question of Andreani et al., on their grasps and on a cube that is pushed over a plane in all
directions or glides until it stops. Polygons are inscribed in the friction disk, as in the package's law
`pyramid(m)`, or circumscribed, as in the paper; both pyramids are solved by Lemke's method and the cone by
the package's default. Forces in N, accelerations in m/s².

In closed form: the friction on a pushed cube is the point of the polygon nearest to the force that would
hold it. Its direction is wrong by at most π/m, which is reached if the push is strong, or if the direction
of slip is given.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.complementarity.library.grasps import COUNT, grasps
from nonsmooth.experiments.andreani import pyramid_figures as figures
from nonsmooth.experiments.andreani.grasp_parts import (
    NEGLIGIBLE,
    Polygon,
    contact_problem,
    in_paper_order,
    transitions,
)
from nonsmooth.experiments.andreani.sliding_cube import (
    FRICTION,
    GRAVITY,
    START_ANGLE,
    STEP,
    TOLERANCE,
    angle_between,
    angle_by_hand,
    cube_friction,
    friction_by_hand,
    glide,
    glide_angle,
    pushed_cube,
    rest_by_hand,
    solved,
    worst_push,
)
from nonsmooth.experiments.base import Data, Experiment, Figures, Rows, Table, Work
from nonsmooth.experiments.summary import Comparison, Quantity, exact_row
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.solvers.base import Solver
from nonsmooth.solvers.lemke import Lemke, lemke_unknowns
from nonsmooth.solvers.solve import solve

SIDES = (4, 8, 16, 32)
POLYGONS = tuple(Polygon(sides, kind) for kind in (False, True) for sides in SIDES)
REPEATS = 3
"""Number of timed repetitions of a solve; the shortest time counts."""
CUBE_DIRECTION = Quantity("cube: worst direction, {}")
PUSHES = (1.2, 3.0, 30.0)
"""Pushing forces k, as multiples of the sliding friction."""


def shortest_time(problem: ContactProblem, solver: Solver | None) -> float:
    """Shortest time in s over repeated solves."""
    best = np.inf
    for _ in range(REPEATS):
        began = time.perf_counter()
        solve(problem, solver, tolerance=TOLERANCE, throw=False)
        best = min(best, time.perf_counter() - began)
    return best


# ---- grasps ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class GraspErrors:
    """Effect of a polygon on the forces of all instances; arrays over instances and contacts (i, 2)."""

    polygon: Polygon
    angle: Floats
    """Between the tangential forces of polygon and cone, in degrees; NaN unless the cone's contact slides."""
    size: Floats
    """|c − c_cone| / |c_cone|; NaN for contacts that break."""
    excess: Floats
    """|c_t| / (μ c_n) − 1 of the polygon's force; NaN for contacts that break."""
    same: NDArray[np.bool_]
    """Whether the contact has the same transition: roll, slide or break."""
    time: Floats
    """Of Lemke's method in s, (i,)."""
    default_time: Floats
    """Of the default solver in s, (i,)."""
    pivots: Floats
    unknowns: int


def grasp_errors(count: int, work: Work) -> tuple[list[GraspErrors], Floats]:
    """Solve instances with the cone and with every polygon; return the errors and the cone's times in s."""
    instances = grasps(count)
    work.begin("grasps, cone")
    cone, cone_time = [], []
    for grasp in instances:
        problem, _ = contact_problem(grasp)
        cone.append(in_paper_order(solved(problem).impulses))
        cone_time.append(shortest_time(problem, None))
    errors = []
    for polygon in POLYGONS:
        work.begin(f"grasps, {polygon}")
        angle, size, excess = np.full((3, count, 2), np.nan)
        same, (times, default_times, pivots) = np.zeros((count, 2), dtype=bool), np.empty((3, count))
        for i, grasp in enumerate(instances):
            problem, turned = contact_problem(grasp, polygon)
            found = solved(problem)
            times[i], default_times[i] = shortest_time(problem, Lemke()), shortest_time(problem, None)
            pivots[i] = found.statistics.iterations
            force, exact = in_paper_order(turned.T @ found.impulses), cone[i]
            kinds = transitions(exact, grasp.acceleration(exact))
            same[i] = kinds == transitions(force, grasp.acceleration(force))
            for c in range(2):
                ours, theirs = force[c::2], exact[c::2]
                if theirs[0] > NEGLIGIBLE:
                    size[i, c] = np.linalg.norm(ours - theirs) / np.linalg.norm(theirs)
                if ours[0] > NEGLIGIBLE:
                    excess[i, c] = np.hypot(*ours[1:]) / (grasp.friction * ours[0]) - 1.0
                    if kinds[c] == "slide":
                        angle[i, c] = angle_between(ours[1:], theirs[1:])
        unknowns = lemke_unknowns(problem)
        errors.append(GraspErrors(polygon, angle, size, excess, same, times, default_times, pivots, unknowns))
    return errors, np.array(cone_time)


# ---- pushed cube -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CubeErrors:
    """Errors of the friction on a pushed cube over all directions of the push."""

    polygon: Polygon
    push: float
    direction: Floats
    """Of the push, in rad."""
    angle: Floats
    """Between the friction and that of the cone, in degrees."""
    size: Floats
    """|f| / |f_cone| − 1."""
    by_hand: Floats
    """|f − closed form| in N."""


def cube_errors(polygon: Polygon, push: float, directions: int) -> CubeErrors:
    """Push the cube in all directions, including those of the worst direction and the worst size."""
    middle = polygon.turn + np.pi / polygon.sides
    sharp = worst_push(polygon, push)[0] + middle
    every = np.linspace(0.0, 2.0 * np.pi, directions, endpoint=False)
    angles = np.unique(np.concatenate([every, [polygon.turn, middle, sharp]]))
    found, hand, cone = [], [], []
    for angle in angles.tolist():
        force = push * FRICTION * GRAVITY * np.array([np.cos(angle), np.sin(angle)])
        found.append(cube_friction(force, polygon))
        hand.append(friction_by_hand(force, polygon))
        cone.append(-force / push)
    friction = np.array(found)
    return CubeErrors(
        polygon,
        push,
        angles,
        np.array([angle_between(a, b) for a, b in zip(found, cone, strict=True)]),
        np.linalg.norm(friction, axis=1) / (FRICTION * GRAVITY) - 1.0,
        np.linalg.norm(friction - np.array(hand), axis=1),
    )


@dataclass(frozen=True)
class Cost:
    """Cost of solving the pushed cube: median times in s, unknowns, mean pivots (iterations for the cone)."""

    default_time: float
    time: float
    """Of Lemke's method; NaN for the cone."""
    unknowns: int
    pivots: float


def cube_costs(work: Work) -> dict[str, Cost]:
    """Push the cube in 24 directions with the cone and with inscribed polygons; costs by their names."""
    costs: dict[str, Cost] = {}
    for polygon in (None, *POLYGONS[: len(SIDES)]):
        name = "cone" if polygon is None else str(polygon)
        work.begin(f"cost, {name}")
        times, default_times, counts, unknowns = [], [], [], 0
        for angle in np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False).tolist():
            force = 3.0 * FRICTION * GRAVITY * np.array([np.cos(angle), np.sin(angle)])
            problem, _ = pushed_cube(force, polygon)
            counts.append(solved(problem).statistics.iterations)
            default_times.append(shortest_time(problem, None))
            times.append(shortest_time(problem, Lemke()) if polygon is not None else np.nan)
            unknowns = len(problem.free_velocity) if polygon is None else lemke_unknowns(problem)
        medians = float(np.median(default_times)), float(np.median(times))
        costs[name] = Cost(*medians, unknowns, float(np.mean(counts)))
    return costs


# ---- the experiment ----------------------------------------------------------------------------------


class Setup(NamedTuple):
    """Size of the computation."""

    grasps: int
    directions: int
    """Number of directions of the push."""


class Found(NamedTuple):
    """What the experiment computes."""

    grasped: list[GraspErrors]
    cone_time: Floats
    cubes: list[CubeErrors]
    costs: dict[str, Cost]
    gliding: dict[Polygon, Floats]
    cone_path: Floats


class AndreaniPyramid(Experiment[Setup, Found]):
    """Polygons with 4 to 32 sides beside the cone."""

    name = "andreani-pyramid"
    summary = "Coulomb's cone against pyramids with 4 to 32 sides: errors of the force, and cost"
    paper = (
        "Andreani, Friedlander, Mello and Santos, multi-rigid-body contact problems, §4.2, "
        "cone versus pyramid"
    )
    seconds = (10.0, 25.0)
    FULL = Setup(COUNT, 180)
    QUICK = Setup(15, 12)

    def measure(self, setup: Setup, work: Work) -> Found:
        """Solve grasps and cubes with the cone and with every polygon."""
        work.expect(2 * len(POLYGONS) + len(SIDES) + 3)
        grasped, cone_time = grasp_errors(setup.grasps, work)
        cubes = []
        for polygon in POLYGONS:
            work.begin(f"pushed cube, {polygon}")
            cubes += [cube_errors(polygon, push, setup.directions) for push in PUSHES]
        costs = cube_costs(work)
        work.begin("gliding cube")
        gliding = {polygon: glide(polygon, glide_angle(polygon)) for polygon in POLYGONS[: len(SIDES)]}
        return Found(grasped, cone_time, cubes, costs, gliding, glide(None, START_ANGLE))

    def data(self, found: Found) -> Data:
        """Errors of grasps and of pushed cubes."""
        return {"grasps.csv": _grasps_table(found.grasped), "pushed_cube.csv": _cubes_table(found.cubes)}

    def figures(self, found: Found) -> Figures:
        """Directions, costs and paths."""
        return {
            "direction_error": figures.directions(found.cubes, found.grasped, angle_by_hand, worst_push),
            "cost": figures.costs(found.costs, found.grasped, found.cone_time),
            "gliding_cube": figures.paths(found.gliding, found.cone_path),
        }

    def compare(self, found: Found) -> Rows:
        """Compare both cubes and the grasps with closed forms, and list costs."""
        yield from compare_cube(found.cubes)
        yield from compare_grasps(found.grasped)
        yield from compare_glide(found.gliding, found.cone_path)
        yield from compare_costs(found.grasped, found.cone_time, found.costs)


def compare_cube(cubes: list[CubeErrors]) -> Rows:
    """The pushed cube against the closed form."""
    for part in cubes:
        worst, name = float(part.angle.max()), f"{part.polygon}, k = {part.push:g}"
        note = f"magnitude off by {100 * part.size.min():+.1f} to {100 * part.size.max():+.1f} %"
        hand = float(np.degrees(worst_push(part.polygon, part.push)[1]))
        yield exact_row(CUBE_DIRECTION(name), hand, worst, "°", note)
    apart = max(float(part.by_hand.max()) for part in cubes)
    yield Comparison(
        "cube: friction, largest difference to the closed form", None, apart, "N",
        f"{sum(len(part.direction) for part in cubes)} problems",
    )  # fmt: skip


def compare_grasps(grasped: list[GraspErrors]) -> Rows:
    """Directions, sizes, forces outside the cone and transitions on the grasps."""
    for part in grasped:
        sliding = part.angle[np.isfinite(part.angle)]
        outside = int((part.excess > NEGLIGIBLE).sum())
        yield Comparison(
            f"grasps: worst direction, {part.polygon}", None, float(sliding.max()), "°",
            f"mean {sliding.mean():.2f}° over {len(sliding)} contacts that slide",
        )  # fmt: skip
        yield Comparison(
            f"grasps: largest error of a force, {part.polygon}", None,
            100.0 * float(np.nanmax(part.size)), "%",
            f"mean {100.0 * np.nanmean(part.size):.2f} % over closed contacts",
        )  # fmt: skip
        yield Comparison(
            f"grasps: same transition, {part.polygon}", None, 100.0 * float(part.same.mean()), "%",
            f"{outside} of {part.same.size} forces outside the cone, by "
            f"{100.0 * max(float(np.nanmax(part.excess)), 0.0):.1f} % at most",
        )  # fmt: skip


def compare_glide(gliding: dict[Polygon, Floats], cone_path: Floats) -> Rows:
    """Where the gliding cube comes to rest."""
    rest = rest_by_hand(None, START_ANGLE)
    apart = float(np.linalg.norm(cone_path[-1] - rest))
    way = float(np.linalg.norm(rest))
    note = f"{apart:.1e} m from there; steps of {STEP:g} s"
    yield exact_row("gliding cube: distance, cone", way, float(np.linalg.norm(cone_path[-1])), "m", note)
    for polygon, path in gliding.items():
        hand = rest_by_hand(polygon, glide_angle(polygon))
        straight = np.array([np.cos(glide_angle(polygon)), np.sin(glide_angle(polygon))])
        wrong = angle_between(path[-1], straight)
        longer = 100.0 * float(np.linalg.norm(path[-1]) / way - 1.0)
        yield exact_row(
            f"gliding cube: distance, {polygon}", float(np.linalg.norm(hand)),
            float(np.linalg.norm(path[-1])),
            "m", f"{longer:+.1f} % compared with the cone, {wrong:.2f}° off",
        )  # fmt: skip


def compare_costs(grasped: list[GraspErrors], cone_time: Floats, costs: dict[str, Cost]) -> Rows:
    """Time, unknowns and pivots."""
    cone = {"grasps": float(np.median(cone_time)), "pushed cube": costs["cone"].default_time}
    yield from [
        Comparison(f"{what}: median time, cone", None, 1e6 * seconds, "µs", "default solver")
        for what, seconds in cone.items()
    ]
    found = [("grasps", str(part.polygon), float(np.median(part.default_time)), float(np.median(part.time)),
              part.unknowns, float(part.pivots.mean())) for part in grasped]  # fmt: skip
    found += [
        ("pushed cube", name, cost.default_time, cost.time, cost.unknowns, cost.pivots)
        for name, cost in costs.items()
        if name != "cone"
    ]
    for what, name, default_time, lemke_time, unknowns, pivots in found:
        yield Comparison(
            f"{what}: median time, {name}", None, 1e6 * default_time, "µs",
            f"default solver, {default_time / cone[what]:.1f} times the cone's; Lemke: "
            f"{1e6 * lemke_time:.0f} µs, {unknowns} unknowns, {pivots:.1f} pivots",
        )  # fmt: skip


def _grasps_table(grasped: list[GraspErrors]) -> Table:
    header = (
        "polygon", "sides", "instance", "contact", "direction_error_deg", "force_error", "outside_cone",
        "same_transition", "lemke_time_s", "default_time_s", "pivots", "unknowns",
    )  # fmt: skip
    rows = [
        (
            "circumscribed" if part.polygon.circumscribed else "inscribed", part.polygon.sides, i, c + 1,
            _cell(part.angle[i, c]), _cell(part.size[i, c]), _cell(part.excess[i, c]),
            "yes" if part.same[i, c] else "no", part.time[i], part.default_time[i],
            int(part.pivots[i]), part.unknowns,
        )
        for part in grasped
        for i in range(len(part.time))
        for c in range(2)
    ]  # fmt: skip
    return Table(header, rows)


def _cubes_table(cubes: list[CubeErrors]) -> Table:
    header = ("polygon", "sides", "push_by_friction", "direction_rad", "direction_error_deg", "size_error")
    rows = [
        (
            "circumscribed" if part.polygon.circumscribed else "inscribed",
            part.polygon.sides,
            part.push,
            *values,
        )
        for part in cubes
        for values in zip(part.direction.tolist(), part.angle.tolist(), part.size.tolist(), strict=True)
    ]
    return Table(header, rows)


def _cell(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
