"""The command `nonsmooth compile`: compile all kernels at once."""

from __future__ import annotations

import time
from typing import Annotated

from nonsmooth._support.words import duration
from nonsmooth.cli.parts import Group, command, option, whole_number
from nonsmooth.cli.terminal.console import OUT, progress_bar


@command(
    Group.ABOUT,
    ("nonsmooth compile", "after a change of Numba or Python"),
)
def compile_kernels(
    processes: Annotated[
        int | None,
        option("--processes", "COUNT", "Number of processes.", default="one per core", parser=whole_number),
    ] = None,
) -> None:
    """Compile all kernels at once; otherwise each is compiled when it is first used.

    An installation with compiled kernels needs this only if they do not fit, which `nonsmooth info` shows.
    """
    from nonsmooth._support.kernel_cache import kernel_cache
    from nonsmooth._support.shipped_kernels import misfit
    from nonsmooth.machine_code.compile import compile_all

    if misfit() is None:
        OUT.print("Compiled kernels came with the package and are in use: there is nothing to do.")
        return
    start = time.monotonic()
    with progress_bar("kernels") as progress:
        compile_all(progress, processes)
    cache = kernel_cache()
    OUT.print(
        f"{cache.compiled} kernels are compiled ({cache.size / 1e6:.1f} MB), in "
        f"{duration(time.monotonic() - start)}."
    )
