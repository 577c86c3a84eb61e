"""Problems in FCLib's format that ship with the package: steps of its scenes, and a few others."""

from __future__ import annotations

from importlib import resources
from pathlib import Path


def shipped_problems() -> dict[str, Path]:
    """Name and file of every problem that ships with the package, in the order of the names.

    ns.io.read_problem reads a file; ns.io.fclib.read_fclib also its title, description and solution. Their
    origin is described in docs/problem-files.md.
    """
    folder = Path(str(resources.files("nonsmooth.problem.library"))) / "problems"
    return {path.stem: path for path in sorted(folder.glob("*.hdf5"))}
