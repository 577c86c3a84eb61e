"""Models: bodies with shapes and materials, joints, and applied forces."""

from nonsmooth.model import joints, quaternions, shapes
from nonsmooth.model.forces import Harmonic
from nonsmooth.model.generalised import GapContact, GeneralisedSystem, check_derivatives
from nonsmooth.model.materials import Material, Materials
from nonsmooth.model.shapes import *  # noqa: F403 - a new shape is named there, and nowhere else
from nonsmooth.model.system import System

__all__ = [
    "GapContact",
    "GeneralisedSystem",
    "Harmonic",
    "Material",
    "Materials",
    "System",
    "check_derivatives",
    "joints",
    "quaternions",
    "shapes",
]
__all__ += shapes.__all__
