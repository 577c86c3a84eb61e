"""What exists: bodies with shapes and materials, and the forces that are applied to them."""

from nonsmooth.model import joints, quaternions
from nonsmooth.model.forces import Harmonic
from nonsmooth.model.generalised import GapContact, GeneralisedSystem, check_derivatives
from nonsmooth.model.materials import Material, Materials, PairTable
from nonsmooth.model.shape_table import ShapeTable
from nonsmooth.model.shapes import (
    BOX,
    CAPSULE,
    CONVEX_HULL,
    CYLINDER,
    ELLIPSOID,
    HALF_SPACE,
    MESH,
    SPHERE,
    Box,
    Capsule,
    Compound,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Mesh,
    Shape,
    Sphere,
)
from nonsmooth.model.system import System

__all__ = [
    "BOX",
    "CAPSULE",
    "CONVEX_HULL",
    "CYLINDER",
    "ELLIPSOID",
    "HALF_SPACE",
    "MESH",
    "SPHERE",
    "Box",
    "Capsule",
    "Compound",
    "ConvexHull",
    "Cylinder",
    "Ellipsoid",
    "GapContact",
    "GeneralisedSystem",
    "HalfSpace",
    "Harmonic",
    "Material",
    "Materials",
    "Mesh",
    "PairTable",
    "Shape",
    "ShapeTable",
    "Sphere",
    "System",
    "check_derivatives",
    "joints",
    "quaternions",
]
