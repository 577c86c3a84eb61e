"""Sixty spheres fall into an open container; the run is recorded in two parts and read back."""

import tempfile
from pathlib import Path

import numpy as np

import nonsmooth as ns

SPHERES, MASS, STEP, DURATION = 60, 1.0, 0.01, 2.0

system = ns.scenes.filling(spheres=SPHERES, mass=MASS, friction=0.25)
folder = Path(tempfile.mkdtemp())
path = folder / "filling.h5"

# Run the first half, then resume to the full duration.
ns.simulate(system, duration=0.5 * DURATION, step=STEP, record=path)
run = ns.simulate(system, duration=DURATION, step=STEP, record=path, resume=True)
print(run)
assert run.certificate.failed == 0
assert run.certificate.largest_penetration < 1e-4  # m, of spheres of 1 m

with ns.Trajectory(path) as trajectory:
    frames = len(trajectory)
    assert frames == 1 + trajectory.steps.count == 201  # the start and every step
    end = trajectory.frame(-1)
    # Vertical force on the container in every step; the first frame, the start, has no force.
    load = -sum(trajectory.force_on(wall)[1:, 2] for wall in ("floor", "left", "right", "front", "back"))
np.testing.assert_array_equal(end.position, run.system.position)

# The container has absorbed the momentum of gravity, except for the momentum that the spheres still have.
left = -MASS * end.linear_velocity[:SPHERES, 2].sum()
weight = SPHERES * MASS * 9.81
print(f"mean force on the container {load.mean():.2f} N, weight {weight:.2f} N, {left:.3f} N·s left")
np.testing.assert_allclose(load.mean(), weight - left / DURATION, rtol=1e-8)

lowest = end.position[:SPHERES, 2].min()
print(f"the lowest centre is at {lowest:.6f} m, one radius above the floor")
assert lowest > 1.0 - 1e-4

for file in folder.iterdir():
    file.unlink()
folder.rmdir()
