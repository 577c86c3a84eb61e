"""Progress reports of long computations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

Progress = Callable[[int, int, str], None]
"""Called as progress(done, total, what): number of pieces done, their total, and the present piece."""


def frames_with_progress(frames: Sequence[int], progress: Progress | None) -> Iterator[int]:
    """Yield frame numbers one by one; call `progress`, if given, before each and at the end."""
    report = progress or (lambda done, total, what: None)
    for done, number in enumerate(frames):
        report(done, len(frames), f"frame {number}")
        yield number
    report(len(frames), len(frames), "done")


class Pieces:
    """Counts pieces of work and reports each one as it begins."""

    def __init__(self, progress: Progress, total: int) -> None:
        self.report, self.total, self.done = progress, total, 0

    def begin(self, what: str) -> None:
        """Report that the next piece begins."""
        self.report(self.done, self.total, what)
        self.done += 1

    def finish(self) -> None:
        """Report that all pieces are done."""
        assert self.done == self.total, f"{self.done} of {self.total} pieces were reported"
        self.report(self.total, self.total, "done")
