"""Which columns of a sparse matrix can be found from one difference: greedy colouring."""

from __future__ import annotations

from nonsmooth._support.jit import kernel


@kernel
def colour_columns(row_starts, row_columns, column_starts, column_rows, colours, taken):
    """Give every column the first colour that no column sharing a row with it has; return how many there are.

    The matrix comes by rows and by columns. `colours` (columns) and `taken` (columns) come filled with −1;
    taken[c] = j says that colour c is forbidden to column j.
    """
    count = 0
    for j in range(len(colours)):
        for p in range(column_starts[j], column_starts[j + 1]):
            r = column_rows[p]
            for q in range(row_starts[r], row_starts[r + 1]):
                other = colours[row_columns[q]]
                if other >= 0:
                    taken[other] = j
        c = 0
        while c < count and taken[c] == j:
            c += 1
        colours[j] = c
        count = max(count, c + 1)
    return count
