"""A triangle of one of two surfaces with what is beside it, and slopes at its edges and vertices."""

import math

from nonsmooth._support.jit import inner_kernel
from nonsmooth.collision.kernels.directions.solids import to_local, to_world
from nonsmooth.collision.kernels.surfaces.arrays import (
    BORDER,
    OWN_EDGE,
    beside,
    corner,
    edge_kind,
    load_triangle,
    outward,
    steepest,
    triangle_normal,
    vertex,
)


@inner_kernel
def load_side(meshes, mesh, triangle, corners, numbers, normals):
    """Load a triangle and `normals` (7, 3): across its edges, its own; and far vertices across the edges."""
    load_triangle(meshes, mesh, triangle, corners, numbers)
    normals[3, 0], normals[3, 1], normals[3, 2] = triangle_normal(meshes, mesh, triangle)
    for k in range(3):
        if numbers[3] >> (OWN_EDGE + k) & 1 and edge_kind(numbers[3], k) != BORDER:
            other = beside(meshes, mesh, triangle, k)
            normals[k, 0], normals[k, 1], normals[k, 2] = triangle_normal(meshes, mesh, other)
            far = -numbers[k] - numbers[(k + 1) % 3]
            for i in range(3):
                far += corner(meshes, mesh, other, i)
            normals[4 + k, 0], normals[4 + k, 1], normals[4 + k, 2] = vertex(meshes, mesh, far)


@inner_kernel
def turn_side(axes, x, y, z, corners, normals):
    """Move a loaded triangle into the frame in which its own frame has these axes and origin."""
    for k in range(3):
        px, py, pz = to_world(axes, corners[0, k], corners[1, k], corners[2, k])
        corners[0, k], corners[1, k], corners[2, k] = x + px, y + py, z + pz
    for k in range(4):
        normals[k, 0], normals[k, 1], normals[k, 2] = to_world(
            axes, normals[k, 0], normals[k, 1], normals[k, 2]
        )
    for k in range(4, 7):
        px, py, pz = to_world(axes, normals[k, 0], normals[k, 1], normals[k, 2])
        normals[k, 0], normals[k, 1], normals[k, 2] = x + px, y + py, z + pz


@inner_kernel
def span(corners, x, y, z):
    """Least and greatest height of a triangle along (x, y, z)."""
    a = x * corners[0, 0] + y * corners[1, 0] + z * corners[2, 0]
    b = x * corners[0, 1] + y * corners[1, 1] + z * corners[2, 1]
    c = x * corners[0, 2] + y * corners[1, 2] + z * corners[2, 2]
    return min(a, b, c), max(a, b, c)


@inner_kernel
def edge(corners, k):
    """First point, unit direction and length of edge k."""
    j = (k + 1) % 3
    x, y, z = corners[0, j] - corners[0, k], corners[1, j] - corners[1, k], corners[2, j] - corners[2, k]
    length = math.sqrt(x * x + y * y + z * z)
    return corners[0, k], corners[1, k], corners[2, k], x / length, y / length, z / length, length


@inner_kernel
def slope_on_arc(normals, k, border, ex, ey, ez, x, y, z):
    """Greatest slope up along (x, y, z) of the two faces beside edge k, with unit direction (e), from it."""
    nx, ny, nz = normals[3, 0], normals[3, 1], normals[3, 2]
    most = x * (ny * ez - nz * ey) + y * (nz * ex - nx * ez) + z * (nx * ey - ny * ex)
    if not border:
        nx, ny, nz = normals[k, 0], normals[k, 1], normals[k, 2]
        most = max(most, -(x * (ny * ez - nz * ey) + y * (nz * ex - nx * ez) + z * (nx * ey - ny * ex)))
    return most


@inner_kernel
def front(normals, k, border, x, y, z):
    """Positive if (x, y, z) leads out of the material at edge k."""
    front = x * normals[3, 0] + y * normals[3, 1] + z * normals[3, 2]
    if not border:
        front += x * normals[k, 0] + y * normals[k, 1] + z * normals[k, 2]
    return front


@inner_kernel
def depth_beside(corners, normals, k, border, x, y, z):
    """How far the faces beside edge k lead down along (x, y, z) from it."""
    low = x * corners[0, (k + 2) % 3] + y * corners[1, (k + 2) % 3] + z * corners[2, (k + 2) % 3]
    if not border:
        low = min(low, x * normals[4 + k, 0] + y * normals[4 + k, 1] + z * normals[4 + k, 2])
    return x * corners[0, k] + y * corners[1, k] + z * corners[2, k] - low


@inner_kernel
def slope_at(meshes, mesh, v, axes, x, y, z):
    """Greatest slope up along (x, y, z) from a vertex, or 1 if that leads into the material."""
    lx, ly, lz = to_local(axes, x, y, z)
    ox, oy, oz = outward(meshes, mesh, v)
    if ox * lx + oy * ly + oz * lz < 0.0:
        return 1.0
    return steepest(meshes, mesh, v, lx, ly, lz)
