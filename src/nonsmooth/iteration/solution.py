"""Base classes of solutions: an answer with its status, certificate and statistics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from nonsmooth._support.arrays import Floats, Integers
from nonsmooth._support.words import counted
from nonsmooth.errors import NonsmoothError
from nonsmooth.iteration.certificate import Certificate
from nonsmooth.iteration.status import Status


@dataclass(frozen=True)
class Entry:
    """One check of the residual: iterations done, residual, seconds since the start."""

    iteration: int
    residual: float
    time: float
    """s, without the time for recording and compiling."""


EntryT = TypeVar("EntryT", bound=Entry)


@dataclass(frozen=True)
class History(Generic[EntryT]):
    """One entry per iteration with `history=True`, otherwise one per check of the residual."""

    entries: tuple[EntryT, ...]

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[EntryT]:
        return iter(self.entries)

    def __getitem__(self, index: int) -> EntryT:
        return self.entries[index]

    @property
    def iteration(self) -> Integers:
        """Iterations done."""
        return self._column("iteration").astype(np.int64)

    @property
    def residual(self) -> Floats:
        """Residual, as in the certificate."""
        return self._column("residual")

    @property
    def time(self) -> Floats:
        """Seconds since the start, without the time for recording and compiling."""
        return self._column("time")

    def _column(self, name: str) -> Floats:
        return np.array([getattr(entry, name) for entry in self.entries], dtype=float)


@dataclass(frozen=True)
class Statistics:
    """Statistics of a solve."""

    solver: str
    iterations: int
    time: float
    """Wall time of the iteration in s, preparation included; compiling and loading kernels does not count."""
    history: History[Any]
    note: str = ""
    """Remarks of the solver, such as the choice of `Auto` or the work of an inner solver."""


class Solution(ABC):
    """An answer to a problem. Only status SOLVED means that the certificate holds."""

    residual_name: ClassVar[str] = "residual"
    """Name of the certificate's residual in messages."""
    problem: Any
    status: Status
    statistics: Any

    @property
    @abstractmethod
    def certificate(self) -> Certificate:
        """Every residual of the answer, recomputed from the problem."""

    def __repr__(self) -> str:
        return (
            f"Solution({self.status}, residual={self.certificate.residual:.2e}, "
            f"solver={self.statistics.solver}, iterations={self.statistics.iterations})"
        )


class SolveError(NonsmoothError, RuntimeError):
    """A solve did not reach its tolerance; `solution` holds the best answer found.


    `step` is the number of the time step whose problem it was, None where there is none.
    """

    def __init__(self, solution: Solution, step: int | None = None) -> None:
        self.solution = solution
        statistics = solution.statistics
        note = f" ({statistics.note})" if statistics.note else ""
        after = counted(statistics.iterations, "iteration")
        where = "" if step is None else f"step {step}: "
        cure = "throw=False returns the solution as it is"
        if step is not None:
            cure = "throw=False counts such steps and goes on"
        super().__init__(
            f"{where}{statistics.solver} stopped with status '{solution.status}' at a "
            f"{solution.residual_name} of {solution.certificate.residual:.2e} after {after}{note}. "
            f"{solution.status.sentence} ({cure}.)"
        )
