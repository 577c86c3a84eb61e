"""Pictures for the gallery: run every example that simulates a system, and draw where it ends.

    python tools/make_gallery.py            # writes docs/images/example-NAME.png

The examples stay as they are: `simulate` is told to record where an example does not.
"""

from __future__ import annotations

import runpy
import shutil
import tempfile
from pathlib import Path
from typing import Any

import matplotlib.image

import nonsmooth as ns
from nonsmooth.stepping import simulate
from nonsmooth.view.drawing.colours import ColourBy
from nonsmooth.view.drawing.picture import Look, Painter

ROOT = Path(__file__).resolve().parent.parent
SIZE = (800, 450)
FEW = 10
"""Bodies up to which each has a colour of its own."""


def main() -> None:
    """Run the examples one by one."""
    for example in sorted((ROOT / "examples").glob("*.py")):
        if "ns.simulate(" not in example.read_text(encoding="utf-8"):
            continue
        with tempfile.TemporaryDirectory() as folder:
            recorded = run_recorded(example, Path(folder))
            target = ROOT / "docs" / "images" / f"example-{example.stem}.png"
            with ns.Trajectory(recorded) as trajectory:
                end = float(trajectory.times[-1])
                few = len(trajectory.frame(0).position) <= FEW
                look = Look(ColourBy.BODY if few else ColourBy.SPEED, width=SIZE[0], height=SIZE[1])
                painter = Painter(trajectory, [end], look)
                matplotlib.image.imsave(target, painter.paint(end))
        print(target.relative_to(ROOT))


def run_recorded(example: Path, folder: Path) -> Path:
    """Run an example; return a copy of the recording of its longest simulation."""
    copies: dict[float, Path] = {}

    def recording(system: Any, duration: float, step: float, **options: Any) -> Any:
        options["record"] = options.get("record") or folder / "run.h5"
        result = simulate(system, duration=duration, step=step, **options)
        copies[duration] = Path(shutil.copy(options["record"], folder / f"copy{len(copies)}.h5"))
        return result

    ns.simulate = recording
    runpy.run_path(str(example))
    return copies[max(copies)]


if __name__ == "__main__":
    main()
