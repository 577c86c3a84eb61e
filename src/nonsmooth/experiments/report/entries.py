"""Entries of the catalogue of papers: their figures and tables, with the corresponding results of ours.

Descriptions are our own. Rows of an experiment's summary are named by the constants from which the
experiment creates them, so that one entry serves the quick and the full form.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from nonsmooth.experiments.registry import REGISTRY
from nonsmooth.experiments.summary import Quantity


@dataclass(frozen=True)
class Claim:
    """A statement in the text of a paper, as a test of our numbers.

    The value is `of`, or `of` divided by `over`; it must lie between `least` and `most` for all rows of `of`.
    """

    says: str
    of: Quantity | str
    over: str = ""
    """The name of one row; empty: no division."""
    least: float = -math.inf
    most: float = math.inf


@dataclass(frozen=True)
class Source:
    """Results of one of our experiments for a figure or table."""

    experiment: str
    pictures: tuple[str, ...] = ()
    rows: tuple[Quantity | str, ...] = ()
    in_kind: tuple[Quantity | str, ...] = ()
    """Quantities among them whose printed numbers cannot be matched exactly."""
    why_in_kind: str = ""
    """The reason: missing data in the paper, or dependence on its machine."""
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class Entry:
    """A figure or a table of a paper, or results in its text."""

    label: str
    """"Fig. 8", "Table 1", or a place in the text."""
    theirs: str
    """Its content, in one sentence."""
    sources: tuple[Source, ...] = ()
    """Empty if there is no result of ours."""
    remark: str = ""
    """Notes on our result, or the reason for its absence."""
    sketch: bool = False
    """Whether it is an explanatory drawing without results."""

    @property
    def is_figure_or_table(self) -> bool:
        """False for results in the text."""
        return self.label.startswith(("Fig. ", "Table "))


@dataclass(frozen=True)
class Paper:
    """A paper, its figures and tables in order, and all related experiments."""

    name: str
    """Name on the command line."""
    title: str
    authors: str
    place: str
    """Where and when it was published."""
    entries: tuple[Entry, ...]

    @property
    def further(self) -> tuple[str, ...]:
        """Experiments on its subject that belong to none of its figures."""
        return tuple(name for name, each in REGISTRY.items() if each.belongs_to == self.name)

    @property
    def experiments(self) -> tuple[str, ...]:
        """Names of all its experiments."""
        named = (source.experiment for entry in self.entries for source in entry.sources)
        return tuple(dict.fromkeys((*named, *self.further)))
