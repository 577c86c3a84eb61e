"""Rigid contact with exact Coulomb friction, and a certificate with every answer.

import nonsmooth as ns

problem = ns.ContactProblem(mass=M, jacobian=D, bias=b, momentum=k, friction=mu)
solution = ns.solve(problem, tolerance=1e-8)
print(solution.certificate)
"""

from nonsmooth import errors, library, solvers
from nonsmooth.problem import Certificate, ContactProblem, Law, cones, pyramid
from nonsmooth.solvers import Solution, SolveError, Status, solve

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "ContactProblem",
    "Law",
    "Solution",
    "SolveError",
    "Status",
    "cones",
    "errors",
    "library",
    "pyramid",
    "solve",
    "solvers",
]
