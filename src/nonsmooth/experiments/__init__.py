"""The papers' experiments, one file each: they run, write data, draw the figures, compare with the paper."""

from __future__ import annotations

from nonsmooth._support.registry import Registry
from nonsmooth.experiments.andreani.grasps import ANDREANI_GRASPS
from nonsmooth.experiments.andreani.mcplib import ANDREANI_MCPLIB
from nonsmooth.experiments.andreani.pyramid import ANDREANI_PYRAMID
from nonsmooth.experiments.andreani.solvers import ANDREANI_SOLVERS
from nonsmooth.experiments.base import Comparison, Experiment, Summary
from nonsmooth.experiments.impacts.bouncing_ball import BOUNCING_BALL
from nonsmooth.experiments.impacts.painleve_rod import PAINLEVE_ROD
from nonsmooth.experiments.impacts.rocking_block import ROCKING_BLOCK
from nonsmooth.experiments.impacts.rolling_transition import ROLLING_TRANSITION
from nonsmooth.experiments.impacts.slider_clearance import SLIDER_CLEARANCE
from nonsmooth.experiments.impacts.stick_slip_belt import STICK_SLIP_BELT
from nonsmooth.experiments.impacts.woodpecker import WOODPECKER
from nonsmooth.experiments.masonry.arch import ARCH
from nonsmooth.experiments.masonry.card_house import CARD_HOUSE
from nonsmooth.experiments.masonry.kapla import KAPLA
from nonsmooth.experiments.mazhar.dynamics import MAZHAR_DYNAMICS
from nonsmooth.experiments.mazhar.scaling import MAZHAR_SCALING
from nonsmooth.experiments.mazhar.static import MAZHAR_STATIC
from nonsmooth.experiments.mechanisms.bricard import IFTOMM_BRICARD
from nonsmooth.experiments.mechanisms.catenary import CATENARY
from nonsmooth.experiments.mechanisms.double_pendulum import DOUBLE_PENDULUM
from nonsmooth.experiments.mechanisms.four_bar import IFTOMM_FOUR_BAR
from nonsmooth.experiments.mechanisms.governor import IFTOMM_GOVERNOR
from nonsmooth.experiments.mechanisms.pendulum import IFTOMM_PENDULUM
from nonsmooth.experiments.mechanisms.slider_crank import SLIDER_CRANK
from nonsmooth.experiments.mechanisms.spinning_top import SPINNING_TOP
from nonsmooth.experiments.mechanisms.squeezer import IFTOMM_SQUEEZER
from nonsmooth.experiments.mechanisms.stirrer import STIRRER
from nonsmooth.experiments.melanz.ball import MELANZ_BALL
from nonsmooth.experiments.melanz.compaction import MELANZ_COMPACTION
from nonsmooth.experiments.melanz.filling import MELANZ_FILLING
from nonsmooth.experiments.melanz.scaling import MELANZ_SCALING
from nonsmooth.experiments.studer.block import STUDER_BLOCK
from nonsmooth.experiments.studer.load import STUDER_LOAD

REGISTRY: Registry[Experiment] = Registry(
    "experiment",
    {
        experiment.name: experiment
        for experiment in (
            MELANZ_BALL,
            MELANZ_FILLING,
            MELANZ_COMPACTION,
            MELANZ_SCALING,
            MAZHAR_DYNAMICS,
            MAZHAR_STATIC,
            MAZHAR_SCALING,
            STUDER_BLOCK,
            ANDREANI_MCPLIB,
            ANDREANI_GRASPS,
            ANDREANI_PYRAMID,
            ANDREANI_SOLVERS,
            IFTOMM_PENDULUM,
            IFTOMM_FOUR_BAR,
            IFTOMM_SQUEEZER,
            IFTOMM_BRICARD,
            IFTOMM_GOVERNOR,
            SLIDER_CRANK,
            DOUBLE_PENDULUM,
            CATENARY,
            SPINNING_TOP,
            STIRRER,
            BOUNCING_BALL,
            ROLLING_TRANSITION,
            ROCKING_BLOCK,
            STUDER_LOAD,
            STICK_SLIP_BELT,
            WOODPECKER,
            SLIDER_CLEARANCE,
            PAINLEVE_ROD,
            ARCH,
            CARD_HOUSE,
            KAPLA,
        )
    },
)
"""Every experiment by its name on the command line."""


by_name = REGISTRY.by_name

__all__ = ["REGISTRY", "Comparison", "Experiment", "Summary", "by_name"]
