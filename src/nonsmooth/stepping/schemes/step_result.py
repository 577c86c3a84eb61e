"""What one step came to, whichever way it was done."""

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
    """Time in s in which they acted: impulses divided by it are forces."""
    acting: NDArray[np.bool_]
    """Rows that took part in the step's problem (r,): all, or in a smooth step the bilateral ones."""
    position: Floats
    quaternion: Floats


@dataclass(frozen=True, eq=False)
class Outcome:
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
    """True if joints and contacts are in order on position level."""
    assembling: float = 0.0
    """Wall time in s that putting the problem together took."""
    impacts: ImpactOutcome | None = None
    """What impacts came to before the step's contact problem; None where there were none."""
    flight_work: float = 0.0
    """Energy in J that the way in which bodies are moved adds beside the work of the forces."""

    @property
    def all_impulses(self) -> Floats:
        """(c, 3) in N·s, world frame: of impacts and of the rest of the step."""
        return self.impulses if self.impacts is None else self.impulses + self.impacts.impulses
