"""This project: exact Coulomb law, every step with its certificate; double precision."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

import nonsmooth as ns
from engines.interface import ContactImpulses
from engines.scene import Filling, Floats
from nonsmooth.model.quaternions import rotate
from nonsmooth.scenes import filling
from nonsmooth.stepping import StepOptions, TimeStepper

_TOLERANCE = {"coarsest": 1e-2, "coarse": 1e-3, "default": 1e-4}


class Engine:
    settings: ClassVar = {
        name: f"default solver, relative residual of {tolerance:g} asked for in every step"
        for name, tolerance in _TOLERANCE.items()
    }
    float_bits = 64
    midpoint = True

    def __init__(self, scene: Filling, setting: str) -> None:
        self.count = scene.count
        # Kernels are compiled or loaded on their first call, which is no part of the run.
        for spheres, steps in ((100, 200), (scene.count, 60)):
            warm_up = _stepper(spheres, scene.step, _TOLERANCE[setting])
            for _ in range(steps):
                warm_up.advance()
        self.missed = 0
        self.stepper = _stepper(scene.count, scene.step, _TOLERANCE[setting])
        if not np.array_equal(self.state()[0], scene.positions):
            raise ValueError("ns.scenes.filling gives other positions than those that all engines get")

    @staticmethod
    def version() -> str:
        return ns.__version__

    def step(self) -> None:
        frame = self.stepper.advance()
        self.missed += not frame.residual <= self.stepper.options.tolerance

    def state(self) -> tuple[Floats, Floats, Floats]:
        system = self.stepper.system
        spin = rotate(system.quaternion, system.angular_velocity)
        states = (system.position, system.linear_velocity, spin)
        position, linear, angular = (array[: self.count].copy() for array in states)
        return position, linear, angular

    def contacts(self) -> ContactImpulses:
        # The spheres come first, then the planes in the order of `Filling.planes`.
        frame = self.stepper.frame
        bodies = frame.contacts.bodies.astype(np.int64)
        numbers = np.where(bodies < self.count, bodies, self.count - 1 - bodies)
        return ContactImpulses.of(numbers[:, 0], numbers[:, 1], frame.impulses)


def _stepper(spheres: int, step: float, tolerance: float) -> TimeStepper:
    system = filling(spheres=spheres)
    return TimeStepper(system, step, StepOptions(tolerance=tolerance))
