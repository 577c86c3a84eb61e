"""The state of one body, by index or name: with the same names for systems, frames and recordings."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import OptionError


class StateByBody(ABC):
    """Reads rows of `position`, `quaternion`, `linear_velocity` and `angular_velocity`.

    Results are copies, which do not change with the next step.
    """

    @abstractmethod
    def _index(self, body: int | str) -> int:
        """Return the index of a body given by index or name; an unknown one is an error."""

    def position_of(self, body: int | str) -> Floats:
        """Centre of mass (3,) of a body in m."""
        return self._row_of("position", body)

    def quaternion_of(self, body: int | str) -> Floats:
        """Orientation (4,) of a body, unit quaternion (w, x, y, z), body to world."""
        return self._row_of("quaternion", body)

    def linear_velocity_of(self, body: int | str) -> Floats:
        """Velocity (3,) of a body's centre of mass in m/s, world frame."""
        return self._row_of("linear_velocity", body)

    def angular_velocity_of(self, body: int | str) -> Floats:
        """Angular velocity (3,) of a body in rad/s, body frame."""
        return self._row_of("angular_velocity", body)

    def _row_of(self, name: str, body: int | str) -> Floats:
        values = getattr(self, name)
        if values is None:
            raise OptionError(f"{name!r} was not recorded: add it to the fields of the Recording")
        return np.array(values[self._index(body)])
