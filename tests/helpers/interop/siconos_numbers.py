"""Reads text files of problems with Siconos itself and stores the numbers that it sees.

Run by a Python that has `siconos.numerics`, on a JSON list of jobs on standard input:

    [{"file": "a.dat", "kind": "local", "numbers": "a.npz", "text": "again.dat"}, …]

`numbers` and `text` are written where they are named: the numbers as arrays (a matrix as the arrays
name_row, name_column, name_value, name_shape of what is not zero), and the problem as Siconos prints it.
"""

import ctypes
import ctypes.util
import json
import sys

import numpy as np
import siconos.numerics as siconos

_LIBRARY = ctypes.CDLL(ctypes.util.find_library("siconos_numerics"))
_LIBRARY.NM_gemv.argtypes = [
    ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p,
]  # fmt: skip
_LIBRARY.NM_gemv.restype = None


class Matrix(ctypes.Structure):
    """The head of NumericsMatrix."""

    _fields_ = [("storage", ctypes.c_int), ("rows", ctypes.c_int), ("columns", ctypes.c_int)]


class Local(ctypes.Structure):
    """FrictionContactProblem."""

    _fields_ = [
        ("dimension", ctypes.c_int),
        ("contacts", ctypes.c_int),
        ("M", ctypes.POINTER(Matrix)),
        ("q", ctypes.POINTER(ctypes.c_double)),
        ("mu", ctypes.POINTER(ctypes.c_double)),
    ]


class Global(ctypes.Structure):
    """GlobalFrictionContactProblem."""

    _fields_ = [
        ("dimension", ctypes.c_int),
        ("contacts", ctypes.c_int),
        ("M", ctypes.POINTER(Matrix)),
        ("H", ctypes.POINTER(Matrix)),
        ("q", ctypes.POINTER(ctypes.c_double)),
        ("norm_q", ctypes.c_double),
        ("b", ctypes.POINTER(ctypes.c_double)),
        ("norm_b", ctypes.c_double),
        ("mu", ctypes.POINTER(ctypes.c_double)),
    ]


def vector(pointer, length):
    return np.array(pointer[:length], dtype=float)


def matrix(name, pointer):
    """Column after column as the product with a unit vector, which is exact in every storage."""
    head = pointer.contents
    unit, column = np.zeros(head.columns), np.zeros(head.rows)
    rows, columns, values = [], [], []
    for j in range(head.columns):
        unit[j], column[:] = 1.0, 0.0
        _LIBRARY.NM_gemv(1.0, pointer, unit.ctypes.data, 0.0, column.ctypes.data)
        unit[j] = 0.0
        found = np.flatnonzero(column)
        rows.append(found)
        columns.append(np.full(len(found), j))
        values.append(column[found])
    return {
        f"{name}_row": np.concatenate([*rows, np.zeros(0, dtype=int)]),
        f"{name}_column": np.concatenate([*columns, np.zeros(0, dtype=int)]),
        f"{name}_value": np.concatenate([*values, np.zeros(0)]),
        f"{name}_shape": np.array([head.rows, head.columns]),
    }


def numbers(problem, kind):
    raw = (Local if kind == "local" else Global).from_address(int(problem.this))
    rows = raw.dimension * raw.contacts
    found = {"dimension": raw.dimension, "mu": vector(raw.mu, raw.contacts)}
    if kind == "local":
        found |= {"q": vector(raw.q, rows), **matrix("W", raw.M)}
    else:
        found |= {"f": vector(raw.q, raw.M.contents.rows), "w": vector(raw.b, rows)}
        found |= {**matrix("M", raw.M), **matrix("H", raw.H)}
    return found


for job in json.load(sys.stdin):
    if job["kind"] == "local":
        problem = siconos.frictionContact_new_from_filename(job["file"])
        write = siconos.frictionContact_printInFilename
    else:
        problem = siconos.globalFrictionContact_new_from_filename(job["file"])
        write = siconos.globalFrictionContact_printInFileName
    if "text" in job:
        write(problem, job["text"])
    if "numbers" in job:
        np.savez(job["numbers"], **numbers(problem, job["kind"]))
