"""The five papers: every figure and table of theirs, and what of ours stands beside it."""

from __future__ import annotations

from nonsmooth.reproduce.entries import Paper
from nonsmooth.reproduce.papers.andreani import ANDREANI
from nonsmooth.reproduce.papers.mazhar import MAZHAR
from nonsmooth.reproduce.papers.melanz import MELANZ
from nonsmooth.reproduce.papers.negrut import NEGRUT
from nonsmooth.reproduce.papers.studer import STUDER

PAPERS: dict[str, Paper] = {paper.name: paper for paper in (MELANZ, NEGRUT, MAZHAR, STUDER, ANDREANI)}
"""Every paper by its name on the command line."""
