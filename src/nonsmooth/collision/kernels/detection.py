"""The contacts of a step in one call: placement, broad phase, narrow phase of convex shapes, seams.

Buffers have a capacity. If one is too small, the call returns ROOM and says how much it needs; nothing
outside of the buffers has changed, so that the call can be repeated with larger ones. Steps with contacts
that need a second look (meshes and height fields, hidden and swept contacts) are left to `Detector`.
"""

from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inner_kernel, kernel
from nonsmooth.collision.kernels.broad_phase import (
    choose_levels,
    drop_ignored,
    fill_cells,
    search_cells,
    search_half_spaces,
    sort_pairs,
)
from nonsmooth.collision.kernels.closed_forms.pairs import (
    Motion,
    Output,
    Scratch,
    Shapes,
    most_contacts,
    touch,
)
from nonsmooth.collision.kernels.directions.solids import HEIGHT_FIELD, MESH, Hulls
from nonsmooth.collision.kernels.directions.work import Work as SeparationWork
from nonsmooth.collision.kernels.manifolds.support_features import ManifoldWork
from nonsmooth.collision.kernels.manifolds.touching import touch_solids
from nonsmooth.collision.kernels.matching import merge
from nonsmooth.collision.kernels.placement import place, set_reach
from nonsmooth.collision.kernels.seams import Flush, find_hidden, list_by_shape

ROOM, ELSEWHERE = -1, -2
"""In place of a number of contacts: a buffer is too small; `Detector` must find the contacts."""
PAIRS, CONTACTS = 0, 1
"""Entries of `Detection.needed`: rows that the buffers of pairs and of contacts must have."""
KIND = 1  # column of tags


class Work(NamedTuple):
    """Scratch of the kernels for convex solids."""

    separation: SeparationWork
    manifold: ManifoldWork


class Cells(NamedTuple):
    """The broad phase: see `kernels.broad_phase`."""

    half_spaces: np.ndarray  # (h,) int32
    bounded: np.ndarray  # (b,) int32
    level: np.ndarray  # (b,) int32
    width: np.ndarray  # (LEVELS,)
    bin_count: np.ndarray  # (BINS,) int32, zeros
    bin_size: np.ndarray  # (BINS,), zeros
    key: np.ndarray  # (b, 2) int64
    table: np.ndarray  # (LEVELS, 2) int64
    start: np.ndarray  # int32
    order: np.ndarray  # (b,) int32
    sorted_bound: np.ndarray  # (b, 7)
    sorted_key: np.ndarray  # (b,) int64
    tally: np.ndarray  # (s + 1,) int32
    group: np.ndarray  # (s,) int32
    ignored_start: np.ndarray  # (n + 1,) int64, or empty
    ignored_partner: np.ndarray  # (i,) int64


class Placed(NamedTuple):
    """Shapes in the world, and what their bodies may do in the step."""

    local_bound: np.ndarray  # (s, 7)
    centre: np.ndarray  # (s, 4)
    axes: np.ndarray  # (s, 3, 3)
    bound: np.ndarray  # (s, 7)
    reach: np.ndarray  # (n,)
    inner: np.ndarray  # (s,)
    led: np.ndarray  # (n,) bool
    hasty: np.ndarray  # (n,) bool
    level: np.ndarray  # (s,) m, below which a neighbour counts as flush; set in every step
    flush: np.ndarray  # (s,) its limit by size; empty if no two shapes have edges
    beside: np.ndarray  # (s,) m: see `Flush`


class PairRows(NamedTuple):
    """Pairs of shapes that the broad phase found."""

    pairs: np.ndarray  # (P, 2) int32
    scratch: np.ndarray  # (P, 2) int32
    later: np.ndarray  # (P,) int64: places of pairs without a closed form
    rest: np.ndarray  # (P, 2) int32: these pairs


class ContactRows(NamedTuple):
    """Contacts of pairs with a closed form, of other solids, and of both in order; as many rows of each."""

    closed: Output
    solids: Output
    found: Output
    part: np.ndarray  # (C,) part of the step after which a contact's normal holds
    first: np.ndarray  # (s + 1,) int64, for seams
    by_shape: np.ndarray  # (2 C,) int64
    hidden: np.ndarray  # (C,) int64
    faces: np.ndarray  # (16,) int64


class Detection(NamedTuple):
    """All that the detection of contacts reads and writes, for one system."""

    shapes: Shapes
    hulls: Hulls
    cells: Cells
    placed: Placed
    pairs: PairRows
    contacts: ContactRows
    scratch: Scratch
    work: Work
    spots: np.ndarray  # (m, 7)
    marks: np.ndarray  # (m,) int64
    needed: np.ndarray  # (2,) int64
    margins: np.ndarray  # (2,) m: of this step; part of it below which a neighbour counts as flush


@inner_kernel
def _candidates(d):
    """Number of pairs whose bounds overlap, sorted, in `d.pairs`; or ROOM."""
    cells, bound, centre, axes = d.cells, d.placed.bound, d.placed.centre, d.placed.axes
    pairs, group, bounded = d.pairs.pairs, d.cells.group, d.cells.bounded
    level, width, table, start = cells.level, cells.width, cells.table, cells.start
    order, sorted_bound, sorted_key = cells.order, cells.sorted_bound, cells.sorted_key
    buckets = choose_levels(bound, bounded, level, width, table, cells.bin_count, cells.bin_size)
    fill_cells(
        bound, bounded, level, width, table, buckets, cells.key, start, order, sorted_bound, sorted_key
    )
    found = search_half_spaces(cells.half_spaces, bounded, group, centre, axes, bound, pairs)
    found = search_cells(
        bounded, level, width, table, group, start, order, sorted_bound, sorted_key, pairs, found
    )
    if found > pairs.shape[0]:
        d.needed[PAIRS] = found
        return ROOM
    sort_pairs(pairs, found, group.shape[0], cells.tally, d.pairs.scratch)
    if cells.ignored_start.shape[0] > 0:
        found = drop_ignored(pairs[:found], d.shapes.tags[:, 0], cells.ignored_start, cells.ignored_partner)
    return found


@inner_kernel
def first_rows(out, count):
    """The first rows of a buffer."""
    return Output(
        out.shapes[:count], out.bodies[:count], out.feature[:count], out.point[:count], out.normal[:count],
        out.gap[:count], out.friction[:count], out.restitution[:count],
    )  # fmt: skip


@inner_kernel
def _whole(out):
    return Output(
        out.shapes, out.bodies, out.feature, out.point, out.normal, out.gap, out.friction, out.restitution
    )


@inner_kernel
def _hidden(d, count):
    """True if a neighbour's face hides a contact: see `kernels.seams`."""
    c, shapes, placed = d.contacts, d.shapes, d.placed
    for s in range(placed.flush.shape[0]):
        placed.level[s] = min(placed.flush[s], d.margins[1] * d.margins[0])
    found = first_rows(c.found, count)
    list_by_shape(found.shapes, c.first, c.by_shape)
    tables = Shapes(
        shapes.tags, shapes.size, shapes.offset, shapes.rotation, shapes.friction, shapes.restitution
    )
    flush = Flush(d.cells.group, placed.level, placed.beside)
    return find_hidden(
        found, c.first, c.by_shape, tables, d.hulls, placed.centre, placed.axes, flush, c.hidden[:count],
        c.faces,
    )  # fmt: skip


@kernel
def find_contacts(d, position, quaternion, displacement, turn):
    """Number of contacts of the bodies, in `d.contacts.found`, by ascending shapes and feature.

    ROOM if a buffer is too small for them: `d.needed` has the rows. ELSEWHERE if some contacts have to be
    found, withheld or changed by `Detector`.
    """
    placed, shapes = d.placed, d.shapes
    margin = d.margins[0]
    set_reach(displacement, turn, margin, placed.reach)
    tables = Shapes(
        shapes.tags, shapes.size, shapes.offset, shapes.rotation, shapes.friction, shapes.restitution
    )
    place(
        tables, placed.local_bound, position, quaternion, placed.reach, placed.centre, placed.axes,
        placed.bound,
    )  # fmt: skip
    count = _candidates(d)
    if count < 0:
        return count
    for i in range(placed.hasty.shape[0]):
        placed.hasty[i] = False
    motion = Motion(margin, displacement, turn, placed.reach, placed.inner, placed.led, placed.hasty)
    pairs, buffers = d.pairs.pairs[:count], d.contacts
    room = buffers.part.shape[0]
    most = most_contacts(pairs, shapes.tags)
    if most > room:
        d.needed[CONTACTS] = most
        return ROOM
    for i in range(most):
        buffers.part[i] = 0.0
    scratch = Scratch(d.scratch.spots, d.scratch.marks, d.scratch.polygon, d.scratch.labels)
    closed, passing, left = touch(
        pairs, tables, placed.centre, placed.axes, motion, scratch, _whole(buffers.closed), buffers.part,
        d.pairs.later,
    )  # fmt: skip
    if passing > 0:
        return ELSEWHERE
    solids = 0
    if left > 0:
        for i in range(left):
            a, b = pairs[d.pairs.later[i], 0], pairs[d.pairs.later[i], 1]
            if shapes.tags[a, KIND] in (MESH, HEIGHT_FIELD) or shapes.tags[b, KIND] in (MESH, HEIGHT_FIELD):
                return ELSEWHERE
            d.pairs.rest[i, 0], d.pairs.rest[i, 1] = a, b
        done, solids = touch_solids(
            d.pairs.rest[:left], 0, shapes, d.hulls, placed.centre, placed.axes, motion, d.work, d.spots,
            d.marks, _whole(buffers.solids), buffers.part, 0,
        )  # fmt: skip
        if done < left:
            d.needed[CONTACTS] = 2 * room + d.spots.shape[0]
            return ROOM
        for i in range(solids):
            if buffers.part[i] > 0.0:
                return ELSEWHERE
    found = closed + solids
    if found > room:
        d.needed[CONTACTS] = found
        return ROOM
    merge(
        first_rows(buffers.closed, closed),
        first_rows(buffers.solids, solids),
        first_rows(buffers.found, found),
    )
    if placed.flush.shape[0] > 0 and _hidden(d, found):
        return ELSEWHERE
    return found
