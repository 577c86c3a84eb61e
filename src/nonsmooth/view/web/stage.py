"""The stage of the web viewer: constants of a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.io import RecordedJoints, Trajectory
from nonsmooth.model import quaternions
from nonsmooth.model.materials import PairTable
from nonsmooth.model.shape_table import ShapeTable
from nonsmooth.model.system import System
from nonsmooth.view.drawing.geometry import reach_of


@dataclass(frozen=True, eq=False)
class Stage:
    """Constants of the n bodies and the joints of a run."""

    shapes: ShapeTable
    fixed: NDArray[np.bool_]
    """(n,) True for fixed bodies."""
    reach: Floats
    """(n,) how far shapes and joints of a body are from its centre, in m; infinite for half-spaces."""
    names: dict[int, str]
    """Names of the bodies that have one."""
    pairs: PairTable
    """Properties of pairs of materials."""
    joints: RecordedJoints

    @classmethod
    def of_recording(cls, trajectory: Trajectory) -> Stage:
        """Return the stage of a recorded run."""
        bodies, joints = trajectory.bodies, trajectory.joints
        names = {index: name for name, index in bodies.names.items()}
        reach = reach_of(bodies.bounding_radius, joints)
        return cls(trajectory.shapes, bodies.fixed, reach, names, trajectory.materials.pairs, joints)

    @classmethod
    def of_system(cls, system: System) -> Stage:
        """Return the stage of a system."""
        joints = _joints_of(system)
        names = {index: name for name, index in system.names.items()}
        reach = reach_of(system.bounding_radius, joints)
        pairs = system.materials.pair_table()
        return cls(system.shapes, np.array(system.fixed, dtype=bool), reach, names, pairs, joints)

    @property
    def count(self) -> int:
        """Number of bodies."""
        return len(self.fixed)

    def name(self, body: int) -> str:
        """Return the label of a body."""
        return self.names.get(body, f"body {body}")


def _joints_of(system: System) -> RecordedJoints:
    """The joints of a system, as far as pictures need them, in the form that they have in files."""
    joints = system.joints
    bodies = [[-1 if body is None else system.index(body) for body in (j.a, j.b)] for j in joints]
    anchor, frame = np.zeros((0, 2, 3)), np.zeros((0, 3, 3))
    if len(joints):
        still = np.zeros((system.count, 3)), np.tile(quaternions.IDENTITY, (system.count, 1))
        anchor, frame = joints.anchors(*still), joints.frames(*still)[1]
    return RecordedJoints(
        types=tuple(type(joint).__name__ for joint in joints), names=dict(joints.names),
        bodies=np.array(bodies, dtype=np.int32).reshape(-1, 2), anchor=anchor, frame=frame, elements=(),
        row_labels=(), row_joint=np.zeros(0, dtype=np.int32), row_units=(),
    )  # fmt: skip
