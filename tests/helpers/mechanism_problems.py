"""Problems of bars and joints that tests share: chains, doors, nets of four bars, trees."""

import numpy as np

from nonsmooth.problem.contact_problem import ContactProblem

STEP, GRAVITY = 1e-3, 9.81


def cross(arm):
    x, y, z = arm
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def revolute(arm_a, arm_b):
    """Five rows (5, 2, 6) of a joint about y, for velocities and angular velocities in the world's frame."""
    rows = np.zeros((5, 2, 6))
    for side, (sign, arm) in enumerate([(-1.0, arm_a), (1.0, arm_b)]):
        rows[:3, side, :3], rows[:3, side, 3:] = sign * np.eye(3), -sign * cross(arm)
        rows[3, side, 3] = rows[4, side, 5] = sign
    return rows


def mechanism(joints, centres, mass, *, momentum=None, bounds=None, contacts=None, **options):
    """Bars with joints about y: (a, b, point) each, −1 for ground; `bounds` adds a row about each axis."""
    bars, centres = len(centres), np.asarray(centres, dtype=float)
    blocks = np.concatenate(
        [np.full((bars, 3), 1.0) * np.reshape(mass, (-1, 1)), np.full((bars, 3), 0.01)], axis=1
    )
    rows, pairs, limits = [], [], []
    for a, b, point in joints:
        arms = [point - centres[body] if body >= 0 else np.zeros(3) for body in (a, b)]
        own = revolute(*arms)
        if bounds is not None:
            axis = np.zeros((1, 2, 6))
            axis[0, :, 4] = -1.0, 1.0
            own = np.concatenate([own, axis])
        own[:, [body < 0 for body in (a, b)]] = 0.0
        rows.append(own)
        pairs += [[a, b]] * len(own)
        limits += [[-np.inf, np.inf]] * 5 + ([list(bounds)] if bounds is not None else [])
    if momentum is None:
        momentum = np.zeros((bars, 6))
        momentum[:, 2] = -STEP * GRAVITY * blocks[:, 0]
    jacobian, bodies = contacts if contacts else (np.zeros((0, 2, 3, 6)), np.zeros((0, 2), dtype=int))
    return ContactProblem(
        mass=blocks, jacobian=jacobian, bodies=bodies, friction=np.full(len(bodies), 0.5), momentum=momentum,
        joint_jacobian=np.concatenate(rows), joint_bodies=np.array(pairs), joint_bounds=np.array(limits),
        **options,
    )  # fmt: skip


def chain(links, *, bend=0.0, masses=1.0, closed=False, moving=False, bounds=None):
    """Links of 0.2 m that hang from ground, straight down where `bend` is zero."""
    generator = np.random.default_rng(links)
    angle = bend * generator.uniform(-1.0, 1.0, links)
    points = np.zeros((links + 1, 3))
    points[1:, 0], points[1:, 2] = 0.2 * np.cumsum(np.sin(angle)), -0.2 * np.cumsum(np.cos(angle))
    joints = [(i - 1, i, points[i]) for i in range(links)] + ([(links - 1, -1, points[-1])] if closed else [])
    momentum = generator.standard_normal((links, 6)) if moving else None
    centres = 0.5 * (points[1:] + points[:-1])
    return mechanism(joints, centres, masses, momentum=momentum, bounds=bounds)


def door(hinges, *, noise=0.0):
    """One body on several hinges: 5 (hinges − 1) rows too many."""
    points = np.zeros((hinges, 3))
    points[:, 1] = np.arange(hinges)
    bias = noise * np.random.default_rng(1).uniform(-1.0, 1.0, 5 * hinges)
    return mechanism([(-1, 0, point) for point in points], [[0.5, 1.0, 0.0]], 20.0, joint_bias=bias)


def four_bars(rows, columns):
    """A net of squares, with a joint between the first bar at a node and each other one; the top is fixed."""
    nodes = [(i, j) for i in range(rows + 1) for j in range(columns + 1)]
    place = {node: np.array([node[1] + 0.2 * node[0], 0.0, -float(node[0])]) for node in nodes}
    bars = [(n, (n[0], n[1] + 1)) for n in nodes if n[1] < columns]
    bars += [(n, (n[0] + 1, n[1])) for n in nodes if n[0] < rows]
    joints = []
    for node in nodes:
        here = [k for k, ends in enumerate(bars) if node in ends]
        joints += [(here[0], other, place[node]) for other in here[1:]]
        joints += [(-1, here[0], place[node])] if node[0] == 0 else []
    return mechanism(joints, [0.5 * (place[a] + place[b]) for a, b in bars], 1.0)


def tree(arms):
    """A moving hub with arms of three links, and a pendulum beside it."""
    centres, joints = [np.zeros(3)], [(-1, 0, np.zeros(3))]
    for arm in range(arms):
        for link in range(3):
            last = 0 if link == 0 else len(centres) - 1
            joints.append((last, len(centres), np.array([1.0 + arm, 0.1 * arm, -float(link)])))
            centres.append(np.array([1.2 + arm, 0.1 * arm, -link - 0.5]))
    joints.append((-1, len(centres), np.array([-5.0, 0.0, 0.0])))
    return mechanism(joints, [*centres, np.array([-5.5, 0.0, 0.0])], 1.0)


def chain_on_floor(links, law="coulomb", bounds=None):
    """A chain along x on a floor, a contact under each link, thrown sideways and along."""
    points = np.zeros((links + 1, 3))
    points[:, 0] = 0.2 * np.arange(links + 1)
    centres = 0.5 * (points[1:] + points[:-1])
    rows = np.zeros((links, 2, 3, 6))
    arm = cross([0.0, 0.0, -0.05])
    frame = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    rows[:, 1, :, :3], rows[:, 1, :, 3:] = frame, -frame @ arm
    momentum = np.zeros((links, 6))
    momentum[:, 0], momentum[:, 1], momentum[:, 2] = 0.02, 0.004 * np.arange(links) / links, -STEP * GRAVITY
    pairs = np.stack([np.full(links, -1), np.arange(links)], axis=1)
    joints = [(i - 1, i, points[i]) for i in range(1, links)]
    return mechanism(joints, centres, 1.0, momentum=momentum, contacts=(rows, pairs), bounds=bounds, law=law)
