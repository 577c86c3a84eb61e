"""A driven four-bar, its reactions, and one that starts apart and is assembled.

            ●────coupler────●
    crank ↻ │                \\  rocker
            ▲─────────────────▲

A planar mechanism written in 3D: three joint rows are redundant, and its reactions those of least norm.
"""

import numpy as np

import nonsmooth as ns

SPEED, STEP = 2.0 * np.pi, 0.001

system = ns.scenes.four_bar(crank=0.3, coupler=0.9, rocker=0.7, ground=1.0, speed=SPEED)
torque: list[float] = []
run = ns.simulate(
    system, 1.0, STEP, scheme="rattle",
    observe=lambda frame: torque.append(frame.reactions().rows["driver of joint 'shaft'"][0]),
)  # fmt: skip
print(run)
print(f"largest error of the joints {run.steps['joint_error'].max():.1e} m or rad")
assert run.certificate.failed == 0
assert run.steps["joint_error"].max() < 1e-10

# After a turn all is as it was, and the driver has done no work but for the error of the torque.
np.testing.assert_allclose(run.system.position, system.position, atol=1e-9)
work = SPEED * STEP * np.sum(torque)
print(f"torque from {min(torque):.2f} to {max(torque):.2f} N·m, work of a turn {work:.1e} J")
assert abs(work) < 1e-2 * np.ptp(torque)

# The same four-bar with its rocker 5 cm away, given by what has to come together in the bodies' frames.
apart = system.copy()
apart.position[apart.index("rocker")] += (0.05, 0.03, 0.0)
closed = ns.assemble(apart)
print(f"assembled: the rocker went {np.linalg.norm(closed.position[2] - apart.position[2]):.3f} m")
assert ns.simulate(closed, STEP, STEP).steps["joint_error"].max() < 1e-5
