"""A certificate of the contacts, computed by code that is independent of the narrow phase.

Checks of a pair:

- the smallest gap is the separation of both shapes along the normal, by their support functions;
- no direction separates better. For separate shapes, two points at the distance of the gap prove it; in
  overlap all faces and edge pairs of polytopes are tried, and a search from several starts for other shapes;
- further points lie on both surfaces along the normal;
- a contact of a mesh or a height field is compared with the triangles at its point: its normal is theirs, or
  one along which the point is farther out than they are; between two of them it is so for both;
- corners of the shared flat area lie within the area that the contacts span; on a mesh or a height field,
  those of all flat pieces.

Check of a shape: no other shape is nearer than the margin without a contact, by brute force over bounding
balls.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth._support.packed import Packed
from nonsmooth.collision.check_scene import make_scene, make_surfaces
from nonsmooth.collision.contacts import Contacts
from nonsmooth.collision.kernels.check import rows as kernels
from nonsmooth.collision.kernels.check import withheld as reasons
from nonsmooth.collision.kernels.check.step import (
    CHECKED,
    MISSING,
    PAIRS,
    PAIRS_CHECKED,
    StepCheck,
    check_step,
)
from nonsmooth.collision.withheld import REASONS, SWEPT, Withheld, led_bodies
from nonsmooth.errors import OptionError
from nonsmooth.model.shapes import HALF_SPACE, SPHERE
from nonsmooth.model.system import System

GAP_ABSOLUTE, GAP_RELATIVE = kernels.GAP_ABSOLUTE, kernels.GAP_RELATIVE
"""Allowed error of a gap, of a point, and of separation along a normal: 1e-12 m and 1e-9 of the pair's size
(its smaller diameter plus a tenth of the larger), in addition to the rounding of coordinates."""
SPAN_FLAT, SPAN_ROUND = kernels.SPAN_FLAT, kernels.SPAN_ROUND
"""Fraction of the diameter of the shared area that may lie beyond the contacts: flat faces, round faces."""

MODES = ("all", "sampled", "none")
PERIOD = 50
"""`sampled` checks each pair and each shape once in this number of steps."""
STRIDE = 5
"""`sampled` checks every fifth step: calling the check costs more than checking a few contacts."""
_PAIRS_PER_VISIT = 10_000_000  # bounding balls compared in a step by `sampled`
_NAMED = 8  # largest number of missing pairs in a message


@dataclass(frozen=True)
class ContactCertificate:
    """Result of the check of a step's contacts; for several steps, the largest errors and the sums."""

    contacts: int = 0
    """Number of contacts."""
    checked: int = 0
    """Number of checked contacts."""
    pairs: int = 0
    """Pairs of shapes in contact, in steps in which contacts were checked."""
    pairs_checked: int = 0
    gap_error: float = math.nan
    """Largest difference in m between a gap and the separation along its normal; NaN if none was checked."""
    angle: float = math.nan
    """Largest angle in rad between a normal and a direction that separates better by more than the stated
    error; 0 if there is none."""
    point_error: float = math.nan
    """Largest distance in m of a contact's two points from the surfaces, measured along the normal."""
    span_error: float = math.nan
    """Largest distance in m by which a contact area exceeds the area spanned by its contacts."""
    missing: int = 0
    """Number of touching pairs without a contact."""
    missing_pairs: tuple[str, ...] = ()
    """The first missing pairs."""
    withheld: dict[str, int] = field(default_factory=dict)
    """Numbers of deliberately withheld contacts, by reason."""
    unfounded: int = 0
    """Number of withheld contacts whose reason was checked and does not hold."""
    excess: float = 0.0
    """Largest error divided by its tolerance."""
    worst: str = "Nothing was checked."
    """A sentence on the largest error, with its pair."""

    @property
    def holds(self) -> bool:
        """True if every error is within its tolerance, no pair is missing and every reason holds."""
        return self.excess <= 1.0 and self.missing == 0 and self.unfounded == 0

    @property
    def share(self) -> float:
        """Fraction of the contacts that was checked; 1 without contacts."""
        return self.checked / self.contacts if self.contacts else 1.0

    def __str__(self) -> str:
        withheld = ", ".join(f"{count} {reason}" for reason, count in self.withheld.items()) or "none"
        lines = [
            f"contacts checked  {self.checked} of {self.contacts} ({self.share:.1%})",
            f"gap error         {self.gap_error:.3e} m",
            f"normal            {self.angle:.3e} rad",
            f"points            {self.point_error:.3e} m",
            f"span              {self.span_error:.3e} m",
            f"missing pairs     {self.missing}",
            f"withheld          {withheld}",
            f"verdict           {'holds' if self.holds else 'does not hold'}: {self.worst}",
        ]
        return "\n".join(lines)


def merged(certificates: Iterable[ContactCertificate]) -> ContactCertificate:
    """Certificate of several steps: largest errors, sums of counts."""
    total = ContactCertificate()
    for one in certificates:
        withheld = dict(total.withheld)
        for reason, count in one.withheld.items():
            withheld[reason] = withheld.get(reason, 0) + count
        worse = _badness(one) > _badness(total) or (total.pairs_checked == 0 and one.pairs_checked > 0)
        total = ContactCertificate(
            contacts=total.contacts + one.contacts,
            checked=total.checked + one.checked,
            pairs=total.pairs + one.pairs,
            pairs_checked=total.pairs_checked + one.pairs_checked,
            gap_error=float(np.fmax(total.gap_error, one.gap_error)),
            angle=float(np.fmax(total.angle, one.angle)),
            point_error=float(np.fmax(total.point_error, one.point_error)),
            span_error=float(np.fmax(total.span_error, one.span_error)),
            missing=total.missing + one.missing,
            missing_pairs=(total.missing_pairs + one.missing_pairs)[:_NAMED],
            withheld=withheld,
            unfounded=total.unfounded + one.unfounded,
            excess=max(total.excess, one.excess),
            worst=one.worst if worse else total.worst,
        )
    return total


def _badness(certificate: ContactCertificate) -> tuple[int, int, float]:
    return certificate.missing, certificate.unfounded, certificate.excess


class ContactChecker:
    """Checks the contacts of a system, whose shapes, fixed bodies and ignored pairs are read once.

    `mode` is "all", "sampled" (each pair and each shape once in 50 steps, in every fifth step, by a schedule
    that depends on the step's number and the pair alone) or "none".
    """

    def __init__(self, system: System, mode: str = "sampled") -> None:
        if mode not in MODES:
            raise OptionError(f"contact_check is {mode!r}: choose one of {', '.join(MODES)}.")
        self.mode = mode
        table = system.shapes
        self._scene, work = make_scene(table)
        self._surfaces = make_surfaces(table)
        self._count, self._bodies = len(table), system.count
        self._led = led_bodies(system)
        self._round = bool(np.isin(table.kind, (SPHERE, HALF_SPACE)).all())
        self.every = {"all": 1, "sampled": STRIDE, "none": 0}[mode]
        """Number of steps from one in which contacts are checked to the next; 0 if they never are."""
        fixed = np.asarray(system.fixed)[table.body]
        # All fixed bodies are one group; half-spaces never touch each other.
        self._group = np.where(fixed | (table.kind == HALF_SPACE), -1, table.body).astype(np.int64)
        ignored = np.asarray(system.ignored_pairs, dtype=np.int64)
        self._ignored = np.sort(ignored[:, 0] * self._bodies + ignored[:, 1])
        names = {body: name for name, body in system.names.items()}
        self._names = [f'"{names[body]}"' if body in names else f"body {body}" for body in table.body]
        self._still = np.zeros((self._bodies, 3))
        self._nothing = np.empty(0, dtype=np.int64)
        period = shape_period = 1
        if mode == "sampled":
            period = PERIOD // STRIDE
            shape_period = max(period, self._count * self._count // _PAIRS_PER_VISIT)
        self._period = period
        plan = np.array([self.every, period, shape_period, self._round, self._bodies], dtype=np.int64)
        result = kernels.Result(np.zeros(4), np.zeros(4), np.zeros(4), np.full(4, -1, dtype=np.int64))
        self.arrays = StepCheck(
            plan, self._scene, self._surfaces, work, self._group, self._ignored, result,
            np.zeros(4, dtype=np.int64), np.empty((_NAMED, 2), dtype=np.int64),
        )  # fmt: skip
        """What the compiled check reads and writes."""
        self._packed = Packed(self.arrays)

    def check(
        self,
        contacts: Contacts,
        position: Floats,
        quaternion: Floats,
        *,
        margin: float,
        step: int = 0,
        withheld: Withheld | None = None,
        displacement: Floats | None = None,
        rotation: Floats | None = None,
    ) -> ContactCertificate:
        """Certificate of the contacts of bodies at `position` (n, 3) in m and unit `quaternion` (n, 4).

        Args:
            contacts: in the detector's order.
            position: of the bodies when the contacts were found.
            quaternion: of the bodies when the contacts were found.
            margin: gap in m up to which every touching pair must be reported.
            step: number of the step; selects the pairs that "sampled" checks.
            withheld: contacts that the detector withheld or changed, with reasons.
            displacement: (n, 3) expected motion of the bodies in the step in m, to check the reasons.
            rotation: (n, 3) expected rotation vectors in rad.
        """
        if withheld is None:
            withheld = Withheld.empty()
        if self.every == 0 or step % self.every:
            return self.unchecked(contacts, withheld)
        position, quaternion = _writable(position), _writable(quaternion)
        rows = self._rows(contacts, float(margin))
        meeting, keys = rows, self._nothing
        if len(withheld):
            keys = np.unique(self._keys(withheld.shapes))
            rows, meeting = self._swept(rows, withheld, displacement)
        check_step(self._packed, rows, meeting, keys, position, quaternion, step)
        unfounded, wrong = 0, -1
        # swept contacts of spheres are checked with their pairs
        if len(withheld) and not (self._round and np.all(withheld.reason == SWEPT)):
            move = reasons.Move(
                position,
                quaternion,
                self._still if displacement is None else displacement,
                self._still if rotation is None else rotation,
            )
            unfounded, wrong = self._reasons(move, contacts, withheld, step // self.every, self._period)
        return self.certificate(contacts, withheld, unfounded, wrong)

    def certificate(
        self, contacts: Contacts, withheld: Withheld, unfounded: int = 0, wrong: int = -1
    ) -> ContactCertificate:
        """Certificate of the contacts that `arrays` has the check of.

        `unfounded` is the number of reasons that do not hold, and `wrong` the row of the first.
        """
        result, tally = self.arrays.result, self.arrays.tally.tolist()
        missing = tally[MISSING]
        names = tuple(self._pair(a, b) for a, b in self.arrays.found[: min(missing, _NAMED)])
        some = tally[PAIRS_CHECKED] > 0
        value = [float(number) if some else math.nan for number in result.value]
        return ContactCertificate(
            contacts=len(contacts),
            checked=tally[CHECKED],
            pairs=tally[PAIRS],
            pairs_checked=tally[PAIRS_CHECKED],
            gap_error=value[kernels.GAP],
            angle=value[kernels.ANGLE],
            point_error=value[kernels.POINT],
            span_error=value[kernels.SPAN],
            missing=missing,
            missing_pairs=names,
            withheld=_by_reason(withheld),
            unfounded=unfounded,
            excess=float(result.ratio.max()),
            worst=self._sentence(contacts, result, names, withheld, wrong),
        )

    def unchecked(self, contacts: Contacts, withheld: Withheld) -> ContactCertificate:
        """Certificate of a step whose contacts are not checked."""
        counts = _by_reason(withheld)
        if self.mode == "none":
            return ContactCertificate(
                contacts=len(contacts), withheld=counts, worst="The check is switched off."
            )
        return ContactCertificate(contacts=len(contacts), withheld=counts)

    def _keys(self, shapes: NDArray[np.int32]) -> Integers:
        """One number for each pair of shapes."""
        keys: Integers = shapes[:, 0].astype(np.int64) * self._count + shapes[:, 1]
        return keys

    def _rows(self, contacts: Contacts, margin: float) -> kernels.Rows:
        """The columns of contacts that the kernels read."""
        count = len(contacts)
        return kernels.Rows(
            contacts.shapes.astype(np.int64), _writable(contacts.point), _writable(contacts.normal),
            _writable(contacts.gap), margin, np.zeros(count), np.zeros((count, 3)),
        )  # fmt: skip

    def _swept(
        self, rows: kernels.Rows, withheld: Withheld, displacement: Floats | None
    ) -> tuple[kernels.Rows, kernels.Rows]:
        """The rows with the fractions of the step until the shapes meet; the same rows at that time.

        One shape takes the whole relative displacement: the first, or the one that is not a surface. A point
        on that shape moves with it; a point in the middle moves by half. The gap changes by the displacement
        along the normal.
        """
        swept = np.flatnonzero(withheld.reason == SWEPT)
        if len(swept) == 0:
            return rows, rows
        keys, once = np.unique(self._keys(withheld.shapes[swept]), return_index=True)
        own = self._keys(rows.shapes)
        at = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
        part = np.where(keys[at] == own, withheld.part[swept[once[at]]], 0.0)
        moves = self._still if displacement is None else displacement
        between = moves[self._scene.body[rows.shapes[:, 1]]] - moves[self._scene.body[rows.shapes[:, 0]]]
        way = part[:, None] * between
        # a surface comes first or second
        first = self._surfaces.of_shape[rows.shapes[:, 0]] >= 0
        sign = np.where(first, 1.0, -1.0)[:, None]
        led = self._led[self._scene.body[rows.shapes]]
        ahead = np.where(first, led[:, 0], led[:, 1]), np.where(first, led[:, 1], led[:, 0])
        with_other = 0.5 + 0.5 * (ahead[0].astype(float) - ahead[1])[:, None]
        gap = rows.gap + np.einsum("ij,ij->i", rows.normal, way)
        rows = rows._replace(part=part, way=sign * way)
        return rows, rows._replace(point=rows.point + with_other * rows.way, gap=gap)

    def _reasons(
        self, move: reasons.Move, contacts: Contacts, withheld: Withheld, step: int, period: int
    ) -> tuple[int, int]:
        """Number of reasons that do not hold, and the row of the first."""
        counts, first = np.zeros((3, 2), dtype=np.int64), np.empty(1, dtype=np.int64)
        columns = reasons.Withheld(
            withheld.shapes.astype(np.int64), withheld.reason, withheld.normal, withheld.point, withheld.gap,
            withheld.part,
        )  # fmt: skip
        reasons.check_withheld(
            self._packed.scene, self._group, move,
            (contacts.shapes.astype(np.int64), contacts.point, contacts.normal, contacts.gap), columns,
            step, period, self._packed.work, counts, first,
        )  # fmt: skip
        return int(counts[:, 1].sum()), int(first[0])

    def _pair(self, a: int, b: int) -> str:
        return f"{self._names[a]} (shape {a}) and {self._names[b]} (shape {b})"

    def _sentence(
        self,
        contacts: Contacts,
        result: kernels.Result,
        missing: tuple[str, ...],
        withheld: Withheld,
        wrong: int,
    ) -> str:
        """A sentence on the largest error."""
        if missing:
            return f"No contact is reported for {missing[0]}, which touch."
        if wrong >= 0:
            pair = self._pair(*withheld.shapes[wrong])
            reason = REASONS.get(int(withheld.reason[wrong]), "unknown")
            return f"The reason {reason!r} for the contact of {pair} does not hold."
        worst = int(np.argmax(result.ratio))
        row = int(result.row[worst])
        if row < 0:
            return "No error was found."
        what = (
            "the gap is off by {:.3g} m",
            "a direction {:.3g} rad from the normal separates better",
            "a point is off the surfaces by {:.3g} m",
            "the contact area reaches {:.3g} m beyond the contacts",
        )[worst].format(result.worst[worst])
        pair = self._pair(*contacts.shapes[row])
        return f"Between {pair}, {what}, {result.ratio[worst]:.2g} times the tolerance."


def _writable(array: NDArray[Any]) -> NDArray[Any]:
    """The array, or a writeable copy of a read-only one: kernels are compiled for one type."""
    return array if array.flags.writeable and array.flags.c_contiguous else array.copy()


def _by_reason(withheld: Withheld) -> dict[str, int]:
    if not len(withheld):
        return {}
    numbers, counts = np.unique(withheld.reason, return_counts=True)
    return {
        REASONS.get(int(number), "unknown"): int(count) for number, count in zip(numbers, counts, strict=True)
    }
