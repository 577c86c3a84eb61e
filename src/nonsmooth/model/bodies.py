"""`Bodies`: states, masses and shapes of all bodies, as growing arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth._support.registry import index_of
from nonsmooth.errors import ProblemError
from nonsmooth.model import checks as check
from nonsmooth.model.growing_table import GrowingTable
from nonsmooth.model.shape_table import ShapeTable
from nonsmooth.model.shapes import Primitive
from nonsmooth.model.state_by_body import StateByBody

_UNIT = 1e-6
"""Tolerance on the unit length of a quaternion in `set_state`."""


class Bodies(StateByBody):
    """Arrays over n bodies.

    The state (`position`, `quaternion`, `linear_velocity`, `angular_velocity`) is in writable arrays that
    belong to the system: fetch them again after adding bodies. All other arrays are read-only. `position_of`
    and similar methods read the state of one body.
    """

    def __init__(self) -> None:
        self._bodies = GrowingTable(
            position=((3,), np.float64),
            quaternion=((4,), np.float64),
            linear_velocity=((3,), np.float64),
            angular_velocity=((3,), np.float64),
            mass=((), np.float64),
            inertia=((3, 3), np.float64),
            fixed=((), np.bool_),
            bounding_radius=((), np.float64),
        )
        self._shapes = GrowingTable(
            body=((), np.int32),
            kind=((), np.int32),
            size=((4,), np.float64),
            offset=((3,), np.float64),
            rotation=((4,), np.float64),
            material=((), np.int32),
        )
        self._objects: list[Primitive] = []
        self._names: dict[str, int] = {}
        self._shape_table: ShapeTable | None = None

    @property
    def count(self) -> int:
        """Number of bodies n."""
        return self._bodies.count

    @property
    def position(self) -> Floats:
        """Centres of mass (n, 3) in m; writable."""
        return self._bodies["position"]

    @property
    def quaternion(self) -> Floats:
        """Orientations (n, 4), unit quaternions (w, x, y, z), body to world; writable."""
        return self._bodies["quaternion"]

    @property
    def linear_velocity(self) -> Floats:
        """Velocities of the centres (n, 3) in m/s, world frame; writable."""
        return self._bodies["linear_velocity"]

    @property
    def angular_velocity(self) -> Floats:
        """Angular velocities (n, 3) in rad/s, body frame; writable."""
        return self._bodies["angular_velocity"]

    @property
    def mass(self) -> Floats:
        """Masses (n,) in kg; infinite for fixed bodies."""
        return self._bodies.frozen("mass")

    @property
    def inertia(self) -> Floats:
        """Inertia tensors (n, 3, 3) about the centres in kg·m², body frame; diag(∞, ∞, ∞) if fixed."""
        return self._bodies.frozen("inertia")

    @property
    def fixed(self) -> NDArray[np.bool_]:
        """Mask of fixed bodies (n,)."""
        return self._bodies.frozen("fixed")

    @property
    def bounding_radius(self) -> Floats:
        """Radius (n,) in m of a ball about the centre of mass that contains the body; infinite for planes."""
        return self._bodies.frozen("bounding_radius")

    @property
    def names(self) -> dict[str, int]:
        """Index of every body that has a name."""
        return dict(self._names)

    @property
    def shapes(self) -> ShapeTable:
        """All shapes as read-only arrays; a table is not changed by later additions."""
        if self._shape_table is None:
            columns = {name: self._shapes[name].copy() for name in self._shapes.names}
            for column in columns.values():
                column.flags.writeable = False
            self._shape_table = ShapeTable(**columns, objects=tuple(self._objects))
        return self._shape_table

    def index(self, body: int | str) -> int:
        """Return the index of a body given by index or name; an unknown one is an error."""
        return index_of("body", body, self._names, self.count, "name= of add_body")

    _index = index

    def label(self, body: int) -> str:
        """Return the label of a body in messages: its name, or else its index."""
        found = next((name for name, index in self._names.items() if index == body), None)
        return f"body {body}" if found is None else f"body {found!r}"

    def set_state(
        self, position: ArrayLike, quaternion: ArrayLike, linear: ArrayLike, angular: ArrayLike
    ) -> None:
        """Replace the state of all bodies, bit for bit.

        Args:
            position: (n, 3) in m.
            quaternion: (n, 4) of unit length.
            linear: linear velocities (n, 3) in m/s, world frame.
            angular: angular velocities (n, 3) in rad/s, body frame.
        """
        n = self.count
        given = {"position": position, "linear_velocity": linear, "angular_velocity": angular}
        state = {
            name: check.array(name, value, (n, 3), f"three numbers for each of {n} bodies")
            for name, value in given.items()
        }
        turn = check.array("quaternion", quaternion, (n, 4), f"four numbers for each of {n} bodies")
        off = np.abs(np.sqrt(np.einsum("ni,ni->n", turn, turn)) - 1.0)
        if np.any(off > _UNIT):
            at = int(np.argmax(off))
            raise ProblemError(f"quaternion {at} is not of unit length: divide it by its length")
        for name, values in {**state, "quaternion": turn}.items():
            self._bodies[name][:] = values

    def _new_label(self, name: str | None) -> str:
        if name is None:
            return f"body {self.count}"
        check.text("the name of a body", name)
        if name in self._names:
            raise ProblemError(f"a body named {name!r} exists already: choose another name")
        return f"body {name!r}"
