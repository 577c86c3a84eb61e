"""Contacts in a picture, drawn over the bodies: force arrows, force chains, and dots.

Sizes are in m; `Marks` chooses them once, so that they are the same in all pictures of a film.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from nonsmooth._support.arrays import Floats, Indices
from nonsmooth.collision.contact_forces import ContactForces
from nonsmooth.io import Trajectory
from nonsmooth.view.drawing.colours import (
    CONTACT_COLOURS,
    ContactState,
    contact_friction,
    contact_states,
    number_text,
    scale_top,
)
from nonsmooth.view.drawing.contact_forces import (
    FORCE_COLOUR,
    LEAST_ARROW,
    LEAST_CHAIN,
    arrow_length,
    chain_ends,
    force_on_movable,
)
from nonsmooth.view.drawing.legend import Key
from nonsmooth.view.drawing.raster import Solids, arrows, rods

_CHAIN_COLOUR = (150, 24, 58)
MARK_COLOURS = (FORCE_COLOUR, _CHAIN_COLOUR, *CONTACT_COLOURS.values())
"""Colours of arrows, of chains, and of contacts in each state."""
_LONGEST = 1.6
"""Arrows and lines grow with the force up to this many times the force in the legend."""
_SLENDER = 0.035
"""Largest thickness of an arrow relative to its length."""


class Marks:
    """Draws contacts and their forces.

    Args:
        trajectory: the run of the contacts.
        samples: contacts of some of the pictures, from which the scale of forces is chosen.
        reach: (n,) extent of each body from its centre, in m.
        diagonal: of the scene, in m.
        shown: which of "forces", "chains" and "contacts".
        first_owner: row of the palette of the first of `MARK_COLOURS`.
    """

    def __init__(
        self,
        trajectory: Trajectory,
        samples: Iterable[ContactForces],
        reach: Floats,
        diagonal: float,
        shown: frozenset[str],
        first_owner: int,
    ) -> None:
        self._trajectory, self._shown, self._owner = trajectory, shown, first_owner
        self._fixed = trajectory.bodies.fixed
        forces = [np.linalg.norm(contacts.force, axis=1) for contacts in samples]
        self._unit = scale_top(np.concatenate([np.zeros(0), *forces]))
        sizes = reach[~self._fixed & np.isfinite(reach)]
        body_size = float(np.median(sizes)) if sizes.size else diagonal
        self._length = arrow_length(body_size, diagonal)
        self._thickness = min(0.012 * diagonal, 0.3 * body_size)

    def solids(self, contacts: ContactForces, position: Floats) -> Solids:
        """Return the marks; `position` (n, 3) in m are the bodies' centres."""
        solids = []
        if "chains" in self._shown:
            solids.append(self._chains(contacts, position))
        if "forces" in self._shown:
            solids.append(self._arrows(contacts))
        if "contacts" in self._shown:
            states = self._states(contacts)
            size = max(0.055 * self._length, 0.5 * self._thickness)
            radius = np.where(states == ContactState.SEPARATE, 0.6 * size, size)
            solids.append(Solids.of_spheres(contacts.point, radius, self._owner + 2 + states))
        return Solids.joined(solids)

    def keys(self, pixels: float, contacts: ContactForces | None = None) -> list[Key]:
        """Return the legend for `pixels` per metre; contacts are counted if they are given."""
        keys = []
        force = f"{number_text(self._unit)} N"
        if "chains" in self._shown:
            wide = 2.0 * self._thickness * pixels
            keys.append(Key(f"normal force {force}", _CHAIN_COLOUR, "line", thickness=wide))
        if "forces" in self._shown:
            keys.append(Key(f"contact force {force}", FORCE_COLOUR, "arrow", length=self._length * pixels))
        if "contacts" in self._shown:
            states = np.zeros(0, dtype=np.int32) if contacts is None else self._states(contacts)
            keys += [
                Key(f"{state.name.lower()}: {np.count_nonzero(states == state)}", CONTACT_COLOURS[state])
                for state in ContactState
            ]
        return keys

    def _states(self, contacts: ContactForces) -> Indices:
        trajectory = self._trajectory
        friction = contact_friction(contacts, trajectory.shapes, trajectory.materials.pairs)
        return contact_states(contacts, friction)

    def _chains(self, contacts: ContactForces, position: Floats) -> Solids:
        """Lines between the centres of bodies; they end at the contact if a body is fixed."""
        normal = np.abs(np.einsum("ij,ij->i", contacts.force, contacts.normal))
        share = np.minimum(normal / self._unit, _LONGEST)
        seen = share >= LEAST_CHAIN
        ends = chain_ends(contacts, self._fixed, position)[seen]
        return rods(ends[:, 0], ends[:, 1], self._thickness * share[seen], self._owner + 1)

    def _arrows(self, contacts: ContactForces) -> Solids:
        force = force_on_movable(contacts, self._fixed)
        size = np.linalg.norm(force, axis=1)
        seen = size > LEAST_ARROW * self._unit
        length = self._length * np.minimum(size[seen] / self._unit, _LONGEST)
        start = contacts.point[seen]
        end = start + force[seen] * (length / size[seen])[:, None]
        radius = _SLENDER * np.minimum(length, self._length)
        return arrows(start, end, radius, self._owner)
