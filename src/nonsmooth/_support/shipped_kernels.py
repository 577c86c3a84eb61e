"""Kernels compiled when the package was built: where they are, and whether they fit this computer.

A wheel with machine code carries one file per kernel and types of arguments, and a stamp that says for which
sources, Python, Numba and processor they were compiled. If anything differs they are ignored.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from nonsmooth._support.notes import tell
from nonsmooth.errors import CompilationError, CompilationWarning

_PACKAGE = Path(__file__).parent.parent
FOLDER = _PACKAGE / "machine_code" / "compiled"
"""Where the machine code is; installations that compile at first use have no such folder."""
STAMP = "stamp.json"
SWITCH = "NONSMOOTH_COMPILATION"
"""Set to 'forbidden', this environment variable makes it an error to compile a kernel."""


@dataclass(frozen=True)
class Baseline:
    """The oldest processors that the code of a wheel is for."""

    cpu: str
    """LLVM's name."""
    features: tuple[str, ...] = ()
    """LLVM's names of the features that a processor must have."""


BASELINES = {
    "x86_64": Baseline(
        "x86-64-v3", ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt")
    ),
    "aarch64": Baseline("generic", ("neon",)),
}
"""By the processor's architecture; others compile at first use."""
_ALIASES = {"AMD64": "x86_64", "arm64": "aarch64"}


def baseline() -> Baseline | None:
    """Return the baseline of this computer's architecture."""
    machine = platform.machine()
    return BASELINES.get(_ALIASES.get(machine, machine))


def stamp() -> dict[str, str]:
    """Return what machine code compiled here and now is valid for."""
    import llvmlite
    import numba

    own = baseline()
    return {
        "kernel sources": _digest_of_sources(),
        "Python": f"{sys.implementation.cache_tag} on {sys.platform}",
        "Numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "processor": own.cpu if own else platform.machine(),
    }


def _digest_of_sources() -> str:
    """Digest of every file that is compiled: a change in a function that is inlined elsewhere counts too."""
    digest = hashlib.sha256()
    for source in (*sorted(_PACKAGE.rglob("kernels/**/*.py")), *HOW):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


HOW = tuple(Path(__file__).with_name(name) for name in ("jit.py", "packed.py", "numba_internals.py"))
"""Files that decide how kernels are compiled."""


@cache
def misfit() -> str | None:
    """Say why no compiled kernels of the installation are used; None if they are."""
    try:
        shipped = json.loads((FOLDER / STAMP).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return "this installation came without compiled ones"
    for what, here in stamp().items():
        if shipped.get(what) != here:
            return f"those that came were compiled for {what} {shipped.get(what)}, and here it is {here}"
    missing = _missing_features()
    return f"those that came need a processor with {', '.join(missing)}" if missing else None


def _missing_features() -> list[str]:
    codegen: Any = import_module("numba.core.codegen")  # it has no types
    own, there = baseline(), codegen.get_host_cpu_features().split(",")
    return [] if own is None else [feature for feature in own.features if f"+{feature}" not in there]


def find(function: Callable[..., Any], signature: object) -> Path | None:
    """Return the file with a kernel for the types of arguments; None if it did not come with the package."""
    if misfit() is not None:
        return None
    file = FOLDER / _name(function, signature)
    return file if file.exists() else None


def before_compilation(function: Callable[..., Any], signature: object) -> None:
    """Refuse to compile a kernel if that is forbidden; say once if kernels that came do not fit."""
    if os.environ.get(SWITCH) == "forbidden":
        raise CompilationError(
            f"{function.__module__}.{function.__qualname__} is not compiled for {signature}, and {SWITCH} is "
            "'forbidden': unset it, or run `nonsmooth compile`"
        )
    if (FOLDER / STAMP).exists() and misfit() is not None:
        _tell_once()


@cache
def _tell_once() -> None:
    tell(
        f"kernels are compiled when they are first used, because {misfit()}: run `nonsmooth compile` to "
        "compile all of them at once",
        CompilationWarning,
    )


# ---- when a wheel is built --------------------------------------------------------------------------

output: Path | None = None
"""Where kernels are written that this process compiles."""


def write(function: Callable[..., Any], signature: object, content: bytes) -> None:
    """Write a kernel to the output folder."""
    assert output is not None
    (output / _name(function, signature)).write_bytes(content)


def write_stamp(folder: Path) -> None:
    """Declare a folder of kernels complete."""
    (folder / STAMP).write_text(json.dumps(stamp(), indent=2), encoding="utf-8")


def _name(function: Callable[..., Any], signature: object) -> str:
    types = hashlib.sha256(str(signature).encode()).hexdigest()[:16]
    module = function.__module__.removeprefix("nonsmooth.").replace(".kernels", "")
    return f"{module}.{function.__qualname__}.{types}"
