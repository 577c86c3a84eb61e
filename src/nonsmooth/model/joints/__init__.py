"""Joints between bodies, and drivers, motors, springs, limits and friction on their coordinates."""

from nonsmooth.model.joints.base import Joint
from nonsmooth.model.joints.distance_joints import Distance, Strut
from nonsmooth.model.joints.evaluation import Evaluation, evaluated
from nonsmooth.model.joints.gears import Coupling, Gear
from nonsmooth.model.joints.joint_set import Joints
from nonsmooth.model.joints.kinematic_pairs import (
    Cylindrical,
    Fixed,
    Planar,
    PointOnLine,
    PointOnPlane,
    Prismatic,
    Revolute,
    Screw,
    Spherical,
    Universal,
)
from nonsmooth.model.joints.motions import Function, Motion, Ramp, Sine, Smooth
from nonsmooth.model.joints.table import BILATERAL, BOUNDED, LIMIT, JointTable

__all__ = [
    "BILATERAL",
    "BOUNDED",
    "LIMIT",
    "Coupling",
    "Cylindrical",
    "Distance",
    "Evaluation",
    "Fixed",
    "Function",
    "Gear",
    "Joint",
    "JointTable",
    "Joints",
    "Motion",
    "Planar",
    "PointOnLine",
    "PointOnPlane",
    "Prismatic",
    "Ramp",
    "Revolute",
    "Screw",
    "Sine",
    "Smooth",
    "Spherical",
    "Strut",
    "Universal",
    "evaluated",
]
