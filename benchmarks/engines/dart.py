"""DART (`dartpy`): its two solvers for the exact Coulomb law; double precision. Sleeping off.

Planes are half-spaces of Bullet's collision detector: DART's own has none.
"""

from __future__ import annotations

from typing import ClassVar

import dartpy as dart
import numpy as np

from engines.interface import ContactImpulses
from engines.scene import Filling, Floats

_SOLVERS = {
    "default": dart.constraint.NsgsFrictionSolver,
    "fine": dart.constraint.NsgsFrictionSolver,
    "fbf": dart.constraint.FbfFrictionSolver,
}
_FINE_SWEEPS = 1000


class Engine:
    settings: ClassVar = {
        "default": "Gauss-Seidel, tolerance 1e-5, at most 100 sweeps (default)",
        "fine": f"Gauss-Seidel, tolerance 1e-5, at most {_FINE_SWEEPS} sweeps",
        "fbf": "forward-backward-forward splitting, tolerance 1e-5, at most 100 iterations (default)",
    }
    float_bits = 64
    midpoint = True

    def __init__(self, scene: Filling, setting: str) -> None:
        self.scene = scene
        self.missed = 0
        self.world = dart.simulation.World("filling")
        self.world.setTimeStep(scene.step)
        self.world.setGravity([0.0, 0.0, -scene.gravity])
        awake = self.world.getDeactivationOptions()
        awake.mEnabled = False
        self.world.setDeactivationOptions(awake)
        constraints = self.world.getConstraintSolver()
        constraints.setCollisionDetector(dart.collision.BulletCollisionDetector())
        constraints.getCollisionOption().maxNumContacts = 100 * scene.count
        self.solver = _SOLVERS[setting]()
        if setting == "fine":
            options = self.solver.getOptions()
            options.maxSweeps = _FINE_SWEEPS
            self.solver.setOptions(options)
        constraints.setBoxedLcpSolver(self.solver)
        for k, (normal, point) in enumerate(zip(*scene.planes, strict=True)):
            plane = dart.dynamics.Skeleton(str(-1 - k))
            body = plane.createWeldJointAndBodyNodePair()[1]
            self._add_shape(body, dart.dynamics.PlaneShape(normal, point))
            plane.setMobile(False)
            self.world.addSkeleton(plane)
        self.spheres = [self._add_sphere(i, centre) for i, centre in enumerate(scene.positions)]

    def _add_shape(self, body: dart.dynamics.BodyNode, shape: dart.dynamics.Shape) -> None:
        node = body.createShapeNode(shape)
        node.createCollisionAspect()
        node.createDynamicsAspect()
        node.getDynamicsAspect().setFrictionCoeff(self.scene.friction)

    def _add_sphere(self, number: int, centre: Floats) -> dart.dynamics.BodyNode:
        scene = self.scene
        sphere = dart.dynamics.Skeleton(str(number))
        joint, body = sphere.createFreeJointAndBodyNodePair()
        self._add_shape(body, dart.dynamics.SphereShape(scene.radius))
        body.setInertia(dart.dynamics.Inertia(scene.mass, np.zeros(3), scene.inertia * np.eye(3)))
        pose = dart.math.Isometry3()
        pose.set_translation(centre)
        joint.setTransform(pose)
        self.world.addSkeleton(sphere)
        return body

    @staticmethod
    def version() -> str:
        return str(dart.__version__)

    def step(self) -> None:
        self.solver.resetStats()
        self.world.step()
        done = self.solver.getStats()
        self.missed += done.numConverged < done.numSolves

    def state(self) -> tuple[Floats, Floats, Floats]:
        position = np.array([body.getWorldTransform().translation() for body in self.spheres])
        linear = np.array([body.getLinearVelocity() for body in self.spheres])
        return position, linear, np.array([body.getAngularVelocity() for body in self.spheres])

    def contacts(self) -> ContactImpulses:
        contacts = self.world.getLastCollisionResult().getContacts()
        first, second = (
            np.array([_number(contact, side) for contact in contacts], dtype=np.int64) for side in (1, 2)
        )
        on_first = np.array([contact.force for contact in contacts]).reshape(-1, 3)
        return ContactImpulses.of(first, second, -on_first * self.scene.step)


def _number(contact: dart.collision.Contact, side: int) -> int:
    node = getattr(contact, f"collisionObject{side}").getShapeFrame().asShapeNode()
    return int(node.getSkeleton().getName())
