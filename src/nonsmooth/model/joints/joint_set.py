"""`JointSet`: the joints of a system, their rows and coordinates, and the elements on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth._support.registry import index_of
from nonsmooth.errors import OptionError, ProblemError
from nonsmooth.model import checks as check
from nonsmooth.model import quaternions
from nonsmooth.model.bodies import Bodies
from nonsmooth.model.growing_table import GrowingTable
from nonsmooth.model.joints.base import Joint
from nonsmooth.model.joints.drivers_and_motors import Element, OfTime
from nonsmooth.model.joints.evaluation import Evaluation, evaluated, rates, run_on
from nonsmooth.model.joints.force_elements import ForceElements
from nonsmooth.model.joints.kernels.rows import RowTable
from nonsmooth.model.joints.motions import Motion
from nonsmooth.model.joints.placement import Row
from nonsmooth.model.joints.stability import Gradients, first_unstable
from nonsmooth.model.joints.table import BILATERAL, JointTable, TimedRow

_ROW: dict[str, tuple[tuple[int, ...], Any]] = {
    "kind": ((), np.int64),
    "bodies": ((2,), np.int64),
    "anchor": ((2, 3), np.float64),
    "direction": ((4, 3), np.float64),
    "factor": ((2,), np.float64),
}


class JointSet:
    """The joints of a system in the order in which they were added; `System.add_joint` adds them."""

    def __init__(self) -> None:
        self._joints: list[Joint] = []
        self._names: dict[str, int] = {}
        self._places = GrowingTable(
            bodies=((2,), np.int64), anchor=((2, 3), np.float64), frame=((2, 3, 3), np.float64)
        )
        self._rows = GrowingTable(
            **_ROW,
            angle=((2,), np.float64),
            joint=((), np.int64),
            role=((), np.int64),
            on_velocity=((), np.bool_),
            lower=((), np.float64),
            upper=((), np.float64),
            offset=((), np.float64),
            rate=((), np.float64),
        )
        self._labels: list[str] = []
        self._units: list[str] = []
        self._timed: list[TimedRow] = []
        self._coordinates = GrowingTable(**_ROW, angle=((2,), np.float64))
        self._coordinate_units: list[str] = []
        self._named_coordinates: list[dict[str, int]] = []
        self._elements: list[Element] = []
        self._element_places: list[tuple[int, int]] = []
        self._driven: dict[int, str] = {}
        self._forces = ForceElements()
        self._table: JointTable | None = None

    def __len__(self) -> int:
        return len(self._joints)

    def __iter__(self) -> Iterator[Joint]:
        return iter(self._joints)

    def __getitem__(self, joint: int | str) -> Joint:
        """Return the joint with this index or name."""
        return self._joints[self.index(joint)]

    @property
    def names(self) -> dict[str, int]:
        """Index of every joint that has a name."""
        return dict(self._names)

    def index(self, joint: int | str) -> int:
        """Return the index of a joint given by index or name; an unknown one is an error."""
        return index_of("joint", joint, self._names, len(self), "name= of the joint")

    def label(self, joint: int) -> str:
        """Return the label of a joint in messages: its name, or else its index."""
        name = self._joints[joint].name
        return f"joint {joint}" if name is None else f"joint {name!r}"

    # ---- joints and rows ------------------------------------------------------------------------

    def add(self, joint: Joint, system: Bodies) -> int:
        """Add a joint of the bodies of `system` in their present configuration, and return its index."""
        if not isinstance(joint, Joint):
            raise ProblemError(f"joint is {joint!r}: give a joint such as Revolute(None, 0, point=…, axis=…)")
        index, label = len(self), f"joint {len(self)}"
        if joint.name is not None:
            check.text("the name of a joint", joint.name)
            if joint.name in self._names:
                raise ProblemError(f"a joint named {joint.name!r} exists already: choose another name")
            label = f"joint {joint.name!r}"
        place = joint.place(system, label)
        rows, coordinates = joint.rows(place), joint.coordinates(place)
        self._joints.append(joint)
        if joint.name is not None:
            self._names[joint.name] = index
        self._places.append(1, bodies=place.bodies, anchor=place.anchor, frame=place.frame)
        for row in rows:
            self.add_row(index, row, place.bodies, label)
        first = self._coordinates.count
        for row in coordinates.values():
            self._coordinates.append(1, **_columns(row, place.bodies), angle=0.0)
            self._coordinate_units.append(row.unit)
        self._named_coordinates.append({name: first + k for k, name in enumerate(coordinates)})
        return index

    def add_row(
        self,
        joint: int,
        row: Row,
        bodies: tuple[int, int],
        label: str,
        *,
        angle: Floats | float = 0.0,
        role: int = BILATERAL,
        on_velocity: bool = False,
        bounds: tuple[float, float] = (-np.inf, np.inf),
        offset: Callable[[float], float] | None = None,
        rate: OfTime = 0.0,
    ) -> None:
        """Add a row; `angle` (2,) in rad are its present angles.

        `rate` in m/s or rad/s is a number or a function of time (s); `offset` is a function of time in m or
        rad, in place of the row's own.
        """
        if callable(rate):
            self._timed.append(TimedRow(self._rows.count, offset, rate))
        self._rows.append(
            1,
            **_columns(row, bodies),
            angle=angle,
            joint=joint,
            role=role,
            on_velocity=on_velocity,
            lower=bounds[0],
            upper=bounds[1],
            offset=row.offset,
            rate=0.0 if callable(rate) else rate,
        )
        self._labels.append(label)
        self._units.append(row.unit)
        self._table = None

    @property
    def table(self) -> JointTable:
        """All rows as read-only arrays; a table is not changed by later additions."""
        if self._table is None:
            columns = {name: self._rows[name].copy() for name in self._rows.names if name != "angle"}
            for column in columns.values():
                column.flags.writeable = False
            rows = RowTable(*(columns.pop(name) for name in RowTable._fields))
            self._table = JointTable(
                rows,
                **columns,
                labels=tuple(self._labels),
                units=tuple(self._units),
                timed=tuple(self._timed),
            )
        return self._table

    @property
    def angles(self) -> Floats:
        """Last known angles (r, 2) of the rows in rad, whole turns included; writable, part of the state."""
        return self._rows["angle"]

    # ---- places of joints -----------------------------------------------------------------------

    def anchors(self, position: Floats, quaternion: Floats) -> Floats:
        """Return the anchors of A and B of all joints in the world, (j, 2, 3) in m.

        `position` (n, 3) in m and `quaternion` (n, 4) are of all bodies, such as those of the system now.
        """
        body, own = self._places["bodies"], self._places["anchor"]
        at = np.maximum(body, 0)
        world = position[at] + quaternions.rotate(quaternion[at], own)
        return np.where((body < 0)[:, :, None], own, world)

    def frames(self, position: Floats, quaternion: Floats) -> tuple[Floats, Floats]:
        """Return origins (j, 3) in m and axes (j, 3, 3), as columns x, y, z, of the joints in the world.

        The frame of a joint is attached to A, with the origin at A's anchor and z along the joint's axis.
        Arguments as in `anchors`.
        """
        body, own = self._places["bodies"][:, 0], self._places["frame"][:, 0]
        world = quaternions.matrix(quaternion[np.maximum(body, 0)]) @ own
        axes = np.where((body < 0)[:, None, None], own, world)
        return self.anchors(position, quaternion)[:, 0], axes

    def alignment(self, quaternion: Floats) -> Floats:
        """Return the cosines (j, 3) between the x, y and z axes of B's frame and those of A's."""
        body, own = self._places["bodies"], self._places["frame"]
        world = quaternions.matrix(quaternion[np.maximum(body, 0)]) @ own
        world = np.where((body < 0)[:, :, None, None], own, world)
        return np.asarray(np.einsum("jki,jki->ji", world[:, 0], world[:, 1]))

    # ---- coordinates ----------------------------------------------------------------------------

    def coordinate_names(self, joint: int | str) -> tuple[str, ...]:
        """Return the names of a joint's coordinates, such as "angle" and "position"."""
        return tuple(self._named_coordinates[self.index(joint)])

    def coordinate(self, joint: int | str, name: str | None, system: Bodies) -> tuple[float, float]:
        """Return a coordinate in m or rad, and its rate in m/s or rad/s."""
        at = self.coordinate_index(self.index(joint), name)
        table = self._coordinate_table(slice(at, at + 1))
        now = evaluated(table, self._coordinates["angle"][at : at + 1], system)
        return float(now.value[0]), float(rates(table, now.rows, system)[0])

    def coordinate_name(self, joint: int, name: str | None) -> str:
        """Return the name of one of a joint's coordinates: the only one if None is given."""
        known, label = tuple(self._named_coordinates[joint]), self.label(joint)
        kind = type(self._joints[joint]).__name__
        if not known:
            raise ProblemError(
                f"{label} is a {kind}, which has no coordinate to drive or read: use one with an angle, a "
                "position or a length"
            )
        if name is None and len(known) == 1:
            return known[0]
        if name not in known:
            fault = "" if name is None else f", and no {name!r}"
            cure = " or ".join(f"coordinate={one!r}" for one in known)
            raise ProblemError(f"{label} is a {kind} with {' and '.join(known)}{fault}: give {cure}")
        return name

    def coordinate_index(self, joint: int, name: str | None) -> int:
        """Return the place of one of a joint's coordinates in the table of all."""
        return self._named_coordinates[joint][self.coordinate_name(joint, name)]

    def follow(self, system: Bodies) -> Evaluation:
        """Update the angles of all coordinates to the present state, and return the coordinates.

        `System.forces` calls it, so that whole turns are counted from step to step.
        """
        now = evaluated(self._coordinate_table(), self._coordinates["angle"], system)
        self._coordinates["angle"][:] = now.angle
        return now

    def run_on(self, system: Bodies, step: float) -> None:
        """Advance all angles at the present velocities for a time `step` (s): an estimate, in place.

        The angle of a state is the one nearest to the last known angle, so that a step may turn a joint by
        several turns.
        """
        run_on(self.table.rows, self.angles, system, step)
        run_on(self._coordinate_table(), self._coordinates["angle"], system, step)

    # ---- elements -------------------------------------------------------------------------------

    @property
    def elements(self) -> tuple[Element, ...]:
        """Drivers, motors, springs, limits and friction in the order in which they were added."""
        return tuple(self._elements)

    def add_element(self, element: Element, system: Bodies) -> None:
        """Put an element on a coordinate of a joint."""
        label, joint = self.label(element.joint), self._joints[element.joint]
        if joint.fixed_coordinates:
            raise ProblemError(
                f"the {element.coordinate} of {label} is fixed by the {type(joint).__name__} itself: use a "
                "Strut"
            )
        several = len(self._named_coordinates[element.joint]) > 1
        place = self._rows.count, len(self._forces)
        element.attach(self, system, f"the {element.coordinate} of {label}" if several else label)
        self._elements.append(element)
        self._element_places.append(place)

    @property
    def element_places(self) -> tuple[tuple[int, int], ...]:
        """Of every element the first row that is its own if it has rows, and its place among the forces."""
        return tuple(self._element_places)

    def set_rate(self, row: int, rate: float) -> None:
        """Set the speed of a row on velocity level, in m/s or rad/s."""
        self._timed = [timed for timed in self._timed if timed.row != row]
        self._rows["rate"][row] = rate
        self._table = None

    def set_motion(self, row: int, motion: Motion) -> None:
        """Set the motion that a row prescribes, in m or rad."""
        self._timed = [timed for timed in self._timed if timed.row != row]
        self._timed.append(TimedRow(row, motion.value, motion.rate))
        self._table = None

    def set_applied(self, element: int, force: float) -> None:
        """Set the given force of an element, in N or N·m; `element` is its place among the forces."""
        self._forces.set_applied(element, force)

    def renumber(self, number: Integers) -> None:
        """Give the bodies the numbers (n,) in place of theirs; all that joints connect have one."""
        for place, joint in enumerate(self._joints):
            a, b = (int(number[end]) if isinstance(end, int) else end for end in (joint.a, joint.b))
            self._joints[place] = replace(joint, a=a, b=b)
        for table in (self._places, self._rows, self._coordinates):
            bodies = table["bodies"]
            bodies[:] = np.where(bodies < 0, bodies, number[bodies])
        self._table = None

    def claim(self, element: Element, label: str) -> None:
        """Register an element as the only one that prescribes its coordinate; a second one is an error."""
        index = self.coordinate_index(element.joint, element.coordinate)
        if self._joints[element.joint].coupled_coordinates:
            index = min(self._named_coordinates[element.joint].values())
        if index in self._driven:
            raise ProblemError(
                f"the {label} contradicts the {self._driven[index]}: omit one, or give a motor a limit"
            )
        self._driven[index] = label

    def add_element_row(
        self,
        element: Element,
        system: Bodies,
        label: str,
        *,
        sign: float = 1.0,
        wanted: float = 0.0,
        **options: Any,
    ) -> None:
        """Add a row on an element's coordinate, times `sign`, that is `wanted`; options as in `add_row`."""
        at = self.coordinate_index(element.joint, element.coordinate)
        c, only = self._coordinates, slice(at, at + 1)
        now = evaluated(self._coordinate_table(only), c["angle"][only], system)
        same = sum(
            self._labels[k].startswith(label) for k in np.flatnonzero(self._rows["joint"] == element.joint)
        )
        row = Row(
            int(c["kind"][at]),
            c["anchor"][at],
            c["direction"][at],
            (sign, 0.0),
            wanted,
            self._coordinate_units[at],
        )
        a, b = c["bodies"][at].tolist()
        name = f"{label} ({same + 1})" if same else label
        self.add_row(element.joint, row, (a, b), name, angle=now.angle[0], **options)

    def add_force_element(self, element: Element, label: str, **law: Any) -> None:
        """Add a force on an element's coordinate; its law as in `ForceElements.add`."""
        self._forces.add(label, self.coordinate_index(element.joint, element.coordinate), **law)

    def _coordinate_table(self, part: slice = slice(None)) -> RowTable:
        return RowTable(*(self._coordinates.frozen(name)[part] for name in RowTable._fields))

    def memory(self) -> Floats:
        """Return all angles (r + c, 2) in rad, of rows and coordinates, with their whole turns."""
        return np.concatenate([self._rows["angle"], self._coordinates["angle"]])

    def restore(self, memory: Floats) -> None:
        """Restore the angles returned by `memory`."""
        rows = self._rows.count
        if np.shape(memory) != (rows + self._coordinates.count, 2):
            raise ProblemError("the joints are not those of the stored angles: use the same system")
        self._rows["angle"][:], self._coordinates["angle"][:] = memory[:rows], memory[rows:]

    # ---- forces ---------------------------------------------------------------------------------

    @property
    def forces_act(self) -> bool:
        """Whether springs, dampers or motors with a force act on coordinates of joints."""
        return len(self._forces) > 0

    @property
    def coordinates(self) -> tuple[RowTable, Floats]:
        """All coordinates as rows, and their last known angles (c, 2) in rad, writable: see `follow`."""
        return self._coordinate_table(), self._coordinates["angle"]

    def add_forces(self, total: Floats, t: float, system: Bodies) -> None:
        """Add the forces of springs, dampers and force motors at time t (s) to `total` (n, 6)."""
        if self._coordinates.count == 0:
            return
        now = self.follow(system)
        self._forces.add_to(total, t, system, self._coordinate_table(), now)

    def potential_energy(self, system: Bodies) -> float:
        """Return the energy of all springs in J."""
        if len(self._forces) == 0:
            return 0.0
        now = evaluated(self._coordinate_table(), self._coordinates["angle"], system)
        return self._forces.energy(now.value)

    def stiffest(self, step: float, system: Bodies) -> None:
        """Raise if a spring or damper is unstable at this step (s), with the step that works.

        Spring forces are evaluated at the beginning of the step, which limits stiffness and damping.
        """
        forces = self._forces
        if not np.any(forces.stiffness + forces.damping):
            return
        table, at = self.table, forces.coordinate
        now, bilateral = self.follow(system), table.role == BILATERAL
        rows = evaluated(table.rows, self.angles, system).rows
        found = first_unstable(
            system,
            Gradients(self._coordinates["bodies"][at], now.rows[at]),
            forces.stiffness,
            forces.damping,
            Gradients(table.rows.bodies[bilateral], rows[bilateral]),
            step,
        )
        if found is not None:
            digits = 10.0 ** (math.floor(math.log10(found.step)) - 1)
            raise OptionError(
                f"the {forces.labels[found.element]} is too stiff or damped for steps of {step:g} s: "
                f"take steps of at most {math.floor(found.step / digits) * digits:.2g} s"
            )

    def copy(self) -> JointSet:
        """Return an independent copy; joints and functions are shared."""
        other = JointSet()
        other._joints, other._names = list(self._joints), dict(self._names)
        other._places, other._rows = self._places.copy(), self._rows.copy()
        other._labels, other._units, other._timed = list(self._labels), list(self._units), list(self._timed)
        other._coordinates = self._coordinates.copy()
        other._coordinate_units = list(self._coordinate_units)
        other._named_coordinates = list(self._named_coordinates)
        other._elements, other._element_places = list(self._elements), list(self._element_places)
        other._driven, other._forces = dict(self._driven), self._forces.copy()
        other._table = self._table
        return other


def _columns(row: Row, bodies: tuple[int, int]) -> dict[str, Any]:
    return {
        "kind": row.kind,
        "bodies": bodies,
        "anchor": row.anchor,
        "direction": row.direction,
        "factor": row.factor,
    }
