"""What an engine has to offer to be measured, and what it hands out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from engines.scene import Filling, Floats


@dataclass(frozen=True)
class ContactImpulses:
    """Impulses of one step. Sphere i is body i; plane k of the scene is body −1 − k and comes first."""

    bodies: NDArray[np.int64]
    """Bodies A and B, (contacts, 2)."""
    impulse: Floats
    """World-frame impulse on B over the step in N·s, (contacts, 3)."""

    @classmethod
    def of(cls, first: NDArray[np.int64], second: NDArray[np.int64], on_second: Floats) -> ContactImpulses:
        """Order the bodies of each contact (planes, then lower indices, come first); impulse signs follow."""
        swap = first > second
        bodies = np.where(swap[:, None], np.stack([second, first], 1), np.stack([first, second], 1))
        return cls(bodies.astype(np.int64), np.where(swap[:, None], -on_second, on_second))


class Engine(Protocol):
    """One engine with the scene loaded. Only `step` is timed."""

    settings: ClassVar[dict[str, str]]
    """Name of each setting and what it means."""
    float_bits: ClassVar[int]
    midpoint: ClassVar[bool]
    """Whether impulses act midway between the surfaces; otherwise on each body's own surface."""

    missed: int | None
    """Steps whose solver says that it did not reach its tolerance; None where the engine does not tell."""

    def __init__(self, scene: Filling, setting: str) -> None: ...

    @staticmethod
    def version() -> str: ...

    def step(self) -> None:
        """Advance by the scene's time step."""

    def state(self) -> tuple[Floats, Floats, Floats]:
        """Positions, velocities and angular velocities of the spheres, world frame, (spheres, 3) each."""

    def contacts(self) -> ContactImpulses | None:
        """Contact impulses of the last step; None where the engine does not tell."""
