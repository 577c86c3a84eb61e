"""One example of every joint, which the tests of joints and of scene files run through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nonsmooth.model.joints import BY_NAME, Joint

POINT, AXIS, ACROSS = (0.1, -0.2, 0.3), (0.0, 0.6, 0.8), (1.0, 0.0, 0.0)
_HERE = {"point": POINT, "axis": AXIS}
_LINE = {"point_a": POINT, "point_b": (1.0, 2.0, 3.0)}
_ENDS = {"anchor_a": (0.1, 0.0, 0.2), "anchor_b": (0.0, -0.3, 0.1)}
_AXES = {"axis_a": (0.0, 1.0, 0.0), "axis_b": (0.0, 0.6, 0.8)}


@dataclass(frozen=True)
class Example:
    """How a joint is given, and what is known of it."""

    rows: int
    """Freedoms that it takes."""
    keys: dict[str, Any]
    """Arguments besides the two bodies."""
    others: tuple[dict[str, Any], ...]
    """Other ways to give it."""
    free: str = ""
    """Motions of B in the joint's frame that it leaves free; not said where they are not along one axis."""
    refuses: frozenset[str] = frozenset()
    """Arguments of its class that it has no use for."""
    ground: bool = True
    """Whether one of its bodies may be the ground."""

    @property
    def ways(self) -> tuple[dict[str, Any], ...]:
        """All ways to give it."""
        return (self.keys, *self.others)


_LINE_OF_A = frozenset({"axis_b"})
EXAMPLES = {
    "fixed": Example(6, _HERE, ({"point": POINT}, _ENDS | _AXES)),
    "spherical": Example(3, _HERE, ({"point": POINT}, _ENDS, _ENDS | _AXES), "turn x, turn y, turn z"),
    "revolute": Example(5, _HERE, (_ENDS | _AXES,), "turn z"),
    "prismatic": Example(5, _HERE, (_ENDS | _AXES,), "move z"),
    "cylindrical": Example(4, _HERE, (_ENDS | _AXES,), "turn z, move z"),
    "planar": Example(3, _HERE, (_ENDS | _AXES,), "turn z, move x, move y"),
    "cartesian": Example(3, _HERE, ({"point": POINT}, _ENDS | _AXES), "move x, move y, move z"),
    "universal": Example(4, _HERE | {"second_axis": ACROSS}, (_ENDS | _AXES,), "turn z, turn x"),
    "distance": Example(1, _LINE, (_ENDS | {"length": 2.0},)),
    "point-on-line": Example(
        2, _HERE, (_ENDS | {"axis_a": (0.0, 1.0, 0.0)},), "turn x, turn y, turn z, move z", _LINE_OF_A
    ),
    "point-on-plane": Example(
        1, _HERE, (_ENDS | {"axis_a": (0.0, 1.0, 0.0)},), "turn x, turn y, turn z, move x, move y", _LINE_OF_A
    ),
    "gear": Example(
        1,
        {"axis": AXIS, "radii": (0.3, 0.2), "anchor_a": (1.0, 1.0, 2.0), "anchor_b": (0.0, 0.1, 0.1)},
        (_ENDS | _AXES | {"radii": (1.4, 0.2), "internal": True},),
        refuses=frozenset({"point"}),
    ),
    "coupling": Example(
        1,
        {"axis_a": AXIS, "axis_b": ACROSS, "ratio": -2.0},
        ({"axis": AXIS, "ratio": -2.5},),
        refuses=frozenset({"point", "anchor_a", "anchor_b"}),
        ground=False,
    ),
    "screw": Example(5, _HERE | {"pitch": 0.2}, (_ENDS | _AXES | {"pitch": -0.2},), "screw"),
    "strut": Example(0, _LINE, (_ENDS,)),
}
"""By the joints' names in scene files."""


def make(name: str, a: int | str | None, b: int | str | None, **more: Any) -> Joint:
    """Build the example of a joint between two bodies."""
    return BY_NAME[name](a, b, **EXAMPLES[name].keys, **more)
