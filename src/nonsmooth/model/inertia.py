"""Mass and inertia of a body: from its shape, or as given."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import ProblemError
from nonsmooth.model import checks as check
from nonsmooth.model.shapes import MassProperties, Shape

_SYMMETRY = 1e-9
"""Allowed asymmetry and violation of the triangle inequality, relative to the largest moment."""

UNMOVED = np.diag([np.inf, np.inf, np.inf])
"""Inertia of a body that cannot be turned."""


def body_mass(
    label: str, shape: Shape | None, *, mass: Any, density: Any, inertia: Any, fixed: bool
) -> MassProperties:
    """Return mass, centre (in the shape's frame) and inertia about it; `label` names the body in errors."""
    if fixed:
        given = {"mass": mass, "density": density, "inertia": inertia}
        for name, value in given.items():
            if value is not None:
                endless = shape is not None and math.isinf(shape.volume)  # a height field, say
                remedy = f"omit {name}" if endless else f"omit {name}, or fixed"
                raise ProblemError(f"{label} is fixed and takes no {name}: {remedy}")
        return MassProperties(math.inf, _centre_of_fixed(shape), UNMOVED)
    if shape is not None and shape.without_mass:
        raise ProblemError(f"{label} has {shape.without_mass}")
    if (mass is None) == (density is None):
        fault = "neither mass nor density" if mass is None else "both mass and density"
        raise ProblemError(f"{label} has {fault}: give exactly one of them, or fixed=True")
    if shape is None:
        return _shapeless(label, mass, density, inertia)
    unit = shape.mass_properties(1.0)
    if density is not None:
        kilograms = check.positive(f"density of {label}", density, "kg/m³") * unit.mass
    else:
        kilograms = check.positive(f"mass of {label}", mass, "kg")
    tensor = unit.inertia * (kilograms / unit.mass) if inertia is None else checked_inertia(label, inertia)
    return MassProperties(kilograms, unit.centre, tensor)


def checked_inertia(label: str, inertia: Any) -> Floats:
    """Return an inertia tensor (3, 3) from itself or from three moments, if a body can have it."""
    shape = (3,) if np.asarray(inertia, dtype=object).ndim == 1 else (3, 3)
    tensor = check.array(f"inertia of {label}", inertia, shape, "three principal moments, or a (3, 3) tensor")
    if tensor.ndim == 1:
        tensor = np.diag(tensor)
    largest = np.max(np.abs(tensor))
    if np.max(np.abs(tensor - tensor.T)) > _SYMMETRY * largest:
        raise ProblemError(f"inertia of {label} is not symmetric: give I with I[i, j] = I[j, i]")
    tensor = 0.5 * (tensor + tensor.T)
    small, middle, large = np.linalg.eigvalsh(tensor)
    if small <= 0.0:
        raise ProblemError(
            f"inertia of {label} has the principal moment {small:g} kg·m²: all three must be positive"
        )
    if small + middle < large * (1.0 - _SYMMETRY):
        raise ProblemError(
            f"inertia of {label} has the principal moments {small:g}, {middle:g}, {large:g} kg·m², which no "
            "body has: the largest must not exceed the sum of the others"
        )
    return tensor


def _shapeless(label: str, mass: Any, density: Any, inertia: Any) -> MassProperties:
    if density is not None:
        raise ProblemError(f"{label} has a density and no shape: give mass and inertia")
    if inertia is None:
        raise ProblemError(f"{label} has neither shape nor inertia: give inertia, three moments or (3, 3)")
    kilograms = check.positive(f"mass of {label}", mass, "kg")
    return MassProperties(kilograms, np.zeros(3), checked_inertia(label, inertia))


def _centre_of_fixed(shape: Shape | None) -> Floats:
    if shape is None or shape.without_mass:
        return np.zeros(3)
    return shape.mass_properties(1.0).centre
