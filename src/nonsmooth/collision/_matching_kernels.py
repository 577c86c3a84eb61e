"""Merge of two contact lists that are both sorted by (shape a, shape b, feature)."""

from nonsmooth._jit import inlined_kernel, kernel


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
def carry_over(old_shapes, old_feature, old_values, shapes, feature, values):
    """Copy the three values of each old contact to the new contact of the same key; zero where it is new."""
    i = 0
    for j in range(shapes.shape[0]):
        order = -1
        while i < old_shapes.shape[0]:
            order = _compare(old_shapes, old_feature, i, shapes, feature, j)
            if order >= 0:
                break
            i += 1
        same = order == 0
        for k in range(3):
            values[j, k] = old_values[i, k] if same else 0.0
        i += same


@kernel
def merged_order(shapes, feature, other_shapes, other_feature, order):
    """Rows of both lists, one after the other, in the order of their keys; the second's are counted on."""
    i, j, count = 0, 0, shapes.shape[0]
    for k in range(order.shape[0]):
        first = j == other_shapes.shape[0]
        if not first and i < count:
            first = _compare(shapes, feature, i, other_shapes, other_feature, j) <= 0
        order[k] = i if first else count + j
        i, j = i + first, j + (not first)
