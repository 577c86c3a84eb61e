"""All solutions of a small contact problem with given or planar friction, by enumeration of modes.

With a sliding contact (Painlevé), the contact problem on acceleration level may have no solution or several,
and an iteration finds at most one. Here every combination of modes is one linear system: open, closed, and
for planar friction that is not yet sliding also stick, slip forward and slip backward.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy.optimize import linprog

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import UnsupportedError
from nonsmooth.events.acceleration import AccelerationLevel, ActiveContact

MOST_MODES = 1024
"""Largest number of combinations: five planar contacts that may stick, ten that slide."""
_CLOSE = 1e-10
"""Fraction of the problem's forces and accelerations by which a mode may violate its inequalities."""
_SAME = 1e-8
"""Relative difference below which two accelerations are the same solution."""
_SINGULAR = 1e-11
"""Smallest singular value, relative to the largest, that counts as nonzero."""


_ACTIVE = 1e-6
"""Distance from a bound, relative to the forces, below which it is active in a linear program."""


class Mode(StrEnum):
    """The next mode of a contact."""

    OPEN = "open"
    SLIDE = "slide"
    """closed, and still sliding (or without friction)"""
    STICK = "stick"
    FORWARD = "forward"
    """begins to slide along the positive tangent"""
    BACKWARD = "backward"


SIGN = {Mode.FORWARD: 1.0, Mode.BACKWARD: -1.0}
"""Direction in which sliding begins."""


@dataclass(frozen=True, eq=False)
class ModeSolution:
    """One solution: the mode of each contact, its forces (λ_N, λ_T…) in N, and u̇.

    `margin` is the distance of the nearest inequality from violation, relative to the problem's forces or
    accelerations; near zero, another mode is equally valid.
    """

    modes: tuple[Mode, ...]
    forces: tuple[Floats, ...]
    acceleration: Floats
    margin: float


def can_enumerate(level: AccelerationLevel) -> bool:
    """True if all non-sliding friction is planar and there are few enough combinations."""
    if any(each.rows > 2 for each in level.contacts):
        return False
    count = 1
    for each in level.contacts:
        count *= len(_choices(each))
    return count <= MOST_MODES


def all_solutions(level: AccelerationLevel) -> list[ModeSolution]:
    """Return every solution, largest margin first; modes with the same acceleration count as one.

    A contact with more friction in sticking than in sliding can stick or slide under some loads: both are
    listed.
    """
    if not can_enumerate(level):
        raise UnsupportedError(
            f"spatial friction and more than {MOST_MODES} combinations of modes cannot be enumerated "
            f"(contacts: {len(level.contacts)}): solve level.problem instead, which finds one solution"
        )
    search = _Search(level)
    found = [
        solution
        for modes in itertools.product(*(_choices(each) for each in level.contacts))
        if (solution := search.solution_of(modes)) is not None and solution.margin >= -_CLOSE
    ]
    return _distinct(found, search.acceleration_scale)


def margin_of(level: AccelerationLevel, modes: tuple[Mode, ...]) -> float:
    """Margin of the inequalities for the motion in given modes (see `ModeSolution`); −inf without a motion.

    If statics does not determine the forces, those of largest margin are used.
    """
    found = _Search(level).solution_of(modes)
    return -np.inf if found is None else found.margin


def _choices(contact: ActiveContact) -> tuple[Mode, ...]:
    if contact.has_friction_rows:
        return (Mode.OPEN, Mode.STICK, Mode.FORWARD, Mode.BACKWARD)
    return (Mode.OPEN, Mode.SLIDE)


def _distinct(found: list[ModeSolution], scale: float) -> list[ModeSolution]:
    kept: list[ModeSolution] = []
    for each in sorted(found, key=lambda solution: -solution.margin):
        if all(np.abs(each.acceleration - other.acceleration).max() > _SAME * scale for other in kept):
            kept.append(each)
    return kept


class _Search:
    """The linear systems of all modes, over M⁻¹ of every direction, computed once."""

    def __init__(self, level: AccelerationLevel) -> None:
        self.level = level
        self.free = np.linalg.solve(level.mass, level.force)
        # sums of absolute values, so that forces which cancel do not give a small scale
        sizes = [
            np.abs(each.directions).T @ np.abs(self.free) + np.abs(each.drift) for each in level.contacts
        ]
        self.acceleration_scale = max((float(each.max()) for each in sizes), default=0.0) or 1.0
        mobility = [float(w @ np.linalg.solve(level.mass, w)) for w in level.directions.T] or [1.0]
        self.force_scale = self.acceleration_scale / float(np.median(mobility))

    def solution_of(self, modes: tuple[Mode, ...]) -> ModeSolution | None:
        """The motion in these modes, even if it violates their inequalities; None if there is none."""
        pushes, rows, drifts, owners = self._equations(modes)
        if not pushes:
            return self._judge(modes, np.zeros(0), owners, self.free)
        push, row = np.column_stack(pushes), np.column_stack(rows)
        mobile = np.linalg.solve(self.level.mass, push)
        matrix, right = row.T @ mobile, -(row.T @ self.free + np.array(drifts))
        left, values, turned = np.linalg.svd(matrix)
        regular = values > _SINGULAR * values[0]
        coordinates = (left.T @ right)[regular] / values[regular]
        forces = turned[regular].T @ coordinates
        if np.abs(matrix @ forces - right).max() > _CLOSE * self.acceleration_scale:
            return None
        if not regular.all():
            forces = self._widest(modes, forces, turned[~regular].T)
        return self._judge(modes, forces, owners, self.free + mobile @ forces)

    def _equations(
        self, modes: tuple[Mode, ...]
    ) -> tuple[list[Floats], list[Floats], list[float], list[int]]:
        """Push and row directions, drifts and owners of the unknowns of all closed contacts."""
        pushes: list[Floats] = []
        rows: list[Floats] = []
        drifts: list[float] = []
        owners: list[int] = []
        for i, (contact, mode) in enumerate(zip(self.level.contacts, modes, strict=True)):
            if mode is Mode.OPEN:
                continue
            if mode in SIGN:
                pushes.append(contact.push_while_sliding(np.array([SIGN[mode]])))
            else:
                pushes.append(contact.force_directions()[:, 0])
            rows.append(contact.directions[:, 0])
            drifts.append(float(contact.drift[0]))
            owners.append(i)
            if mode is Mode.STICK:
                pushes.append(contact.directions[:, 1])
                rows.append(contact.directions[:, 1])
                drifts.append(float(contact.drift[1]))
                owners.append(i)
        return pushes, rows, drifts, owners

    def _widest(self, modes: tuple[Mode, ...], forces: Floats, kernel: Floats) -> Floats:
        """Of all forces with the same motion, those of largest margin in their cones: a linear program."""
        bounds = self._cone_rows(modes)
        # maximise m with B (λ + N z) ≥ m
        size = kernel.shape[1]
        upper = np.column_stack([-bounds @ kernel, np.ones(len(bounds))])
        limit = [*[(None, None)] * size, (None, self.force_scale)]
        answer = linprog(
            np.append(np.zeros(size), -1.0), A_ub=upper, b_ub=bounds @ forces, bounds=limit, method="highs"
        )
        if answer.x is None:
            return forces
        # the program is solved to about 1e-7; its active bounds give the vertex exactly
        active = np.abs(bounds @ forces - upper @ answer.x) <= _ACTIVE * self.force_scale
        corner = np.linalg.lstsq(upper[active], (bounds @ forces)[active], rcond=_SINGULAR)[0]
        return np.asarray(forces + kernel @ (corner if active.sum() > size else answer.x)[:size])

    def _cone_rows(self, modes: tuple[Mode, ...]) -> Floats:
        """B with B λ ≥ 0 for admissible forces."""
        unknowns = sum(0 if mode is Mode.OPEN else 2 if mode is Mode.STICK else 1 for mode in modes)
        rows, at = [], 0
        for contact, mode in zip(self.level.contacts, modes, strict=True):
            if mode is Mode.OPEN:
                continue
            normal = np.zeros(unknowns)
            normal[at] = 1.0
            rows.append(normal)
            if mode is Mode.STICK:
                for sign in (-1.0, 1.0):
                    row = np.zeros(unknowns)
                    row[at], row[at + 1] = contact.sticking_friction, sign
                    rows.append(row)
            at += 2 if mode is Mode.STICK else 1
        return np.array(rows)

    def _judge(
        self, modes: tuple[Mode, ...], unknowns: Floats, owners: list[int], acceleration: Floats
    ) -> ModeSolution:
        forces: list[Floats] = []
        margin, at = np.inf, 0
        for contact, mode in zip(self.level.contacts, modes, strict=True):
            normal, friction = 0.0, np.zeros(contact.directions.shape[1] - 1)
            rate = contact.directions.T @ acceleration + contact.drift
            if mode is Mode.OPEN:
                margin = min(margin, rate[0] / self.acceleration_scale)
            else:
                normal = float(unknowns[at])
                margin = min(margin, normal / self.force_scale)
            if mode is Mode.STICK:
                friction = unknowns[at + 1 : at + 2]
                room = contact.sticking_friction * normal - abs(float(friction[0]))
                margin = min(margin, room / self.force_scale)
            elif mode in SIGN:
                friction = np.array([-SIGN[mode] * contact.friction * normal])
                margin = min(margin, SIGN[mode] * float(rate[1]) / self.acceleration_scale)
            elif mode is Mode.SLIDE and contact.slip is not None:
                friction = -contact.friction * normal * contact.slip
            at += owners.count(len(forces))
            forces.append(np.concatenate([[normal], friction]))
        return ModeSolution(modes, tuple(forces), acceleration, margin)
