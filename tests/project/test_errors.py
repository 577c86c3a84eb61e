"""The errors of the package, as a program that catches them sees them."""

from __future__ import annotations

from nonsmooth import errors


def test_a_missing_solver_is_a_missing_package_and_not_the_other_way_round() -> None:
    assert issubclass(errors.MissingSolverError, errors.MissingPackageError)
    assert not issubclass(errors.MissingPackageError, errors.MissingSolverError)
    for kind in (errors.MissingPackageError, errors.MissingSolverError):
        assert issubclass(kind, errors.NonsmoothError)
        assert issubclass(kind, ImportError)
