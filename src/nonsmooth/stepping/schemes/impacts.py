"""Impacts within a step, at unchanged positions: M(v⁺ − v⁻) = D γ + G λ by Newton's or Poisson's law.

    Newton:   0 ≤ γ_n ⟂ u_n⁺ + e u_n⁻ ≥ 0 , with Coulomb friction on u_t⁺ ;
    Poisson:  compression as Newton's with e = 0 gives γ_c; expansion 0 ≤ γ_n − e γ_c,n ⟂ u_n⁺ ≥ 0 , with
              friction up to its own μ γ_n; the impulse is the sum of both.

Impacts are resolved in passes. A pass includes the contacts that close *now*: they approach, and their gap
closes within the step. Contacts that share a moving body form an island and are solved together; islands are
solved separately. Passes repeat until nothing approaches. So of all outcomes that the law admits for bodies
in touch, the one of a chain of separate impacts is chosen: in a cradle the last ball leaves. Contacts that
rest or separate are not in a pass. Contacts without restitution are included where they close together
with one that has it, or after an earlier pass has set their bodies in motion.

Joints keep their velocity through an impact (bilateral rows; stops, friction and motors with a bounded force
exert no impulse in zero time).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth.collision.contacts import Contacts
from nonsmooth.model.system import System
from nonsmooth.solvers.kernels.local import invert_blocks
from nonsmooth.stepping.kernels import impacts as kernels
from nonsmooth.stepping.kernels import motion as motion_kernels
from nonsmooth.stepping.kernels import step as step_kernels
from nonsmooth.stepping.kernels.motion import Bodies, State
from nonsmooth.stepping.options import ChosenOptions
from nonsmooth.stepping.schemes import impact_newton
from nonsmooth.stepping.schemes.mechanism import Mechanism, RowState
from nonsmooth.stepping.schemes.step_problem import Motion, contact_rows

Mask = NDArray[np.bool_]

_PASSES = 1000
"""Most passes in a step; contacts that still approach then are left to the contact problem of the step."""
_SINGULAR = 1e-11
"""Singular values of joint rows, relative to the largest, that count as zero."""
_NO_MATRIX = np.zeros((0, 0))


@dataclass(frozen=True, eq=False)
class ImpactOutcome:
    """Result of a step's impacts; the state has the velocities after them."""

    impulses: Floats
    """(c, 3) of all contacts in N·s, world frame."""
    count: int
    """Impacts: contacts that exerted an impulse, counted in every pass."""
    work: float
    """½ γ·(u⁻ + u⁺) over all impacts in J: never above rounding."""
    driven: float
    """Work in J of fixed bodies with prescribed motion."""
    joint_work: float
    """Work in J of driven joints."""
    reduced: int
    """Impacts with reduced coefficients of restitution, because they would have created energy."""
    unfinished: int
    """Contacts that still approach after the last pass, and those whose impulses did not converge."""


class ImpactStep:
    """Resolves the impacts of a step in place, on a system's velocities."""

    def __init__(
        self, system: System, bodies: Bodies, mechanism: Mechanism, step: float, options: ChosenOptions
    ) -> None:
        self._bodies, self._mechanism, self._step = bodies, mechanism, step
        self._slowest = options.restitution_speed
        self._way = 0.5 if options.scheme == "ballistic" else 1.0
        self._tilting = 1.0 if options.law.exact else 0.0
        poisson = system.materials.poisson_pairs()
        self._poisson = poisson if poisson.any() else None
        self._material = system.shapes.material
        self.possible = bool(system.materials.pair_table().restitution.any())
        """Whether any pair of materials has restitution at all."""

    def advance(
        self, state: State, motion: Motion, contacts: Contacts, joints: RowState | None
    ) -> ImpactOutcome | None:
        """Resolve the impacts of a step whose free motion is given; None, with no change, without impacts."""
        if not (self.possible and np.any(contacts.restitution > 0.0)):
            return None
        bodies, count = self._bodies, len(contacts)
        rows = contact_rows(bodies, state, motion, contacts, np.inf, np.inf)
        velocity, pull = np.empty((len(bodies.mass), 6)), np.empty(count)
        motion_kernels.step_velocity(bodies, state, velocity)
        kernels.row_velocities(rows.bodies, rows.rows, rows.bias, velocity, pull)
        pull = self._way * (rows.free[:, 0] - pull)
        touching = kernels.Touching(rows.bodies, rows.columns, rows.bias, contacts.gap, pull)
        w = np.empty_like(velocity)
        kernels.weighted(bodies, velocity, w)
        passes = _Passes(self, touching, contacts, joints, w)
        if not passes.run():
            return None
        kernels.add_changes(bodies, state, passes.changed, passes.change, velocity)
        vectors = np.empty((count, 3))
        step_kernels.to_vectors(rows.frame, passes.impulses, vectors)
        return ImpactOutcome(
            vectors, passes.count, passes.work, passes.driven, passes.joint_work, passes.reduced,
            passes.unfinished,
        )  # fmt: skip

    def obey_poisson(self, contacts: Contacts, chosen: Integers) -> Mask:
        """Mask of the chosen contacts that obey Poisson's law."""
        if self._poisson is None:
            return np.zeros(len(chosen), dtype=bool)
        first, second = self._material[contacts.shapes[chosen]].T
        return np.asarray(self._poisson[first, second])

    def approach(self, touching: kernels.Touching, w: Floats, now: Floats, scale: Floats) -> Integers:
        """Contacts that close in this step with the weighted velocities w; `now` and `scale` are filled."""
        closing = np.zeros(len(now), dtype=bool)
        kernels.approach(touching, self._step, self._slowest, w, now, scale, closing)
        return np.flatnonzero(closing)

    def links(self, joints: RowState | None) -> Integers:
        """Pairs of bodies (r, 2) of the joint rows that hold through an impact, −1 for fixed bodies."""
        if joints is None:
            return np.zeros((0, 2), dtype=np.int64)
        return np.asarray(joints.rows.bodies[self._mechanism.bilateral])

    def joint_columns(self, joints: RowState) -> Floats:
        """Rows of GᵀL⁻ᵀ (r, 2, 6) that belong to `links`."""
        return np.asarray(joints.rows.columns[self._mechanism.bilateral])

    def resolve(
        self, struck: kernels.Struck, whole: Floats, start: Integers, room: Floats
    ) -> tuple[Floats, Floats, Floats, Mask]:
        """Impulses (k, 3) of islands; for each, its work in J, the factor of e, and whether it converged."""
        k, islands = len(struck.bodies), len(start) - 1
        trial = kernels.Trial(
            np.empty((k, 3)), np.empty((k, 3)), np.empty(k), np.empty(k), np.empty((k, 3)), np.empty(k), room
        )
        work, factors, converged = np.empty(islands), np.empty(islands), np.empty(islands, dtype=bool)
        kernels.resolve(
            struck, trial, whole, start, self._tilting, impact_newton.MOST_CONTACTS, work, factors, converged
        )
        return trial.impulse, work, factors, converged

    def finish(self, struck: kernels.Struck, whole: Floats) -> tuple[Floats, float, float, bool]:
        """Resolve an island whose sweeps did not converge, by Newton's method."""
        if len(whole) == 0:
            bodies, place = np.unique(struck.bodies, return_inverse=True)
            place = place.reshape(-1, 2) - int(bodies[0] < 0)  # −1 stays the number of fixed bodies
            response = _spread(place, struck.columns, len(bodies) - int(bodies[0] < 0))
            whole = np.ascontiguousarray(response.T @ response)
        found = impact_newton.resolve(struck, whole, self._tilting)
        return found.impulse, found.work, found.factor, found.converged


class _Passes:
    """The passes of one step, and the sums over them that `ImpactOutcome` names."""

    def __init__(
        self,
        owner: ImpactStep,
        touching: kernels.Touching,
        contacts: Contacts,
        joints: RowState | None,
        w: Floats,
    ) -> None:
        self._owner, self._touching, self._contacts, self._joints = owner, touching, contacts, joints
        self._w, self._links = w, owner.links(joints)
        self._jointed = np.zeros(len(w), dtype=bool)
        self._jointed[self._links[self._links >= 0]] = True
        self._now, self._scale = np.empty((len(contacts), 3)), np.zeros(len(contacts))
        self._room = np.empty_like(w)
        self.change, self.changed = np.zeros_like(w), np.zeros(len(w), dtype=bool)
        """Of w by body (n, 6), and the mask of bodies that have any."""
        self.impulses = np.zeros((len(contacts), 3))
        """In the contacts' own frames, N·s."""
        self.count, self.reduced, self.unfinished = 0, 0, 0
        self.work, self.driven, self.joint_work = 0.0, 0.0, 0.0

    def run(self) -> bool:
        """Do passes until nothing approaches; return whether there was any impact."""
        for done in range(_PASSES + 1):
            chosen = self._owner.approach(self._touching, self._w + self.change, self._now, self._scale)
            if len(chosen) == 0:
                break
            tree = np.arange(len(self._w))
            kernels.unite(self._links, tree)
            kernels.unite(self._touching.bodies[chosen], tree)
            chosen, root = self._live(chosen, tree)
            if len(chosen) == 0:
                break
            if done == _PASSES:
                self.unfinished += len(chosen)
                break
            held = np.any(self._at(self._jointed, chosen), axis=1)
            held = np.isin(root, root[held])
            if not held.all():
                self._plain(chosen[~held], root[~held])
            for each in np.unique(root[held]):
                self._jointed_island(chosen[root == each], tree, each)
        return bool(self.changed.any())

    def _at(self, mask: Mask, chosen: Integers) -> Mask:
        """Values of a mask of bodies at the two bodies (k, 2) of contacts; False for fixed ones."""
        pairs = self._touching.bodies[chosen]
        return np.asarray(mask[pairs] & (pairs >= 0))

    def _live(self, chosen: Integers, tree: Integers) -> tuple[Integers, Integers]:
        """Contacts of islands with restitution or with bodies that earlier passes moved, sorted by root."""
        root = np.empty(len(chosen), dtype=np.int64)
        kernels.roots(self._touching.bodies[chosen], tree, root)
        pushed = np.any(self._at(self.changed, chosen), axis=1)
        live = np.zeros(len(tree), dtype=bool)
        live[root[(self._contacts.restitution[chosen] > 0.0) | pushed]] = True
        order = np.argsort(root, kind="stable")
        order = order[live[root[order]]]
        return chosen[order], root[order]

    def _plain(self, chosen: Integers, root: Integers) -> None:
        """Resolve islands without joints, all in one call."""
        start = np.append(np.flatnonzero(np.diff(root, prepend=-1)), len(root))
        block = np.empty((len(chosen), 3, 3))
        kernels.own_blocks(self._touching.columns[chosen], block)
        struck = self._struck(chosen, block)
        found = self._take(chosen, struck, _NO_MATRIX, start)
        kernels.push_bodies(struck.bodies, struck.columns, found, self.changed, self.change)
        self.driven -= float(np.sum(found * self._touching.carried[chosen]))

    def _jointed_island(self, chosen: Integers, tree: Integers, root: int) -> None:
        """Resolve an island whose bodies have joints, by the matrix that these leave of DᵀM⁻¹D."""
        single = np.full((len(tree), 2), -1)
        single[:, 0] = np.arange(len(tree))
        roots = np.empty(len(tree), dtype=np.int64)
        kernels.roots(single, tree, roots)
        members = np.flatnonzero(roots == root)
        place = np.full(len(tree) + 1, -1)  # its last entry is for fixed bodies, whose number is −1
        place[members] = np.arange(len(members))
        columns = self._touching.columns[chosen]
        response = _spread(place[self._touching.bodies[chosen]], columns, len(members))
        assert self._joints is not None
        here = place[self._links].max(axis=1) >= 0
        rows = self._owner.joint_columns(self._joints)[here][:, :, None]
        basis, sizes, _ = np.linalg.svd(
            _spread(place[self._links[here]], rows, len(members)), full_matrices=False
        )
        basis = basis[:, sizes > _SINGULAR * sizes.max(initial=0.0)]
        for _ in range(2):  # the second time to remove rounding errors
            response -= basis @ (basis.T @ response)
        whole = np.ascontiguousarray(response.T @ response)
        diagonal = np.arange(len(chosen))
        block = whole.reshape(len(chosen), 3, len(chosen), 3)[diagonal, :, diagonal].copy()
        before = (self._w + self.change)[members]
        work = self.work
        found = self._take(chosen, self._struck(chosen, block), whole, np.array([0, len(chosen)]))
        added = (response @ found.ravel()).reshape(-1, 6)
        self.change[members] += added
        self.changed[members] = True
        driven = -float(np.sum(found * self._touching.carried[chosen]))
        self.driven += driven
        self.joint_work += float(np.sum(added * (before + 0.5 * added))) - (self.work - work) - driven

    def _struck(self, chosen: Integers, given: Floats) -> kernels.Struck:
        """The chosen contacts, with their diagonal blocks of W given."""
        contacts, block, inverse = self._contacts, np.empty_like(given), np.empty_like(given)
        invert_blocks(given, np.zeros(len(chosen), dtype=np.uint8), block, inverse)
        return kernels.Struck(
            self._touching.bodies[chosen], self._touching.columns[chosen], self._now[chosen],
            contacts.friction[chosen], contacts.restitution[chosen],
            self._owner.obey_poisson(contacts, chosen), block, inverse, self._scale[chosen],
        )  # fmt: skip

    def _take(self, chosen: Integers, struck: kernels.Struck, whole: Floats, start: Integers) -> Floats:
        """Resolve islands, add up their results, and return their impulses (k, 3)."""
        found, work, factors, converged = self._owner.resolve(struck, whole, start, self._room)
        for j in np.flatnonzero(~converged):
            here = slice(start[j], start[j + 1])
            if start[j + 1] - start[j] > impact_newton.MOST_CONTACTS:
                continue
            island = kernels.Struck(*(each[here] for each in struck))
            found[here], work[j], factors[j], converged[j] = self._owner.finish(island, whole)
        hit, sizes = found[:, 0] > 0.0, np.diff(start)
        self.impulses[chosen] += found
        self.count += int(hit.sum())
        self.work += float(work.sum())
        self.reduced += int(np.sum(hit & np.repeat(factors < 1.0, sizes)))
        self.unfinished += int(np.sum(sizes[~converged]))
        return found


def _spread(places: Integers, columns: Floats, count: int) -> Floats:
    """Matrix (6 count, k·p) of columns (k, 2, p, 6) at two places each, −1 for none."""
    k, _, p, _ = columns.shape
    out = np.zeros((count + 1, 6, k, p))
    for side in range(2):
        out[places[:, side], :, np.arange(k)] += columns[:, side].transpose(0, 2, 1)
    return np.ascontiguousarray(out[:count].reshape(6 * count, k * p))
