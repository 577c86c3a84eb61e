"""Shapes: geometry in a local frame, in metres, with volume, mass and inertia at uniform density.

One file per shape; `base.py` lists what a shape defines. Bounds, scene files, recordings and drawing find the
shapes in the table below.
"""

from nonsmooth.model.shapes.base import MassProperties, Piece, Primitive, Shape
from nonsmooth.model.shapes.box import BOX as BOX
from nonsmooth.model.shapes.box import Box
from nonsmooth.model.shapes.capsule import CAPSULE as CAPSULE
from nonsmooth.model.shapes.capsule import Capsule
from nonsmooth.model.shapes.compound import Compound
from nonsmooth.model.shapes.cone import CONE as CONE
from nonsmooth.model.shapes.cone import Cone
from nonsmooth.model.shapes.convex_hull import CONVEX_HULL as CONVEX_HULL
from nonsmooth.model.shapes.convex_hull import ConvexHull
from nonsmooth.model.shapes.cylinder import CYLINDER as CYLINDER
from nonsmooth.model.shapes.cylinder import Cylinder
from nonsmooth.model.shapes.ellipsoid import ELLIPSOID as ELLIPSOID
from nonsmooth.model.shapes.ellipsoid import Ellipsoid
from nonsmooth.model.shapes.half_space import HALF_SPACE as HALF_SPACE
from nonsmooth.model.shapes.half_space import HalfSpace
from nonsmooth.model.shapes.height_field import HEIGHT_FIELD as HEIGHT_FIELD
from nonsmooth.model.shapes.height_field import HeightField
from nonsmooth.model.shapes.mesh import MESH as MESH
from nonsmooth.model.shapes.mesh import Mesh
from nonsmooth.model.shapes.sphere import SPHERE as SPHERE
from nonsmooth.model.shapes.sphere import Sphere

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
"""All shapes supported by collision detection, in the order of their kinds."""

BY_KIND = {shape.kind: shape for shape in PRIMITIVES}
"""The class of every kind."""

BY_NAME = {shape.scene_name: shape for shape in PRIMITIVES}
"""The class of every name in scene files."""

__all__ = [
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
