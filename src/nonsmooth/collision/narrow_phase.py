"""Narrow phase: the contacts of pairs of shapes of any kind."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats, Indices
from nonsmooth._support.packed import Packed
from nonsmooth.collision.contacts import ContactBuffers, Contacts
from nonsmooth.collision.inner_radius import inner_radii
from nonsmooth.collision.kernels.closed_forms import pairs as narrow
from nonsmooth.collision.kernels.detection import Work
from nonsmooth.collision.kernels.directions.nearest import nearest
from nonsmooth.collision.kernels.directions.solids import Solid
from nonsmooth.collision.kernels.directions.work import make_work as separation_work
from nonsmooth.collision.kernels.manifolds.support_features import make_work as manifold_work
from nonsmooth.collision.kernels.manifolds.touching import touch_solids
from nonsmooth.collision.kernels.motion import covering
from nonsmooth.collision.kernels.rays import solids as rays
from nonsmooth.collision.kernels.rays import trees as ray_trees
from nonsmooth.collision.kernels.rays.surfaces import cast_on_surfaces
from nonsmooth.collision.kernels.surfaces import trees
from nonsmooth.collision.kernels.surfaces.nearest import make_work as nearest_work
from nonsmooth.collision.kernels.surfaces.touching import touch_surfaces
from nonsmooth.collision.kernels.surfaces.work import make_work as mesh_work
from nonsmooth.collision.pieces import pieces_of
from nonsmooth.collision.withheld import SWEPT, Withheld
from nonsmooth.model.materials import PairTable
from nonsmooth.model.shape_table import ShapeTable
from nonsmooth.model.shapes import CAPSULE, HALF_SPACE, HEIGHT_FIELD, MESH, SPHERE, Mesh

_TREE = 16
"""From this number of rays and of shapes, rays use a tree of the shapes' bounds."""
_SURFACE_ROOM = 256
"""Initial number of rows for the contacts of a pair with a mesh."""


class NarrowPhase:
    """Finds contacts of pairs of a scene's shapes; arrays are reused between calls."""

    def __init__(self, table: ShapeTable, materials: PairTable) -> None:
        pieces = pieces_of(table)
        self.tables = pieces.hulls
        self.hulls, self.meshes = Packed(pieces.hulls), Packed(pieces.meshes)
        self._outlines = Packed(pieces.outlines)
        self.shapes = narrow.Shapes(
            np.column_stack([table.body, table.kind, table.material, pieces.row]).astype(np.int32),
            table.size.copy(),
            table.offset.copy(),
            table.rotation.copy(),
            materials.friction,
            materials.restitution,
        )
        self.inner = inner_radii(table, pieces.hulls, pieces.row)
        """(s,) inner radii of the shapes in m."""
        self._shapes = Packed(self.shapes)
        self._round = bool(np.isin(table.kind, (SPHERE, HALF_SPACE)).all())  # one contact per pair
        self._buffers, self._room = ContactBuffers(), 64
        self._scratch = scratch()
        self._work = Packed(self.solid_work())
        self._spots, self._marks = _spots(len(self._work.manifold.found))
        self._surface = np.isin(table.kind, (MESH, HEIGHT_FIELD))
        self._surfaces = bool(self._surface.any())
        self._closed = np.zeros(len(table), dtype=np.bool_)
        for row in np.flatnonzero(table.kind == MESH).tolist():
            shape = table.objects[row]
            self._closed[row] = isinstance(shape, Mesh) and shape.closed
        self._surface_work: Packed | None = None
        self._surface_spots, self._surface_marks = _spots(0)

    def solid_work(self) -> Work:
        """New scratch of the kernels for convex solids."""
        return Work(separation_work(self.tables), manifold_work(self.tables))

    @property
    def has_surfaces(self) -> bool:
        """Whether there are meshes or height fields."""
        return self._surfaces

    def contacts(
        self, pairs: Indices, centre: Floats, axes: Floats, motion: narrow.Motion
    ) -> tuple[Contacts, Withheld]:
        """Contacts of the pairs (p, 2) of shapes, in order, for a step with this motion.

        Contacts whose normal is that of a later time are also returned as `Withheld`, with the fraction of
        the step until that time.
        """
        most = len(pairs) if self._round else narrow.most_contacts(pairs, self.shapes.tags)
        room = self._buffers.get(most)
        out, later = narrow.Output(*room.columns()), np.empty(len(pairs), dtype=np.int64)
        parts = np.zeros(most)
        found, passing, left = narrow.touch(
            pairs, self.shapes, centre, axes, motion, self._scratch, out, parts, later
        )
        contacts = room.take(slice(found))
        early = _early(contacts, parts[:found]) if passing else Withheld.empty()
        if left == 0:
            return contacts, early
        rest = pairs[later[:left]]
        on_surface = self._surface[rest].any(axis=1) if self._surfaces else None
        solids = rest if on_surface is None else rest[~on_surface]
        if len(solids):
            others, part = self._solid_contacts(solids, centre, axes, motion)
            early = early.joined(_early(others, part))
            contacts = contacts.joined(others) if len(contacts) else others
        if on_surface is not None and on_surface.any():
            others, part = self._surface_contacts(rest[on_surface], centre, axes, motion)
            early = early.joined(_early(others, part))
            contacts = contacts.joined(others) if len(contacts) else others
        return contacts, early

    def _solid_contacts(
        self, pairs: Indices, centre: Floats, axes: Floats, motion: narrow.Motion
    ) -> tuple[Contacts, Floats]:
        """Contacts of convex shapes, and the fraction of the step at which their normals hold."""
        room = Contacts.allocate(max(self._room, 4 * len(pairs)))
        part = np.empty(len(room))
        done, found = 0, 0
        while done < len(pairs):
            done, found = touch_solids(
                pairs, done, self._shapes, self.hulls, centre, axes, motion,
                self._work, self._spots, self._marks, narrow.Output(*room.columns()), part, found,
            )  # fmt: skip
            if done < len(pairs):
                room = _larger(room, found, len(self._spots))
                part = np.resize(part, len(room))
        self._room = len(room)
        return room.take(slice(found)), part[:found]

    def _surface_contacts(
        self, pairs: Indices, centre: Floats, axes: Floats, motion: narrow.Motion
    ) -> tuple[Contacts, Floats]:
        """Contacts of meshes and height fields, and the fraction of the step at which their normals hold."""
        room = Contacts.allocate(max(self._room, 8 * len(pairs)))
        part = np.empty(len(room))
        done, found = 0, 0
        while done < len(pairs):
            if self._surface_work is None:
                self._make_surface_work(_SURFACE_ROOM)
            done, found, needed = touch_surfaces(
                pairs, done, self.shapes, self.meshes, self._outlines, self.hulls, centre, axes, motion,
                self._surface_work, self._surface_spots, self._surface_marks,
                narrow.Output(*room.columns()), part, found,
            )  # fmt: skip
            if needed:
                self._make_surface_work(needed + needed // 4)
            elif done < len(pairs):
                room = _larger(room, found, len(self._surface_spots))
                part = np.resize(part, len(room))
        self._room = len(room)
        return room.take(slice(found)), part[:found]

    def _make_surface_work(self, rows: int) -> None:
        outline = int(np.diff(self._outlines.first).max(initial=0))
        rows = max(rows, outline)
        work = mesh_work(self.tables, rows)._replace(feature=manifold_work(self.tables, rows))
        self._surface_work = Packed(work)
        self._surface_spots, self._surface_marks = _spots(rows)

    def least_radii(self, bodies: int) -> Floats:
        """Least inner radius (n,) of each body's shapes: in a fast pair, one body is fast by this radius.

        Pairs with a mesh use the other shape's radius only, half for each of the two.
        """
        inner = self.inner
        if self._surface.any():
            smallest = float(np.min(inner[~self._surface], initial=np.inf))
            inner = 0.5 * np.where(self._surface, smallest, inner)
        least = np.full(bodies, np.inf)
        np.minimum.at(least, self.shapes.tags[:, 0], inner)
        return least

    def meetings(
        self, pairs: Indices, on_surface: bool, centre: Floats, axes: Floats, course: covering.Course,
        turn: Floats, margin: float,
    ) -> Floats:  # fmt: skip
        """Fraction of the step (p,) after which pairs meet, above 1 for those that do not.

        `on_surface`: one shape of each pair is a mesh or a height field; `turn` (n,) as for `detect`.
        """
        part = np.empty(len(pairs))
        room = covering.Room(np.empty_like(centre), np.empty_like(axes), *_spots(0))
        if not on_surface:
            covering.meet_solids(
                pairs, self.shapes, self.hulls, centre, axes, course, turn, self.inner, margin,
                self._work.separation, room, part,
            )  # fmt: skip
            return part
        done = 0
        while done < len(pairs):
            room = room._replace(spots=self._surface_spots, marks=self._surface_marks)
            if self._surface_work is not None:
                done = covering.meet_surfaces(
                    pairs, done, self.shapes, self.meshes, self.hulls, centre, axes, course, turn,
                    self.inner, margin, self._surface_work, room, part,
                )  # fmt: skip
            if done < len(pairs):
                self._make_surface_work(max(_SURFACE_ROOM, 2 * len(self._surface_spots)))
        return part

    def solid(self, s: int, centre: Floats, axes: Floats) -> Solid:
        """A convex shape in the world frame."""
        kind = int(self.shapes.tags[s, 1])
        a, b, c, radius = self.shapes.size[s].tolist()
        x, y, z = centre[s, :3].tolist()
        if kind in (SPHERE, CAPSULE):
            radius += a
        return Solid(kind, a, b, c, radius, x, y, z, axes[s], int(self.shapes.tags[s, 3]))

    def distance(self, a: int, b: int, centre: Floats, axes: Floats) -> tuple[float, Floats, Floats, Floats]:
        """Gap of two convex shapes or half-spaces in m, the nearest points, and the normal from a to b."""
        out = np.empty((3, 3))
        gap = nearest(a, b, self.shapes, self.hulls, centre, axes, self._work.separation, out)
        return float(gap), out[0], out[1], out[2]

    def nearest_contact(
        self, a: int, b: int, centre: Floats, axes: Floats, bound: Floats
    ) -> tuple[float, Floats, Floats, Floats]:
        """As `distance`, for a mesh or a height field: the search distance grows until a contact is found."""
        a, b, turned = min(a, b), max(a, b), a > b
        bodies = int(self.shapes.tags[:, 0].max()) + 1
        reach = 0.01 * float(np.max(bound[[a, b], 6]))
        apart = float(np.linalg.norm(bound[a, :3] - bound[b, :3]))
        farthest = apart + float(bound[a, 6] + bound[b, 6]) + float(np.abs(centre[[a, b], :3]).max())
        pair = np.array([[a, b]], dtype=np.int32)
        while True:
            still = np.zeros((bodies, 3)), np.zeros(bodies)
            at_rest = np.zeros((2, bodies), dtype=bool)
            motion = narrow.Motion(reach, *still, np.full(bodies, 0.5 * reach), self.inner, *at_rest)
            found, _ = self._surface_contacts(pair, centre, axes, motion)
            if len(found):
                k = int(np.argmin(found.gap))
                gap, normal = float(found.gap[k]), found.normal[k]
                ends = found.point[k] - 0.5 * gap * normal, found.point[k] + 0.5 * gap * normal
                return (gap, ends[1], ends[0], -normal) if turned else (gap, ends[0], ends[1], normal)
            if reach > 2.0 * farthest:
                return np.inf, np.full(3, np.nan), np.full(3, np.nan), np.full(3, np.nan)
            reach *= 4.0

    def cast(
        self, centre: Floats, axes: Floats, bound: Floats, origins: Floats, ways: Floats, limit: float,
        skipped: NDArray[np.bool_], hit: NDArray[np.int64], distance: Floats, normal: Floats,
    ) -> None:  # fmt: skip
        """Fill, for each ray, the first shape it hits (-1 for none), its distance, and the normal there."""
        hit[:], distance[:] = -1, np.inf
        kind, shown = self.shapes.tags[:, 1], ~skipped[self.shapes.tags[:, 0]]
        endless = kind == HALF_SPACE
        solids = np.flatnonzero(shown & ~self._surface & ~endless)
        scene = (self.shapes, self.hulls, centre, axes, bound, origins, ways, limit, self._work.separation)
        rays.cast(np.flatnonzero(shown & endless), *scene, hit, distance, normal)
        if min(len(solids), len(origins)) < _TREE:
            rays.cast(solids, *scene, hit, distance, normal)
        else:
            levels = trees.levels_for(len(solids))
            order = np.arange(len(solids))
            trees.sort_triangles(np.ascontiguousarray(bound[solids, :3].T), levels, order)
            order, boxes = solids[order], np.empty(((2 << levels) - 1, 6))
            ray_trees.fill_bounds(bound, order, levels, boxes)
            stack = np.empty(128, dtype=np.int64)
            ray_trees.cast_in_tree(order, levels, boxes, stack, *scene, hit, distance, normal)
        rows = np.flatnonzero(self._surface & shown)
        if len(rows):
            work = Packed(nearest_work(self.tables))
            cast_on_surfaces(
                rows, self.shapes.tags[rows, 3].astype(np.int64), self._closed[rows], self.meshes, centre,
                axes, origins, ways, limit, work, np.empty(13), hit, distance, normal,
            )  # fmt: skip


def scratch() -> narrow.Scratch:
    """New scratch of the closed forms."""
    return narrow.Scratch(
        np.empty((12, 7)), np.empty(12, np.int64), np.empty((2, 12, 3)), np.empty((2, 12), np.int64)
    )


def _early(contacts: Contacts, part: Floats) -> Withheld:
    """The contacts whose normal is that of a later time of the step."""
    swept = np.flatnonzero(part > 0.0)
    return Withheld.of(contacts.take(swept), SWEPT, part[swept]) if len(swept) else Withheld.empty()


def _spots(rows: int) -> tuple[Floats, NDArray[np.int64]]:
    """Work space for the contacts of one pair."""
    return np.empty((rows, 7)), np.empty(rows, dtype=np.int64)


def _larger(room: Contacts, found: int, more: int) -> Contacts:
    """Arrays for more than twice as many contacts, with the first `found` copied."""
    larger = Contacts.allocate(2 * len(room) + more)
    for old, new in zip(room.columns(), larger.columns(), strict=True):
        new[:found] = old[:found]
    return larger
