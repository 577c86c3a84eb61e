"""Shared parts of the experiments with grasps: instances as contact problems, and their interpretation.

Forces (6,) and accelerations (6,) are in the order of the paper, n1 n2 t1 t2 o1 o2, in N and m/s².
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.adapters import RobotContact, pinocchio
from nonsmooth.complementarity.library.grasps import CUBE_MASS, FRICTION, HALF_SIDE, REACH, Grasp, Scara
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.laws import Law
from nonsmooth.scenes.grasp import SIDES, scara_urdf

Names = NDArray[np.str_]

NEGLIGIBLE = 1e-6
"""Forces in N and accelerations in m/s² below this count as zero; instances are of size 1."""
BY_CONTACT = np.arange(6).reshape(3, 2).T.ravel()
"""Indices of (n, t, o) of the first contact, then of the second, in the paper's order."""


@dataclass(frozen=True)
class Polygon:
    """A regular polygon in place of the friction disk: inscribed with a corner on t, or circumscribed.

    The circumscribed one has a side across t: with four sides it is the paper's |c_t| ≤ μ c_n, |c_o| ≤ μ c_n.
    """

    sides: int
    circumscribed: bool = False

    @property
    def law(self) -> Law:
        """The package's law, whose polygon is inscribed with a corner on the first tangent."""
        return Law("pyramid", self.sides)

    @property
    def growth(self) -> float:
        """Distance of the corners from the centre, as a multiple of the disk's radius."""
        return 1.0 / float(np.cos(np.pi / self.sides)) if self.circumscribed else 1.0

    @property
    def turn(self) -> float:
        """Angle in rad of the first corner from t."""
        return np.pi / self.sides if self.circumscribed else 0.0

    def __str__(self) -> str:
        return f"{'circumscribed' if self.circumscribed else 'inscribed'} {self.sides}-gon"


def tangents_turned(contacts: int, angle: float) -> Floats:
    """T (3 c, 3 c) with γ' = T γ: components by contact, with tangents rotated by `angle` (rad)."""
    cosine, sine = np.cos(angle), np.sin(angle)
    one = np.array([[1.0, 0.0, 0.0], [0.0, cosine, sine], [0.0, -sine, cosine]])
    return np.kron(np.eye(contacts), one)


def polygon_problem(
    matrix: Floats, free: Floats, friction: float, polygon: Polygon | None
) -> tuple[ContactProblem, Floats]:
    """Return the problem of contacts with a polygon or with the round cone, and the map T of its forces.

    `matrix` and `free` are by contact, (n, t, o) each.
    """
    contacts = len(free) // 3
    turned = tangents_turned(contacts, 0.0 if polygon is None else polygon.turn)
    problem = ContactProblem(
        delassus=turned @ matrix @ turned.T,
        free_velocity=turned @ free,
        friction=friction * (1.0 if polygon is None else polygon.growth),
        components=np.full(contacts, 3),
        law="coulomb" if polygon is None else polygon.law,
    )
    return problem, turned


def contact_problem(grasp: Grasp, polygon: Polygon | None = None) -> tuple[ContactProblem, Floats]:
    """Return an instance as a contact problem on acceleration level, and T as in `polygon_problem`."""
    matrix = grasp.matrix[np.ix_(BY_CONTACT, BY_CONTACT)]
    return polygon_problem(matrix, grasp.free[BY_CONTACT], grasp.friction, polygon)


def in_paper_order(by_contact: Floats) -> Floats:
    """Reorder forces by contact, (n, t, o) each, to the paper's order."""
    return by_contact.reshape(2, 3).T.ravel()


# ---- interpretation of solutions ---------------------------------------------------------------------


def transitions(force: Floats, acceleration: Floats) -> Names:
    """The next transition of each rolling contact: "break", "roll" or "slide"."""
    tangential = np.hypot(acceleration[2:4], acceleration[4:6])
    staying = np.where(tangential <= NEGLIGIBLE, "roll", "slide")
    return np.where(force[:2] <= NEGLIGIBLE, "break", staying)


def angles_between(force: Floats, acceleration: Floats) -> Floats:
    """Angle (2,) in degrees of each contact between its tangential force and −(tangential acceleration)."""
    c, a = force[2:].reshape(2, 2), acceleration[2:].reshape(2, 2)
    across, along = c[0] * a[1] - c[1] * a[0], -(c[0] * a[0] + c[1] * a[1])
    return np.asarray(np.degrees(np.abs(np.arctan2(across, along))))


def outside_cone(force: Floats, friction: float) -> NDArray[np.bool_]:
    """Mask of contacts whose force lies outside Coulomb's cone."""
    return np.asarray(np.hypot(force[2:4], force[4:6]) > friction * force[:2] + NEGLIGIBLE)


# ---- the same grasp from Pinocchio ---------------------------------------------------------------------


def pinocchio_grasp() -> ContactProblem:
    """Return the contacts of the grasp at rest, from two robots of a URDF and a free cube in Pinocchio."""
    pin = importlib.import_module("pinocchio")
    robot = Scara()
    scara, model, elbow = pin.buildModelFromXML(scara_urdf(robot)), pin.Model(), robot.elbow()
    finger = robot.lengths[0] + robot.lengths[1] * np.exp(1j * elbow)
    arms = [0.5 * np.pi - np.angle(finger), elbow, 0.0, 0.0]
    for number, side in enumerate(SIDES, 1):
        one = pin.Model(scara)
        for joint in range(1, one.njoints):
            one.names[joint] += f" {number}"
        for frame in range(1, one.nframes):
            one.frames[frame].name += f" {number}"
        turn = pin.utils.rotate("z", 0.5 * np.pi * (1.0 + side))
        base = pin.SE3(turn, np.array([0.0, side * (REACH + HALF_SIDE), 0.0]))
        model = pin.appendModel(model, one, 0, base)
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "cube")
    cube = pin.Inertia.FromBox(CUBE_MASS, *[2.0 * HALF_SIDE] * 3)
    model.appendBodyToJoint(joint, cube, pin.SE3.Identity())
    model.addFrame(pin.Frame("cube", joint, 0, pin.SE3.Identity(), pin.FrameType.BODY))
    data, velocity = model.createData(), np.zeros(model.nv)
    pin.computeAllTerms(
        model, data, np.array([*arms, *arms, *pin.SE3ToXYZQUAT(pin.SE3.Identity())]), velocity
    )
    contacts = [
        RobotContact(
            "cube", f"quill {number}", normal=(0.0, -side, 0.0), tangent=(1.0, 0.0, 0.0),
            point=(0.0, side * HALF_SIDE, 0.0), friction=FRICTION,
        )
        for number, side in enumerate(SIDES, 1)
    ]  # fmt: skip
    return pinocchio.contact_problem(model, data, contacts, velocity=velocity)
