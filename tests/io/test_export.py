"""Recorded runs for other programs: what VTK, pandas, pyarrow, trimesh and h5py read is what was recorded."""

from __future__ import annotations

import json
import math
import re
import struct
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import h5py
import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest
import trimesh
import vtk
from scipy.spatial.transform import Rotation
from vtk.util.numpy_support import vtk_to_numpy

import nonsmooth as ns
from helpers.command_line import run
from helpers.paths import ROOT
from nonsmooth.collision.contacts import Contacts
from nonsmooth.errors import OptionError
from nonsmooth.io import Recording, Trajectory, Writer
from nonsmooth.io.exports.selection import Selection, frame_nearest
from nonsmooth.io.exports.tables import TableForm
from nonsmooth.io.exports.vtk import VtkArray, write_polydata
from nonsmooth.model.shapes import Box, Compound, Sphere
from nonsmooth.stepping.step_log import NUMBERS as INTEGRATOR_NUMBERS
from nonsmooth.view.exports import vtk as vtk_module
from nonsmooth.view.exports.gltf import export_gltf
from nonsmooth.view.exports.tables import export_tables
from nonsmooth.view.exports.vtk import SurfaceChoice, export_vtk

STEP = 0.1
STATES = ("stick", "slide", "separate")
SERIES = ("bodies", "surfaces", "planes", "mechanism", "contacts", "joints")
NUMBERS = {"kinetic_energy": "J", "joint_error": "m or rad"}
SETTINGS = {"step": STEP, "duration": 0.6, "law": "coulomb", "solver": "auto", "tolerance": 1e-4}


def bodies() -> ns.System:
    """A plane of ice, two equal balls, a larger one, a box and a dumb-bell; the box hangs on a hinge."""
    system = ns.System()
    system.add_material("ice", friction=0.02)
    system.add_plane(name="floor", material="ice")
    system.add_spheres(0.5, np.zeros((2, 3)), mass=2.0)
    system.add_sphere(0.75, mass=3.0, name="Bällchen <3>")
    system.add_box((1.0, 2.0, 3.0), density=1.0, name="box")
    ends = [(Sphere(0.25), (x, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)) for x in (-1.0, 1.0)]
    rod = (Box((2.0, 0.1, 0.1)), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
    system.add_body(Compound((*ends, rod)), mass=1.0, name="dumb-bell")
    system.add_joint(ns.joints.Revolute(None, "box", point=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    return system


@dataclass
class Frame:
    """What an integrator hands to a writer."""

    index: int
    time: float
    position: np.ndarray
    quaternion: np.ndarray
    linear_velocity: np.ndarray
    angular_velocity: np.ndarray
    contacts: Contacts
    impulses: np.ndarray
    step: float = STEP
    residual: float = 1e-7
    status: str = "solved"
    iterations: int = 12
    numbers: dict[str, float] = field(default_factory=dict)

    def reactions(self) -> SimpleNamespace:
        rows = np.arange(5.0) + self.index
        return SimpleNamespace(
            force=np.full((1, 3), 1.0), torque=np.full((1, 3), 2.0), rows={"joint 'hinge'": rows}
        )


def moved(system: ns.System, index: int, rng: np.random.Generator) -> Frame:
    """Any state, with `index` contacts of which one sticks, the next one slides, the next has no force."""
    count = system.count
    quaternion = Rotation.random(count, rng=rng).as_quat(scalar_first=True)
    contacts, impulses = Contacts.allocate(index), np.zeros((index, 3))
    pairs = np.array([(0, 1), (0, 4), (2, 3), (1, 5), (0, 5), (4, 5)])[:index]
    contacts.bodies[:] = pairs
    contacts.point[:] = rng.normal(size=(index, 3))
    contacts.gap[:] = rng.normal(size=index)
    for row, (a, _) in enumerate(pairs):
        frame = Rotation.random(rng=rng).as_matrix()
        contacts.normal[row] = frame[0]
        friction = 0.02 if a == 0 else 0.5  # ice upon anything, and the default
        impulses[row] = (
            (row + 1.0) * (frame[0] + 0.5 * friction * frame[1]),
            (row + 1.0) * (frame[0] + friction * frame[2]),
            np.zeros(3),
        )[row % 3]
    return Frame(
        index, STEP * index, rng.normal(size=(count, 3)), quaternion, rng.normal(size=(count, 3)),
        rng.normal(size=(count, 3)), contacts, impulses, status="solved" if index % 2 else "iteration limit",
        numbers={"kinetic_energy": float(index), "joint_error": 0.5 * index},
    )  # fmt: skip


def record(path: Path, steps: int = 6, **options: Any) -> Path:
    system, rng = bodies(), np.random.default_rng(1)
    with Writer(Recording(path, checkpoint_seconds=None, **options)) as writer:
        writer.begin(system, SETTINGS, numbers=NUMBERS)
        for index in range(1, steps + 1):
            writer.frame(moved(system, index, rng))
    return path


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("recording") / "run.h5", joints=True)


def summed_forces(contacts: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    total, load = np.zeros((count, 3)), np.zeros(count)
    for (a, b), force in zip(contacts.bodies, contacts.impulse / STEP, strict=True):
        total[a] -= force
        total[b] += force
        load[[a, b]] += math.sqrt(force @ force)
    return total, load


# ---- VTK ------------------------------------------------------------------------------------------------


def read_vtp(path: Path) -> Any:
    reader = vtk.vtkXMLPolyDataReader()
    faults: list[str] = []
    reader.AddObserver("ErrorEvent", lambda *words: faults.append(str(words)))
    reader.SetFileName(str(path))
    reader.Update()
    assert not faults
    return reader.GetOutput()


def array(data: Any, name: str, unit: str | None = None) -> np.ndarray:
    """An array of the points, or of the whole; and its unit is checked."""
    found = data.GetPointData().GetArray(name) or data.GetFieldData().GetArray(name)
    assert found.GetInformation().Get(vtk.vtkDataArray.UNITS_LABEL()) == unit
    return vtk_to_numpy(found)


def words_of(found: Any) -> list[str]:
    return [found.GetValue(row) for row in range(found.GetNumberOfValues())]


def points(data: Any) -> np.ndarray:
    return np.zeros((0, 3)) if data.GetNumberOfPoints() == 0 else vtk_to_numpy(data.GetPoints().GetData())


def triangles(data: Any) -> np.ndarray:
    return vtk_to_numpy(data.GetPolys().GetConnectivityArray()).reshape(-1, 3)


def pvd(path: Path) -> tuple[list[float], list[Path]]:
    sets = ElementTree.parse(path).getroot().findall("Collection/DataSet")
    return [float(each.attrib["timestep"]) for each in sets], [
        path.parent / each.attrib["file"] for each in sets
    ]


@pytest.fixture(scope="module")
def series(recording: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vtk") / "new" / "folder"
    with Trajectory(recording) as trajectory:
        files = export_vtk(trajectory, folder)
    assert files == [folder / f"{name}.pvd" for name in SERIES]
    return folder


def test_series_have_the_times_of_the_frames(recording: Path, series: Path) -> None:
    with Trajectory(recording) as trajectory:
        recorded = trajectory.times.tolist()
    for name in SERIES:
        times, files = pvd(series / f"{name}.pvd")
        assert times == recorded
        for time, file in zip(times, files, strict=True):
            assert array(read_vtp(file), "TimeValue", "s").tolist() == [time]


def test_vtk_reads_the_bodies_that_were_recorded(recording: Path, series: Path) -> None:
    system = bodies()
    with Trajectory(recording) as trajectory:
        for number, file in enumerate(pvd(series / "bodies.pvd")[1]):
            data, frame = read_vtp(file), trajectory.frame(number)
            assert data.GetNumberOfVerts() == system.count
            np.testing.assert_array_equal(points(data), frame.position)
            np.testing.assert_array_equal(array(data, "quaternion"), frame.quaternion)
            np.testing.assert_array_equal(array(data, "velocity", "m/s"), frame.linear_velocity)
            speed = np.sqrt((frame.linear_velocity**2).sum(axis=1))
            np.testing.assert_allclose(array(data, "speed", "m/s"), speed, rtol=1e-15)
            turn = Rotation.from_quat(frame.quaternion, scalar_first=True)
            spin = turn.apply(frame.angular_velocity)
            np.testing.assert_allclose(array(data, "angular_velocity", "rad/s"), spin, rtol=1e-12, atol=1e-14)
            total, load = summed_forces(trajectory.contacts(number), system.count)
            np.testing.assert_allclose(array(data, "contact_force", "N"), total, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(array(data, "contact_load", "N"), load, rtol=1e-12)
            np.testing.assert_array_equal(array(data, "body"), range(6))
            np.testing.assert_array_equal(array(data, "fixed"), [1, 0, 0, 0, 0, 0])
            np.testing.assert_array_equal(array(data, "radius", "m"), [0, 0.5, 0.5, 0.75, 0, 0])
            reach = [np.nan, 0.5, 0.5, 0.75, math.sqrt(14) / 2, 1.25]
            np.testing.assert_allclose(array(data, "bounding_radius", "m"), reach, rtol=1e-15)
            mass = array(data, "mass", "kg")
            np.testing.assert_allclose(mass, [np.nan, 2.0, 2.0, 3.0, 6.0, 1.0], rtol=1e-15)
            names = words_of(data.GetPointData().GetAbstractArray("name"))
            assert names == ["floor", "", "", "Bällchen <3>", "box", "dumb-bell"]
            materials = words_of(data.GetFieldData().GetAbstractArray("material_names"))
            assert [materials[code] for code in array(data, "material")] == ["ice"] + 5 * ["default"]


def test_vtk_reads_the_contacts_that_were_recorded(recording: Path, series: Path) -> None:
    with Trajectory(recording) as trajectory:
        for number, file in enumerate(pvd(series / "contacts.pvd")[1]):
            data, contacts = read_vtp(file), trajectory.contacts(number)
            assert data.GetNumberOfPoints() == data.GetNumberOfVerts() == len(contacts) == number
            if number == 0:
                continue  # the state that the run began with
            np.testing.assert_array_equal(points(data), contacts.point)
            np.testing.assert_array_equal(array(data, "body_a"), contacts.bodies[:, 0])
            np.testing.assert_array_equal(array(data, "body_b"), contacts.bodies[:, 1])
            np.testing.assert_array_equal(array(data, "normal"), contacts.normal)
            np.testing.assert_array_equal(array(data, "gap", "m"), contacts.gap)
            np.testing.assert_array_equal(array(data, "force", "N"), contacts.impulse / STEP)
            rows = np.arange(number)
            normal = np.where(rows % 3 == 2, 0.0, (rows + 1.0) / STEP)
            np.testing.assert_allclose(array(data, "normal_force", "N"), normal, rtol=1e-12)
            friction = np.where(contacts.bodies[:, 0] == 0, 0.02, 0.5) * np.where(rows % 3, 1.0, 0.5)
            np.testing.assert_allclose(array(data, "tangential_force", "N"), friction * normal, rtol=1e-12)
            words = words_of(data.GetFieldData().GetAbstractArray("state_names"))
            assert [words[code] for code in array(data, "state")] == [STATES[row % 3] for row in rows]


def in_body_frame(places: np.ndarray, frame: Any, body: int) -> np.ndarray:
    return (
        Rotation.from_quat(frame.quaternion[body], scalar_first=True)
        .inv()
        .apply(places - frame.position[body])
    )


def test_surfaces_lie_where_the_shapes_are(recording: Path, series: Path) -> None:
    frame_number = 3
    with Trajectory(recording) as trajectory:
        frame, contacts = trajectory.frame(frame_number), trajectory.contacts(frame_number)
    data = read_vtp(pvd(series / "surfaces.pvd")[1][frame_number])
    places, faces, body = points(data), triangles(data), array(data, "body")
    assert set(body.tolist()) == {1, 2, 3, 4, 5}
    local = [in_body_frame(places[body == b], frame, b) for b in range(6)]
    for ball, radius in ((1, 0.5), (2, 0.5), (3, 0.75)):
        np.testing.assert_allclose(np.linalg.norm(local[ball], axis=1), radius, atol=2e-6)
    np.testing.assert_allclose(np.abs(local[4]), np.tile([0.5, 1.0, 1.5], (36, 1)), atol=2e-6)
    np.testing.assert_allclose(np.abs(local[5]).max(axis=0), [1.25, 0.25, 0.25], atol=2e-6)
    # Normals are unit vectors on the side from which triangles are counterclockwise.
    corners, normals = places[faces], array(data, "Normals")
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert np.einsum("fi,fci->fc", across, normals[faces]).min() > 0.0
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-6)
    assert data.GetPointData().GetNormals().GetName() == "Normals"
    # The divergence theorem gives the volume of closed surfaces: that of the box exactly, of balls nearly.
    volume = np.zeros(6)
    np.add.at(
        volume,
        body[faces[:, 0]],
        np.einsum("fi,fi->f", corners[:, 0] - frame.position[body[faces[:, 0]]], across) / 6,
    )
    np.testing.assert_allclose(volume[4], 6.0, rtol=1e-5)
    np.testing.assert_allclose(volume[1:4], 4 / 3 * np.pi * np.array([0.5, 0.5, 0.75]) ** 3, rtol=0.02)
    speed = np.linalg.norm(frame.linear_velocity, axis=1)
    np.testing.assert_allclose(array(data, "speed", "m/s"), speed[body], rtol=1e-6)
    np.testing.assert_allclose(
        array(data, "contact_load", "N"), summed_forces(contacts, 6)[1][body], rtol=1e-6
    )


def test_half_spaces_and_joints_are_series_of_their_own(recording: Path, series: Path) -> None:
    with Trajectory(recording) as trajectory:
        frame = trajectory.frame(2)
    data = read_vtp(pvd(series / "planes.pvd")[1][2])
    assert set(array(data, "body").tolist()) == {0}
    corners = in_body_frame(points(data), frame, 0)
    np.testing.assert_allclose(corners[:, 2], 0.0, atol=1e-5)
    turn = Rotation.from_quat(frame.quaternion[0], scalar_first=True)
    upward = np.tile(turn.apply([0, 0, 1]), (len(corners), 1))
    np.testing.assert_allclose(array(data, "Normals"), upward, atol=1e-6)
    data = read_vtp(pvd(series / "mechanism.pvd")[1][2])
    assert set(array(data, "body").tolist()) == {-1}  # the hinge is on the ground
    middle = 0.5 * (points(data).min(axis=0) + points(data).max(axis=0))
    np.testing.assert_allclose(middle, 0.0, atol=1e-6)
    assert (array(data, "speed", "m/s") == 0).all()


def cantilever(path: Path, **options: Any) -> Path:
    """A load of 2 kg at rest, 0.5 m beside a joint with a turned base, and a hanging one on a rod."""
    system = ns.System()
    turn = Rotation.from_rotvec([0.4, -0.9, 1.3]).as_quat(scalar_first=True)
    system.add_box((0.1, 0.1, 0.1), fixed=True, position=(1, 2, 3), orientation=turn, name="base")
    system.add_sphere(0.1, mass=2.0, position=(1.3, 2.4, 3.0), name="load")
    system.add_sphere(0.1, mass=3.0, position=(5, 0, -1.0))
    system.add_joint(ns.joints.Fixed("base", "load", point=(1, 2, 3), axis=(0.6, 0, 0.8), name="clamp"))
    system.add_joint(ns.joints.Distance(None, 2, point_a=(5, 0, 0), point_b=(5, 0, -1.0)))
    ns.simulate(system, duration=0.03, step=0.01, record=Recording(path, joints=True, **options))
    return path


def check_cantilever(joints: dict[str, np.ndarray], weight: float = 2.0 * 9.81) -> None:
    """Force and torque on the load, about the joint, are those that hold its weight, in the world frame."""
    np.testing.assert_allclose(joints["point"], [(1, 2, 3), (5, 0, -1)], atol=1e-9)
    np.testing.assert_allclose(joints["point_a"], [(1, 2, 3), (5, 0, 0)], atol=1e-9)
    np.testing.assert_allclose(joints["force"], [(0, 0, weight), (0, 0, 1.5 * weight)], atol=1e-6)
    lever = np.cross((0.3, 0.4, 0.0), (0, 0, weight))  # of the load's weight about the joint, turned round
    np.testing.assert_allclose(joints["torque"], [lever, (0, 0, 0)], atol=1e-6)
    for name in ("force", "torque"):  # the same vectors in another frame
        lengths = np.linalg.norm(joints[name], axis=1)
        np.testing.assert_allclose(np.linalg.norm(joints[f"local_{name}"], axis=1), lengths, atol=1e-6)
    assert abs(joints["local_force"][0] - joints["force"][0]).max() > 1.0  # its axis is askew
    np.testing.assert_allclose(np.linalg.norm(joints["axis"], axis=1), 1.0)


def test_vtk_reads_what_joints_do(tmp_path: Path) -> None:
    with Trajectory(cantilever(tmp_path / "run.h5")) as trajectory:
        export_vtk(trajectory, tmp_path)
        times = trajectory.times.tolist()
    assert pvd(tmp_path / "joints.pvd")[0] == times
    data = read_vtp(pvd(tmp_path / "joints.pvd")[1][-1])
    assert data.GetNumberOfPoints() == data.GetNumberOfVerts() == 2
    units = {"axis": None, "point_a": "m", "force": "N", "local_force": "N", "torque": "N·m"}
    found = {name: array(data, name, unit) for name, unit in units.items()}
    check_cantilever({"point": points(data), "local_torque": array(data, "local_torque", "N·m"), **found})
    assert words_of(data.GetPointData().GetAbstractArray("name")) == ["clamp", ""]
    assert words_of(data.GetPointData().GetAbstractArray("type")) == ["Fixed", "Distance"]
    np.testing.assert_array_equal(array(data, "body_a"), [0, -1])
    np.testing.assert_array_equal(array(data, "body_b"), [1, 2])
    rod = read_vtp(pvd(tmp_path / "rods.pvd")[1][-1])  # the one joint between two points
    assert (rod.GetNumberOfLines(), rod.GetNumberOfVerts()) == (1, 0)
    np.testing.assert_array_equal(vtk_to_numpy(rod.GetLines().GetConnectivityArray()), [0, 1])
    np.testing.assert_allclose(points(rod), [(5, 0, 0), (5, 0, -1)], atol=1e-9)
    np.testing.assert_array_equal(array(rod, "joint"), [1, 1])
    assert words_of(rod.GetPointData().GetAbstractArray("type")) == ["Distance"] * 2
    np.testing.assert_allclose(array(rod, "force", "N"), [(0, 0, 3.0 * 9.81)] * 2, atol=1e-6)
    first = read_vtp(pvd(tmp_path / "joints.pvd")[1][0])
    assert np.isnan(array(first, "force", "N")).all()  # no step has led there


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_pandas_reads_what_joints_do(tmp_path: Path, form: str) -> None:
    result = run("export", cantilever(tmp_path / "run.h5"), f"--{form}", tmp_path)
    assert result.exit_code == 0, result.stderr
    assert f"joints.{form}, joint_rows.{form}" in " ".join(result.stdout.split())
    read = pd.read_csv if form == "csv" else pd.read_parquet
    table = read(tmp_path / f"joints.{form}")
    assert len(table) == 4 * 2
    last = table[table["frame"] == 3].fillna("")
    assert last["name"].tolist() == ["clamp", ""]
    names = ("point", "point_a", "axis", "force", "torque", "local_force", "local_torque")
    check_cantilever({name: vectors(last, name).astype(float) for name in names})
    rows = read(tmp_path / f"joint_rows.{form}")
    rows = rows[rows["frame"] == 3]
    assert rows["joint"].tolist() == [0] * 6 + [1]
    assert rows["unit"].tolist() == ["N"] * 3 + ["N·m"] * 3 + ["N"]
    assert set(rows["label"]) == {"joint 'clamp'", "joint 1"}
    # Rows of the clamp are the components in its own frame: their squares add up to those of the vectors.
    squares = (rows["value"].to_numpy()[:6].reshape(2, 3) ** 2).sum(axis=1)
    np.testing.assert_allclose(squares, [19.62**2, (0.5 * 19.62) ** 2], rtol=1e-6)
    assert abs(rows["value"].iloc[6]) == pytest.approx(3.0 * 9.81, rel=1e-6)


def test_joints_without_reactions_or_without_places(tmp_path: Path) -> None:
    path = record(tmp_path / "no.h5", 1)
    assert run("export", path, "--csv", tmp_path / "a", "--vtk", tmp_path / "a").exit_code == 0
    columns = list(pd.read_csv(tmp_path / "a" / "joints.csv"))
    assert "point_x" in columns
    assert not any("force" in name or "torque" in name for name in columns)
    assert not (tmp_path / "a" / "joint_rows.csv").exists()
    path = record(tmp_path / "few.h5", 1, fields=("position",), joints=True)
    words = ("--csv", tmp_path / "b", "--vtk", tmp_path / "b", "--surfaces", "none")
    assert run("export", path, *words).exit_code == 0
    table = pd.read_csv(tmp_path / "b" / "joints.csv")
    np.testing.assert_array_equal(vectors(table[table["frame"] == 1], "local_torque"), [(2, 2, 2)])
    assert "point_x" not in table
    assert "force_x" not in table
    assert not (tmp_path / "b" / "joints.pvd").exists()


def container() -> ns.System:
    """A floor and four walls one metre from the middle, and a ball."""
    system = ns.System()
    system.add_plane(name="floor")
    for normal in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)):
        system.add_plane(normal=normal, point=-np.array(normal))
    system.add_sphere(0.5, mass=1.0, position=(0, 0, 0.5))
    return system


def test_half_spaces_are_cut_to_what_can_be_seen(tmp_path: Path) -> None:
    with Writer(Recording(tmp_path / "run.h5", checkpoint_seconds=None)) as writer:
        writer.begin(container(), SETTINGS, numbers=NUMBERS)
    with Trajectory(tmp_path / "run.h5") as trajectory:
        export_vtk(trajectory, tmp_path)
    data = read_vtp(tmp_path / "frames" / "planes_000000.vtp")
    places, body = points(data), array(data, "body")
    np.testing.assert_allclose(np.abs(places[:, :2]).max(axis=0), 1.0, atol=1e-6)
    np.testing.assert_allclose(places[:, 2].min(), 0.0, atol=1e-6)
    np.testing.assert_allclose(places[body == 0][:, 2], 0.0, atol=1e-6)
    assert 1.0 < places[:, 2].max() < 1.5  # a little above the ball


def test_spheres_can_be_left_to_glyphs(recording: Path, tmp_path: Path) -> None:
    with Trajectory(recording) as trajectory:
        export_vtk(trajectory, tmp_path / "some", Selection(end=0.0), surfaces=SurfaceChoice.MESHES)
        export_vtk(trajectory, tmp_path / "none", Selection(end=0.0), surfaces=SurfaceChoice.NONE)
    data = read_vtp(tmp_path / "some" / "frames" / "surfaces_000000.vtp")
    assert set(array(data, "body").tolist()) == {4, 5}  # the box, and the rod of the dumb-bell
    assert not list((tmp_path / "none").rglob("surfaces*"))


@pytest.mark.parametrize("count", [0, 1, 2**20 // 8, 2**20 // 8 + 1, 300_000])
def test_arrays_of_any_length_are_read_back(tmp_path: Path, count: int) -> None:
    values = np.random.default_rng(0).normal(size=count)
    write_polydata(tmp_path / "a.vtp", np.zeros((count, 3), np.float32), [VtkArray("a", values, "N·m")])
    data = read_vtp(tmp_path / "a.vtp")
    assert data.GetNumberOfPoints() == count
    assert list(tmp_path.iterdir()) == [tmp_path / "a.vtp"]
    if count:
        np.testing.assert_array_equal(array(data, "a", "N·m"), values)


def test_an_earlier_export_is_replaced_and_nothing_else_is_touched(recording: Path, tmp_path: Path) -> None:
    (tmp_path / "frames").mkdir()
    for name in ("notes.txt", "frames/mine_000001.vtp"):
        (tmp_path / name).write_text("mine")
    with Trajectory(recording) as trajectory:
        export_vtk(trajectory, tmp_path)
        export_vtk(trajectory, tmp_path, Selection(0.2, 0.4, 2), surfaces=SurfaceChoice.NONE)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*")) == [
        "bodies.pvd", "contacts.pvd", "frames/bodies_000002.vtp", "frames/bodies_000004.vtp",
        "frames/contacts_000002.vtp", "frames/contacts_000004.vtp", "frames/joints_000002.vtp",
        "frames/joints_000004.vtp", "frames/mine_000001.vtp", "joints.pvd", "notes.txt",
    ]  # fmt: skip
    assert pvd(tmp_path / "bodies.pvd")[0] == [0.2, 0.4]


def interrupt_at(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, call: int) -> None:
    """Let Ctrl-C be pressed in one of the calls of a function, after its work."""
    function, calls = getattr(module, name), 0

    def pressed(*words: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        found = function(*words, **options)
        if calls == call:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(module, name, pressed)


@pytest.mark.parametrize(("call", "kept"), [(1, 0), (17, 2), (18, 2), (19, 3)])  # six files for each
def test_ctrl_c_keeps_the_frames_that_are_done(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: int, kept: int
) -> None:
    interrupt_at(monkeypatch, vtk_module, "write_polydata", call)
    result = run("export", recording, "--vtk", tmp_path / "out")
    assert result.exit_code == 130
    what = f"{kept} of 7 frames kept in {tmp_path / 'out'}" if kept else "no frame was written"
    assert f"Interrupted: {what}." in result.stderr
    for name in SERIES:
        times, files = pvd(tmp_path / "out" / f"{name}.pvd")
        assert times == pytest.approx([0.0, 0.1, 0.2][:kept])
        for file in files:
            read_vtp(file)


# ---- tables ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["csv", "parquet"])
def tables(request: pytest.FixtureRequest, recording: Path, tmp_path_factory: Any) -> dict[str, pd.DataFrame]:
    """All tables, and the unit of every column by table and column."""
    form, folder = request.param, tmp_path_factory.mktemp("tables")
    with Trajectory(recording) as trajectory:
        files = export_tables(trajectory, folder, TableForm(form))
    names = ["bodies", "frames", "contacts", "joints", "joint_rows", "steps"]
    expected = [folder / f"{name}.{form}" for name in names]
    assert files == expected + [folder / "columns.csv"] * (form == "csv")
    if form == "csv":
        # Python's own parser reads the very numbers that were written; that of pandas before 3 does not.
        options = {"engine": "python", "keep_default_na": False, "na_values": ["nan"]}
        found = {name: pd.read_csv(folder / f"{name}.csv", **options) for name in names}
        columns = pd.read_csv(folder / "columns.csv", keep_default_na=False)
    else:
        found = {name: pd.read_parquet(folder / f"{name}.parquet") for name in names}
        rows = [
            (name, each.name, each.metadata[b"unit"].decode(), each.metadata[b"meaning"].decode())
            for name in names
            for each in pyarrow.parquet.read_schema(folder / f"{name}.parquet")
        ]
        columns = pd.DataFrame(rows, columns=["table", "column", "unit", "meaning"])
    return {**found, "columns": columns}


def vectors(table: pd.DataFrame, name: str, axes: str = "xyz") -> np.ndarray:
    return table[[f"{name}_{axis}" for axis in axes]].to_numpy()


def test_frames_are_one_row_per_frame_and_body(recording: Path, tables: dict[str, pd.DataFrame]) -> None:
    table = tables["frames"]
    assert len(table) == 7 * 6
    with Trajectory(recording) as trajectory:
        for number in range(7):
            rows, frame = table[table["frame"] == number], trajectory.frame(number)
            assert (rows["time"] == frame.time).all()
            assert (rows["steps_done"] == frame.index).all()
            np.testing.assert_array_equal(rows["body"], range(6))
            assert rows["name"].tolist() == ["floor", "", "", "Bällchen <3>", "box", "dumb-bell"]
            np.testing.assert_array_equal(vectors(rows, "position"), frame.position)
            np.testing.assert_array_equal(vectors(rows, "quaternion", "wxyz"), frame.quaternion)
            np.testing.assert_array_equal(vectors(rows, "velocity"), frame.linear_velocity)
            spin = Rotation.from_quat(frame.quaternion, scalar_first=True).apply(frame.angular_velocity)
            np.testing.assert_allclose(vectors(rows, "angular_velocity"), spin, rtol=1e-12, atol=1e-14)
            total, load = summed_forces(trajectory.contacts(number), 6)
            np.testing.assert_allclose(vectors(rows, "contact_force"), total, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(rows["contact_load"], load, rtol=1e-12)


def test_contacts_are_one_row_per_frame_and_contact(recording: Path, tables: dict[str, pd.DataFrame]) -> None:
    table = tables["contacts"]
    assert table.groupby("frame").size().to_dict() == {n: n for n in range(1, 7)}
    with Trajectory(recording) as trajectory:
        for number in range(1, 7):
            rows, contacts = table[table["frame"] == number], trajectory.contacts(number)
            np.testing.assert_array_equal(rows[["body_a", "body_b"]], contacts.bodies)
            for name in ("point", "normal", "force"):
                np.testing.assert_array_equal(vectors(rows, name), getattr(contacts, name))
            np.testing.assert_array_equal(rows["gap"], contacts.gap)
            assert rows["state"].tolist() == [STATES[row % 3] for row in range(number)]


def test_steps_and_bodies(recording: Path, tables: dict[str, pd.DataFrame]) -> None:
    steps = tables["steps"]
    assert steps["steps_done"].tolist() == [1, 2, 3, 4, 5, 6]
    with Trajectory(recording) as trajectory:
        for name in trajectory.steps:
            assert steps[name].tolist() == trajectory.steps[name].tolist(), name
    assert steps["status"].tolist() == ["solved", "iteration limit"] * 3
    about = tables["bodies"]
    assert about["material"].tolist() == ["ice"] + 5 * ["default"]
    assert about["mass"].isna().tolist() == [True] + 5 * [False]
    assert about["radius"].tolist() == [0, 0.5, 0.5, 0.75, 0, 0]


def test_every_column_has_its_unit(tables: dict[str, pd.DataFrame]) -> None:
    columns = tables["columns"]
    described = {name: rows["column"].tolist() for name, rows in columns.groupby("table")}
    assert described == {name: list(table) for name, table in tables.items() if name != "columns"}
    units = columns.set_index(["table", "column"])["unit"]
    assert units["frames", "velocity_x"] == "m/s"
    assert units["frames", "angular_velocity_z"] == "rad/s"
    assert units["contacts", "tangential_force"] == "N"
    assert units["contacts", "gap"] == units["bodies", "radius"] == units["frames", "position_y"] == "m"
    assert units["steps", "kinetic_energy"] == "J"
    assert units["steps", "time"] == units["frames", "time"] == units["steps", "step"] == "s"
    assert units["steps", "residual"] == units["steps", "status"] == ""
    assert (columns["meaning"] != "").all()


def test_ctrl_c_names_what_was_not_begun(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_at(monkeypatch, vtk_module, "write_polydata", 19)
    targets = [tmp_path / name for name in ("vtk", "csv", "end.glb")]
    result = run("export", recording, "--vtk", targets[0], "--csv", targets[1], "--gltf", targets[2])
    said = " ".join(result.stderr.split())
    assert f"3 of 7 frames kept in {targets[0]}; nothing in {targets[1]}, {targets[2]}." in said
    assert [target.exists() for target in targets] == [True, False, False]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_ctrl_c_keeps_whole_rows(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    from nonsmooth.view.exports import tables as module

    interrupt_at(monkeypatch, module, "_rows", 4)
    result = run("export", recording, f"--{form}", tmp_path)
    assert result.exit_code == 130
    read = pd.read_csv if form == "csv" else pd.read_parquet
    done = 2  # the first call is for the list of columns
    assert f"Interrupted: {done} of 7 frames kept in {tmp_path}." in " ".join(result.stderr.split())
    table = read(tmp_path / f"frames.{form}")
    assert table["frame"].tolist() == [frame for frame in range(done) for _ in range(6)]
    assert len(read(tmp_path / f"steps.{form}")) == 6
    assert not list(tmp_path.glob("*.part"))


def test_a_span_of_time_holds_for_steps_as_well(recording: Path, tmp_path: Path) -> None:
    result = run("export", recording, "--csv", tmp_path, "--from", "0.2", "--to", "0.5", "--every", "2")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith(f"2 frames in {tmp_path}:")
    assert sorted(set(pd.read_csv(tmp_path / "frames.csv")["frame"])) == [2, 4]
    assert pd.read_csv(tmp_path / "steps.csv")["steps_done"].tolist() == [2, 3, 4, 5]


# ---- glTF -----------------------------------------------------------------------------------------------


def glb_parts(path: Path) -> tuple[dict[str, Any], bytes]:
    """JSON and numbers of a .glb file, whose lengths are checked."""
    data = path.read_bytes()
    magic, version, length = struct.unpack_from("<4sII", data)
    assert (magic, version, length) == (b"glTF", 2, len(data))
    chunks, at = {}, 12
    while at < len(data):
        size, kind = struct.unpack_from("<I4s", data, at)
        assert size % 4 == 0
        chunks[kind] = data[at + 8 : at + 8 + size]
        at += 8 + size
    assert at == len(data)
    return json.loads(chunks[b"JSON"]), chunks[b"BIN\0"]


def test_trimesh_reads_bodies_where_they_are(recording: Path, tmp_path: Path) -> None:
    with Trajectory(recording) as trajectory:
        frame = trajectory.frame(4)
        export_gltf(trajectory, tmp_path / "a.glb", 4)
    scene = trimesh.load_scene(tmp_path / "a.glb")
    turns = Rotation.from_quat(frame.quaternion, scalar_first=True).as_matrix()
    names = ["floor", "body 1", "body 2", "Bällchen <3>", "box", "dumb-bell"]
    for body, (name, scale) in enumerate(zip(names, [1, 0.5, 0.5, 0.75, 1, 1], strict=True)):
        placed, _ = scene.graph.get(frame_to=name, frame_from="z up")
        np.testing.assert_allclose(placed[:3, 3], frame.position[body], rtol=1e-12)
        np.testing.assert_allclose(placed[:3, :3], scale * turns[body], atol=1e-12)
        world, _ = scene.graph.get(frame_to=name)
        x, y, z = frame.position[body]
        np.testing.assert_allclose(world[:3, 3], [x, z, -y], rtol=1e-12)  # y is up in glTF
    for shape, x in ((0, -1.0), (1, 1.0)):
        end, _ = scene.graph.get(frame_to=f"dumb-bell, shape {shape}", frame_from="dumb-bell")
        np.testing.assert_allclose(
            end, trimesh.transformations.translation_matrix([x, 0, 0]) @ np.diag([0.25] * 3 + [1])
        )
    _, geometry = scene.graph.get("box")
    np.testing.assert_allclose(np.abs(scene.geometry[geometry].vertices), np.tile([0.5, 1.0, 1.5], (36, 1)))
    assert scene.geometry[geometry].volume == pytest.approx(6.0)


def test_equal_shapes_are_stored_once(recording: Path, tmp_path: Path) -> None:
    with Trajectory(recording) as trajectory:
        export_gltf(trajectory, tmp_path / "a.glb", 2)
    content, block = glb_parts(tmp_path / "a.glb")
    assert content["scenes"][0]["extras"] == {"time": pytest.approx(0.2)}
    assert len(content["buffers"]) == 1
    assert content["buffers"][0]["byteLength"] == len(block)
    # One ball for five spheres, the box, the rod, the plane and the hinge: place, normal and index of each.
    assert len(content["accessors"]) == len(content["bufferViews"]) == 3 * 5
    nodes = {node["extras"]["body"]: node for node in content["nodes"] if "extras" in node}
    balls = [content["meshes"][nodes[body]["mesh"]]["primitives"][0] for body in (1, 2, 3)]
    assert len({ball["attributes"]["POSITION"] for ball in balls}) == 1
    assert len({ball["material"] for ball in balls}) == 3  # a colour for each body
    for view, accessor in zip(content["bufferViews"], content["accessors"], strict=True):
        kind = {5126: np.float32, 5123: np.uint16}[accessor["componentType"]]
        raw = block[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]
        numbers = np.frombuffer(raw, kind).reshape(accessor["count"], -1)
        assert numbers.shape[1] == {"VEC3": 3, "SCALAR": 1}[accessor["type"]]
        if "min" in accessor:
            np.testing.assert_array_equal(numbers.min(axis=0), np.float32(accessor["min"]))
            np.testing.assert_array_equal(numbers.max(axis=0), np.float32(accessor["max"]))


def test_rods_go_from_joint_to_joint(tmp_path: Path) -> None:
    with Trajectory(cantilever(tmp_path / "run.h5")) as trajectory:
        export_gltf(trajectory, tmp_path / "a.glb")
    scene = trimesh.load_scene(tmp_path / "a.glb")
    place, geometry = scene.graph.get(frame_to="joint 1", frame_from="z up")
    rod = scene.geometry[geometry].copy().apply_transform(place)
    np.testing.assert_allclose(rod.bounds[:, 2], [-1.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(rod.bounds.mean(axis=0), [5.0, 0.0, -0.5], atol=1e-6)
    assert 0.0 < np.ptp(rod.bounds[:, 0]) < 0.2


def test_colours_are_those_of_the_pictures_in_linear_light(recording: Path, tmp_path: Path) -> None:
    from nonsmooth.view.drawing.colours import FIXED_COLOUR

    with Trajectory(recording) as trajectory:
        export_gltf(trajectory, tmp_path / "a.glb")
    content, _ = glb_parts(tmp_path / "a.glb")
    floor = next(node for node in content["nodes"] if node["name"] == "floor")
    material = content["materials"][content["meshes"][floor["mesh"]]["primitives"][0]["material"]]
    linear = np.array(material["pbrMetallicRoughness"]["baseColorFactor"][:3])
    shown = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    np.testing.assert_allclose(255 * shown, FIXED_COLOUR, atol=1e-3)


def test_gltf_of_the_frame_nearest_to_a_time(recording: Path, tmp_path: Path) -> None:
    for words, time in (((), 0.6), (("--time", "0.27", "--colour", "speed"), 0.3), (("--time", "0"), 0.0)):
        result = run("export", recording, "--gltf", tmp_path / "a.glb", *words)
        assert result.exit_code == 0, result.stderr
        assert " ".join(result.stdout.split()).startswith(f"Frame at t = {time:g} s in")
        assert glb_parts(tmp_path / "a.glb")[0]["scenes"][0]["extras"]["time"] == pytest.approx(time)


# ---- what was not recorded, and mistakes ----------------------------------------------------------------


def test_runs_that_recorded_less(tmp_path: Path) -> None:
    path = record(tmp_path / "some.h5", 2, fields=("position",))
    result = run("export", path, "--vtk", tmp_path / "out", "--surfaces", "none", "--csv", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    assert "3 frames in" in result.stdout
    assert sorted(file.name for file in (tmp_path / "out").glob("*.*")) == [
        "bodies.csv", "bodies.pvd", "columns.csv", "frames.csv", "steps.csv",
    ]  # fmt: skip
    data = read_vtp(tmp_path / "out" / "frames" / "bodies_000001.vtp")
    assert not any(data.GetPointData().HasArray(name) for name in ("velocity", "quaternion", "contact_force"))
    assert list(pd.read_csv(tmp_path / "out" / "frames.csv"))[-1] == "position_z"
    with Trajectory(path) as trajectory, pytest.raises(OptionError, match="quaternions were not recorded"):
        export_gltf(trajectory, tmp_path / "a.glb")
    result = run("export", path, "--vtk", tmp_path / "out")
    assert "surfaces cannot be placed without them: choose surfaces none" in " ".join(result.stderr.split())
    path = record(tmp_path / "none.h5", 2, fields=("contacts",))
    result = run("export", path, "--vtk", tmp_path / "new", "--surfaces", "none")
    assert result.exit_code == 1
    assert "positions were not recorded" in " ".join(result.stderr.split())
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), r"give one or more of --vtk DIR, --csv DIR, --parquet DIR or --gltf FILE\.glb"),
        (("--gltf", "a.gltf"), r"--gltf a\.gltf: the name must end in \.glb"),
        (("--gltf", "missing/a.glb"), "there is no folder missing"),
        (("--gltf", "a.glb", "--every", "2"), "--every applies only to --vtk, --csv or --parquet"),
        (("--csv", "t", "--time", "1"), r"--time applies only to --gltf FILE\.glb"),
        (("--csv", "t", "--surfaces", "all"), "--surfaces applies only to --vtk DIR"),
        (("--vtk", "v", "--surfaces", "mesh"), r"--surfaces mesh: did you mean meshes\?"),
        (("--gltf", "a.glb", "--colour", "mood"), "--colour mood: choose one of speed, force, body"),
        (("--csv", "t", "--every", "0"), "every is 0: give a whole number, 1 or more"),
        (
            ("--csv", "t", "--from", "3"),
            "no frame between 3 s and the end: the recording goes from 0 to 0.6 s",
        ),
        (("--csv", "t", "--from", "0.5", "--to", "0.2"), "the span from 0.5 to 0.2 s is empty"),
        (("--gltf", "a.glb", "--time", "0.7"), "no frame at 0.7 s: the recording goes from 0 to 0.6 s"),
        (("--vtk", "file"), "file is a file: name a folder"),
        (("--csv", "file"), "file is a file: name a folder"),
    ],
)
def test_mistakes(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    result = run("export", recording, *words)
    assert result.exit_code == 1
    assert re.search(sentence, " ".join(result.stderr.split()))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    result = run("export", tmp_path / "nothing.h5", "--csv", tmp_path / "t")
    assert result.exit_code == 1
    assert "nothing.h5: No such file" in " ".join(result.stderr.split())


def test_parquet_without_pyarrow(recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    result = run("export", recording, "--parquet", tmp_path / "t", "--vtk", tmp_path / "v")
    assert result.exit_code == 1
    assert 'pip install "nonsmooth[tables]"' in result.stderr
    assert not list(tmp_path.iterdir())


def test_selections_forgive_rounding() -> None:
    times = np.cumsum(np.full(100, 0.1)) - 0.1
    assert times[3] > 0.3  # 0.30000000000000004
    assert Selection(0.3, 0.7).frames(times) == [3, 4, 5, 6, 7]
    assert Selection(every=40).frames(times) == [0, 40, 80]
    assert frame_nearest(times, 9.9) == 99
    with pytest.raises(OptionError, match=r"no frame at 10\.5 s"):
        frame_nearest(times, 10.5)


# ---- the recording itself -------------------------------------------------------------------------------


def test_every_dataset_says_its_unit_and_is_in_the_table_of_the_docs(recording: Path) -> None:
    page = (ROOT / "docs" / "recording.md").read_text(encoding="utf-8")
    table = page[page.index("| dataset |") :].split("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in table]
    documented = {name.strip("`"): (kind, shape, unit) for name, kind, shape, unit in rows}
    found = {"settings": ("text", (), "what the run was asked for, as JSON")}  # JSON says what it is itself

    def visit(name: str, node: Any) -> None:
        if isinstance(node, h5py.Dataset) and name not in found:
            word = {"f": "float", "i": "integer"}.get(node.dtype.kind)
            kind = f"{word}{8 * node.dtype.itemsize}" if word else "text"
            found[name] = (kind, node.shape, node.attrs["unit"].decode())

    with h5py.File(recording, "r") as file:
        file.visititems(visit)
        assert file.attrs["format"] == b"nonsmooth-trajectory"
        assert file.attrs["version"] == 1
    found |= {f"steps/{name}": ("float64", (6,), unit) for name, unit in INTEGRATOR_NUMBERS.items()}
    found["shapes/rounding"] = ("float64", found["shapes/body"][1], "m")  # only where a shape is rounded
    assert documented.keys() == found.keys()
    sizes: dict[str, int] = {}
    for name, (kind, shape, unit) in documented.items():
        assert (kind, unit) == found[name][::2], name
        letters = [each for each in shape.strip("()").split(", ") if each]
        assert len(letters) == len(found[name][1]), name
        for letter, size in zip(letters, found[name][1], strict=True):
            assert size == (int(letter) if letter.isdigit() else sizes.setdefault(letter, size)), name
    wanted = {"n": 6, "b": 4, "s": 8, "m": 2, "j": 1, "i": 1, "r": 5, "f": 7, "c": 21, "k": 6}
    assert wanted.items() <= sizes.items()


def test_an_older_file_still_opens(recording: Path, tmp_path: Path) -> None:
    """As files were before there were joints and their reactions, schemes, and all of today's numbers."""
    path = tmp_path / "old.h5"
    path.write_bytes(recording.read_bytes())
    with h5py.File(path, "r+") as file:
        assert {"joints", "joint_rows", "reactions"} <= set(file)
        for name in ("joints", "joint_rows", "reactions", "steps/joint_error", "steps/kinetic_energy"):
            del file[name]
    with Trajectory(path) as old, Trajectory(recording) as new:
        assert len(old) == len(new) == 7
        assert len(old.joints) == 0
        assert not old.has_reactions
        assert "joint_error" in new.steps
        assert "joint_error" not in old.steps
        assert old.settings == new.settings
        np.testing.assert_array_equal(old.frame(3).position, new.frame(3).position)
        np.testing.assert_array_equal(old.contacts(3).impulse, new.contacts(3).impulse)
        with pytest.raises(OptionError, match="reactions were not recorded"):
            old.reactions(-1)
    for words in (("inspect",), ("export", "--csv", tmp_path / "t", "--vtk", tmp_path / "v")):
        result = run(words[0], path, *words[1:])
        assert result.exit_code == 0, result.stderr
    assert len(pd.read_csv(tmp_path / "t" / "frames.csv")) == 42
