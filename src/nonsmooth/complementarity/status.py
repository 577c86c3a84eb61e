"""How a solve of a complementarity problem ended, with the sentence that a user reads."""

from __future__ import annotations

from enum import Enum


class Status(Enum):
    """Every way in which a solve can end. Only SOLVED means that the certificate holds."""

    SOLVED = "The natural residual, recomputed from the problem, is within the tolerance."
    STATIONARY = (
        "A stationary point of the merit function was reached that is not a solution: "
        "try another start or another solver."
    )
    RAY = (
        "The pivoting ended on a ray without finding a solution; for a sufficient or positive semidefinite "
        "matrix that proves that there is none, for others try another solver."
    )
    INFEASIBLE = "There is no solution: nowhere within the bounds does the function have the signs it needs."
    UNDEFINED = (
        "The function or its Jacobian is not finite where the method had to go: "
        "give another start or tighter bounds."
    )
    ITERATION_LIMIT = "The iteration limit was reached first: raise max_iterations or loosen the tolerance."
    TIME_LIMIT = "The time limit was reached first: raise time_limit or loosen the tolerance."
    STALLED = "No further progress was made: try another start, another solver or a looser tolerance."
    FAILED = "The method broke down: try another solver."

    @property
    def sentence(self) -> str:
        """The sentence for the user."""
        return self.value

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ")
