"""What must stay when only walls move: hashes of final states, and the time to import.

    python tools/yardsticks.py

Eight scenes, each with one thread, with two, and stopped in the middle and resumed; the three hashes of a row
must be equal, and equal to those before the change on the same computer (the last digits may differ between
computers). Scenes are run by the public interface, so that the script outlives moves.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import nonsmooth as ns

SCENES: dict[str, tuple[Any, int, float, dict[str, Any]]] = {
    "filling": (lambda: ns.scenes.filling(spheres=200), 120, 0.01, {}),
    "capsules": (lambda: ns.scenes.capsule_heap(), 60, 0.01, {}),
    "wall": (lambda: ns.scenes.box_wall(), 30, 0.01, {}),
    "arch": (lambda: ns.scenes.arch(), 30, 0.01, {}),
    "chain": (lambda: ns.scenes.chain(), 60, 0.002, {}),
    "four-bar": (lambda: ns.scenes.four_bar(), 60, 0.005, {"scheme": "rattle"}),
    "mixed": (lambda: mixed(), 120, 0.005, {}),
}


def mixed() -> ns.System:
    """Ten shapes that fall onto rough terrain and one another, with restitution."""
    rng = np.random.default_rng(5)
    system = ns.System()
    system.add_material("m", friction=0.4, restitution=0.3)
    system.add_height_field(0.1 * rng.random((9, 9)), (0.25, 0.25), position=(-1.0, -1.0, 0.0), material="m")
    for i in range(10):
        place = {
            "mass": 1.0 + 0.1 * i,
            "material": "m",
            "position": (*rng.uniform(-0.3, 0.3, 2), 0.5 + 0.3 * i),
            "orientation": rng.standard_normal(4),
            "angular_velocity": rng.standard_normal(3),
        }
        place["orientation"] /= np.linalg.norm(place["orientation"])
        if i % 5 == 0:
            system.add_box((0.2, 0.3, 0.15), **place)
        elif i % 5 == 1:
            system.add_cylinder(0.1, 0.25, **place)
        elif i % 5 == 2:
            system.add_cone(0.12, 0.25, **place)
        elif i % 5 == 3:
            system.add_ellipsoid((0.1, 0.15, 0.08), **place)
        else:
            system.add_hull(0.2 * rng.standard_normal((12, 3)), **place)
    return system


def state_hash(system: ns.System) -> str:
    """Of the positions and velocities of all bodies."""
    arrays = system.position, system.quaternion, system.linear_velocity, system.angular_velocity
    return hashlib.sha256(b"".join(np.ascontiguousarray(each).tobytes() for each in arrays)).hexdigest()[:16]


def hashes(name: str) -> list[str]:
    """With one thread, with two, and resumed."""
    build, steps, step, options = SCENES[name]
    found = [
        state_hash(ns.simulate(build(), duration=steps * step, step=step, threads=threads, **options).system)
        for threads in (1, 2)
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.h5"
        ns.simulate(build(), duration=steps // 2 * step, step=step, record=file, **options)
        run = ns.simulate(build(), duration=steps * step, step=step, record=file, resume=True, **options)
        return [*found, state_hash(run.system)]


def event_hash() -> str:
    """Of a ball that bounces until its impacts accumulate."""
    from importlib import import_module, util

    place = (
        "nonsmooth.scenes.closed_form"
        if util.find_spec("nonsmooth.scenes.closed_form")
        else "nonsmooth.scenes"
    )
    ball = import_module(f"{place}.bouncing").DroppedBall(restitution=0.8)
    times = ns.simulate_events(ball.system(), *ball.start(), duration=5.0).times("impact")
    return hashlib.sha256(np.ascontiguousarray(times).tobytes()).hexdigest()[:16]


def main() -> None:
    """Print a hash for each scene."""
    warnings.simplefilter("ignore")
    for name in SCENES:
        found = hashes(name)
        print(f"{name:12} {found[0]}  {'same' if len(set(found)) == 1 else found[1:]}", flush=True)
    print(f"{'events':12} {event_hash()}")
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import nonsmooth as ns; ns.simulate"], check=True)
        times.append(time.perf_counter() - begin)
    print(f"import       {min(times):.2f} s")


if __name__ == "__main__":
    main()
