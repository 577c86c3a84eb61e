"""Objects from command-line text: solvers by name, and values given as key=value."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any

from nonsmooth._support.registry import Registry, advice
from nonsmooth.errors import OptionError
from nonsmooth.solvers import REGISTRY, Solver

Kind = typing.TypeVar("Kind")


def solver_with(name: str, pairs: Iterable[str]) -> Solver:
    """Build a solver of contact problems with options given as key=value."""
    return built(REGISTRY, name, pairs)


def built(registry: Registry[type[Kind]], name: str, pairs: Iterable[str]) -> Kind:
    """Build a solver of a registry with options given as key=value."""
    kind = registry.by_name(name)
    hints = typing.get_type_hints(kind)
    valid = {field.name: hints[field.name] for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    return kind(**values_of("--option", f"solver {name} has no option", pairs, valid))


def values_of(flag: str, unknown: str, pairs: Iterable[str], valid: Mapping[str, Any]) -> dict[str, Any]:
    """Read key=value pairs that were given with `flag`; `valid` maps the allowed keys to their types.

    `unknown` is the beginning of the error message about an unknown key.
    """
    values: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        key = key.strip().replace("-", "_")
        if not equals:
            raise OptionError(f"{flag} {pair}: give it as key=value")
        if key not in valid:
            known = advice(key, list(valid)) if valid else "it has none"
            raise OptionError(f"{unknown} {key!r}: {known}")
        if key in values:
            raise OptionError(f"{flag} {key} is given twice: give it once")
        values[key] = _converted(f"{flag} {pair}", text.strip(), valid[key])
    return values


def _converted(place: str, text: str, hint: Any) -> Any:
    """Convert text to a type: a number, a string, a boolean, a list or tuple of numbers, an inner solver."""
    kinds = _kinds(hint)
    if len(kinds) > 1:
        if text.lower() == "none" and type(None) in kinds:
            return None
        kinds = [kind for kind in kinds if kind is not type(None)]
        hint = kinds[0] if len(kinds) == 1 else list
    if hint is str:
        return text
    if hint is bool:
        answers = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if text.lower() not in answers:
            raise OptionError(f"{place}: give true or false")
        return answers[text.lower()]
    if hint in (int, float):
        try:
            return hint(text)
        except ValueError:
            wanted = "a whole number" if hint is int else "a number"
            raise OptionError(f"{place}: {text!r} is not {wanted}") from None
    if typing.get_origin(hint) is tuple:
        numbers = tuple(_converted(place, part, float) for part in text.split(","))
        if len(numbers) != len(typing.get_args(hint)):
            raise OptionError(f"{place}: give {len(typing.get_args(hint))} numbers separated by commas")
        return numbers
    if hint is list:
        numbers = tuple(_converted(place, part, float) for part in text.split(","))
        return list(numbers) if "," in text else numbers[0]
    return solver_with(text, [])


def _kinds(hint: Any) -> list[Any]:
    """The members of a union, or the type itself; from Python 3.12 on NumPy names unions by type aliases."""
    meant = getattr(hint, "__value__", hint)
    if typing.get_origin(meant) in (typing.Union, types.UnionType):
        return [kind for member in typing.get_args(meant) for kind in _kinds(member)]
    return [meant]
