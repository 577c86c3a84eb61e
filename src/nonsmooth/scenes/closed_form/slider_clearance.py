"""A slider-crank whose slider has clearance in its guide: four corners that may touch two walls.

The system of Flores, Leine and Glocker (Multibody System Dynamics 23, 165–190, 2010), with the data of their
Table 1. Coordinates q = (θ₁, θ₂, θ₃): angles of crank, rod and slider in rad. SI units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.model.generalised import GapContact, GeneralisedSystem
from nonsmooth.scenes.registry import model

CORNERS = {"upper rear": (-1, 1), "upper front": (1, 1), "lower rear": (-1, -1), "lower front": (1, -1)}
"""Each corner by its side along and across the slider."""


@model("a slider-crank with clearance in its guide (Flores et al. 2010)")
@dataclass(frozen=True)
class SliderClearance:
    """The mechanism; the defaults are the published data.

    Args:
        crank: l₁ in m.
        rod: l₂ in m.
        half_length: a of the slider, in m.
        half_height: b of the slider, in m.
        clearance: c between slider and wall on either side, in m.
        masses: of crank, rod and slider, in kg.
        inertias: about their centres, in kg m².
        friction: μ of all corners.
        restitution: e_N of all corners.
        gravity: in m/s².
    """

    crank: float = 0.153
    rod: float = 0.306
    half_length: float = 0.05
    half_height: float = 0.025
    clearance: float = 0.001
    masses: tuple[float, float, float] = (0.038, 0.038, 0.076)
    inertias: tuple[float, float, float] = (7.4e-5, 5.9e-4, 2.7e-6)
    friction: float = 0.01
    restitution: float = 0.4
    gravity: float = 9.81

    def start(self, speed: float = 150.0) -> tuple[Floats, Floats]:
        """q and u with crank and rod in line, the slider in the middle, the crank at a speed (rad/s)."""
        return np.zeros(3), np.array([speed, -speed * self.crank / self.rod, 0.0])

    def mass_matrix(self, q: Floats) -> Floats:
        """M(q) (3, 3)."""
        m1, m2, m3 = self.masses
        j1, j2, j3 = self.inertias
        both = (0.5 * m2 + m3) * self.crank * self.rod * math.cos(q[1] - q[0])
        first = j1 + (0.25 * m1 + m2 + m3) * self.crank**2
        second = j2 + (0.25 * m2 + m3) * self.rod**2
        return np.array([[first, both, 0.0], [both, second, 0.0], [0.0, 0.0, j3]])

    def slider(self, q: Floats) -> Floats:
        """Centre of the slider (…, 2) in m for q (…, 3)."""
        along = self.crank * np.cos(q[..., 0]) + self.rod * np.cos(q[..., 1])
        across = self.crank * np.sin(q[..., 0]) + self.rod * np.sin(q[..., 1])
        return np.stack([along, across], axis=-1)

    def system(self) -> GeneralisedSystem:
        """The mechanism with its four contacts, named as in `CORNERS`."""
        m1, m2, m3 = self.masses
        coupling = (0.5 * m2 + m3) * self.crank * self.rod
        weight = self.gravity * np.array([(0.5 * m1 + m2 + m3) * self.crank, (0.5 * m2 + m3) * self.rod])

        def force(q: Floats, u: Floats, t: float) -> Floats:
            gyroscopic = coupling * math.sin(q[1] - q[0])
            return np.array(
                [
                    gyroscopic * u[1] ** 2 - weight[0] * math.cos(q[0]),
                    -gyroscopic * u[0] ** 2 - weight[1] * math.cos(q[1]),
                    0.0,
                ]
            )

        return GeneralisedSystem(
            self.mass_matrix,
            force,
            [self._corner(name, *sides) for name, sides in CORNERS.items()],
            potential=lambda q: weight[0] * math.sin(q[0]) + weight[1] * math.sin(q[1]),
        )

    def _corner(self, name: str, along: int, across: int) -> GapContact:
        """The corner (± a, ± b) of the slider and the wall on its side."""
        arms = np.array([self.crank, self.rod])
        a, b = along * self.half_length, across * self.half_height
        wall = self.half_height + self.clearance

        def gap(q: Floats, t: float) -> float:
            height = arms @ np.sin(q[:2]) + a * math.sin(q[2]) + b * math.cos(q[2])
            return float(wall - across * height)

        def normal(q: Floats, t: float) -> Floats:
            turned = a * math.cos(q[2]) - b * math.sin(q[2])
            return -across * np.append(arms * np.cos(q[:2]), turned)

        def tangent(q: Floats, t: float) -> Floats:
            turned = -a * math.sin(q[2]) - b * math.cos(q[2])
            return np.append(-arms * np.sin(q[:2]), turned)

        def normal_drift(q: Floats, u: Floats, t: float) -> float:
            turned = -a * math.sin(q[2]) - b * math.cos(q[2])
            return float(-across * (turned * u[2] ** 2 - (arms * np.sin(q[:2])) @ u[:2] ** 2))

        def tangent_drift(q: Floats, u: Floats, t: float) -> Floats:
            turned = -a * math.cos(q[2]) + b * math.sin(q[2])
            return np.array([turned * u[2] ** 2 - (arms * np.cos(q[:2])) @ u[:2] ** 2])

        return GapContact(
            name,
            gap=gap,
            normal=normal,
            normal_drift=normal_drift,
            tangent=tangent,
            tangent_drift=tangent_drift,
            friction=self.friction,
            restitution=self.restitution,
        )
