"""Two SCARA robots that grasp a cube: the contact problems of Andreani et al. §4.2, as arrays.

The relative acceleration of fingers and cube at the two contacts is a = A c + b, in m/s², with the contact
forces c in N. The normals point from a finger to the cube and c is the force on the cube. Components stand in
the order (n1, n2, t1, t2, o1, o2); o = n × t points down at the first finger and up at the second.

The paper prints no masses: those of `Scara` and `CUBE_MASS` are substitutes of similar size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.complementarity.problem import LCP, MNCP

FRICTION = 0.5
SEED = 2003
COUNT = 200
"""Instances of each family in the paper."""
CUBE_MASS, HALF_SIDE = 1.0, 0.05
"""Mass in kg and size in m of the cube."""
REACH = 0.4
"""Distance of a finger from the axis of its robot's base, in m."""
NORMAL, TANGENT, BINORMAL = slice(0, 2), slice(2, 4), slice(4, 6)
"""Indices of the components of both contacts in c, a and b."""


@dataclass(frozen=True)
class Scara:
    """A robot with three hinges and a slide, all of them vertical; the finger is on the third hinge's axis.

    Both long links have their centres of mass in the middle; the two last bodies have them on the axis.
    """

    lengths: tuple[float, float] = (0.325, 0.275)
    """Of upper arm and forearm, in m."""
    masses: tuple[float, float, float, float] = (4.0, 3.0, 1.0, 1.0)
    """Of upper arm, forearm, wrist and quill, in kg."""
    wrist_inertia: float = 0.002
    """Moment of inertia in kg·m² about the axis, of the wrist and of the quill each."""

    @property
    def link_inertias(self) -> tuple[float, float]:
        """Moments of inertia in kg·m² of the long links, thin rods, about their centres of mass."""
        return self.masses[0] * self.lengths[0] ** 2 / 12.0, self.masses[1] * self.lengths[1] ** 2 / 12.0

    def elbow(self, reach: float = REACH) -> float:
        """Angle in rad of the forearm from the upper arm's line where the finger is `reach` (m) away."""
        first, second = self.lengths
        return float(np.arccos((reach**2 - first**2 - second**2) / (2.0 * first * second)))

    def inertia(self, elbow: float) -> Floats:
        """Inertia (4, 4) of the joint coordinates, in kg·m² for the hinges and kg for the slide."""
        (l1, l2), (m1, m2, m3, m4), (i1, i2) = self.lengths, self.masses, self.link_inertias
        delta = 2.0 * self.wrist_inertia
        alpha = i1 + (0.5 * l1) ** 2 * m1 + l1**2 * (m2 + m3 + m4)
        beta = i2 + delta + l2**2 * (m3 + m4) + m2 * (0.5 * l2) ** 2
        gamma = (l1 * l2 * (m3 + m4) + 0.5 * l1 * l2 * m2) * np.cos(elbow)
        return np.array(
            [
                [alpha + beta + 2.0 * gamma, beta + gamma, delta, 0.0],
                [beta + gamma, beta, delta, 0.0],
                [delta, delta, delta, 0.0],
                [0.0, 0.0, 0.0, m4],
            ]
        )

    def jacobian(self, elbow: float) -> Floats:
        """Velocity of the finger by those of the joints, (3, 4), where it is on the y axis from the base."""
        l1, l2 = self.lengths
        # Angles from the x axis: the forearm's and the upper arm's ends add up to a point with x = 0.
        shoulder = 0.5 * np.pi - np.arctan2(l2 * np.sin(elbow), l1 + l2 * np.cos(elbow))
        upper = l1 * np.array([np.cos(shoulder), np.sin(shoulder)])
        fore = l2 * np.array([np.cos(shoulder + elbow), np.sin(shoulder + elbow)])
        found = np.zeros((3, 4))
        found[:2, 0] = -(upper + fore)[1], (upper + fore)[0]
        found[:2, 1] = -fore[1], fore[0]
        found[2, 3] = 1.0
        return found


def grasp_matrix(robot: Scara | None = None) -> Floats:
    """A = WᵀM⁻¹W (6, 6) in 1/kg, from the inertia of the joint coordinates and of the cube.

    The first base is at (0, −0.45) m and the second one is the same robot turned by π at (0, 0.45) m.
    """
    robot = Scara() if robot is None else robot
    elbow = robot.elbow()
    jacobian = robot.jacobian(elbow)
    finger = jacobian @ np.linalg.solve(robot.inertia(elbow), jacobian.T)
    side_inertia = CUBE_MASS * (2.0 * HALF_SIDE) ** 2 / 6.0
    normals = np.array([[0.0, 1.0, 0.0], [0.0, -1.0, 0.0]])
    tangents = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    directions = np.stack([normals, tangents, np.cross(normals, tangents)])  # (component, contact, 3)
    torques = np.cross(-HALF_SIDE * normals, directions)
    matrix = np.einsum("kix,ljx->kilj", directions, directions) / CUBE_MASS
    matrix += np.einsum("kix,ljx->kilj", torques, torques) / side_inertia
    for i, turned in enumerate((np.eye(3), np.diag([-1.0, -1.0, 1.0]))):
        own = directions[:, i] @ turned
        matrix[:, i, :, i] += own @ finger @ own.T
    return np.asarray(matrix.reshape(6, 6))


@dataclass(frozen=True, eq=False)
class Grasp:
    """One instance: free accelerations b (6,) in m/s², and slip directions θ (2,) in rad from t towards o."""

    matrix: Floats
    free: Floats
    slip: Floats
    friction: float = FRICTION
    number: int = 0

    def acceleration(self, force: Floats) -> Floats:
        """a = A c + b (6,) in m/s²."""
        return self.matrix @ force + self.free

    # ---- the three families ---------------------------------------------------------------------

    def sliding(self) -> LCP:
        """Both contacts slide along θ: a linear problem in c_n (2).

        c_t = −μ c_n cos θ, c_o = −μ c_n sin θ; 0 ≤ c_n ⟂ (A_nn − μ A_nt cos − μ A_no sin) c_n + b_n ≥ 0.
        """
        matrix = self.matrix[NORMAL] @ self._slid()
        return LCP(matrix, self.free[NORMAL], name=f"sliding grasp {self.number}")

    def sliding_force(self, point: Floats) -> Floats:
        """Contact force c (6,) in N of a point of `sliding`."""
        return self._slid() @ point

    def _slid(self) -> Floats:
        """c by c_n where both contacts slide."""
        cosine, sine = np.diag(np.cos(self.slip)), np.diag(np.sin(self.slip))
        return np.vstack([np.eye(2), -self.friction * cosine, -self.friction * sine])

    def rolling(self) -> MNCP:
        """Both contacts roll, with Coulomb's cone: a mixed problem in u = (c_n, λ), v = (c_t, c_o, a_t, a_o).

        f = (a_n; μ²c_n² − c_t² − c_o²),  g = (a_t − A_t c − b_t; a_o − A_o c − b_o; μ c_n a_t + λ c_t;
        μ c_n a_o + λ c_o). λ ≥ 0 in m/s² is the acceleration with which a contact begins to slide.
        """
        return MNCP(
            self._rolling_f, self._rolling_g, (4, 8),
            jacobian=self._rolling_jacobian, name=f"rolling grasp {self.number}",
        )  # fmt: skip

    def rolling_force(self, point: Floats) -> Floats:
        """Contact force c (6,) in N of a point (12,) of `rolling`."""
        return np.concatenate([point[:2], point[4:8]])

    def _rolling_f(self, u: Floats, v: Floats) -> Floats:
        force = np.concatenate([u[:2], v[:4]])
        within = self.friction**2 * u[:2] ** 2 - v[:2] ** 2 - v[2:4] ** 2
        return np.concatenate([self.matrix[NORMAL] @ force + self.free[NORMAL], within])

    def _rolling_g(self, u: Floats, v: Floats) -> Floats:
        force = np.concatenate([u[:2], v[:4]])
        moving = v[4:] - self.matrix[2:] @ force - self.free[2:]
        opposed = self.friction * np.tile(u[:2], 2) * v[4:] + np.tile(u[2:], 2) * v[:4]
        return np.concatenate([moving, opposed])

    def _rolling_jacobian(self, u: Floats, v: Floats) -> Floats:
        rate, mu = np.zeros((12, 12)), self.friction
        contact, component = np.arange(2), np.arange(4)
        rate[:2, :2], rate[:2, 4:8] = self.matrix[NORMAL, :2], self.matrix[NORMAL, 2:]
        rate[2 + contact, contact] = 2.0 * mu**2 * u[:2]
        rate[2 + contact, 4 + contact] = -2.0 * v[:2]
        rate[2 + contact, 6 + contact] = -2.0 * v[2:4]
        rate[4:8, :2], rate[4:8, 4:8] = -self.matrix[2:, :2], -self.matrix[2:, 2:]
        rate[4 + component, 8 + component] = 1.0
        rate[8 + component, component % 2] = mu * v[4:]
        rate[8 + component, 2 + component % 2] = v[:4]
        rate[8 + component, 4 + component] = np.tile(u[2:], 2)
        rate[8 + component, 8 + component] = mu * np.tile(u[:2], 2)
        return rate

    def pyramid(self) -> LCP:
        """Both contacts roll, with the pyramid |c_t| ≤ μ c_n, |c_o| ≤ μ c_n: a linear problem of size 10.

        z = (c_n, x_t, x_o, a_t⁻, a_o⁻) with x = c + μ c_n and a = a⁺ − a⁻; the functions are
        (a_n, a_t⁺, a_o⁺, 2μ c_n − x_t, 2μ c_n − x_o).
        """
        force, mu = self._from_corner(), self.friction
        matrix = np.zeros((10, 10))
        matrix[:6, :6] = self.matrix @ force
        matrix[2:6, 6:] = np.eye(4)
        matrix[6:, :2] = 2.0 * mu * np.tile(np.eye(2), (2, 1))
        matrix[6:, 2:6] = -np.eye(4)
        return LCP(matrix, np.concatenate([self.free, np.zeros(4)]), name=f"pyramid grasp {self.number}")

    def pyramid_force(self, point: Floats) -> Floats:
        """Contact force c (6,) in N of a point (10,) of `pyramid`."""
        return self._from_corner() @ point[:6]

    def _from_corner(self) -> Floats:
        """c by (c_n, x_t, x_o)."""
        force = np.eye(6)
        force[2:, :2] = -self.friction * np.tile(np.eye(2), (2, 1))
        return force


def grasps(
    count: int = COUNT, *, seed: int = SEED, friction: float = FRICTION, robot: Scara | None = None
) -> list[Grasp]:
    """The first `count` instances: b ~ N(0, 1)⁶ and then θ ~ U[0, 2π]², one after the other."""
    generator, matrix = np.random.default_rng(seed), grasp_matrix(robot)
    return [
        Grasp(matrix, generator.standard_normal(6), generator.uniform(0.0, 2.0 * np.pi, 2), friction, number)
        for number in range(count)
    ]
