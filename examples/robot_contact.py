"""A one-legged robot, modelled in Pinocchio, lands on the floor and stands with Coulomb friction.

      ▣   trunk, 4 kg, on a vertical rail
     ╱    thigh, 0.3 m, hip torque
     ╲    shank, 0.3 m, knee torque
──────●── floor, μ = 0.6
"""

import numpy as np

import nonsmooth as ns
from nonsmooth.adapters import RobotContact
from nonsmooth.adapters.pinocchio import contact_problem

try:
    import pinocchio as pin
except ImportError:
    raise SystemExit("This example needs Pinocchio: pip install pin") from None

LENGTH, STEP = 0.3, 0.001  # m, s

model = pin.Model()
joint = 0
for name, kind, offset, mass, along in (
    ("rail", pin.JointModelPZ(), 0.0, 4.0, 0.0),
    ("hip", pin.JointModelRY(), 0.0, 1.0, 0.5 * LENGTH),
    ("knee", pin.JointModelRY(), LENGTH, 0.5, 0.5 * LENGTH),
):
    joint = model.addJoint(joint, kind, pin.SE3(np.eye(3), np.array([0.0, 0.0, -offset])), name)
    inertia = pin.Inertia(mass, np.array([0.0, 0.0, -along]), np.eye(3) * mass * LENGTH**2 / 12.0)
    model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
end = pin.SE3(np.eye(3), np.array([0.0, 0.0, -LENGTH]))
model.addFrame(pin.Frame("foot", joint, 0, end, pin.FrameType.OP_FRAME))
data = model.createData()

pose = np.array([0.0, 0.5, -1.0])  # m, rad, rad: knee bent, foot below the trunk
q = np.array([2.0 * LENGTH * np.cos(0.5) + 0.05, 0.5, -1.0])  # the foot is 0.05 m above the floor
v = np.zeros(model.nv)
lowest, load = np.inf, 0.0
for _ in range(1000):
    pin.computeAllTerms(model, data, q, v)
    height = (data.oMi[joint] * end).translation[2]
    torque = np.concatenate([[0.0], 400.0 * (pose - q)[1:] - 10.0 * v[1:]])  # hip and knee hold the pose
    contact = RobotContact("foot", normal=(0, 0, 1), friction=0.6, gap=height)
    problem = contact_problem(model, data, [contact], velocity=v, torque=torque, step=STEP)
    solution = ns.solve(problem, tolerance=1e-10)
    v = solution.velocity
    q = pin.integrate(model, q, STEP * v)
    lowest, load = min(lowest, height), solution.impulses[0] / STEP

weight = 9.81 * 5.5
print(f"largest penetration of the foot {1e6 * -lowest:.2f} µm, load {load:.2f} N of {weight:.2f} N")
print(f"friction {np.hypot(*solution.impulses[1:]) / solution.impulses[0]:.3f} of the load, at most 0.6")
assert lowest > -1e-5
np.testing.assert_allclose(load, weight, rtol=1e-3)
np.testing.assert_allclose(v, 0.0, atol=1e-3)
