"""Merge of two contact lists that are both sorted by (shape a, shape b, feature)."""

from nonsmooth._support.jit import inlined_kernel, kernel


@inlined_kernel
def _compare(shapes, feature, i, other_shapes, other_feature, j):
    """Negative, zero or positive, as row i comes before, is, or comes after row j of the other list."""
    if shapes[i, 0] != other_shapes[j, 0]:
        return -1 if shapes[i, 0] < other_shapes[j, 0] else 1
    if shapes[i, 1] != other_shapes[j, 1]:
        return -1 if shapes[i, 1] < other_shapes[j, 1] else 1
    if feature[i] != other_feature[j]:
        return -1 if feature[i] < other_feature[j] else 1
    return 0


@kernel
def match(old_shapes, old_feature, shapes, feature, old):
    """Fill `old` (c,) with the row of the old contact of the same key, −1 where a contact is new."""
    i = 0
    for j in range(shapes.shape[0]):
        order = -1
        while i < old_shapes.shape[0]:
            order = _compare(old_shapes, old_feature, i, shapes, feature, j)
            if order >= 0:
                break
            i += 1
        old[j] = i if order == 0 else -1
        i += order == 0


@kernel
def carry_over(old, old_values, values):
    """Copy the three values of the old contact of every new one; zero where it is new."""
    for j in range(old.shape[0]):
        for k in range(3):
            values[j, k] = old_values[old[j], k] if old[j] >= 0 else 0.0


@inlined_kernel
def _copy(rows, i, out, k):
    for column in range(2):
        out.shapes[k, column], out.bodies[k, column] = rows.shapes[i, column], rows.bodies[i, column]
    for column in range(3):
        out.point[k, column], out.normal[k, column] = rows.point[i, column], rows.normal[i, column]
    out.feature[k], out.gap[k] = rows.feature[i], rows.gap[i]
    out.friction[k], out.restitution[k] = rows.friction[i], rows.restitution[i]


@kernel
def merge(one, two, out):
    """Write the rows of two lists (`Output`) to a third, in the order of their keys."""
    i, j = 0, 0
    for k in range(out.gap.shape[0]):
        first = j == two.gap.shape[0]
        if not first and i < one.gap.shape[0]:
            first = _compare(one.shapes, one.feature, i, two.shapes, two.feature, j) <= 0
        if first:
            _copy(one, i, out, k)
            i += 1
        else:
            _copy(two, j, out, k)
            j += 1
