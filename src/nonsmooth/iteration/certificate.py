"""Base class of all certificates."""

from __future__ import annotations

from typing import Protocol


class Certificate(Protocol):
    """Residuals recomputed from the problem. `str` formats them as readable lines."""

    @property
    def residual(self) -> float:
        """The number compared with the tolerance; NaN if it is not known."""

    def holds(self, tolerance: float) -> bool:
        """Return whether the residual is at most `tolerance`; False for NaN."""
