"""Scene files: a system and the settings of its run, in TOML.

    scene = read_scene("drop.toml")
    scene.system, scene.settings["duration"]

docs/scene-files.md describes every key. Bodies come first, in the order of the file, then the spheres of
the grids: the number of a [[bodies]] entry, from 0, is its index in the system. Joints come after all bodies.
"""

from __future__ import annotations

import math
import os
import re
import tomllib
from dataclasses import dataclass
from typing import Any

import numpy as np

from nonsmooth._support.arrays import Floats
from nonsmooth.errors import FileFormatError
from nonsmooth.io.scenes import joints as scene_joints
from nonsmooth.io.scenes.toml_lines import lines_of
from nonsmooth.io.scenes.toml_tables import Table
from nonsmooth.model import checks as check
from nonsmooth.model import quaternions, shapes
from nonsmooth.model.forces import Harmonic
from nonsmooth.model.shapes import Shape
from nonsmooth.model.system import System
from nonsmooth.problem.laws import Law

FilePath = str | os.PathLike[str]

_SOLIDS = tuple(name for name, shape in shapes.BY_NAME.items() if shape is not shapes.HalfSpace)
"""Shapes of bodies and of parts of compounds; a half-space is placed by a point and its normal instead."""

_BODY_SHAPES = (*_SOLIDS, "compound", "plane", "none")
_PLANE_KEYS = ("normal", "point", "velocity", "angular_velocity", "material", "name")
_BODY_KEYS = (
    "mass",
    "density",
    "inertia",
    "position",
    "orientation",
    "velocity",
    "angular_velocity",
    "material",
    "fixed",
    "name",
)
_GRID_KEYS = ("radius", "counts", "spacing", "origin", "jitter", "seed")
_GRID_BODY_KEYS = ("mass", "density", "velocity", "material")
_SURFACE_KEYS = ("friction", "restitution", "impact_law")
_FORCE_KEYS = ("body", "force", "torque", "point", "frequency", "phase")
_RUN_KEYS = (
    "duration",
    "step",
    "law",
    "solver",
    "tolerance",
    "margin",
    "threads",
    "throw",
    "scheme",
    "contact_check",
    "assemble",
)
_LARGEST_GRID = 10_000_000
_CHOICES = {
    "scheme": ("stabilised", "projected", "rattle", "ballistic"),
    "contact_check": ("sampled", "all", "none"),
}


@dataclass(frozen=True)
class Scene:
    """Contents of a scene file.

    Args:
        system: the bodies, joints, materials and forces.
        settings: the entries of [run] by key; omitted keys are missing. Times in s, margin in m.
        assemble: whether to close the joints before the run, with `nonsmooth.assemble`.
    """

    system: System
    settings: dict[str, Any]
    assemble: bool = False


def read_scene(path: FilePath) -> Scene:
    """Read a scene file; an error names the file, the line and the key."""
    root = _root(path)
    parts = ("gravity", "run", "materials", "pairs", "bodies", "grids", "forces")
    root.check_keys(*parts, *scene_joints.PARTS)
    with root.blame():
        system = System(**root.picked("gravity"))
    settings = _settings(root.table("run"))
    _add_materials(system, root)
    for body in root.tables("bodies"):
        with body.blame():
            _add_body(system, body)
    for grid in root.tables("grids"):
        with grid.blame():
            _add_grid(system, grid)
    for force in root.tables("forces"):
        with force.blame():
            _add_force(system, force)
    scene_joints.add_joints(system, root)
    assemble = settings.pop("assemble", False)
    return Scene(system, settings, assemble)


def _root(path: FilePath) -> Table:
    file = os.fspath(path)
    try:
        with open(path, encoding="utf-8-sig") as stream:
            text = stream.read()
        values = tomllib.loads(text)
    except OSError as error:
        raise type(error)(f"cannot read {file}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{file} is not a text file in UTF-8: give a scene in TOML") from error
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        line = found[1] if found else str(text.count("\n") + 1)
        cause = re.sub(r"\s*\(at .*\)", "", str(error))
        raise FileFormatError(f"{file}, line {line}: {cause}; this is not valid TOML") from error
    return Table(file, lines_of(text), values)


def _add_materials(system: System, root: Table) -> None:
    materials = root.table("materials")
    for name in materials.values:
        material = materials.table(name)
        material.check_keys(*_SURFACE_KEYS)
        with material.blame():
            system.add_material(name, **material.values)
    for pair in root.tables("pairs"):
        pair.check_keys("materials", *_SURFACE_KEYS)
        names = pair.needed("materials")
        if not isinstance(names, list) or len(names) != 2:
            pair.fail('give the names of two materials, as ["steel", "rubber"]', "materials")
        for name in names:
            if name not in system.materials.names:
                known = ", ".join(system.materials.names)
                pair.fail(f"material {name!r} is not known: use one of {known}", "materials")
        with pair.blame():
            system.set_pair(*names, **pair.picked(*_SURFACE_KEYS))


def _add_body(system: System, body: Table) -> None:
    shape = body.choice("shape", _BODY_SHAPES)
    body.check_flags("fixed")
    _check_material(system, body)
    if shape == "plane":
        body.check_keys("shape", *_PLANE_KEYS)
        system.add_plane(**body.picked(*_PLANE_KEYS))
        return
    options = body.picked(*_BODY_KEYS)
    if "orientation" in options:
        options["orientation"] = _orientation(body)
    system.add_body(_shape(body, shape, _BODY_KEYS), **options)


def _shape(table: Table, name: str, others: tuple[str, ...]) -> Shape | None:
    """Build the shape of a body or of a part of a compound; `others` are keys with other uses."""
    if name == "none":
        table.check_keys("shape", *others)
        return None
    if name == "compound":
        table.check_keys("shape", "parts", *others)
        table.needed("parts")
        return shapes.Compound(tuple(_part(part) for part in table.tables("parts")))
    solid = shapes.BY_NAME[name]
    table.check_keys("shape", *solid.keys, *solid.optional_keys, *others)
    return solid(*(table.needed(key) for key in solid.keys), **table.picked(*solid.optional_keys))


def _part(part: Table) -> tuple[Shape, Any, Any]:
    with part.blame():
        shape = _shape(part, part.choice("shape", _SOLIDS), ("position", "orientation"))
        assert shape is not None
        turn = _orientation(part) if "orientation" in part.values else quaternions.IDENTITY
        placed = (shape, part.values.get("position", (0.0, 0.0, 0.0)), turn)
        shapes.Compound((placed,))  # so that a wrong position is reported at this part
    return placed


def _orientation(table: Table) -> Any:
    """Read a quaternion, or a table of axis and angle."""
    given = table.values["orientation"]
    if not isinstance(given, dict):
        return given
    turn = table.table("orientation")
    turn.check_keys("axis", "angle")
    with turn.blame():
        axis = _vector(turn, "axis")
        return quaternions.from_axis_angle(axis, _number(turn, "angle"))


def _add_grid(system: System, grid: Table) -> None:
    """Add a lattice of spheres: x runs fastest, then y, then z."""
    grid.check_keys(*_GRID_KEYS, *_GRID_BODY_KEYS)
    _check_material(system, grid)
    counts = grid.needed("counts")
    whole = isinstance(counts, list) and all(type(count) is int and count > 0 for count in counts)
    if not whole or len(counts) != 3:
        grid.fail("give three whole numbers above zero, as [10, 10, 5]", "counts")
    if math.prod(counts) > _LARGEST_GRID:
        grid.fail(f"a grid of more than {_LARGEST_GRID:,} spheres: give smaller counts", "counts")
    spacing = grid.needed("spacing")
    step = _vector(grid, "spacing") if isinstance(spacing, list) else np.full(3, _number(grid, "spacing"))
    if np.any(step <= 0.0):
        grid.fail(f"it is {spacing} m: the distance of neighbours must be positive", "spacing")
    origin = _vector(grid, "origin") if "origin" in grid.values else np.zeros(3)
    nx, ny, nz = counts
    z, y, x = (index.ravel() for index in np.indices((nz, ny, nx)))
    centres = origin + step * np.column_stack([x, y, z])
    jitter = _number(grid, "jitter") if "jitter" in grid.values else 0.0
    if jitter < 0.0:
        grid.fail(f"it is {jitter:g} m: it must not be negative", "jitter")
    if "seed" in grid.values and "jitter" not in grid.values:
        grid.fail("seed needs jitter, which is missing: give both, or neither", "seed")
    random = np.random.default_rng(grid.whole("seed", smallest=0, default=0))
    centres += random.uniform(-jitter, jitter, centres.shape)
    options: dict[str, Any] = grid.picked("material")
    options |= {key: _number(grid, key) for key in ("mass", "density") if key in grid.values}
    if "velocity" in grid.values:
        options["velocities"] = np.tile(_vector(grid, "velocity"), (len(centres), 1))
    system.add_spheres(_number(grid, "radius"), centres, **options)


def _add_force(system: System, force: Table) -> None:
    force.check_keys(*_FORCE_KEYS)
    body = force.needed("body")
    vectors: dict[str, Floats] = {
        key: _vector(force, key) for key in ("force", "torque", "point") if key in force.values
    }
    if not {"force", "torque"} & set(vectors):
        force.fail("it is empty: give force, torque or both")
    if "phase" in force.values and "frequency" not in force.values:
        force.fail("phase needs frequency, which is missing: give both, or neither", "phase")
    options: dict[str, Any] = {**vectors}
    if "frequency" in force.values:
        wave = {key: _number(force, key) for key in ("frequency", "phase") if key in force.values}
        for key in ("force", "torque"):
            if key in vectors:
                options[key] = Harmonic(tuple(vectors[key].tolist()), **wave)
    system.add_force(body, **options)


def _settings(run: Table) -> dict[str, Any]:
    run.check_keys(*_RUN_KEYS)
    for key, unit in {"duration": "s", "step": "s", "tolerance": "", "margin": "m"}.items():
        if key in run.values:
            with run.blame():
                check.positive(key, run.values[key], unit)
    if "threads" in run.values:
        run.whole("threads", smallest=1)
    for key, choices in _CHOICES.items():
        if key in run.values:
            run.choice(key, choices)
    run.check_flags("assemble", "throw")
    if "law" in run.values:
        with run.blame():
            Law.parse(run.values["law"])
    if "solver" in run.values:
        from nonsmooth.solvers import REGISTRY  # it loads the compiler, which most scenes do not need

        run.choice("solver", tuple(REGISTRY))
    return dict(run.values)


def _check_material(system: System, table: Table) -> None:
    if "material" in table.values:
        table.choice("material", system.materials.names)


def _number(table: Table, key: str) -> float:
    return check.number(key, table.needed(key))


def _vector(table: Table, key: str) -> Floats:
    return check.vector(key, table.needed(key))
