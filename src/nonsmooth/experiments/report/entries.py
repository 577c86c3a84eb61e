"""What the catalogue of papers is made of: their figures and tables, and what of ours belongs to them.

Descriptions are in our own words. Rows of an experiment's summary are named by the constants that the
experiment makes them of, so that one entry serves the quick and the full form.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from nonsmooth.experiments.registry import REGISTRY
from nonsmooth.experiments.summary import Quantity


@dataclass(frozen=True)
class Claim:
    """Something that a paper says in words, as a test of our numbers.

    The value is `of`, or `of` divided by `over`; it must lie from `least` to `most`, for every row of `of`.
    """

    says: str
    of: Quantity | str
    over: str = ""
    """The name of one row; empty: no division."""
    least: float = -math.inf
    most: float = math.inf


@dataclass(frozen=True)
class Source:
    """What one of our experiments has to set beside a figure or table."""

    experiment: str
    pictures: tuple[str, ...] = ()
    rows: tuple[Quantity | str, ...] = ()
    in_kind: tuple[Quantity | str, ...] = ()
    """Those among them whose printed numbers cannot be met digit by digit."""
    why_in_kind: str = ""
    """The reason: what is not printed, or depends on their machine."""
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class Entry:
    """A figure or a table of a paper, or results that it gives in its text."""

    label: str
    """"Fig. 8", "Table 1", or a place in the text."""
    theirs: str
    """What it shows, in one sentence of ours."""
    sources: tuple[Source, ...] = ()
    """Empty where nothing of ours belongs to it."""
    remark: str = ""
    """What there is to know of ours, or why there is nothing."""
    sketch: bool = False
    """A drawing that explains; it shows no result."""

    @property
    def is_figure_or_table(self) -> bool:
        """False for results in the text."""
        return self.label.startswith(("Fig. ", "Table "))


@dataclass(frozen=True)
class Paper:
    """A paper, its figures and tables in their order, and all experiments that belong to it."""

    name: str
    """As on the command line."""
    title: str
    authors: str
    place: str
    """Where and when it appeared."""
    entries: tuple[Entry, ...]

    @property
    def further(self) -> tuple[str, ...]:
        """Experiments on its subject that stand beside none of its figures."""
        return tuple(name for name, each in REGISTRY.items() if each.belongs_to == self.name)

    @property
    def experiments(self) -> tuple[str, ...]:
        """Names of all its experiments."""
        named = (source.experiment for entry in self.entries for source in entry.sources)
        return tuple(dict.fromkeys((*named, *self.further)))
