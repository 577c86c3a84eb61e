"""A recorded run for ParaView: series of bodies, their surfaces, contacts and joints, frame by frame.

DIR/bodies.pvd     points at the centres of mass, with the quantities of the bodies
DIR/surfaces.pvd   triangles of all shapes where they are
DIR/contacts.pvd   points of the contacts, with their forces
DIR/joints.pvd     points of the joints, with their forces and torques
DIR/rods.pvd       lines along the joints between two points, with the same
DIR/frames/        what the series name: bodies_000000.vtp, …
"""

from __future__ import annotations

import re
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth._support.progress import Progress, frames_with_progress
from nonsmooth.errors import OptionError
from nonsmooth.io.exports.selection import Selection
from nonsmooth.io.exports.vtk import PvdSeries, VtkArray, write_polydata
from nonsmooth.io.runs.trajectory import Trajectory
from nonsmooth.view.drawing.geometry import stretched
from nonsmooth.view.exports.quantities import FrameQuantities, Quantities, Quantity, positions
from nonsmooth.view.exports.surfaces import Surfaces, drawn_parts, pose

_SURFACES = ("surfaces", "planes", "mechanism")
_SERIES = ("bodies", *_SURFACES, "contacts", "joints", "rods")


class SurfaceChoice(StrEnum):
    """Which shapes are written as surfaces."""

    ALL = "all"
    """Every one."""
    MESHES = "meshes"
    """All but spheres, which ParaView draws faster as glyphs of the bodies' points."""
    NONE = "none"
    """No surfaces."""


def export_vtk(
    trajectory: Trajectory,
    folder: Path,
    selection: Selection | None = None,
    *,
    surfaces: SurfaceChoice = SurfaceChoice.ALL,
    progress: Progress | None = None,
) -> list[Path]:
    """Write the chosen frames into a folder and return the .pvd files, which are complete after each frame.

    Args:
        trajectory: a recorded run with positions; surfaces need quaternions too.
        folder: made if it is not there; an earlier export in it is replaced.
        selection: of the frames; all if left out.
        surfaces: which shapes become triangles.
        progress: called as progress(frames done, of how many, what).
    """
    frames = (selection or Selection()).frames(trajectory.times)
    writer = _FrameWriter(trajectory, frames, folder, surfaces)
    _clear(folder)
    with ExitStack() as stack:
        series = {name: stack.enter_context(PvdSeries(folder / f"{name}.pvd")) for name in writer.names}
        for number in frames_with_progress(frames, progress):
            time, files = writer.write(number)
            for name, file in files.items():
                series[name].add(time, file)
    return [folder / f"{name}.pvd" for name in writer.names]


class _FrameWriter:
    """Writes the files of one frame."""

    def __init__(
        self, trajectory: Trajectory, frames: list[int], folder: Path, choice: SurfaceChoice
    ) -> None:
        self._quantities = Quantities(trajectory)
        self._folder = folder
        positions(trajectory.frame(frames[0]), trajectory)  # refuses before anything is written
        self._surfaces = _chosen(trajectory, frames, choice)
        present = {"bodies", *self._surfaces, *trajectory.fields}
        if len(trajectory.joints) and "quaternion" in trajectory.fields:  # else nobody knows where they are
            present.add("joints")
            self._stretched = stretched(trajectory.joints)
            present |= {"rods"} if self._stretched.any() else set()
        self.names = [name for name in _SERIES if name in present]

    def write(self, number: int) -> tuple[float, dict[str, str]]:
        """Write the files of a frame; return its time (s) and, by series, the file's name in the folder."""
        found = self._quantities.at(number)
        files = {name: f"frames/{name}_{number:06d}.vtp" for name in self.names}
        bodies = [*self._quantities.constants, *found.bodies]
        self._points(files["bodies"], found, bodies, "position")
        if found.contacts is not None:
            self._points(files["contacts"], found, found.contacts, "point")
        if "joints" in files:
            assert found.joints is not None
            self._points(files["joints"], found, found.joints, "point")
            if "rods" in files:
                self._rods(files["rods"], found, found.joints)
        for name, surfaces in self._surfaces.items():
            self._triangles(files[name], found, surfaces)
        return found.frame.time, files

    def _points(self, file: str, found: FrameQuantities, quantities: list[Quantity], place: str) -> None:
        """Write points with their quantities; `place` names the quantity that says where they are."""
        points = next(q.values for q in quantities if q.name == place)
        assert not isinstance(points, list)
        arrays = [VtkArray(q.name, q.values, q.unit) for q in quantities if q.name != place]
        write_polydata(self._folder / file, points, arrays, facts=self._facts(found, quantities))

    def _rods(self, file: str, found: FrameQuantities, quantities: list[Quantity]) -> None:
        """Write the lines of joints between two points; both ends have the quantities of the joint."""
        rows = np.repeat(np.flatnonzero(self._stretched), 2)
        values = {q.name: q.values for q in quantities}
        points = np.where(np.arange(len(rows))[:, None] % 2, values["point"][rows], values["point_a"][rows])
        arrays = [
            VtkArray(
                q.name,
                [q.values[row] for row in rows] if isinstance(q.values, list) else q.values[rows],
                q.unit,
            )
            for q in quantities
            if q.name not in ("point", "point_a", "axis")
        ]
        lines = np.arange(len(rows)).reshape(-1, 2)
        write_polydata(self._folder / file, points, arrays, cells=lines, facts=self._facts(found, quantities))

    def _triangles(self, file: str, found: FrameQuantities, surfaces: Surfaces) -> None:
        """Write triangles; single precision is what screens can show."""
        vertices, normals = surfaces.placed(*pose(found.frame, self._quantities.trajectory))
        arrays = [VtkArray("body", surfaces.body)]
        for q in found.bodies:
            if q.name in ("speed", "contact_load") and not isinstance(q.values, list):
                arrays.append(VtkArray(q.name, _single(surfaces.of_bodies(q.values)), q.unit))
        write_polydata(
            self._folder / file,
            _single(vertices),
            arrays,
            cells=surfaces.mesh.faces,
            normals=_single(normals),
            facts=self._facts(found, []),
        )

    def _facts(self, found: FrameQuantities, quantities: list[Quantity]) -> list[VtkArray]:
        """The time, as ParaView calls it, and what the numbers of materials and states mean."""
        time = VtkArray("TimeValue", np.array([found.frame.time]), "s")
        return [time, *(VtkArray(f"{q.name}_names", list(q.words)) for q in quantities if q.words)]


def _chosen(trajectory: Trajectory, frames: list[int], choice: SurfaceChoice) -> dict[str, Surfaces]:
    """Return the surfaces to write by the name of their series; those without triangles are left out."""
    if choice is SurfaceChoice.NONE:
        return {}
    if "quaternion" not in trajectory.fields:
        raise OptionError(
            f"quaternions were not recorded in {trajectory.path}, and surfaces cannot be placed without "
            "them: choose surfaces none"
        )
    drawn = drawn_parts(trajectory, frames)
    everything = choice is SurfaceChoice.ALL
    solids = [part for part in drawn.solids if everything or not part.radius]
    groups = zip(_SURFACES, (solids, drawn.planes, drawn.mechanism), strict=True)
    return {name: Surfaces.of(parts) for name, parts in groups if parts}


def _single(values: NDArray[Any]) -> NDArray[np.float32]:
    return values.astype(np.float32)


def _clear(folder: Path) -> None:
    """Make the folders, and delete the files that an earlier export left: they may be more than will come."""
    if folder.exists() and not folder.is_dir():
        raise OptionError(f"{folder} is a file: name a folder for the series")
    frames = folder / "frames"
    frames.mkdir(parents=True, exist_ok=True)
    for name in _SERIES:
        (folder / f"{name}.pvd").unlink(missing_ok=True)
    for file in frames.iterdir():
        if re.fullmatch(rf"({'|'.join(_SERIES)})_\d+\.vtp(\.part)?", file.name):
            file.unlink()
