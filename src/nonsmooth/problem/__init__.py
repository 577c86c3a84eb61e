"""The contact problem, its laws, cones, operators and certificate."""

from nonsmooth.problem import cones
from nonsmooth.problem.certificate import Certificate
from nonsmooth.problem.contact_problem import ContactProblem
from nonsmooth.problem.laws import COULOMB, RELAXED, Law, pyramid
from nonsmooth.problem.siconos_error import siconos_error

__all__ = [
    "COULOMB",
    "RELAXED",
    "Certificate",
    "ContactProblem",
    "Law",
    "cones",
    "pyramid",
    "siconos_error",
]
