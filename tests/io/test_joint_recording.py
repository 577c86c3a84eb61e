"""Recorded runs with joints: what joints there were and what they did, and resuming with the same bits."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import nonsmooth as ns
from nonsmooth.errors import FileFormatError, OptionError
from nonsmooth.io import Checkpoint, read_checkpoint, write_checkpoint
from nonsmooth.io.runs.checkpoint import checkpoint_path
from nonsmooth.model import quaternions

STEP = 0.01
Z = (0.0, 0.0, 1.0)


def winch() -> ns.System:
    """A motor winds a drum against a spring, a rope holds a ball on the floor, a pendulum hits its stop."""
    system = ns.System(gravity=(0.0, 0.0, -9.81))
    system.add_plane(name="floor")
    system.add_cylinder(0.1, 0.2, mass=1.0, position=(0, 0, 1.0), name="drum")
    system.add_sphere(0.1, mass=1.0, position=(1, 0, 0.1), velocity=(1, 0, 0), name="ball")
    system.add_sphere(0.05, mass=0.5, position=(-1, 0, 1.0), name="bob")
    system.add_joint(ns.joints.Revolute(None, "drum", point=(0, 0, 1), axis=Z, name="axle"))
    system.add_joint(ns.joints.Strut(None, "ball", point_a=(0.9, 0.2, 0.1), anchor_b=(0, 0, 0), name="rope"))
    system.add_joint(ns.joints.Revolute(None, "bob", point=(-1.3, 0, 1.0), axis=(0, 1, 0), name="hinge"))
    system.add_spring("axle", stiffness=0.02, damping=1e-3)
    system.add_motor("axle", speed=9.0, limit=0.3)
    system.add_limit("rope", upper=0.5)
    system.add_limit("hinge", upper=1.0)
    system.add_joint_friction("hinge", 0.05)
    return system


def crank() -> ns.System:
    """A slider-crank whose crank turns at a given speed."""
    system = ns.System(gravity=(0.0, 0.0, -9.81))
    system.add_box((0.2, 0.02, 0.02), mass=0.3, position=(0.1, 0, 0), name="crank")
    system.add_box((0.5, 0.02, 0.02), mass=0.5, position=(0.45, 0, 0), name="rod")
    system.add_box((0.1, 0.1, 0.1), mass=1.0, position=(0.7, 0, 0), name="slider")
    y = (0.0, 1.0, 0.0)
    system.add_joint(ns.joints.Revolute(None, "crank", point=(0, 0, 0), axis=y, name="shaft"))
    system.add_joint(ns.joints.Revolute("crank", "rod", point=(0.2, 0, 0), axis=y, name="pin"))
    system.add_joint(ns.joints.Spherical("rod", "slider", point=(0.7, 0, 0)))
    system.add_joint(ns.joints.Prismatic(None, "slider", point=(0.7, 0, 0), axis=(1, 0, 0), name="guide"))
    system.add_driver("shaft", ns.joints.Sine(0.7, 1.0, offset=0.1, phase=-math.asin(0.1 / 0.7)))
    return system


def record(system: ns.System, path: Path, steps: int, **options: Any) -> ns.stepping.Run:
    choice = {"every": 3, "joints": True} | options.pop("recording", {})
    return ns.simulate(
        system,
        duration=steps * STEP,
        step=STEP,
        record=ns.Recording(path, **choice),
        tolerance=1e-8,
        **options,
    )


def content(path: Path) -> dict[str, Any]:
    """All that a file holds, bit for bit."""
    found: dict[str, Any] = {}

    def visit(name: str, node: Any) -> None:
        found[f"{name} attributes"] = {key: bytes(node.attrs[key]) for key in node.attrs}
        if isinstance(node, h5py.Dataset) and name != "settings":
            found[name] = (node.shape, node.dtype, np.asarray(node[()]).tobytes())

    with h5py.File(path, "r") as file:
        visit("/", file)
        file.visititems(visit)
    return found


# ---- what joints there were -----------------------------------------------------------------------------


def test_the_joints_are_kept(tmp_path: Path) -> None:
    system = winch()
    record(system, tmp_path / "run.h5", 3)
    with ns.Trajectory(tmp_path / "run.h5") as trajectory:
        joints = trajectory.joints
    assert len(joints) == 3
    assert joints.types == ("Revolute", "Strut", "Revolute")
    assert joints.names == {"axle": 0, "rope": 1, "hinge": 2}
    assert joints.bodies.tolist() == [[-1, 1], [-1, 2], [-1, 3]]
    table = system.joints.table
    assert joints.row_labels == table.labels
    assert joints.row_units == table.units
    assert joints.row_joint.tolist() == table.joint.tolist()
    np.testing.assert_allclose(joints.frame[2][:, 2], (0, 1, 0), atol=1e-15)
    assert joints.elements == (
        "Spring on the angle of joint 'axle': stiffness = 0.02, damping = 0.001",
        "SpeedMotor on the angle of joint 'axle': speed = 9.0, limit = 0.3",
        "Limit on the length of joint 'rope': upper = 0.5",
        "Limit on the angle of joint 'hinge': upper = 1.0",
        "Friction on the angle of joint 'hinge': bound = 0.05",
    )


def test_anchors_and_frames_are_those_of_the_bodies(tmp_path: Path) -> None:
    """With the recorded state they give where joints are in the world, as the system itself says it."""
    run = record(crank(), tmp_path / "run.h5", 30)
    system = run.system
    with ns.Trajectory(tmp_path / "run.h5") as trajectory:
        joints, last = trajectory.joints, trajectory.frame(-1)
    assert last.position is not None
    assert last.quaternion is not None
    points = system.joints.anchors(last.position, last.quaternion)
    _, axes = system.joints.frames(last.position, last.quaternion)
    for j, (a, b) in enumerate(joints.bodies):
        for side, body in enumerate((a, b)):
            world = joints.anchor[j, side]
            if body >= 0:
                world = last.position[body] + quaternions.rotate(last.quaternion[body], world)
            np.testing.assert_allclose(world, points[j, side], atol=1e-14)
        frame = joints.frame[j]
        if a >= 0:
            frame = quaternions.matrix(last.quaternion[a]) @ frame
        np.testing.assert_allclose(frame, axes[j], atol=1e-14)


def test_elements_say_nothing_that_differs_between_runs(tmp_path: Path) -> None:
    class Bump:
        def value(self, t: float) -> float:
            return 0.0

        def rate(self, t: float) -> float:
            return 0.0

    system = winch()
    system.add_driver("hinge", lambda t: 0.0)
    system.add_motor("rope", force=lambda t: 1.0)
    other = winch()
    other.add_driver("hinge", Bump())
    other.add_motor("rope", force=np.float64(2.0))
    said = []
    for number, each in enumerate((system, other)):
        record(each, tmp_path / f"{number}.h5", 0)
        with ns.Trajectory(tmp_path / f"{number}.h5") as trajectory:
            said.append([text.split(": ")[1] for text in trajectory.joints.elements[-2:]])
    assert said == [
        ["motion = a function of time", "force = a function of time"],
        ["motion = Bump", "force = 2.0"],
    ]


def test_a_run_without_joints_says_so(tmp_path: Path) -> None:
    record(ns.scenes.rolling_ball(), tmp_path / "run.h5", 3)
    with ns.Trajectory(tmp_path / "run.h5") as trajectory:
        assert len(trajectory.joints) == 0
        assert trajectory.joints.names == {}
        assert not trajectory.has_reactions
        assert "joint_error" not in trajectory.steps
        with pytest.raises(OptionError, match=r"reactions were not recorded in .*: the run has no joints"):
            trajectory.reactions(0)
    with h5py.File(tmp_path / "run.h5") as file:
        assert not {"joints", "joint_rows", "reactions"} & set(file)


def test_every_dataset_says_its_unit(tmp_path: Path) -> None:
    record(winch(), tmp_path / "run.h5", 3)
    with h5py.File(tmp_path / "run.h5") as file:
        silent = []
        file.visititems(
            lambda name, node: (
                silent.append(name) if isinstance(node, h5py.Dataset) and not node.attrs.get("unit") else None
            )
        )
    assert silent == ["settings"]


# ---- what joints did ------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["stabilised", "projected", "rattle"])
@pytest.mark.parametrize("build", [winch, crank])
def test_reactions_are_those_of_the_frames(
    build: Callable[[], ns.System], scheme: str, tmp_path: Path
) -> None:
    seen = {0: None}

    def observe(frame: ns.stepping.Frame) -> None:
        if frame.index % 3 == 0:
            found = frame.reactions()
            seen[frame.index] = (found.force.copy(), found.torque.copy(), found.rows)

    record(build(), tmp_path / "run.h5", 20, scheme=scheme, observe=observe)
    with ns.Trajectory(tmp_path / "run.h5") as trajectory:
        assert trajectory.indices.tolist() == list(seen)
        first = trajectory.reactions(0)
        assert np.isnan(first.force).all()
        assert np.isnan(first.torque).all()
        assert np.isnan(first.row_force).all()
        for number, wanted in enumerate(seen.values()):
            if wanted is not None:
                found = trajectory.reactions(number)
                np.testing.assert_array_equal(found.force, wanted[0])
                np.testing.assert_array_equal(found.torque, wanted[1])
                assert found.rows.keys() == wanted[2].keys()
                for label, values in wanted[2].items():
                    np.testing.assert_array_equal(found.rows[label], values)


def test_a_hanging_weight(tmp_path: Path) -> None:
    """Its pin pulls it upwards with m g; the joint's frame, fixed in the ground, takes that to the world."""
    system = ns.System()
    system.add_sphere(0.1, mass=3.0, position=(0, 0, -1.0), name="weight")
    system.add_joint(ns.joints.Revolute(None, "weight", point=(0, 0, 0), axis=(0, 1, 0), name="pin"))
    run = record(system, tmp_path / "run.h5", 6)
    with ns.Trajectory(tmp_path / "run.h5") as trajectory:
        force, torque = trajectory.reactions(-1).of("pin")
        frame = trajectory.joints.frame[0]
        np.testing.assert_allclose(frame @ force, (0, 0, 3.0 * 9.81), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(torque, 0.0, atol=1e-9)
        assert trajectory.reactions(-1).of(0)[0].tolist() == force.tolist()
        with pytest.raises(OptionError, match=r"joint 'pen' was not recorded: there are 1, .* name are pin"):
            trajectory.reactions(-1).of("pen")
        assert trajectory.steps["joint_error"].max() == run.steps["joint_error"].max()


def test_they_are_kept_on_request_only(tmp_path: Path) -> None:
    record(winch(), tmp_path / "run.h5", 3, recording={"joints": False})
    with ns.Trajectory(tmp_path / "run.h5") as trajectory:
        assert len(trajectory.joints) == 3
        with pytest.raises(OptionError, match=r"reactions were not recorded in .*: record with joints=True"):
            trajectory.reactions(0)
    with pytest.raises(OptionError, match="joints of a recording is 'yes': give True or False"):
        ns.Recording("run.h5", joints="yes")  # type: ignore[arg-type]


def test_struts_alone_have_no_reactions(tmp_path: Path) -> None:
    system = ns.System()
    system.add_sphere(0.1, mass=1.0, position=(1, 0, 0))
    system.add_joint(ns.joints.Strut(None, 0, point_a=(0, 0, 0), point_b=(1, 0, 0)))
    system.add_spring(0, stiffness=10.0)
    record(system, tmp_path / "run.h5", 6)
    with ns.Trajectory(tmp_path / "run.h5") as trajectory:
        assert trajectory.joints.types == ("Strut",)
        assert not trajectory.has_reactions


# ---- going on -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["stabilised", "projected", "rattle"])
@pytest.mark.parametrize("build", [winch, crank])
def test_a_resumed_run_has_the_same_bits(build: Callable[[], ns.System], scheme: str, tmp_path: Path) -> None:
    """After half of it the drum has turned more than once, so that the spring's turns must be remembered."""
    whole, broken, steps = tmp_path / "whole.h5", tmp_path / "broken.h5", 200
    straight = record(build(), whole, steps, scheme=scheme)
    half = record(build(), broken, steps // 2, scheme=scheme)
    if build is winch:
        assert half.system.coordinate("axle") > 2.0 * math.pi
        assert half.steps["contacts"].max() > 0.0
    resumed = record(build(), broken, steps, scheme=scheme, resume=True)
    assert content(broken) == content(whole)
    assert resumed.system.position.tobytes() == straight.system.position.tobytes()
    assert resumed.steps.table().tobytes() == straight.steps.table().tobytes()
    one, two = (read_checkpoint(checkpoint_path(path)) for path in (broken, whole))
    assert one.rows == two.rows
    for name in two.memory:
        assert np.asarray(one.memory[name]).tobytes() == np.asarray(two.memory[name]).tobytes(), name


def test_a_checkpoint_keeps_impulses_and_turns(tmp_path: Path) -> None:
    run = record(winch(), tmp_path / "run.h5", 100)
    memory = read_checkpoint(tmp_path / "run.h5.checkpoint").memory
    rows = len(run.system.joints.table)
    assert np.shape(memory["joint_impulses"]) == (rows,)
    assert np.asarray(memory["joint_angles"]).tobytes() == run.system.joints.memory().tobytes()
    assert np.abs(memory["joint_impulses"]).max() > 0.0
    assert np.abs(memory["joint_angles"]).max() > 2.0 * math.pi


def moved_anchor() -> ns.System:
    system = crank()
    other = ns.System()
    for name, size, mass, x in (
        ("crank", (0.2, 0.02, 0.02), 0.3, 0.1),
        ("rod", (0.5, 0.02, 0.02), 0.5, 0.45),
        ("slider", (0.1, 0.1, 0.1), 1.0, 0.7),
    ):
        other.add_box(size, mass=mass, position=(x, 0, 0), name=name)
    for joint in system.joints:
        at = {"point": (0.0, 0.0, 0.001)} if joint.name == "shaft" else {"point": joint.point}
        axis = {} if joint.axis is None else {"axis": joint.axis}
        other.add_joint(type(joint)(joint.a, joint.b, **at, **axis, name=joint.name))
    other.add_driver("shaft", system.joints.elements[0].motion)
    return other


CHANGES: dict[str, Callable[[ns.System], Any]] = {
    "a joint more": lambda s: s.add_joint(ns.joints.Strut(None, 0, point_a=(0, 0, 1), anchor_b=(0, 0, 0))),
    "a spring": lambda s: s.add_spring("shaft", stiffness=1.0),
    "a limit": lambda s: s.add_limit("guide", lower=-9.0),
    "friction": lambda s: s.add_joint_friction("guide", 1.0),
    "a motor": lambda s: s.add_motor("guide", force=1.0),
    "passing through": lambda s: s.ignore_contacts("crank", "slider"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_other_joints_are_refused(change: str, tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    record(crank(), path, 6)
    before = path.read_bytes()
    other = crank()
    CHANGES[change](other)
    with pytest.raises(OptionError, match=r"belongs to another system .*resume with what the run began with"):
        record(other, path, 9, resume=True)
    assert path.read_bytes() == before


def spring_and_driver(speed: float = 3.0, rest: float = 0.2) -> ns.System:
    system = winch()
    system.add_spring("rope", stiffness=1.0, rest=rest)
    system.add_driver("hinge", ns.joints.Ramp(speed))
    return system


@pytest.mark.parametrize(
    ("began", "goes_on", "options"),
    [
        (crank, moved_anchor, {}),
        (spring_and_driver, lambda: spring_and_driver(speed=3.1), {}),
        (spring_and_driver, lambda: spring_and_driver(rest=0.21), {}),
        (spring_and_driver, spring_and_driver, {"recording": {"joints": False}}),
        (spring_and_driver, spring_and_driver, {"scheme": "projected"}),
    ],
    ids=["anchor", "motion", "rest", "option", "scheme"],
)
def test_other_numbers_are_refused(
    began: Callable[[], ns.System], goes_on: Callable[[], ns.System], options: dict[str, Any], tmp_path: Path
) -> None:
    record(began(), tmp_path / "run.h5", 6)
    with pytest.raises(OptionError, match="resume with"):
        record(goes_on(), tmp_path / "run.h5", 9, resume=True, **options)


def test_a_spring_at_rest_where_it_was_added(tmp_path: Path) -> None:
    """Without `rest` it is the coordinate at that moment, which the bodies may have left since."""

    def build(x: float) -> ns.System:
        system = ns.System(gravity=(0, 0, 0))
        system.add_sphere(0.1, mass=1.0, position=(x, 0, 0))
        system.add_joint(ns.joints.Strut(None, 0, point_a=(0, 0, 0), anchor_b=(0, 0, 0)))
        system.add_spring(0, stiffness=1.0)
        system.position[0] = (2.0, 0, 0)
        return system

    record(build(1.0), tmp_path / "run.h5", 6)
    record(build(1.0), tmp_path / "run.h5", 9, resume=True)
    with pytest.raises(OptionError, match="belongs to another system"):
        record(build(1.1), tmp_path / "run.h5", 9, resume=True)


# ---- files of former times ------------------------------------------------------------------------------


def make_old(path: Path) -> None:
    """Take out of a recording of a run without joints what there was not before there were joints."""
    with h5py.File(path, "r+") as file:
        settings = json.loads(bytes(file["settings"][()]))
        del settings["scheme"], file["settings"]
        text = json.dumps(settings).encode()
        file.create_dataset("settings", data=text, dtype=h5py.string_dtype("utf-8", len(text)))
    new = read_checkpoint(checkpoint_path(path))
    memory = {name: value for name, value in new.memory.items() if not name.startswith("joint_")}
    memory["log"] = np.asarray(memory["log"])[:, :-1]
    write_checkpoint(checkpoint_path(path), Checkpoint(memory, new.rows, new.fingerprint))


def test_an_old_run_without_joints_goes_on(tmp_path: Path) -> None:
    heap = ns.scenes.filling(spheres=10)
    straight = record(heap, tmp_path / "whole.h5", 40)
    record(heap, tmp_path / "old.h5", 20)
    make_old(tmp_path / "old.h5")
    resumed = record(heap, tmp_path / "old.h5", 40, resume=True)
    assert content(tmp_path / "old.h5") == content(tmp_path / "whole.h5")
    assert resumed.system.position.tobytes() == straight.system.position.tobytes()
    was, now = straight.steps.table(), resumed.steps.table()
    assert was[:, :-1].tobytes() == now[:, :-1].tobytes()
    assert was[20:].tobytes() == now[20:].tobytes()
    assert np.isnan(now[:20, -1]).all()  # nobody knows


def test_an_old_run_goes_on_as_it_began(tmp_path: Path) -> None:
    heap = ns.scenes.filling(spheres=3)
    record(heap, tmp_path / "old.h5", 4)
    make_old(tmp_path / "old.h5")
    with pytest.raises(
        OptionError, match="was recorded with scheme = 'stabilised', and now it is 'projected'"
    ):
        record(heap, tmp_path / "old.h5", 6, resume=True, scheme="projected")


# ---- damage ---------------------------------------------------------------------------------------------


def read_all(trajectory: ns.Trajectory) -> None:
    for number in range(len(trajectory)):
        trajectory.reactions(number)
    assert trajectory.joints.types is not None


def test_damaged_files_never_end_in_another_error(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    path = tmp_path / "run.h5"
    record(winch(), path, 6)
    whole = np.frombuffer(path.read_bytes(), dtype=np.uint8)
    used = np.flatnonzero(whole)
    refused = 0
    for _ in range(100):
        broken = whole.copy()
        broken[rng.choice(used, size=6)] = rng.integers(256, size=6)
        path.write_bytes(broken.tobytes())
        try:
            with ns.Trajectory(path) as trajectory:
                read_all(trajectory)
        except FileFormatError:
            refused += 1
    assert refused > 30


@pytest.mark.parametrize("name", ["joints/bodies", "joints/anchor", "joints/frame", "joint_rows/joint"])
def test_a_wrong_shape_is_named(name: str, tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    record(winch(), path, 3, recording={"joints": False})
    with h5py.File(path, "r+") as file:
        values = file[name][()]
        del file[name]
        file.create_dataset(name, data=values[:-1])
    with ns.Trajectory(path) as trajectory, pytest.raises(FileFormatError, match=f"'{name}' has the shape"):
        _ = trajectory.joints
