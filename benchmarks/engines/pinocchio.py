"""Pinocchio (`pin`): its ADMM solver for the exact Coulomb law; double precision.

Pinocchio is no simulator: collision, the Delassus matrix and the time step are NumPy and SciPy code here
(the gap at the end of the step must not be negative, as in this project), and their time counts. Its
Gauss-Seidel solver takes dense matrices only, so it is not among the settings.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pinocchio as pin
import scipy.sparse as sp

from engines.geometry import close_pairs, contact_rows, frames, geometry
from engines.interface import ContactImpulses
from engines.scene import Filling, Floats

_ACCURACY = {"coarse": (1e-4, 100), "default": (1e-6, 1000)}
_DAMPING = 1e-9
"""Added to the diagonal of the Delassus matrix in 1/kg: it is singular where forces are not unique."""
_MARGIN = 0.02
"""Contacts count whose gap without impulses would be at most this at the end of the step, in radii."""


class Engine:
    settings: ClassVar = {
        name: f"ADMM, feasibility and complementarity {tolerance:g}, at most {iterations} iterations"
        for name, (tolerance, iterations) in _ACCURACY.items()
    }
    float_bits = 64
    midpoint = False

    def __init__(self, scene: Filling, setting: str) -> None:
        self.scene = scene
        self.position = scene.positions.copy()
        self.velocity = np.zeros((scene.count, 6))
        self.last = ContactImpulses(np.zeros((0, 2), np.int64), np.zeros((0, 3)))
        self.missed = 0
        self.solver = pin.ADMMConstraintSolver()
        self.options = pin.ADMMSolverSettings()
        self.options.lanczos_size = 10  # the default, as large as the problem, takes most of the time
        tolerance, self.options.max_iterations = _ACCURACY[setting]
        for kind in ("feasibility", "complementarity"):
            setattr(self.options, f"absolute_{kind}_tol", tolerance)
            setattr(self.options, f"relative_{kind}_tol", tolerance)
        self.model = pin.Model()
        self.model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "sphere")

    @staticmethod
    def version() -> str:
        return str(pin.__version__)

    def step(self) -> None:
        scene, h = self.scene, self.scene.step
        self.velocity[:, 2] -= scene.gravity * h
        reach = 2.0 * h * np.linalg.norm(self.velocity[:, :3], axis=1).max()
        pairs = close_pairs(scene, self.position, reach)
        normal, gap = geometry(scene, self.position, pairs)
        motion = h * self.velocity[:, :3]
        before = np.where(pairs[:, :1] < 0, 0.0, motion[pairs[:, 0]])
        may_close = gap + ((motion[pairs[:, 1]] - before) * normal).sum(axis=1) <= _MARGIN * scene.radius
        pairs, normal, gap = pairs[may_close], normal[may_close], gap[may_close]
        frame = frames(normal)
        rows = contact_rows(frame, scene.radius * normal, pairs)
        impulse = np.zeros((len(pairs), 3))
        if len(pairs):
            impulse = self._solve(rows, pairs, gap / h, np.einsum("cij,cj->ci", frame, self._guess(pairs)))
            change = np.einsum("cbij,ci->cbj", rows, impulse) / self._mass
            for side in (0, 1):
                moving = pairs[:, side] >= 0
                np.add.at(self.velocity, pairs[moving, side], change[moving, side])
        self.last = ContactImpulses(pairs, np.einsum("cij,ci->cj", frame, impulse))
        self.position = self.position + h * self.velocity[:, :3]

    def state(self) -> tuple[Floats, Floats, Floats]:
        return self.position.copy(), self.velocity[:, :3].copy(), self.velocity[:, 3:].copy()

    def contacts(self) -> ContactImpulses:
        return self.last

    @property
    def _mass(self) -> Floats:
        return np.repeat([self.scene.mass, self.scene.inertia], 3)

    def _guess(self, pairs: np.ndarray) -> Floats:
        """World-frame impulses of the last step for the same pairs, zero where they are new."""
        known = {tuple(pair): i for i, pair in enumerate(self.last.bodies.tolist())}
        found = np.array([known.get(tuple(pair), -1) for pair in pairs.tolist()])
        guess = np.zeros((len(pairs), 3))
        guess[found >= 0] = self.last.impulse[found[found >= 0]]
        return guess

    def _solve(self, rows: Floats, pairs: np.ndarray, bias: Floats, guess: Floats) -> Floats:
        """Impulses (n, t1, t2) of each contact; Pinocchio wants the order (t1, t2, n)."""
        order = [1, 2, 0]
        count = len(pairs)
        column = np.maximum(pairs, 0)[:, :, None] * 6 + np.arange(6)
        blocks = rows[:, :, order]
        index = np.broadcast_to(np.arange(3 * count).reshape(count, 1, 3, 1), blocks.shape)
        columns = np.broadcast_to(column[:, :, None], blocks.shape)
        jacobian = sp.csr_matrix(
            (blocks.ravel(), (index.ravel(), columns.ravel())), shape=(3 * count, 6 * self.scene.count)
        )
        weighted = jacobian @ sp.diags_array(np.tile(1.0 / self._mass, self.scene.count))
        delassus = sp.csc_matrix(weighted @ jacobian.T + _DAMPING * sp.eye_array(3 * count))
        free = (jacobian @ self.velocity.ravel()).reshape(count, 3)
        free[:, 2] += bias
        models, datas = self._constraints(count)
        result = pin.ADMMSolverResult()
        result.setConstraintImpulseGuess(guess[:, order].ravel())
        self.solver.solve(
            pin.DelassusOperatorSparse(delassus), free.ravel(), models, datas, self.options, result
        )
        self.missed += not result.converged
        impulse = np.asarray(result.retrieveConstraintImpulses()).reshape(count, 3)
        return impulse[:, np.argsort(order)]

    def _constraints(self, count: int) -> tuple[object, object]:
        """As many equal contact models: the solver takes the cones from them, nothing else."""
        models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
        contact = pin.PointContactConstraintModel(self.model, 1)
        contact.setFriction(self.scene.friction)
        model = pin.ConstraintModel(contact)
        data = model.createData()
        for _ in range(count):
            models.append(model)
            datas.append(data)
        return models, datas
