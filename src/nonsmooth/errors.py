"""Errors that a user can correct. Each message names the value, its place and the cure."""

from __future__ import annotations


class NonsmoothError(Exception):
    """Base of all errors that this package raises on purpose."""


class ProblemError(NonsmoothError, ValueError):
    """The data of a problem are wrong: a shape, a sign, a number that is not finite."""


class OptionError(NonsmoothError, ValueError):
    """An option of a solver, a law or a call is wrong, or two of them contradict each other."""


class UnsupportedError(NonsmoothError, ValueError):
    """The solver does not support this kind of problem; the message names one that does."""


class MissingPackageError(NonsmoothError, ImportError):
    """An optional package is not installed; the message names the install command."""


class MissingSolverError(MissingPackageError):
    """An optional solver is not installed or not licensed; the message names the install command."""


class FileFormatError(NonsmoothError, ValueError):
    """A file is damaged or not in the expected format."""


class WorldError(NonsmoothError):
    """A body left the world that the user had bounded."""


class ContactError(NonsmoothError):
    """The contacts of a step did not pass their check."""


class CompilationError(NonsmoothError):
    """A kernel would have to be compiled, and that was forbidden."""


class CompilationWarning(UserWarning):
    """The compiled kernels that came with the package do not fit this computer."""


class ContactWarning(UserWarning):
    """The contacts of steps of a run did not pass their check."""


class GeometryWarning(UserWarning):
    """Geometry had redundant parts, counted in the message, which were removed."""


class ToleranceWarning(UserWarning):
    """Steps of a run did not reach their tolerance."""
