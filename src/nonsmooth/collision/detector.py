"""Detection of the contacts of a system in a step."""

from __future__ import annotations

import math

import numpy as np

from nonsmooth._support.arrays import Floats, Indices
from nonsmooth.collision.bounds import local_bounds
from nonsmooth.collision.broad_phase import BroadPhase
from nonsmooth.collision.contacts import Contacts
from nonsmooth.collision.crossings import tell_of_crossings
from nonsmooth.collision.kernels import placement
from nonsmooth.collision.kernels.broad_phase import drop_ignored
from nonsmooth.collision.kernels.closed_forms.pairs import Motion, Output
from nonsmooth.collision.kernels.detection import Cells, ContactRows, Detection, PairRows, Placed
from nonsmooth.collision.kernels.motion.covering import Course
from nonsmooth.collision.kernels.motion.fast_pairs import any_fast, followed
from nonsmooth.collision.narrow_phase import NarrowPhase, scratch
from nonsmooth.collision.seams import OF_MARGIN, PLANES, Seams, has_seams
from nonsmooth.collision.withheld import Withheld, led_bodies
from nonsmooth.errors import OptionError, ProblemError
from nonsmooth.model.shapes import HALF_SPACE
from nonsmooth.model.system import System


class Detector:
    """Finds the contacts of a system, whose shapes, materials, fixed bodies and ignored pairs are read once.

    A contact is returned if its gap is at most `margin` (m), or may be at the end of the step:
    gap + n·(d_b − d_a) − turn_a − turn_b ≤ margin. Shapes of one body, of two fixed bodies, and of bodies
    that ignore each other are not tested. The result depends only on the arguments of the call, not on
    earlier calls.
    """

    def __init__(self, system: System, margin: float) -> None:
        if not (np.isfinite(margin) and margin >= 0.0):
            raise OptionError(f"margin is {margin} m: give a finite, nonnegative length.")
        self.margin = float(margin)
        table = system.shapes
        self._bodies = system.count
        self._narrow = NarrowPhase(table, system.materials.pair_table())
        count = len(table)
        self._local_bound = local_bounds(table)
        # All fixed bodies are one group: shapes of one group are never in contact.
        group = np.where(system.fixed[table.body], -1, table.body).astype(np.int32)
        self._broad_phase = BroadPhase(group, table.kind == HALF_SPACE)
        ignored = system.ignored_pairs
        self._ignored = (
            (np.searchsorted(ignored[:, 0], np.arange(system.count + 1)), ignored[:, 1].copy())
            if len(ignored)
            else None
        )
        self._led = led_bodies(system)
        self._hasty = np.zeros(self._bodies, dtype=bool)
        self._least = self._narrow.least_radii(self._bodies)
        tell_of_crossings(system)
        self._still = np.zeros((self._bodies, 3)), np.zeros(self._bodies)
        self._reach = np.empty(self._bodies)
        self._centre = np.empty((count, 4))
        self._axes = np.tile(np.eye(3), (count, 1, 1))  # constant for spheres
        self._bound = np.empty((count, 7))
        self._seams = Seams(self._narrow, group, self._local_bound[:, 6]) if has_seams(table) else None
        self.withheld = Withheld.empty()
        """Contacts that the last call withheld, or whose normal is that of a later time."""

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
        motion = self._motion(displacement, turn)
        self._hasty[:] = False
        contacts, self.withheld = self._narrow.contacts(pairs, self._centre, self._axes, motion)
        if self._seams is not None:
            contacts, hidden = self._seams.withhold(contacts, self._centre, self._axes, self.margin)
            self.withheld = self.withheld.joined(hidden) if len(hidden) else self.withheld
        return contacts

    @property
    def follows(self) -> bool:
        """Whether the last call of `detect` left fast pairs without contacts, whose paths are followed."""
        return bool(self._hasty.any())

    def is_fast(self, displacement: Floats, turn: Floats) -> bool:
        """Whether `meetings` may find pairs: a cheap test for every step; arguments as for `detect`."""
        return bool(any_fast(displacement, turn, self._hasty, self._least))

    def meetings(self, course: Course, quaternion: Floats, turn: Floats) -> tuple[Indices, Floats] | None:
        """Pairs of bodies (k, 2) that meet within a step, and the fractions (k,) of the step until then.

        `turn` (n,) is as for `detect`. The paths of fast pairs are followed, and of those that the last
        call of `detect` left without contacts. None if no pair meets.
        """
        displacement = course.displacement
        pairs = self.candidates(course.position, quaternion, displacement, turn)
        chosen = np.empty(len(pairs), dtype=np.int8)
        followed(pairs, self._narrow.shapes, self._motion(displacement, turn), chosen)
        met, parts = [], []
        for kind in (1, 2):
            of_kind = pairs[chosen == kind]
            if len(of_kind):
                part = self._narrow.meetings(
                    of_kind, kind == 2, self._centre, self._axes, course, turn, self.margin
                )
                met.append(self._narrow.shapes.tags[of_kind[part <= 1.0], 0])
                parts.append(part[part <= 1.0])
        if not sum(map(len, parts)):
            return None
        return np.concatenate(met), np.concatenate(parts)

    @property
    def least_radii(self) -> Floats:
        """Least inner radius (n,) of each body's shapes in m."""
        return self._least

    def arrays(self, contacts: int, pairs: int) -> Detection:
        """What `kernels.detection` needs, with room for a number of contacts and of pairs."""
        narrow, shapes = self._narrow, len(self._bound)
        group, half_spaces, bounded = self._broad_phase.of_shapes
        nothing = np.empty(0, dtype=np.int64)
        ignored = (nothing, nothing) if self._ignored is None else self._ignored
        tally = np.empty(shapes + 1, dtype=np.int32)
        columns = half_spaces, bounded, *self._broad_phase.make_work(), tally, group, *ignored
        cells = Cells(**dict(zip(Cells._fields, columns, strict=True)))
        seams = (np.empty(0), np.empty(0)) if self._seams is None else (self._seams.level, self._seams.beside)
        placed = Placed(
            self._local_bound, self._centre, self._axes, self._bound, self._reach, narrow.inner, self._led,
            self._hasty, np.empty(shapes), *seams,
        )  # fmt: skip
        closed, solids, found = (Output(*Contacts.allocate(contacts).columns()) for _ in range(3))
        rows = ContactRows(
            closed, solids, found, np.empty(contacts), np.empty(shapes + 1, dtype=np.int64),
            np.empty(2 * contacts, dtype=np.int64), np.empty(contacts, dtype=np.int64),
            np.empty(PLANES, dtype=np.int64),
        )  # fmt: skip
        work = narrow.solid_work()
        spots = len(work.manifold.found)
        return Detection(
            narrow.shapes, narrow.tables, cells, placed,
            PairRows(
                np.empty((pairs, 2), dtype=np.int32), np.empty((pairs, 2), dtype=np.int32),
                np.empty(pairs, dtype=np.int64), np.empty((pairs, 2), dtype=np.int32),
            ),
            rows, scratch(), work, np.empty((spots, 7)), np.empty(spots, dtype=np.int64),
            np.zeros(2, dtype=np.int64), np.array([self.margin, OF_MARGIN]),
        )  # fmt: skip

    @property
    def needs_python(self) -> bool:
        """Whether `kernels.detection` cannot find the contacts of these shapes."""
        return self._narrow.has_surfaces

    def _motion(self, displacement: Floats, turn: Floats) -> Motion:
        return Motion(
            self.margin, displacement, turn, self._reach, self._narrow.inner, self._led, self._hasty
        )

    def candidates(self, position: Floats, quaternion: Floats, displacement: Floats, turn: Floats) -> Indices:
        """Pairs of shapes (p, 2) whose bounds overlap and that may touch, for `detect`'s arguments."""
        placement.set_reach(displacement, turn, self.margin, self._reach)
        placement.place(
            self._narrow.shapes,
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
            pairs = pairs[: drop_ignored(pairs, self._narrow.shapes.tags[:, 0], *self._ignored)]
        return pairs

    @staticmethod
    def _check(name: str, values: Floats, shape: tuple[int, ...]) -> None:
        if values.shape != shape:
            raise ProblemError(f"{name} has shape {values.shape}, but the system needs {shape}.")
        row = placement.first_not_finite(values.reshape(len(values), math.prod(shape[1:])))
        if row >= 0:
            raise ProblemError(f"{name} of body {row} is {values[row]}: every number must be finite.")
