"""Continuous collision: bodies stop where they would pass through one another.

The contact problem of a step has contacts within the margin, and rotations to first order. For pairs that
move far in a step, the motion with the solved velocities is traced (see `collision.kernels.covering`). Where
it meets something that the contacts did not hold, the two bodies, and all bodies connected to them by
impulses, do only the part of the step until then. Their velocities are kept, and the next step has the
contact in place. Bodies in free flight until then receive the same part of the forces: for them the step
was shorter.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats
from nonsmooth.collision.contacts import Contacts
from nonsmooth.collision.detector import Detector
from nonsmooth.collision.kernels.motion.covering import Course
from nonsmooth.model.system import System
from nonsmooth.stepping.kernels import impacts as impact_kernels
from nonsmooth.stepping.kernels import motion as motion_kernels
from nonsmooth.stepping.kernels.motion import Bodies, State
from nonsmooth.stepping.schemes.body_constants import spin_radius


class Following:
    """Finds the part of a step that each body may do."""

    def __init__(self, system: System, bodies: Bodies, held: NDArray[np.bool_], detector: Detector) -> None:
        self._bodies, self._detector, self._radius = bodies, detector, spin_radius(system)
        self._led = bodies.fixed | held
        self._displacement, self._rotation = np.zeros((2, system.count, 3))
        self._turn = np.zeros(system.count)

    def parts(
        self, state: State, velocity: Floats, step: float, contacts: Contacts, impulses: Floats
    ) -> Floats | None:
        """Part (n,) of the step that each body does, None if all do the whole step.

        `velocity` (n, 6) is the velocity of the motion, in the frames that a step is solved in; `impulses`
        (c, 3) are those of the contacts.
        """
        motion_kernels.ways(
            self._bodies, state, velocity, self._radius, step, self._displacement, self._rotation, self._turn
        )
        if not self._detector.is_fast(self._displacement, self._turn):
            return None
        course = Course(state.position, self._displacement, self._rotation, self._radius)
        found = self._detector.meetings(course, state.quaternion, self._turn)
        if found is None:
            return None
        pairs, part = found
        pushing = contacts.bodies[np.any(impulses != 0.0, axis=1)]
        links = np.concatenate([pairs, pushing]).astype(np.int64)
        links[self._led[links]] = -1
        tree = np.arange(len(velocity))
        impact_kernels.unite(links, tree)
        root = np.empty(len(links), dtype=np.int64)
        impact_kernels.roots(links, tree, root)
        least = np.ones(len(velocity))
        np.minimum.at(least, root[: len(part)], part)
        own = np.empty(len(velocity), dtype=np.int64)
        single = np.full((len(velocity), 2), -1)
        single[:, 0] = np.arange(len(velocity))
        impact_kernels.roots(single, tree, own)
        return np.where(self._led, 1.0, least[own])
