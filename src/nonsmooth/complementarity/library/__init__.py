"""Complementarity problems with known solutions: from MCPLIB, and from mechanics."""

from __future__ import annotations

from nonsmooth.complementarity.library.block import block_with_friction, block_with_limits
from nonsmooth.complementarity.library.entry import NamedProblem, Reference
from nonsmooth.complementarity.library.harker import harker, harker_reduced
from nonsmooth.complementarity.library.named import NAMED, by_name
from nonsmooth.complementarity.library.obstacle import obstacle
from nonsmooth.complementarity.library.optimal_control import optimal_control
from nonsmooth.complementarity.library.scarf import scarf_numeraire, scarf_sum
from nonsmooth.complementarity.library.small import billups, josephy, kojshin, transmcp

__all__ = [
    "NAMED",
    "NamedProblem",
    "Reference",
    "billups",
    "block_with_friction",
    "block_with_limits",
    "by_name",
    "harker",
    "harker_reduced",
    "josephy",
    "kojshin",
    "obstacle",
    "optimal_control",
    "scarf_numeraire",
    "scarf_sum",
    "transmcp",
]
