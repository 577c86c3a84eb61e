"""Frequency of Newton's method for simultaneous impacts, and number of unfinished impacts.

    python benchmarks/impacts.py                 # 40 scenes of each law, about a minute
    python benchmarks/impacts.py --scenes 400

Bodies of random shape, size and spin fall on a floor, every fourth time two to four above one another;
friction is 0.2 to 1 and restitution 0.3 to 0.9. Prints impacts, groups of two or more contacts, groups not
solved by 2,000 sweeps, unfinished contacts, and the time of Newton's method.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

import nonsmooth as ns
from _bench import machine
from nonsmooth.model import quaternions
from nonsmooth.stepping.schemes import impact_newton, impacts


@dataclass
class Count:
    """Counts of `watched`."""

    groups: int = 0
    left: int = 0
    seconds: float = 0.0


@contextmanager
def watched() -> Iterator[Count]:
    """Count the groups of all impact steps in the block, and those that need Newton's method."""
    count = Count()
    islands, newton = impacts.ImpactStep.resolve, impact_newton.resolve

    def counted_islands(step, struck, whole, start, room):
        count.groups += int(np.sum(np.diff(start) > 1))
        return islands(step, struck, whole, start, room)

    def counted_newton(*arguments):
        begin = time.perf_counter()
        found = newton(*arguments)
        count.left, count.seconds = count.left + 1, count.seconds + time.perf_counter() - begin
        return found

    impacts.ImpactStep.resolve, impact_newton.resolve = counted_islands, counted_newton
    try:
        yield count
    finally:
        impacts.ImpactStep.resolve, impact_newton.resolve = islands, newton


def turned(rng: np.random.Generator) -> np.ndarray:
    """An orientation: flat, almost flat, on an edge, or arbitrary."""
    axis = rng.standard_normal(3)
    axis /= np.linalg.norm(axis)
    upright = quaternions.from_axis_angle((0.0, 0.0, 1.0), rng.uniform(0.0, 6.3))
    way = rng.integers(4)
    if way == 0:
        return upright
    if way == 1:
        return quaternions.from_axis_angle(axis, 1e-3 * rng.random())
    if way == 2:
        return quaternions.product(
            upright, quaternions.from_axis_angle((1.0, 0.0, 0.0), rng.uniform(0.1, 1.4))
        )
    return quaternions.from_axis_angle(axis, rng.uniform(0.0, 3.1))


def scene(seed: int, law: str) -> ns.System:
    rng = np.random.default_rng(seed)
    system = ns.System()
    friction, restitution = rng.uniform(0.2, 1.0), rng.uniform(0.3, 0.9)
    system.add_material("m", friction=friction, restitution=restitution, impact_law=law)
    system.add_plane(material="m")
    for level in range(rng.integers(2, 5) if seed % 4 == 3 else 1):
        options = {
            "mass": 10.0 ** rng.uniform(-1.0, 1.0),
            "material": "m",
            "position": (0.0, 0.0, 0.9 + 1.3 * level),
            "orientation": turned(rng),
            "velocity": rng.normal(0.0, rng.choice([0.0, 2.0]), 3) - (0.0, 0.0, 1.5),
            "angular_velocity": rng.normal(0.0, rng.choice([0.0, 3.0, 15.0]), 3),
        }
        kind = rng.integers(3)
        if kind == 0:
            system.add_box(rng.uniform((0.1, 0.1, 0.05), 1.0), **options)
        elif kind == 1:
            system.add_cylinder(rng.uniform(0.1, 0.4), rng.uniform(0.1, 0.8), **options)
        else:
            angle = np.sort(rng.uniform(0.0, 2.0 * np.pi, rng.integers(3, 9)))
            radius, half = rng.uniform(0.2, 0.5), rng.uniform(0.05, 0.5)
            ring = radius * np.column_stack([np.cos(angle), np.sin(angle)])
            ends = [np.column_stack([ring, np.full(len(ring), z)]) for z in (-half, half)]
            system.add_hull(np.vstack(ends), **options)
    return system


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--scenes", type=int, default=40, help="scenes of each law [40]")
    options.add_argument("--seed", type=int, default=0, help="seed of the first scene [0]")
    given = options.parse_args()
    print(machine())
    titles = "impacts", "groups", "left by sweeps", "unfinished", "Newton ms each"
    print(f"{'law':8}", *(f"{title:>15}" for title in titles))
    for law in ("newton", "poisson"):
        done = unfinished = 0
        with watched() as count:
            for seed in range(given.seed, given.seed + given.scenes):
                certificate = ns.simulate(scene(seed, law), duration=1.0, step=0.004).certificate
                done += certificate.impacts
                unfinished += certificate.unfinished_impacts
        each = f"{1e3 * count.seconds / count.left:.2f}" if count.left else "-"
        row = done, count.groups, count.left, unfinished, each
        print(f"{law:8}", *(f"{number:>15}" for number in row))


if __name__ == "__main__":
    main()
