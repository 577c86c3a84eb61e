"""Shapes: geometry in its own frame, in metres, with volume, mass and inertia at uniform density.

One file per shape; `base.py` lists what a shape defines. Bounds, scene files, recordings and drawing find the
shapes in the table below.
"""

from nonsmooth.model.shapes.base import MassProperties, Piece, Primitive, Shape
from nonsmooth.model.shapes.box import BOX, Box
from nonsmooth.model.shapes.capsule import CAPSULE, Capsule
from nonsmooth.model.shapes.compound import Compound
from nonsmooth.model.shapes.cone import CONE, Cone
from nonsmooth.model.shapes.convex_hull import CONVEX_HULL, ConvexHull
from nonsmooth.model.shapes.cylinder import CYLINDER, Cylinder
from nonsmooth.model.shapes.ellipsoid import ELLIPSOID, Ellipsoid
from nonsmooth.model.shapes.half_space import HALF_SPACE, HalfSpace
from nonsmooth.model.shapes.height_field import HEIGHT_FIELD, HeightField
from nonsmooth.model.shapes.mesh import MESH, Mesh
from nonsmooth.model.shapes.sphere import SPHERE, Sphere

PRIMITIVES: tuple[type[Primitive], ...] = (
    Sphere,
    HalfSpace,
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    ConvexHull,
    Mesh,
    HeightField,
    Cone,
)
"""All shapes that collision knows, in the order of their kinds."""

BY_KIND = {shape.kind: shape for shape in PRIMITIVES}
"""The class of every kind."""

BY_NAME = {shape.scene_name: shape for shape in PRIMITIVES}
"""The class of every name in scene files."""

__all__ = [
    "BOX",
    "BY_KIND",
    "BY_NAME",
    "CAPSULE",
    "CONE",
    "CONVEX_HULL",
    "CYLINDER",
    "ELLIPSOID",
    "HALF_SPACE",
    "HEIGHT_FIELD",
    "MESH",
    "PRIMITIVES",
    "SPHERE",
    "Box",
    "Capsule",
    "Compound",
    "Cone",
    "ConvexHull",
    "Cylinder",
    "Ellipsoid",
    "HalfSpace",
    "HeightField",
    "MassProperties",
    "Mesh",
    "Piece",
    "Primitive",
    "Shape",
    "Sphere",
]
