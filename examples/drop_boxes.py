"""Boxes fall on each other and come to rest as a stack; the floor carries their weight.

Three cubes of 1 kg start above each other with gaps of 5 cm; impacts are inelastic.
"""

import numpy as np

import nonsmooth as ns

EDGE, GAP, MASS, STEP = 0.2, 0.05, 1.0, 0.005

system = ns.System()
system.add_material("wood", friction=0.4)
system.add_plane(material="wood", name="floor")
cubes = [
    system.add_box(
        (EDGE, EDGE, EDGE), mass=MASS, position=(0, 0, (k + 0.5) * EDGE + (k + 1) * GAP), material="wood"
    )
    for k in range(3)
]

force = ns.Sensor(lambda frame: frame.force_on("floor"))
run = ns.simulate(system, duration=1.0, step=STEP, observe=force)
print(run)
assert run.certificate.failed == 0

# The stack is at rest; the overlap is that of the tolerance, not of a contact spring.
heights = run.system.position[cubes, 2]
print("heights of the centres in m:", heights.round(5))
np.testing.assert_allclose(heights, [0.1, 0.3, 0.5], atol=1e-4)
assert run.steps["largest_speed"][-1] < 1e-3
assert run.certificate.largest_penetration < 1e-4

# The floor carries the weight at the end, and in the mean over the run: it has absorbed the momentum m g t
# of gravity.
load, weight = -force.values[:, 2], 3 * MASS * 9.81
print(f"force on the floor at the end {load[-1]:.3f} N, mean {np.mean(load):.3f} N, weight {weight:.3f} N")
np.testing.assert_allclose(load[-1], weight, rtol=2e-3)
np.testing.assert_allclose(np.mean(load), weight, rtol=2e-3)

# Impacts dissipate the potential energy: m g times falls by 1, 2 and 3 gaps.
energy = run.steps["kinetic_energy"] + run.steps["potential_energy"]
print(f"dissipated {energy[0] - energy[-1]:.3f} J of {MASS * 9.81 * 6 * GAP:.3f} J potential energy")
np.testing.assert_allclose(energy[0] - energy[-1], MASS * 9.81 * 6 * GAP, rtol=5e-3)
