"""Display options of a picture or the browser page."""

from __future__ import annotations

from dataclasses import dataclass

from nonsmooth.errors import OptionError
from nonsmooth.view.drawing.colours import ColourBy


@dataclass(frozen=True)
class Look:
    """Display options.

    Args:
        colour: quantity shown by the colours of bodies.
        forces: arrows of the contact forces.
        chains: lines between bodies that touch, as thick as the normal force is large.
        contacts: a dot at every contact, coloured by its state.
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
        """Whether forces or contacts are shown, over faintly drawn bodies."""
        return self.forces or self.chains or self.contacts
