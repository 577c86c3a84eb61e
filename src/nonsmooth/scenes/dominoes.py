"""A row of dominoes, the first of which falls against the next."""

from __future__ import annotations

import math

from nonsmooth.errors import OptionError
from nonsmooth.model import quaternions
from nonsmooth.model.system import System
from nonsmooth.scenes.registry import scene


@scene("a row of dominoes that knock each other over", small={"count": 5}, step=0.002)
def dominoes(
    count: int = 20,
    *,
    size: tuple[float, float, float] = (0.0075, 0.024, 0.048),
    pitch: float = 0.025,
    lean: float = 0.2,
    density: float = 1200.0,
    friction: float = 0.3,
    gravity: float = 9.81,
) -> System:
    """Return dominoes at rest in a row along x; the first leans past its edge and falls.

    Bodies are in order; the last one is "floor".

    Args:
        count: how many.
        size: thickness along x, width along y and height of a domino, in m.
        pitch: distance of neighbours, in m.
        lean: angle of the first one from the vertical towards the second, in rad.
        density: kg/m³.
        friction: μ of all contacts.
        gravity: m/s², downwards (−z).
    """
    if count < 1:
        raise OptionError(f"count is {count}: give a whole number, 1 or more")
    thickness, _, height = size
    reach = 0.5 * thickness + height * math.sin(lean)
    falls = math.atan2(thickness, height)
    if not lean > falls or reach > pitch - 0.5 * thickness:
        raise OptionError(
            f"lean is {lean} rad: give more than {falls:.3g}, from where a domino falls, and so little that "
            "the first one does not reach the second"
        )
    system = System(gravity=(0.0, 0.0, -gravity))
    system.add_material("domino", friction=friction)
    sine, cosine = math.sin(lean), math.cos(lean)
    # It stands on its lower edge towards the second one, which is where it would be upright.
    first = (
        0.5 * thickness + 0.5 * (height * sine - thickness * cosine),
        0.0,
        0.5 * (height * cosine + thickness * sine),
    )
    turn = quaternions.from_axis_angle((0.0, 1.0, 0.0), lean)
    system.add_box(size, density=density, position=first, orientation=turn, material="domino")
    for number in range(1, count):
        place = (number * pitch, 0.0, 0.5 * height)
        system.add_box(size, density=density, position=place, material="domino")
    system.add_plane(material="domino", name="floor")
    return system
