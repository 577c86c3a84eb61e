"""What a named problem is: how it is built, where to start, and what is known of its answers."""

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
    """What is known of one answer: the whole point, or numbers that follow from it."""

    values: Floats
    """The known numbers."""
    accuracy: float
    """How far they may be from the true ones: half a unit of the last digit that is given."""
    what: str = "z"
    """What the numbers are."""
    part: Callable[[Floats], Floats] = _whole
    """The same numbers of a point z."""

    def distance(self, z: Floats) -> float:
        """Largest difference between a point's numbers and the known ones."""
        return float(np.abs(self.part(np.asarray(z, dtype=float)) - self.values).max())


@dataclass(frozen=True)
class NamedProblem:
    """A complementarity problem with its starts and what is known of its answers."""

    name: str
    summary: str
    source: str
    build: Callable[[], MCP]
    make_starts: Callable[[], Mapping[str, ArrayLike]]
    """Called for the points to start from, by their names; see `starts`."""
    references: tuple[Reference, ...] = ()
    """One for each known answer; empty where only the certificate can judge."""

    @cached_property
    def starts(self) -> Mapping[str, Floats]:
        """Points to start from, by their names."""
        return MappingProxyType({name: frozen(point) for name, point in self.make_starts().items()})

    def distance(self, z: Floats) -> float:
        """How far a point's numbers are from those of the nearest reference; NaN where there is none."""
        return min((reference.distance(z) for reference in self.references), default=math.nan)

    def agrees(self, z: Floats, margin: float = 0.0) -> bool:
        """Tell whether a point has a reference's numbers to their digits, give or take `margin`."""
        return any(one.distance(z) <= one.accuracy + margin for one in self.references)
