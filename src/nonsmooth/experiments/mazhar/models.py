"""The six models of TR-2014-11 §5.3: primal, dual and equations of motion, each exact and relaxed.

A model is a law and a method of solution, both available in the package:

    solution = ns.solvers.formulations.Primal().solve(problem, tolerance=1e-10)
    run = ns.simulate(scene, duration=1.0, step=0.0025, **Primal().settings)

Under the exact law all three give the same velocities, and under the relaxed law all three do; impulses
may differ where statics does not determine them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.solvers.apgd import APGD
from nonsmooth.solvers.base import Solver
from nonsmooth.solvers.equations_of_motion import EquationsOfMotion
from nonsmooth.solvers.fixed_point import FixedPoint
from nonsmooth.solvers.interior_point import InteriorPoint
from nonsmooth.solvers.solution import Solution
from nonsmooth.solvers.solve import solve


@dataclass(frozen=True)
class Model(ABC):
    """A law of contact and a solver for it, under the report's name for the pair."""

    label: ClassVar[str]
    """The report's name."""
    law: ClassVar[str]
    """"coulomb" (exact) or "relaxed"."""

    @property
    @abstractmethod
    def solver(self) -> Solver:
        """The method."""

    @property
    def exact(self) -> bool:
        """Whether the relaxation is off: then a sliding body does not lift off."""
        return self.law == "coulomb"

    @property
    def settings(self) -> dict[str, Any]:
        """Law and solver as arguments for `simulate`."""
        return {"law": self.law, "solver": self.solver}

    def solve(self, problem: ContactProblem, **options: Any) -> Solution:
        """Solve a contact problem by this model, whatever law it has; options are those of `solve`."""
        return solve(problem.with_law(self.law), self.solver, **options)


@dataclass(frozen=True)
class Primal(Model):
    """Eq. 26: velocities are the unknowns, and the tilting term is found by a fixed-point iteration."""

    label: ClassVar[str] = "Primal"
    law: ClassVar[str] = "coulomb"

    backend: str = "clarabel"
    """"clarabel", or "mosek" as in the report."""

    @property
    def solver(self) -> Solver:
        """The fixed point over the primal cone programs."""
        return FixedPoint(inner=InteriorPoint(form="primal", backend=self.backend))


@dataclass(frozen=True)
class PrimalRelaxed(Model):
    """Eq. 23: velocities are the unknowns of one cone program."""

    label: ClassVar[str] = "Primal-Relaxed"
    law: ClassVar[str] = "relaxed"

    backend: str = "clarabel"
    """"clarabel", or "mosek" as in the report."""

    @property
    def solver(self) -> Solver:
        """The primal cone program."""
        return InteriorPoint(form="primal", backend=self.backend)


@dataclass(frozen=True)
class Dual(Model):
    """Eq. 27: impulses are the unknowns, and the tilting term is found by a fixed-point iteration."""

    label: ClassVar[str] = "Dual"
    law: ClassVar[str] = "coulomb"

    inner: Solver = field(default_factory=APGD)
    """Any solver of the relaxed law; the report has APGD and Mosek, `InteriorPoint(backend="mosek")`."""

    @property
    def solver(self) -> Solver:
        """The fixed point over the dual cone programs."""
        return FixedPoint(inner=self.inner)


@dataclass(frozen=True)
class DualRelaxed(Model):
    """Eq. 24: impulses are the unknowns of one cone program."""

    label: ClassVar[str] = "Dual-Relaxed"
    law: ClassVar[str] = "relaxed"

    inner: Solver = field(default_factory=APGD)
    """Any solver of the relaxed law; the report has APGD and Mosek, `InteriorPoint(backend="mosek")`."""

    @property
    def solver(self) -> Solver:
        """The solver of the dual cone program."""
        return self.inner


@dataclass(frozen=True)
class EOM(Model):
    """Eq. 2 without the relaxation term, as one mixed complementarity problem."""

    label: ClassVar[str] = "EOM"
    law: ClassVar[str] = "coulomb"

    backend: str = "semismooth-newton"
    """"semismooth-newton", or "path" as in the report."""

    @property
    def solver(self) -> Solver:
        """The complementarity solver."""
        return EquationsOfMotion(backend=self.backend)


@dataclass(frozen=True)
class EOMRelaxed(EOM):
    """Eq. 2 with the relaxation term, as one mixed complementarity problem."""

    label: ClassVar[str] = "EOM-Relaxed"
    law: ClassVar[str] = "relaxed"


MODELS: tuple[type[Model], ...] = (Primal, PrimalRelaxed, Dual, DualRelaxed, EOM, EOMRelaxed)
"""All six in the report's order."""
