"""The papers' experiments, one file each: they run, write data, draw figures and compare with the paper."""

from __future__ import annotations

from nonsmooth.experiments.base import Experiment
from nonsmooth.experiments.registry import REGISTRY
from nonsmooth.experiments.summary import Comparison, Quantity, Summary

by_name = REGISTRY.by_name

__all__ = ["REGISTRY", "Comparison", "Experiment", "Quantity", "Summary", "by_name"]
