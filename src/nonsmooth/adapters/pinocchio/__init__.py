"""Pinocchio robots; `pin` is imported only when a robot is read."""

from nonsmooth.adapters.pinocchio.contact_problem import contact_problem
from nonsmooth.adapters.pinocchio.generalised_system import generalised_system

__all__ = ["contact_problem", "generalised_system"]
