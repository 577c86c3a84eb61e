"""What every certificate offers, whatever it certifies."""

from __future__ import annotations

from typing import Protocol


class Certificate(Protocol):
    """Residuals that were recomputed from the problem. `str` gives them as lines for people."""

    @property
    def residual(self) -> float:
        """The number that is compared with the tolerance; NaN if it is not known."""

    def holds(self, tolerance: float) -> bool:
        """Tell whether the residual is at most `tolerance`; NaN never is."""
