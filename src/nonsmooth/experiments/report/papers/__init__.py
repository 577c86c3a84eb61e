"""The five papers: every figure and table, with the corresponding results of ours."""

from __future__ import annotations

from nonsmooth.experiments.report.entries import Paper
from nonsmooth.experiments.report.papers.andreani import ANDREANI
from nonsmooth.experiments.report.papers.mazhar import MAZHAR
from nonsmooth.experiments.report.papers.melanz import MELANZ
from nonsmooth.experiments.report.papers.negrut import NEGRUT
from nonsmooth.experiments.report.papers.studer import STUDER

PAPERS: dict[str, Paper] = {paper.name: paper for paper in (MELANZ, NEGRUT, MAZHAR, STUDER, ANDREANI)}
"""Every paper by its name on the command line."""
