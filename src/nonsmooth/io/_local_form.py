"""W of a problem that is written in local form."""

from __future__ import annotations

from typing import Any

from nonsmooth.errors import ProblemError, UnsupportedError
from nonsmooth.problem._checks import nearly_symmetric
from nonsmooth.problem.contact_problem import ContactProblem


def local_matrix(problem: ContactProblem) -> Any:
    """W over contacts and joint rows; raise where it is too far from symmetric for any reader."""
    matrix = problem.operator.matrix() if problem.has_masses else problem.delassus
    try:
        nearly_symmetric("W", matrix)
    except ProblemError as error:
        cure = "write it with kind='global'" if problem.has_masses else "keep it with write_problem"
        raise UnsupportedError(f"{str(error).split(':')[0]}, which readers refuse: {cure}") from None
    return matrix
