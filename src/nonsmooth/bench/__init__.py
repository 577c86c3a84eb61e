"""The league table: every solver on every problem file, in fresh processes, by the same measure."""

from nonsmooth.bench.contender import Contender, peer_contender
from nonsmooth.bench.figure import profile_figure
from nonsmooth.bench.league import League, find_entries
from nonsmooth.bench.measure import Entry, Row, Settings, measure
from nonsmooth.bench.report import write_results
from nonsmooth.bench.standings import Rules, Standing, profile, standings

__all__ = [
    "Contender",
    "Entry",
    "League",
    "Row",
    "Rules",
    "Settings",
    "Standing",
    "find_entries",
    "measure",
    "peer_contender",
    "profile",
    "profile_figure",
    "standings",
    "write_results",
]
