"""The ball that slides, then rolls: Melanz, Mazhar and Negrut §3.1, Figs. 2 to 6 and 12 to 15.

A unit ball (1 kg, 1 m, μ = 0.2) slides over a plane at 2 m/s. Friction decelerates it and spins it up
until it rolls. Under the exact law the time steps reproduce the closed form; under the relaxed law the
ball is thrown off the ground in the first step.

Signs: with the paper's D, u_t = v_x + ω, so the ball rolls when v_x = −ω R. Here −ω R, in m/s, is called
the rolling speed (R = 1 m).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.experiments.base import Data, Experiment, Figures, Rows, Table, Work
from nonsmooth.experiments.melanz import ball_figures as figures
from nonsmooth.experiments.summary import Comparison, Quantity, exact_row, paper_row
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.library.named import sliding_ball
from nonsmooth.solvers.apgd import APGD
from nonsmooth.solvers.solution import Solution
from nonsmooth.solvers.solve import solve

STEP, STEPS = 0.01, 100
"""Time step in s and number of steps: one second."""
TOLERANCE = 1e-12
"""Relative residual that APGD must reach in each step."""
ROLLS_BELOW = 1e-9
"""The ball counts as rolling when |u_t| is below this, in m/s."""
GRAVITY, FRICTION, START_SPEED = 9.81, 0.2, 2.0
TRANSITION = 2.0 * START_SPEED / (7.0 * GRAVITY * FRICTION)
"""Time in s at which sliding ends."""
ROLLING_SPEED = 5.0 * START_SPEED / 7.0
EXACT_IMPULSES = np.array([0.0981, -0.01962])
"""The paper's analytical (γ_n, γ_t) at t = 0, in N·s."""
_RELAXED_NORMAL = 0.4981 / 1.14
RELAXED_IMPULSES = np.array([_RELAXED_NORMAL, -FRICTION * _RELAXED_NORMAL])
"""The relaxed law's answer at t = 0, derived in `library.named.sliding_ball`."""
LAWS = ("relaxed", "coulomb")


def closed_form(time: Floats) -> tuple[Floats, Floats]:
    """Return v_x and the rolling speed −ω R in m/s: sliding until `TRANSITION`, rolling after it."""
    slides = time < TRANSITION
    forward = np.where(slides, START_SPEED - FRICTION * GRAVITY * time, ROLLING_SPEED)
    rolling = np.where(slides, 2.5 * FRICTION * GRAVITY * time, ROLLING_SPEED)
    return forward, rolling


@dataclass(frozen=True)
class History:
    """The motion under one law; row l is the state at the time t = l h, row 0 the start."""

    law: str
    time: Floats
    position: Floats
    """(q_x, q_y, angle) in m and rad."""
    velocity: Floats
    """(v_x, v_y, ω) in m/s and rad/s."""
    solutions: tuple[Solution, ...]
    """Solution of each step; one fewer than the states."""

    @property
    def rolling_speed(self) -> Floats:
        """−ω R in m/s."""
        return np.asarray(-self.velocity[:, 2])

    @property
    def slip(self) -> Floats:
        """u_t = v_x + ω R in m/s."""
        return np.asarray(self.velocity[:, 0] + self.velocity[:, 2])


def simulate(law: str) -> History:
    """Simulate the ball with the half-implicit scheme of Eqs. 6 to 9."""
    start = sliding_ball(law, STEP)
    mass, jacobian = start.mass, start.jacobian
    force = np.array([0.0, -GRAVITY, 0.0])
    position, velocity = [np.array([0.0, 1.0, 0.0])], [np.array([START_SPEED, 0.0, 0.0])]
    solutions = []
    for _ in range(STEPS):
        problem = ContactProblem(
            mass=mass,
            jacobian=jacobian,
            momentum=mass @ velocity[-1] + STEP * force,
            bias=[(position[-1][1] - 1.0) / STEP, 0.0],
            friction=start.friction,
            law=law,
        )
        solution = solve(problem, APGD(), tolerance=TOLERANCE)
        assert solution.velocity is not None
        solutions.append(solution)
        velocity.append(solution.velocity)
        position.append(position[-1] + STEP * solution.velocity)
    time = np.linspace(0.0, STEP * STEPS, STEPS + 1)
    return History(law, time, np.array(position), np.array(velocity), tuple(solutions))


@dataclass(frozen=True)
class Plane:
    """The problem at t = 0 in the plane of (γ_n, γ_t): u = N γ + r, and the figures' objectives in J."""

    matrix: Floats
    free_velocity: Floats
    tilt: float = 0.0
    """α of Eq. 15 in m/s."""

    def contact_velocity(self, normal: Any, tangential: Any) -> tuple[Any, Any]:
        """(u_n, u_t) in m/s."""
        (nn, nt), (tn, tt) = self.matrix
        r_n, r_t = self.free_velocity
        return nn * normal + nt * tangential + r_n, tn * normal + tt * tangential + r_t

    def friction_power(self, normal: Any, tangential: Any) -> Any:
        """γ_t u_t, the objective of Eq. 4 with the velocity written as impulses (Eq. 7).

        The ball slides at t = 0, so this is smallest on the cone's edge whether u_t varies with
        γ_t or is held fixed as in Eq. 4.
        """
        return tangential * self.contact_velocity(normal, tangential)[1]

    def quadratic(self, normal: Any, tangential: Any) -> Any:
        """½ γᵀNγ + (r + a)ᵀγ of Eqs. 14 (a = 0) and 15 (a = (α, 0))."""
        u_n, u_t = self.contact_velocity(normal, tangential)
        r_n, r_t = self.free_velocity
        return 0.5 * (normal * (u_n + r_n) + tangential * (u_t + r_t)) + self.tilt * normal

    def exact_gap(self, normal: Any, tangential: Any) -> Any:
        """u_n, which must be zero where γ_n > 0 by Eq. 8."""
        return self.contact_velocity(normal, tangential)[0]

    def relaxed_gap(self, normal: Any, tangential: Any) -> Any:
        """u_n − μ |u_t|, which must be zero where γ_n > 0 by Eq. 10."""
        u_n, u_t = self.contact_velocity(normal, tangential)
        return u_n - FRICTION * np.abs(u_t)


Function = Callable[[Any, Any], Any]


def minimise(objective: Function, gap: Function | None = None) -> Floats:
    """Minimise over the friction cone (and gap = 0) with scipy's SLSQP, independently of our solvers."""
    from scipy.optimize import minimize

    def value(impulses: Floats) -> float:
        return float(objective(impulses[0], impulses[1]))

    constraints: list[Any] = [
        {"type": "ineq", "fun": lambda g: FRICTION * g[0] - g[1]},
        {"type": "ineq", "fun": lambda g: FRICTION * g[0] + g[1]},
    ]
    if gap is not None:
        constraints.append({"type": "eq", "fun": lambda g: gap(g[0], g[1])})
    options: Any = {"ftol": 1e-15, "maxiter": 200}
    start = np.array([0.2, 0.0])
    found = minimize(value, start, method="SLSQP", jac="3-point", constraints=constraints, options=options)
    return np.asarray(found.x)


def minimise_anti_relaxed(plane: Plane) -> Floats:
    """Minimise Eq. 15 with α = μ |u_t| (Eq. 28) at its own minimum, by fixed-point iteration."""
    impulses, tilt = np.zeros(2), 0.0
    for _ in range(30):
        impulses = minimise(Plane(plane.matrix, plane.free_velocity, tilt).quadratic)
        tilt = FRICTION * abs(plane.contact_velocity(*impulses)[1])
    return impulses


def pictures(exact: Solution, relaxed: Solution) -> list[figures.Picture]:
    """The four views of the problem at t = 0, with our optimum, the closed form and scipy's optimum."""
    matrix = np.asarray(exact.problem.operator.matrix().toarray())
    plane = Plane(matrix, exact.problem.free_velocity)
    tilted = Plane(matrix, exact.problem.free_velocity, FRICTION * abs(float(exact.contact_velocities[1])))
    return [
        figures.Picture(
            (3, 12), "original_dvi", "Original DVI, Eqs. 6–9", plane.friction_power, plane.exact_gap,
            r"or $u_n = 0$ (Eq. 8)", exact.impulses, EXACT_IMPULSES,
            minimise(plane.friction_power, plane.exact_gap),
        ),
        figures.Picture(
            (4, 13), "relaxed_dvi", "Relaxed DVI/CCP, Eq. 10", plane.friction_power, plane.relaxed_gap,
            r"or $u_n = \mu\,|u_t|$ (Eq. 10)", relaxed.impulses, EXACT_IMPULSES,
            minimise(plane.friction_power, plane.relaxed_gap),
        ),
        figures.Picture(
            (5, 14), "relaxed_ccqo", "Relaxed CCQO, Eq. 14", plane.quadratic, None, "", relaxed.impulses,
            EXACT_IMPULSES, minimise(plane.quadratic),
        ),
        figures.Picture(
            (6, 15), "anti_relaxed_ccqo", f"Anti-relaxed CCQO, Eq. 15, α = {tilted.tilt:.4f} m/s",
            tilted.quadratic, None, "", exact.impulses, EXACT_IMPULSES, minimise_anti_relaxed(plane),
        ),
    ]  # fmt: skip


MATRIX = Quantity("N_{} (Eq. 46)")
FREE_VELOCITY = Quantity("r_{} (Eq. 47)")
IMPULSE = Quantity("{component} at t = 0, {law} law")
FOUND_TWICE = Quantity("Fig. {}: optimum found twice")
TRANSITION_TIME = Quantity("transition time, exact law")
FORWARD_AT_THE_END = Quantity("v_x after 1 s, exact law")
ROLLING_AT_THE_END = Quantity("−ω R after 1 s, exact law")
RISING_SPEED = Quantity("highest v_y, {} law")
FLIGHT = Quantity("highest flight, relaxed law")
VELOCITY_ERROR = Quantity("largest velocity error, {} law")


class Fineness(NamedTuple):
    """Number of points in a direction for drawing objectives."""

    contours: int
    surface: int


class Found(NamedTuple):
    """What the experiment computes."""

    histories: dict[str, History]
    views: list[figures.Picture]
    fineness: Fineness


class MelanzBall(Experiment[Fineness, Found]):
    """Both laws in time, and four views of the first step."""

    name = "melanz-ball"
    summary = "a ball slides, then rolls: the relaxed law throws it up, the exact law gives the closed form"
    paper = "Melanz, Mazhar and Negrut, anti-relaxation, §3.1, Figs. 2–6 and 12–15"
    seconds = (10.0, 10.0)
    FULL = Fineness(241, 45)
    QUICK = Fineness(61, 25)

    def measure(self, setup: Fineness, work: Work) -> Found:
        """Simulate under both laws, and solve the first step by a second method."""
        work.expect(len(LAWS) + 1)
        histories = {}
        for law in LAWS:
            work.begin(f"time stepping, {law} law")
            histories[law] = simulate(law)
        work.begin("optima by a second method")
        views = pictures(histories["coulomb"].solutions[0], histories["relaxed"].solutions[0])
        return Found(histories, views, setup)

    def data(self, found: Found) -> Data:
        """Every step, and the optima."""
        return {"history.csv": _history_table(found.histories), "optima.json": _optima(found.views)}

    def figures(self, found: Found) -> Figures:
        """Fig. 2, contours, and surfaces."""
        fine = np.unique(np.append(np.linspace(0.0, STEP * STEPS, 201), TRANSITION))
        curve = figures.Curve(fine, *closed_form(fine), TRANSITION)
        drawn = {"fig02_velocities": figures.velocities(list(found.histories.values()), curve)}
        for kind, (draw, suffix, points) in enumerate(
            [
                (figures.contours, "", found.fineness.contours),
                (figures.surface, "_surface", found.fineness.surface),
            ]
        ):
            for view in found.views:
                name = f"fig{view.numbers[kind]:02d}_{view.name}{suffix}"
                drawn[name] = draw(view, FRICTION, points)
        return drawn

    def compare(self, found: Found) -> Rows:
        """Compare with the paper's values and the closed forms."""
        histories, views, _ = found
        exact, relaxed = histories["coulomb"], histories["relaxed"]
        first = exact.solutions[0]
        matrix, free = first.problem.operator.matrix().toarray(), first.problem.free_velocity
        yield paper_row(MATRIX("nn"), 1.0, matrix[0, 0], "1/kg")
        yield paper_row(MATRIX("nt"), 0.0, matrix[0, 1], "1/kg")
        yield paper_row(MATRIX("tt"), 3.5, matrix[1, 1], "1/kg")
        yield paper_row(FREE_VELOCITY("n"), -0.0981, free[0], "m/s")
        yield paper_row(FREE_VELOCITY("t"), 2.0, free[1], "m/s")
        for index, name in enumerate(("γ_n", "γ_t")):
            ours, reference = float(first.impulses[index]), float(EXACT_IMPULSES[index])
            yield paper_row(IMPULSE(component=name, law="exact"), reference, ours, "N·s")
        for index, name in enumerate(("γ_n", "γ_t")):
            ours, reference = float(relaxed.solutions[0].impulses[index]), float(RELAXED_IMPULSES[index])
            yield exact_row(IMPULSE(component=name, law="relaxed"), reference, ours, "N·s")
        for view in views:
            distance = float(np.linalg.norm(view.optimum - view.checked))
            note = "distance of APGD's answer from scipy's SLSQP"
            yield Comparison(FOUND_TWICE(view.numbers[0]), None, distance, "N·s", note)

        rolls = np.abs(exact.slip) < ROLLS_BELOW
        begin = int(np.argmax(rolls)) if rolls.any() else len(rolls)
        rolls_from = float(exact.time[begin]) if rolls.any() else np.nan
        yield Comparison(
            "first step that rolls, exact law", None, rolls_from, "s",
            f"expected: the first multiple of {STEP:g} s after the transition at {TRANSITION:.3f} s",
        )  # fmt: skip
        yield paper_row(
            TRANSITION_TIME, TRANSITION, _sliding_ends(exact, begin), "s",
            "u_t of the last two sliding steps, extrapolated to zero",
        )  # fmt: skip
        final = (float(exact.velocity[-1, 0]), float(exact.rolling_speed[-1]))
        highest = [float(history.velocity[:, 1].max()) for history in (exact, relaxed)]
        yield paper_row(FORWARD_AT_THE_END, ROLLING_SPEED, final[0], "m/s")
        yield paper_row(ROLLING_AT_THE_END, ROLLING_SPEED, final[1], "m/s")
        yield exact_row(RISING_SPEED("exact"), 0.0, highest[0], "m/s")
        yield exact_row(
            RISING_SPEED("relaxed"), _RELAXED_NORMAL - GRAVITY * STEP, highest[1], "m/s",
            "the ball is thrown off the ground, as the paper states without a number",
        )  # fmt: skip
        yield Comparison(
            FLIGHT, None, float(relaxed.position[:, 1].max() - 1.0), "m",
            "the real ball stays at 0",
        )  # fmt: skip
        yield Comparison(
            VELOCITY_ERROR("exact"), None, _velocity_error(exact), "m/s",
            "against the closed form at the time points: sliding and rolling are linear in time and the "
            "step between them ends rolling, so only the solver's tolerance remains",
        )  # fmt: skip
        yield exact_row(
            "largest error of −ω R between the time points, exact law", _error_between_steps(),
            abs(float(np.interp(TRANSITION, exact.time, exact.rolling_speed)) - ROLLING_SPEED), "m/s",
            "straight lines cut the corner at the transition: first order in h",
        )  # fmt: skip
        yield Comparison(
            VELOCITY_ERROR("relaxed"), None, _velocity_error(relaxed), "m/s",
            "against the closed form at the time points",
        )  # fmt: skip
        for history, law in ((exact, "exact"), (relaxed, "relaxed")):
            worst = max(solution.certificate.residual for solution in history.solutions)
            yield Comparison(
                f"worst certificate residual, {law} law", None, worst, "", f"required: {TOLERANCE:g}"
            )
        for history, law in ((exact, "exact"), (relaxed, "relaxed")):
            counts = [solution.statistics.iterations for solution in history.solutions]
            note = f"APGD, {counts.count(0)} of {len(counts)} steps needed no iteration"
            yield Comparison(f"mean iterations per step, {law} law", None, float(np.mean(counts)), "", note)


def _sliding_ends(history: History, begin: int) -> float:
    """Time in s at which the line through the slip of the last two sliding steps crosses zero."""
    before, last = history.slip[begin - 2 : begin]
    return float(history.time[begin - 1] + STEP * last / (before - last))


def _error_between_steps() -> float:
    """(5/2) μ g h s (1 − s) in m/s, where s is the fraction of its step in which the ball still slides."""
    part = TRANSITION / STEP % 1.0
    return 2.5 * FRICTION * GRAVITY * STEP * part * (1.0 - part)


def _velocity_error(history: History) -> float:
    """Largest distance of v_x, v_y and −ω R from the closed form over all steps, in m/s."""
    forward, rolling = closed_form(history.time)
    errors = (history.velocity[:, 0] - forward, history.velocity[:, 1], history.rolling_speed - rolling)
    return float(np.abs(errors).max())


def _history_table(histories: dict[str, History]) -> Table:
    header = (
        "law", "time_s", "q_x_m", "q_y_m", "angle_rad", "v_x_m_per_s", "v_y_m_per_s", "omega_rad_per_s",
        "closed_form_v_x_m_per_s", "closed_form_omega_rad_per_s", "gamma_n_N_s", "gamma_t_N_s", "u_n_m_per_s",
        "u_t_m_per_s", "iterations", "residual",
    )  # fmt: skip
    rows: list[list[object]] = []
    for law, history in histories.items():
        forward, rolling = closed_form(history.time)
        states = np.column_stack(
            [history.time, history.position, history.velocity, forward, 0.0 - rolling]
        ).tolist()
        rows.append([law, *states[0], *6 * [None]])
        for state, solution in zip(states[1:], history.solutions, strict=True):
            contact = [*solution.impulses.tolist(), *solution.contact_velocities.tolist()]
            rows.append(
                [law, *state, *contact, solution.statistics.iterations, solution.certificate.residual]
            )
    return Table(header, rows)


def _optima(views: list[figures.Picture]) -> dict[str, Any]:
    return {
        f"figure {view.numbers[0]}": {
            "problem": view.title,
            "optimum_apgd_N_s": view.optimum.tolist(),
            "optimum_slsqp_N_s": view.checked.tolist(),
            "analytical_N_s": view.analytical.tolist(),
            "objective_at_optimum_J": float(view.objective(*view.optimum)),
        }
        for view in views
    }
