"""The machine of a run: processor, memory, system, and versions of packages."""

from __future__ import annotations

import os
import platform
import subprocess
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

PACKAGES = ("numpy", "scipy", "numba", "clarabel", "h5py", "matplotlib")


@dataclass(frozen=True)
class Machine:
    """Facts about a computer and its Python."""

    processor: str
    cores: int
    """Processors that this process may use."""
    memory: float
    """In GB; NaN if unknown."""
    system: str
    python: str
    packages: dict[str, str]
    """Version by package, nonsmooth first."""

    def line(self) -> str:
        """The computer in one line."""
        memory = "" if self.memory != self.memory else f", {self.memory:.0f} GB"
        return f"{self.processor}, {self.cores} {'core' if self.cores == 1 else 'cores'}{memory}"

    def as_json(self) -> dict[str, object]:
        """The facts, for JSON."""
        return asdict(self) | {"memory": None if self.memory != self.memory else self.memory}


def this_machine() -> Machine:
    """Return the facts about this computer."""
    from nonsmooth import __version__

    versions = {"nonsmooth": __version__}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = "not installed"
    return Machine(
        _processor(), _cores(), _memory(), platform.platform(terse=True), platform.python_version(), versions
    )


def _processor() -> str:
    """The processor's name, as reported by the system."""
    facts = Path("/proc/cpuinfo")
    if facts.is_file():
        for line in facts.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    if platform.system() == "Darwin":
        asked = subprocess.run(
            ["sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, text=True, check=False
        )
        if asked.stdout.strip():
            return asked.stdout.strip()
    return platform.processor() or platform.machine()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory() -> float:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    except (AttributeError, ValueError, OSError):
        return float("nan")
