"""Bodies in contact, built from scratch with NumPy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np


def cross_matrix(r: np.ndarray) -> np.ndarray:
    """[r]× with [r]× ω = r × ω."""
    return np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    q, r = np.linalg.qr(rng.standard_normal((3, 3)))
    return q * np.sign(np.diag(r))


@dataclass(frozen=True)
class Scene:
    """Rigid bodies in contact as plain arrays, in the block form; `matrices` forms M, D and G by loops."""

    mass: np.ndarray  # (bodies, 6, 6)
    jacobian: np.ndarray  # (contacts, 2, 3, 6)
    bodies: np.ndarray  # (contacts, 2)
    components: np.ndarray  # (contacts,)
    friction: np.ndarray  # (contacts,)
    momentum: np.ndarray  # (bodies, 6)
    bias: np.ndarray  # (contact rows,)
    joint_jacobian: np.ndarray  # (rows, 2, 6)
    joint_bodies: np.ndarray  # (rows, 2)
    joint_rotational: np.ndarray  # (rows,) bool: velocity in rad/s
    joint_bias: np.ndarray  # (rows,)

    def matrices(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """M (6 bodies square), D and G, dense."""
        size = 6 * len(self.mass)
        mass = np.zeros((size, size))
        for i, block in enumerate(self.mass):
            mass[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] = block
        contact_columns = []
        for blocks, pair, width in zip(self.jacobian, self.bodies, self.components, strict=True):
            for k in range(width):
                contact_columns.append(self._column(size, blocks[:, k], pair))
        joint_columns = [
            self._column(size, rows, pair)
            for rows, pair in zip(self.joint_jacobian, self.joint_bodies, strict=True)
        ]
        d = np.array(contact_columns).reshape(-1, size).T
        g = np.array(joint_columns).reshape(-1, size).T
        return mass, d, g

    @staticmethod
    def _column(size: int, rows: np.ndarray, pair: np.ndarray) -> np.ndarray:
        column = np.zeros(size)
        for row, body in zip(rows, pair, strict=True):
            if body >= 0:
                column[6 * body : 6 * body + 6] += row
        return column

    def block_arguments(self) -> dict[str, Any]:
        """Arguments of a `ContactProblem` in the block form."""
        return {
            "mass": self.mass,
            "jacobian": self.jacobian,
            "bodies": self.bodies,
            "components": self.components,
            "friction": self.friction,
            "momentum": self.momentum,
            "bias": self.bias,
            "joint_jacobian": self.joint_jacobian,
            "joint_bodies": self.joint_bodies,
            "joint_bias": self.joint_bias,
        }

    def matrix_arguments(self) -> dict[str, Any]:
        """The same problem with dense M, D and G."""
        mass, d, g = self.matrices()
        return {
            "mass": mass,
            "jacobian": d,
            "components": self.components,
            "friction": self.friction,
            "momentum": self.momentum.ravel(),
            "bias": self.bias,
            "joint_jacobian": g,
            "joint_bias": self.joint_bias,
        }

    def delassus_arguments(self) -> dict[str, Any]:
        """The same problem with W and q."""
        w, q = self.delassus()
        return {
            "delassus": w,
            "free_velocity": q,
            "components": self.components,
            "friction": self.friction,
            "joint_rows": len(self.joint_bias),
        }

    def delassus(self) -> tuple[np.ndarray, np.ndarray]:
        """W = [D G]ᵀ M⁻¹ [D G] and q = [D G]ᵀ M⁻¹ k + b, by dense algebra."""
        mass, d, g = self.matrices()
        both = np.hstack([d, g])
        solved = np.linalg.solve(mass, np.hstack([both, self.momentum.reshape(-1, 1)]))
        w = both.T @ solved[:, :-1]
        return 0.5 * (w + w.T), both.T @ solved[:, -1] + np.concatenate([self.bias, self.joint_bias])

    def in_units(self, length: float, mass: float, time: float) -> Scene:
        """The same scene in other units: a number of dimension L^a M^b T^c grows by length^a mass^b time^c.

        Linear velocity is L/T and angular velocity 1/T, so with p = (1, 1, 1, L, L, L) the mass matrix
        grows by M p pᵀ, momentum by (ML/T) p and the row of a velocity in m/s by p; the row of a velocity
        in rad/s by p/L, and its bias by 1/T.
        """
        p = np.array([1.0, 1.0, 1.0, length, length, length])
        row = np.where(self.joint_rotational, 1.0 / length, 1.0)
        speed = length / time
        return replace(
            self,
            mass=self.mass * mass * np.outer(p, p),
            jacobian=self.jacobian * p,
            momentum=self.momentum * (mass * speed) * p,
            bias=self.bias * speed,
            joint_jacobian=self.joint_jacobian * p * row[:, None, None],
            joint_bias=self.joint_bias * speed * row,
        )

    def impulses_in_units(
        self, impulses: np.ndarray, joint_impulses: np.ndarray, length: float, mass: float, time: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """γ in ML/T, λ in ML/T or, for rotations, ML²/T."""
        unit = mass * length / time
        return impulses * unit, joint_impulses * unit * np.where(self.joint_rotational, length, 1.0)

    def velocity_in_units(self, velocity: np.ndarray, length: float, time: float) -> np.ndarray:
        """v in L/T, ω in 1/T."""
        scale = np.array([length, length, length, 1.0, 1.0, 1.0]) / time
        return (velocity.reshape(-1, 6) * scale).ravel()


def build_scene(
    seed: int, *, bodies: int = 4, contacts: int = 6, joints: bool = True, components: Any = "mixed"
) -> Scene:
    """Random bodies with full inertia tensors, contacts between them and ground, and two joints.

    The joints are a ball joint (three rows in m/s) of bodies 0 and 1, and a hinge of body 2 to ground
    (three rows in m/s, two in rad/s).
    """
    rng = np.random.default_rng(seed)
    mass = np.zeros((bodies, 6, 6))
    for i in range(bodies):
        weight, rotation = rng.uniform(0.2, 5.0), random_rotation(rng)
        mass[i, :3, :3] = weight * np.eye(3)
        mass[i, 3:, 3:] = weight * rotation @ np.diag(rng.uniform(0.05, 0.2, 3)) @ rotation.T
        mass[i, 3:, 3:] = 0.5 * (mass[i, 3:, 3:] + mass[i, 3:, 3:].T)

    def rows_of_point(frame: np.ndarray, lever: np.ndarray) -> np.ndarray:
        return np.hstack([frame, -frame @ cross_matrix(lever)])  # frame (v + ω × r)

    pairs = np.zeros((contacts, 2), dtype=int)
    jacobian = np.zeros((contacts, 2, 3, 6))
    for c in range(contacts):
        pairs[c] = rng.choice(np.arange(-1, bodies), size=2, replace=False)
        frame = random_rotation(rng)
        jacobian[c, 0] = -rows_of_point(frame, rng.uniform(-0.5, 0.5, 3))
        jacobian[c, 1] = rows_of_point(frame, rng.uniform(-0.5, 0.5, 3))
    if isinstance(components, str):
        widths = np.array([3, 1, 2] * contacts)[:contacts]
    else:
        widths = np.full(contacts, components)

    joint_rows, joint_pairs, rotational = [], [], []
    if joints:
        for a, b, hinge in ((0, 1, False), (-1, 2, True)):
            lever_a, lever_b = rng.uniform(-0.5, 0.5, 3), rng.uniform(-0.5, 0.5, 3)
            frame = random_rotation(rng)
            for k in range(3):
                row_a, row_b = rows_of_point(frame, lever_a)[k], rows_of_point(frame, lever_b)[k]
                joint_rows.append(np.array([-row_a, row_b]))
                joint_pairs.append((a, b))
                rotational.append(False)
            for k in range(2 * hinge):
                turn = np.concatenate([np.zeros(3), frame[k]])
                joint_rows.append(np.array([-turn, turn]))
                joint_pairs.append((a, b))
                rotational.append(True)
    return Scene(
        mass=mass,
        jacobian=jacobian,
        bodies=pairs,
        components=widths,
        friction=rng.uniform(0.1, 1.0, contacts),
        momentum=rng.standard_normal((bodies, 6)) * np.einsum("bkk->bk", mass),
        bias=rng.normal(scale=0.1, size=int(widths.sum())),
        joint_jacobian=np.array(joint_rows).reshape(-1, 2, 6),
        joint_bodies=np.array(joint_pairs, dtype=int).reshape(-1, 2),
        joint_rotational=np.array(rotational, dtype=bool),
        joint_bias=rng.normal(scale=0.1, size=len(joint_rows)),
    )
