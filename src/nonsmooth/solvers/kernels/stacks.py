"""How far above ground bodies stand."""

from nonsmooth._support.jit import kernel

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
