"""The same filling of a container by spheres in this package and in other engines: time against accuracy.

    python benchmarks/peers.py [--spheres 1000] [--steps 500] [--limit 300] [--engines rapier mujoco ...]

Spheres of r = 1 m and m = 1 kg, μ = 0.25, no restitution, fall from a perturbed lattice into an open
container of width 2 r N^(1/3); h = 0.01 s, one thread. Every engine gets the same start positions and
runs in a separate process, once per setting; an engine that is not installed, fails or hangs is reported and
skipped. A run that reaches the limit of CPU seconds, or whose step fails, is measured up to that point. Only
the engine's own steps are timed. Penetration, force and Coulomb residual are computed from its positions,
velocities and contact impulses by the same code: see engines/measure.py.

Install the engines to compare: pip install dartpy mujoco drake pybullet rapier3d pin
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from _bench import machine
from engines import measure, report
from engines.report import Row
from engines.scene import Filling
from nonsmooth.scenes import filling

HERE = Path(__file__).parent
SETTINGS = {
    "nonsmooth": ("coarsest", "coarse", "default"),
    "rapier": ("default", "fine", "finest"),
    "pybullet": ("coarse", "default", "fine"),
    "mujoco": ("cg", "cg-stiff", "default"),
    "drake": ("default", "sap"),
    "pinocchio": ("coarse", "default"),
    "dart": ("default", "fine", "fbf"),
}
PACKAGES = {  # engine: what to import, what to install
    "nonsmooth": ("nonsmooth", "nonsmooth"),
    "rapier": ("rapier3d", "rapier3d"),
    "pybullet": ("pybullet", "pybullet"),
    "mujoco": ("mujoco", "mujoco"),
    "drake": ("pydrake", "drake"),
    "pinocchio": ("pinocchio", "pin"),
    "dart": ("dartpy", "dartpy"),
}
ONE_THREAD = {
    f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON", "VECLIB_MAXIMUM")
}


def start(spheres: int) -> Filling:
    """The package's own scene as plain arrays."""
    system = filling(spheres=spheres)
    right = system.position[system.names["right"]]
    return Filling(system.position[~system.fixed].copy(), width=2.0 * float(right[0]))


def missing(engine: str) -> str | None:
    """Return a hint for an engine that is not installed, or None."""
    module, package = PACKAGES[engine]
    return None if importlib.util.find_spec(module) else f"not installed: pip install {package}"


def run(engine: str, setting: str, scene: Path, folder: Path, steps: int, limit: float) -> Path | str:
    """Run one engine in a new process; return the file with its record, or the reason of the failure."""
    result = folder / f"{engine}-{setting}.npz"
    command = [sys.executable, "-m", "engines.worker", engine, setting, str(scene), str(result)]
    environment = os.environ | ONE_THREAD
    environment["PYTHONPATH"] = os.pathsep.join([str(HERE), environment.get("PYTHONPATH", "")]).rstrip(
        os.pathsep
    )
    try:
        # The worker stops itself after `limit` CPU seconds of steps; this limit is for one that hangs.
        done = subprocess.run(
            [*command, str(steps), str(limit)], env=environment, capture_output=True, text=True,
            timeout=4.0 * limit + 120.0, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as late:
        return f"no answer in {late.timeout:.0f} s"
    if done.returncode == 0 and result.exists():
        return result
    if done.returncode < 0:
        return f"the process was ended by {signal.Signals(-done.returncode).name}"
    lines = done.stderr.strip().splitlines() or [f"the process ended with code {done.returncode}"]
    return lines[-1]


def measured(scene: Filling, path: Path) -> Row:
    """All numbers of one run; times in s, lengths in mm, the rest relative."""
    with np.load(path) as record:
        steps, midpoint = len(record["cpu"]), bool(record["midpoint"])
        samples = measure.samples(record)
        overlap = [1e3 * measure.largest_overlap(scene, x) for x in record["late_positions"]]
        row: Row = {
            "version": str(record["version"]), "bits": int(record["bits"]), "meaning": str(record["meaning"]),
            "stopped": str(record["stopped"]), "missed": _known(int(record["missed"])),
            "steps": steps, "cpu": float(record["cpu"].sum()), "wall": float(record["wall"].sum()),
            "cpu_per_step": float(record["cpu"].mean()), "overlap_end": overlap[-1],
            "overlap_mean": float(np.mean(overlap)), "overlap_window": len(overlap),
        }  # fmt: skip
    late = [s for s in samples if s.step > steps - len(overlap)]
    row["speed_end"] = float(np.linalg.norm(samples[-1].new[1], axis=1).max()) if samples else np.nan
    row["force_momentum"] = _mean([measure.force_from_momentum(scene, s) for s in late])
    with_impulses = all(s.bodies is not None for s in samples)
    forces = [measure.container_force(scene, s) for s in late] if with_impulses else []
    row["force_container"], row["force_floor"] = (_mean([f[i] for f in forces]) for i in (0, 1))
    laws = [measure.coulomb_residual(scene, s, midpoint) for s in samples] if with_impulses else []
    late_laws = laws[len(laws) - len(late) :]
    for name in ("residual", "momentum", "cone", "direction"):
        row[f"{name}_median"] = _median([law[name] for law in laws])
        row[f"{name}_end"] = _median([law[name] for law in late_laws])
    return row


def _known(count: int) -> int | None:
    return count if count >= 0 else None


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else np.nan


def _median(values: list[float]) -> float:
    """Median of the numbers; steps without any contact have none."""
    finite = [value for value in values if not np.isnan(value)]
    return float(np.median(finite)) if finite else np.nan


def write(path: Path, about: dict[str, Any], rows: list[Row]) -> None:
    """Write all runs so far, so that an interrupted comparison keeps its results; NaN becomes null."""
    plain = [{key: None if value != value else value for key, value in row.items()} for row in rows]
    text = json.dumps({"about": about, "runs": plain}, indent=2, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def last_results(path: Path, about: dict[str, Any], without: list[str]) -> list[Row]:
    """Runs of the last comparison, without the named engines; it must have had the same scene and steps."""
    last = json.loads(path.read_text(encoding="utf-8"))
    for name in ("spheres", "steps", "step"):
        if last["about"][name] != about[name]:
            raise SystemExit(
                f"{path} has {name} = {last['about'][name]}, not {about[name]}: run without --keep, "
                "or give another --output"
            )
    rows = [row for row in last["runs"] if row["engine"] not in without]
    return [{k: np.nan if v is None and k != "missed" else v for k, v in row.items()} for row in rows]


def main() -> None:
    """Run every engine with every setting, then print the table and write the data and the plot."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--spheres", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--limit", type=float, default=300.0, help="CPU seconds per run")
    parser.add_argument("--engines", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--output", type=Path, default=Path("results/peers"))
    parser.add_argument("--keep", action="store_true", help="keep the last results of the other engines")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    data, plot = options.output / "peers.json", options.output / "peers.png"
    scene = start(options.spheres)
    about = {"machine": machine(), "spheres": scene.count, "steps": options.steps, "step": scene.step}
    rows = last_results(data, about, options.engines) if options.keep else []
    print(machine())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scene.save(folder / "scene.npz")
        for engine in options.engines:
            if hint := missing(engine):
                print(f"{engine}: {hint}", flush=True)
                continue
            for setting in SETTINGS[engine]:
                row: Row = {"engine": engine, "setting": setting}
                answer = run(engine, setting, folder / "scene.npz", folder, options.steps, options.limit)
                row |= {"error": answer} if isinstance(answer, str) else measured(scene, answer)
                rows.append(row)
                write(data, about, rows)
                print(report.line(row), flush=True)
    rows.sort(key=lambda row: list(SETTINGS).index(row["engine"]))
    write(data, about, rows)
    print("\n" + report.table(rows, options.steps))
    report.figure(rows, scene.count, options.steps).savefig(plot)
    print(f"\nwritten: {data}, {plot}")


if __name__ == "__main__":
    main()
