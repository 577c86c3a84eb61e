"""Robots of Pinocchio (`pin`), which is imported when a robot is read and not before."""

from nonsmooth.adapters.pinocchio.contact_problem import contact_problem
from nonsmooth.adapters.pinocchio.generalised_system import generalised_system

__all__ = ["contact_problem", "generalised_system"]
