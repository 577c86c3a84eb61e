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
