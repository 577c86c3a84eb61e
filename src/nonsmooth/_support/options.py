"""Checks of the options that solvers and calls take: each raises with the value and the cure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeVar

from nonsmooth._support.registry import advice
from nonsmooth.errors import OptionError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Options = TypeVar("Options", bound=DataclassInstance)


def choice(owner: str, option: str, value: object, valid: tuple[str, ...]) -> None:
    """Raise if an option's value is not one of the valid names."""
    if value not in valid:
        raise OptionError(f"{owner}({option}={value!r}): choose one of {', '.join(valid)}")


def positive(owner: str, option: str, value: object) -> None:
    """Raise if an option's value is not a positive number."""
    if type(value) is float and value > 0.0:
        return  # asking for the abstract class of a number takes a microsecond
    if not isinstance(value, Real) or not float(value) > 0.0:
        raise OptionError(f"{owner}({option}={value!r}): it must be a positive number")


def whole(owner: str, option: str, value: object, least: int = 0) -> None:
    """Raise if an option's value is not a whole number of at least `least`."""
    if type(value) is int and value >= least:
        return
    if not isinstance(value, Integral) or int(value) < least:
        raise OptionError(f"{owner}({option}={value!r}): it must be a whole number, {least} or more")


def overridden(
    owner: str, kind: type[Options], options: Options | None, overrides: Mapping[str, Any]
) -> Options:
    """Return options with some fields replaced; `owner` is the call that takes them by keyword."""
    if options is not None and not isinstance(options, kind):
        raise OptionError(f"{owner}(options={options!r}): give {kind.__name__}(…), or options by keyword")
    known = [field.name for field in fields(kind)]
    for name in overrides:
        if name not in known:
            raise OptionError(f"{owner} has no option {name!r}: {advice(name, known)}")
    return replace(kind() if options is None else options, **overrides)
