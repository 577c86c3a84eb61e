"""Entries of the library: a named problem with its builder, its starts and its reference solutions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth.complementarity.problem import MCP


def frozen(values: ArrayLike) -> Floats:
    """A copy as an array of floats that cannot be written to."""
    array = np.array(values, dtype=float)
    array.setflags(write=False)
    return array


def _whole(z: Floats) -> Floats:
    return z


@dataclass(frozen=True)
class Reference:
    """A reference solution: the whole point, or numbers that follow from it."""

    values: Floats
    """The known numbers."""
    accuracy: float
    """Accuracy of the numbers: half a unit of the last digit given."""
    what: str = "z"
    """Names of the numbers."""
    part: Callable[[Floats], Floats] = _whole
    """The same numbers of a point z."""

    def distance(self, z: Floats) -> float:
        """Largest difference between a point's numbers and the known ones."""
        return float(np.abs(self.part(np.asarray(z, dtype=float)) - self.values).max())


@dataclass(frozen=True)
class NamedProblem:
    """A complementarity problem with its starts and its reference solutions."""

    name: str
    summary: str
    source: str
    build: Callable[[], MCP]
    make_starts: Callable[[], Mapping[str, ArrayLike]]
    """Returns the starting points by name; see `starts`."""
    references: tuple[Reference, ...] = ()
    """One for each known solution; empty if only the certificate can judge."""

    @cached_property
    def starts(self) -> Mapping[str, Floats]:
        """Starting points by name."""
        return MappingProxyType({name: frozen(point) for name, point in self.make_starts().items()})

    def distance(self, z: Floats) -> float:
        """Distance of a point's numbers from those of the nearest reference; NaN if there is none."""
        return min((reference.distance(z) for reference in self.references), default=math.nan)

    def agrees(self, z: Floats, margin: float = 0.0) -> bool:
        """Return whether a point agrees with a reference to its digits, within `margin`."""
        return any(one.distance(z) <= one.accuracy + margin for one in self.references)
