"""CPU time of a step of small scenes, beside MuJoCo's.

    python benchmarks/small_scenes.py                     # all scenes, about a minute
    python benchmarks/small_scenes.py ball wall --steps 500

Both engines do the same scene at the same step, one step a call and a hundred steps a call; the best of
several repeats counts, and repeats of both engines take turns. Options are the defaults of both; MuJoCo's are
printed. Beside the times stands the residual of the exact law in the last step, relative (1: as wrong as no
impulses at all): the natural map of Coulomb's law with the contacts, impulses and velocities of the engine
itself. Where an impulse acts, any normal speed between a stop and the closing of the gap is taken as right.
For mechanisms it is the largest opening of a joint in m; MuJoCo's trees of joints have none.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec

import numpy as np

import nonsmooth as ns
from _bench import machine
from nonsmooth.problem.certificate import relative_residual

STEP = 0.002
_HALF = 0.1
_FRICTION = 0.5


@dataclass(frozen=True)
class Scene:
    """A scene for both engines."""

    system: Callable[[], ns.System]
    xml: str
    limit: float
    """Allowed ratio of the times."""


def _floor() -> ns.System:
    system = ns.System()
    system.add_material("all", friction=_FRICTION)
    system.add_plane(material="all")
    return system


def _bodies(shape: str, places: list[tuple[float, float, float]]) -> Scene:
    """Spheres or cubes of 1 kg on a floor."""

    def build() -> ns.System:
        system = _floor()
        for place in places:
            if shape == "sphere":
                system.add_sphere(_HALF, mass=1.0, position=place, material="all")
            else:
                system.add_box((2 * _HALF,) * 3, mass=1.0, position=place, material="all")
        return system

    size = f"{_HALF}" if shape == "sphere" else f"{_HALF} {_HALF} {_HALF}"
    bodies = "".join(
        f'<body pos="{x} {y} {z}"><freejoint/><geom type="{shape}" size="{size}" mass="1"/></body>'
        for x, y, z in places
    )
    return Scene(build, _world(f'<geom type="plane" size="9 9 1"/>{bodies}'), 1.5)


def _world(body: str, more: str = "") -> str:
    return (
        f'<mujoco><option timestep="{STEP}"/><default><geom friction="{_FRICTION} 0 0"/></default>'
        f"<worldbody>{body}</worldbody>{more}</mujoco>"
    )


def _wall() -> list[tuple[float, float, float]]:
    """Ten rows of five cubes, every other row moved by half a cube."""
    return [
        (2 * _HALF * (k + 0.5 * (row % 2)), 0.0, _HALF * (1 + 2 * row)) for row in range(10) for k in range(5)
    ]


def _chain(links: int) -> Scene:
    """Rods of 0.1 m that hang from a hinge, begun horizontally."""

    def build() -> ns.System:
        system, last = ns.System(), None
        for k in range(links):
            body = system.add_box((0.1, 0.02, 0.02), mass=0.1, position=(0.1 * k + 0.05, 0, 0))
            system.add_joint(ns.joints.Revolute(last, body, point=(0.1 * k, 0, 0), axis=(0, 1, 0)))
            last = body
        return system

    link = (
        '<body pos="{} 0 0"><joint type="hinge" axis="0 1 0"/><geom type="box" size="0.05 0.01 0.01" '
        'pos="0.05 0 0" mass="0.1" contype="0" conaffinity="0"/>'
    )
    tree = "".join(link.format(0.1 if k else 0.0) for k in range(links)) + "</body>" * links
    return Scene(build, _world(tree), 3.0)


def _slider_crank() -> Scene:
    """A crank of 0.1 m turns, a rod of 0.3 m moves a slider."""

    def build() -> ns.System:
        system = ns.System()
        crank = system.add_box(
            (0.1, 0.02, 0.02), mass=0.1, position=(0.05, 0, 0), angular_velocity=(0, 0, 10.0)
        )
        rod = system.add_box((0.3, 0.02, 0.02), mass=0.3, position=(0.25, 0, 0))
        slider = system.add_box((0.05,) * 3, mass=0.5, position=(0.4, 0, 0))
        up = (0, 0, 1)
        system.add_joint(ns.joints.Revolute(None, crank, point=(0, 0, 0), axis=up))
        system.add_joint(ns.joints.Revolute(crank, rod, point=(0.1, 0, 0), axis=up))
        system.add_joint(ns.joints.Revolute(rod, slider, point=(0.4, 0, 0), axis=up))
        system.add_joint(ns.joints.Prismatic(None, slider, point=(0.4, 0, 0), axis=(1, 0, 0)))
        return ns.assemble(system)

    free = 'contype="0" conaffinity="0"'
    tree = (
        '<body><joint name="crank" type="hinge" axis="0 0 1"/>'
        f'<geom type="box" size="0.05 0.01 0.01" pos="0.05 0 0" mass="0.1" {free}/>'
        '<body name="rod" pos="0.1 0 0"><joint type="hinge" axis="0 0 1"/>'
        f'<geom type="box" size="0.15 0.01 0.01" pos="0.15 0 0" mass="0.3" {free}/></body></body>'
        '<body name="slider" pos="0.4 0 0"><joint type="slide" axis="1 0 0"/>'
        f'<geom type="box" size="0.025 0.025 0.025" mass="0.5" {free}/></body>'
    )
    more = '<equality><connect body1="slider" body2="rod" anchor="0 0 0"/></equality>'
    return Scene(build, _world(tree, more), 3.0)


def _table() -> Scene:
    """A board on four legs, five bodies of which four are fixed to the first."""
    legs = [(x, y) for x in (-0.4, 0.4) for y in (-0.25, 0.25)]

    def build() -> ns.System:
        system = _floor()
        board = system.add_box((1.0, 0.6, 0.04), mass=8.0, position=(0, 0, 0.72), material="all")
        for x, y in legs:
            leg = system.add_box((0.05, 0.05, 0.7), mass=1.0, position=(x, y, 0.35), material="all")
            system.add_joint(ns.joints.Fixed(board, leg, point=(x, y, 0.7)))
        return system

    tree = (
        '<geom type="plane" size="9 9 1"/><body pos="0 0 0.72"><freejoint/>'
        '<geom type="box" size="0.5 0.3 0.02" mass="8"/>'
        + "".join(
            f'<body pos="{x} {y} -0.37"><geom type="box" size="0.025 0.025 0.35" mass="1"/></body>'
            for x, y in legs
        )
        + "</body>"
    )
    return Scene(build, _world(tree), 3.0)


SCENES: dict[str, Callable[[], Scene]] = {
    "ball": lambda: _bodies("sphere", [(0, 0, _HALF)]),
    "balls-9": lambda: _bodies("sphere", [(0.3 * (k % 3), 0.3 * (k // 3), _HALF) for k in range(9)]),
    "stack-5": lambda: _bodies("box", [(0, 0, _HALF * (1 + 2 * k)) for k in range(5)]),
    "stack-20": lambda: _bodies("box", [(0, 0, _HALF * (1 + 2 * k)) for k in range(20)]),
    "wall": lambda: _bodies("box", _wall()),
    "pendulum": lambda: _chain(2),
    "chain": lambda: _chain(100),
    "slider-crank": _slider_crank,
    "table": _table,
}


class Ours:
    """This library, with default options."""

    def __init__(self, scene: Scene) -> None:
        self.simulation = ns.Simulation(scene.system(), step=STEP)

    def steps(self, count: int) -> None:
        self.simulation.step(count)

    def one_by_one(self, count: int) -> None:
        step = self.simulation.step
        for _ in range(count):
            step()

    def residual(self) -> float:
        """Of the certificate, or the opening of the joints."""
        frame = self.simulation.step()
        return frame.numbers.get("joint_error", frame.residual)


class Mujoco:
    """MuJoCo, with default options."""

    def __init__(self, scene: Scene) -> None:
        import mujoco

        self.mujoco = mujoco
        self.model = mujoco.MjModel.from_xml_string(scene.xml)
        self.data = mujoco.MjData(self.model)
        if self.model.njnt and mujoco.mj_id2name(self.model, mujoco.mjtObj.mjOBJ_JOINT, 0) == "crank":
            self.data.qvel[:2] = 10.0, -10.0 * 4.0 / 3.0

    def steps(self, count: int) -> None:
        self.mujoco.mj_step(self.model, self.data, count)

    def one_by_one(self, count: int) -> None:
        step, model, data = self.mujoco.mj_step, self.model, self.data
        for _ in range(count):
            step(model, data)

    def residual(self) -> float:
        """Of Coulomb's law in one more step, for free bodies; see the module. 0 without contacts."""
        model, data = self.model, self.data
        old, quaternion = data.qvel.copy(), data.qpos.copy()
        self.mujoco.mj_step(model, data)
        count = data.ncon
        if count == 0 or model.nv != 6 * (model.nbody - 1):
            return np.nan
        new = data.qvel.reshape(-1, 6)
        frame = np.array(data.contact.frame[:count]).reshape(-1, 3, 3)
        pairs = model.geom_bodyid[data.contact.geom[:count]].astype(np.int64) - 1
        impulse, force = np.empty((count, 3)), np.zeros(6)
        for i in range(count):
            self.mujoco.mj_contactForce(model, data, i, force)
            impulse[i] = STEP * force[:3]
        # geoms lie at their bodies' centres, and the step began at these positions
        place, turn = quaternion.reshape(-1, 7)[:, :3], quaternion.reshape(-1, 7)[:, 3:]
        rows = np.zeros((count, 2, 3, 6))
        for side, sign in ((0, -1.0), (1, 1.0)):
            moving = np.flatnonzero(pairs[:, side] >= 0)
            body = pairs[moving, side]
            arm = data.contact.pos[moving] - place[body]
            rows[moving, side, :, :3] = sign * frame[moving]
            torque = np.cross(arm[:, None], frame[moving])
            for k, number in enumerate(body):  # angular velocities are in the body frame
                axes = np.empty(9)
                self.mujoco.mju_quat2Mat(axes, turn[number])
                rows[moving[k], side, :, 3:] = sign * torque[k] @ axes.reshape(3, 3)
        mass = np.concatenate([np.repeat(model.body_mass[1:, None], 3, 1), model.body_inertia[1:]], axis=1)
        u = np.einsum("cbij,cbj->ci", rows, new[np.maximum(pairs, 0)])
        closing = -np.array(data.contact.dist[:count]) / STEP
        speed = np.clip(u[:, 0], np.minimum(closing, 0.0), np.maximum(closing, 0.0))
        bias = np.zeros((count, 3))
        bias[:, 0] = -np.where(impulse[:, 0] > 0.0, speed, np.minimum(closing, 0.0))
        before = old.reshape(-1, 6) + STEP * np.array([0, 0, -9.81, 0, 0, 0])
        problem = ns.ContactProblem(
            mass=mass, jacobian=rows, bodies=pairs, momentum=(before * mass).ravel(), bias=bias.ravel(),
            friction=_FRICTION,
        )  # fmt: skip
        return relative_residual(problem, impulse, u + bias)


def cpu(work: Callable[[int], None], count: int) -> float:
    """CPU time of a step in µs."""
    began = time.process_time()
    work(count)
    return (time.process_time() - began) / count * 1e6


def measure(scene: Scene, steps: int, repeats: int, *, beside: bool) -> tuple[list[float], list[float]]:
    """Best CPU times in µs, one by one and a hundred a call, and residuals, of one or both engines."""
    engines = [Ours(scene), Mujoco(scene)] if beside else [Ours(scene)]
    best = [np.inf, np.inf, np.nan, np.nan] if not beside else [np.inf] * 4
    for engine in engines:
        engine.steps(min(steps, 50))
    for _ in range(repeats):
        for place, engine in enumerate(engines):
            best[2 * place] = min(best[2 * place], cpu(engine.one_by_one, steps))
            best[2 * place + 1] = min(best[2 * place + 1], cpu(engine.steps, steps))
    return best, [*(engine.residual() for engine in engines), np.nan]


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scenes", nargs="*", help=f"of {', '.join(SCENES)}; all by default")
    parser.add_argument("--steps", type=int, default=100, help="in each repeat")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args(arguments)
    unknown = set(options.scenes) - set(SCENES)
    if unknown:
        parser.error(f"no scene {', '.join(sorted(unknown))}: choose of {', '.join(SCENES)}")
    beside = find_spec("mujoco") is not None
    print(machine())
    if beside:
        print(f"MuJoCo {version('mujoco')}: Newton, pyramidal cone, default softness")
    else:
        print("MuJoCo is not installed: pip install mujoco")
    print(f"CPU µs a step of {STEP} s\n")
    print(
        f"{'scene':<13}{'ours: 1':>9}{'100':>9}{'MuJoCo: 1':>11}{'100':>9}{'ratio: 1':>10}{'100':>7}"
        f"{'at most':>9}{'residual':>11}{'MuJoCo':>9}"
    )
    for name in options.scenes or SCENES:
        scene = SCENES[name]()
        best, residual = measure(scene, options.steps, options.repeats, beside=beside)
        print(
            f"{name:<13}{best[0]:9.1f}{best[1]:9.1f}{best[2]:11.1f}{best[3]:9.1f}{best[0] / best[2]:10.2f}"
            f"{best[1] / best[3]:7.2f}{scene.limit:9.1f}{residual[0]:11.1e}{residual[1]:9.1e}",
            flush=True,
        )


if __name__ == "__main__":
    main()
