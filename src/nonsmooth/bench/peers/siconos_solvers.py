"""Siconos' solvers of frictional contact, with default parameters except for tolerance and iteration limit.

It stops by its error (`nonsmooth.siconos_error`). W is in memory as its sparse-block matrix, dense for the
solvers that need it so; only the driver's call is timed. It has no time limit: it is stopped from outside.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

SPATIAL = {
    "NSGS": (10**6, "Gauss-Seidel"),
    "PROX": (10**4, "proximal point around NSN_AC"),
    "NSN_AC": (10**4, "semismooth Newton on the Alart-Curnier function"),
    "NSN_FB": (10**4, "semismooth Newton on the Fischer-Burmeister function"),
    "NSN_NM": (10**4, "semismooth Newton on the natural map"),
    "ADMM": (10**6, "ADMM; rho=constant, balanced (default) or scaled"),
    "TFP": (10**5, "fixed point on Tresca problems"),
    "PFP": (10**5, "Panagiotopoulos' fixed point"),
    "ACLMFP": (10**5, "fixed point on convex cone problems"),
    "SOCLCP": (10**6, "Gauss-Seidel on the relaxed law's cone problem; not exact Coulomb friction"),
    "DSFP": (10**6, "De Saxcé's fixed point"),
    "FPP": (10**6, "fixed-point projection"),
    "EG": (10**6, "extragradient"),
    "HP": (10**6, "hyperplane projection"),
    "VI_FPP": (10**6, "fixed-point projection with its own step length"),
    "VI_EG": (10**6, "extragradient with its own step length"),
}
"""Methods for three components: iteration limit, so large that the time limit decides, and summary."""
PLANAR = {
    "NSGS": (10**6, "Gauss-Seidel"),
    "CPG": (10**5, "conjugate projected gradient"),
    "LEMKE": (10**6, "Lemke's pivots"),
    "ENUM": (10**6, "enumeration"),
}
"""Methods for two components."""
GLOBAL = {
    "global-NSN_AC": (10**4, "semismooth Newton on the Alart-Curnier function, masses and all"),
    "global-ADMM": (10**6, "ADMM with masses"),
    "global-IPM": (10**4, "interior points on the relaxed law's cone problem; not exact Coulomb friction"),
}
"""Methods for three components on problems given by masses, which stay as they are."""
METHODS = (*SPATIAL, *(name for name in PLANAR if name not in SPATIAL), *GLOBAL)
OPTIONS = {"rho": {"constant": 0, "balanced": 2, "scaled": 3}}
"""Words of an option, and Siconos' numbers for them."""


def storage(method: str) -> str:
    """Storage of the matrices for a method."""
    if method in GLOBAL:
        return "sparse"
    return "dense" if method in ("CPG", "LEMKE", "ENUM") else "sparse-block"


def version() -> str:
    """Version of Siconos."""
    importlib.import_module("siconos.numerics")
    return str(getattr(importlib.import_module("siconos"), "version", ""))


def prepare(task: dict[str, Any]) -> Callable[[], Callable[[], dict[str, Any]]]:
    """Find the method for the problem's dimension."""
    siconos = importlib.import_module("siconos.numerics")
    name, dimension = task["setup"]["method"], task["dimension"]
    if name in GLOBAL and not (task["has_masses"] and dimension == 3):
        raise NotImplementedError(f"{name} of Siconos needs a spatial problem given by masses")
    methods = GLOBAL if name in GLOBAL else PLANAR if dimension == 2 else SPATIAL
    if name not in methods:
        raise NotImplementedError(f"Siconos has no {'planar' if dimension == 2 else 'spatial'} {name}")
    kind = "SICONOS_GLOBAL_FRICTION" if name in GLOBAL else "SICONOS_FRICTION"
    number = getattr(siconos, f"{kind}_{dimension}D_{name.removeprefix('global-')}")
    siconos.numerics_set_verbose(0)

    def begin() -> Callable[[], dict[str, Any]]:
        options = siconos.SolverOptions(number)
        options.dparam[siconos.SICONOS_DPARAM_TOL] = task["tolerance"]
        options.iparam[siconos.SICONOS_IPARAM_MAX_ITER] = methods[name][0]
        if name == "ADMM":
            rule = OPTIONS["rho"][task["setup"]["options"].get("rho", "balanced")]
            options.iparam[siconos.SICONOS_FRICTION_3D_ADMM_IPARAM_RHO_STRATEGY] = rule
        impulses, velocities = np.zeros(task["rows"]), np.zeros(task["rows"])
        unknowns = [impulses, velocities]
        if name in GLOBAL:
            problem = siconos.globalFrictionContact_new_from_filename(task["matrix"])
            unknowns.append(np.zeros(len(problem.q)))
            drive = siconos.gfc3d_driver
        else:
            problem = siconos.frictionContactProblemFromFile(task["matrix"])
            drive = siconos.fc2d_driver if dimension == 2 else siconos.fc3d_driver

        def solve() -> dict[str, Any]:
            info = drive(problem, *unknowns, options)
            return {
                "impulses": impulses,
                "iterations": int(options.iparam[siconos.SICONOS_IPARAM_ITER_DONE]),
                "says": "solved" if info == 0 else f"info {info}",
            }

        return solve

    return begin
