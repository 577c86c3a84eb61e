"""MuJoCo: convex, soft contact; double precision. Collisions and forces at the positions before the step."""

from __future__ import annotations

from typing import ClassVar

import mujoco
import numpy as np

from engines.interface import ContactImpulses
from engines.scene import Filling, Floats

_OPTIONS = {
    "cg": 'solver="CG" cone="elliptic" iterations="100"',
    "cg-stiff": 'solver="CG" cone="elliptic" iterations="100"',
    "default": 'solver="Newton" cone="pyramidal"',
}
_SOLIMP = {"cg": "0.9 0.95 0.001", "cg-stiff": "0.99 0.9999 0.001", "default": "0.9 0.95 0.001"}


class Engine:
    settings: ClassVar = {
        "cg": "CG, at most 100 iterations, elliptic cone, default softness",
        "cg-stiff": "CG, at most 100 iterations, elliptic cone, solimp 0.99 0.9999",
        "default": "Newton, pyramidal cone, default softness",
    }
    float_bits = 64
    midpoint = True
    missed = None

    def __init__(self, scene: Filling, setting: str) -> None:
        self.scene = scene
        self.model = mujoco.MjModel.from_xml_string(_xml(scene, setting))
        self.data = mujoco.MjData(self.model)

    @staticmethod
    def version() -> str:
        return str(mujoco.__version__)

    def step(self) -> None:
        mujoco.mj_step(self.model, self.data)

    def state(self) -> tuple[Floats, Floats, Floats]:
        position = self.data.qpos.reshape(-1, 7)
        velocity = self.data.qvel.reshape(-1, 6)
        angular = np.empty((self.scene.count, 3))
        for i in range(self.scene.count):  # free joints: linear in the world, angular in the body frame
            mujoco.mju_rotVecQuat(angular[i], velocity[i, 3:], position[i, 3:])
        return position[:, :3].copy(), velocity[:, :3].copy(), angular

    def contacts(self) -> ContactImpulses:
        contact = self.data.contact
        force, on_second = np.zeros(6), np.zeros((self.data.ncon, 3))
        frames = contact.frame.reshape(-1, 3, 3)
        for i in range(self.data.ncon):
            mujoco.mj_contactForce(self.model, self.data, i, force)
            on_second[i] = frames[i].T @ force[:3]
        # Geoms 0 to 4 are the planes, then the spheres in order; the frame's normal leads from 1 to 2.
        body = np.where(contact.geom < 5, -1 - contact.geom, contact.geom - 5)
        return ContactImpulses.of(body[:, 0], body[:, 1], on_second * self.scene.step)


def _xml(scene: Filling, setting: str) -> str:
    normals, points = scene.planes
    planes = "".join(
        f'<geom type="plane" size="0 0 1" pos="{_text(p)}" zaxis="{_text(n)}"/>'
        for n, p in zip(normals, points, strict=True)
    )
    spheres = "".join(
        f'<body pos="{_text(p)}"><freejoint/><geom type="sphere" size="{scene.radius}" mass="{scene.mass}"/>'
        "</body>"
        for p in scene.positions
    )
    return (
        f'<mujoco><option timestep="{scene.step}" gravity="0 0 {-scene.gravity}" {_OPTIONS[setting]} '
        f'jacobian="sparse"><flag autoreset="disable"/></option><size memory="1G"/>'
        f'<default><geom condim="3" friction="{scene.friction} 0 0" solimp="{_SOLIMP[setting]}"/></default>'
        f"<worldbody>{planes}{spheres}</worldbody></mujoco>"
    )


def _text(vector: Floats) -> str:
    return " ".join(repr(float(x)) for x in vector)
