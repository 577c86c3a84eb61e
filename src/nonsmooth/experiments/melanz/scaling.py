"""Fillings from 10 to 16,000 spheres: Melanz, Mazhar and Negrut §3.4, Fig. 11.

Each filling runs as in §3.2. The largest error of Eq. 8 and the mean number of iterations are plotted against
the number of contacts. The paper's anti-relaxed method becomes costly beyond 1,000 spheres and stops there;
our exact solver continues beside its relaxed one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nonsmooth.experiments.base import Data, Experiment, Figures, Rows, Table, Work
from nonsmooth.experiments.melanz import granular_figures as figures
from nonsmooth.experiments.shared import granular
from nonsmooth.experiments.summary import Comparison, Quantity
from nonsmooth.scenes.filling import filling


@dataclass(frozen=True)
class Setup:
    """Size of the computation."""

    sizes: tuple[int, ...]
    """Numbers of spheres."""
    largest: dict[str, int]
    """Most spheres for a method, by key, if larger fillings would take hours."""
    plan: granular.Plan

    def runs(self) -> list[tuple[int, granular.Method]]:
        """Every run: size and method, the small ones first."""
        return [
            (size, method)
            for size in self.sizes
            for method in granular.METHODS
            if size <= self.largest.get(method.key, max(self.sizes))
        ]


_LARGEST = {granular.ANTI_RELAXED.key: 1000}
LARGEST_ERROR = Quantity("largest complementarity error, {}, {} spheres")
RELAXED_BY_EXACT = Quantity("complementarity error, relaxed / exact, {} spheres")
TIMES = Quantity("computing time, exact / relaxed APGD, {} spheres")
ITERATIONS = Quantity("iterations, anti-relaxed / relaxed APGD, {} spheres")


class Found(NamedTuple):
    """What the experiment computes."""

    setup: Setup
    histories: list[granular.History]
    """In the order of `Setup.runs`."""


class MelanzScaling(Experiment[Setup, Found]):
    """Fillings of all sizes by all methods that are fast enough for them."""

    name = "melanz-scaling"
    summary = "fillings of 10 to 16,000 spheres: error, iterations and time against the number of contacts"
    paper = "Melanz, Mazhar and Negrut, anti-relaxation, §3.4, Fig. 11"
    seconds = (10.0, 3600.0)
    FULL = Setup(
        (10, 30, 100, 300, 1000, 4000, 16000), _LARGEST,
        granular.Plan(5.0, 0.01, granular.Effort(1e-3, 1000), 10),
    )  # fmt: skip
    """The paper's time and step."""
    QUICK = Setup((10, 30, 100), _LARGEST, granular.Plan(2.0, 0.01, granular.Effort(1e-3, 1000), 10))

    def measure(self, setup: Setup, work: Work) -> Found:
        """Run every size and method; stored runs are reused."""
        runs = setup.runs()
        work.expect(len(runs) * setup.plan.parts + 1)
        work.begin("compiling kernels")
        granular.compile_kernels((filling(10), filling(100)))
        histories = [granular.kept_run(work, filling(size), method, setup.plan) for size, method in runs]
        return Found(setup, histories)

    def data(self, found: Found) -> Data:
        """Every run in a few numbers."""
        entries = [{"method": each.method.key, **granular.numbers(each)} for each in found.histories]
        return {"runs.csv": Table(tuple(entries[0]), [tuple(entry.values()) for entry in entries])}

    def figures(self, found: Found) -> Figures:
        """Errors, iterations and times over the contacts."""
        return {"fig11_scaling": figures.scaling(found.histories)}

    def compare(self, found: Found) -> Rows:
        """Compare with the paper's statements about Fig. 11."""
        setup, histories = found
        runs = {
            (size, method.key): each for (size, method), each in zip(setup.runs(), histories, strict=True)
        }
        for (size, _), each in runs.items():
            name, certificate = f"{each.method.label}, {size} spheres", each.certificate
            iterations, cpu = float(each.iterations.mean()), f"CPU time of {certificate.steps} steps"
            note = f"{setup.plan.effort}; {certificate.missed} of {certificate.steps} steps missed it"
            yield Comparison(
                LARGEST_ERROR(each.method.label, size), None, float(each.complementarity.max()), "J",
                f"up to {int(each.contacts.max())} contacts",
            )  # fmt: skip
            yield Comparison(f"mean iterations per step, {name}", None, iterations, "", note)
            yield Comparison(f"computing time, {name}", None, each.seconds, "s", cpu)
        relaxed, anti, exact = (method.key for method in granular.METHODS)
        for size in setup.sizes:
            if (size, relaxed) in runs:
                ours, theirs = runs[size, exact], runs[size, relaxed]
                ratio = float(theirs.complementarity.max() / ours.complementarity.max())
                yield Comparison(
                    RELAXED_BY_EXACT(size), None, ratio, "",
                    "largest errors of the two runs; the paper: several orders of magnitude",
                )  # fmt: skip
                cost = ours.seconds / theirs.seconds
                note = "whole runs; below 1: exact friction costs less than the paper's relaxed method"
                yield Comparison(TIMES(size), None, cost, "", note)
            if (size, anti) in runs:
                more = float(runs[size, anti].iterations.mean() / runs[size, relaxed].iterations.mean())
                yield Comparison(
                    ITERATIONS(size), None, more, "",
                    "the paper: similar below 100 spheres, increasingly costly above",
                )  # fmt: skip
        large = [runs[size, exact] for size in setup.sizes if size >= 100]
        if len(large) > 1:
            yield Comparison(
                "growth of the exact solver's time with the contacts", None, _exponent(large), "",
                "exponent p of time ~ contacts^p above 100 spheres, by least squares in logarithms",
            )  # fmt: skip


def _exponent(runs: Sequence[granular.History]) -> float:
    """Exponent of computing time against the largest number of contacts."""
    contacts = np.log([float(each.contacts.max()) for each in runs])
    seconds = np.log([each.seconds for each in runs])
    return float(np.polyfit(contacts, seconds, 1)[0])
