"""Detection of towers: many bodies one upon the other, and few beside each other.

In a tower forces pass through many contacts, which takes many sweeps. A linear system over the bodies carries
them from top to bottom at once; it has a narrow band and costs little more than a sweep.
"""

from nonsmooth._support.jit import kernel
from nonsmooth.solvers.kernels.bands import order_bodies

_LEVELS = 5
"""Number of bodies one upon the other, from ground, that make a tower."""
_WORK = 100
"""Largest number of band entries per contact for which the system is cheap."""
_ROUGH = 4
"""Allowed ratio of level width to band width; levels are counted first because that is faster."""
_FAR = 2**60
_MOST_PASSES = 200


@kernel
def levels(bodies, ground, level):
    """Fill in the number of contacts between each body and ground, 0 where there is no way down.

    Returns the largest. Passes over the contacts go forward and backward in turn until nothing changes.
    """
    for body in range(ground):
        level[body] = _FAR
    level[ground] = 0
    contacts = bodies.shape[0]
    for turn in range(_MOST_PASSES):
        changed = False
        for k in range(contacts):
            i = k if turn % 2 == 0 else contacts - 1 - k
            a, b = bodies[i, 0], bodies[i, 1]
            if level[a] + 1 < level[b]:
                level[b] = level[a] + 1
                changed = True
            elif level[b] + 1 < level[a]:
                level[a] = level[b] + 1
                changed = True
        if not changed:
            break
    highest = 0
    for body in range(ground):
        if level[body] == _FAR:
            level[body] = 0
        highest = max(highest, level[body])
    return highest


@kernel
def tower(bodies, contacts, ground, level, count, order):
    """Number of moving bodies and width of their band if they stand one upon the other with few on each
    level; (−1, 0) if not. The first of the pairs (r, 2) are the contacts; `order` gets the bodies' order.

    Bodies that hang on joints do not count: a sweep carries a force through all joints at once.
    """
    highest = levels(bodies[:contacts], ground, level)
    if highest < _LEVELS:
        return -1, 0
    for k in range(highest + 1):
        count[k] = 0
    standing = 0
    for body in range(ground):
        if level[body] > 0:
            count[level[body]] += 1
            standing += 1
    widest = 0
    for k in range(highest):
        widest = max(widest, count[k] + count[k + 1])
    if 6 * standing * 6 * widest > _ROUGH * _WORK * contacts:
        return -1, 0
    moving, width = order_bodies(bodies, ground, order)
    return (moving, width) if 6 * standing * width <= _WORK * contacts else (-1, 0)
