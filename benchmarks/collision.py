"""Collision detection: cost, correctness, and speed compared with coal and MuJoCo.

    python benchmarks/collision.py [cost]
    python benchmarks/collision.py right [--poses 300] [--engines ours coal MuJoCo PyBullet] [--pair box hull]
                                      [--seed 0] [--show 0]
    python benchmarks/collision.py pairs [--pairs 200] [--seconds 5]
    python benchmarks/collision.py check

`right` counts the wrong answers at poses of 45 pairs of shapes that almost touch, compared with brute force:
see _narrow/poses.py and _narrow/judge.py. `pairs` measures µs per touching pair: see _narrow/speed.py.
Engines that are not installed are left out: pip install coal mujoco pybullet. `check` measures the overhead
of the contact check in a step: see _narrow/check_cost.py.

`cost` measures ns per body, from 1,000 to 100,000 bodies, and the share of each phase. Scenes: balls of one
size in a container of five planes, about three contacts each; balls whose radii span 1 : 100, placed at
random; a slab of 1 m over grains of 1 mm. Bodies are numbered at random, the worst case for the cache. Times
are CPU times. The cost is linear if the ns per body are constant; their growth is the effect of the cache.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np

from _bench import machine
from _narrow import check_cost, speed, table
from _narrow.engines import ENGINES
from nonsmooth.collision import Detector
from nonsmooth.model.system import System

SIZES = (1_000, 10_000, 100_000)
SECONDS = 2.0  # spent on each scene


def like_sized(count: int, rng: np.random.Generator) -> System:
    """A cubic lattice with random displacements of a hundredth of the radius."""
    side = round(count ** (1 / 3))
    grid = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    system = System()
    for normal in ((0, 0, 1), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)):
        system.add_plane(normal=normal, point=(0, 0, 0) if sum(normal) > 0 else (2 * side, 2 * side, 0))
    positions = 2.0 * grid + 1.0 + rng.uniform(-0.01, 0.01, grid.shape)
    system.add_spheres(1.0, rng.permutation(positions), mass=1.0)
    return system


def polydisperse(count: int, rng: np.random.Generator) -> System:
    """Radii from 0.01 to 1 m with equal volume in large and in small balls; filling ratio 0.3."""
    radii = 0.01 / np.sqrt(1.0 - rng.uniform(0.0, 1.0 - 1e-4, count))
    edge = (4.0 / 3.0 * np.pi * (radii**3).sum() / 0.3) ** (1 / 3)
    system = System()
    system.add_spheres(radii, rng.uniform(0.0, edge, (count, 3)), density=1000.0)
    return system


def slab_over_grains(count: int, rng: np.random.Generator) -> System:
    """One layer of grains, all of them under a slab 1 m wide and 0.1 m thick."""
    side = round(count**0.5)
    x, y = np.meshgrid(0.001 * np.arange(side), 0.001 * np.arange(side))
    positions = np.column_stack([x.ravel(), y.ravel(), rng.uniform(-1e-5, 0.0, side * side)])
    system = System()
    system.add_box((1.0, 1.0, 0.1), mass=1.0, position=(0.0, 0.0, 0.0505))
    system.add_spheres(0.0005, rng.permutation(positions), mass=1e-6)
    return system


SCENES: dict[str, tuple[Callable[[int, np.random.Generator], System], float]] = {
    "like-sized": (like_sized, 0.02),
    "radii 1 : 100": (polydisperse, 1e-4),
    "slab on grains": (slab_over_grains, 2e-5),
}
"""Each scene and its margin in m."""


def measure(system: System, margin: float) -> dict[str, float]:
    """Shortest CPU times in s in total and of the broad phase (with placing), and numbers of results."""
    detector = Detector(system, margin)
    still, level = np.zeros((system.count, 3)), np.zeros(system.count)
    state = system.position, system.quaternion, still, level
    contacts, pairs = len(detector.detect(*state)), len(detector.candidates(*state))
    whole, broad = float("inf"), float("inf")
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        start = time.process_time()
        detector.candidates(*state)
        middle = time.process_time()
        detector.detect(*state)
        broad = min(broad, middle - start)
        whole = min(whole, time.process_time() - middle)
    return {"whole": whole, "broad": broad, "pairs": pairs, "contacts": contacts}


def cost() -> None:
    """Print the cost of each scene."""
    print(
        f"{'scene':<16}{'bodies':>8}{'pairs':>9}{'contacts':>10}{'ms':>9}{'ns/body':>9}{'broad':>8}{'narrow':>8}"
    )
    for name, (build, margin) in SCENES.items():
        for size in SIZES:
            system = build(size, np.random.default_rng(0))
            found = measure(system, margin)
            share = min(1.0, found["broad"] / found["whole"])
            print(
                f"{name:<16}{system.count:>8}{found['pairs']:>9.0f}{found['contacts']:>10.0f}"
                f"{found['whole'] * 1e3:>9.2f}{found['whole'] / system.count * 1e9:>9.0f}"
                f"{share:>8.0%}{1.0 - share:>8.0%}"
            )


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description="Measure how contacts are found.")
    parser.add_argument("what", nargs="?", default="cost", choices=("cost", "right", "pairs", "check"))
    parser.add_argument("--poses", type=int, default=300, help="Poses of each pair of shapes [300].")
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=list(ENGINES))
    parser.add_argument("--pair", nargs="+", default=[], help="Check only pairs with these shapes [all].")
    parser.add_argument(
        "--seed", type=int, default=0, help="Seed of the poses; the code was developed on 0 [0]."
    )
    parser.add_argument("--show", type=int, default=0, help="List N wrong answers of each pair [0].")
    parser.add_argument("--pairs", type=int, default=200, help="Touching pairs in a scene [200].")
    parser.add_argument("--seconds", type=float, default=5.0, help="Time spent on each kind of pair [5].")
    given = parser.parse_args(arguments)
    print(machine())
    if given.what == "cost":
        cost()
    elif given.what == "right":
        asked = [pair for pair in table.ALL if all(name in pair for name in given.pair)]
        table.print_table(given.poses, tuple(given.engines), asked, given.show, given.seed)
    elif given.what == "check":
        check_cost.print_table()
    else:
        speed.print_table(given.pairs, given.seconds)


if __name__ == "__main__":
    main(sys.argv[1:])
