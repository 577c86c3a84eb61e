"""Islands of the blocks of a factored problem, numbered without allocation."""

from nonsmooth._support.jit import inner_kernel
from nonsmooth.problem.kernels.operator import factored_islands

ROUNDING_SHARE = 1e-6  # as in `Scales`


@inner_kernel
def number_islands(form, parent, island):
    """Fill in the island of every block, 0, 1, … by their smallest coordinate; their number.

    `parent` (6 × bodies) is scratch.
    """
    for i in range(parent.shape[0]):
        parent[i] = i
    factored_islands(form, parent, island)
    for i in range(parent.shape[0]):
        parent[i] = -1
    for i in range(island.shape[0]):
        parent[island[i]] = 0
    islands = 0
    for i in range(parent.shape[0]):
        if parent[i] == 0:
            parent[i] = islands
            islands += 1
    for i in range(island.shape[0]):
        island[i] = parent[island[i]]
    return islands
