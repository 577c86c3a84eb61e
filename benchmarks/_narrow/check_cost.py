"""What the check of the contacts costs: the time of a step without it, with samples, and with all contacts.

Each scene is simulated once for every mode, step by step in turn, and this is repeated. The shortest time of
each step in each mode counts: the modes do the same work but for the check, because they have the same
bitwise states.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from nonsmooth.model.system import System
from nonsmooth.scenes import filling
from nonsmooth.stepping.options import StepOptions
from nonsmooth.stepping.time_stepping import TimeStepper

MODES = ("none", "sampled", "all")
STEP = 0.005


def _heap(add: Callable[[System, np.random.Generator, dict[str, np.ndarray]], None], count: int) -> System:
    """Bodies that fall into a container of four walls."""
    random, system = np.random.default_rng(0), System()
    side = max(2, round(count ** (1 / 3)))
    half = 0.2 * side
    for normal in ((0, 0, 1), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)):
        system.add_plane(normal=normal, point=(0, 0, 0) if normal[2] else tuple(-half * n for n in normal))
    for k in range(count):
        grid = np.array([k % side, k // side % side, k // side**2])
        place = 0.4 * grid + [0.2 - half, 0.2 - half, 0.25]
        add(system, random, {"position": place, "orientation": random.normal(size=4)})
    return system


def _box(system: System, random: np.random.Generator, place: dict[str, np.ndarray]) -> None:
    system.add_box((0.3, 0.2, 0.16), density=1000.0, **place)


def _hull(system: System, random: np.random.Generator, place: dict[str, np.ndarray]) -> None:
    points = random.normal(size=(14, 3))
    points *= [0.16, 0.14, 0.12] / np.linalg.norm(points, axis=1)[:, None]
    system.add_hull(points, density=1000.0, **place)


def _mesh_floor() -> System:
    """Boxes on hills of 1,250 triangles."""
    system, random = System(), np.random.default_rng(0)
    grid = np.linspace(-2.5, 2.5, 26)
    x, y = np.meshgrid(grid, grid, indexing="ij")
    z = 0.1 * np.sin(2.0 * x) * np.cos(2.0 * y)
    corner = (np.arange(25) * 26)[:, None] + np.arange(25)
    a, b, c, d = corner, corner + 26, corner + 27, corner + 1
    triangles = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
    system.add_mesh(np.stack([x, y, z], axis=-1).reshape(-1, 3), triangles, fixed=True)
    for k in range(36):
        place = 0.5 * np.array([k % 6 - 2.5, k // 6 - 2.5, 0.9])
        system.add_box((0.3, 0.2, 0.16), density=1000.0, position=place, orientation=random.normal(size=4))
    return system


SCENES: dict[str, Callable[[], System]] = {
    "24 boxes": lambda: _heap(_box, 24),
    "216 boxes": lambda: _heap(_box, 216),
    "24 hulls": lambda: _heap(_hull, 24),
    "216 hulls": lambda: _heap(_hull, 216),
    "1000 spheres": lambda: filling(1000),
    "36 boxes, mesh": _mesh_floor,
}


class Cost(NamedTuple):
    """Shortest mean time of a step in s and number of contacts checked, by mode; contacts in all."""

    seconds: dict[str, float]
    checked: dict[str, int]
    contacts: int


def _stepper(system: System, mode: str) -> TimeStepper:
    return TimeStepper(system, STEP, StepOptions(contact_check=mode))


def measure(build: Callable[[], System], start: int, steps: int, repeats: int) -> Cost:
    """Cost of steps `start` to `start + steps`."""
    best = {mode: np.full(steps, np.inf) for mode in MODES}
    checked, contacts = dict.fromkeys(MODES, 0), 0
    for repeat in range(repeats):
        steppers = {mode: _stepper(build(), mode) for mode in MODES}
        for k in range(-start, steps):
            for mode, stepper in steppers.items():
                began = time.perf_counter()
                frame = stepper.advance()
                if k < 0:
                    continue
                best[mode][k] = min(best[mode][k], time.perf_counter() - began)
                if repeat == 0:
                    certificate = frame.contacts.certificate
                    checked[mode] += certificate.checked
                    contacts += certificate.contacts if mode == "none" else 0
    return Cost({mode: float(best[mode].mean()) for mode in MODES}, checked, contacts)


def print_table(start: int = 100, steps: int = 100, repeats: int = 5) -> None:
    """Print the cost of every scene."""
    print(f"{'scene':<16}{'contacts':>9}{'none':>10}{'sampled':>10}{'all':>10}{'sampled':>18}{'all':>18}")
    units = f"{'':<16}{'a step':>9}" + 3 * f"{'ms/step':>10}" + 2 * f"{'more   checked':>18}"
    print(units)
    for name, build in SCENES.items():
        cost = measure(build, start, steps, repeats)
        line = f"{name:<16}{cost.contacts / steps:>9.0f}"
        line += "".join(f"{cost.seconds[mode] * 1e3:>10.3f}" for mode in MODES)
        for mode in MODES[1:]:
            more = cost.seconds[mode] / cost.seconds["none"] - 1.0
            line += f"{more:>8.1%}{cost.checked[mode]:>10}"
        print(line, flush=True)
