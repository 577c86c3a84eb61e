"""Drake: discrete `MultibodyPlant` with compliant point contact; double precision."""

from __future__ import annotations

from importlib.metadata import version
from typing import ClassVar

import numpy as np
from pydrake.geometry import HalfSpace, Sphere
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.plant import (
    AddMultibodyPlant,
    ContactModel,
    CoulombFriction,
    DiscreteContactApproximation,
    MultibodyPlantConfig,
)
from pydrake.multibody.tree import SpatialInertia
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

from engines.interface import ContactImpulses
from engines.scene import Filling, Floats

_APPROXIMATION = {
    "default": DiscreteContactApproximation.kLagged,
    "sap": DiscreteContactApproximation.kSap,
}
_ALLOWANCE = {"default": 1e-3, "sap": 1e-3}


class Engine:
    settings: ClassVar = {
        "default": "lagged approximation, 1 mm allowance (stiffness from it)",
        "sap": "SAP approximation, 1 mm allowance (stiffness from it)",
    }
    float_bits = 64
    midpoint = True
    missed = None

    def __init__(self, scene: Filling, setting: str) -> None:
        self.scene = scene
        builder = DiagramBuilder()
        self.plant, _ = AddMultibodyPlant(MultibodyPlantConfig(time_step=scene.step), builder)
        plant = self.plant
        plant.set_contact_model(ContactModel.kPoint)
        plant.set_discrete_contact_approximation(_APPROXIMATION[setting])
        plant.set_penetration_allowance(_ALLOWANCE[setting])
        plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -scene.gravity])
        friction = CoulombFriction(scene.friction, scene.friction)
        self.index = {}
        for k, (normal, point) in enumerate(zip(*scene.planes, strict=True)):
            pose = RigidTransform(RotationMatrix.MakeFromOneVector(normal, 2), point)
            plant.RegisterCollisionGeometry(plant.world_body(), pose, HalfSpace(), f"plane{k}", friction)
        self.bodies = []
        inertia = SpatialInertia.SolidSphereWithMass(scene.mass, scene.radius)
        for i in range(scene.count):
            body = plant.AddRigidBody(f"sphere{i}", inertia)
            plant.RegisterCollisionGeometry(
                body, RigidTransform(), Sphere(scene.radius), f"ball{i}", friction
            )
            self.index[body.index()] = i
            self.bodies.append(body)
        plant.Finalize()
        self.simulator = Simulator(builder.Build())
        self.context = plant.GetMyMutableContextFromRoot(self.simulator.get_mutable_context())
        for body, centre in zip(self.bodies, scene.positions, strict=True):
            plant.SetFreeBodyPose(self.context, body, RigidTransform(centre))
        self.positions_start = np.array([b.floating_positions_start() for b in self.bodies])
        self.velocities_start = np.array([b.floating_velocities_start_in_v() for b in self.bodies])
        self.simulator.Initialize()
        self.done = 0

    @staticmethod
    def version() -> str:
        return version("drake")

    def step(self) -> None:
        self.done += 1
        self.simulator.AdvanceTo(self.done * self.scene.step)

    def state(self) -> tuple[Floats, Floats, Floats]:
        q, v = self.plant.GetPositions(self.context), self.plant.GetVelocities(self.context)
        # Free bodies: quaternion then position; angular then linear velocity, both in the world frame.
        axis = np.arange(3)
        position = q[self.positions_start[:, None] + 4 + axis]
        linear = v[self.velocities_start[:, None] + 3 + axis]
        return position, linear, v[self.velocities_start[:, None] + axis]

    def contacts(self) -> ContactImpulses:
        results = self.plant.get_contact_results_output_port().Eval(self.context)
        pairs = [results.point_pair_contact_info(i) for i in range(results.num_point_pair_contacts())]
        first = np.array([self._number(p.bodyA_index(), p) for p in pairs], dtype=np.int64)
        second = np.array([self._number(p.bodyB_index(), p) for p in pairs], dtype=np.int64)
        on_second = np.array([p.contact_force() for p in pairs]).reshape(-1, 3)
        return ContactImpulses.of(first, second, on_second * self.scene.step)

    def _number(self, body: object, pair: object) -> int:
        if body in self.index:
            return self.index[body]
        # The world: which plane is told by the contact normal, which is along an axis.
        normal = np.abs(pair.point_pair().nhat_BA_W)  # type: ignore[attr-defined]
        normals, points = self.scene.planes
        on_plane = np.abs(((pair.contact_point() - points) * normals).sum(axis=1))  # type: ignore[attr-defined]
        parallel = np.abs(normals) @ normal > 0.5
        return -1 - int(np.argmin(np.where(parallel, on_plane, np.inf)))
