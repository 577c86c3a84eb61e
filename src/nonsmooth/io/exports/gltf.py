"""Scenes in glTF's binary form (.glb), for browsers, Blender and office programs.

The file is one header, the scene as JSON, and one block of numbers. Geometry that several nodes show is
stored once; glTF's y points up, so all nodes are children of one that rotates our z there.
"""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth.io._hdf5 import FilePath, writing

_FLOAT, _UINT16, _UINT32 = 5126, 5123, 5125
_VERTICES, _INDICES = 34962, 34963
_Z_UP = [-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]
"""A quarter turn about x, as (x, y, z, w)."""

Colour = tuple[int, int, int]
"""Red, green, blue from 0 to 255, in sRGB."""


class GltfScene:
    """A scene under construction.

    Args:
        generator: the program that writes it.
        extras: facts about the whole scene, such as its time.
    """

    def __init__(self, generator: str, extras: dict[str, Any] | None = None) -> None:
        self._generator, self._extras = generator, extras or {}
        self._block = bytearray()
        self._views: list[dict[str, Any]] = []
        self._accessors: list[dict[str, Any]] = []
        self._geometries: list[dict[str, Any]] = []
        self._materials: dict[Colour, int] = {}
        self._meshes: dict[tuple[int, Colour], int] = {}
        self._nodes: list[dict[str, Any]] = [{"name": "z up", "rotation": _Z_UP, "children": []}]

    def add_geometry(self, vertices: ArrayLike, normals: ArrayLike, faces: NDArray[np.int32]) -> int:
        """Store triangles (f, 3) of vertices (v, 3) in m with unit normals (v, 3); return their number."""
        places = np.asarray(vertices, dtype=np.float32)
        bounds = {"min": places.min(axis=0).tolist(), "max": places.max(axis=0).tolist()}
        attributes = {
            "POSITION": self._add_accessor(places, "VEC3", _FLOAT, _VERTICES, **bounds),
            "NORMAL": self._add_accessor(np.asarray(normals, dtype=np.float32), "VEC3", _FLOAT, _VERTICES),
        }
        small = len(places) < 2**16 - 1
        rows = faces.ravel().astype(np.uint16 if small else np.uint32)
        indices = self._add_accessor(rows, "SCALAR", _UINT16 if small else _UINT32, _INDICES)
        self._geometries.append({"attributes": attributes, "indices": indices})
        return len(self._geometries) - 1

    def mesh(self, geometry: int, colour: Colour) -> int:
        """Return the number of the mesh of a geometry in a colour; it is created if there is none."""
        self._materials.setdefault(colour, len(self._materials))
        return self._meshes.setdefault((geometry, colour), len(self._meshes))

    def add_node(
        self,
        name: str,
        *,
        position: ArrayLike = (0.0, 0.0, 0.0),
        quaternion: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        scale: ArrayLike = 1.0,
        mesh: int | None = None,
        parent: int = 0,
        extras: dict[str, Any] | None = None,
    ) -> int:
        """Add a node and return its number.

        `position` (3,) in m, `quaternion` (w, x, y, z) and `scale`, one for all axes or (3,), are relative to
        the parent; the default is the world, z up.
        """
        w, x, y, z = np.asarray(quaternion, dtype=np.float64).tolist()
        node: dict[str, Any] = {
            "name": name,
            "translation": np.asarray(position, dtype=np.float64).tolist(),
            "rotation": [x, y, z, w],
        }
        if np.any(np.asarray(scale) != 1.0):
            node["scale"] = np.broadcast_to(np.asarray(scale, dtype=np.float64), 3).tolist()
        if mesh is not None:
            node["mesh"] = mesh
        if extras:
            node["extras"] = extras
        self._nodes.append(node)
        number = len(self._nodes) - 1
        self._nodes[parent].setdefault("children", []).append(number)
        return number

    def write(self, path: FilePath) -> None:
        """Write the scene atomically."""
        text = json.dumps(
            self._as_json(), ensure_ascii=False, separators=(",", ":"), allow_nan=False
        ).encode()
        chunks = [(b"JSON", text + b" " * (-len(text) % 4))]
        if self._block:
            chunks.append((b"BIN\0", bytes(self._block)))
        body = b"".join(struct.pack("<I4s", len(data), kind) + data for kind, data in chunks)
        scratch = Path(f"{os.fspath(path)}.part")
        with writing(path):
            try:
                scratch.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body)
                os.replace(scratch, path)
            finally:
                scratch.unlink(missing_ok=True)

    def _as_json(self) -> dict[str, Any]:
        content: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": self._generator},
            "scene": 0,
            "scenes": [{"nodes": [0], "extras": self._extras}],
            "nodes": self._nodes,
        }
        if not self._nodes[0]["children"]:
            del self._nodes[0]["children"]
        if self._meshes:
            content |= {
                "meshes": [
                    {"primitives": [{**self._geometries[geometry], "material": self._materials[colour]}]}
                    for geometry, colour in self._meshes
                ],
                "materials": [_material(colour) for colour in self._materials],
                "accessors": self._accessors,
                "bufferViews": self._views,
                "buffers": [{"byteLength": len(self._block)}],
            }
        return content

    def _add_accessor(self, values: NDArray[Any], kind: str, component: int, use: int, **more: Any) -> int:
        data = values.astype(values.dtype.newbyteorder("<")).tobytes()
        view = {"buffer": 0, "byteOffset": len(self._block), "byteLength": len(data), "target": use}
        self._block += data + bytes(-len(data) % 4)
        self._views.append(view)
        accessor = {"bufferView": len(self._views) - 1, "componentType": component, "type": kind}
        self._accessors.append({**accessor, "count": len(values), **more})
        return len(self._accessors) - 1


def _material(colour: Colour) -> dict[str, Any]:
    """A matt surface; glTF uses linear light, not sRGB.

    It is visible only from outside, so that walls do not hide the contents of a container.
    """
    share = np.array(colour) / 255.0
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return {
        "pbrMetallicRoughness": {
            "baseColorFactor": [*linear.tolist(), 1.0],
            "metallicFactor": 0.0,
            "roughnessFactor": 0.6,
        }
    }
