"""Two SCARA robots that hold a cube between their fingers (Andreani et al. §4.2), and its contact data.

    ╱╲
●  ╱  ▸▣◂  ╱  ●     from above, y to the right and x up: bases at (0, ∓0.45) m, fingers at
           ╲╱       (0, ∓0.05, 0) m; the second robot is the first one turned by π
"""

from __future__ import annotations

import math

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.complementarity.library.grasps import CUBE_MASS, HALF_SIDE, REACH, Scara
from nonsmooth.model import quaternions
from nonsmooth.model.joints import Prismatic, Revolute
from nonsmooth.model.joints.evaluation import evaluated
from nonsmooth.model.shapes import Box, Capsule, Compound, Sphere
from nonsmooth.model.system import System
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.scenes.registry import scene

SIDES = (-1.0, 1.0)
"""Sign of y at the first and at the second robot."""
_AXIS = (0.0, 0.0, 1.0)
_ARM_HEIGHT, _FOREARM_HEIGHT, _WRIST_HEIGHT = 0.22, 0.28, 0.22
"""Of the centres of mass above the cube's, in m."""
_WIDTH = 0.04
"""Of the arms, in m."""
_PAD = 0.01
"""Radius of the finger's pad, in m."""
_STIFFNESS, _DAMPING = (60.0, 60.0, 0.05, 500.0), (6.0, 6.0, 0.01, 40.0)
"""Of the joints' controllers: N·m/rad and N·m·s/rad for the hinges, N/m and N·s/m for the slide."""


@scene("two SCARA robots that hold a cube (Andreani et al. §4.2)")
def grasp(*, squeeze: float = 20.0, friction: float = 0.5, gravity: float = 9.81) -> System:
    """Return two robots that press a cube between their fingers and hold it against gravity.

    Motors give the torques that press and lift, and springs and dampers keep the joints where they are.
    Bodies: "cube", and for each robot "upper arm 1", "forearm 1", "wrist 1", "quill 1"; joints: "shoulder 1",
    "elbow 1", "hand 1" (hinges) and "slide 1". All axes are vertical, and the finger's pad touches the cube
    on the axis of the hand.

    Args:
        squeeze: force in N of each finger on the cube.
        friction: μ between fingers and cube; below half the cube's weight by `squeeze` it slips out.
        gravity: m/s², downwards (−z).
    """
    robot = Scara()
    system = System(gravity=(0.0, 0.0, -gravity))
    system.add_material("pad", friction=friction)
    system.add_box([2.0 * HALF_SIDE] * 3, mass=CUBE_MASS, material="pad", name="cube")
    load = gravity * (robot.masses[3] + 0.5 * CUBE_MASS)
    torque = robot.jacobian(robot.elbow()).T @ (0.0, squeeze, load)
    for number, side in enumerate(SIDES, 1):
        _add_robot(system, robot, number, side)
        for k, joint in enumerate(("shoulder", "elbow", "hand", "slide")):
            name = f"{joint} {number}"
            if torque[k]:
                system.add_motor(name, force=float(torque[k]))
            system.add_spring(name, stiffness=_STIFFNESS[k], damping=_DAMPING[k])
    return system


def _add_robot(system: System, robot: Scara, number: int, side: float) -> None:
    """Add the robot whose base is at y = side · (reach + half side)."""
    elbow = robot.elbow()
    forward = -0.5 * math.pi * side  # from the base to the cube
    shoulder = forward - math.atan2(
        robot.lengths[1] * math.sin(elbow), robot.lengths[0] + robot.lengths[1] * math.cos(elbow)
    )
    points = [np.array([0.0, side * (REACH + HALF_SIDE), 0.0])]
    names = [f"upper arm {number}", f"forearm {number}"]
    heights = (_ARM_HEIGHT, _FOREARM_HEIGHT)
    for k, angle in enumerate((shoulder, shoulder + elbow)):
        direction = np.array([math.cos(angle), math.sin(angle), 0.0])
        middle = points[k] + 0.5 * robot.lengths[k] * direction
        inertia = robot.link_inertias[k]
        system.add_body(
            Box((robot.lengths[k], _WIDTH, _WIDTH)),
            mass=robot.masses[k],
            inertia=(0.1 * inertia, inertia, inertia),
            position=middle + _up(heights[k]),
            orientation=quaternions.from_axis_angle(_AXIS, angle),
            name=names[k],
        )
        points.append(points[k] + robot.lengths[k] * direction)
    tip = np.array([0.0, side * HALF_SIDE, 0.0])
    turn = quaternions.from_axis_angle(_AXIS, forward)
    finger = _finger()
    centre = finger.mass_properties(1.0).centre
    for name, shape, height, k in (
        (f"wrist {number}", Box((_WIDTH, _WIDTH, _WIDTH)), _WRIST_HEIGHT, 2),
        (f"quill {number}", finger, float(centre[2]), 3),
    ):
        system.add_body(
            shape,
            mass=robot.masses[k],
            inertia=np.full(3, robot.wrist_inertia),
            position=tip + _up(height),
            orientation=turn,
            material="pad",
            name=name,
        )
    chain = [None, *names, f"wrist {number}", f"quill {number}"]
    places = [points[0], points[1], tip]
    for k, name in enumerate(("shoulder", "elbow", "hand")):
        system.add_joint(
            Revolute(chain[k], chain[k + 1], point=places[k], axis=_AXIS, name=f"{name} {number}")
        )
    system.add_joint(Prismatic(chain[3], chain[4], point=tip, axis=_AXIS, name=f"slide {number}"))


def _up(height: float) -> Floats:
    return np.array([0.0, 0.0, height])


def _finger() -> Compound:
    """A pad whose surface is on the axis, z, where it touches the cube at +x, and a rod above it.

    A ball like the pad hangs on the other side of the rod, so that the centre of mass is on the axis.
    """
    top = 0.18
    rod = Capsule(_PAD, top - 0.08)
    at = quaternions.IDENTITY
    return Compound(
        (
            (Sphere(_PAD), (-_PAD, 0.0, 0.0), at),
            (rod, (0.0, 0.0, 0.5 * (top + 0.08)), at),
            (Sphere(_PAD), (_PAD, 0.0, top), at),
        )
    )


# ---- contact data by eliminating the joints ------------------------------------------------------


def grasp_problem(system: System, *, friction: float = 0.5) -> ContactProblem:
    """Return the two contacts and all joints of a grasp at its start, at rest, on acceleration level.

    Accelerations in m/s², forces in N; components (n, t, o) of each contact with n from finger to cube,
    t = (1, 0, 0), o = n × t. The force is the one on the cube.
    """
    count = system.count
    mass = np.zeros((count, 6, 6))
    mass[:, range(3), range(3)] = system.mass[:, None]
    mass[:, 3:, 3:] = system.inertia
    cube = system.index("cube")
    pairs, blocks = np.empty((2, 2), dtype=np.int64), np.empty((2, 2, 3, 6))
    for i, side in enumerate(SIDES):
        normal, tangent = np.array([0.0, -side, 0.0]), np.array([1.0, 0.0, 0.0])
        directions = np.array([normal, tangent, np.cross(normal, tangent)])
        point = np.array([0.0, side * HALF_SIDE, 0.0])
        pairs[i] = system.index(f"quill {i + 1}"), cube
        for k, (body, sign) in enumerate(zip(pairs[i].tolist(), (-1.0, 1.0), strict=True)):
            turning = np.cross(point - system.position[body], directions)
            blocks[i, k, :, :3] = sign * directions
            blocks[i, k, :, 3:] = sign * quaternions.rotate_back(system.quaternion[body], turning)
    table = system.joints.table
    return ContactProblem(
        mass=mass,
        jacobian=blocks,
        bodies=pairs,
        momentum=system.forces(0.0).ravel(),
        friction=friction,
        joint_jacobian=evaluated(table.rows, system.joints.angles, system).rows,
        joint_bodies=table.rows.bodies,
    )


def without_joints(problem: ContactProblem) -> tuple[Floats, Floats]:
    """Return A and b of a = A c + b, the contacts' part of a problem whose joint rows hold.

    A = W_cc − W_cj W_jj⁻¹ W_jc and b = q_c − W_cj W_jj⁻¹ q_j with the Delassus matrix W and the free
    accelerations (or velocities) q of contacts c and joint rows j; the rows must be independent.
    """
    matrix = problem.operator.matrix().toarray()
    rows = problem.layout.contact_rows
    across = matrix[:rows, rows:]
    right = np.column_stack([across.T, problem.joint_free_velocity])
    solved = np.linalg.solve(matrix[rows:, rows:], right)
    reduced = matrix[:rows, :rows] - across @ solved[:, :-1]
    return 0.5 * (reduced + reduced.T), problem.free_velocity - across @ solved[:, -1]


def grasp_data(system: System) -> tuple[Floats, Floats]:
    """Return A (6, 6) in 1/kg and b (6,) in m/s² of a grasp at its start, in the order n1 n2 t1 t2 o1 o2."""
    matrix, free = without_joints(grasp_problem(system))
    order = np.arange(6).reshape(2, 3).T.ravel()
    return matrix[np.ix_(order, order)], free[order]


# ---- the same robot for other programs -----------------------------------------------------------


def scara_urdf(robot: Scara | None = None) -> str:
    """Return one of the robots as a URDF text: joints "shoulder", "elbow", "hand", "slide", link "quill".

    With all coordinates zero both arms lie along x; the finger's tip is the origin of "quill".
    """
    robot = Scara() if robot is None else robot
    (l1, l2), (i1, i2), i3 = robot.lengths, robot.link_inertias, robot.wrist_inertia
    links = ["<link name='base'/>"]
    links += [
        f"<link name='{name}'><inertial><origin xyz='{along!r} 0 0'/><mass value='{mass!r}'/>"
        f"<inertia ixx='{inertia!r}' iyy='{inertia!r}' izz='{inertia!r}' ixy='0' ixz='0' iyz='0'/>"
        "</inertial></link>"
        for name, along, mass, inertia in zip(
            ("upper_arm", "forearm", "wrist", "quill"),
            (0.5 * l1, 0.5 * l2, 0.0, 0.0),
            robot.masses,
            (i1, i2, i3, i3),
            strict=True,
        )
    ]
    joints = [
        f"<joint name='{name}' type='{kind}'><parent link='{parent}'/><child link='{child}'/>"
        f"<origin xyz='{along!r} 0 0'/><axis xyz='0 0 1'/>"
        "<limit lower='-3.2' upper='3.2' effort='1000' velocity='100'/></joint>"
        for name, kind, parent, child, along in (
            ("shoulder", "revolute", "base", "upper_arm", 0.0),
            ("elbow", "revolute", "upper_arm", "forearm", l1),
            ("hand", "revolute", "forearm", "wrist", l2),
            ("slide", "prismatic", "wrist", "quill", 0.0),
        )
    ]
    return "<?xml version='1.0'?><robot name='scara'>" + "".join(links + joints) + "</robot>"
