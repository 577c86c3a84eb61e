"""A driven four-bar, its reactions, and the assembly of an open one.

            ●────coupler────●
    crank ↻ │                \\  rocker
            ▲─────────────────▲

The planar mechanism is modelled in 3D: three joint rows are redundant, and reactions are of minimum norm.
"""

import numpy as np

import nonsmooth as ns

SPEED, STEP = 2.0 * np.pi, 0.001

system = ns.scenes.four_bar(crank=0.3, coupler=0.9, rocker=0.7, ground=1.0, speed=SPEED)
torque: list[float] = []
reactions: list[ns.stepping.Reactions] = []


def look(frame: ns.stepping.Frame) -> None:
    """Store the driver's torque (N·m), which is unique, and all reactions at the end."""
    torque.append(frame.reactions(minimum_norm=False).rows["driver of joint 'shaft'"][0])
    if frame.index == 1000:
        reactions.append(frame.reactions())


run = ns.simulate(system, duration=1.0, step=STEP, scheme="rattle", observe=look)
print(run)
print(f"largest error of the joints {run.steps['joint_error'].max():.1e} m or rad")
assert run.certificate.failed == 0
assert run.steps["joint_error"].max() < 1e-10

# After one revolution the positions are the same, and the work of the driver is zero within its error.
np.testing.assert_allclose(run.system.position, system.position, atol=1e-9)
work = SPEED * STEP * np.sum(torque)
print(f"torque from {min(torque):.2f} to {max(torque):.2f} N·m, work per revolution {work:.1e} J")
assert abs(work) < 1e-2 * np.ptp(torque)

force, moment = reactions[0].of("crank pin")  # on the coupler, in the joint's frame: z is the pin
print(f"force {np.linalg.norm(force):.3f} N and moment {np.linalg.norm(moment):.1e} N·m at the crank pin")
np.testing.assert_allclose([force[2], *moment], 0.0, atol=1e-9)  # no load out of the plane

apart = system.copy()
apart.position[apart.index("rocker")] += (0.05, 0.03, 0.0)
closed = ns.assemble(apart)
print(f"assembled: the rocker moved by {np.linalg.norm(closed.position[2] - apart.position[2]):.3f} m")
assert ns.simulate(closed, duration=STEP, step=STEP).steps["joint_error"].max() < 1e-5
