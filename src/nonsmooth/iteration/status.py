"""How a solve or an event-driven simulation ended, with the sentence that a user reads."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """Every way in which a solve or a simulation can end; each member is its own name in words.

    Of the ends of a solve only SOLVED means that the certificate holds.
    """

    sentence: str
    """The sentence for the user."""

    def __new__(cls, words: str, sentence: str) -> Status:
        """Make a member from its name in words and its sentence."""
        member = str.__new__(cls, words)
        member._value_ = words
        member.sentence = sentence
        return member

    SOLVED = "solved", "The certificate holds to the tolerance asked for."
    ITERATION_LIMIT = (
        "iteration limit",
        "The iteration limit was reached first: raise max_iterations or loosen the tolerance.",
    )
    TIME_LIMIT = (
        "time limit",
        "The time limit was reached first: raise time_limit or loosen the tolerance.",
    )
    STALLED = (
        "stalled",
        "No further progress was made: try another solver, another start or a looser tolerance.",
    )
    DIVERGED = (
        "diverged",
        "The iteration ran away from the solution: try another solver or smaller steps.",
    )
    INFEASIBLE = (
        "infeasible",
        "There is no solution: constraints contradict each other, or nowhere within the bounds does the "
        "function have the signs it needs.",
    )
    FAILED = "failed", "The method broke down: try another solver."
    # of complementarity problems alone
    STATIONARY = (
        "stationary",
        "A stationary point of the merit function was reached that is not a solution: "
        "try another start or another solver.",
    )
    RAY = (
        "ray",
        "The pivoting ended on a ray without finding a solution; for a sufficient or positive semidefinite "
        "matrix that proves that there is none, for others try another solver.",
    )
    UNDEFINED = (
        "undefined",
        "The function or its Jacobian is not finite where the method had to go: "
        "give another start or tighter bounds.",
    )
    # of event-driven simulations
    DONE = "done", "The simulation reached its end."
    EVENT_LIMIT = (
        "event limit",
        "The limit of events was reached first: raise max_events or max_events_at_once, "
        "or look for contacts that chatter.",
    )
    NO_SOLUTION = (
        "no solution",
        "No accelerations or impulses were found that satisfy the laws of contact: look at the model there.",
    )
    STEP_FAILED = (
        "step failed",
        "Smooth motion could not be integrated further: loosen its tolerances, or look at the model there.",
    )
    INTERRUPTED = "interrupted", "The user stopped the simulation: what was found until then is kept."
