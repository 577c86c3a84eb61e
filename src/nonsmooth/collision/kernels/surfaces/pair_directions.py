"""One direction for all points of two surfaces that lie along one another but for a tilt."""

import math

from nonsmooth._support.jit import inner_kernel
from nonsmooth.collision.kernels.surfaces.contact_sets import COMING, NEARLY
from nonsmooth.collision.kernels.surfaces.features.edges_along import ALONG, fits_along, turn_along

_OPEN, _DROPPED, _KEPT = 0, 1, 2
EXACT = 1  # third tag of a direction that holds
_DEEP = 1e-3  # part of the size from which on other contacts may show that edges do not overlap
_MOST = 16  # edges that may come to touch
_BESIDE = 5e-6  # part of the size by which a new direction may move a point along its face or edge
FACE_OF_FIRST, FACE_OF_SECOND, EDGES = 0, 1, 2  # first bits of marks: a vertex on a face, edges that cross


@inner_kernel
def _together(spots, i, j, tiny):
    """True if two rows lie nearly in one plane and nearly along one direction."""
    nx, ny, nz = spots[i, 3], spots[i, 4], spots[i, 5]
    if nx * spots[j, 3] + ny * spots[j, 4] + nz * spots[j, 5] < 1.0 - NEARLY:
        return False
    x, y, z = spots[j, 0] - spots[i, 0], spots[j, 1] - spots[i, 1], spots[j, 2] - spots[i, 2]
    return abs(nx * x + ny * y + nz * z) <= 0.015 * math.sqrt(x * x + y * y + z * z) + tiny


@inner_kernel
def choose_pair_directions(rows, count, size, tiny):
    """Give rows the direction of an exact one (tag 2) near by; rows without one are dropped."""
    spots, tags = rows.spots, rows.tags
    for i in range(count):
        tags[i, 3] = _OPEN
    while True:
        best = -1
        for i in range(count):
            if tags[i, 3] == _OPEN and tags[i, 2] == EXACT and (best < 0 or spots[i, 6] < spots[best, 6]):
                best = i
        if best < 0:
            break
        lead = best
        if spots[best, 6] < 0.0:
            # in overlap the direction of the least depth is the best
            for i in range(count):
                if (
                    tags[i, 3] == _OPEN
                    and tags[i, 2] == EXACT
                    and spots[i, 6] > spots[lead, 6]
                    and _is_lowest(spots, tags, i, best, count, tiny)
                ):
                    lead = i
        direction = spots[lead, 3], spots[lead, 4], spots[lead, 5]
        most = spots[lead, 6]
        for i in range(count):
            if (
                tags[i, 3] == _OPEN
                and tags[i, 2] != COMING
                and rows.marks[i] >> 60 != ALONG
                and (i == best or _together(spots, best, i, tiny))
            ):
                rows.plane[i, 3] = most
                if i == lead or _turn_row(rows, i, direction, size, tiny) or tags[i, 2] == EXACT:
                    tags[i, 3] = _KEPT
                elif rows.marks[i] >> 60 != EDGES:
                    tags[i, 3] = _KEPT  # along the normal of its face
                else:
                    tags[i, 3] = _DROPPED
    _choose_along(rows, count, size, tiny)
    for i in range(count):
        if tags[i, 3] == _OPEN and tags[i, 2] != COMING:
            tags[i, 3] = _DROPPED
        elif tags[i, 2] == EXACT and rows.marks[i] >> 60 == EDGES and spots[i, 6] < -_DEEP * size:
            tags[i, 2] = 0
    _keep_nearest_coming(spots, tags, count)


@inner_kernel
def _choose_along(rows, count, size, tiny):
    """Give ends of edges that lie along one another the best direction that was found for these edges."""
    tags, plane = rows.tags, rows.plane
    for i in range(count):
        if rows.marks[i] >> 60 != ALONG:
            continue
        lead = -1
        for j in range(count):
            if (
                tags[j, 3] == _KEPT
                and tags[j, 2] == EXACT
                and (lead < 0 or plane[j, 3] > plane[lead, 3])
                and fits_along(rows, i, j, _BESIDE * size, tiny)
            ):
                lead = j
        if lead >= 0:
            turn_along(rows, i, lead)
            if not _is_there(rows, i, count, _BESIDE * size):
                tags[i, 3] = _KEPT


@inner_kernel
def _is_there(rows, i, count, near):
    """True if a row that stays has the point and nearly the direction of row i."""
    spots = rows.spots
    for j in range(count):
        if rows.tags[j, 3] != _KEPT:
            continue
        x, y, z = spots[j, 0] - spots[i, 0], spots[j, 1] - spots[i, 1], spots[j, 2] - spots[i, 2]
        cosine = spots[i, 3] * spots[j, 3] + spots[i, 4] * spots[j, 4] + spots[i, 5] * spots[j, 5]
        if x * x + y * y + z * z <= near * near and cosine > 1.0 - NEARLY:
            return True
    return False


@inner_kernel
def _keep_nearest_coming(spots, tags, count):
    """Keep the nearest of the edges that may come to touch."""
    for _ in range(_MOST):
        best = -1
        for i in range(count):
            if tags[i, 3] == _OPEN and (best < 0 or spots[i, 6] < spots[best, 6]):
                best = i
        if best < 0:
            return
        tags[best, 3] = _KEPT
    for i in range(count):
        if tags[i, 3] == _OPEN:
            tags[i, 3] = _DROPPED


@inner_kernel
def _turn_row(rows, i, direction, size, tiny):
    """Give row i another direction: its points slide along their face or edges until they lie along it.

    False if they would leave these, or are a vertex and the nearest point to it: the row stays as it is.
    """
    spot = rows.spots[i]
    nx, ny, nz = direction
    along = nx * spot[3] + ny * spot[4] + nz * spot[5]
    gap = spot[6] / along
    x, y, z = gap * nx - spot[6] * spot[3], gap * ny - spot[6] * spot[4], gap * nz - spot[6] * spot[5]
    what, slide = rows.marks[i] >> 60, 0.0
    if what > EDGES or x * x + y * y + z * z > (_BESIDE * size + tiny) ** 2:
        return False
    if what == FACE_OF_FIRST:
        spot[0], spot[1], spot[2] = spot[0] - x, spot[1] - y, spot[2] - z
        slide = math.sqrt(x * x + y * y + z * z)
    elif what == EDGES:
        # (x, y, z) is q v - p u for the unit vectors u, v along both edges
        u, v = rows.ways[i, :3], rows.ways[i, 3:]
        cosine = u[0] * v[0] + u[1] * v[1] + u[2] * v[2]
        on_u, on_v = u[0] * x + u[1] * y + u[2] * z, v[0] * x + v[1] * y + v[2] * z
        p = (cosine * on_v - on_u) / (1.0 - cosine * cosine)
        spot[0], spot[1], spot[2] = spot[0] + p * u[0], spot[1] + p * u[1], spot[2] + p * u[2]
        slide = abs(p)
    rows.plane[i, 4] = slide
    spot[3], spot[4], spot[5], spot[6] = nx, ny, nz, gap
    return True


@inner_kernel
def _is_lowest(spots, tags, i, best, count, tiny):
    """True if row i goes with `best` and its direction is not that of a deeper point near by."""
    if not _together(spots, best, i, tiny):
        return False
    for j in range(count):
        same = spots[i, 3] * spots[j, 3] + spots[i, 4] * spots[j, 4] + spots[i, 5] * spots[j, 5] > 1.0 - 1e-14
        if tags[j, 3] == _OPEN and same and spots[j, 6] < spots[i, 6] - tiny:
            return False
    return True
