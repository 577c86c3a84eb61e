"""The cells of a height field that are near a box: found by their place alone, at a cost without tree."""

import math

from nonsmooth._support.jit import inner_kernel


@inner_kernel
def cell_range(meshes, mesh, box):
    """Cells (from i, to i, from j, to j) over which a box lies; the last ones are not included."""
    nx, ny = meshes.shape[mesh, 0], meshes.shape[mesh, 1]
    dx, dy, x, y = meshes.grid[mesh, 0], meshes.grid[mesh, 1], meshes.grid[mesh, 2], meshes.grid[mesh, 3]
    # one cell more on each side: rounding at a border between cells does no harm
    i_from = math.floor(min(max((box[0] - x) / dx - 1e-6, 0.0), nx - 1.0))
    j_from = math.floor(min(max((box[1] - y) / dy - 1e-6, 0.0), ny - 1.0))
    i_to = math.ceil(min(max((box[3] - x) / dx + 1e-6, 0.0), nx - 1.0))
    j_to = math.ceil(min(max((box[4] - y) / dy + 1e-6, 0.0), ny - 1.0))
    return int(i_from), int(i_to), int(j_from), int(j_to)


@inner_kernel
def cell_within(meshes, mesh, i, j, box):
    """True if the top of a cell reaches up into the box: what is solid below has no lower end."""
    ny = meshes.shape[mesh, 1]
    at = meshes.first[mesh, 4] + i * ny + j
    h = meshes.heights
    return max(h[at], h[at + 1], h[at + ny], h[at + ny + 1]) >= box[2]


@inner_kernel
def is_under(meshes, mesh, x, y, z):
    """True if a point over or under the grid lies below the surface of a height field."""
    nx, ny = meshes.shape[mesh, 0], meshes.shape[mesh, 1]
    u = (x - meshes.grid[mesh, 2]) / meshes.grid[mesh, 0]
    v = (y - meshes.grid[mesh, 3]) / meshes.grid[mesh, 1]
    if not (0.0 <= u <= nx - 1.0 and 0.0 <= v <= ny - 1.0):
        return False
    i, j = min(int(u), nx - 2), min(int(v), ny - 2)
    u, v = u - i, v - j
    at = meshes.first[mesh, 4] + i * ny + j
    h = meshes.heights
    a, b, c, d = h[at], h[at + ny], h[at + ny + 1], h[at + 1]  # (0, 0), (1, 0), (1, 1), (0, 1)
    height = a + u * (b - a) + v * (c - b) if u >= v else a + u * (c - d) + v * (d - a)
    return z <= height


@inner_kernel
def triangle_over(meshes, mesh, x, y):
    """Triangle of a height field above or below a place of its grid."""
    nx, ny = meshes.shape[mesh, 0], meshes.shape[mesh, 1]
    u, v = (
        (x - meshes.grid[mesh, 2]) / meshes.grid[mesh, 0],
        (y - meshes.grid[mesh, 3]) / meshes.grid[mesh, 1],
    )
    i, j = min(int(u), nx - 2), min(int(v), ny - 2)
    return 2 * (i * (ny - 1) + j) + (0 if u - i >= v - j else 1)
