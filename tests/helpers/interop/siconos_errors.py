"""Prints the errors that Siconos itself computes.

Run by a Python that has `siconos.numerics`, on a JSON list of jobs on standard input:

    [{"file": "a.dat", "kind": "local", "impulses": [...], "velocity": [...]}, …]

`velocity` (generalised, for "global") is left out for "local". Prints a JSON list of errors.
"""

import ctypes
import ctypes.util
import json
import sys

import numpy as np
import siconos.numerics as siconos

_NUMBERS = ctypes.POINTER(ctypes.c_double)
_LIBRARY = ctypes.CDLL(ctypes.util.find_library("siconos_numerics"))
_LIBRARY.fc2d_compute_error.argtypes = [
    ctypes.c_void_p, _NUMBERS, _NUMBERS, ctypes.c_double, ctypes.c_double, _NUMBERS,
]  # fmt: skip


def planar_error(problem, impulses, velocities):
    """The planar function has no Python face."""
    error = ctypes.c_double()
    _LIBRARY.fc2d_compute_error(
        int(problem.this), impulses.ctypes.data_as(_NUMBERS), velocities.ctypes.data_as(_NUMBERS),
        1e-8, np.linalg.norm(problem.q), ctypes.byref(error),
    )  # fmt: skip
    return error.value


def error_of(job):
    impulses = np.array(job["impulses"])
    velocities = np.zeros_like(impulses)
    if job["kind"] == "global":
        problem = siconos.globalFrictionContact_new_from_filename(job["file"])
        options = siconos.SolverOptions(siconos.SICONOS_GLOBAL_FRICTION_3D_NSN_AC)
        norms = np.linalg.norm(problem.q), np.linalg.norm(problem.b)
        velocity = np.array(job["velocity"])
        return siconos.gfc3d_compute_error(problem, impulses, velocities, velocity, 1e-8, options, *norms)[1]
    problem = siconos.frictionContactProblemFromFile(job["file"])
    if problem.dimension == 2:
        return planar_error(problem, impulses, velocities)
    options = siconos.SolverOptions(siconos.SICONOS_FRICTION_3D_NSGS)
    norm = np.linalg.norm(problem.q)
    return siconos.fc3d_compute_error(problem, impulses, velocities, 1e-8, options, norm)[1]


print(json.dumps([error_of(job) for job in json.load(sys.stdin)]))
