"""What a picture or the browser page shows of a run."""

from __future__ import annotations

from dataclasses import dataclass

from nonsmooth.errors import OptionError
from nonsmooth.view.drawing.colours import ColourBy


@dataclass(frozen=True)
class Look:
    """What is shown.

    Args:
        colour: what colours of bodies say.
        forces: arrows of the contact forces.
        chains: lines between bodies that touch, thick where the normal force is large.
        contacts: a dot at every contact, coloured by what it does.
        width: of a picture, in pixels.
        height: of a picture, in pixels.
    """

    colour: ColourBy = ColourBy.SPEED
    forces: bool = False
    chains: bool = False
    contacts: bool = False
    width: int = 1280
    height: int = 720

    def __post_init__(self) -> None:
        for name, value in (("width", self.width), ("height", self.height)):
            if not 16 <= value <= 16384:
                raise OptionError(f"{name} of a picture is {value}: give 16 to 16384 pixels")

    @property
    def overlay(self) -> bool:
        """Whether forces or contacts are shown, over bodies that are drawn faintly."""
        return self.forces or self.chains or self.contacts
