"""What a build of the wheel asks for; `.ci/run` builds and uses one."""

from __future__ import annotations

import tomllib
from typing import Any

import llvmlite
import numba
import pytest

from helpers.paths import ROOT


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("setuptools")
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import build_backend

    monkeypatch.setattr(build_backend.build_meta, "get_requires_for_build_wheel", lambda settings: [])
    return build_backend


def test_a_build_has_the_numba_of_the_environment_that_asks_for_it(backend: Any) -> None:
    needed = backend.get_requires_for_build_wheel()
    assert f"numba=={numba.__version__}" in needed
    assert f"llvmlite=={llvmlite.__version__}" in needed


def test_a_build_needs_what_compiles_and_nothing_else_of_the_package(backend: Any) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = set(backend.get_requires_for_build_wheel()) & set(project["dependencies"])
    assert {each.split(">")[0] for each in needed} == {"numba", "numpy", "scipy"}


@pytest.mark.parametrize("pure", ["true", "True"])
def test_a_pure_wheel_needs_nothing(backend: Any, pure: str) -> None:
    assert backend.get_requires_for_build_wheel({"pure": pure}) == []


def test_the_source_archive_has_the_backend() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]
    (folder,) = settings["backend-path"]
    included = (ROOT / "MANIFEST.in").read_text(encoding="utf-8")
    assert f"include {folder}/{settings['build-backend']}.py" in included
