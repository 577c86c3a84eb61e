"""The base class of experiments: a setup, measurements, and the resulting figures, data and table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from nonsmooth._support.arrays import Pixels
from nonsmooth._support.progress import Pieces, Progress
from nonsmooth.experiments.shared.output import prepare_folder, write_csv, write_json, write_text
from nonsmooth.experiments.shared.plots import save_figure, save_pixels
from nonsmooth.experiments.shared.resume import Store
from nonsmooth.experiments.summary import Comparison, Summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SetupT = TypeVar("SetupT")
FoundT = TypeVar("FoundT")


class Table(NamedTuple):
    """A table for a CSV file."""

    header: Sequence[str]
    rows: Iterable[Sequence[object]]


Figures = Mapping[str, "Figure | Pixels"]
"""Figures, or pixels (height, width, 3), by the names of their PNG files without the suffix."""
Data = Mapping[str, Any]
"""By file name: a `Table` for .csv, JSON-serialisable data for .json, otherwise text."""
Rows = Iterable[Comparison]


class Work(Pieces):
    """The work of one run: counts its pieces for the progress bar, and stores results."""

    def __init__(self, progress: Progress, store: Store) -> None:
        super().__init__(progress, 0)
        self.store = store

    def expect(self, pieces: int) -> None:
        """Announce the number of pieces of `measure`, before the first of them."""
        self.total = pieces + 1  # data and figures count as one more

    def each(self, pieces: int, what: str) -> Progress:
        """Report work of many steps in some pieces."""
        begun = 0

        def report(done: int, steps: int, _: str = "") -> None:
            nonlocal begun
            while begun * steps < done * pieces and begun < pieces:
                self.begin(f"{what}, {done / steps:.0%}")
                begun += 1

        return report


class Experiment(ABC, Generic[SetupT, FoundT]):
    """An experiment, from a paper or our own, that can be run by name."""

    name: str
    """The name in the registry and on the command line."""
    summary: str
    """One line for lists."""
    paper: str
    """Which paper and which of its figures."""
    seconds: tuple[float, float] = (15.0, 60.0)
    """Approximate times of the quick and the full form in s on one core; only their ratio matters."""
    belongs_to: str = ""
    """Name of the paper in whose section of the report it is listed, if it belongs to none of its figures."""
    QUICK: SetupT
    FULL: SetupT
    forgets: bool = True
    """Whether stored work is deleted when the experiment is complete."""

    def setup(self, quick: bool) -> SetupT:
        """The size of the computation; the quick form makes the same kinds of comparison."""
        return self.QUICK if quick else self.FULL

    @abstractmethod
    def measure(self, setup: SetupT, work: Work) -> FoundT:
        """Compute all results. Call `work.expect` first, then `work.begin` for every piece."""

    def figures(self, found: FoundT) -> Figures:
        """Draw."""
        return {}

    def data(self, found: FoundT) -> Data:
        """The data behind the figures."""
        return {}

    @abstractmethod
    def compare(self, found: FoundT) -> Rows:
        """Compare with the paper's values, closed forms and references."""

    def failures(self, found: FoundT) -> Iterable[str]:
        """Violated requirements, one sentence each."""
        return ()

    def run(self, folder: Path, quick: bool, progress: Progress) -> Summary:
        """Run it and write figures, data and summary to the folder; stored work is reused."""
        return self.run_setup(folder, self.setup(quick), progress)

    def run_setup(self, folder: Path, setup: SetupT, progress: Progress) -> Summary:
        """Run it with a custom setup."""
        work = Work(progress, Store(prepare_folder(folder)))
        found = self.measure(setup, work)
        work.begin("data and figures")
        files = [_write(folder / name, content) for name, content in self.data(found).items()]
        files += [_draw(folder / f"{name}.png", figure) for name, figure in self.figures(found).items()]
        rows, failures = tuple(self.compare(found)), tuple(self.failures(found))
        summary = Summary(self.name, self.paper, rows, tuple(files), failures).write(folder)
        if self.forgets:
            work.store.forget()
        work.finish()
        return summary


AnyExperiment = Experiment[Any, Any]


def _write(path: Path, content: Any) -> Path:
    if isinstance(content, Table):
        return write_csv(path, *content)
    return write_json(path, content) if path.suffix == ".json" else write_text(path, content)


def _draw(path: Path, figure: Figure | Pixels) -> Path:
    from matplotlib.figure import Figure

    return save_figure(figure, path) if isinstance(figure, Figure) else save_pixels(figure, path)
