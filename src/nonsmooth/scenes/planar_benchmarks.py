"""Plane mechanisms of the IFToMM library of computational benchmark problems: A01, A02 and A03.

They move in the plane of x and y, with gravity along −y. Bodies and joints are those of space all the same,
so that every plane loop of revolute joints is redundant. Bodies have no shapes: nothing touches.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Mapping

import numpy as np

from nonsmooth.model.joints import Distance, Revolute, Strut
from nonsmooth.model.system import System
from nonsmooth.scenes._plane import at_least, dyad
from nonsmooth.scenes.registry import scene

_OUT_OF_PLANE = (0.0, 0.0, 1.0)


@scene("a point mass on a rod (IFToMM A01)")
def pendulum(
    *, length: float = 1.0, mass: float = 1.0, angle: float = -0.5 * math.pi, gravity: float = 9.81
) -> System:
    """Return a point mass at the end of a massless rod, at rest (IFToMM A01).

    The body "bob" swings about the origin on the joint "rod", a `Distance`: its own inertia plays no part.

    Args:
        length: of the rod, in m.
        mass: kg.
        angle: from hanging straight down, towards +x, in rad; A01 starts at (−1, 0) m.
        gravity: m/s², along −y.
    """
    system = System(gravity=(0.0, -gravity, 0.0))
    place = length * np.array([math.sin(angle), -math.cos(angle), 0.0])
    moment = 0.4 * mass * (0.1 * length) ** 2
    system.add_body(None, mass=mass, inertia=(moment, moment, moment), position=place, name="bob")
    system.add_joint(Distance(None, "bob", point_a=(0.0, 0.0, 0.0), point_b=place, name="rod"))
    return system


@scene("four-bar loops side by side, of equal links (IFToMM A02)")
def n_four_bar(
    loops: int = 2, *, length: float = 1.0, mass: float = 1.0, speed: float = 1.0, gravity: float = 9.81
) -> System:
    """Return four-bar loops side by side, of equal uniform links, upright and in motion (IFToMM A02).

    Rockers "rocker 0", "rocker 1", … stand on pins at (0, 0), (length, 0), … and couplers "coupler 0", …
    join their tips. Whenever the rockers lie down, all links are on one line and the mechanism could go on
    in several ways: it has `loops` more freedoms there.

    Args:
        loops: four-bar loops; there are loops + 1 rockers and `loops` couplers.
        length: of every link, in m.
        mass: of every link, in kg.
        speed: of the tips and the couplers along +x, in m/s.
        gravity: m/s², along −y.
    """
    at_least("loops", loops, 1)
    system = System(gravity=(0.0, -gravity, 0.0))
    across, along = mass * length**2 / 12.0, 1e-4 * mass * length**2
    for k in range(loops + 1):
        system.add_body(
            None, mass=mass, inertia=(across, along, across), position=(k * length, 0.5 * length, 0.0),
            velocity=(0.5 * speed, 0.0, 0.0), angular_velocity=(0.0, 0.0, -speed / length),
            name=f"rocker {k}",
        )  # fmt: skip
        pin = (k * length, 0.0, 0.0)
        system.add_joint(Revolute(None, f"rocker {k}", point=pin, axis=_OUT_OF_PLANE, name=f"pin {k}"))
    for k in range(loops):
        system.add_body(
            None, mass=mass, inertia=(along, across, across), position=((k + 0.5) * length, length, 0.0),
            velocity=(speed, 0.0, 0.0), name=f"coupler {k}",
        )  # fmt: skip
        for end, rocker in (("left", k), ("right", k + 1)):
            tip, name = (rocker * length, length, 0.0), f"{end} of coupler {k}"
            joint = Revolute(f"rocker {rocker}", f"coupler {k}", point=tip, axis=_OUT_OF_PLANE, name=name)
            system.add_joint(joint)
    return system


# ---- Andrews' squeezer -----------------------------------------------------------------------------------

_PIVOT_A, _PIVOT_B, _SPRING_END = -0.06934 - 0.00227j, -0.03635 + 0.03273j, 0.014 + 0.072j
"""The fixed points A, B and C, x + iy in m."""
_CRANK, _ROD, _TRIANGLE, _LINK, _ARM = 0.007, 0.028, 0.035, 0.02, 0.04
"""Lengths OF, FE, BE, EG = EH and AG = AH in m."""


@scene("seven bars driven by a motor (IFToMM A03)", scheme="rattle", step=0.0002, duration=0.1)
def squeezer(
    *,
    crank: float = -0.0620,
    torque: float = 0.033,
    stiffness: float = 4530.0,
    rest: float = 0.07785,
) -> System:
    """Return Andrews' squeezing mechanism, seven bodies in three loops, at rest (IFToMM A03).

    A motor at O turns the "crank" OF; the "rod" FE moves the "triangle" BED, which a spring from C to D
    holds; the links "upper link" EG and "lower link" EH move "upper arm" AG and "lower arm" AH. No gravity.

    Args:
        crank: angle of OF from the x axis at the start, in rad. The test set of initial value problems has
            −0.0617138900142764496 (crank and rod in line), which is another motion.
        torque: of the motor, in N·m.
        stiffness: of the spring, in N/m.
        rest: length of the relaxed spring, in m.
    """
    points = _squeezer_points(crank)
    system = System(gravity=(0.0, 0.0, 0.0))
    bodies = {  # name: ends, centre along and to the left of the line between them (m), kg, kg·m²
        "crank": ("OF", 0.00092, 0.0, 0.04325, 2.194e-6),
        "rod": ("FE", 0.0115, 0.0, 0.00365, 4.410e-7),
        "triangle": ("BE", 0.01874, 0.01043, 0.02373, 5.255e-6),
        "upper link": ("GE", 0.00579, 0.0, 0.00706, 5.667e-7),
        "upper arm": ("AG", 0.02308, 0.00916, 0.07050, 1.169e-5),
        "lower link": ("HE", 0.00579, 0.0, 0.00706, 5.667e-7),
        "lower arm": ("AH", 0.01228, -0.00449, 0.05498, 1.912e-5),
    }
    for name, (ends, along, left, mass, moment) in bodies.items():
        centre = _in_space(_beside(points[ends[0]], points[ends[1]], along, left))
        inertia = (0.5 * moment, 0.5 * moment, moment)  # a thin plate; only the last one acts
        system.add_body(None, mass=mass, inertia=inertia, position=centre, name=name)
    joints: Mapping[str, tuple[str | None, str]] = {
        "O": (None, "crank"),
        "F": ("crank", "rod"),
        "E of rod": ("rod", "triangle"),
        "E of upper link": ("triangle", "upper link"),
        "E of lower link": ("triangle", "lower link"),
        "B": (None, "triangle"),
        "G": ("upper link", "upper arm"),
        "H": ("lower link", "lower arm"),
        "A of upper arm": (None, "upper arm"),
        "A of lower arm": (None, "lower arm"),
    }
    for name, (a, b) in joints.items():
        system.add_joint(Revolute(a, b, point=_in_space(points[name[0]]), axis=_OUT_OF_PLANE, name=name))
    system.add_motor("O", force=torque)
    c, d = _in_space(points["C"]), _in_space(points["D"])
    system.add_joint(Strut(None, "triangle", point_a=c, point_b=d, name="spring"))
    system.add_spring("spring", stiffness=stiffness, rest=rest)
    return system


def _squeezer_points(crank: float) -> dict[str, complex]:
    """All points of the squeezer by their letters, x + iy in m."""
    a, b, f = _PIVOT_A, _PIVOT_B, cmath.rect(_CRANK, crank)
    e = _closed(f, b, (_ROD, _TRIANGLE))
    points = {"O": 0j, "A": a, "B": b, "C": _SPRING_END, "E": e, "F": f, "D": _beside(b, e, 0.018, 0.02)}
    return {**points, "G": _closed(a, e, (_ARM, _LINK)), "H": _closed(e, a, (_LINK, _ARM))}


def _closed(p: complex, q: complex, lengths: tuple[float, float]) -> complex:
    """The pin of two bars of these `lengths` (m) that join p to q, to the left of the way from p to q."""
    return dyad((p, 0j), (q, 0j), lengths, 1.0)[0]


def _beside(p: complex, q: complex, along: float, left: float) -> complex:
    """The point `along` the way from p to q and to the `left` of it, in m."""
    return p + complex(along, left) * (q - p) / abs(q - p)


def _in_space(point: complex) -> tuple[float, float, float]:
    return (point.real, point.imag, 0.0)
