"""The command `nonsmooth info`: versions and what is installed."""

from __future__ import annotations

import os

from nonsmooth.cli.parts import Group, command
from nonsmooth.cli.terminal.console import OUT


@command(
    Group.ABOUT,
    ("nonsmooth info", "include this in a bug report"),
)
def info() -> None:
    """Show versions, threads, the cache of compiled kernels, and the optional solvers installed."""
    import platform
    from importlib import metadata

    import numba

    from nonsmooth import __version__
    from nonsmooth._support.kernel_cache import kernel_cache
    from nonsmooth._support.shipped_kernels import baseline, misfit

    def version(package: str) -> str | None:
        try:
            return metadata.version(package)
        except metadata.PackageNotFoundError:
            return None

    why_not, own, cache = misfit(), baseline(), kernel_cache()
    if why_not is None and own is not None:
        kernels = f"came compiled, for {own.cpu} and Numba {numba.__version__}"
    else:
        kernels = f"are compiled when first used: {why_not}"
    state = f"warm, {cache.compiled} of {cache.kernels} kernels compiled" if cache.warm else "cold"
    clarabel, mosek = version("clarabel"), version("mosek")
    packages = ("numpy", "scipy", "numba", "h5py", "matplotlib", "typer", "rich")
    facts = [
        ("nonsmooth", __version__),
        ("Python", f"{platform.python_version()} on {platform.platform(terse=True)}"),
        *((package, version(package) or "not installed") for package in packages),
        ("threads", f"{numba.get_num_threads()} for kernels, {os.cpu_count()} processors"),
        ("kernels", kernels),
        ("kernel cache", f"{state}; {cache.files} files, {cache.size / 1e6:.1f} MB"),
        ("", f"under {cache.location}"),
        ("Clarabel", f"installed, {clarabel}" if clarabel else "not installed: pip install clarabel"),
        (
            "Mosek",
            f"installed, {mosek}; its licence is checked on first use"
            if mosek
            else 'not installed: pip install "nonsmooth[mosek]"',
        ),
    ]
    for what, fact in facts:
        OUT.print(f"{what:<14}{fact}", soft_wrap=True)  # do not break paths
