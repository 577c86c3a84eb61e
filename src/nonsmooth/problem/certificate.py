"""The certificate: the residuals of an answer, recomputed from the problem.

No number of a solver is used. Absolute numbers carry units; relative ones do not change when the
units of length, mass or time change, because impulses are weighted with 1/√ρ_i and velocities with
√ρ_i (ρ_i = d_i/tr N_ii), which brings both to √J, and are then divided by a scale S: the residual of
zero impulses. Zero impulses therefore have the relative residual 1. Contacts that stay open enter S with a
millionth of their speed only, and impulses do not enter: a diverging iteration cannot reduce its relative
error. A residual smaller than the rounding of the impulses is reported as that rounding.

S is computed for every island of connected bodies, and the worst island counts, so that a pebble is not
measured on the scale of a boulder nearby. Within an island, a contact whose share of S is below the tolerance
is below the certificate's resolution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.kernels import residuals as kernels
from nonsmooth.problem.momentum import momentum_error


@dataclass(frozen=True)
class Residual:
    """One line of the certificate: its name, the absolute value with its unit, the relative value."""

    name: str
    absolute: float
    unit: str
    relative: float
    meaning: str


@dataclass(frozen=True)
class Certificate:
    """Residuals of an answer (γ, λ, v) to a problem."""

    momentum_balance: Residual
    cone: Residual
    dual_cone: Residual
    complementarity: Residual
    natural_map: Residual
    penetration: Residual
    joint_drift: Residual
    friction_gain: Residual
    dissipation: float
    """Energy dissipated by friction in this step, −Σ γ_t·(q_t + u_t)/2, in J; joint rows with two finite
    bounds, dry friction and limited motors, contribute −Σ λ·(q + u)/2."""
    momentum_known: bool = True
    """Whether the momentum balance is known. Without masses it is NaN and not part of the residual."""

    @property
    def residual(self) -> float:
        """The number compared with the tolerance: dimensionless, 0 for an exact solution.

        It is the larger of the relative natural map, joints included, and the relative momentum
        balance, if that is known. NaN if any number is not finite.
        """
        if not self.momentum_known:
            return self.natural_map.relative
        return _largest(self.natural_map.relative, self.momentum_balance.relative)

    def holds(self, tolerance: float) -> bool:
        """Return whether the answer is a solution to `tolerance`."""
        return self.residual <= tolerance

    @property
    def rows(self) -> tuple[Residual, ...]:
        """All residuals in the order of the printed table."""
        return (
            self.momentum_balance, self.cone, self.dual_cone, self.complementarity, self.natural_map,
            self.penetration, self.joint_drift, self.friction_gain,
        )  # fmt: skip

    def __str__(self) -> str:
        lines = [f"{'residual':<18}{'absolute':>12} {'unit':<7}{'relative':>11}"]
        lines += [f"{r.name:<18}{r.absolute:>12.3e} {r.unit:<7}{r.relative:>11.3e}" for r in self.rows]
        lines.append(f"{'verdict':<18}{'':>12} {'':<7}{self.residual:>11.3e}")
        return "\n".join(lines)


def relative_residual(problem: ContactProblem, x: Floats, u: Floats) -> float:
    """Relative natural map of impulses x with velocities u = N x + q, both (blocks, 3)."""
    return problem.scales.relative_residual(problem.cones, x, u)


def residual_of(problem: ContactProblem, x: Floats) -> float:
    """Relative natural map of impulses x (blocks, 3), with velocities recomputed from the problem."""
    operator, scales, q = problem.operator, problem.scales, problem.free_blocks
    if not operator.applies_by_kernel:
        return scales.relative_residual(problem.cones, x, operator.apply(x) + q)
    return float(
        kernels.residual_of_impulses(
            operator.kernel_form, operator.work_rows, problem.cones, q, scales.island, scales.per_island, x
        )
    )


def certify(
    problem: ContactProblem, impulses: Floats, joint_impulses: Floats, velocity: Floats | None
) -> Certificate:
    """Recompute every residual of an answer from the problem's own data.

    Contact velocities are computed from the impulses; v enters through the momentum balance only.
    """
    x = problem.blocks_of(impulses, joint_impulses)
    if not np.isfinite(x).all():
        return _not_a_number()
    u = problem.operator.apply(x) + problem.free_blocks
    worst = np.empty((2, 6))
    dissipation = kernels.worst_violations(
        problem.cones, x, u, problem.free_blocks.copy(), problem.scales.per_block, worst
    )
    absolute, relative = worst
    joints = problem.layout.block_kind == kernels.JOINT  # rows with bounds may move
    drift = np.abs(u[joints])
    drift_weighted = (drift * np.sqrt(problem.cones.weight[joints])).max(axis=1, initial=0.0)
    pairs = zip(drift_weighted, problem.scales.per_block[joints], strict=True)
    drift_relative = max((_ratio(part, whole) for part, whole in pairs), default=0.0)
    balance = (math.nan, math.nan)
    if velocity is not None:
        balance = momentum_error(problem, velocity, x)
    return Certificate(
        Residual("momentum balance", balance[0], "N·s", balance[1], "M v − k − D γ − G λ"),
        Residual("cone", absolute[0], "N·s", relative[0], "distance of γ from K, of λ from its bounds"),
        Residual("dual cone", absolute[1], "m/s", relative[1], "distance of u + s e_n from K*"),
        Residual("complementarity", absolute[2], "J", relative[2], "|γ·(u + s e_n)|, |(λ − bound) u|"),
        Residual(
            "natural map", absolute[3], "N·s", relative_residual(problem, x, u), "γ − Π_K(γ − ρ(u + s e_n))"
        ),
        Residual("penetration", absolute[4], "m/s", relative[4], "−u_n; times the step: a depth"),
        Residual("joint drift", float(drift.max(initial=0.0)), "m/s", drift_relative, "Gᵀv + b_G"),
        Residual("friction gain", absolute[5], "J", relative[5], "energy that friction adds"),
        float(dissipation),
        velocity is not None,
    )


def _not_a_number() -> Certificate:
    """The certificate of an answer that is not finite: every number is NaN."""
    names = ("momentum balance", "cone", "dual cone", "complementarity", "natural map", "penetration")
    rows = [Residual(name, math.nan, "", math.nan, "") for name in (*names, "joint drift", "friction gain")]
    balance, cone, dual, complementarity, natural, penetration, drift, gain = rows
    return Certificate(
        balance, cone, dual, complementarity, natural, penetration, drift, gain, dissipation=math.nan
    )


def _ratio(part: float, whole: float) -> float:
    """part / whole, where 0/0 is defined as 0 and x/0 as infinite."""
    if part == 0.0:
        return 0.0
    return float(part / whole) if whole > 0.0 else math.nan if math.isnan(part) else math.inf


def _largest(a: float, b: float) -> float:
    """Larger of two numbers; NaN if either is."""
    return math.nan if math.isnan(a) or math.isnan(b) else max(a, b)
