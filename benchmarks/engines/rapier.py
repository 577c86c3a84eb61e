"""Rapier (`rapier3d`): soft-step Gauss-Seidel with substeps; single precision. Sleeping off."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import rapier3d as rapier

from engines.interface import ContactImpulses
from engines.scene import Filling, Floats

_SUBSTEPS = {"default": 4, "fine": 20, "finest": 80}
_STIFFENING = {"default": 1.0, "fine": 4.0, "finest": 16.0}
"""Factor on the contacts' natural frequency: their softness, not the solver, sets the overlap by default."""


class Engine:
    settings: ClassVar = {
        "default": "4 substeps (default), contact frequency 30 Hz (default), friction cone",
        "fine": "20 substeps, contact frequency 120 Hz, friction cone",
        "finest": "80 substeps, contact frequency 480 Hz, friction cone",
    }
    float_bits = 32
    midpoint = True
    missed = None

    def __init__(self, scene: Filling, setting: str) -> None:
        self.scene = scene
        self.world = rapier.PhysicsWorld(gravity=(0.0, 0.0, -scene.gravity))
        self.world.set_num_threads(1)
        parameters = self.world.integration_parameters
        parameters.dt = scene.step
        parameters.num_solver_iterations = _SUBSTEPS[setting]
        for name in ("contact_softness", "static_contact_softness"):
            softness = getattr(parameters, name)
            softness.natural_frequency *= _STIFFENING[setting]
            setattr(parameters, name, softness)
        parameters.friction_model = rapier.FrictionModel.COULOMB
        self.index = {}
        for k, (normal, point) in enumerate(zip(*scene.planes, strict=True)):
            plane = rapier.Collider.halfspace(tuple(normal)).translation(tuple(point))
            handle = self.world.add_collider(plane.friction(scene.friction).restitution(0.0))
            self.index[_key(handle)] = -1 - k
        self.handles = []
        for i, centre in enumerate(scene.positions):
            ball = rapier.Collider.ball(scene.radius).mass(scene.mass)
            body = rapier.RigidBody.dynamic().translation(tuple(centre)).can_sleep(False)
            handle = self.world.add_body(body, [ball.friction(scene.friction).restitution(0.0)])
            self.handles.append(handle)
            self.index[_key(self.world.rigid_bodies[handle].colliders[0])] = i

    @staticmethod
    def version() -> str:
        return str(rapier.__version__)

    def step(self) -> None:
        self.world.step()

    def state(self) -> tuple[Floats, Floats, Floats]:
        spheres = [self.world.rigid_bodies[handle] for handle in self.handles]
        position = np.array([_list(s.translation) for s in spheres])
        return (
            position,
            np.array([_list(s.linvel) for s in spheres]),
            np.array([_list(s.angvel) for s in spheres]),
        )

    def contacts(self) -> ContactImpulses:
        first, second, on_second = [], [], []
        for pair in self.world.narrow_phase.contact_pairs():
            for manifold in pair.manifolds:
                normal = np.array(_list(manifold.data.normal))
                for point in manifold.points:
                    first.append(self.index[_key(pair.collider1)])
                    second.append(self.index[_key(pair.collider2)])
                    tangents = _tangents(normal)
                    on_second.append(point.impulse * normal + np.array(point.tangent_impulse) @ tangents)
        return ContactImpulses.of(
            np.array(first, dtype=np.int64),
            np.array(second, dtype=np.int64),
            np.array(on_second).reshape(-1, 3),
        )


def _tangents(normal: Floats) -> Floats:
    """The frame of Rapier's tangent impulses, found from sliding spheres on planes of many directions."""
    x, y, z = normal
    sign = np.copysign(1.0, z)
    a = -1.0 / (sign + z)
    b = x * y * a
    return np.array([[b, sign + y * y * a, -y], [1.0 + sign * x * x * a, sign * b, -sign * x]])


def _key(handle: rapier.ColliderHandle) -> tuple[int, int]:
    return handle.index, handle.generation


def _list(vector: rapier.Vec3) -> list[float]:
    return [vector.x, vector.y, vector.z]
