"""Build backend: setuptools, and wheels that carry compiled kernels.

    pip install .                   compile all kernels now, for this Python, Numba and architecture
    pip install . -C pure=true      compile each kernel when it is first used

Kernels are compiled in a wheel that setuptools has built, by the package itself, which needs some of its
dependencies for that. Machine code is valid for one version of Numba: the one of the environment that pip
installs into, or, where there is none yet, the newest, which pip installs there too.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

Settings = dict[str, Any] | None

_ROOT = Path(__file__).resolve().parent.parent
_TO_COMPILE = ("numba", "numpy", "scipy")
"""What compiles kernels, and what the work needs that calls them."""


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """Return what the build needs besides setuptools."""
    needed = list(build_meta.get_requires_for_build_wheel(config_settings))
    if _pure(config_settings):
        return needed
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = [each for each in project["dependencies"] if each.startswith(_TO_COMPILE)]
    return [*needed, "wheel>=0.42", "packaging>=23", *own, *_installed("numba", "llvmlite")]


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Build a wheel and return its name."""
    if _pure(config_settings):
        return str(build_meta.build_wheel(wheel_directory, config_settings, metadata_directory))
    from packaging.tags import sys_tags

    tag = next(tag for tag in sys_tags() if not tag.platform.startswith(("manylinux", "musllinux")))
    with tempfile.TemporaryDirectory() as folder:
        pure = build_meta.build_wheel(folder, config_settings, metadata_directory)
        _run("wheel", "unpack", Path(folder) / pure, "--dest", folder)
        (tree,) = (path.parent for path in Path(folder).glob("*/nonsmooth"))
        _run(
            "nonsmooth.machine_code",
            tree / "nonsmooth" / "machine_code" / "compiled",
            PYTHONPATH=os.pathsep.join([str(tree), *filter(None, [os.environ.get("PYTHONPATH")])]),
            PYTHONPYCACHEPREFIX=str(Path(folder) / "bytecode"),
        )
        (about,) = tree.glob("*.dist-info/WHEEL")
        text = about.read_text(encoding="utf-8")
        text = text.replace("Root-Is-Purelib: true", "Root-Is-Purelib: false")
        about.write_text(text.replace("Tag: py3-none-any", f"Tag: {tag}"), encoding="utf-8")
        _run("wheel", "pack", tree, "--dest-dir", wheel_directory)
    return f"{tree.name}-{tag}.whl"


def _pure(config_settings: Settings) -> bool:
    return str((config_settings or {}).get("pure", "false")).lower() == "true"


def _installed(*packages: str) -> list[str]:
    """Require the versions of packages in the environment that asked for the build, if it has them.

    An isolated build runs the Python of that environment with other search paths, which -I ignores.
    """
    code = f"""
from importlib.metadata import PackageNotFoundError, version
for package in {packages!r}:
    try:
        print(f"{{package}}=={{version(package)}}")
    except PackageNotFoundError:
        pass
"""
    found = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    return found.stdout.split()


def _run(module: str, *words: object, **environment: str) -> None:
    command = [sys.executable, "-m", module, *map(str, words)]
    subprocess.run(command, env=os.environ | environment, check=True)
