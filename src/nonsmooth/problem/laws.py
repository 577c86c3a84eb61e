"""The contact laws: the cone K of the impulse, and the tilting term s.

Each contact obeys  K ∋ γ ⟂ u + s e_n ∈ K*  with

- `coulomb`:    K the round friction cone |γ_t| ≤ μ γ_n,  s = μ |u_t|   (exact Coulomb friction);
- `relaxed`:    the same cone,  s = 0                     (the convex cone complementarity problem);
- `pyramid(m)`: K the cone over the regular m-gon inscribed in the friction disk, s = μ σ(−u_t) with
  the m-gon's support function σ: Coulomb's law with a polygon in place of the disk, which is the
  linear complementarity problem of Stewart and Trinkle and of Anitescu and Potra.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from nonsmooth.errors import OptionError

_NAMES = ("coulomb", "relaxed", "pyramid")
_GIVEN = "coulomb, relaxed, pyramid(8)"
_TEXT = re.compile(r"\s*([a-z]+)\s*(?:\(\s*(\d+)\s*\))?\s*")


@dataclass(frozen=True)
class Law:
    """A contact law by name; `sides` is the number of sides of the pyramid and 0 for a round cone."""

    name: str
    sides: int = 0

    def __post_init__(self) -> None:
        if self.name not in _NAMES:
            raise OptionError(f"law {self.name!r} is not known: use one of {_GIVEN}")
        if self.name == "pyramid":
            if self.sides < 4 or self.sides % 2:
                raise OptionError(
                    f"law pyramid({self.sides}): the number of sides must be even and at least 4, "
                    "so that friction is the same in opposite directions"
                )
        elif self.sides:
            raise OptionError(f"law {self.name!r} has a round cone: omit sides, or give 0")

    @property
    def exact(self) -> bool:
        """True if the tilting term s is part of the law, so that sliding bodies do not lift off."""
        return self.name != "relaxed"

    @classmethod
    def parse(cls, law: Law | str) -> Law:
        """Read `"coulomb"`, `"relaxed"`, `"pyramid(8)"` or `"pyramid"` (8 sides); or return a Law."""
        if isinstance(law, Law):
            return law
        found = _TEXT.fullmatch(law) if isinstance(law, str) else None
        if found is None:
            raise OptionError(f"law {law!r} is not known: use one of {_GIVEN}")
        name, sides = found.groups()
        if name == "pyramid":
            return cls(name, int(sides) if sides else 8)
        return cls(name, int(sides) if sides else 0)

    def __str__(self) -> str:
        return f"pyramid({self.sides})" if self.name == "pyramid" else self.name


COULOMB = Law("coulomb")
RELAXED = Law("relaxed")


def pyramid(sides: int = 8) -> Law:
    """Return Coulomb's law with a friction polygon of `sides` sides inscribed in the disk."""
    return Law("pyramid", sides)
