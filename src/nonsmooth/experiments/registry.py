"""Registry of experiments by their command-line names; every new one needs a line here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module

from nonsmooth._support.registry import advice
from nonsmooth.errors import OptionError
from nonsmooth.experiments.base import AnyExperiment

_PLACES = {
    "melanz-ball": "melanz.ball:MelanzBall",
    "melanz-filling": "melanz.filling:MelanzFilling",
    "melanz-compaction": "melanz.compaction:MelanzCompaction",
    "melanz-scaling": "melanz.scaling:MelanzScaling",
    "mazhar-dynamics": "mazhar.dynamics:MazharDynamics",
    "mazhar-static": "mazhar.static:MazharStatic",
    "mazhar-scaling": "mazhar.scaling:MazharScaling",
    "studer-block": "studer.block:StuderBlock",
    "andreani-mcplib": "andreani.mcplib:AndreaniMcplib",
    "andreani-grasps": "andreani.grasps:AndreaniGrasps",
    "andreani-pyramid": "andreani.pyramid:AndreaniPyramid",
    "andreani-solvers": "andreani.solvers:AndreaniSolvers",
    "iftomm-pendulum": "mechanisms.pendulum:IftommPendulum",
    "iftomm-four-bar": "mechanisms.four_bar:IftommFourBar",
    "iftomm-squeezer": "mechanisms.squeezer:IftommSqueezer",
    "iftomm-bricard": "mechanisms.bricard:IftommBricard",
    "iftomm-governor": "mechanisms.governor:IftommGovernor",
    "slider-crank": "mechanisms.slider_crank:SliderCrank",
    "double-pendulum": "mechanisms.double_pendulum:DoublePendulum",
    "catenary": "mechanisms.catenary:Catenary",
    "spinning-top": "mechanisms.spinning_top:SpinningTop",
    "stirrer": "mechanisms.stirrer:Stirrer",
    "bouncing-ball": "impacts.bouncing_ball:BouncingBall",
    "rolling-transition": "impacts.rolling_transition:RollingTransition",
    "rocking-block": "impacts.rocking_block:RockingExperiment",
    "studer-load": "studer.load:StuderLoad",
    "stick-slip-belt": "impacts.stick_slip_belt:StickSlipBelt",
    "woodpecker": "impacts.woodpecker:WoodpeckerToy",
    "slider-clearance": "impacts.slider_clearance:SliderWithClearance",
    "painleve-rod": "impacts.painleve_rod:PainleveRod",
    "arch": "masonry.arch:Arch",
    "card-house": "masonry.card_house:CardHouse",
    "kapla": "masonry.kapla:Kapla",
}
"""By name: the module in this package and the class."""


class Experiments(MutableMapping[str, AnyExperiment]):
    """Experiments by name; each is imported on first access."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._found: dict[str, AnyExperiment | str] = dict(places)

    def __getitem__(self, name: str) -> AnyExperiment:
        found = self._found[name]
        if isinstance(found, str):
            module, _, kind = found.partition(":")
            found = self._found[name] = getattr(import_module(f"nonsmooth.experiments.{module}"), kind)()
        return found

    def __setitem__(self, name: str, experiment: AnyExperiment) -> None:
        self._found[name] = experiment

    def __delitem__(self, name: str) -> None:
        del self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def by_name(self, name: str) -> AnyExperiment:
        """Return the experiment of this name, or raise an error that suggests the nearest name."""
        if name not in self._found:
            raise OptionError(f"there is no experiment {name!r}: {advice(name, list(self))}")
        return self[name]


REGISTRY = Experiments(_PLACES)
