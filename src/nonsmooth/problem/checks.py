"""Checks of a problem's arguments. Each error names the argument, the index and the cure."""

from __future__ import annotations

from typing import Any

import numpy as np

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth._support.lazy import is_sparse
from nonsmooth._support.lazy import sparse as sp
from nonsmooth.errors import ProblemError
from nonsmooth.problem.layout import Layout

_DELASSUS_SYMMETRY = 1e-2
"""Largest asymmetry of a given Delassus matrix, relative to its largest entry. Codes that assemble it from
rounded files leave up to 2e-3; more than this is an error."""


def array(name: str, value: Any) -> Floats:
    """Return a float64 copy, finite everywhere."""
    try:
        out = np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ProblemError(
            f"{name} is not an array of numbers: give numbers in a rectangular array"
        ) from None
    bad = np.argwhere(~np.isfinite(out))
    if len(bad):
        index = tuple(int(k) for k in bad[0])
        place = f" at index {index[0] if len(index) == 1 else index}" if index else ""
        raise ProblemError(f"{name} is {out[index]}{place}: every number must be finite")
    return out


def matrix(name: str, value: Any) -> Any:
    """Return a two-dimensional float64 copy, dense or sparse (CSC), finite everywhere."""
    if is_sparse(value):
        out = sp.csc_array(value, dtype=np.float64, copy=True)
        out.sum_duplicates()
        bad = np.flatnonzero(~np.isfinite(out.data))
        if len(bad):
            entries = out.tocoo()
            at = int(np.flatnonzero(~np.isfinite(entries.data))[0])
            place = (int(entries.coords[0][at]), int(entries.coords[1][at]))
            raise ProblemError(f"{name} is {entries.data[at]} at index {place}: every number must be finite")
        return out
    dense = array(name, value)
    if dense.ndim != 2:
        raise ProblemError(f"{name} has shape {dense.shape}: give a matrix")
    return dense


def vector(name: str, value: Any, size: int, meaning: str) -> Floats:
    """Return a flat float64 copy of the wanted length; zeros for None."""
    if value is None:
        return np.zeros(size)
    out = array(name, value).ravel()
    if len(out) != size:
        raise ProblemError(f"{name} has {len(out)} numbers instead of {size}: {meaning}")
    return out


def contact_count(friction: Floats, components: Any, rows: int | None) -> int:
    """Return the number of contacts from the given arrays."""
    if friction.ndim == 1:
        return len(friction)
    if components is not None and np.ndim(components) == 1:
        return len(np.asarray(components))
    if rows == 0:
        return 0
    if components is not None and rows is not None and np.ndim(components) == 0:
        width = int(components)
        if width in (1, 2, 3) and rows % width == 0:
            return rows // width
    if components is not None:
        raise ProblemError(
            f"components is {components}, but there are {rows} contact rows: they do not add up"
        )
    raise ProblemError(
        f"friction is one number and the number of contacts in {rows} rows is ambiguous: "
        "give one friction coefficient per contact, or components"
    )


def friction(mu: Floats, contacts: int) -> Floats:
    """Return one non-negative coefficient per contact."""
    if mu.ndim == 0:
        mu = np.full(contacts, float(mu))
    if len(mu) != contacts:
        raise ProblemError(
            f"friction has {len(mu)} numbers for {contacts} contacts: give one each, or one for all"
        )
    bad = np.flatnonzero(mu < 0.0)
    if len(bad):
        raise ProblemError(
            f"friction[{bad[0]}] is {mu[bad[0]]:g}: a friction coefficient must not be negative"
        )
    return mu


def components(value: Any, contacts: int, rows: int | None, friction: Floats) -> Integers:
    """Return 1, 2 or 3 for each contact, adding up to `rows`."""
    if value is None:
        if contacts == 0 and rows:
            raise ProblemError(
                f"friction has no numbers, but there are {rows} contact rows: give one per contact"
            )
        width, rest = divmod(rows or 0, contacts) if contacts else (3, 0)
        if rest or width not in (1, 2, 3):
            raise ProblemError(
                f"{rows} contact rows for {contacts} contacts are not 1, 2 or 3 each: "
                "give components, one number per contact"
            )
        if width == 1 and np.any(friction > 0.0):
            raise ProblemError(
                f"friction has {contacts} numbers for {rows} contact rows: a contact of one component has no "
                "friction; give one coefficient per contact, or components=1 for frictionless contacts"
            )
        value = width
    out = np.array(np.broadcast_to(np.asarray(value), (contacts,)) if np.ndim(value) == 0 else value)
    if out.shape != (contacts,):
        raise ProblemError(f"components has shape {out.shape} for {contacts} contacts: give one number each")
    bad = np.flatnonzero(~np.isin(out, (1, 2, 3)))
    if len(bad):
        raise ProblemError(f"components[{bad[0]}] is {out[bad[0]]}: a contact has 1, 2 or 3 components")
    if rows is not None and out.sum() != rows:
        raise ProblemError(f"components add up to {out.sum()}, but there are {rows} contact rows")
    return out.astype(np.int64)


def body_indices(name: str, value: Any, rows: int, bodies: int) -> Integers:
    """Return pairs of two different body indices, −1 for ground."""
    if value is None:
        raise ProblemError(f"{name} is missing: blocks need the two body indices of each row, -1 for ground")
    try:
        out = np.array(value)
    except ValueError:
        raise ProblemError(f"{name} is ragged: give whole numbers of shape ({rows}, 2)") from None
    if out.shape != (rows, 2) or (out.size and not np.issubdtype(out.dtype, np.integer)):
        raise ProblemError(f"{name} has shape {out.shape}: give whole numbers of shape ({rows}, 2)")
    bad = np.argwhere((out < -1) | (out >= bodies))
    if len(bad):
        index = (int(bad[0][0]), int(bad[0][1]))
        raise ProblemError(f"{name}{list(index)} is {out[index]}: bodies are 0 to {bodies - 1}, ground is -1")
    same = np.flatnonzero(out[:, 0] == out[:, 1])
    if len(same):
        raise ProblemError(f"{name}[{same[0]}] names body {out[same[0], 0]} twice: a pair needs two bodies")
    return out.astype(np.int64)


def joint_bounds(value: Any, rows: int) -> Floats:
    """Return lower and upper bounds of the joint impulses, (rows, 2); infinite for None."""
    if value is None:
        return np.tile([-np.inf, np.inf], (rows, 1))
    try:
        out = np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ProblemError(
            "joint_bounds is not an array of numbers: give (lower, upper) for each joint row"
        ) from None
    if out.shape != (rows, 2) and not (rows == 0 and out.size == 0):
        raise ProblemError(
            f"joint_bounds has shape {out.shape}: give (lower, upper) for each joint row, ({rows}, 2)"
        )
    out = out.reshape(rows, 2)
    bad = np.flatnonzero(~((out[:, 0] <= 0.0) & (out[:, 1] >= 0.0)))
    if len(bad):
        lower, upper = out[bad[0]]
        raise ProblemError(
            f"joint_bounds[{bad[0]}] is [{lower:g}, {upper:g}]: lower ≤ 0 ≤ upper is needed, because no "
            "impulse must be allowed; use -inf and inf where there is no bound"
        )
    return out


def nearly_symmetric(name: str, value: Any) -> None:
    """Raise if a matrix is far from symmetric."""
    difference = abs(value - value.T)
    scale, worst = abs(value).max() if value.size else 0.0, difference.max() if value.size else 0.0
    if worst > _DELASSUS_SYMMETRY * scale:
        raise ProblemError(
            f"{name} is not symmetric (by {worst / scale:.2g} of its largest entry): W = DᵀM⁻¹D is; check "
            "how it was assembled, or give allow_asymmetry=True to accept it"
        )


def movable(diagonal: Floats, layout: Layout) -> None:
    """Raise if a contact or a joint row moves no body: a row of zeros has no solution.

    `diagonal` (blocks, 3) is that of the Delassus matrix.
    """
    rows = diagonal.reshape(-1)[layout.slot]
    if np.any(rows < 0.0):
        raise ProblemError(
            f"delassus has a negative diagonal entry at index {int(np.argmax(rows < 0.0))}: "
            "W = DᵀM⁻¹D must be positive semidefinite"
        )
    stuck = np.flatnonzero(diagonal[: layout.contacts, 0] == 0.0)
    if len(stuck):
        raise ProblemError(
            f"contact {stuck[0]} moves no body along its normal (its diagonal of the Delassus matrix is 0): "
            "omit contacts between fixed bodies"
        )
    joint = rows[layout.contact_rows :]
    if np.any(joint == 0.0):
        raise ProblemError(
            f"joint row {int(np.argmax(joint == 0.0))} moves no body: omit joints between fixed bodies"
        )


def freeze(value: Any) -> None:
    """Make arrays read-only, the three arrays of a sparse matrix too."""
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    elif is_sparse(value):
        for part in (value.data, value.indices, value.indptr):
            part.setflags(write=False)
