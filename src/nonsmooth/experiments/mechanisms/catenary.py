"""A hanging chain: 100 links between two points at rest, against its statics and against the catenary.

The chain of 1.5 m and 1 kg starts as an arc of a circle between two points 1 m apart and comes to rest in a
fluid that damps it. At rest it must have the shape and the joint forces of rigid links in equilibrium.
The catenary is the limit for short links, at a distance that falls with the square of their length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.experiments.base import Data, Experiment, Figures, Rows, Table, Work
from nonsmooth.experiments.mechanisms import textbook_references as references
from nonsmooth.experiments.shared import plots
from nonsmooth.experiments.shared.colours import BLUE, DARK_GREY, GREEN, LIGHT_GREY, ORANGE
from nonsmooth.experiments.summary import Comparison, exact_row
from nonsmooth.scenes.linkages import chain
from nonsmooth.stepping.frame import Frame
from nonsmooth.stepping.simulate import simulate

if TYPE_CHECKING:
    from matplotlib.figure import Figure


LENGTH, SPAN, MASS, GRAVITY = 1.5, 1.0, 1.0, 9.81
"""m, m, kg, m/s²"""
WEIGHT = MASS * GRAVITY
DRAG = 8.0
"""Damping rate of links in the fluid in 1/s: about critical for the slowest swing."""
PARAMETER, SAG = references.catenary(LENGTH, SPAN)
"""Of the catenary, in m."""


@dataclass(frozen=True)
class Setup:
    """Size of the computation."""

    links: tuple[int, ...]
    duration: float
    """s"""


STEP = 0.2
"""Time step times links, in s: short links under tension swing fast, which limits an explicit step."""


@dataclass(frozen=True)
class Hanging:
    """A chain at the end of its run."""

    links: int
    time: Floats
    """End of every step in s."""
    speed: Floats
    """Largest speed of a link in m/s."""
    shapes: dict[float, Floats]
    """Joints (links + 1, 2) in m at some times in s, the last one at the end."""
    forces: Floats
    """|force| (links + 1,) in N of every joint at the end."""
    statics: references.Chain
    joint_error: float
    """Largest over the run, in m or rad."""

    @property
    def joints(self) -> Floats:
        """Joints (links + 1, 2) in m at the end."""
        return next(reversed(self.shapes.values()))

    @property
    def sag(self) -> float:
        """Depth in m of the lowest point: a joint, or the middle of the level link."""
        low = -self.joints[:, 1]
        return float(max(low.max(), 0.5 * (low[:-1] + low[1:]).max()))

    @property
    def shape_error(self) -> float:
        """Largest distance in m of a joint from its place in equilibrium."""
        return float(np.linalg.norm(self.joints - self.statics.joints, axis=1).max())

    @property
    def force_error(self) -> float:
        """Largest error in N of a joint's force."""
        return float(np.abs(self.forces - np.linalg.norm(self.statics.forces, axis=1)).max())

    @property
    def from_catenary(self) -> float:
        """Largest vertical distance in m of a joint from the catenary."""
        return float(np.abs(self.joints[:, 1] - height(self.joints[:, 0])).max())


def height(x: Floats) -> Floats:
    """Height in m of the catenary at positions x (m) from one end, where it is zero."""
    return np.asarray(PARAMETER * np.cosh((x - 0.5 * SPAN) / PARAMETER) - PARAMETER - SAG)


def hang(links: int, setup: Setup) -> Hanging:
    """Simulate a chain until it is at rest."""
    system = chain(links, length=LENGTH, span=SPAN, mass=MASS, drag=DRAG, gravity=GRAVITY)
    step = STEP / links
    total = round(setup.duration / step)
    wanted = {round(part * total) for part in (0.02, 0.05, 0.1, 1.0)}
    shapes = {0.0: _joints(system.joints.anchors(system.position, system.quaternion))}
    forces: list[Floats] = []

    def look(frame: Frame) -> None:
        if frame.index in wanted:
            shapes[frame.time] = _joints(system.joints.anchors(frame.position, frame.quaternion))
        if frame.index == total:
            forces.append(np.linalg.norm(frame.reactions().force, axis=1))

    run = simulate(system, duration=setup.duration, step=step, observe=look)
    statics = references.hanging_chain(links, length=LENGTH, span=SPAN, weight=WEIGHT)
    joint_error = float(run.steps["joint_error"].max())
    return Hanging(
        links, run.steps["time"], run.steps["largest_speed"], shapes, forces[0], statics, joint_error
    )


def _joints(anchors: Floats) -> Floats:
    """Positions (links + 1, 2) in the plane of x and z, from the anchors (joints, 2, 3)."""
    return anchors[:, 0][:, [0, 2]].copy()


class Catenary(Experiment[Setup, list[Hanging]]):
    """Chains with increasing numbers of links."""

    name = "catenary"
    summary = "a chain of 100 links between two points: shape and forces at rest"
    paper = "checked against the statics of rigid links and the closed form of the catenary"
    belongs_to = "negrut"
    seconds = (15.0, 10.0)
    FULL = Setup((10, 20, 50, 100), 4.0)
    QUICK = Setup((10, 20, 40), 3.0)

    def measure(self, setup: Setup, work: Work) -> list[Hanging]:
        """Simulate every chain until it is at rest."""
        work.expect(len(setup.links))
        chains = []
        for links in setup.links:
            work.begin(f"{links} links, {setup.duration * links / STEP:.0f} steps")
            chains.append(hang(links, setup))
        return chains

    def data(self, found: list[Hanging]) -> Data:
        """Joints, and errors."""
        return {"joints.csv": _joints_table(found), "errors.csv": _errors_table(found)}

    def figures(self, found: list[Hanging]) -> Figures:
        """Shapes and errors."""
        return {"shape": _shapes(found[-1]), "errors": _errors(found)}

    def compare(self, found: list[Hanging]) -> Rows:
        """Compare shapes and forces with statics and the catenary."""
        for each in found:
            name = f"{each.links} links"
            yield exact_row(
                f"largest distance of a joint from statics, {name}", 0.0, each.shape_error, "m",
                f"largest remaining speed {each.speed[-1]:.1g} m/s",
            )  # fmt: skip
            yield exact_row(
                f"largest error of a joint's force, {name}", 0.0, each.force_error, "N",
                f"largest force {each.forces.max():.4g} N",
            )  # fmt: skip
            yield Comparison(
                f"largest distance from the catenary, {name}", None, each.from_catenary, "m",
                f"times links²: {each.from_catenary * each.links**2:.4g} m",
            )  # fmt: skip
        best = found[-1]
        pull = WEIGHT / LENGTH * PARAMETER
        note = f"{best.links} links"
        yield exact_row("sag", SAG, best.sag, "m", note)
        yield exact_row("least force in the chain", pull, float(best.forces.min()), "N", note)
        yield exact_row(
            "force on a support", pull * np.cosh(0.5 * SPAN / PARAMETER), float(best.forces[0]), "N", note
        )
        yield Comparison("largest error of the joints", None, best.joint_error, "m or rad", note)


def _shapes(each: Hanging) -> Figure:
    """The chain on its way to rest, and its forces."""
    from matplotlib import colormaps

    figure, (shape, force) = plots.new_axes((11.0, 5.0), columns=2)
    x = np.linspace(0.0, SPAN, 400)
    shape.plot(x, height(x), color=LIGHT_GREY, linewidth=6.0, label="catenary")
    for number, (moment, joints) in enumerate(each.shapes.items()):
        last = number == len(each.shapes) - 1
        colour = GREEN if last else colormaps["viridis"](0.9 - 0.2 * number)
        style = "o-" if last else "-"
        label = f"{each.links} links, t = {moment:.2f} s"
        shape.plot(*joints.T, style, color=colour, linewidth=1.2, markersize=2.0, label=label)
    shape.set(xlabel="x in m", ylabel="z in m", aspect="equal", title="shape")
    place = each.joints[:, 0]
    pull = WEIGHT / LENGTH * PARAMETER * np.cosh((x - 0.5 * SPAN) / PARAMETER)
    force.plot(x, pull, color=LIGHT_GREY, linewidth=6.0, label="catenary")
    force.plot(
        place, each.forces, "o", color=GREEN, markersize=2.5, label=f"joints of {each.links} links at rest"
    )
    force.set(xlabel="x in m", ylabel="force in N", title="force in the chain at rest", ylim=(0.0, None))
    plots.legend_below(figure, 4)
    return figure


def _errors(chains: Sequence[Hanging]) -> Figure:
    """Distances of chains from statics and from the catenary, and their speeds on the way to rest."""
    figure, (error, speed) = plots.new_axes((11.0, 4.8), columns=2)
    links = np.array([each.links for each in chains], dtype=float)
    distance = np.array([each.from_catenary for each in chains])
    error.loglog(links, distance, "s-", color=ORANGE, markersize=7, label="from the catenary, m")
    guide = distance[-1] * (links[-1] / links) ** 2
    error.loglog(links, guide, ":", color=DARK_GREY, label="second order in the length of a link")
    error.loglog(
        links, [each.shape_error for each in chains], "o-", color=GREEN, markersize=7, label="from statics, m"
    )
    error.loglog(
        links,
        [each.force_error for each in chains],
        "^-",
        color=BLUE,
        markersize=7,
        label="forces, from statics, N",
    )
    error.set_xticks(links, [f"{count:.0f}" for count in links])
    error.minorticks_off()
    error.set(xlabel="links", ylabel="largest error", title="error at rest")
    for each, colour in zip(chains, (LIGHT_GREY, BLUE, ORANGE, GREEN), strict=False):
        speed.semilogy(each.time, each.speed, color=colour, linewidth=1.2, label=f"{each.links} links")
    speed.set(xlabel="time in s", ylabel="largest speed in m/s", title="coming to rest")
    plots.legend_below(figure, 4)
    return figure


def _joints_table(chains: Sequence[Hanging]) -> Table:
    """Positions and forces of all joints at the end."""
    rows: list[list[float]] = []
    for each in chains:
        exact = np.linalg.norm(each.statics.forces, axis=1)
        count = np.full(each.links + 1, float(each.links))
        columns = (count, *each.joints.T, *each.statics.joints.T, each.forces, exact)
        rows += np.column_stack(columns).tolist()
    header = ("links", "x_m", "z_m", "x_statics_m", "z_statics_m", "force_N", "force_statics_N")
    return Table(header, rows)


def _errors_table(chains: Sequence[Hanging]) -> Table:
    """One line for each chain."""
    rows = [
        (each.links, each.shape_error, each.force_error, each.from_catenary, each.sag, each.speed[-1])
        for each in chains
    ]
    header = (
        "links", "distance_from_statics_m", "force_error_N", "distance_from_catenary_m", "sag_m",
        "largest_speed_left_m_per_s",
    )  # fmt: skip
    return Table(header, rows)
