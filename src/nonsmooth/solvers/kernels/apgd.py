"""Accelerated projected gradient descent: the algorithm of Melanz et al. §2.3, several steps a call.

Line numbers in the comments are the paper's. One product with N per iteration: N y follows from
N γ_{k+1} and N γ_k because y is their combination.
"""

import math
from typing import NamedTuple

import numpy as np

from nonsmooth._support.jit import inlined_kernel, kernel
from nonsmooth.problem.kernels.cones import project_contact, project_interval
from nonsmooth.problem.kernels.operator import accumulate, block_velocity, copy_into
from nonsmooth.problem.kernels.residuals import BOUNDED, natural_map, tilting_term, weighted_square
from nonsmooth.solvers.kernels.joint_block import hold_joints

_ROUNDING = 1e-30


class Iterate(NamedTuple):
    """The vectors of the iteration, each (blocks, 3); `scalar` = (θ, L, smallest residual)."""

    gamma: np.ndarray
    n_gamma: np.ndarray  # N γ
    y: np.ndarray
    n_y: np.ndarray  # N y
    new: np.ndarray
    n_new: np.ndarray
    best: np.ndarray  # the paper's γ̂: the iterate with the smallest residual
    shift: np.ndarray  # (blocks,) the anti-relaxation term μ |u_t| of line 37
    new_shift: np.ndarray  # the same at γ_{k+1}
    scalar: np.ndarray


@kernel
def tilting_terms(cones, u, shift):
    """Lines 34–38 for given velocities: shift_i = μ_i |u_t,i| under an exact law."""
    for i in range(u.shape[0]):
        shift[i] = tilting_term(cones, i, u[i, 1], u[i, 2])


@inlined_kernel
def _gradient_step(cones, it, q, t, stepped):
    """Lines 10 and 14: γ_{k+1} = Π_K(y − t g), with g = N y + r, for the first `stepped` blocks.

    Returns |γ_{k+1} − y|²; zero if that is no more than rounding: the line search must not judge noise.
    """
    squared = 0.0
    size = 0.0
    for i in range(stepped, q.shape[0]):
        it.new[i, 0], it.new[i, 1], it.new[i, 2] = it.y[i, 0], it.y[i, 1], it.y[i, 2]
    for i in range(stepped):
        z0 = it.y[i, 0] - t * (it.n_y[i, 0] + q[i, 0] + it.shift[i])
        z1 = it.y[i, 1] - t * (it.n_y[i, 1] + q[i, 1])
        z2 = it.y[i, 2] - t * (it.n_y[i, 2] + q[i, 2])
        if not cones.free[i]:
            z0, z1, z2 = project_contact(z0, z1, z2, cones.friction[i], cones.sides)
        elif cones.free[i] == BOUNDED:
            z0 = project_interval(z0, cones.lower[i, 0], cones.upper[i, 0])
        it.new[i, 0], it.new[i, 1], it.new[i, 2] = z0, z1, z2
        squared += (z0 - it.y[i, 0]) ** 2 + (z1 - it.y[i, 1]) ** 2 + (z2 - it.y[i, 2]) ** 2
        size += z0 * z0 + z1 * z1 + z2 * z2
    return squared if squared > _ROUNDING * size else 0.0


@inlined_kernel
def _product(form, joints, cones, it, q, w, stepped):
    """N γ_{k+1}, after joints that are held together were solved, and what is read off it in the same pass.

    Returns the curvature (γ_{k+1} − y)ᵀ N (γ_{k+1} − y) of the step, the residual of line 19 (the
    certificate's), and gᵀ(γ_{k+1} − γ_k) of line 27.
    """
    accumulate(form, it.new, w)
    hold_joints(form, joints, q, 1.0, it.new, w)
    curvature = 0.0
    squared = 0.0
    uphill = 0.0
    for i in range(it.new.shape[0]):
        u0, u1, u2 = block_velocity(form, i, it.new, w)
        it.n_new[i, 0], it.n_new[i, 1], it.n_new[i, 2] = u0, u1, u2
        n0, n1, n2 = it.n_y[i, 0], it.n_y[i, 1], it.n_y[i, 2]
        x0, x1, x2 = it.new[i, 0], it.new[i, 1], it.new[i, 2]
        if i < stepped:
            curvature += (
                (x0 - it.y[i, 0]) * (u0 - n0) + (x1 - it.y[i, 1]) * (u1 - n1) + (x2 - it.y[i, 2]) * (u2 - n2)
            )
            uphill += (
                (n0 + q[i, 0] + it.shift[i]) * (x0 - it.gamma[i, 0])
                + (n1 + q[i, 1]) * (x1 - it.gamma[i, 1])
                + (n2 + q[i, 2]) * (x2 - it.gamma[i, 2])
            )
        u0, u1, u2 = u0 + q[i, 0], u1 + q[i, 1], u2 + q[i, 2]
        s = tilting_term(cones, i, u1, u2)
        it.new_shift[i] = s
        r0, r1, r2 = natural_map(cones, i, it.new, u0, u1, u2, s)
        squared += weighted_square(cones, i, r0, r1, r2)
    return curvature, math.sqrt(squared), uphill


@inlined_kernel
def _advance(it, beta):
    """Lines 18 and 33–38: y = γ_{k+1} + β (γ_{k+1} − γ_k), and the anti-relaxation term."""
    for i in range(it.new.shape[0]):
        for k in range(3):
            new, n_new = it.new[i, k], it.n_new[i, k]
            it.y[i, k] = new + beta * (new - it.gamma[i, k])
            it.n_y[i, k] = n_new + beta * (n_new - it.n_gamma[i, k])
            it.gamma[i, k] = new
            it.n_gamma[i, k] = n_new
        it.shift[i] = it.new_shift[i]


@kernel
def apgd(form, joints, cones, q, it, w, stepped, adaptive, count, stop):
    """Up to `count` iterations, ending early when the residual is at most `stop` (√J).

    Blocks from `stepped` on are the joints that are held together: the iteration is then that of the contacts
    alone, with the joints' impulses as functions of theirs.
    """
    done = 0
    residual = math.inf
    while done < count and not residual <= stop:
        theta, L = it.scalar[0], it.scalar[1]
        squared = _gradient_step(cones, it, q, 1.0 / L, stepped)  # (9), (10)
        curvature, residual, uphill = _product(form, joints, cones, it, q, w, stepped)  # (19)
        # (11): f(γ⁺) ≥ f(y) + gᵀ(γ⁺ − y) + ½ L |γ⁺ − y|² reads dᵀN d ≥ L |d|² for a quadratic f
        while adaptive and squared > 0.0 and curvature >= L * squared and L * squared < math.inf:
            L = 2.0 * L  # (12), (13)
            squared = _gradient_step(cones, it, q, 1.0 / L, stepped)  # (14)
            curvature, residual, uphill = _product(form, joints, cones, it, q, w, stepped)
        if residual < it.scalar[2]:  # (20)–(23)
            it.scalar[2] = residual
            copy_into(it.best, it.new)
        new_theta = 0.5 * (-theta * theta + theta * math.sqrt(theta * theta + 4.0))  # (16)
        beta = theta * (1.0 - theta) / (theta * theta + new_theta)  # (17)
        if uphill > 0.0:  # (27)–(30)
            beta, new_theta = 0.0, 1.0
        _advance(it, beta)
        it.scalar[0] = new_theta
        it.scalar[1] = 0.9 * L if adaptive else L  # (31), (32)
        done += 1
    return done, residual
