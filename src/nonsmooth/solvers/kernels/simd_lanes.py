"""Contacts of round bodies, sixteen at a time.

Where the inertia is the same about every axis and the contact lies on the line of the centres, a contact's
block of N is diag(w_n, w_t, w_t), the local problem has a closed form under either law, and tangents need
not be stored: impulses are vectors P in space, and with weighted velocities p = √m v, s = √J ω of the bodies

    u = s_B p_B − s_A p_A + n × (t_A s_A + t_B s_B),      s = 1/√m,  t = arm/√J .

Sixteen such contacts that share no moving body lie side by side in memory, a `row` of fields, so that the
compiler can use its vector units. Loops over lanes have no branches, one array for all fields, and offsets
that are known when they are compiled: else they stay scalar.
"""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inlined_kernel, kernel, lane_kernel

LANES = 16
_ROUND = 1e-12
"""Relative size below which a deviation from a round contact counts as rounding."""

# Places of the fields in a row, in numbers.
_N, _Q, _X, _LAST = 0, 48, 96, 144
_SA, _SB, _TA, _TB = 192, 208, 224, 240
_FRICTION, _INVERSE_N, _INVERSE_T, _WEIGHT = 256, 272, 288, 304
_SLIDE_N, _SLIDE_T = 320, 336
ROW = 352
SCRATCH = 16 * LANES
"""Numbers that one thread needs for the velocities of a row's bodies and for two sums."""
_CHANGE, _ALONG = 192, 208


class Lanes(NamedTuple):
    """Rows of sixteen contacts; an empty lane has ground for both bodies and zeros in its fields."""

    rows: np.ndarray  # (batches, ROW)
    a: np.ndarray  # (batches, LANES) uint32
    b: np.ndarray  # (batches, LANES) uint32


@inlined_kernel
def _side(columns, i, side):
    """Size s of the normal's linear column and t of the first tangent's angular one."""
    s = 0.0
    t = 0.0
    for k in range(3):
        s += columns[i, side, 0, k] ** 2
        t += columns[i, side, 1, 3 + k] ** 2
    return math.sqrt(s), math.sqrt(t)


@inlined_kernel
def _fits(columns, i, side, sign, s, t, n, first, second):
    """Tell whether the columns of a body are sign·s·(n, t1, t2) and −t n × (n, t1, t2)."""
    worst = 0.0
    for p in range(3):
        e = n if p == 0 else (first if p == 1 else second)
        c = (n[1] * e[2] - n[2] * e[1], n[2] * e[0] - n[0] * e[2], n[0] * e[1] - n[1] * e[0])
        for k in range(3):
            worst = max(worst, abs(columns[i, side, p, k] - sign * s * e[k]) / max(s, 1e-300))
            worst = max(worst, abs(columns[i, side, p, 3 + k] + t * c[k]) / max(s, t, 1e-300))
    return worst <= _ROUND


@kernel
def find_round(form, cones, out):
    """Mark in out (blocks,) uint8 the contacts that fit into lanes."""
    c = form.columns
    ground = form.body_count - 1
    for i in range(c.shape[0]):
        out[i] = 0
        if cones.free[i]:
            continue
        side = 1 if form.bodies[i, 1] != ground else 0
        sign = 1.0 if side == 1 else -1.0
        sa, ta = _side(c, i, 0)
        sb, tb = _side(c, i, 1)
        s = sb if side == 1 else sa
        if s == 0.0:
            continue
        n = (sign * c[i, side, 0, 0] / s, sign * c[i, side, 0, 1] / s, sign * c[i, side, 0, 2] / s)
        first = (sign * c[i, side, 1, 0] / s, sign * c[i, side, 1, 1] / s, sign * c[i, side, 1, 2] / s)
        # t2 = n × t1: with this and |t1| = 1, n·t1 = 0 below, the frame is orthonormal
        second = (
            n[1] * first[2] - n[2] * first[1],
            n[2] * first[0] - n[0] * first[2],
            n[0] * first[1] - n[1] * first[0],
        )
        square = first[0] ** 2 + first[1] ** 2 + first[2] ** 2
        across = first[0] * n[0] + first[1] * n[1] + first[2] * n[2]
        if abs(square - 1.0) > _ROUND or abs(across) > _ROUND:
            continue
        if _fits(c, i, 0, -1.0, sa, ta, n, first, second) and _fits(c, i, 1, 1.0, sb, tb, n, first, second):
            out[i] = 1


@inlined_kernel
def _frame(form, i):
    """Normal and tangents of a round contact."""
    c = form.columns
    side = 1 if form.bodies[i, 1] != form.body_count - 1 else 0
    s = _side(c, i, side)[0]
    f = (1.0 if side == 1 else -1.0) / s
    return (
        (c[i, side, 0, 0] * f, c[i, side, 0, 1] * f, c[i, side, 0, 2] * f),
        (c[i, side, 1, 0] * f, c[i, side, 1, 1] * f, c[i, side, 1, 2] * f),
        (c[i, side, 2, 0] * f, c[i, side, 2, 1] * f, c[i, side, 2, 2] * f),
    )


@kernel
def pack(form, cones, q, contact, lanes):
    """Fill lanes from the contacts that `contact` (batches, LANES) int32 names; −1 is an empty lane.

    Impulses stay zero: `load` fills them.
    """
    ground = form.body_count - 1
    for batch in range(contact.shape[0]):
        row = lanes.rows[batch]
        for place in range(ROW):
            row[place] = 0.0
        for lane in range(LANES):
            i = contact[batch, lane]
            lanes.a[batch, lane] = ground
            lanes.b[batch, lane] = ground
            if i < 0:
                continue
            lanes.a[batch, lane] = form.bodies[i, 0]
            lanes.b[batch, lane] = form.bodies[i, 1]
            n, first, second = _frame(form, i)
            for k in range(3):
                row[_N + k * LANES + lane] = n[k]
                row[_Q + k * LANES + lane] = q[i, 0] * n[k] + q[i, 1] * first[k] + q[i, 2] * second[k]
            sa, ta = _side(form.columns, i, 0)
            sb, tb = _side(form.columns, i, 1)
            mu = cones.friction[i]
            w_n = sa * sa + sb * sb
            w_t = w_n + ta * ta + tb * tb
            row[_SA + lane], row[_SB + lane] = sa, sb
            row[_TA + lane], row[_TB + lane] = ta, tb
            row[_FRICTION + lane] = mu
            row[_INVERSE_N + lane], row[_INVERSE_T + lane] = 1.0 / w_n, 1.0 / w_t
            row[_WEIGHT + lane] = 1.0 / cones.weight[i, 0]
            row[_SLIDE_N + lane] = w_n / (w_n + mu * mu * w_t)
            row[_SLIDE_T + lane] = mu * w_t / (w_n + mu * mu * w_t)


@kernel
def load(form, contact, lanes, x, last):
    """Copy impulses and last impulses (blocks, 3) into the lanes, as vectors in space."""
    for batch in range(contact.shape[0]):
        row = lanes.rows[batch]
        for lane in range(LANES):
            i = contact[batch, lane]
            if i >= 0:
                n, first, second = _frame(form, i)
                for k in range(3):
                    row[_X + k * LANES + lane] = x[i, 0] * n[k] + x[i, 1] * first[k] + x[i, 2] * second[k]
                    row[_LAST + k * LANES + lane] = (
                        last[i, 0] * n[k] + last[i, 1] * first[k] + last[i, 2] * second[k]
                    )


@kernel
def unload(form, contact, lanes, x, last):
    """Copy impulses out of the lanes, into components (blocks, 3); rounding must not leave the cone."""
    for batch in range(contact.shape[0]):
        row = lanes.rows[batch]
        for lane in range(LANES):
            i = contact[batch, lane]
            if i >= 0:
                n, first, second = _frame(form, i)
                for p in range(3):
                    e = n if p == 0 else (first if p == 1 else second)
                    x[i, p] = 0.0
                    last[i, p] = 0.0
                    for k in range(3):
                        x[i, p] += e[k] * row[_X + k * LANES + lane]
                        last[i, p] += e[k] * row[_LAST + k * LANES + lane]


@lane_kernel
def visit_row(row, a, b, w, scratch, beta, exact):
    """Solve sixteen contacts that share no moving body, after extrapolating their impulses by `beta`.

    Adds |Δγ|²/ρ and −Δγ·(γ − last)/ρ to the two sums in `scratch`. `exact`: Coulomb's law, else relaxed.
    """
    for lane in range(LANES):
        body = a[lane]
        for k in range(6):
            scratch[k * 16 + lane] = w[body, k]
        other = b[lane]
        for k in range(6):
            scratch[96 + k * 16 + lane] = w[other, k]
    for j in range(LANES):
        n0, n1, n2 = row[_N + j], row[_N + 16 + j], row[_N + 32 + j]
        sa, sb, ta, tb = row[_SA + j], row[_SB + j], row[_TA + j], row[_TB + j]
        o0 = tb * scratch[144 + j] + ta * scratch[48 + j]
        o1 = tb * scratch[160 + j] + ta * scratch[64 + j]
        o2 = tb * scratch[176 + j] + ta * scratch[80 + j]
        u0 = sb * scratch[96 + j] - sa * scratch[j] + n1 * o2 - n2 * o1 + row[_Q + j]
        u1 = sb * scratch[112 + j] - sa * scratch[16 + j] + n2 * o0 - n0 * o2 + row[_Q + 16 + j]
        u2 = sb * scratch[128 + j] - sa * scratch[32 + j] + n0 * o1 - n1 * o0 + row[_Q + 32 + j]
        z0, z1, z2 = row[_X + j], row[_X + 16 + j], row[_X + 32 + j]
        y0 = z0 + beta * (z0 - row[_LAST + j])
        y1 = z1 + beta * (z1 - row[_LAST + 16 + j])
        y2 = z2 + beta * (z2 - row[_LAST + 32 + j])
        u_n = u0 * n0 + u1 * n1 + u2 * n2
        y_n = y0 * n0 + y1 * n1 + y2 * n2
        inverse_t = row[_INVERSE_T + j]
        g = y_n - u_n * row[_INVERSE_N + j]  # what holds the normal at rest
        f = u_n * inverse_t - y_n
        s0 = y0 - u0 * inverse_t + f * n0  # what holds the tangents at rest
        s1 = y1 - u1 * inverse_t + f * n1
        s2 = y2 - u2 * inverse_t + f * n2
        size = math.sqrt(s0 * s0 + s1 * s1 + s2 * s2)
        mu = row[_FRICTION + j]
        slide = row[_SLIDE_N + j] * g + row[_SLIDE_T + j] * size
        g = g if exact or size <= mu * g else slide
        g = g if g > 0.0 else 0.0
        limit = mu * g
        r = limit / size if size > limit else 1.0
        x0 = g * n0 + r * s0
        x1 = g * n1 + r * s1
        x2 = g * n2 + r * s2
        d0, d1, d2 = x0 - y0, x1 - y1, x2 - y2
        row[_LAST + j], row[_LAST + 16 + j], row[_LAST + 32 + j] = z0, z1, z2
        row[_X + j], row[_X + 16 + j], row[_X + 32 + j] = x0, x1, x2
        weight = row[_WEIGHT + j]
        scratch[_CHANGE + j] += (d0 * d0 + d1 * d1 + d2 * d2) * weight
        scratch[_ALONG + j] -= (d0 * (x0 - z0) + d1 * (x1 - z1) + d2 * (x2 - z2)) * weight
        c0, c1, c2 = n1 * d2 - n2 * d1, n2 * d0 - n0 * d2, n0 * d1 - n1 * d0
        scratch[j] -= sa * d0
        scratch[16 + j] -= sa * d1
        scratch[32 + j] -= sa * d2
        scratch[48 + j] -= ta * c0
        scratch[64 + j] -= ta * c1
        scratch[80 + j] -= ta * c2
        scratch[96 + j] += sb * d0
        scratch[112 + j] += sb * d1
        scratch[128 + j] += sb * d2
        scratch[144 + j] -= tb * c0
        scratch[160 + j] -= tb * c1
        scratch[176 + j] -= tb * c2
    for lane in range(LANES):
        body = a[lane]
        for k in range(6):
            w[body, k] = scratch[k * 16 + lane]
        other = b[lane]
        for k in range(6):
            w[other, k] = scratch[96 + k * 16 + lane]


@inlined_kernel
def clear_sums(scratch):
    """Begin two new sums."""
    for j in range(LANES):
        scratch[_CHANGE + j] = 0.0
        scratch[_ALONG + j] = 0.0


@inlined_kernel
def read_sums(scratch):
    """Sum over the lanes: Σ |Δγ|²/ρ and −Σ Δγ·(γ − last)/ρ."""
    change = 0.0
    along = 0.0
    for j in range(LANES):
        change += scratch[_CHANGE + j]
        along += scratch[_ALONG + j]
    return change, along
