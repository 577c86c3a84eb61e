"""What does not change in a run, as arrays in a trajectory: bodies, shapes, materials, and joints."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from nonsmooth.errors import FileFormatError, NonsmoothError
from nonsmooth.io._arrays import Arrays, shaped, texts
from nonsmooth.io._hdf5 import FLOATS, Node
from nonsmooth.io._joint_constants import joint_constants, joint_identity
from nonsmooth.model import shapes as kinds
from nonsmooth.model.materials import PairTable
from nonsmooth.model.shape_table import ShapeTable
from nonsmooth.model.system import System

Floats = NDArray[np.float64]

_INT32 = ("int32",)


@dataclass(frozen=True)
class RecordedBodies:
    """Constants of the n bodies."""

    mass: Floats
    """(n,) in kg; infinite where fixed."""
    inertia: Floats
    """(n, 3, 3) in kg·m², body frame."""
    fixed: NDArray[np.bool_]
    """(n,) where bodies cannot be pushed."""
    bounding_radius: Floats
    """(n,) in m, infinite for planes."""
    names: dict[str, int]
    """Index of every body that has a name."""


@dataclass(frozen=True)
class RecordedMaterials:
    """The m materials and what holds where two of them meet."""

    names: tuple[str, ...]
    pairs: PairTable


def constants(system: System) -> Arrays:
    """Return what does not change, as arrays."""
    table = system.shapes
    names = sorted(system.names.items(), key=lambda item: item[1])
    solids = [getattr(shape, "vertices", None) is not None for shape in table.objects]
    vertices = [shape.vertices for shape, solid in zip(table.objects, solids, strict=True) if solid]  # type: ignore[attr-defined]
    triangles = [shape.triangles for shape, solid in zip(table.objects, solids, strict=True) if solid]  # type: ignore[attr-defined]
    pairs = system.materials.pair_table()
    arrays: Arrays = {
        "bodies/mass": (system.mass, "kg"),
        "bodies/inertia": (system.inertia, "kg·m²"),
        "bodies/fixed": (system.fixed.astype(np.int32), "1 where fixed"),
        "bodies/bounding_radius": (system.bounding_radius, "m"),
        "bodies/name": (texts([name for name, _ in names]), "name"),
        "bodies/named": (np.array([index for _, index in names], dtype=np.int32), "index of the body named"),
        "shapes/body": (table.body, "index of a body"),
        "shapes/kind": (
            table.kind,
            "0 sphere, 1 half-space, 2 box, 3 capsule, 4 cylinder, 5 ellipsoid, 6 convex hull, 7 mesh",
        ),
        "shapes/size": (table.size, "m"),
        "shapes/offset": (table.offset, "m"),
        "shapes/rotation": (table.rotation, "unit quaternion (w, x, y, z)"),
        "shapes/material": (table.material, "index of a material"),
        "shapes/solid": (np.flatnonzero(solids).astype(np.int32), "index of a shape that has vertices"),
        "shapes/vertex_count": (
            np.array([len(v) for v in vertices], dtype=np.int32),
            "of that shape",
        ),
        "shapes/triangle_count": (
            np.array([len(t) for t in triangles], dtype=np.int32),
            "of that shape",
        ),
        "shapes/vertices": (np.concatenate([np.zeros((0, 3)), *vertices]), "m"),
        "shapes/triangles": (
            np.concatenate([np.zeros((0, 3), dtype=np.int32), *triangles]).astype(np.int32),
            "index of a vertex of that shape",
        ),
        "materials/name": (texts(list(system.materials.names)), "name"),
    }
    for name, values in pairs._asdict().items():
        arrays[f"materials/{name}"] = (values, "1")
    return arrays | joint_constants(system)


def fingerprint(system: System, arrays: Arrays, *choices: object) -> str:
    """Hash what a run starts from, and what of it is recorded: only the same can be continued."""
    digest = hashlib.sha256(repr(choices).encode())
    state = (system.position, system.quaternion, system.linear_velocity, system.angular_velocity)
    kept = (array for array, _ in arrays.values())
    for values in (*kept, system.gravity, *state, *joint_identity(system)):
        digest.update(repr((values.shape, str(values.dtype))).encode())
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()


def read_bodies(root: Node) -> RecordedBodies:
    """Read the constants of the bodies."""
    node = root.group("bodies")
    mass = node.read("mass")
    names = [bytes(name).decode() for name in node.read_text("name")]
    return RecordedBodies(
        mass=mass,
        inertia=shaped(node, "inertia", node.read("inertia"), (len(mass), 3, 3)),
        fixed=shaped(node, "fixed", node.read("fixed", _INT32), mass.shape) != 0,
        bounding_radius=shaped(node, "bounding_radius", node.read("bounding_radius"), mass.shape),
        names=dict(zip(names, node.read("named", _INT32).tolist(), strict=True)),
    )


def read_materials(root: Node) -> RecordedMaterials:
    """Read the materials."""
    node = root.group("materials")
    names = tuple(bytes(name).decode() for name in node.read_text("name"))
    shape = (len(names), len(names))
    return RecordedMaterials(
        names, PairTable(*(shaped(node, name, node.read(name), shape) for name in PairTable._fields))
    )


def read_shapes(root: Node) -> ShapeTable:
    """Read the shapes and build them anew."""
    node = root.group("shapes")
    rows = {"size": (3,), "offset": (3,), "rotation": (4,)}
    body = node.read("body", _INT32)
    columns = {
        name: shaped(node, name, node.read(name, FLOATS if name in rows else _INT32), (len(body), *row))
        for name, row in {"kind": (), **rows, "material": ()}.items()
    }
    counts = [node.read(f"{part}_count", _INT32) for part in ("vertex", "triangle")]
    vertices = np.split(node.read("vertices"), np.cumsum(counts[0])[:-1])
    triangles = np.split(node.read("triangles", _INT32), np.cumsum(counts[1])[:-1])
    solids = dict(
        zip(node.read("solid", _INT32).tolist(), zip(vertices, triangles, strict=True), strict=False)
    )
    try:
        objects = tuple(
            _solid(kind, *solids[row]) if kind in (kinds.CONVEX_HULL, kinds.MESH) else _primitive(kind, *size)
            for row, (kind, size) in enumerate(
                zip(columns["kind"].tolist(), columns["size"].tolist(), strict=True)
            )
        )
    except (NonsmoothError, KeyError) as error:
        raise FileFormatError(f"{node.path} holds no valid shapes: {error}") from error
    return ShapeTable(body=body, **columns, objects=objects)


def _solid(kind: int, vertices: Floats, triangles: NDArray[np.int32]) -> kinds.Primitive:
    return kinds.ConvexHull(vertices) if kind == kinds.CONVEX_HULL else kinds.Mesh(vertices, triangles)


@cache
def _primitive(kind: int, x: float, y: float, z: float) -> kinds.Primitive:
    """The shape that has these three numbers in `ShapeTable.size`; spheres of one size are one object."""
    makers: dict[int, Callable[[], kinds.Primitive]] = {
        kinds.SPHERE: lambda: kinds.Sphere(x),
        kinds.HALF_SPACE: kinds.HalfSpace,
        kinds.BOX: lambda: kinds.Box((2 * x, 2 * y, 2 * z)),
        kinds.CAPSULE: lambda: kinds.Capsule(x, 2 * y),
        kinds.CYLINDER: lambda: kinds.Cylinder(x, 2 * y),
        kinds.ELLIPSOID: lambda: kinds.Ellipsoid((x, y, z)),
    }
    return makers[kind]()
