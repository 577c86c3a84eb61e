"""Waiting times of a new user: installation, first and second simulation of the README, parts of each.

    python benchmarks/first_use.py                      # wheels without and with compiled kernels
    python benchmarks/first_use.py --python python3.13  # with another Python

Each wheel is built and installed by `pip install .` into a fresh environment, the pure one first, so that pip
has downloaded everything for both. CPU times are those of whole processes, started in an empty folder.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WHEELS = {"pure": ["-C", "pure=true"], "compiled": []}

MEASURED = """
import json, sys, time
clock = time.process_time
times = [clock()]
from numba.core import event
class Count(event.Listener):
    compiled = 0
    def on_start(self, _): Count.compiled += 1
    def on_end(self, _): pass
class Kernels(event.Listener):
    depth, began, seconds = 0, 0.0, 0.0
    def on_start(self, _):
        Kernels.began = Kernels.began if Kernels.depth else clock()
        Kernels.depth += 1
    def on_end(self, _):
        Kernels.depth -= 1
        Kernels.seconds += 0.0 if Kernels.depth else clock() - Kernels.began
event.register("numba:compile", Count())
event.register("numba:compiler_lock", Kernels())
import nonsmooth as ns
ns.scenes, ns.simulate
times.append(clock())
from numba.core.registry import cpu_target
cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()
times.append(clock())
exec(compile(CODE, "README.md", "exec"))
times.append(clock())
parts = [b - a for a, b in zip(times, times[1:])]
print(json.dumps([Count.compiled, *parts, Kernels.seconds]), file=sys.stderr)
"""


def first_simulation() -> str:
    """The README's code."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"## A first simulation\n\n```python\n(.*?)```", text, re.S)
    return str(code)


def cpu_seconds(command: list[str], **options: object) -> tuple[float, subprocess.CompletedProcess[str]]:
    """CPU time in s of a process and its children, and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done


def install(python: str, folder: Path, options: list[str]) -> Path:
    """Make an environment with the package; print what that took; return its Python."""
    subprocess.run([python, "-m", "venv", folder], check=True)
    own, start = folder / "bin" / "python", time.monotonic()
    taken, _ = cpu_seconds([str(own), "-m", "pip", "install", "--quiet", str(ROOT), *options])
    size: float = sum(file.stat().st_size for file in folder.rglob("machine_code/compiled/*"))
    wall = time.monotonic() - start
    print(
        f"pip install: {wall:.0f} s, {taken:.0f} CPU s, {size / 1e6:.0f} MB of compiled kernels", flush=True
    )
    return own


def simulate(python: Path, folder: Path) -> float:
    """Run the README's first simulation; print its cost and that of its parts; return its CPU time in s."""
    for recording in folder.glob("*.h5"):
        recording.unlink()
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache")}
    code = f"CODE = {first_simulation()!r}\n{MEASURED}"
    taken, done = cpu_seconds([str(python), "-c", code], cwd=folder, env=environment)
    compiled, imports, target, run, kernels = json.loads(done.stderr.splitlines()[-1])
    print(
        f"    {taken:6.2f} CPU s, {compiled:3d} compilations: imports {imports:.2f}, "
        f"Numba's target {target:.2f}, kernels {kernels:.2f}, simulation {run - kernels:.2f}",
        flush=True,
    )
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--python", default=sys.executable)
    python = parser.parse_args().python
    first = {}
    print(subprocess.run([python, "--version"], capture_output=True, text=True, check=True).stdout.strip())
    for kind, options in WHEELS.items():
        with tempfile.TemporaryDirectory() as folder:
            print(f"{kind} wheel, ", end="")
            own = install(python, Path(folder) / "environment", options)
            empty = Path(folder) / "empty"
            empty.mkdir()
            first[kind] = simulate(own, empty)
            simulate(own, empty)
    print(f"first simulation, compiled to pure: {first['compiled'] / first['pure']:.3f}")


if __name__ == "__main__":
    main()
