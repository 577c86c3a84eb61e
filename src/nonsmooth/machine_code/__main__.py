"""`python -m nonsmooth.machine_code FOLDER`: compile the kernels that a wheel carries; the build calls it.

They are compiled for the baseline of this architecture, which Numba must learn before it is imported.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from nonsmooth._support.shipped_kernels import baseline


def main() -> None:
    """Compile into a folder, with a line of progress for each piece of work."""
    output = Path(sys.argv[1])
    output.mkdir(parents=True)
    own = baseline()
    if own is None:
        sys.exit("there is no baseline for this architecture: build a pure wheel")
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
