"""Shapes that are wholly inside the solid that a surface bounds, where they meet none of its triangles.

A closed mesh bounds a solid, a height field all that is below it; an open mesh bounds none. The contact of
such a deep overlap leads out by the nearest way: its direction is that from the middle of the shape to the
nearest point of the surface, its depth the length after which all of the shape is past the plane across that
direction there.
"""

import math

from nonsmooth._support.jit import inner_kernel
from nonsmooth.collision.kernels.directions.solids import CONVEX_HULL, support, to_local, to_world
from nonsmooth.collision.kernels.manifolds.manifold import set_spot
from nonsmooth.collision.kernels.surfaces.arrays import corner, is_closed, is_field, triangle_normal, vertex
from nonsmooth.collision.kernels.surfaces.depth import depth_in_mesh
from nonsmooth.collision.kernels.surfaces.height_fields import is_under, triangle_over
from nonsmooth.collision.kernels.surfaces.meshes import place_solid

_MARK = 7 << 60


@inner_kernel
def _way_out(meshes, mesh, x, y, z, work):
    """True if a point is in the solid of a surface; the point where it leaves it, and the direction."""
    if is_field(meshes, mesh):
        if not is_under(meshes, mesh, x, y, z):
            return False, x, y, z, 0.0, 0.0, 1.0
        t = triangle_over(meshes, mesh, x, y)
        nx, ny, nz = triangle_normal(meshes, mesh, t)
        ax, ay, az = vertex(meshes, mesh, corner(meshes, mesh, t, 0))
        return True, x, y, az - (nx * (x - ax) + ny * (y - ay)) / nz, nx, ny, nz
    root = meshes.first[mesh, 3]
    for k in range(3):
        value = x if k == 0 else (y if k == 1 else z)
        if value < meshes.boxes[root, k] or value > meshes.boxes[root, 3 + k]:
            return False, x, y, z, 0.0, 0.0, 1.0
    if not is_closed(meshes, mesh):
        return False, x, y, z, 0.0, 0.0, 1.0
    depth, nx, ny, nz = depth_in_mesh(meshes, mesh, x, y, z, work.box, work.stack[0], work.corners)
    return depth < 0.0, x - depth * nx, y - depth * ny, z - depth * nz, nx, ny, nz


@inner_kernel
def _write(place, sign, x, y, z, nx, ny, nz, gap, spots, marks):
    """Write the contact at (x, y, z) of the surface, along n of its frame, or turned if sign is −1."""
    axes, half = place.axes, 0.5 * gap
    x, y, z = to_world(axes, x + half * nx, y + half * ny, z + half * nz)
    nx, ny, nz = to_world(axes, sign * nx, sign * ny, sign * nz)
    set_spot(spots, marks, 0, _MARK, x + place.x, y + place.y, z + place.z, nx, ny, nz, gap)
    return 1


@inner_kernel
def _mean(vertices, first, end):
    """Mean of the vertices first … end − 1."""
    x = y = z = 0.0
    for v in range(first, end):
        x, y, z = x + vertices[v, 0], y + vertices[v, 1], z + vertices[v, 2]
    return x / (end - first), y / (end - first), z / (end - first)


@inner_kernel
def solid_inside(place, solid, meshes, hulls, work, spots, marks):
    """The contact of a surface with a solid that is wholly inside; 1, or 0 if it is not."""
    q = place_solid(solid, place.x, place.y, place.z, place.axes, work)
    x, y, z = q.x, q.y, q.z
    if q.kind == CONVEX_HULL:
        first, end = hulls.first[q.hull, 0], hulls.first[q.hull + 1, 0]
        x, y, z = _mean(hulls.vertices, first, end)
        x, y, z = to_world(q.axes, x, y, z)
        x, y, z = x + q.x, y + q.y, z + q.z
    inside, x, y, z, nx, ny, nz = _way_out(meshes, place.piece, x, y, z, work)
    if not inside:
        return 0
    ax, ay, az, _ = support(q, hulls, -nx, -ny, -nz, 0)
    gap = nx * (ax - x) + ny * (ay - y) + nz * (az - z) - q.radius
    return _write(place, 1.0, x, y, z, nx, ny, nz, gap, spots, marks) if gap < 0.0 else 0


@inner_kernel
def _surface_inside(place, other, sign, meshes, work, spots, marks):
    """The contact of a surface with a mesh that is wholly inside; sign is −1 if the first shape is inside."""
    base = meshes.first[other.piece, 0]
    if is_field(meshes, other.piece):
        return 0
    end = meshes.first[other.piece + 1, 0]
    vertices = meshes.vertices
    ax, ay, az = _seen_from(place, other, vertices[base, 0], vertices[base, 1], vertices[base, 2])
    inside, x, y, z, nx, ny, nz = _way_out(meshes, place.piece, ax, ay, az, work)
    if not inside:
        return 0
    # a vertex tells whether all is inside, the middle finds the better way
    mx, my, mz = _mean(vertices, base, end)
    ax, ay, az = _seen_from(place, other, mx, my, mz)
    central, ax, ay, az, bx, by, bz = _way_out(meshes, place.piece, ax, ay, az, work)
    if central:
        x, y, z, nx, ny, nz = ax, ay, az, bx, by, bz
    gap = math.inf
    for v in range(base, end):
        ax, ay, az = _seen_from(place, other, vertices[v, 0], vertices[v, 1], vertices[v, 2])
        gap = min(gap, nx * (ax - x) + ny * (ay - y) + nz * (az - z))
    return _write(place, sign, x, y, z, nx, ny, nz, gap, spots, marks) if gap < 0.0 else 0


@inner_kernel
def _seen_from(place, other, x, y, z):
    """A point of one surface in the frame of another."""
    x, y, z = to_world(other.axes, x, y, z)
    return to_local(place.axes, x + other.x - place.x, y + other.y - place.y, z + other.z - place.z)


@inner_kernel
def surface_inside(place, other, meshes, work, spots, marks):
    """The contact of two surfaces of which one is wholly inside the other; 1, or 0 if none is."""
    found = _surface_inside(place, other, 1.0, meshes, work, spots, marks)
    if found == 0:
        found = _surface_inside(other, place, -1.0, meshes, work, spots, marks)
    return found
