"""PyBullet: projected Gauss-Seidel with a bounded push-out; double precision. Restitution and damping off."""

from __future__ import annotations

from importlib.metadata import version
from typing import ClassVar

import numpy as np
import pybullet as bullet

from engines.interface import ContactImpulses
from engines.scene import Filling, Floats

_ITERATIONS = {"coarse": 10, "default": 50, "fine": 200}


class Engine:
    settings: ClassVar = {
        "coarse": "10 iterations, friction cone",
        "default": "50 iterations (default), friction cone",
        "fine": "200 iterations, no early exit, friction cone",
    }
    float_bits = 64
    midpoint = False
    missed = None

    def __init__(self, scene: Filling, setting: str) -> None:
        self.scene = scene
        bullet.connect(bullet.DIRECT)
        bullet.setGravity(0, 0, -scene.gravity)
        exit_below = {"solverResidualThreshold": 0.0} if setting == "fine" else {}
        bullet.setPhysicsEngineParameter(
            fixedTimeStep=scene.step, numSubSteps=0, numSolverIterations=_ITERATIONS[setting],
            enableConeFriction=1, restitutionVelocityThreshold=0.0, deterministicOverlappingPairs=1,
            **exit_below,
        )  # fmt: skip
        self.planes = [_plane(normal, point) for normal, point in zip(*scene.planes, strict=True)]
        ball = bullet.createCollisionShape(bullet.GEOM_SPHERE, radius=scene.radius)
        self.spheres = [bullet.createMultiBody(scene.mass, ball, basePosition=p) for p in scene.positions]
        for body in (*self.planes, *self.spheres):
            # Bullet multiplies the two coefficients of a pair.
            bullet.changeDynamics(
                body, -1, lateralFriction=scene.friction**0.5, restitution=0.0, linearDamping=0.0,
                angularDamping=0.0, rollingFriction=0.0, spinningFriction=0.0,
            )  # fmt: skip

    @staticmethod
    def version() -> str:
        return version("pybullet")

    def step(self) -> None:
        bullet.stepSimulation()

    def state(self) -> tuple[Floats, Floats, Floats]:
        position = np.array([bullet.getBasePositionAndOrientation(i)[0] for i in self.spheres])
        velocity = np.array([bullet.getBaseVelocity(i) for i in self.spheres])
        return position, velocity[:, 0], velocity[:, 1]

    def contacts(self) -> ContactImpulses:
        index = {body: -1 - k for k, body in enumerate(self.planes)}
        index |= {body: i for i, body in enumerate(self.spheres)}
        points = bullet.getContactPoints()
        first = np.array([index[p[1]] for p in points], dtype=np.int64)
        second = np.array([index[p[2]] for p in points], dtype=np.int64)
        # The normal points from B to A; forces act on A.
        on_first = np.array(
            [p[9] * np.array(p[7]) + p[10] * np.array(p[11]) + p[12] * np.array(p[13]) for p in points]
        ).reshape(-1, 3)
        return ContactImpulses.of(first, second, -on_first * self.scene.step)


def _plane(normal: Floats, point: Floats) -> int:
    shape = bullet.createCollisionShape(bullet.GEOM_PLANE, planeNormal=normal)
    return int(bullet.createMultiBody(0.0, shape, basePosition=point))
