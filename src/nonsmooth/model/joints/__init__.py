"""Joints between bodies, and drivers, motors, springs, limits and friction on their coordinates."""

from nonsmooth.model.joints.base import Joint
from nonsmooth.model.joints.distance_joints import Distance, Strut
from nonsmooth.model.joints.evaluation import Evaluation
from nonsmooth.model.joints.gears import Coupling, Gear
from nonsmooth.model.joints.joint_set import JointSet
from nonsmooth.model.joints.kinematic_pairs import (
    Cartesian,
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

KINDS: tuple[type[Joint], ...] = (
    Fixed,
    Spherical,
    Revolute,
    Prismatic,
    Cylindrical,
    Planar,
    Cartesian,
    Universal,
    Distance,
    PointOnLine,
    PointOnPlane,
    Gear,
    Coupling,
    Screw,
    Strut,
)
"""Every kind of joint."""

BY_NAME = {kind.scene_name(): kind for kind in KINDS}
"""The class of every name in scene files."""

__all__ = [
    "BY_NAME",
    "KINDS",
    "Cartesian",
    "Coupling",
    "Cylindrical",
    "Distance",
    "Evaluation",
    "Fixed",
    "Function",
    "Gear",
    "Joint",
    "JointSet",
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
]
