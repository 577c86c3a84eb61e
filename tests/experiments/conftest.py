"""Whatever test runs the quick form of an experiment, the catalogue of papers must fit what comes of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nonsmooth._support.progress import Progress
from nonsmooth.experiments.base import AnyExperiment, Experiment
from nonsmooth.experiments.report import PAPERS, Outcome, State, judge_source
from nonsmooth.experiments.summary import Summary


@pytest.fixture(scope="session", autouse=True)
def catalogue_fits_what_is_reported() -> Iterator[None]:
    real = Experiment.run

    def run(experiment: AnyExperiment, folder: Path, quick: bool, progress: Progress) -> Summary:
        summary = real(experiment, folder, quick, progress)
        if quick and type(experiment).__module__.startswith("nonsmooth."):  # not those that tests make up
            assert_catalogue_fits(experiment, summary)
        return summary

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Experiment, "run", run)
        yield


def assert_catalogue_fits(experiment: AnyExperiment, summary: Summary) -> None:
    files = tuple(path.name for path in summary.files)
    names = [row.quantity for row in summary.comparisons]
    outcome = Outcome(experiment, State.DONE, summary.comparisons, files)
    for paper in PAPERS.values():
        for entry in paper.entries:
            for source in entry.sources:
                if source.experiment == experiment.name:
                    judged, place = judge_source(source, outcome), f"{paper.name}, {entry.label}"
                    assert not judged.absent, f"{place}: {judged.absent}"
                    for each in judged.claims:
                        assert each.values, f"{place}: {each.claim.of}"
                        assert each.claim.over in ("", *names), f"{place}: {each.claim.over}"
