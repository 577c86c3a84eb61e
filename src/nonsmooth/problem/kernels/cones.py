"""Projections of one contact's three components (n, t1, t2), and of arrays of contacts.

K = {|x_t| ≤ μ x_n} is the friction cone, K° = {x_n ≤ −μ |x_t|} its polar, K* = −K° its dual.
A pyramid is the cone over the regular polygon with corners μ (cos 2πk/m, sin 2πk/m).
"""

import math

import numpy as np

from nonsmooth._support.jit import inlined_kernel, inner_kernel, kernel


@inlined_kernel
def project_round_cone(n, t1, t2, mu):
    """Nearest point of K.

    Squares are compared, so that the root is taken on the boundary alone: it would hold up the branch.
    """
    tt = t1 * t1 + t2 * t2
    if n >= 0.0:
        if tt <= mu * mu * n * n:
            return n, t1, t2
    elif mu * mu * tt <= n * n:
        return 0.0, 0.0, 0.0
    t = math.sqrt(tt)
    p = (n + mu * t) / (1.0 + mu * mu)
    if t == 0.0:
        return p, 0.0, 0.0
    factor = mu * p / t
    return p, factor * t1, factor * t2


@inlined_kernel
def project_polar_cone(n, t1, t2, mu):
    """Nearest point of K°, by a formula of its own, so that Moreau's identity can be tested."""
    t = math.sqrt(t1 * t1 + t2 * t2)
    if mu * t <= -n:
        return n, t1, t2
    if t <= mu * n:
        return 0.0, 0.0, 0.0
    height = (t - mu * n) / (1.0 + mu * mu)
    if t == 0.0:
        return -mu * height, 0.0, 0.0
    return -mu * height, height * t1 / t, height * t2 / t


@inner_kernel
def nearest_corner_angle(t1, t2, sides):
    """Angle of the polygon corner whose direction is nearest to (t1, t2)."""
    sector = 2.0 * math.pi / sides
    return sector * np.round(math.atan2(t2, t1) / sector)


@inner_kernel
def project_pyramid(n, t1, t2, mu, sides):
    """Nearest point of the pyramid.

    The pyramid's mirror planes cut space into wedges, and a projection stays in its wedge: it is
    enough to look at the one facet and the one edge of the wedge that holds the point.
    """
    angle = nearest_corner_angle(t1, t2, sides)
    cos_a, sin_a = math.cos(angle), math.sin(angle)
    along = cos_a * t1 + sin_a * t2  # towards the nearest corner
    across = cos_a * t2 - sin_a * t1
    mirror = 1.0 if across >= 0.0 else -1.0
    across = mirror * across
    cos_f, sin_f = math.cos(math.pi / sides), math.sin(math.pi / sides)  # the facet's outward direction
    outside = cos_f * along + sin_f * across - mu * cos_f * n
    if n >= 0.0 and outside <= 0.0:
        return n, t1, t2
    shift = outside / (1.0 + mu * mu * cos_f * cos_f)
    p_n = n + shift * mu * cos_f
    p_along = along - shift * cos_f
    p_across = across - shift * sin_f
    if p_n < 0.0 or sin_f * along - cos_f * across > mu * sin_f * p_n:  # past the edge: nearest on the edge
        p_n = max(0.0, (n + mu * along) / (1.0 + mu * mu))
        p_along = mu * p_n
        p_across = 0.0
    p_across = mirror * p_across
    return p_n, cos_a * p_along - sin_a * p_across, sin_a * p_along + cos_a * p_across


@inlined_kernel
def project_disk(t1, t2, radius):
    """Nearest point of the disk |x| ≤ radius (Studer and Glocker Eq. 22)."""
    t = math.sqrt(t1 * t1 + t2 * t2)
    if t <= radius:
        return t1, t2
    return radius * t1 / t, radius * t2 / t


@kernel
def project_polygon(t1, t2, radius, sides):
    """Nearest point of the regular polygon with corners at distance `radius`."""
    angle = nearest_corner_angle(t1, t2, sides)
    cos_a, sin_a = math.cos(angle), math.sin(angle)
    along = cos_a * t1 + sin_a * t2
    across = cos_a * t2 - sin_a * t1
    mirror = 1.0 if across >= 0.0 else -1.0
    across = mirror * across
    cos_f, sin_f = math.cos(math.pi / sides), math.sin(math.pi / sides)
    outside = cos_f * along + sin_f * across - radius * cos_f
    if outside <= 0.0:
        return t1, t2
    along, across = along - outside * cos_f, across - outside * sin_f
    if across < 0.0:
        along, across = radius, 0.0
    across = mirror * across
    return cos_a * along - sin_a * across, sin_a * along + cos_a * across


@inlined_kernel
def project_interval(value, lower, upper):
    """Nearest number of [lower, upper]; a number that is none stays so."""
    if value < lower:
        return lower
    if value > upper:
        return upper
    return value


@inlined_kernel
def project_contact(n, t1, t2, mu, sides):
    """Nearest point of the law's cone: round for sides = 0."""
    if sides == 0:
        return project_round_cone(n, t1, t2, mu)
    return project_pyramid(n, t1, t2, mu, sides)


@inlined_kernel
def tilt(t1, t2, mu, sides):
    """The exact law's s: μ |u_t| for the disk, μ times the polygon's support of −u_t."""
    if sides == 0:
        return mu * math.sqrt(t1 * t1 + t2 * t2)
    angle = nearest_corner_angle(-t1, -t2, sides)
    return -mu * (math.cos(angle) * t1 + math.sin(angle) * t2)


@kernel
def project_cones(x, mu, sides, out):
    """Project each row of x (n, 3) on its contact's cone."""
    for i in range(x.shape[0]):
        out[i, 0], out[i, 1], out[i, 2] = project_contact(x[i, 0], x[i, 1], x[i, 2], mu[i], sides)


@kernel
def project_polar_cones(x, mu, out):
    """Project each row of x (n, 3) on its contact's polar cone."""
    for i in range(x.shape[0]):
        out[i, 0], out[i, 1], out[i, 2] = project_polar_cone(x[i, 0], x[i, 1], x[i, 2], mu[i])


@kernel
def project_disks(x, radius, out):
    """Project each row of x (n, 2) on its disk."""
    for i in range(x.shape[0]):
        out[i, 0], out[i, 1] = project_disk(x[i, 0], x[i, 1], radius[i])
