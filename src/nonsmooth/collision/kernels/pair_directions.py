"""One direction for all points of two surfaces that lie along one another but for a tilt."""

import math

from nonsmooth._jit import inner_kernel
from nonsmooth.collision.kernels.contact_sets import NEARLY

_OPEN, _DROPPED, _KEPT = 0, 1, 2


@inner_kernel
def _together(spots, i, j, tiny):
    """True if two rows lie nearly in one plane and nearly along one direction."""
    nx, ny, nz = spots[i, 3], spots[i, 4], spots[i, 5]
    if nx * spots[j, 3] + ny * spots[j, 4] + nz * spots[j, 5] < 1.0 - NEARLY:
        return False
    x, y, z = spots[j, 0] - spots[i, 0], spots[j, 1] - spots[i, 1], spots[j, 2] - spots[i, 2]
    return abs(nx * x + ny * y + nz * z) <= 0.015 * math.sqrt(x * x + y * y + z * z) + tiny


@inner_kernel
def choose_pair_directions(spots, tags, plane, count, tiny):
    """Give rows the direction of an exact one (tag 2) near by; rows without one are dropped."""
    for i in range(count):
        tags[i, 3] = _OPEN
    while True:
        best = -1
        for i in range(count):
            if tags[i, 3] == _OPEN and tags[i, 2] == 1 and (best < 0 or spots[i, 6] < spots[best, 6]):
                best = i
        if best < 0:
            break
        lead = best
        if spots[best, 6] < 0.0:
            # in overlap the direction of the least depth is the best
            for i in range(count):
                if (
                    tags[i, 3] == _OPEN
                    and tags[i, 2] == 1
                    and spots[i, 6] > spots[lead, 6]
                    and _is_lowest(spots, tags, i, best, count, tiny)
                ):
                    lead = i
        nx, ny, nz = spots[lead, 3], spots[lead, 4], spots[lead, 5]
        most = spots[lead, 6]
        for i in range(count):
            if tags[i, 3] == _OPEN and (i == best or _together(spots, best, i, tiny)):
                along = nx * spots[i, 3] + ny * spots[i, 4] + nz * spots[i, 5]
                tags[i, 3] = _KEPT
                plane[i, 3] = most
                spots[i, 6] *= along
                spots[i, 3], spots[i, 4], spots[i, 5] = nx, ny, nz
    for i in range(count):
        if tags[i, 3] == _OPEN:
            tags[i, 3] = _DROPPED


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
