"""Make the problems that ship with the package anew.

    python tools/make_problems.py [FOLDER]

The folder is src/nonsmooth/problem/library/problems if not given; files with the same names are replaced.
Takes a minute. Steps of the package's scenes are recorded with `nonsmooth record-problems`; problems with
joints and planar ones, which the scenes do not have, are built here.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import nonsmooth as ns
from nonsmooth.cli.main import app
from nonsmooth.io.problems.fclib import FclibInfo, write_fclib

HERE = Path(__file__).parent.parent / "src" / "nonsmooth" / "problem" / "library" / "problems"

RECORDED = (
    # at rest and hyperstatic: more contact components than degrees of freedom
    "box-stack --every 20 --tolerance 1e-10",
    "box-pyramid --set base=2 --every 20 --tolerance 1e-10 --kind local",
    # all contacts slide
    "box-on-incline --set angle=0.5 --every 20 --tolerance 1e-10 --kind local",
    # heaps, some contacts open, some sticking, some sliding
    "capsule-heap --set capsules=15 --every 120 --tolerance 1e-10",
    "filling --set spheres=12 --set radius=0.1 --every 150 --tolerance 1e-10 --kind local",
    # badly scaled, and not solved in its run: grains of 10 mg under a slab of 10 g
    "compaction --set spheres=12 --set slab_mass=0.01 --set radius=0.001 --set mass=1e-5 --step 0.0005 "
    "--every 80 --max-iterations 300",
)


def planar_stack(blocks: int, push: float, step: float = 0.01) -> ns.ContactProblem:
    """One step of planar blocks at rest, one upon the other; a force `push` in N pulls at the uppermost.

        y  ┌──────┐ → push      blocks of 2 kg, half length 0.15 m, half height 0.05 m, friction 0.3;
        ↑  ├──────┤             coordinates (x, y, turn) of each, contacts at both lower corners
        └→ └──────┘ x           of each, (n, t): 4 components for 3 coordinates

    It sticks up to push = 0.3 · 2 · 9.81 = 5.886 N; above that the uppermost block slides.
    """
    mass, length, height = 2.0, 0.15, 0.05
    jacobian = np.zeros((blocks, 3, blocks, 2, 2))  # block, coordinate, layer, corner, component
    for layer in range(blocks):
        for corner, x in enumerate((-length, length)):
            jacobian[layer, :, layer, corner] = [[0.0, 1.0], [1.0, 0.0], [x, height]]
            if layer > 0:
                jacobian[layer - 1, :, layer, corner] = [[0.0, -1.0], [-1.0, 0.0], [-x, height]]
    force = np.tile([0.0, -9.81 * mass, 0.0], (blocks, 1))
    force[-1, 0] = push
    inertia = mass * (length**2 + height**2) / 3.0
    return ns.ContactProblem(
        mass=np.diag(np.tile([mass, mass, inertia], blocks)),
        jacobian=jacobian.reshape(3 * blocks, 4 * blocks),
        momentum=step * force.ravel(),
        friction=np.full(2 * blocks, 0.3),
        components=2,
    )


def built() -> dict[str, tuple[ns.ContactProblem, str, str]]:
    """The problems that no scene has: problem, kind and description by name."""
    joints = ns.problems.random_problem(3, contacts=8, mass_ratio=10.0, joint_rows=3)
    return {
        "planar-stack": (
            planar_stack(4, push=3.0), "global",
            "Planar blocks of 2 kg, one upon the other, 3 N at the uppermost: all stick. One step of 0.01 s.",
        ),
        "planar-slide": (
            planar_stack(3, push=9.0), "local",
            "Planar blocks of 2 kg, one upon the other, 9 N at the uppermost: it slides. One step of 0.01 s.",
        ),
        "random-joints": (
            joints, "global",
            "Two random bodies with 8 contacts and 3 bilateral rows. Made by random_problem(3, contacts=8, "
            "mass_ratio=10, joint_rows=3) of nonsmooth.problem.library.",
        ),
        "random-joints-local": (joints, "local", "The problem random-joints in local form."),
    }  # fmt: skip


def record(line: str, folder: Path) -> None:
    """Run `nonsmooth record-problems`; exit code 2 says that the step was not solved, which is allowed."""
    words: list[Any] = ["record-problems", *line.split(), "--limit", "1", "--with-solutions"]
    try:
        app([*words, "--output", str(folder)], prog_name="nonsmooth")
    except SystemExit as end:
        if end.code not in (0, 2):
            raise


def main() -> None:
    """Make them all, and put them in place when all are there."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=HERE, help="where to put them")
    target = parser.parse_args().folder
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for line in RECORDED:
            record(line, folder)
        for name, (problem, kind, description) in built().items():
            solution = ns.solve(problem, tolerance=1e-10)
            rows = f", {problem.joint_rows} bilateral rows" if problem.joint_rows else ""
            facts = f"{problem.contacts} contacts{rows}; solved at {solution.certificate.residual:.2e}"
            units = " SI units: masses in kg and kg m^2, velocities in m/s and rad/s, impulses in N s."
            info = FclibInfo(f"{name}: {description.split('. ')[0]}", description + units, facts)
            write_fclib(
                problem, folder / f"{name}-{problem.contacts}.hdf5", kind=kind, solution=solution, info=info
            )
        for file in sorted(folder.glob("*.hdf5")):
            (target / file.name).write_bytes(file.read_bytes())
            print(f"{file.stat().st_size:6d} bytes  {target / file.name}")


if __name__ == "__main__":
    main()
