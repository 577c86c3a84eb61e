"""How a solve ended, with the sentence that a user reads."""

from __future__ import annotations

from enum import Enum


class Status(Enum):
    """Every way in which a solve can end. Only SOLVED means that the certificate holds."""

    SOLVED = "The certificate holds to the tolerance asked for."
    ITERATION_LIMIT = "The iteration limit was reached first: raise max_iterations or loosen the tolerance."
    TIME_LIMIT = "The time limit was reached first: raise time_limit or loosen the tolerance."
    STALLED = "No further progress was made: try another solver or loosen the tolerance."
    DIVERGED = "The iteration ran away from the solution: try another solver or smaller steps."
    INFEASIBLE = "No impulses can satisfy the constraints: two or more of them contradict each other."
    FAILED = "The method broke down: try another solver."

    @property
    def sentence(self) -> str:
        """The sentence for the user."""
        return self.value

    def __str__(self) -> str:
        return self.name.lower().replace("_", " ")
