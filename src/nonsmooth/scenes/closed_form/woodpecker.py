"""The woodpecker toy: a bird on a spring on a sleeve, which jams and slips alternately on a pole.

The linearised model of Glocker (Dynamik von Starrkörpersystemen mit Reibung und Stößen, 1995) and of Leine,
Glocker and van Campen (Nonlinear dynamics of the woodpecker toy, DETC2001/VIB-21608, 2001), with their data.
Coordinates q = (y, φ_M, φ_S): height of the sleeve in m, angles of sleeve and bird in rad. SI units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth._support.arrays import Floats
from nonsmooth.model.generalised import GapContact, GeneralisedSystem
from nonsmooth.scenes.registry import model

BEAK, LOWER, UPPER = "beak", "lower edge", "upper edge"
"""Contacts: the bird's beak with the pole, and the edges of the sleeve at its lower and upper end."""


@model("the woodpecker toy (Glocker 1995)")
@dataclass(frozen=True)
class Woodpecker:
    """The toy; the defaults are the published data.

    Args:
        bird_mass: m_S in kg.
        bird_inertia: J_S in kg m².
        sleeve_mass: m_M in kg.
        sleeve_inertia: J_M in kg m².
        stiffness: c_φ of the spring between them, in N m/rad.
        pole_radius: r_0 in m.
        sleeve_radius: r_M in m.
        sleeve_height: h_M in m, half of it.
        arm: l_M in m, from the sleeve's centre to the spring.
        spring_length: l_G in m, from the spring to the bird's centre.
        beak_height: h_S in m above the bird's centre.
        beak_length: l_S in m ahead of it.
        friction: μ of all contacts.
        beak_restitution: e_N of the beak; the sleeve's is 0.
        gravity: in m/s².
    """

    bird_mass: float = 0.0045
    bird_inertia: float = 7.0e-7
    sleeve_mass: float = 0.0003
    sleeve_inertia: float = 5.0e-9
    stiffness: float = 0.0056
    pole_radius: float = 0.0025
    sleeve_radius: float = 0.0031
    sleeve_height: float = 0.0058
    arm: float = 0.010
    spring_length: float = 0.015
    beak_height: float = 0.02
    beak_length: float = 0.0201
    friction: float = 0.3
    beak_restitution: float = 0.5
    gravity: float = 9.81

    @property
    def jam_angle(self) -> float:
        """φ_M in rad at which an edge of the sleeve touches the pole."""
        return (self.sleeve_radius - self.pole_radius) / self.sleeve_height

    @property
    def peck_angle(self) -> float:
        """φ_S in rad at which the beak touches the pole."""
        reach = self.arm + self.spring_length - self.beak_length - self.pole_radius
        return reach / self.beak_height

    @property
    def mass_matrix(self) -> Floats:
        """M (3, 3), constant."""
        along = np.array([1.0, self.arm, self.spring_length])
        own = np.diag([self.sleeve_mass, self.sleeve_inertia, self.bird_inertia])
        return np.asarray(self.bird_mass * np.outer(along, along) + own)

    def at_rest(self, bird_angle: float) -> tuple[Floats, Floats]:
        """q and u with the sleeve jammed at its lower edge and the bird held at φ_S (rad)."""
        return np.array([0.0, -self.jam_angle, bird_angle]), np.zeros(3)

    def system(self) -> GeneralisedSystem:
        """The toy with its three contacts."""
        bird, c, g = self.bird_mass, self.stiffness, self.gravity
        weight = g * np.array(
            [bird + self.sleeve_mass, bird * self.arm, bird * self.spring_length]
        )  # as generalised forces

        def force(q: Floats, u: Floats, t: float) -> Floats:
            torque = c * (q[2] - q[1])
            return np.array([-weight[0], torque - weight[1], -torque - weight[2]])

        ahead = self.spring_length - self.beak_length
        edge = [1.0, self.sleeve_radius, 0.0]
        clearance = self.sleeve_radius - self.pole_radius
        contacts = [
            self._contact(
                BEAK, self.beak_height * self.peck_angle, [0.0, 0.0, -self.beak_height],
                [1.0, self.arm, ahead], self.beak_restitution,
            ),
            self._contact(LOWER, clearance, [0.0, self.sleeve_height, 0.0], edge, 0.0),
            self._contact(UPPER, clearance, [0.0, -self.sleeve_height, 0.0], edge, 0.0),
        ]  # fmt: skip
        return GeneralisedSystem(
            self.mass_matrix,
            force,
            contacts,
            potential=lambda q: float(weight @ q) + 0.5 * c * (q[2] - q[1]) ** 2,
        )

    def _contact(
        self, name: str, gap: float, normal: ArrayLike, tangent: ArrayLike, restitution: float
    ) -> GapContact:
        """A contact whose distance is linear in q."""
        across, along = np.asarray(normal, dtype=float), np.asarray(tangent, dtype=float)
        return GapContact(
            name,
            gap=lambda q, t: gap + across @ q,
            normal=lambda q, t: across,
            normal_drift=lambda q, u, t: 0.0,
            tangent=lambda q, t: along,
            tangent_drift=lambda q, u, t: np.zeros(1),
            friction=self.friction,
            restitution=restitution,
        )
