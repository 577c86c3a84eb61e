"""Rows: points where a convex solid may touch a surface, before contacts are made of them.

A row of `spots` is here the point of the surface, the normal and the gap; `contact_sets` makes contacts
of it. All numbers are in the surface's frame.
"""

from nonsmooth._support.jit import inner_kernel
from nonsmooth.collision.kernels.directions.solids import support
from nonsmooth.collision.kernels.manifolds.support_features import support_feature

OF_FACE, OF_EDGE, OF_VERTEX = 0, 1, 2  # origins
WEAK = 4  # third tag of an edge whose lowest point is past its end: it touches along a vertex's direction
OUTSIDE, ASKED_FOR = 2, 3  # third tag of what is outside the solid, and if an overlap beside it is deeper
CORNER, RIM, CROSSING, EDGE = 0, 1, 2, 3  # first bits of marks
VERTEX_MARK = 7 << 59
IN_CONE = 1e-10  # slope up to which a direction is one of an edge or a vertex


@inner_kernel
def add_row(rows, count, origin, patch, concave, mark, x, y, z, nx, ny, nz, gap, most):
    """Write a row if there is room; the number of rows. `most` is the separation along the normal."""
    if count < rows.tags.shape[0]:
        rows.plane[count, 3], rows.plane[count, 4] = most, 0.0
        spot = rows.spots[count]
        spot[0], spot[1], spot[2] = x, y, z
        spot[3], spot[4], spot[5] = nx, ny, nz
        spot[6] = gap
        rows.marks[count] = mark
        tag = rows.tags[count]
        tag[0], tag[1], tag[2], tag[3] = origin, patch, concave, 0
    return count + 1


@inner_kernel
def solid_feature(solid, hulls, x, y, z, feature, side):
    """What the solid turns to the surface with normal (x, y, z): number of points, at least one.

    Sets the normal of what is no face to zero.
    """
    points = support_feature(solid, hulls, -x, -y, -z, feature, side)
    if points == 0:
        px, py, pz, label = support(solid, hulls, -x, -y, -z, 0)
        feature.points[side, 0, 0], feature.points[side, 0, 1], feature.points[side, 0, 2] = px, py, pz
        feature.labels[side, 0] = label
        points = 1
    if points < 3:
        feature.normal[side, :] = 0.0
    return points
