"""How a scene is registered: by a decorator on the function or class that builds it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from nonsmooth._support.registry import Registry
from nonsmooth.model.system import System

Build = TypeVar("Build", bound=Callable[..., System])
Model = TypeVar("Model", bound=type)


@dataclass(frozen=True)
class NamedScene:
    """A ready-made system."""

    name: str
    """The name in the registry: that of its function, with hyphens."""
    summary: str
    """One line for lists."""
    build: Callable[..., System]
    """Returns the system; all its parameters have defaults."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of `simulate` in place of the defaults; times in s."""
    small: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of a small version, for tests; empty if the scene is small."""


@dataclass(frozen=True)
class NamedModel:
    """A ready-made system in generalised coordinates, for `simulate_events`."""

    name: str
    """The name in the registry: that of its class, with hyphens."""
    summary: str
    """One line for lists."""
    build: Callable[..., Any]
    """The class; its `system()` is a `GeneralisedSystem`, and all its fields have defaults."""


SCENES: Registry[NamedScene] = Registry("ready-made scene", {})
"""Every ready-made scene by its name."""

MODELS: Registry[NamedModel] = Registry("model in generalised coordinates", {})
"""Every ready-made system in generalised coordinates by its name."""


def scene(
    summary: str, *, small: Mapping[str, Any] | None = None, **settings: Any
) -> Callable[[Build], Build]:
    """Register a function that builds a system; `settings` are its own defaults for `simulate`."""

    def register(build: Build) -> Build:
        name = build.__name__.replace("_", "-")
        SCENES[name] = NamedScene(name, summary, build, settings, small or {})
        return build

    return register


def model(summary: str) -> Callable[[Model], Model]:
    """Register a class that describes a system in generalised coordinates."""

    def register(kind: Model) -> Model:
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind.__name__).lower()
        MODELS[name] = NamedModel(name, summary, kind)
        return kind

    return register
