"""Result of one step, for any scheme."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.collision.contacts import Contacts
from nonsmooth.solvers.solution import Solution
from nonsmooth.stepping.schemes.impacts import ImpactOutcome
from nonsmooth.stepping.schemes.mechanism import RowState


@dataclass(frozen=True, eq=False)
class JointOutcome:
    """The joint rows that acted in a step, and the state that they were computed at."""

    rows: RowState
    impulses: Floats
    """λ (r,) in N·s or N·m·s."""
    duration: float
    """Time in s over which they acted: impulses divided by it are forces."""
    acting: NDArray[np.bool_]
    """Rows that were part of the step's problem (r,): all, or in a smooth step the bilateral ones."""
    position: Floats
    quaternion: Floats


@dataclass(frozen=True, eq=False)
class StepResult:
    """The end of a step; the bodies have been moved."""

    solution: Solution
    velocity: Floats
    """(n, 6) in the frames that the step was solved in."""
    contacts: Contacts
    impulses: Floats
    """(c, 3) in N·s, world frame; those of impacts not included."""
    joints: JointOutcome | None
    free_energy: float
    """Kinetic energy in J before impulses of contacts and joints, after impacts."""
    joint_work: float = 0.0
    """Energy in J that the impulses of the joints put in: drivers, motors, stabilisation."""
    closed: bool = False
    """True if joints and contacts need no correction on position level."""
    assembling: float = 0.0
    """Wall time of assembling the problem in s."""
    impacts: ImpactOutcome | None = None
    """Impacts before the step's contact problem; None if there were none."""
    flight_work: float = 0.0
    """Energy in J that the position update adds to the work of the forces."""

    @property
    def all_impulses(self) -> Floats:
        """(c, 3) in N·s, world frame: of impacts plus the rest of the step."""
        return self.impulses if self.impacts is None else self.impulses + self.impacts.impulses
