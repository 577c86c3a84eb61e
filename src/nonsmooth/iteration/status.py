"""Status of a solve or of an event-driven simulation, with a sentence for the user."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """Status at the end of a solve or a simulation; the value of each member is its name in words.

    For a solve only SOLVED means that the certificate holds.
    """

    sentence: str
    """The sentence for the user."""

    def __new__(cls, words: str, sentence: str) -> Status:
        """Make a member from its name in words and its sentence."""
        member = str.__new__(cls, words)
        member._value_ = words
        member.sentence = sentence
        return member

    SOLVED = "solved", "The certificate holds to the requested tolerance."
    ITERATION_LIMIT = (
        "iteration limit",
        "The iteration limit was reached: raise max_iterations or loosen the tolerance.",
    )
    TIME_LIMIT = (
        "time limit",
        "The time limit was reached: raise time_limit or loosen the tolerance.",
    )
    STALLED = (
        "stalled",
        "The iteration stalled: try another solver, another start or a looser tolerance.",
    )
    DIVERGED = (
        "diverged",
        "The iteration diverged: try another solver or smaller steps.",
    )
    INFEASIBLE = (
        "infeasible",
        "There is no solution: the constraints contradict each other, or the function has the required "
        "signs nowhere within the bounds.",
    )
    FAILED = "failed", "The method broke down: try another solver."
    # only for complementarity problems
    STATIONARY = (
        "stationary",
        "A stationary point of the merit function was reached that is not a solution: "
        "try another start or another solver.",
    )
    RAY = (
        "ray",
        "The pivoting ended on a ray without a solution; for a sufficient or positive semidefinite "
        "matrix this proves that there is none, otherwise try another solver.",
    )
    UNDEFINED = (
        "undefined",
        "The function or its Jacobian is not finite at a point that the method needs: "
        "give another start or tighter bounds.",
    )
    # only for event-driven simulations
    DONE = "done", "The simulation reached its end."
    EVENT_LIMIT = (
        "event limit",
        "The limit on the number of events was reached: raise max_events or max_events_at_once, "
        "or look for contacts that chatter.",
    )
    NO_SOLUTION = (
        "no solution",
        "No accelerations or impulses were found that satisfy the contact laws: check the model there.",
    )
    STEP_FAILED = (
        "step failed",
        "Smooth motion could not be integrated further: loosen its tolerances, or check the model there.",
    )
    INTERRUPTED = "interrupted", "The user stopped the simulation: the results so far are kept."
