"""Recorded runs: read is what was written, also while the run goes on, after a kill and on a full disk."""

from __future__ import annotations

import errno
import multiprocessing
import os
import shutil
import signal
import sys
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nonsmooth.collision.contacts import Contacts
from nonsmooth.errors import FileFormatError, NonsmoothError, OptionError
from nonsmooth.io import Checkpoint, Recording, Trajectory, Writer, read_checkpoint, write_checkpoint
from nonsmooth.io.runs import writer as writer_module
from nonsmooth.io.runs.compression import deflated
from nonsmooth.model import System, quaternions

NUMBERS = {"kinetic_energy": "J"}
SETTINGS = {"step": 0.01, "law": "coulomb", "duration": 1.0}


def small_system(balls: int = 3) -> System:
    """A plane, balls and one body of every other shape, two of them with names."""
    rng = np.random.default_rng(1)
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]) - 0.25
    system = System()
    system.add_material("ice", friction=0.02)
    system.add_plane(name="floor", material="ice")
    system.add_spheres(0.5, rng.normal(size=(balls, 3)), mass=2.0)
    system.add_box((1.0, 2.0, 3.0), density=1.0, position=(0, 0, 9), name="Kästchen")
    system.add_capsule(0.3, 1.7, mass=1.0, position=(1, 2, 3))
    system.add_cylinder(0.2, 0.7, mass=1.0, position=(1, 2, 4))
    system.add_ellipsoid((0.1, 0.2, 0.3), mass=1.0, position=(1, 2, 5))
    system.add_hull(rng.normal(size=(12, 3)), density=1.0, position=(7, 0, 0))
    system.add_mesh(corners, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], density=1.0, position=(9, 0, 0))
    return system


@dataclass
class Frame:
    index: int
    time: float
    step: float
    position: np.ndarray
    quaternion: np.ndarray
    linear_velocity: np.ndarray
    angular_velocity: np.ndarray
    contacts: Contacts
    impulses: np.ndarray
    residual: float
    status: str
    iterations: int
    numbers: dict[str, float]


class Stepper:
    """A stand-in for an integrator: what it does next depends on every bit of its state."""

    def __init__(self, system: System) -> None:
        self.system, self.index, self.carry = system, 0, 0.5

    def advance(self) -> Frame:
        system = self.system
        self.index += 1
        self.carry = 3.9 * self.carry * (1.0 - self.carry)  # the logistic map: chaotic
        system.linear_velocity[:] = np.sin(system.linear_velocity + 3.0 * system.position + self.carry)
        system.position[:] += 0.01 * system.linear_velocity
        system.angular_velocity[:] = np.cos(system.angular_velocity + self.carry)
        system.quaternion[:] = quaternions.normalise(system.quaternion + 0.01 * self.carry)
        c = int(self.carry * 9)
        contacts = Contacts.allocate(c)
        contacts.bodies[:] = contacts.shapes[:] = np.arange(2 * c).reshape(c, 2) % system.count
        for name, scale in (("point", 1.0), ("normal", 2.0), ("gap", 3.0)):
            values = getattr(contacts, name)
            values[:] = np.sin(scale * self.carry + np.arange(values.size)).reshape(values.shape)
        return Frame(
            self.index, 0.01 * self.index, 0.01, system.position, system.quaternion, system.linear_velocity,
            system.angular_velocity, contacts, contacts.point * self.carry, self.carry,
            "iteration limit" if self.index % 5 == 0 else "solved", self.index % 11,
            {"kinetic_energy": float(np.sum(system.linear_velocity**2))},
        )  # fmt: skip

    def memory(self) -> dict[str, Any]:
        state = ("position", "quaternion", "linear_velocity", "angular_velocity")
        return {
            "index": self.index,
            "carry": self.carry,
            **{name: getattr(self.system, name).copy() for name in state},
        }

    def restore(self, memory: dict[str, Any]) -> None:
        self.index, self.carry = memory["index"], memory["carry"]
        for name in ("position", "quaternion", "linear_velocity", "angular_velocity"):
            getattr(self.system, name)[:] = memory[name]


def run(
    path: Path,
    steps: int,
    *,
    resume: bool = False,
    pause: float = 0.0,
    at_start: bool = False,
    **options: Any,
) -> None:
    """Record a run of so many steps, or the rest of it; with a checkpoint of its start, if wanted."""
    choice = {"every": 2, "checkpoint_every": 7, "checkpoint_seconds": None} | options
    stepper = Stepper(small_system())
    with Writer(Recording(path, **choice)) as writer:
        memory = writer.begin(stepper.system, SETTINGS, numbers=NUMBERS, resume=resume, steps=steps)
        if memory is not None:
            stepper.restore(memory)
        if at_start:
            writer.checkpoint(stepper.memory())
        while stepper.index < steps:
            writer.frame(stepper.advance())
            if writer.checkpoint_due:
                writer.checkpoint(stepper.memory())
            if pause:
                time.sleep(pause)


def content(path: Path) -> dict[str, Any]:
    """All that a file holds, bit for bit."""
    found: dict[str, Any] = {}

    def visit(name: str, node: Any) -> None:
        found[f"{name} attributes"] = {key: bytes(node.attrs[key]) for key in node.attrs}
        if isinstance(node, h5py.Dataset):
            found[name] = (node.shape, node.dtype, np.asarray(node[()]).tobytes())

    with h5py.File(path, "r") as file:
        visit("/", file)
        file.visititems(visit)
    return found


def copied(frame: Frame) -> Frame:
    values = {field.name: getattr(frame, field.name) for field in fields(frame)}
    return Frame(**{k: v.copy() if isinstance(v, np.ndarray) else v for k, v in values.items()})


# ---- what is read is what was written -----------------------------------------------------------------


@pytest.mark.parametrize("compression", [True, False])
@pytest.mark.parametrize("balls", [3, 500])
def test_round_trip_is_exact(compression: bool, balls: int, tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    stepper, frames = Stepper(small_system(balls)), []
    system = stepper.system
    began = system.position.copy()
    with Writer(Recording(path, compression=compression)) as writer:
        assert writer.begin(system, SETTINGS, numbers=NUMBERS) is None
        for _ in range(300):
            frames.append(copied(stepper.advance()))
            writer.frame(frames[-1])
    with Trajectory(path) as trajectory:
        assert len(trajectory) == 301
        assert trajectory.times.tolist() == [0.0] + [frame.time for frame in frames]
        assert trajectory.indices.tolist() == list(range(301))
        first = trajectory.frame(0)
        assert first.position is not None
        assert first.position.tobytes() == began.tobytes()
        assert len(trajectory.contacts(0)) == 0
        for number, frame in enumerate(frames, start=1):
            found, contacts = trajectory.frame(number), trajectory.contacts(number)
            for name in ("position", "quaternion", "linear_velocity", "angular_velocity"):
                assert getattr(found, name).tobytes() == getattr(frame, name).tobytes()
            for name in ("bodies", "point", "normal", "gap"):
                assert getattr(contacts, name).tobytes() == getattr(frame.contacts, name).tobytes()
            assert contacts.impulse.tobytes() == frame.impulses.tobytes()
            assert np.array_equal(contacts.force, frame.impulses / 0.01)
        steps = trajectory.steps
        assert set(steps) == {"time", "step", "residual", "iterations", "status", "kinetic_energy"}
        assert steps.count == 300
        assert steps["residual"].tolist() == [frame.residual for frame in frames]
        assert steps["status"].tolist() == [frame.status for frame in frames]
        assert steps["kinetic_energy"].tolist() == [frame.numbers["kinetic_energy"] for frame in frames]
        path_of_box = trajectory.history("position", "Kästchen")
        assert np.array_equal(path_of_box[1:], [frame.position[balls + 1] for frame in frames])


def test_constants(tmp_path: Path) -> None:
    run(tmp_path / "run.h5", 3)
    system = small_system()
    with Trajectory(tmp_path / "run.h5") as trajectory:
        assert trajectory.settings == SETTINGS
        bodies, shapes, materials = trajectory.bodies, trajectory.shapes, trajectory.materials
    assert bodies.names == system.names == {"floor": 0, "Kästchen": 4}
    for name in ("mass", "inertia", "fixed", "bounding_radius"):
        assert np.array_equal(getattr(bodies, name), getattr(system, name))
    assert materials.names == ("default", "ice")
    assert np.array_equal(materials.pairs.friction, system.materials.pair_table().friction)
    assert set(shapes.kind) == set(range(8))
    for name in ("body", "kind", "size", "offset", "rotation", "material"):
        assert np.array_equal(getattr(shapes, name), getattr(system.shapes, name))
    for ours, theirs in zip(shapes.objects, system.shapes.objects, strict=True):
        assert type(ours) is type(theirs)
        assert ours.volume == pytest.approx(theirs.volume, rel=1e-15)


def test_newer_shapes_have_a_newer_version(tmp_path: Path) -> None:
    """Rounded shapes and height fields come back; a file without them is of version 1, as it always was."""
    run(tmp_path / "old.h5", 1)
    system = System()
    system.add_box((1.0, 2.0, 3.0), rounding=0.1, mass=1.0, position=(0, 0, 9))
    system.add_hull(np.vstack([np.zeros(3), np.eye(3)]), rounding=0.2, mass=1.0, position=(9, 0, 9))
    system.add_height_field(np.arange(12.0).reshape(3, 4), (0.5, 0.25), name="hill")
    with Writer(Recording(tmp_path / "new.h5")) as writer:
        writer.begin(system, SETTINGS, numbers=NUMBERS)
    versions = []
    for name in ("old.h5", "new.h5"):
        with h5py.File(tmp_path / name, "r", swmr=True) as file:
            versions.append(int(file.attrs["version"]))
    assert versions == [1, 2]
    with Trajectory(tmp_path / "new.h5") as trajectory:
        shapes = trajectory.shapes
    for name in ("kind", "size", "offset"):
        np.testing.assert_array_equal(getattr(shapes, name), getattr(system.shapes, name))
    box, hull, hill = shapes.objects
    assert box == system.shapes.objects[0]
    assert hull.rounding == 0.2
    np.testing.assert_array_equal(hill.heights, np.arange(12.0).reshape(3, 4))
    assert hill.spacing == (0.5, 0.25)


def test_every_dataset_says_its_unit(tmp_path: Path) -> None:
    run(tmp_path / "run.h5", 3)
    with h5py.File(tmp_path / "run.h5") as file:
        silent = []
        file.visititems(
            lambda name, node: (
                silent.append(name) if isinstance(node, h5py.Dataset) and not node.attrs.get("unit") else None
            )
        )
    assert silent == ["settings"]


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [
        ({"every": 4}, [0, 4, 8, 12, 16, 20]),
        ({"interval": 0.05}, [0, 5, 10, 15, 20]),
        ({"interval": 0.045}, [0, 5, 9, 14, 18]),
        ({"interval": 0.004}, list(range(21))),
        ({"times": (0.07, 0.131, 5.0)}, [0, 7, 14]),
        ({"every": None}, list(range(21))),
    ],
)
def test_chosen_times(choice: dict[str, Any], wanted: list[int], tmp_path: Path) -> None:
    run(tmp_path / "run.h5", 20, **({"every": None} | choice))
    with Trajectory(tmp_path / "run.h5") as trajectory:
        assert trajectory.indices.tolist() == wanted
        assert trajectory.steps.count == 20


def test_chosen_fields(tmp_path: Path) -> None:
    run(tmp_path / "run.h5", 4, fields=["position"])
    with Trajectory(tmp_path / "run.h5") as trajectory:
        assert trajectory.fields == ("position",)
        assert trajectory.frame(1).quaternion is None
        with pytest.raises(OptionError, match=r"'contacts' was not recorded in .*: there are position"):
            trajectory.contacts(0)
        with pytest.raises(OptionError, match="'quaternion' was not recorded"):
            trajectory.history("quaternion", 0)
        with pytest.raises(OptionError, match=r"body 'box' is not in .*: there are 10, .* floor, Kästchen"):
            trajectory.history("position", "box")
        with pytest.raises(OptionError, match=r"frame 3 is not in .*: it has 3 frames"):
            trajectory.frame(3)
        with pytest.raises(KeyError, match="'speed' was not recorded of the steps: "):
            trajectory.steps["speed"]
    with pytest.raises(OptionError, match="is closed"):
        trajectory.frame(0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"every": 0}, "every of a recording is 0: it must be a whole number"),
        ({"every": 2, "interval": 0.1}, "was given every and interval: give one"),
        ({"interval": -1.0}, "interval of a recording is -1.0: it must be a positive time"),
        ({"interval": float("nan")}, "interval of a recording is nan"),
        ({"times": (1.0, -1.0)}, "times of a recording"),
        ({"fields": ("position", "colour")}, "field 'colour' cannot be recorded: choose from position, "),
        ({"checkpoint_seconds": 0.0}, "checkpoint_seconds of a recording"),
        ({"checkpoint_every": 1.5}, "checkpoint_every of a recording is 1.5"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Recording("run.h5", **options)


def test_wrong_frames(tmp_path: Path) -> None:
    stepper = Stepper(small_system())
    with Writer(Recording(tmp_path / "run.h5")) as writer:
        with pytest.raises(OptionError, match="is closed"):
            writer.frame(stepper.advance())
        with pytest.raises(OptionError, match=r"settings cannot be recorded: .* is neither a number nor"):
            writer.begin(stepper.system, {"solver": object()})
        with pytest.raises(OptionError, match="number 'residual' of a step cannot be recorded"):
            writer.begin(stepper.system, {}, numbers={"residual": "1"})
        writer.begin(stepper.system, {"box": np.ones(2)}, numbers={"heat": "J"})
        frame = stepper.advance()
        with pytest.raises(OptionError, match="numbers kinetic_energy of a step have no unit"):
            writer.frame(frame)
        frame.numbers = {}
        writer.frame(frame)
        frame.status = "a status that is much too long"
        with pytest.raises(OptionError, match="too long to be recorded"):
            writer.frame(frame)
    with Trajectory(tmp_path / "run.h5") as trajectory:
        assert trajectory.settings == {"box": [1.0, 1.0]}
        assert np.isnan(trajectory.steps["heat"]).tolist() == [True]  # what was not told is not zero


@settings(deadline=None)
@given(
    st.sampled_from(["<f8", "<i4", "S5"]),
    st.integers(1, 3000),
    st.sampled_from(["noise", "constant", "slow", "mixed"]),
)
def test_compressed_chunks_are_standard(dtype: str, rows: int, kind: str) -> None:
    rng = np.random.default_rng(rows)
    values = {
        "noise": rng.normal(size=(rows, 3)) * 1e6,
        "constant": np.ones((rows, 3)),
        "slow": 100.0 + 1e-9 * rng.normal(size=(rows, 3)),
        "mixed": np.arange(rows * 3).reshape(rows, 3) // 50,
    }[kind].astype(dtype)
    stream = deflated(values)
    planes = values.view(np.uint8).reshape(-1, values.dtype.itemsize).T
    assert stream is None or zlib.decompress(stream) == planes.tobytes()
    if kind == "constant" and rows > 100:
        assert stream is not None
        assert len(stream) < 0.2 * values.nbytes


def test_older_programs_can_read_what_grows(tmp_path: Path) -> None:
    """HDF5 that is held to the layouts of its version 1.10 refuses to copy a dataset of a newer one."""
    run(tmp_path / "run.h5", 20)
    with h5py.File(tmp_path / "run.h5", "r+", libver=("v110", "v110")) as file:
        for group in ("frames", "contacts", "steps"):
            file.copy(group, f"copy of {group}")


def test_flushing_often_leaves_no_holes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path / "seldom.h5", 400, checkpoint_every=None)
    monkeypatch.setattr(writer_module, "_FLUSH_SECONDS", 0.0)
    run(tmp_path / "often.h5", 400, checkpoint_every=None)
    assert content(tmp_path / "often.h5") == content(tmp_path / "seldom.h5")
    with h5py.File(tmp_path / "often.h5") as file:
        used = [
            file[name].id.get_storage_size()
            for name in content(tmp_path / "often.h5")
            if name in file and isinstance(file[name], h5py.Dataset)
        ]
    assert os.path.getsize(tmp_path / "often.h5") < sum(used) + 40_000


# ---- other processes: live, killed, out of room -------------------------------------------------------


@pytest.fixture(scope="module")
def start() -> Callable[..., Any]:
    """Start a function of this module in a process of its own."""
    if sys.platform == "win32":
        pytest.skip("needs fork servers and SIGKILL")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["nonsmooth.io", "hypothesis", "pytest"])

    def process(target: Callable[..., None], *arguments: Any) -> Any:
        child = context.Process(target=target, args=arguments)
        child.start()
        return child

    return process


def hasty_run(path: Path, steps: int) -> None:
    """Go on with a run that shows every few rows to readers."""
    writer_module._FLUSH_SECONDS = 0.01
    run(path, steps, resume=True, pause=2e-4, at_start=True, checkpoint_every=100)


def check_beginning(left: Trajectory, right: Trajectory) -> None:
    """What one run has recorded so far is the beginning of what another one has."""
    frames, steps = len(left), left.steps.count
    assert left.times.tolist() == right.times[:frames].tolist()
    assert left.steps["residual"].tolist() == right.steps["residual"][:steps].tolist()
    for number in {0, frames // 2, frames - 1} if frames else ():  # a run may be killed before its first
        assert bits(left.frame(number).position) == bits(right.frame(number).position)
        assert bits(left.contacts(number).impulse) == bits(right.contacts(number).impulse)


def bits(values: np.ndarray | None) -> bytes:
    assert values is not None
    return values.tobytes()


def test_killed_at_random_moments_and_resumed(start: Callable[..., Any], tmp_path: Path) -> None:
    steps = 1300  # more than a chunk of every kind
    whole, path = tmp_path / "whole.h5", tmp_path / "killed.h5"
    run(whole, steps, checkpoint_every=100)
    rng = np.random.default_rng()
    kills = seen = 0
    while True:
        child = start(hasty_run, path, steps)
        # the first ones early: a fast machine must not finish before it was killed a few times; then ever
        # later, until a busy one has recorded something
        longest = 0.3 if kills < 2 else max(0.9, 0.3 * kills)
        child.join(timeout=None if kills >= 5 and seen else rng.uniform(0.1, longest))
        if child.exitcode is not None:
            break
        child.kill()
        child.join()
        if child.exitcode == 0:  # it came to its end before the signal
            break
        assert child.exitcode == -signal.SIGKILL
        kills += 1
        if path.exists():  # what a killed run leaves can be read to the end
            with Trajectory(path) as left, Trajectory(whole) as right:
                check_beginning(left, right)
                seen = max(seen, left.steps.count)
    assert child.exitcode == 0
    assert kills >= 2
    assert seen > 0
    assert content(path) == content(whole)
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {name + end for name in ("whole.h5", "killed.h5") for end in ("", ".checkpoint")}
    resumed, unbroken = read_checkpoint(f"{path}.checkpoint"), read_checkpoint(f"{whole}.checkpoint")
    assert resumed.rows == unbroken.rows
    assert all(np.array_equal(resumed.memory[name], unbroken.memory[name]) for name in unbroken.memory)


def test_reading_while_the_run_goes_on(start: Callable[..., Any], tmp_path: Path) -> None:
    path, whole, steps = tmp_path / "run.h5", tmp_path / "whole.h5", 1300
    run(whole, steps, checkpoint_every=100)
    child = start(hasty_run, path, steps)
    while not path.exists():
        assert child.exitcode is None
        time.sleep(0.01)
    seen = set()
    with Trajectory(path) as live, Trajectory(whole) as right:
        while child.exitcode is None:
            check_beginning(live.refresh(), right)
            seen.add(len(live))
            time.sleep(0.002)
        assert len(live.refresh()) == len(right)
    assert child.exitcode == 0
    assert len(seen) > 10


def run_with_a_limit(path: Path, limit: int, report: Path) -> None:
    """A run whose files may not become larger than `limit` bytes, which stands for a full disk."""
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    writer_module._FLUSH_SECONDS = 0.01
    try:
        run(path, 100_000, at_start=True, checkpoint_every=100)
    except OSError as error:
        report.write_text(f"{type(error).__name__}: {error}")


@pytest.mark.parametrize("limit", [200_000, 800_000])
def test_a_failed_write_keeps_what_was_there(limit: int, start: Callable[..., Any], tmp_path: Path) -> None:
    path, report = tmp_path / "run.h5", tmp_path / "report"
    child = start(run_with_a_limit, path, limit, report)
    child.join()
    assert child.exitcode == 0
    assert report.read_text().startswith(f"OSError: cannot write {path}")
    assert "File too large" in report.read_text()
    if not path.exists():
        return  # there was no room for the very beginning
    with Trajectory(path) as trajectory:
        kept = len(trajectory)
        assert f"its first {kept} frames are kept" in report.read_text()
        assert [trajectory.frame(number).index for number in range(kept)] == list(range(0, 2 * kept, 2))
        assert np.isfinite(trajectory.steps["residual"]).all()
    steps = 2 * kept + 100  # with room again, the run goes on
    run(path, steps, resume=True, checkpoint_every=100)
    run(tmp_path / "whole.h5", steps)
    assert content(path) == content(tmp_path / "whole.h5")


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.h5"
    usage = shutil.disk_usage(tmp_path)
    stepper = Stepper(small_system())
    writer = Writer(Recording(path))
    writer.begin(stepper.system, SETTINGS, numbers=NUMBERS)
    for _ in range(10):
        writer.frame(stepper.advance())
    writer.checkpoint(stepper.memory())
    for _ in range(10):
        writer.frame(stepper.advance())
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=0))
    with pytest.raises(OSError, match=r"cannot write .*run\.h5: No space left on device; its first 11 f"):
        writer.checkpoint(stepper.memory())
    with pytest.raises(OptionError, match="is closed"):
        writer.frame(stepper.advance())
    writer.close()
    with h5py.File(path) as file:  # closed properly
        assert len(file["frames/time"]) == 11
    with pytest.raises(OSError, match=r"cannot write .*run\.h5: No space left on device"):
        Writer(Recording(path)).begin(small_system(), SETTINGS, numbers=NUMBERS, resume=True)
    with pytest.raises(OSError, match=r"cannot write .*checkpoint: No space left on device"):
        write_checkpoint(f"{path}.checkpoint", Checkpoint({}, {}, ""))
    assert read_checkpoint(f"{path}.checkpoint").rows["frames"] == 11
    monkeypatch.undo()
    with Writer(Recording(path)) as again:
        memory = again.begin(small_system(), SETTINGS, numbers=NUMBERS, resume=True)
        assert memory is not None
        assert memory["index"] == 10


def test_a_recording_whose_solver_options_had_other_names_goes_on(tmp_path: Path) -> None:
    def begin(options: dict[str, int], resume: bool) -> Writer:
        writer = Writer(Recording(tmp_path / "run.h5"))
        settings = SETTINGS | {"solver_options": {"window": 100} | options}
        writer.begin(small_system(), settings, numbers=NUMBERS, resume=resume)
        return writer

    stepper = Stepper(small_system())
    with begin({"proximal_blocks": 5000}, resume=False) as writer:
        writer.frame(stepper.advance())
        writer.checkpoint(stepper.memory())
    with pytest.raises(OptionError, match="max_proximal_blocks"):
        begin({"max_proximal_blocks": 4000}, resume=True)
    begin({"max_proximal_blocks": 5000}, resume=True).close()


def test_places_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def begin(path: Path) -> None:
        Writer(Recording(path)).begin(small_system(), SETTINGS)

    with pytest.raises(OSError, match=r"cannot write .*run\.h5: there is no folder .*missing"):
        begin(tmp_path / "missing" / "run.h5")
    with pytest.raises(OSError, match=r"cannot write .*: it is a folder"):
        begin(tmp_path)

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    with monkeypatch.context() as patch:  # said for the system here, as root may write anywhere
        patch.setattr(Path, "touch", denied)
        with pytest.raises(PermissionError, match=r"cannot write .*run\.h5: Permission denied"):
            begin(tmp_path / "run.h5")
    assert list(tmp_path.iterdir()) == []


# ---- resuming -------------------------------------------------------------------------------------------


def test_a_finished_run_can_be_made_longer(tmp_path: Path) -> None:
    run(tmp_path / "run.h5", 70)
    run(tmp_path / "run.h5", 140, resume=True)
    run(tmp_path / "whole.h5", 140)
    assert content(tmp_path / "run.h5") == content(tmp_path / "whole.h5")


def test_without_a_step_the_run_starts_anew(tmp_path: Path) -> None:
    run(tmp_path / "run.h5", 0, resume=True, checkpoint_every=None)
    assert not (tmp_path / "run.h5.checkpoint").exists()
    run(tmp_path / "run.h5", 30, resume=True)
    with Trajectory(tmp_path / "run.h5") as trajectory:
        assert trajectory.steps.count == 30


def test_steps_without_a_checkpoint_are_not_thrown_away(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    run(path, 20, checkpoint_every=None)
    assert not (tmp_path / "run.h5.checkpoint").exists()
    before = path.read_bytes()
    with pytest.raises(
        OptionError, match=r"has 20 steps and no checkpoint .*: restore .*run\.h5\.checkpoint"
    ):
        run(path, 30, resume=True)
    assert path.read_bytes() == before


def test_a_run_that_is_longer_than_asked_for_is_not_cut(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    run(path, 20)  # its last checkpoint is that of step 14
    before = path.read_bytes()
    with pytest.raises(
        OptionError, match=r"has 20 steps already, to t = 0\.2 s, and 17 were asked for: give a longer"
    ):
        run(path, 17, resume=True)
    assert path.read_bytes() == before
    run(path, 20, resume=True)
    run(tmp_path / "whole.h5", 20)
    assert content(path) == content(tmp_path / "whole.h5")


def test_a_checkpoint_of_an_earlier_step(tmp_path: Path) -> None:
    """Rows that came after it, one of them not whole, are left out when the run goes on."""
    path, stepper = tmp_path / "run.h5", Stepper(small_system())
    with Writer(Recording(path, every=2)) as writer:
        writer.begin(stepper.system, SETTINGS, numbers=NUMBERS)
        for _ in range(9):
            writer.frame(stepper.advance())
        memory, rows = stepper.memory(), writer.rows
        writer.frame(stepper.advance())
        writer._columns["steps/time"].append(0.11)
        writer.checkpoint(memory, rows)
    assert read_checkpoint(f"{path}.checkpoint").rows == rows
    run(path, 30, resume=True)
    run(tmp_path / "whole.h5", 30)
    assert content(path) == content(tmp_path / "whole.h5")


def test_starting_anew_forgets_the_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.h5"
    run(path, 20)
    before = path.read_bytes()

    def denied(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    with monkeypatch.context() as patch:
        patch.setattr(writer_module, "write_constants", denied)
        with pytest.raises(PermissionError):
            run(path, 5, overwrite=True)
    assert path.read_bytes() == before  # what could not be replaced stays, and can still be resumed
    assert read_checkpoint(f"{path}.checkpoint").rows["steps"] == 14
    with pytest.raises(OptionError, match=r"run\.h5 exists already: record in another file, continue it"):
        run(path, 5)
    with pytest.raises(OptionError, match=r"resume=True continues .* and overwrite=True replaces it"):
        run(path, 20, resume=True, overwrite=True)
    assert path.read_bytes() == before
    run(path, 5, overwrite=True)
    assert not (tmp_path / "run.h5.checkpoint").exists()


def test_only_the_same_run_is_resumed(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    run(path, 20)
    before = path.read_bytes()

    def resume(message: str, system: System | None = None, every: int = 2, **changed: Any) -> None:
        with pytest.raises(NonsmoothError, match=message):
            Writer(Recording(path, every=every)).begin(
                system or small_system(), SETTINGS | changed, numbers=NUMBERS, resume=True
            )
        assert path.read_bytes() == before

    other = small_system()
    other.position[2, 0] += 1e-9
    resume("belongs to another system or another state of it, or records other frames", other)
    resume("belongs to another system or another state of it, or records other frames", every=3)
    resume("was recorded with law = 'coulomb', and now it is 'relaxed'", law="relaxed")
    checkpoint = read_checkpoint(f"{path}.checkpoint")
    write_checkpoint(f"{path}.checkpoint", Checkpoint(checkpoint.memory, checkpoint.rows, "other"))
    resume(r"run\.h5\.checkpoint belongs to another system")
    rows = {name: 10 * count for name, count in checkpoint.rows.items()}
    write_checkpoint(f"{path}.checkpoint", Checkpoint(checkpoint.memory, rows, checkpoint.fingerprint))
    resume("its checkpoint counts 80: it is not the file")
    Path(f"{path}.checkpoint").write_bytes(b"nothing")
    resume("checkpoint is not an HDF5 file")
    path.write_text("my notes")
    before = path.read_bytes()
    resume(r"run\.h5 is not an HDF5 file")


def test_a_reader_does_not_disturb_the_writer(tmp_path: Path) -> None:
    stepper = Stepper(small_system())
    with Writer(Recording(tmp_path / "run.h5")) as writer:
        writer.begin(stepper.system, SETTINGS, numbers=NUMBERS)
        writer.frame(stepper.advance())
        writer.checkpoint(stepper.memory())
        with Trajectory(tmp_path / "run.h5") as first, Trajectory(tmp_path / "run.h5") as second:
            assert len(first) == len(second) == 2
            writer.frame(stepper.advance())
            writer.checkpoint(stepper.memory())
            assert len(first.refresh()) == len(second.refresh()) == 3
    with Trajectory(tmp_path / "run.h5") as trajectory:
        assert len(trajectory) == 3


# ---- checkpoints ----------------------------------------------------------------------------------------


def test_checkpoints_keep_every_bit(tmp_path: Path) -> None:
    memory: dict[str, Any] = {
        "state": np.array([[0.1, -0.0], [np.nan, np.inf]]),
        "shapes": np.array([1, 2], dtype=np.int32),
        "random": np.array([2**63 + 1], dtype=np.uint64),
        "fixed": np.array([True, False]),
        "none": np.zeros((0, 3)),
        "time": 0.1 + 0.2,
        "index": 2**62 + 1,
    }
    write_checkpoint(tmp_path / "c", Checkpoint(memory, {"frames": 3}, "abc"))
    found = read_checkpoint(tmp_path / "c")
    assert found.rows == {"frames": 3}
    assert found.fingerprint == "abc"
    assert set(found.memory) == set(memory)
    for name, value in memory.items():
        if isinstance(value, np.ndarray):
            assert found.memory[name].dtype == value.dtype
            assert found.memory[name].shape == value.shape
            assert found.memory[name].tobytes() == value.tobytes()
        else:
            assert found.memory[name] == value
            assert type(found.memory[name]) is type(value)


@pytest.mark.parametrize("value", ["text", None, np.array(1.0), np.array(["a"]), np.array([object()]), 2**70])
def test_checkpoints_refuse_what_they_cannot_keep(value: Any, tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "c", Checkpoint({"x": 1}, {}, ""))
    with pytest.raises(OptionError, match=r"memory entry 'x' is .*: it must be an array of numbers"):
        write_checkpoint(tmp_path / "c", Checkpoint({"x": value}, {}, ""))
    with pytest.raises(OptionError, match="named 'a/b'"):
        write_checkpoint(tmp_path / "c", Checkpoint({"a/b": 1}, {}, ""))
    assert read_checkpoint(tmp_path / "c").memory == {"x": 1}


def test_checkpoints_are_due(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(writer_module.time, "monotonic", lambda: clock[0])
    stepper = Stepper(small_system())
    with Writer(Recording(tmp_path / "run.h5", checkpoint_seconds=60.0, checkpoint_every=3)) as writer:
        writer.begin(stepper.system, SETTINGS, numbers=NUMBERS)
        assert not writer.checkpoint_due
        clock[0] += 60.0
        assert writer.checkpoint_due
        writer.checkpoint(stepper.memory())
        assert not writer.checkpoint_due
        for _ in range(3):
            writer.frame(stepper.advance())
        assert writer.checkpoint_due


# ---- files that are wrong -------------------------------------------------------------------------------


def change(path: Path, name: str, **options: Any) -> None:
    with h5py.File(path, "r+") as file:
        del file[name]
        file.create_dataset(name, **options)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (
            "frames/position",
            {"data": np.zeros((3, 10, 3))},
            "has the shape .*, in chunks None",
        ),
        ("frames/time", {"data": np.zeros(3, dtype=np.float32)}, "has the type float32: it must be float64"),
        (
            "contacts/gap",
            {"shape": (10**15,), "chunks": (256,), "maxshape": (None,), "dtype": "f8"},
            "does not fit into the .* bytes of the file",
        ),
        ("bodies/mass", {"data": np.zeros((10, 2))}, "must be"),
        ("shapes/kind", {"data": np.full(10, 99, dtype=np.int32)}, "holds no valid shapes"),
        ("shapes/size", {"data": -np.ones((10, 3))}, "holds no valid shapes"),
        ("shapes/triangles", {"data": np.full((999, 3), 77, dtype=np.int32)}, "holds no valid shapes"),
        ("settings", {"data": np.bytes_(b"{")}, "is damaged"),
    ],
)
def test_wrong_files_are_told_in_one_sentence(
    name: str, options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.h5"
    run(path, 4)
    change(path, name, **options)
    with pytest.raises(FileFormatError, match=message) as caught, Trajectory(path) as trajectory:
        read_all(trajectory)
    assert "\n" not in str(caught.value)


def test_contacts_that_are_not_there(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    run(path, 4)
    with h5py.File(path, "r+") as file:
        file["contacts/count"][:] = 10**9
    with Trajectory(path) as trajectory, pytest.raises(FileFormatError, match="the file is damaged"):
        trajectory.contacts(1)


def read_all(trajectory: Trajectory) -> None:
    for number in range(len(trajectory)):
        trajectory.frame(number)
        trajectory.contacts(number)
    for name in trajectory.steps:
        trajectory.steps[name]
    _ = trajectory.settings, trajectory.bodies, trajectory.shapes, trajectory.materials


@pytest.mark.parametrize("closed", [True, False])
def test_damaged_files_never_end_in_another_error(closed: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    path = tmp_path / "run.h5"
    stepper = Stepper(small_system())
    with Writer(Recording(path)) as writer:
        writer.begin(stepper.system, SETTINGS, numbers=NUMBERS)
        for _ in range(4):
            writer.frame(stepper.advance())
        writer.checkpoint(stepper.memory())
        left = path.read_bytes()  # as a run leaves it that is killed here
    whole = np.frombuffer(path.read_bytes() if closed else left, dtype=np.uint8)
    used = np.flatnonzero(whole)  # most of a small file is empty room in its chunks
    refused = 0
    for _ in range(100):
        broken = whole.copy()
        broken[rng.choice(used, size=4)] = rng.integers(256, size=4)
        path.write_bytes(broken.tobytes())
        try:
            with Trajectory(path) as trajectory:
                read_all(trajectory)
        except FileFormatError:
            refused += 1
    assert refused > 30


def test_files_that_are_no_trajectories(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"cannot read .*nothing\.h5: No such file"):
        Trajectory(tmp_path / "nothing.h5")
    write_checkpoint(tmp_path / "c", Checkpoint({}, {}, ""))
    with pytest.raises(FileFormatError, match="not a trajectory file: its attribute 'format' is"):
        Trajectory(tmp_path / "c")
    run(tmp_path / "run.h5", 4)
    with pytest.raises(FileFormatError, match="not a checkpoint file"):
        read_checkpoint(tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5", "r+") as file:
        file.attrs["version"] = 3
    with pytest.raises(FileFormatError, match="version 3 of the trajectory format, newer than the version 2"):
        Trajectory(tmp_path / "run.h5")
