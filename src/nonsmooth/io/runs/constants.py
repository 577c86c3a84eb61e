"""Constants of a run as arrays in a trajectory: bodies, shapes, materials, and joints."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth._support.registry import find_index, known_names
from nonsmooth.errors import FileFormatError, NonsmoothError, OptionError
from nonsmooth.io._arrays import Arrays, shaped, texts
from nonsmooth.io._hdf5 import FLOATS, Node
from nonsmooth.io.runs.joint_constants import joint_constants, joint_identity
from nonsmooth.model.materials import PairTable
from nonsmooth.model.shape_table import ShapeTable
from nonsmooth.model.shapes import BY_KIND, MESH, PRIMITIVES, Primitive
from nonsmooth.model.system import System

_INT32 = ("int32",)
_NO_ARRAYS = (np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int32))


@dataclass(frozen=True)
class RecordedBodies:
    """Constants of the n bodies."""

    mass: Floats
    """(n,) in kg; infinite for fixed bodies."""
    inertia: Floats
    """(n, 3, 3) in kg·m², body frame."""
    fixed: NDArray[np.bool_]
    """(n,) True for fixed bodies."""
    bounding_radius: Floats
    """(n,) in m, infinite for planes."""
    names: dict[str, int]
    """Index of every body that has a name."""
    place: str
    """The file, for messages."""

    def index(self, body: int | str) -> int:
        """Return the index of a body given by index or name; an unknown one is an error."""
        found = find_index(body, self.names, len(self.mass))
        if found is None:
            known = known_names(body, list(self.names))
            raise OptionError(
                f"body {body!r} is not in {self.place}: there are {len(self.mass)}, "
                f"and those with a name are {known}"
            )
        return found


@dataclass(frozen=True)
class RecordedMaterials:
    """The m materials and the properties of their pairs."""

    names: tuple[str, ...]
    pairs: PairTable


def constants(system: System) -> Arrays:
    """Return the constants as arrays."""
    table = system.shapes
    names = sorted(system.names.items(), key=lambda item: item[1])
    stored = {row: shape.stored for row, shape in enumerate(table.objects)}
    solids = {row: arrays for row, arrays in stored.items() if arrays is not None}
    vertices = [array for array, _ in solids.values()]
    triangles = [array for _, array in solids.values()]
    pairs = system.materials.pair_table()
    arrays: Arrays = {
        "bodies/mass": (system.mass, "kg"),
        "bodies/inertia": (system.inertia, "kg·m²"),
        "bodies/fixed": (system.fixed.astype(np.int32), "1 where fixed"),
        "bodies/bounding_radius": (system.bounding_radius, "m"),
        "bodies/name": (texts([name for name, _ in names]), "name"),
        "bodies/named": (np.array([index for _, index in names], dtype=np.int32), "index of the body named"),
        "shapes/body": (table.body, "index of a body"),
        "shapes/kind": (table.kind, ", ".join(f"{shape.kind} {shape.title}" for shape in PRIMITIVES)),
        "shapes/size": (np.ascontiguousarray(table.size[:, :3]), "m"),
        "shapes/offset": (table.offset, "m"),
        "shapes/rotation": (table.rotation, "unit quaternion (w, x, y, z)"),
        "shapes/material": (table.material, "index of a material"),
        "shapes/solid": (np.array(list(solids), dtype=np.int32), "index of a shape that has vertices"),
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
    if table.size[:, 3].any():
        arrays["shapes/rounding"] = (table.size[:, 3].copy(), "m")
    for name, values in pairs._asdict().items():
        arrays[f"materials/{name}"] = (values, "1")
    poisson = system.materials.poisson_pairs()
    if poisson.any():  # older recordings have only Newton's law
        arrays["materials/poisson"] = (poisson.astype(np.int32), "1 where Poisson's law of impact holds")
    return arrays | joint_constants(system)


def version(arrays: Arrays) -> int:
    """Return the version of the format: 2 for shapes that version 1 cannot store or does not support."""
    newer = "shapes/rounding" in arrays or np.any(arrays["shapes/kind"][0] > MESH)
    return 2 if newer else 1


def fingerprint(system: System, arrays: Arrays, *choices: object) -> str:
    """Hash the initial state and the recording options, which must be the same to continue a run."""
    digest = hashlib.sha256(repr(choices).encode())
    state = (system.position, system.quaternion, system.linear_velocity, system.angular_velocity)
    kept = (array for array, _ in arrays.values())
    for values in (*kept, system.gravity, *state, *joint_identity(system)):
        digest.update(repr((values.shape, str(values.dtype))).encode())
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()


def read_bodies(root: Node, place: str) -> RecordedBodies:
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
        place=place,
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
    """Read the shapes and rebuild them."""
    node = root.group("shapes")
    rows = {"size": (3,), "offset": (3,), "rotation": (4,)}
    body = node.read("body", _INT32)
    columns = {
        name: shaped(node, name, node.read(name, FLOATS if name in rows else _INT32), (len(body), *row))
        for name, row in {"kind": (), **rows, "material": ()}.items()
    }
    rounding = np.zeros(len(body))
    if node.has("rounding"):
        rounding = shaped(node, "rounding", node.read("rounding"), body.shape)
    columns["size"] = np.column_stack([columns["size"], rounding])
    counts = [node.read(f"{part}_count", _INT32) for part in ("vertex", "triangle")]
    vertices = np.split(node.read("vertices"), np.cumsum(counts[0])[:-1])
    triangles = np.split(node.read("triangles", _INT32), np.cumsum(counts[1])[:-1])
    solids = dict(
        zip(node.read("solid", _INT32).tolist(), zip(vertices, triangles, strict=True), strict=False)
    )
    known: dict[tuple[float, ...], Primitive] = {}  # spheres of one size are one object
    objects = []
    try:
        for row, (kind, size) in enumerate(
            zip(columns["kind"].tolist(), columns["size"].tolist(), strict=True)
        ):
            if row in solids:
                objects.append(BY_KIND[kind].rebuilt(tuple(size), *solids[row]))
            else:
                if (kind, *size) not in known:
                    known[kind, *size] = BY_KIND[kind].rebuilt(tuple(size), *_NO_ARRAYS)
                objects.append(known[kind, *size])
    except (NonsmoothError, KeyError) as error:
        raise FileFormatError(f"{node.path} holds no valid shapes: {error}") from error
    return ShapeTable(body=body, **columns, objects=tuple(objects))
