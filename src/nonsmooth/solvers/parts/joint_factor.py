"""N over joint rows, factorised at a cost that grows with their number: order, structure and numbers.

Two joints are coupled if they share a moving body: N over the joints of a chain is block tridiagonal, that of
many mechanisms is block diagonal, and that of a tree or a net is sparse. Joints of one pair of bodies are
eliminated together, in minimum-degree order, which causes no fill-in on a tree. The couplings do not change
from step to step, so the order and the structure of the factor are cached.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth._support.lazy import sparse as sp
from nonsmooth._support.lazy import sparse_linalg
from nonsmooth.problem.kernels.operator import BlockSparse, Factored
from nonsmooth.solvers.kernels import joint_factor as kernels
from nonsmooth.solvers.kernels.joint_factor import Panels

_MOST_ENTRIES = 20_000_000
"""Largest number of entries in the factor: 160 MB, which every sweep reads twice."""
_MOST_WORK = 2e9
"""Largest number of multiplications for the factor: a few seconds."""
_KEPT = 16
"""Number of cached structures."""


@dataclass(frozen=True, eq=False)
class Structure:
    """Symbolic factorisation: the order of the rows and the panels of the factor."""

    place: Integers
    """Index of every row in the order of elimination, (blocks, 3); −1 for absent rows."""
    first: Integers
    below: Integers
    index: Integers
    entry: Integers
    owner: Integers
    """The panels, as in `Panels`."""
    panel_block: Integers
    """Blocks in the order of their elimination."""
    block_start: Integers
    """Index of the first block of every panel in that order."""
    body_start: Integers
    body_entry: Integers
    """2 block + side, body after body; empty where bodies are not known."""

    def panels(self) -> Panels:
        """The panels, with a separate work space."""
        marks = np.empty((4, len(self.owner)), dtype=np.int64)
        return Panels(self.first, self.below, self.index, self.entry, self.owner, marks)


def structure_of(form: Factored | BlockSparse, blocks: Integers, sizes: Integers) -> Structure | None:
    """Structure of the factor of N over blocks of given row counts; None if it would be too large."""
    if isinstance(form, Factored):
        return structure_of_pairs(form.bodies[blocks].astype(np.int64), sizes, form.body_count - 1)
    total = len(form.start) - 1
    pattern = sp.csr_array((np.ones(len(form.column)), form.column, form.start), shape=(total, total))
    graph = pattern[blocks][:, blocks]
    none = np.zeros(0, dtype=np.int64)
    return _structure(graph + graph.T, np.arange(len(blocks)), sizes, none, none)


def structure_of_pairs(bodies: Integers, sizes: Integers, ground: int) -> Structure | None:
    """The same for blocks of given body pairs (blocks, 2); `ground` is the number of bodies."""
    return _structure_of_bodies(bodies.tobytes(), sizes.astype(np.int64).tobytes(), ground)


def assembled(
    form: Factored | BlockSparse, structure: Structure, panels: Panels, blocks: Integers, root: Floats
) -> Floats:
    """√ρ N √ρ over the blocks, by panels; `root` is √ρ of every row in the order of elimination."""
    values = np.empty(int(structure.entry[-1]))
    order = structure.panel_block, structure.block_start
    if isinstance(form, Factored):
        kernels.assemble_factored(
            form, panels, blocks, structure.place, root, *order, structure.body_start, structure.body_entry,
            values,
        )  # fmt: skip
    else:
        within = np.full(len(form.start) - 1, -1, dtype=np.int64)
        within[blocks] = np.arange(len(blocks))
        kernels.assemble_sparse(form, panels, blocks, structure.place, root, *order, within, values)
    return values


@lru_cache(maxsize=_KEPT)
def _structure_of_bodies(bodies: bytes, sizes: bytes, ground: int) -> Structure | None:
    """Structure for blocks with given body pairs (int64) and numbers of rows (int64)."""
    pairs, rows = np.frombuffer(bodies, dtype=np.int64).reshape(-1, 2), np.frombuffer(sizes, dtype=np.int64)
    _, node = np.unique(np.sort(pairs, axis=1), axis=0, return_inverse=True)
    node = node.reshape(-1)
    order = np.argsort(pairs.ravel(), kind="stable")
    body_start = np.searchsorted(pairs.ravel()[order], np.arange(ground + 2))
    body_start[ground + 1 :] = body_start[ground]  # ground does not move, so it couples no joints
    block, side = np.nonzero(pairs != ground)
    body = pairs[block, side]
    load = np.bincount(body, weights=rows[block], minlength=ground)
    if load @ load > 2.0 * _MOST_ENTRIES:
        return None
    touches = sp.csr_array((np.ones(len(block)), (node[block], body)), shape=(node.max() + 1, ground))
    return _structure(touches @ touches.T, node, rows, body_start, order)


def _structure(
    graph: Any, node: Integers, sizes: Integers, body_start: Integers, body_entry: Integers
) -> Structure | None:
    """Order the nodes of a graph and find the panels of the factor.

    `node` is the node of every block, `sizes` the number of its rows.
    """
    order = _minimum_degree(graph)
    moved = np.empty_like(order)
    moved[order] = np.arange(len(order))
    graph = sp.csr_array(graph)[order][:, order]
    start, column = graph.indptr.astype(np.int64), graph.indices.astype(np.int64)
    parent, count, seen = (np.empty(len(order), dtype=np.int64) for _ in range(3))
    kernels.elimination_tree(start, column, parent, seen)
    none = np.zeros(0, dtype=np.int64)
    kernels.nodes_below(start, column, parent, seen, count, none, none)
    begin = np.concatenate([[0], np.cumsum(count)])
    node_below = np.empty(max(int(begin[-1]), 1), dtype=np.int64)
    kernels.nodes_below(start, column, parent, seen, count, begin, node_below)

    node = moved[node]
    panel_block = np.argsort(node, kind="stable")
    node_rows = np.bincount(node, weights=sizes, minlength=len(order)).astype(np.int64)
    node_row = np.concatenate([[0], np.cumsum(node_rows)])
    together = (parent[:-1] == np.arange(1, len(order))) & (count[:-1] == count[1:] + 1)
    first = np.concatenate([[0], np.flatnonzero(~together) + 1])  # nodes with the same rows below: one panel
    last = np.concatenate([first[1:], [len(order)]]) - 1
    row = node_row[np.concatenate([first, [len(order)]])]
    parts = [node_below[begin[k] : begin[k] + count[k]] for k in last]
    index = [_rows_of_nodes(part, node_row) for part in parts]
    own, rows = np.diff(row), np.array([len(part) for part in index], dtype=np.int64)
    entries, height = own * (own + rows), (own + rows).astype(float)
    if entries.sum() > _MOST_ENTRIES or (own * height * height).sum() > _MOST_WORK:
        return None

    ordered = sizes[panel_block]
    place = np.full((len(sizes), 3), -1, dtype=np.int64)
    place[panel_block] = (np.cumsum(ordered) - ordered)[:, None] + np.arange(3)
    place[np.arange(3) >= sizes[:, None]] = -1
    block_start = np.searchsorted(node[panel_block], np.concatenate([first, [len(order)]]))
    return Structure(
        place, row, np.concatenate([[0], np.cumsum(rows)]), np.concatenate([none, *index]),
        np.concatenate([[0], np.cumsum(entries)]), np.repeat(np.arange(len(own)), own),
        panel_block, block_start, body_start, body_entry,
    )  # fmt: skip


def _rows_of_nodes(nodes: Integers, node_row: Integers) -> Integers:
    """Numbers of the rows of nodes."""
    count = node_row[nodes + 1] - node_row[nodes]
    first = np.repeat(node_row[nodes] - np.cumsum(count) + count, count)
    return np.asarray(first + np.arange(len(first)))


def _minimum_degree(graph: Any) -> Integers:
    """Nodes in the order of minimum degree, which SuperLU finds on its way to a factorisation."""
    size = graph.shape[0]
    pattern = sp.csc_array((-np.ones(graph.nnz), graph.indices, graph.indptr), shape=graph.shape)
    dominant = sp.csc_array(pattern + sp.diags_array(np.full(size, 2.0 * size + 2.0)))
    factors = sparse_linalg.splu(dominant, "MMD_AT_PLUS_A", 0.0, options={"SymmetricMode": True})
    return np.argsort(factors.perm_c).astype(np.int64)
