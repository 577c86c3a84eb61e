"""Ready-made systems with parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nonsmooth._support.registry import Registry
from nonsmooth.model.system import System
from nonsmooth.scenes.balls import bouncing_ball, newtons_cradle, rolling_ball
from nonsmooth.scenes.boxes import box_on_incline, box_pyramid, box_stack, box_wall
from nonsmooth.scenes.capsules import capsule_heap
from nonsmooth.scenes.cards import card_house
from nonsmooth.scenes.compaction import compaction
from nonsmooth.scenes.filling import filling
from nonsmooth.scenes.grasp import grasp
from nonsmooth.scenes.kapla import kapla
from nonsmooth.scenes.linkages import (
    chain,
    door,
    double_pendulum,
    four_bar,
    four_bar_grid,
    slider_crank,
    top,
)
from nonsmooth.scenes.masonry import arch
from nonsmooth.scenes.planar_benchmarks import n_four_bar, pendulum, squeezer
from nonsmooth.scenes.spatial_benchmarks import bricard, governor
from nonsmooth.scenes.stirrer import stirrer


@dataclass(frozen=True)
class NamedScene:
    """A ready-made system."""

    name: str
    """The name in the registry."""
    summary: str
    """One line for lists."""
    build: Callable[..., System]
    """Returns the system; all its parameters have defaults."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of `simulate` that suit it better than the defaults."""


SCENES: Registry[NamedScene] = Registry(
    "ready-made scene",
    {
        scene.name: scene
        for scene in (
            NamedScene("filling", "spheres that fall into an open container (Melanz et al. §3.2)", filling),
            NamedScene(
                "compaction", "spheres in a container under a heavy slab (Melanz et al. §3.3)", compaction
            ),
            NamedScene("rolling-ball", "a ball that slides, then rolls (Melanz et al. §3.1)", rolling_ball),
            NamedScene("bouncing-ball", "a ball that bounces on a floor with restitution", bouncing_ball),
            NamedScene(
                "newtons-cradle", "a row of balls that passes a blow along without loss", newtons_cradle
            ),
            NamedScene("box-on-incline", "a box on a slope that stays or slides", box_on_incline),
            NamedScene("box-stack", "cubes one upon the other", box_stack),
            NamedScene("box-wall", "a wall of bricks in running bond", box_wall),
            NamedScene("box-pyramid", "a pyramid of bricks", box_pyramid),
            NamedScene("capsule-heap", "capsules that fall into an open container", capsule_heap),
            NamedScene("slider-crank", "a slider that a driven crank moves to and fro", slider_crank),
            NamedScene("double-pendulum", "two bars that hang from each other", double_pendulum),
            NamedScene(
                "chain", "links that hang between two points, or from one", chain, {"scheme": "projected"}
            ),
            NamedScene("top", "a spinning top on a fixed point", top),
            NamedScene("four-bar", "a crank, a coupler and a rocker, driven or falling", four_bar),
            NamedScene("four-bar-grid", "many separate four-bars", four_bar_grid),
            NamedScene("pendulum", "a point mass on a rod (IFToMM A01)", pendulum),
            NamedScene("n-four-bar", "four-bar loops side by side, of equal links (IFToMM A02)", n_four_bar),
            NamedScene("bricard", "six bars on edges of a cube, redundant and movable (IFToMM A04)", bricard),
            NamedScene("door", "a door on more hinges than it needs", door),
            NamedScene("grasp", "two SCARA robots that hold a cube (Andreani et al. §4.2)", grasp),
            NamedScene("stirrer", "a four-bar that stirs a bed of spheres with a paddle", stirrer),
            NamedScene("arch", "a masonry arch of wedge-shaped stones between two fixed ones", arch),
            NamedScene(
                "card-house", "a house of cards that lean against each other by their edges", card_house
            ),
            NamedScene("kapla", "a tower of 102 wooden blocks laid loosely (SimBenchmark)", kapla),
        )
    },
)
"""Every ready-made scene by its name."""

__all__ = [
    "SCENES",
    "NamedScene",
    "arch",
    "bouncing_ball",
    "box_on_incline",
    "box_pyramid",
    "box_stack",
    "box_wall",
    "bricard",
    "capsule_heap",
    "card_house",
    "chain",
    "compaction",
    "door",
    "double_pendulum",
    "filling",
    "four_bar",
    "four_bar_grid",
    "governor",
    "grasp",
    "kapla",
    "n_four_bar",
    "newtons_cradle",
    "pendulum",
    "rolling_ball",
    "slider_crank",
    "squeezer",
    "stirrer",
    "top",
]
