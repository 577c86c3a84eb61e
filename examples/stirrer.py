"""A four-bar stirs a bed of spheres: joints, a motor with a torque limit, and contacts in one system.

The example checks the energy balance: the motor's work changes the energy and is dissipated in contacts.
"""

import numpy as np

import nonsmooth as ns

SPHERES, STEP, DURATION = 100, 0.004, 0.6

system = ns.scenes.stirrer(spheres=SPHERES, friction=0.3)
crank = system.index("crank")
torque, speed = [], [-system.angular_velocity[crank, 1]]


def look(frame: ns.stepping.Frame) -> None:
    """Store the motor's torque (N·m) and the crank's speed (rad/s)."""
    torque.append(frame.reactions(minimum_norm=False).rows["motor of joint 'shaft'"][0])
    speed.append(-frame.angular_velocity[crank, 1])


run = ns.simulate(system, duration=DURATION, step=STEP, tolerance=1e-3, scheme="projected", observe=look)
print(run)
assert run.certificate.failed == 0
assert run.steps["joint_error"].max() < 1e-10  # m or rad
assert run.steps["penetration"][1:].max() < 1e-9  # m

limit = system.joints.table.upper[-1]
mean = 0.5 * (np.array(speed[1:]) + speed[:-1])
work = STEP * np.array(torque) @ mean
energy = run.steps["kinetic_energy"] + run.steps["potential_energy"]
print(f"torque up to {max(torque):.3f} N·m of {limit:.3f} N·m, work {work:.3f} J")
print(f"revolutions of the crank {STEP * mean.sum() / (2 * np.pi):.3f}")
assert max(torque) <= limit * (1.0 + 1e-9)

# Work of the motor minus the change of energy is dissipated in the contacts: it is nonnegative.
heat = work - (energy[-1] - energy[0])
print(f"energy changed by {energy[-1] - energy[0]:.3f} J, heat of friction and impacts {heat:.3f} J")
assert heat > 0.0
