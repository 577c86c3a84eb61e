"""`World`: the arrays that a compiled walk over the steps of a run reads and writes; their room grows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nonsmooth._support.arrays import Floats, Indices, Integers
from nonsmooth._support.packed import Packed
from nonsmooth.collision.certificate import ContactChecker
from nonsmooth.collision.contacts import Contacts
from nonsmooth.collision.detector import Detector
from nonsmooth.collision.kernels.check.step import CheckRows
from nonsmooth.collision.kernels.detection import CONTACTS, PAIRS
from nonsmooth.model.system import System
from nonsmooth.problem.mass import BodyMass
from nonsmooth.solvers import auto
from nonsmooth.solvers.admm import ADMM, mixture_of, run_of
from nonsmooth.solvers.kernels.admm import LEAST_PENALTY
from nonsmooth.solvers.kernels.bands import BodyOrder
from nonsmooth.solvers.kernels.gauss_seidel import Room
from nonsmooth.solvers.parts import first_sweeps
from nonsmooth.stepping.contact_numbers import DEEP
from nonsmooth.stepping.joint_room import joint_room
from nonsmooth.stepping.kernels import world as kernels
from nonsmooth.stepping.kernels.motion import Bodies, State
from nonsmooth.stepping.kernels.numbers import NAMES
from nonsmooth.stepping.kernels.step import Rows
from nonsmooth.stepping.options import ChosenOptions
from nonsmooth.stepping.schemes.body_constants import moving_hulls, spin_radius
from nonsmooth.stepping.schemes.mechanism import Mechanism
from nonsmooth.stepping.schemes.turning_planes import turning_planes

LOG_ROWS = 256
"""Steps that a walk can do before its numbers are collected."""
_LATE = 1e-3
"""Overlap, relative to the margin, above which a new contact counts as found too late."""
_BAND = 100
"""Band entries per contact for which there is room."""
_FIRST_ROOM = 64
"""Initial number of contacts."""


def _pairs_at_first(shapes: int) -> int:
    """Initial number of pairs of shapes whose bounds overlap."""
    return 8 * shapes + 64


class World:
    """Owns the arrays of one run of one system, and makes room for more contacts and pairs."""

    def __init__(
        self,
        system: System,
        constants: tuple[Bodies, BodyMass],
        mechanism: Mechanism,
        detector: Detector,
        checker: ContactChecker,
        step: float,
        options: ChosenOptions,
        *,
        holds_joints: bool,
    ) -> None:
        """Take the masses of all bodies and their factors, what finds and checks contacts, and whether the
        walk does steps of joints alone."""
        bodies, mass = constants
        joints = joint_room(system, mechanism, walked=holds_joints)
        joint_impulses = joints.impulses if holds_joints else np.zeros(mechanism.count)
        n = system.count
        self._detector, self._bodies = detector, n
        cornered = moving_hulls(system)
        self._cornered = np.zeros(0, dtype=bool) if cornered is None else cornered
        move = kernels.Move(
            np.zeros((n, 6)), np.empty((n, 6)), np.empty((n, 6)), np.empty((n, 6)), np.empty((n, 3)),
            np.empty(n), spin_radius(system), np.array(system.bounding_radius), detector.least_radii,
            np.empty((n, 3)), np.full(n, step), np.empty((n, 3)), np.array(system.gravity, dtype=float),
        )  # fmt: skip
        state = State(
            system.position, system.quaternion, system.linear_velocity, system.angular_velocity,
            np.empty((n, 3, 3)),
        )  # fmt: skip
        pairs = _pairs_at_first(len(system.shapes))
        self.arrays = kernels.World(
            np.zeros(kernels.COUNTS, dtype=np.int64), np.zeros(kernels.REALS), bodies, state,
            kernels.Masses(mass.blocks, mass.lower, mass.lower_inverse), move, turning_planes(system),
            detector.arrays(_FIRST_ROOM, pairs), _matched(_FIRST_ROOM), self._problem(_FIRST_ROOM),
            self._scratch(_FIRST_ROOM), self._tower(_FIRST_ROOM), joints, joint_impulses, checker.arrays,
            _check_rows(_FIRST_ROOM),
            np.zeros(kernels.CHECK_NUMBERS), np.empty((LOG_ROWS, len(NAMES))),
            np.zeros(len(kernels.PARTS), dtype=np.int64),
        )  # fmt: skip
        self.count, self.real = self.arrays.count, self.arrays.real
        self._choose(mass, step, options)
        self.packed = Packed(self.arrays)

    def _choose(self, mass: BodyMass, step: float, options: ChosenOptions) -> None:
        """Set the numbers that do not change in a run."""
        count, real = self.count, self.real
        count[kernels.SIDES], real[kernels.TILTING] = options.law.sides, options.law.exact
        count[kernels.FOUND_OUTSIDE] = self._detector.needs_python
        swept = isinstance(options.solver, auto.Auto) and mass.rounding <= options.tolerance
        count[kernels.SMALL] = first_sweeps.MOST_BLOCKS if swept else -1
        count[kernels.AHEAD] = auto.AHEAD if swept and options.max_iterations is None else 0
        count[kernels.SWEEPS] = first_sweeps.most_sweeps(options.max_iterations)
        real[kernels.H], real[kernels.MARGIN] = step, options.margin
        real[kernels.PUSH_OUT], real[kernels.TOLERANCE] = options.push_out_speed, options.tolerance
        real[kernels.GROWTH] = first_sweeps.GROWTH
        real[kernels.LATE_LIMIT], real[kernels.DEEP_LIMIT] = _LATE, DEEP

    def _problem(self, room: int) -> kernels.Problem:
        rows = Rows(
            np.empty((room, 2), dtype=np.int64), np.empty((room, 2, 3, 6)), np.empty((room, 2, 3, 6)),
            np.empty((room, 3)), np.empty((room, 3)), np.empty((room, 3, 3)),
        )  # fmt: skip
        return kernels.Problem(
            rows, np.empty(room), np.empty((room, 2, 3)), self._cornered,
            np.empty((room, 2), dtype=np.uint32), np.zeros(room, dtype=np.uint8), np.empty((room, 3)),
            np.full((room, 3), -np.inf), np.full((room, 3), np.inf), np.full(room, 3), np.empty((room, 3, 3)),
            np.zeros((room, 3)), np.empty(room, dtype=np.int64), np.empty(room), np.empty(room),
            np.empty(6 * (self._bodies + 1), dtype=np.int64), np.zeros((room, 3)), np.empty((room, 3)),
            np.empty((2, 6)),
        )  # fmt: skip

    def _scratch(self, room: int) -> Room:
        bodies = self._bodies + 1
        return Room(
            np.empty((room, 3, 3)), np.empty((room, 3, 3)), np.empty(room), np.empty(room, dtype=np.int64),
            np.empty((room, 3)), np.empty((room, 3)), np.empty((room, 3)), np.empty((bodies, 6)),
            np.empty((bodies, 6)), np.empty((bodies, 6)), np.empty(2), np.empty(room), np.empty(room),
        )  # fmt: skip

    def _tower(self, room: int) -> kernels.Tower:
        room, bodies = min(room, ADMM().max_blocks), self._bodies + 1
        numbers = (np.empty(bodies, dtype=np.int64) for _ in range(5))
        level, count, order, place, start = numbers
        entries = _BAND * room + 12 * bodies
        return kernels.Tower(
            level, count, BodyOrder(order, place, start, np.empty(2 * room, dtype=np.int64)),
            run_of(ADMM(), np.empty((room, 3)), np.empty((room, 3)), np.ones(room), LEAST_PENALTY),
            mixture_of(ADMM().depth, room), np.empty(entries), np.empty(entries), np.zeros((bodies, 6)),
            np.empty(6 * bodies), np.empty(36 * bodies),
        )  # fmt: skip

    # ---- room ------------------------------------------------------------------------------------

    def grow(self) -> None:
        """Make the room that the detection of contacts asked for."""
        needed = self.arrays.detection.needed
        self.make_room(int(needed[CONTACTS]), int(needed[PAIRS]))

    def make_room(self, contacts: int, pairs: int = 0) -> None:
        """Make room for a number of contacts and of pairs; the contacts of the last step are kept."""
        old = self.arrays
        room, most_pairs = len(old.problem.x), len(old.detection.pairs.pairs)
        if contacts <= room and pairs <= most_pairs:
            return
        room = max(room, contacts + contacts // 4)
        detection = self._detector.arrays(room, max(most_pairs, pairs + pairs // 4))
        detection.margins[:] = old.detection.margins
        matched, known = _matched(room), int(self.count[kernels.KNOWN])
        matched.shapes[:known] = old.matched.shapes[:known]
        matched.feature[:known] = old.matched.feature[:known]
        matched.impulses[:known] = old.matched.impulses[:known]
        self.arrays = old._replace(
            detection=detection,
            matched=matched,
            problem=self._problem(room),
            room=self._scratch(room),
            tower=self._tower(room),
            check_rows=_check_rows(room),
        )
        self.packed = Packed(self.arrays)

    # ---- contacts --------------------------------------------------------------------------------

    def contacts(self) -> Contacts:
        """The contacts of this step: views."""
        return Contacts(*self.arrays.detection.contacts.found).take(slice(int(self.count[kernels.FOUND])))

    def set_contacts(self, contacts: Contacts) -> None:
        """Replace the contacts of this step."""
        self.make_room(len(contacts))
        self.count[kernels.FOUND] = len(contacts)
        for own, column in zip(self.contacts().columns(), contacts.columns(), strict=True):
            own[:] = column

    def remembered(self) -> tuple[Indices, Integers, Floats]:
        """Shapes, features and impulses of the last step's contacts: views."""
        known, matched = int(self.count[kernels.KNOWN]), self.arrays.matched
        return matched.shapes[:known], matched.feature[:known], matched.impulses[:known]

    def remember(self, shapes: Indices, feature: Integers, impulses: Floats) -> None:
        """Set the contacts of the last step."""
        self.make_room(len(feature))
        self.count[kernels.KNOWN] = len(feature)
        old = self.remembered()
        old[0][:], old[1][:], old[2][:] = shapes, feature, impulses

    # ---- steps -----------------------------------------------------------------------------------

    def move_whole_step(self) -> None:
        """Let all bodies do the whole step."""
        self.count[kernels.SHORTENED] = 0
        self.arrays.move.times[:] = self.real[kernels.H]

    def add_row(self, numbers: Sequence[float]) -> None:
        """Append the numbers of a step to the log."""
        self.arrays.log[self.count[kernels.LOGGED]] = numbers
        self.count[kernels.LOGGED] += 1

    # ---- problem ---------------------------------------------------------------------------------

    def rows(self) -> Rows:
        """A copy of the rows of this step's contacts."""
        c = int(self.count[kernels.FOUND])
        return Rows(*(column[:c].copy() for column in self.arrays.problem.rows))


def _check_rows(room: int) -> CheckRows:
    return CheckRows(np.empty((room, 2), dtype=np.int64), np.zeros(room), np.zeros((room, 3)))


def _matched(room: int) -> kernels.Matched:
    return kernels.Matched(
        np.empty((room, 2), dtype=np.int32), np.empty(room, dtype=np.int64), np.empty((room, 3)),
        np.empty(room, dtype=np.int64), np.empty((room, 3)),
    )  # fmt: skip
