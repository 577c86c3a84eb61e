"""Fillings of a container: exact friction compared with relaxed APGD, cost by size, threads and tolerance.

    python benchmarks/filling.py exact-against-relaxed --spheres 1000 4000
    python benchmarks/filling.py size --spheres 1000 4000 16000 64000
    python benchmarks/filling.py threads --spheres 16000
    python benchmarks/filling.py tolerance --spheres 1000

Every ratio is taken within one run. Times are CPU seconds (of all threads) unless a column says wall time;
the first steps, which compile kernels, are excluded. "force error" is the residual relative to the contact
impulses instead of the certificate's scale (the residual of zero impulses), mean over the steps.
"""

from __future__ import annotations

import argparse
import resource
import time
from dataclasses import dataclass

import numpy as np

from _bench import machine
from nonsmooth.scenes import filling
from nonsmooth.solvers import APGD, Auto, GaussSeidel
from nonsmooth.solvers.base import Solver
from nonsmooth.stepping import StepOptions, TimeStepper

STEP = 0.01
_NOTICE_SECONDS = 10.0


@dataclass
class Measured:
    """One filling, from its first step."""

    cpu: float
    wall: float
    iterations: int
    contacts: int
    failed: int
    force_error: float
    penetration: float
    late: int
    parts: dict[str, float]
    state: bytes

    @property
    def per_contact(self) -> float:
        """CPU time per contact and step in µs."""
        return 1e6 * self.cpu / max(self.contacts, 1)

    @property
    def per_iteration(self) -> float:
        """CPU time per iteration in ms."""
        return 1e3 * self.cpu / max(self.iterations, 1)


def fill(
    spheres: int,
    solver: Solver,
    law: str,
    tolerance: float,
    duration: float,
    width: float | None = None,
) -> Measured:
    """Fill a container and sum the costs."""
    warm = filling(60)
    stepper = TimeStepper(warm, STEP, StepOptions(solver=solver, law=law, tolerance=tolerance))
    for _ in range(60):  # kernels are compiled here
        stepper.advance()
    system = filling(spheres, width=width)
    stepper = TimeStepper(system, STEP, StepOptions(solver=solver, law=law, tolerance=tolerance))
    total = round(duration / STEP)
    iterations = contacts = failed = late = 0
    penetration, errors = 0.0, []
    cpu, wall = time.process_time(), time.perf_counter()
    shown = wall
    for done in range(total):
        frame = stepper.advance()
        iterations += frame.iterations
        contacts += len(frame.contacts)
        failed += frame.status != "solved"
        late += int(frame.numbers["late_contacts"])
        penetration = max(penetration, frame.numbers["penetration"])
        errors.append(frame.numbers["force_error"])
        if time.perf_counter() - shown > _NOTICE_SECONDS:
            shown = time.perf_counter()
            left = (shown - wall) / (done + 1) * (total - done - 1)
            print(f"    … {done + 1} of {total} steps, about {left:.0f} s left", flush=True)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    state = b"".join(
        values.tobytes() for values in (system.position, system.quaternion, system.linear_velocity)
    )
    return Measured(
        cpu, wall, iterations, contacts, failed, float(np.mean(errors)), penetration, late,
        dict(stepper.timings.seconds), state,
    )  # fmt: skip


def _line(name: str, run: Measured, steps: int, extra: str = "") -> None:
    print(
        f"  {name:<28}{run.cpu:>9.2f} s CPU {run.iterations / steps:>8.1f} it/step "
        f"{run.per_contact:>8.2f} µs/contact/step  failed {run.failed:>3}  force error {run.force_error:.1e} "
        f"penetration {1e3 * run.penetration:.3f} mm  {extra}",
        flush=True,
    )


def exact_against_relaxed(arguments: argparse.Namespace) -> None:
    """Compare exact friction with the papers' relaxed method at the same tolerance."""
    steps = round(arguments.duration / STEP)
    for spheres in arguments.spheres:
        print(
            f"{spheres} spheres, {arguments.duration:g} s in {steps} steps, tolerance {arguments.tolerance:g}"
        )
        relaxed = fill(spheres, APGD(), "relaxed", arguments.tolerance, arguments.duration)
        _line("APGD, relaxed", relaxed, steps)
        for law in ("coulomb", "relaxed"):
            run = fill(spheres, GaussSeidel(), law, arguments.tolerance, arguments.duration)
            _line(f"GaussSeidel, {law}", run, steps, f"ratio {run.cpu / relaxed.cpu:.3f}")
        if arguments.anti_relaxed:
            run = fill(spheres, APGD(), "coulomb", arguments.tolerance, arguments.duration)
            _line("APGD, anti-relaxed", run, steps, f"ratio {run.cpu / relaxed.cpu:.3f}")


def size(arguments: argparse.Namespace) -> None:
    """Cost per contact and step, and memory, as the number of spheres grows."""
    steps = round(arguments.duration / STEP)
    for shape in ("equally deep", "as deep as wide"):
        print(f"{shape}: {arguments.duration:g} s in {steps} steps, tolerance {arguments.tolerance:g}")
        first = None
        for spheres in arguments.spheres:
            deep = 20.0 * (spheres / 1000.0) ** 0.5 if shape == "equally deep" else None
            run = fill(spheres, GaussSeidel(), "coulomb", arguments.tolerance, arguments.duration, deep)
            first = first or run
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / (run.contacts / steps)
            ratio = run.per_contact / first.per_contact
            each = 1e9 * run.cpu / max(run.iterations, 1) / (run.contacts / steps)
            _line(
                f"{spheres} spheres", run, steps,
                f"ratio {ratio:.2f}, {each:.0f} ns per contact and iteration, "
                f"{memory / 1e3:.1f} kB per contact",
            )  # fmt: skip


def threads(arguments: argparse.Namespace) -> None:
    """Compare two threads with one: wall time, and whether the results are bitwise identical."""
    steps = round(arguments.duration / STEP)
    for spheres in arguments.spheres:
        runs = {}
        for count in (1, 2):
            solver = GaussSeidel(threads=count)
            runs[count] = fill(spheres, solver, "coulomb", arguments.tolerance, arguments.duration)
            run = runs[count]
            _line(f"{spheres} spheres, {count} threads", run, steps, f"{run.wall:.2f} s wall")
        one, two = runs[1], runs[2]
        print(
            f"  speed-up {one.wall / two.wall:.2f} of the whole step, "
            f"{one.parts['solver'] / two.parts['solver']:.2f} of the solver; "
            f"bitwise identical: {'yes' if one.state == two.state else 'NO'}"
        )


def tolerances(arguments: argparse.Namespace) -> None:
    """The whole run at several tolerances, with the share of each part."""
    steps = round(arguments.duration / STEP)
    for spheres in arguments.spheres:
        print(f"{spheres} spheres, {arguments.duration:g} s in {steps} steps, the default solver")
        for tolerance in (1e-2, 1e-3, 1e-4):
            run = fill(spheres, Auto(), "coulomb", tolerance, arguments.duration)
            whole = sum(run.parts.values())
            share = ", ".join(f"{name} {100 * part / whole:.0f} %" for name, part in run.parts.items())
            _line(f"tolerance {tolerance:g}", run, steps, f"late contacts {run.late}; {share}")


def main() -> None:
    """Read the command line and measure."""
    kinds = {
        "exact-against-relaxed": exact_against_relaxed,
        "size": size,
        "threads": threads,
        "tolerance": tolerances,
    }
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=kinds)
    parser.add_argument("--spheres", type=int, nargs="+", default=[1000])
    parser.add_argument("--duration", type=float, default=5.0, help="simulated time in s")
    parser.add_argument("--tolerance", type=float, default=1e-3)
    parser.add_argument("--anti-relaxed", action="store_true", help="also APGD with anti-relaxation")
    arguments = parser.parse_args()
    print(machine())
    kinds[arguments.what](arguments)


if __name__ == "__main__":
    main()
