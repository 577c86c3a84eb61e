"""A ball and three boxes under six models: TR-2014-11 §5.3 to §5.5, Figs. 7 to 20.

Primal, dual and equations of motion, each exact and relaxed, simulate a ball on a plane and a unit box on
a plane, a steep slope and a gentle one. Under Coulomb's law the motion has a closed form, which the report
does not draw: it is drawn here, with the distance of each model from it.

Signs: bodies move along +x and down the slope (the report's move along −x); `along` is the distance down the
slope in m, `height` the gap to the surface in m, `spin` the angular velocity about y in rad/s, positive for a
ball that rolls along +x.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.experiments.base import Data, Experiment, Figures, Rows, Table, Work
from nonsmooth.experiments.mazhar import figures
from nonsmooth.experiments.mazhar.models import MODELS, DualRelaxed, Model
from nonsmooth.experiments.summary import Comparison, Quantity, exact_row, paper_row
from nonsmooth.model.system import System
from nonsmooth.scenes.balls import rolling_ball
from nonsmooth.scenes.boxes import box_on_incline
from nonsmooth.stepping import simulate
from nonsmooth.stepping.frame import Frame

GRAVITY = 9.81
STEP = 0.0025
"""The report's time step in s."""
TOLERANCE = 1e-11
"""Required relative residual of every step; rounding limits it to about a tenth of this."""
REST = 10.0
"""Time in s over which a box at rest must not creep."""
STANDS_BELOW = 1e-9
"""A box counts as at rest when its speed is below this, in m/s."""


@dataclass(frozen=True)
class Case:
    """One of the report's dynamic experiments; mass 1 kg, lengths of 1 m."""

    name: str
    title: str
    report: str
    """Content of the report's figures."""
    friction: float
    angle: float
    """Angle of the slope in rad."""
    speed: float
    """Initial speed in m/s."""
    duration: float
    """s"""
    is_ball: bool = False

    def system(self) -> System:
        """The scene in its initial state."""
        if self.is_ball:
            return rolling_ball(speed=self.speed, radius=1.0, friction=self.friction, gravity=GRAVITY)
        system = box_on_incline(
            angle=self.angle, friction=self.friction, size=(1.0, 1.0, 1.0), gravity=GRAVITY
        )
        system.linear_velocity[0] = self.speed * self.downhill
        return system

    @property
    def downhill(self) -> Floats:
        """Unit vector down the slope."""
        return np.array([math.cos(self.angle), 0.0, -math.sin(self.angle)])

    @property
    def normal(self) -> Floats:
        """Unit vector away from the slope."""
        return np.array([math.sin(self.angle), 0.0, math.cos(self.angle)])

    @property
    def acceleration(self) -> float:
        """g (sin θ − μ cos θ) in m/s² while the body slides."""
        return GRAVITY * (math.sin(self.angle) - self.friction * math.cos(self.angle))

    @property
    def sliding_ends(self) -> float:
        """Time in s at which the ball rolls, 2 v₀/(7 μ g), or the box stops; infinite if it never does."""
        if self.acceleration >= 0.0:
            return math.inf
        return (2.0 / 7.0 if self.is_ball else 1.0) * self.speed / -self.acceleration

    @property
    def stop_distance(self) -> float:
        """v₀²/(2 g (μ cos θ − sin θ)) in m."""
        return self.speed**2 / (-2.0 * self.acceleration)

    def closed_form(self, times: Floats) -> tuple[Floats, Floats, Floats]:
        """Along (m), speed (m/s) and spin (rad/s) under Coulomb's law."""
        sliding = np.minimum(times, self.sliding_ends)
        speed = self.speed + self.acceleration * sliding
        along = (self.speed + 0.5 * self.acceleration * sliding) * sliding + speed * (times - sliding)
        spin = -2.5 * self.acceleration * sliding if self.is_ball else np.zeros_like(times)
        return along, speed, spin

    def relaxed_lift(self, step: float) -> float:
        """Speed in m/s at which the relaxed law throws the body off the surface in the first step.

        The normal impulse γ has u_n = γ − g h cos θ = μ u_t with u_t = v₀ + g h sin θ − c μ γ, where c = 7/2
        for the ball, which friction spins up, and 1 for the box, whose four corners can share γ so that it
        does not turn.
        """
        weight = GRAVITY * step * math.cos(self.angle)
        slip = self.speed + GRAVITY * step * math.sin(self.angle)
        along = 3.5 if self.is_ball else 1.0
        impulse = (weight + self.friction * slip) / (1.0 + along * self.friction**2)
        return impulse - weight


CASES = (
    Case(
        "ball", "ball on plane",
        "Figs. 8–11: position, velocity and angular velocity of all six coincide; the magnitude of "
        "the velocity has a spike at the start under the relaxed models",
        0.2, 0.0, 2.0, 0.6, is_ball=True,
    ),
    Case(
        "box", "box on plane",
        "Figs. 13 and 14: the relaxed box lifts off and returns; PATH's relaxed EOM deviates from the others",
        0.3, 0.0, 2.0, 1.0,
    ),
    Case(
        "incline-from-rest", "box on an incline of 65° from rest",
        "Figs. 16 and 17: all six differ a little, by accumulated small errors according to the report",
        0.2, math.radians(65.0), 0.0, 0.6,
    ),
    Case(
        "incline-to-rest", "box on an incline of 25° to rest",
        "Figs. 19 and 20: the relaxed box lifts off and returns; PATH's relaxed EOM deviates from the others",
        0.6, math.radians(25.0), 2.0, 2.2,
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Track:
    """The motion under one model; row l is the state at the time l h."""

    case: Case
    model: Model
    step: float
    time: Floats
    along: Floats
    """m"""
    height: Floats
    """m"""
    speed: Floats
    """Down the slope, in m/s."""
    lift: Floats
    """Speed away from the slope, in m/s."""
    spin: Floats
    """rad/s"""
    place: Floats
    """(steps + 1, 3) in m, world frame."""
    residual: float
    """The largest residual of all steps."""
    iterations: float
    """Per step."""
    seconds: float
    """Wall time."""

    @property
    def errors(self) -> tuple[float, float, float]:
        """Largest distance of along, speed and spin from the closed form, in m, m/s and rad/s."""
        pairs = zip((self.along, self.speed, self.spin), self.case.closed_form(self.time), strict=True)
        along, speed, spin = (float(np.abs(ours - exact).max()) for ours, exact in pairs)
        return along, speed, spin

    @property
    def end_error(self) -> float:
        """Distance in m of along from the closed form at the end."""
        return abs(float(self.along[-1] - self.case.closed_form(self.time[-1:])[0][0]))

    @property
    def drift(self) -> float:
        """Largest later distance in m from its first position at rest; NaN if it moves at the end."""
        moved = self.moved_at_rest[1]
        return float(moved.max()) if len(moved) else math.nan

    @property
    def moved_at_rest(self) -> tuple[Floats, Floats]:
        """Time in s since it last moved, and distance in m from there; empty if it moves at the end."""
        moves = np.flatnonzero(np.hypot(self.speed, self.lift) >= STANDS_BELOW)
        first = int(moves[-1]) + 1 if len(moves) else 0
        since = self.time[first:] - self.time[first : first + 1]
        return since, np.linalg.norm(self.place[first:] - self.place[first : first + 1], axis=1)


def follow(case: Case, model: Model, step: float, duration: float | None = None) -> Track:
    """Simulate a case under a model, for its own duration (s) by default."""
    system = case.system()
    states = [_state(system.position[0], system.linear_velocity[0], system.angular_velocity[0])]
    residuals, iterations = [0.0], [0]

    def observe(frame: Frame) -> None:
        states.append(_state(frame.position[0], frame.linear_velocity[0], frame.angular_velocity[0]))
        residuals.append(frame.residual)
        iterations.append(frame.iterations)

    began = time.perf_counter()
    simulate(
        system, duration=case.duration if duration is None else duration, step=step, tolerance=TOLERANCE,
        observe=observe, throw=True, **model.settings,
    )  # fmt: skip
    seconds = time.perf_counter() - began
    place, velocity, spin = np.split(np.array(states), 3, axis=1)
    moved = place - place[0]
    times = np.linspace(0.0, step * (len(states) - 1), len(states))
    return Track(
        case, model, step, times, moved @ case.downhill, moved @ case.normal,
        velocity @ case.downhill, velocity @ case.normal, spin[:, 1], place, max(residuals),
        sum(iterations) / (len(iterations) - 1), seconds,
    )  # fmt: skip


def _state(position: Floats, velocity: Floats, spin: Floats) -> Floats:
    return np.concatenate([position, velocity, spin])


ROLLS_FROM = Quantity("ball rolls from, {}")
STOP_DISTANCE = Quantity("{case}: stop distance, {model}")
ACCELERATION = Quantity("{case}: acceleration, {model}")
POSITION_ERROR = Quantity("{case}: largest error of position, exact models")
APART = Quantity("{case}: largest distance between exact models")
HIGHEST = Quantity("{case}: highest above the surface, {models} models")
LIFT_OFF = Quantity("{case}: lift-off speed, relaxed models")
ORDER = Quantity("{case}: order in h, {model}")


class Setup(NamedTuple):
    """Size of the computation."""

    steps: tuple[float, ...]
    """Time steps in s, in descending order."""
    resting: float
    """Time step in s of the box at rest."""


class Found(NamedTuple):
    """What the experiment computes."""

    tracks: dict[str, list[Track]]
    study: dict[str, list[Track]]
    resting: list[Track]
    every: list[Track]
    """Of the cases, in the order of their runs."""


class MazharDynamics(Experiment[Setup, Found]):
    """Four cases under six models."""

    name = "mazhar-dynamics"
    summary = "a ball and three boxes under six models, beside the closed form: who lifts off, who creeps"
    paper = "Mazhar, Melanz, Ferris and Negrut, TR-2014-11, §5.3–5.5, Figs. 7–20"
    seconds = (90.0, 100.0)
    FULL = Setup((4.0 * STEP, 2.0 * STEP, STEP), STEP)
    QUICK = Setup((0.02, 0.01), 0.02)

    def measure(self, setup: Setup, work: Work) -> Found:
        """Simulate all cases under all models, and the box at rest."""
        models = [kind() for kind in MODELS]
        studied = [model for model in models if model.exact or isinstance(model, DualRelaxed)]
        exact, steps = [model for model in models if model.exact], setup.steps
        work.expect(len(CASES) * (len(models) + len(studied) * (len(steps) - 1)) + len(exact))
        tracks: list[Track] = []
        for case in CASES:
            for model in models:
                for step in steps if model in studied else steps[-1:]:
                    work.begin(f"{case.title}, {model.label}, h = {step:g} s")
                    tracks.append(follow(case, model, step))
        resting: list[Track] = []
        for model in exact:
            work.begin(f"at rest on the incline, {model.label}")
            until = CASES[-1].sliding_ends + REST + 10.0 * setup.resting
            resting.append(follow(CASES[-1], model, setup.resting, until))
        shown = {case.name: [t for t in tracks if t.case is case and t.step == steps[-1]] for case in CASES}
        study = {case.name: [t for t in tracks if t.case is case and t.model in studied] for case in CASES}
        return Found(shown, study, resting, tracks)

    def data(self, found: Found) -> Data:
        """The tracks, and their errors."""
        shown = [track for each in found.tracks.values() for track in each]
        return {"tracks.csv": _tracks_table(shown), "errors.csv": _errors_table(found.every)}

    def figures(self, found: Found) -> Figures:
        """Every case, the order, and the box at rest."""
        cases = {case.name.replace("-", "_"): figures.motion(case, found.tracks[case.name]) for case in CASES}
        return {**cases, "order": figures.convergence(found.study), "rest": figures.rest(found.resting)}

    def compare(self, found: Found) -> Rows:
        """Compare with the report's values and the closed forms, by the names of the cases."""
        tracks, study, resting, _ = found
        ball = tracks["ball"]
        yield from [
            paper_row(
                ROLLS_FROM(track.model.label), 0.291, _rolls_from(track), "s",
                f"2 v₀/(7 μ g) = {track.case.sliding_ends:.6f} s; the slip of the last two sliding steps, "
                "extrapolated to zero",
            )
            for track in ball
            if track.model.exact
        ]  # fmt: skip
        for name in ("box", "incline-to-rest"):
            for track in tracks[name]:
                if track.model.exact:
                    yield exact_row(
                        STOP_DISTANCE(case=track.case.title, model=track.model.label),
                        track.case.stop_distance, float(track.along[-1]), "m",
                        f"½ v₀ h = {0.5 * track.case.speed * track.step:.2g} m is due to the integrator",
                    )  # fmt: skip
        for track in tracks["incline-from-rest"]:
            if track.model.exact:
                yield exact_row(
                    ACCELERATION(case=track.case.title, model=track.model.label), track.case.acceleration,
                    float(track.speed[-1] / track.time[-1]), "m/s²",
                )  # fmt: skip
        for case in CASES:
            yield from _of_case(case, tracks[case.name], study[case.name])
        for track in resting:
            length = float(track.time[-1] - track.case.sliding_ends)
            asked = f"h = {track.step:g} s, steps solved to {TOLERANCE:g}"
            note = f"required: below 1e-12 m; over {length:.2f} s, {asked}"
            yield Comparison(f"creep at rest, {track.model.label}", None, track.drift, "m", note)
        every = [track for each in (*tracks.values(), *study.values(), resting) for track in each]
        worst = max(every, key=lambda track: track.residual)
        yield Comparison(
            "largest certificate residual of all steps", None, worst.residual, "",
            f"required: {TOLERANCE:g}; {worst.case.title}, {worst.model.label}",
        )  # fmt: skip


def _of_case(case: Case, tracks: list[Track], study: list[Track]) -> Rows:
    """Errors, agreement, lift-off and order of one case."""
    exact = [track for track in tracks if track.model.exact]
    relaxed = [track for track in tracks if not track.model.exact]
    step = exact[0].step
    along, speed, spin = (max(errors) for errors in zip(*(track.errors for track in exact), strict=True))
    yield Comparison(
        POSITION_ERROR(case=case.title), None, along, "m",
        f"speed {speed:.2g} m/s, spin {spin:.2g} rad/s, at h = {step:g} s",
    )  # fmt: skip
    yield Comparison(
        APART(case=case.title), None, _spread(exact), "m",
        f"between relaxed models {_spread(relaxed):.2g} m",
    )  # fmt: skip
    yield Comparison(
        HIGHEST(case=case.title, models="exact"), None,
        max(float(track.height.max()) for track in exact), "m", "expected: 0",
    )  # fmt: skip
    yield Comparison(
        HIGHEST(case=case.title, models="relaxed"), None,
        max(float(track.height.max()) for track in relaxed), "m", f"the report, {case.report}",
    )  # fmt: skip
    yield exact_row(
        LIFT_OFF(case=case.title), case.relaxed_lift(step),
        max((float(track.lift[1]) for track in relaxed), key=lambda v: abs(v - case.relaxed_lift(step))),
        "m/s", "first step, the model with the largest difference",
    )  # fmt: skip
    lifted = [track for track in study if not track.model.exact]
    heights = ", ".join(f"{track.height.max():.3g} m at h = {track.step:g} s" for track in lifted)
    yield Comparison(
        f"{case.title}: effect of halving h on the lift-off, {lifted[0].model.label}", None,
        float(lifted[-2].height.max() / lifted[-1].height.max()), "",
        f"ratio of the last two heights: {heights}; 1: it does not depend on h, 2: it vanishes with h",
    )  # fmt: skip
    for label in dict.fromkeys(track.model.label for track in study if track.model.exact):
        own = [track for track in study if track.model.label == label]
        found = ", ".join(f"{track.end_error:.3g} m at h = {track.step:g} s" for track in own)
        yield Comparison(
            ORDER(case=case.title, model=label), None, order_of(own[-2], own[-1]), "",
            f"error of the position at {case.duration:g} s: {found}; expected: 1",
        )  # fmt: skip


def order_of(coarse: Track, fine: Track) -> float:
    """log₂ of the ratio of two errors whose steps differ by a factor of two."""
    return math.log2(coarse.end_error / fine.end_error)


def _spread(tracks: list[Track]) -> float:
    """Largest distance in m between the positions of two models at one time."""
    shortest = min(len(track.place) for track in tracks)
    places = [track.place[:shortest] for track in tracks]
    return max(float(np.abs(place - places[0]).max()) for place in places)


def _rolls_from(track: Track) -> float:
    """Time in s at which the line through the slip of the last two sliding steps crosses zero."""
    slip = track.speed - track.spin
    first = int(np.argmax(np.abs(slip) < STANDS_BELOW))
    before, last = slip[first - 2 : first]
    return float(track.time[first - 1] + track.step * last / (before - last))


def _tracks_table(tracks: list[Track]) -> Table:
    header = (
        "case", "model", "time_s", "along_m", "height_m", "speed_m_per_s", "lift_m_per_s", "spin_rad_per_s",
        "closed_form_along_m", "closed_form_speed_m_per_s", "closed_form_spin_rad_per_s",
    )  # fmt: skip
    rows: list[list[object]] = []
    for track in tracks:
        numbers = np.column_stack(
            [
                track.time, track.along, track.height, track.speed, track.lift, track.spin,
                *track.case.closed_form(track.time),
            ]
        )  # fmt: skip
        rows += [[track.case.name, track.model.label, *row] for row in numbers.tolist()]
    return Table(header, rows)


def _errors_table(tracks: list[Track]) -> Table:
    """One row for each run: its distance from the closed form, and its cost."""
    header = (
        "case", "model", "step_s", "position_error_m", "speed_error_m_per_s", "spin_error_rad_per_s",
        "position_error_at_end_m", "highest_m", "lift_off_speed_m_per_s", "iterations_per_step", "residual",
        "seconds",
    )  # fmt: skip
    rows = [
        [
            track.case.name, track.model.label, track.step, *track.errors, track.end_error,
            float(track.height.max()), float(track.lift[1]), track.iterations, track.residual, track.seconds,
        ]
        for track in tracks
    ]  # fmt: skip
    return Table(header, rows)
