"""Materials of surfaces, and the contact properties of pairs of materials.

A property of a contact belongs to a pair of materials. All such properties are declared here: a new one
(rolling friction, spinning friction, cohesion) is a field of `Material`, a field of `PairTable` and its
bounds in `_BOUNDS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import ProblemError
from nonsmooth.model import checks as check

IMPACT_LAWS = ("newton", "poisson")
"""Laws of impact: e is a ratio of speeds, or of impulses in expansion and compression."""
_BOUNDS = {"friction": (0.0, np.inf), "restitution": (0.0, 1.0)}
"""Smallest and largest value of each property."""


@dataclass(frozen=True)
class Material:
    """A named surface.

    Args:
        name: used by bodies to refer to it.
        friction: Coulomb's coefficient μ ≥ 0.
        restitution: e, from 0 to 1: the ratio of normal speeds after and before an impact ("newton"), or of
            the normal impulses of its expansion and its compression ("poisson").
        impact_law: "newton" or "poisson".
    """

    name: str
    friction: float = 0.5
    restitution: float = 0.0
    impact_law: str = "newton"

    def __post_init__(self) -> None:
        check.text("the name of a material", self.name)
        _checked_law(f"material {self.name!r}", self.impact_law)
        for quantity in _BOUNDS:
            value = _checked(quantity, f"material {self.name!r}", getattr(self, quantity))
            object.__setattr__(self, quantity, value)


class PairTable(NamedTuple):
    """Properties of every pair of m materials, as symmetric arrays (m, m)."""

    friction: Floats
    restitution: Floats


class Materials:
    """The materials of a system, in the order in which they were added; number 0 is "default".

    For a pair of materials the smaller of their values applies, and Newton's law of impact if either has it,
    unless `set_pair` defines it.
    """

    def __init__(self) -> None:
        self._materials = [Material("default")]
        self._index = {"default": 0}
        self._pairs: dict[tuple[int, int], dict[str, float]] = {}
        self._laws: dict[tuple[int, int], str] = {}

    def __len__(self) -> int:
        return len(self._materials)

    def __getitem__(self, name: str) -> Material:
        return self._materials[self.index(name)]

    @property
    def names(self) -> tuple[str, ...]:
        """Names in order of their numbers."""
        return tuple(self._index)

    def index(self, name: str) -> int:
        """Return the number of a material; an unknown name is an error that lists the known ones."""
        try:
            return self._index[name]
        except (KeyError, TypeError):
            raise ProblemError(
                f"material {name!r} is not known: add it with add_material, or use one of "
                f"{', '.join(self._index)}"
            ) from None

    def add(self, material: Material) -> int:
        """Add a material and return its number; "default" alone may be given again, with new values."""
        if material.name == "default":
            self._materials[0] = material
            return 0
        if material.name in self._index:
            raise ProblemError(f"material {material.name!r} exists already: choose another name")
        self._index[material.name] = len(self._materials)
        self._materials.append(material)
        return len(self._materials) - 1

    def set_pair(
        self,
        a: str,
        b: str,
        *,
        friction: float | None = None,
        restitution: float | None = None,
        impact_law: str | None = None,
    ) -> None:
        """Define properties of the pair of materials `a` and `b`; those that are None do not change."""
        given = {"friction": friction, "restitution": restitution}
        values = {
            quantity: _checked(quantity, f"the pair {a!r}, {b!r}", value)
            for quantity, value in given.items()
            if value is not None
        }
        if not values and impact_law is None:
            raise ProblemError(
                f"the pair {a!r}, {b!r} has no property: give {' or '.join(given)} or impact_law"
            )
        first, second = sorted((self.index(a), self.index(b)))
        if impact_law is not None:
            self._laws[first, second] = _checked_law(f"the pair {a!r}, {b!r}", impact_law)
        self._pairs.setdefault((first, second), {}).update(values)

    def pair_table(self) -> PairTable:
        """Return the properties of all pairs."""
        tables = {}
        for quantity in PairTable._fields:
            own = np.array([getattr(material, quantity) for material in self._materials])
            table = np.minimum.outer(own, own)
            for (a, b), values in self._pairs.items():
                if quantity in values:
                    table[a, b] = table[b, a] = values[quantity]
            tables[quantity] = table
        return PairTable(**tables)

    def poisson_pairs(self) -> NDArray[np.bool_]:
        """Return which pairs of materials (m, m) obey Poisson's law of impact; all others obey Newton's."""
        own = np.array([material.impact_law == "poisson" for material in self._materials])
        table = np.logical_and.outer(own, own)
        for (a, b), law in self._laws.items():
            table[a, b] = table[b, a] = law == "poisson"
        return np.asarray(table)

    def copy(self) -> Materials:
        """Return an independent copy."""
        other = Materials()
        other._materials, other._index = list(self._materials), dict(self._index)
        other._pairs = {pair: dict(values) for pair, values in self._pairs.items()}
        other._laws = dict(self._laws)
        return other


def _checked(quantity: str, owner: str, value: Any) -> float:
    lowest, highest = _BOUNDS[quantity]
    out = check.number(f"{quantity} of {owner}", value)
    if not lowest <= out <= highest:
        limits = f"at least {lowest:g}" if highest == np.inf else f"from {lowest:g} to {highest:g}"
        raise ProblemError(f"{quantity} of {owner} is {out:g}: it must be {limits}")
    return out


def _checked_law(owner: str, law: Any) -> str:
    if law not in IMPACT_LAWS:
        raise ProblemError(f"impact_law of {owner} is {law!r}: use one of {', '.join(IMPACT_LAWS)}")
    return str(law)
