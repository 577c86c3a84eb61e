"""Run one engine with one setting in this process and write what it did to a file.

python -m engines.worker ENGINE SETTING SCENE.npz RESULT.npz STEPS CPU_LIMIT
"""

from __future__ import annotations

import importlib
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np

from engines.interface import Engine
from engines.scene import Filling

WINDOW = 50
"""Steps at the end over which means are taken."""
SAMPLE_EVERY = 5
"""Steps between two samples of velocities and contact impulses."""


def run(engine: Engine, steps: int, cpu_limit: float) -> dict[str, Any]:
    """Step until done, the CPU limit (s) or a failure; return arrays ready for `np.savez`."""
    wall, cpu = [], []
    late: deque[Any] = deque(maxlen=WINDOW)
    samples = []
    before = engine.state()
    stopped = ""
    while len(wall) < steps:
        if sum(cpu) >= cpu_limit:
            stopped = f"limit of {cpu_limit:g} CPU s"
            break
        start_wall, start_cpu = time.perf_counter(), time.process_time()
        try:
            engine.step()
        except Exception as error:  # whatever an engine raises: what it did until then is measured
            if not wall:
                raise
            stopped = f"{type(error).__name__}: {error}".splitlines()[0].split(". ")[0]
            break
        cpu.append(time.process_time() - start_cpu)
        wall.append(time.perf_counter() - start_wall)
        after = engine.state()
        if not np.isfinite(after).all():
            stopped = "positions or velocities are not finite"
            break
        late.append(after[0])
        if len(wall) % SAMPLE_EVERY == 0:
            samples.append((len(wall), before, after, engine.contacts()))
        before = after
    arrays: dict[str, Any] = {
        "wall": wall, "cpu": cpu, "late_positions": np.stack(late), "stopped": stopped,
        "missed": -1 if engine.missed is None else engine.missed,
    }  # fmt: skip
    for number, (done, old, new, contacts) in enumerate(samples):
        arrays[f"sample{number}_step"] = done
        arrays[f"sample{number}_old"] = np.stack(old)
        arrays[f"sample{number}_new"] = np.stack(new)
        if contacts is not None:
            arrays[f"sample{number}_bodies"] = contacts.bodies
            arrays[f"sample{number}_impulse"] = contacts.impulse
    return arrays


def load(name: str) -> type[Engine]:
    """The class of an engine; raises ImportError where the engine is not installed."""
    kind: type[Engine] = importlib.import_module(f"engines.{name}").Engine
    return kind


def main() -> None:
    name, setting, scene, result, steps, cpu_limit = sys.argv[1:]
    kind = load(name)
    arrays = run(kind(Filling.load(Path(scene)), setting), int(steps), float(cpu_limit))
    np.savez(
        result,
        version=kind.version(),
        bits=kind.float_bits,
        midpoint=kind.midpoint,
        meaning=kind.settings[setting],
        **arrays,
    )


if __name__ == "__main__":
    main()
