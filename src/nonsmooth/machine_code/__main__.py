"""`python -m nonsmooth.machine_code`: run all work that calls kernels, one piece after another.

With the name of a new folder, compile the kernels that a wheel carries into it, as the build does. They are
compiled for the baseline of this architecture, of which Numba must know before it is imported.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from nonsmooth._support.shipped_kernels import baseline


def main() -> None:
    """Run the work, or compile into a folder."""
    if len(sys.argv) == 1:
        _run()
    else:
        _compile(Path(sys.argv[1]))


def _run() -> None:
    from nonsmooth.machine_code import workload

    for name, piece in workload.pieces().items():
        print(name, flush=True)
        workload.run(piece)


def _compile(output: Path) -> None:
    own = baseline()
    if own is None:
        sys.exit("there is no baseline for this architecture: build a pure wheel, with -C pure=true")
    output.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as cache:
        os.environ |= {
            "NUMBA_CACHE_DIR": cache,
            "NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING": "1",  # of errors that nobody sees: it takes a while
            "NUMBA_CPU_NAME": own.cpu,
            "NUMBA_CPU_FEATURES": ",".join(f"+{feature}" for feature in own.features),
        }
        from nonsmooth.machine_code.compile import compile_all

        compile_all(_Lines(), output=output)


class _Lines:
    """Progress in lines, one for every twentieth part, as a build log needs."""

    def __init__(self) -> None:
        self._shown = -1

    def __call__(self, done: int, total: int, what: str) -> None:
        """Print a line if enough has been done since the last one."""
        if 20 * done // total > self._shown:
            self._shown = 20 * done // total
            print(f"{what}: {done} of {total}", flush=True)


if __name__ == "__main__":
    main()
