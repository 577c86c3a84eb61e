"""The nonsmooth equations of the contact law and one element of their generalised Jacobian.

Everything is in the weighted variables x̂ = γ/√ρ and û = √ρ u (both √J). Each function fills, for
block i, F and its derivatives A = ∂F/∂x̂ and B = ∂F/∂û. A joint row with bounds has the natural map of
its interval in all formulations.
"""

import math

import numpy as np

from nonsmooth._support.jit import allocating_kernel, kernel
from nonsmooth.problem.kernels.residuals import BOUNDED

ALART_CURNIER, NATURAL_MAP, FISCHER_BURMEISTER = 0, 1, 2


@allocating_kernel
def _alart_curnier(x, u, mu, F, A, B):
    """F_n = x_n − max(0, z), F_t = x_t − Π_D(x_t − u_t) with z = x_n − u_n and D of radius μ max(0, z)."""
    z = x[0] - u[0]
    if z <= 0.0:
        F[:] = x
        for k in range(3):
            A[k, k] = 1.0
        return
    F[0] = u[0]
    B[0, 0] = 1.0
    p1, p2 = x[1] - u[1], x[2] - u[2]
    size = math.sqrt(p1 * p1 + p2 * p2)
    radius = mu * z
    if size <= radius:
        F[1], F[2] = u[1], u[2]
        B[1, 1] = B[2, 2] = 1.0
        return
    d1, d2 = p1 / size, p2 / size
    F[1], F[2] = x[1] - radius * d1, x[2] - radius * d2
    bend = radius / size
    s11, s12, s22 = bend * d2 * d2, -bend * d1 * d2, bend * d1 * d1
    A[1, 0], A[2, 0] = -mu * d1, -mu * d2
    B[1, 0], B[2, 0] = mu * d1, mu * d2
    A[1, 1], A[1, 2], A[2, 1], A[2, 2] = 1.0 - s11, -s12, -s12, 1.0 - s22
    B[1, 1], B[1, 2], B[2, 1], B[2, 2] = s11, s12, s12, s22


@allocating_kernel
def _tilted(u, mu, tilting, y, slope):
    """y = u + s e_n and ∂s/∂u_t."""
    size = math.sqrt(u[1] * u[1] + u[2] * u[2])
    y[0], y[1], y[2] = u[0] + tilting * mu * size, u[1], u[2]
    slope[0] = tilting * mu * u[1] / size if size > 0.0 else 0.0
    slope[1] = tilting * mu * u[2] / size if size > 0.0 else 0.0


@allocating_kernel
def _natural_map(x, u, mu, tilting, F, A, B, y, slope):
    """F = x − Π_K(x − y) with y = u + s e_n."""
    _tilted(u, mu, tilting, y, slope)
    n, t1, t2 = x[0] - y[0], x[1] - y[1], x[2] - y[2]
    size = math.sqrt(t1 * t1 + t2 * t2)
    if size <= mu * n:
        F[:] = y
        P00, P01, P02, P11, P12, P22 = 1.0, 0.0, 0.0, 1.0, 0.0, 1.0
    elif mu * size <= -n:
        F[:] = x
        P00 = P01 = P02 = P11 = P12 = P22 = 0.0
    else:
        share = 1.0 / (1.0 + mu * mu)
        top = (n + mu * size) * share
        d1, d2 = t1 / size, t2 / size
        F[0], F[1], F[2] = x[0] - top, x[1] - mu * top * d1, x[2] - mu * top * d2
        bend = mu * top / size
        P00, P01, P02 = share, mu * share * d1, mu * share * d2
        along = mu * mu * share - bend
        P11, P12, P22 = bend + along * d1 * d1, along * d1 * d2, bend + along * d2 * d2
    A[0, 0], A[0, 1], A[0, 2] = 1.0 - P00, -P01, -P02
    A[1, 0], A[1, 1], A[1, 2] = -P01, 1.0 - P11, -P12
    A[2, 0], A[2, 1], A[2, 2] = -P02, -P12, 1.0 - P22
    B[0, 0], B[0, 1], B[0, 2] = P00, P01 + P00 * slope[0], P02 + P00 * slope[1]
    B[1, 0], B[1, 1], B[1, 2] = P01, P11 + P01 * slope[0], P12 + P01 * slope[1]
    B[2, 0], B[2, 1], B[2, 2] = P02, P12 + P02 * slope[0], P22 + P02 * slope[1]


@allocating_kernel
def _fischer_burmeister(x, u, mu, tilting, F, A, B, y, slope):
    """φ(x̃, ỹ) = x̃ + ỹ − (x̃² + ỹ²)^{1/2} in the Jordan algebra of the second-order cone.

    x̃ = (μ x_n, x_t) and ỹ = (y_n, μ y_t) lie in that cone exactly where x ∈ K and y ∈ K*.
    """
    _tilted(u, mu, tilting, y, slope)
    a0, a1, a2 = mu * x[0], x[1], x[2]
    b0, b1, b2 = y[0], mu * y[1], mu * y[2]
    z0 = a0 * a0 + a1 * a1 + a2 * a2 + b0 * b0 + b1 * b1 + b2 * b2
    z1, z2 = 2.0 * (a0 * a1 + b0 * b1), 2.0 * (a0 * a2 + b0 * b2)
    size = math.sqrt(z1 * z1 + z2 * z2)
    large, small = math.sqrt(z0 + size), math.sqrt(max(0.0, z0 - size))
    d1, d2 = (z1 / size, z2 / size) if size > 0.0 else (1.0, 0.0)
    w0, half = 0.5 * (large + small), 0.5 * (large - small)
    F[0], F[1], F[2] = a0 + b0 - w0, a1 + b1 - half * d1, a2 + b2 - half * d2
    # a tiny push into the cone gives one element of the generalised Jacobian where it is not unique
    small = max(small, 1e-8 * large)
    if large == 0.0:
        large = small = 1.0
    w0, half = 0.5 * (large + small), 0.5 * (large - small)
    w1, w2 = half * d1, half * d2
    det = large * small
    inverse = np.empty((3, 3))  # of the arrow matrix of w
    inverse[0, 0], inverse[0, 1], inverse[0, 2] = w0 / det, -w1 / det, -w2 / det
    inverse[1, 0], inverse[1, 1], inverse[1, 2] = -w1 / det, (1.0 + w1 * w1 / det) / w0, w1 * w2 / (det * w0)
    inverse[2, 0], inverse[2, 1], inverse[2, 2] = -w2 / det, w1 * w2 / (det * w0), (1.0 + w2 * w2 / det) / w0
    for p in range(3):
        i0, i1, i2 = inverse[p, 0], inverse[p, 1], inverse[p, 2]
        x0 = (1.0 if p == 0 else 0.0) - (i0 * a0 + i1 * a1 + i2 * a2)
        x1 = (1.0 if p == 1 else 0.0) - (i0 * a1 + i1 * a0)
        x2 = (1.0 if p == 2 else 0.0) - (i0 * a2 + i2 * a0)
        y0 = (1.0 if p == 0 else 0.0) - (i0 * b0 + i1 * b1 + i2 * b2)
        y1 = (1.0 if p == 1 else 0.0) - (i0 * b1 + i1 * b0)
        y2 = (1.0 if p == 2 else 0.0) - (i0 * b2 + i2 * b0)
        A[p, 0], A[p, 1], A[p, 2] = mu * x0, x1, x2
        B[p, 0], B[p, 1], B[p, 2] = y0, mu * y1 + y0 * slope[0], mu * y2 + y0 * slope[1]


@allocating_kernel
def equations(kind, cones, padding, x, u, F, A, B):
    """Fill F (blocks, 3), A and B (blocks, 3, 3) for all blocks; returns |F|²."""
    y, slope = np.empty(3), np.empty(2)
    total = 0.0
    for i in range(x.shape[0]):
        A[i] = 0.0
        B[i] = 0.0
        mu = cones.friction[i]
        if cones.free[i]:
            F[i] = u[i]
            for k in range(3):
                B[i, k, k] = 1.0
            if cones.free[i] == BOUNDED:
                z, lower, upper = x[i, 0] - u[i, 0], cones.lower[i, 0], cones.upper[i, 0]
                if z <= lower or z >= upper:
                    F[i, 0] = x[i, 0] - (lower if z <= lower else upper)
                    A[i, 0, 0], B[i, 0, 0] = 1.0, 0.0
        elif mu == 0.0:
            z = x[i, 0] - u[i, 0]
            F[i] = x[i]
            for k in range(3):
                A[i, k, k] = 1.0
            if z > 0.0:
                F[i, 0], A[i, 0, 0], B[i, 0, 0] = u[i, 0], 0.0, 1.0
        elif kind == ALART_CURNIER:
            _alart_curnier(x[i], u[i], mu, F[i], A[i], B[i])
        elif kind == NATURAL_MAP:
            _natural_map(x[i], u[i], mu, cones.tilting, F[i], A[i], B[i], y, slope)
        else:
            _fischer_burmeister(x[i], u[i], mu, cones.tilting, F[i], A[i], B[i], y, slope)
        for k in range(3):
            if padding[i, k]:
                A[i, k] = 0.0
                B[i, k] = 0.0
                A[i, k, k] = 1.0
                F[i, k] = x[i, k]
            total += F[i, k] * F[i, k]
    return total


@kernel
def velocities(start, column, values, q, x, out):
    """Fill out (blocks, 3) with N x + q."""
    for i in range(len(start) - 1):
        u0, u1, u2 = q[i, 0], q[i, 1], q[i, 2]
        for entry in range(start[i], start[i + 1]):
            j = column[entry]
            x0, x1, x2 = x[j, 0], x[j, 1], x[j, 2]
            block = values[entry]
            u0 += block[0, 0] * x0 + block[0, 1] * x1 + block[0, 2] * x2
            u1 += block[1, 0] * x0 + block[1, 1] * x1 + block[1, 2] * x2
            u2 += block[2, 0] * x0 + block[2, 1] * x1 + block[2, 2] * x2
        out[i, 0], out[i, 1], out[i, 2] = u0, u1, u2


@kernel
def place_blocks(A, B, place):
    """Number the blocks whose equation is not simply d = −F (open contacts); the others get −1.

    Returns how many are numbered.
    """
    count = 0
    for i in range(len(place)):
        simple = True
        for p in range(3):
            for q in range(3):
                simple = simple and B[i, p, q] == 0.0 and A[i, p, q] == (1.0 if p == q else 0.0)
        place[i] = -1 if simple else count
        count += not simple
    return count


@kernel
def system_rows(start, column, values, F, A, B, softness, place, data, index, row_start, right):
    """Fill the rows of (A + B(N + diag α)) d = −F over the numbered blocks, with d = −F in the others.

    The matrix comes as compressed rows; the pattern must hold every diagonal block. Returns its entries.
    """
    filled = 0
    for i in range(len(start) - 1):
        if place[i] < 0:
            continue
        f0, f1, f2 = 0.0, 0.0, 0.0  # N times the known part of d
        count = 0
        for entry in range(start[i], start[i + 1]):
            j = column[entry]
            if place[j] < 0:
                block = values[entry]
                f0 -= block[0, 0] * F[j, 0] + block[0, 1] * F[j, 1] + block[0, 2] * F[j, 2]
                f1 -= block[1, 0] * F[j, 0] + block[1, 1] * F[j, 1] + block[1, 2] * F[j, 2]
                f2 -= block[2, 0] * F[j, 0] + block[2, 1] * F[j, 1] + block[2, 2] * F[j, 2]
            else:
                count += 3
        for p in range(3):
            at = filled
            for entry in range(start[i], start[i + 1]):
                j = column[entry]
                if place[j] < 0:
                    continue
                block = values[entry]
                for k in range(3):
                    value = B[i, p, 0] * block[0, k] + B[i, p, 1] * block[1, k] + B[i, p, 2] * block[2, k]
                    if i == j:
                        value += A[i, p, k] + softness[i] * B[i, p, k]
                    data[at], index[at] = value, 3 * place[j] + k
                    at += 1
            row = 3 * place[i] + p
            row_start[row], row_start[row + 1] = filled, filled + count
            right[row] = -F[i, p] - B[i, p, 0] * f0 - B[i, p, 1] * f1 - B[i, p, 2] * f2
            filled = at
    return filled


@kernel
def spread(place, F, solution, d):
    """Fill d (blocks, 3) from the solution over the numbered blocks and −F in the others."""
    for i in range(len(place)):
        for k in range(3):
            d[i, k] = -F[i, k] if place[i] < 0 else solution[3 * place[i] + k]


@kernel
def fill_rows(data, index, row_start, out):
    """Write compressed rows into a matrix of zeros."""
    for row in range(len(row_start) - 1):
        for at in range(row_start[row], row_start[row + 1]):
            out[row, index[at]] = data[at]
