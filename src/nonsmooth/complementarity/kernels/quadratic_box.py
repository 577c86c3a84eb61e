"""Minimisation of a quadratic on a box by conjugate gradients inside faces, on sparse rows.

The quadratic is gᵀp + ½ pᵀ(JᵀJ + S)p. JᵀJ is never formed: a product goes over the rows of J once.
"""

from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import allocating_kernel, inlined_kernel, inner_kernel, kernel

_TRIES = 4
"""Points of the projected path that are tried where a step leaves the box."""


class SparseRows(NamedTuple):
    """A sparse matrix by rows: where each row starts, columns and entries."""

    starts: np.ndarray
    columns: np.ndarray
    entries: np.ndarray


@inlined_kernel
def _dot(first, second):
    total = 0.0
    for j in range(len(first)):
        total += first[j] * second[j]
    return total


@kernel
def multiply(hessian, vector, out):
    """Write (JᵀJ + S) v to `out`; `hessian` is (J, S)."""
    out[:] = 0.0
    jacobian, symmetric = hessian
    for row in range(len(jacobian.starts) - 1):
        first, last = jacobian.starts[row], jacobian.starts[row + 1]
        product = 0.0
        for k in range(first, last):
            product += jacobian.entries[k] * vector[jacobian.columns[k]]
        if product != 0.0:
            for k in range(first, last):
                out[jacobian.columns[k]] += jacobian.entries[k] * product
    for row in range(len(symmetric.starts) - 1):
        product = 0.0
        for k in range(symmetric.starts[row], symmetric.starts[row + 1]):
            product += symmetric.entries[k] * vector[symmetric.columns[k]]
        out[row] += product


@kernel
def transposed_product(matrix, vector, out):
    """Write Jᵀv to `out`."""
    out[:] = 0.0
    for row in range(len(matrix.starts) - 1):
        for k in range(matrix.starts[row], matrix.starts[row + 1]):
            out[matrix.columns[k]] += matrix.entries[k] * vector[row]


@kernel
def diagonal(hessian, out):
    """Write the diagonal of JᵀJ and the absolute diagonal of S, added, to `out`."""
    out[:] = 0.0
    jacobian, symmetric = hessian
    for k in range(jacobian.starts[-1]):
        out[jacobian.columns[k]] += jacobian.entries[k] ** 2
    for row in range(len(symmetric.starts) - 1):
        for k in range(symmetric.starts[row], symmetric.starts[row + 1]):
            if symmetric.columns[k] == row:
                out[row] += abs(symmetric.entries[k])


@inner_kernel
def measure(point, slope, lower, upper, metric):
    """Squared lengths of the gradient inside the face and of the chopped gradient, in the metric."""
    inside, chopped = 0.0, 0.0
    for j in range(len(point)):
        part = slope[j] * slope[j] * metric[j]
        if point[j] <= lower[j]:
            if slope[j] < 0.0 and lower[j] < upper[j]:
                chopped += part
        elif point[j] >= upper[j]:
            if slope[j] > 0.0:
                chopped += part
        else:
            inside += part
    return inside, chopped


@inner_kernel
def choose_face(point, slope, lower, upper, leave, free):
    """Mark what may move: variables between their bounds, and if `leave`, those that the gradient frees."""
    for j in range(len(point)):
        if point[j] <= lower[j]:
            free[j] = leave and slope[j] < 0.0 and lower[j] < upper[j]
        elif point[j] >= upper[j]:
            free[j] = leave and slope[j] > 0.0
        else:
            free[j] = True


@inner_kernel
def _room(point, direction, lower, upper, free):
    """Largest step along the direction within the box."""
    room = np.inf
    for j in range(len(point)):
        if free[j] and direction[j] != 0.0:
            bound = upper[j] if direction[j] > 0.0 else lower[j]
            room = min(room, (bound - point[j]) / direction[j])
    return max(room, 0.0)


@inner_kernel
def _to_boundary(point, direction, lower, upper, free, room, step):
    """Write the step to the first bound, with whatever reaches its bound put there exactly."""
    for j in range(len(point)):
        step[j] = 0.0
        if free[j] and direction[j] != 0.0:
            bound = upper[j] if direction[j] > 0.0 else lower[j]
            reached = (bound - point[j]) / direction[j] <= room
            step[j] = bound - point[j] if reached else room * direction[j]


@inner_kernel
def _along_path(point, direction, lower, upper, free, length, step):
    """Write the step to the projection of point + length · direction on the box."""
    for j in range(len(point)):
        step[j] = 0.0
        if free[j]:
            step[j] = min(max(point[j] + length * direction[j], lower[j]), upper[j]) - point[j]


@inner_kernel
def _leave_box(hessian, state, box, free, direction, curvature, descent, scratch):
    """Where a step would leave the box, find the best of a few points on its projection.

    The first is the bound that is met first; then come longer steps, cut off at every bound they meet, so
    that many bounds can become active at once. Leaves the step and its product with the Hessian in the
    scratch space; returns (change of the quadratic, products).
    """
    point, slope = state
    lower, upper = box
    curved, best, best_curved, trial, work = scratch
    room = _room(point, direction, lower, upper, free)
    _to_boundary(point, direction, lower, upper, free, room, best)
    for j in range(len(point)):
        best_curved[j] = room * curved[j]
    least = room * descent + 0.5 * room * room * curvature
    products = 0
    length = -descent / curvature if curvature > 0.0 else 8.0 * room
    for _ in range(_TRIES):
        if length <= 1.01 * room:
            break
        _along_path(point, direction, lower, upper, free, length, trial)
        multiply(hessian, trial, work)
        products += 1
        change = _dot(slope, trial) + 0.5 * _dot(trial, work)
        if change < least:
            least = change
            for j in range(len(point)):
                best[j], best_curved[j] = trial[j], work[j]
            if curvature > 0.0:
                break
            length *= 8.0
        elif curvature > 0.0:
            length = max(0.25 * length, room)
        else:
            break
    return least, products


@inner_kernel
def take_step(hessian, state, box, free, direction, scratch):
    """Go along a direction to the minimum there, or as far as the box lets.

    `state` is the point and the slope of the quadratic there, which are changed; `scratch` is five vectors.
    Returns (change of the quadratic, products, whether a bound was met).
    """
    point, slope = state
    lower, upper = box
    curved, step, step_curved, _, _ = scratch
    multiply(hessian, direction, curved)
    products = 1
    curvature, descent = _dot(direction, curved), _dot(slope, direction)
    meets = curvature <= 0.0 or -descent > curvature * _room(point, direction, lower, upper, free)
    if meets:
        change, more = _leave_box(hessian, state, box, free, direction, curvature, descent, scratch)
        products += more
    else:
        length = -descent / curvature
        change = 0.5 * length * descent
        for j in range(len(point)):
            step[j], step_curved[j] = length * direction[j], length * curved[j]
    for j in range(len(point)):
        point[j] = min(max(point[j] + step[j], lower[j]), upper[j])
        slope[j] += step_curved[j]
    return change, products, meets


@allocating_kernel
def minimise(hessian, gradient, lower, upper, metric, accuracy, leave, limit):
    """Minimise gᵀp + ½ pᵀ(JᵀJ + S)p on lower ≤ p ≤ upper, from p = 0, which lies in the box.

    A face is kept as long as the chopped gradient (of variables at a bound, pointing inward) is not longer
    than `leave` times the gradient inside the face. Lengths are in the metric, the inverse of the diagonal,
    which also preconditions. Ends when both together are `accuracy` times what they were, or after `limit`
    products. Returns (p, change of the quadratic, iterations, products, whether it converged).
    """
    n = len(gradient)
    point, slope, direction = np.zeros(n), gradient.copy(), np.zeros(n)
    free = np.zeros(n, dtype=np.bool_)
    scratch = (np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n))
    change, iterations, products = 0.0, 0, 0
    inside, chopped = measure(point, slope, lower, upper, metric)
    goal = accuracy * accuracy * (inside + chopped)
    while inside + chopped > goal and products < limit:
        leaving = chopped > leave * leave * inside
        choose_face(point, slope, lower, upper, leaving, free)
        squared = inside + chopped if leaving else inside
        for j in range(n):
            direction[j] = -metric[j] * slope[j] if free[j] else 0.0
        while True:
            gained, more, meets = take_step(hessian, (point, slope), (lower, upper), free, direction, scratch)
            change += gained
            products += more
            iterations += 1
            inside, chopped = measure(point, slope, lower, upper, metric)
            if not np.isfinite(inside + chopped):
                return point, change, iterations, products, False
            if meets or inside + chopped <= goal or chopped > leave * leave * inside or products >= limit:
                break
            ratio = inside / squared
            squared = inside
            for j in range(n):
                direction[j] = -metric[j] * slope[j] + ratio * direction[j] if free[j] else 0.0
    return point, change, iterations, products, inside + chopped <= goal
