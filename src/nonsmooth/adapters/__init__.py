"""Adapters to other programs: Pinocchio robots as contact problems and as systems for event-driven runs."""

from nonsmooth.adapters import pinocchio
from nonsmooth.adapters.pinocchio.contact_problem import RobotContact
from nonsmooth.adapters.pinocchio.generalised_system import RobotPoint

__all__ = ["RobotContact", "RobotPoint", "pinocchio"]
