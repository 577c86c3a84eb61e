"""Where the bodies of a system touch, or may touch within a step."""

from __future__ import annotations

import math

import numpy as np

from nonsmooth.collision import _narrow_kernels as narrow
from nonsmooth.collision import _placement_kernels as placement
from nonsmooth.collision._broad_phase_kernels import drop_ignored
from nonsmooth.collision.bounds import local_bounds
from nonsmooth.collision.broad_phase import BroadPhase
from nonsmooth.collision.coal_backend import CoalBackend, has_others
from nonsmooth.collision.contacts import Contacts, Floats, Indices, Rooms
from nonsmooth.errors import OptionError, ProblemError
from nonsmooth.model.shapes import CAPSULE, HALF_SPACE, SPHERE
from nonsmooth.model.system import System


class Detector:
    """Finds the contacts of a system, whose shapes, materials, fixed bodies and ignored pairs are read once.

    A contact is returned if its gap is at most `margin` (m), or may be at the end of the step:
    gap + n·(d_b − d_a) − turn_a − turn_b ≤ margin. Shapes of one body, of two fixed bodies, and of bodies
    that ignore each other are not tested. What is found depends on the arguments of the call alone, and not
    on earlier calls.
    """

    def __init__(self, system: System, margin: float) -> None:
        if not (np.isfinite(margin) and margin >= 0.0):
            raise OptionError(f"margin is {margin} m: give a finite length that is not negative.")
        self.margin = float(margin)
        table, pair_table = system.shapes, system.materials.pair_table()
        self._bodies = system.count
        self._shapes = narrow.Shapes(
            np.column_stack([table.body, table.kind, table.material, np.zeros_like(table.body)]),
            table.size.copy(),
            table.offset.copy(),
            table.rotation.copy(),
            pair_table.friction,
            pair_table.restitution,
        )
        self._round = bool(np.isin(table.kind, (SPHERE, HALF_SPACE)).all())  # one contact per pair
        count = len(table)
        self._local_bound = local_bounds(table)
        # All fixed bodies are one group: what shares a group is never in contact.
        group = np.where(system.fixed[table.body], -1, table.body).astype(np.int32)
        self._broad_phase = BroadPhase(group, table.kind == HALF_SPACE)
        ignored = system.ignored_pairs
        self._ignored = (
            (np.searchsorted(ignored[:, 0], np.arange(system.count + 1)), ignored[:, 1].copy())
            if len(ignored)
            else None
        )
        self._still = np.zeros((self._bodies, 3)), np.zeros(self._bodies)
        self._reach = np.empty(self._bodies)
        self._centre, self._axes = np.empty((count, 4)), np.empty((count, 3, 3))
        self._bound = np.empty((count, 7))
        self._others = CoalBackend(table) if has_others(table) else None
        self._rooms = Rooms()
        self._scratch = narrow.Scratch(
            np.empty((12, 7)), np.empty(12, np.int64), np.empty((2, 12, 3)), np.empty((2, 12), np.int64)
        )

    def detect(
        self,
        position: Floats,
        quaternion: Floats,
        displacement: Floats | None = None,
        turn: Floats | None = None,
    ) -> Contacts:
        """Contacts of the bodies at `position` (n, 3) in m and unit `quaternion` (n, 4).

        `displacement` (n, 3) is the bodies' expected motion in this step in m, and `turn` (n,) the largest
        motion of a point of their surface by rotation in m; None stands for no motion.
        """
        displacement = self._still[0] if displacement is None else displacement
        turn = self._still[1] if turn is None else turn
        self._check("position", position, (self._bodies, 3))
        self._check("quaternion", quaternion, (self._bodies, 4))
        self._check("displacement", displacement, (self._bodies, 3))
        self._check("turn", turn, (self._bodies,))
        pairs = self.candidates(position, quaternion, displacement, turn)
        motion = narrow.Motion(self.margin, displacement, turn, self._reach)
        most = len(pairs) if self._round else narrow.most_contacts(pairs, self._shapes.tags)
        room = self._rooms.get(most)
        out = narrow.Output(*room.columns())
        found = narrow.touch(pairs, self._shapes, self._centre, self._axes, motion, self._scratch, out)
        contacts = room.take(slice(found))
        if self._others is not None:
            contacts = contacts.joined(self._other_contacts(self._others, pairs, motion))
        return contacts

    def candidates(self, position: Floats, quaternion: Floats, displacement: Floats, turn: Floats) -> Indices:
        """Pairs of shapes (p, 2) whose bounds overlap and that may touch, for `detect`'s arguments."""
        placement.set_reach(displacement, turn, self.margin, self._reach)
        placement.place(
            self._shapes,
            self._local_bound,
            position,
            quaternion,
            self._reach,
            self._centre,
            self._axes,
            self._bound,
        )
        pairs = self._broad_phase.pairs(self._bound, self._centre, self._axes)
        if self._ignored is not None:
            pairs = pairs[: drop_ignored(pairs, self._shapes.tags[:, 0], *self._ignored)]
        return pairs

    def _other_contacts(self, others: CoalBackend, pairs: Indices, motion: narrow.Motion) -> Contacts:
        """Contacts of the pairs that the kernels passed over."""
        body, kind, material = self._shapes.tags[:, :3].T
        pairs = pairs[(kind[pairs] > CAPSULE).any(axis=1)]
        reach = self._reach[body[pairs]].sum(axis=1)
        contacts = others.contacts(pairs, self._centre[:, :3], self._axes, reach)
        a, b = contacts.bodies.T
        closing = np.einsum("ci,ci->c", contacts.normal, motion.displacement[b] - motion.displacement[a])
        later = contacts.gap + closing - motion.turn[a] - motion.turn[b]
        materials = material[contacts.shapes].T
        contacts.friction[:] = self._shapes.friction[*materials]
        contacts.restitution[:] = self._shapes.restitution[*materials]
        return contacts.take(np.flatnonzero(np.minimum(contacts.gap, later) <= self.margin))

    @staticmethod
    def _check(name: str, values: Floats, shape: tuple[int, ...]) -> None:
        if values.shape != shape:
            raise ProblemError(f"{name} has shape {values.shape}, but the system needs {shape}.")
        row = placement.first_not_finite(values.reshape(len(values), math.prod(shape[1:])))
        if row >= 0:
            raise ProblemError(f"{name} of body {row} is {values[row]}: every number must be finite.")
