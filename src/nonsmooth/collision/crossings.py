"""A warning about meshes that intersect themselves."""

from __future__ import annotations

from weakref import WeakSet

import numpy as np

from nonsmooth._support.notes import tell
from nonsmooth.collision.pieces import surface_of
from nonsmooth.collision.surfaces import crossing
from nonsmooth.errors import GeometryWarning
from nonsmooth.model.shapes import MESH, Mesh
from nonsmooth.model.system import System

_LOOKED_AT: WeakSet[Mesh] = WeakSet()


def tell_of_crossings(system: System) -> None:
    """Warn of meshes that intersect themselves, once for each mesh."""
    table = system.shapes
    for row in np.flatnonzero(table.kind == MESH).tolist():
        mesh = table.objects[row]
        if not isinstance(mesh, Mesh) or mesh in _LOOKED_AT:
            continue
        _LOOKED_AT.add(mesh)
        place = crossing(surface_of(mesh)[0])
        if place is not None:
            near = np.array2string(place, separator=", ", precision=6)
            tell(
                f"{system.label(int(table.body[row]))}: its mesh intersects itself, as near {near} m in the "
                "mesh's frame: contacts are found, but parts that overlap count twice in mass and inertia; "
                "give mass and inertia, or repair the mesh",
                GeometryWarning,
            )
