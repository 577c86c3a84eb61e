"""Contacts of a step with their impulses, selected by one or two bodies, by index or name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import OptionError


class Bodies(Protocol):
    """Finds bodies by name: a system or a recording."""

    def index(self, body: int | str) -> int:
        """Return the index of a body given by index or name; an unknown name is an error."""


@dataclass(frozen=True)
class ContactForces:
    """c contacts and their impulses; the normal points from body A to body B."""

    bodies: NDArray[np.int32]
    """(c, 2) bodies A and B."""
    point: Floats
    """(c, 3) in m, world frame."""
    normal: Floats
    """(c, 3) unit vectors, world frame."""
    gap: Floats
    """(c,) in m, negative where bodies overlap."""
    impulse: Floats
    """(c, 3) on body B in N·s, world frame."""
    step: float
    """The time step in s."""
    known: Bodies
    """Finds bodies by name."""

    def __len__(self) -> int:
        return len(self.gap)

    @property
    def force(self) -> Floats:
        """(c, 3) mean force on body B over the step in N, world frame."""
        return self.impulse / self.step

    def of(self, body: int | str) -> ContactForces:
        """Return the contacts of a body, with this body as B: normals point to it, forces act on it."""
        return self._with_b(self.known.index(body), None)

    def between(self, a: int | str, b: int | str) -> ContactForces:
        """Return the contacts of two bodies: normals point from `a` to `b`, forces act on `b`."""
        first, second = self.known.index(a), self.known.index(b)
        if first == second:
            raise OptionError(f"both bodies are {a!r}: give two different bodies")
        return self._with_b(second, first)

    def force_on(self, body: int | str, *, by: int | str | None = None) -> Floats:
        """Sum of the contact forces on a body, or of those exerted `by` another, (3,) in N, world frame."""
        return np.asarray(self._on(body, by).force.sum(axis=0))

    def torque_on(self, body: int | str, *, about: ArrayLike, by: int | str | None = None) -> Floats:
        """Torque of these forces about a point (3,) in m, world frame: (3,) in N·m, world frame."""
        found = self._on(body, by)
        arm = found.point - np.asarray(about, dtype=float)
        return np.asarray(np.cross(arm, found.force).sum(axis=0))

    def _on(self, body: int | str, by: int | str | None) -> ContactForces:
        return self.of(body) if by is None else self.between(by, body)

    def _with_b(self, body: int, other: int | None) -> ContactForces:
        """Contacts of a body, with another if one is given; A and B are exchanged if the body is A."""
        second = self.bodies[:, 1] == body
        rows = np.flatnonzero(second | (self.bodies[:, 0] == body))
        if other is not None:
            rows = rows[(self.bodies[rows] == other).any(axis=1)]
        turned = ~second[rows]
        sign = np.where(turned, -1.0, 1.0)[:, None]
        pairs = np.where(turned[:, None], self.bodies[rows, ::-1], self.bodies[rows])
        return ContactForces(
            pairs, self.point[rows], sign * self.normal[rows], self.gap[rows], sign * self.impulse[rows],
            self.step, self.known,
        )  # fmt: skip
