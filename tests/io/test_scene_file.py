"""Scene files: what they say arrives in the system, and what is wrong is named with line and key."""

from __future__ import annotations

import re
import tomllib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.paths import ROOT
from nonsmooth.errors import FileFormatError, GeometryWarning
from nonsmooth.io import read_scene
from nonsmooth.io.scenes.joints import PARTS as JOINT_PARTS
from nonsmooth.io.scenes.scene_file import Scene
from nonsmooth.io.scenes.toml_lines import line_of, lines_of
from nonsmooth.model import ConvexHull, quaternions
from nonsmooth.model.shapes import CYLINDER

PAGE = ROOT / "docs" / "scene-files.md"
EXAMPLES = re.findall(r"^```toml\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture
def read(tmp_path):
    def read_text(text: str) -> Scene:
        path = tmp_path / "scene.toml"
        path.write_text(text, encoding="utf-8")
        return read_scene(path)

    return read_text


@pytest.mark.parametrize("text", EXAMPLES)
def test_examples_of_the_documentation_are_read(read, text):
    scene = read(text)
    assert scene.system.count or scene.settings or len(scene.system.materials) > 1


def test_documentation_shows_every_part_of_the_format():
    parsed = [tomllib.loads(text) for text in EXAMPLES]
    parts = {"gravity", "run", "materials", "pairs", "bodies", "grids", "forces"}
    assert set().union(*parsed) == parts | set(JOINT_PARTS)
    shapes = {body["shape"] for example in parsed for body in example.get("bodies", [])}
    named = PAGE.read_text(encoding="utf-8").split("| shape | keys |")[1].split("\n\n")[0]
    assert shapes == set(re.findall(r"^\| `(\w+)` \|", named, re.MULTILINE))


def test_bodies_materials_and_settings_arrive(read):
    scene = read("""
gravity = [0, 0, -10]
[run]
duration = 2
step = 0.005
law = "pyramid(6)"
solver = "gauss-seidel"
[materials.ice]
friction = 0.02
[materials.steel]
restitution = 0.5
[[pairs]]
materials = ["ice", "steel"]
friction = 0.1
[[bodies]]
shape = "plane"
normal = [1, 0, 1]
point = [0, 0, -1]
material = "ice"
[[bodies]]
name = "rod"
shape = "cylinder"
radius = 0.5
length = 2
mass = 12
position = [1, 2, 3]
orientation = { axis = [0, 2, 0], angle = 1.5707963267948966 }
velocity = [1, 0, 0]
angular_velocity = [0, 0, 4]
material = "steel"
""")
    system = scene.system
    assert scene.settings == {
        "duration": 2,
        "step": 0.005,
        "law": "pyramid(6)",
        "solver": "gauss-seidel",
    }
    assert system.names == {"rod": 1}
    np.testing.assert_array_equal(system.fixed, [True, False])
    normal = quaternions.rotate(system.quaternion[0], (0, 0, 1))
    np.testing.assert_allclose(normal, np.array([1, 0, 1]) / np.sqrt(2), atol=1e-15)
    np.testing.assert_allclose(quaternions.rotate(system.quaternion[1], (0, 0, 1)), (1, 0, 0), atol=1e-15)
    np.testing.assert_array_equal(system.position, [[0, 0, -1], [1, 2, 3]])
    np.testing.assert_array_equal(system.linear_velocity[1], [1, 0, 0])
    np.testing.assert_array_equal(system.angular_velocity[1], [0, 0, 4])
    np.testing.assert_allclose(system.inertia[1], 12 * np.diag([0.0625 + 1 / 3, 0.0625 + 1 / 3, 0.125]))
    table = system.shapes
    assert table.kind[1] == CYLINDER
    np.testing.assert_array_equal(table.size[1], [0.5, 1.0, 0.0, 0.0])
    pairs = system.materials.pair_table()
    ice, steel = table.material
    assert pairs.friction[ice, steel] == 0.1
    assert pairs.restitution[steel, steel] == 0.5
    np.testing.assert_array_equal(system.forces(0.0)[1], [0, 0, -120, 0, 0, 0])


def test_grid_is_a_lattice(read):
    text = """
[[bodies]]
shape = "plane"
[[grids]]
radius = 0.1
mass = 2.0
counts = [4, 3, 2]
spacing = [0.3, 0.4, 0.5]
origin = [1, 2, 3]
velocity = [0, 0, -1]
"""
    system = read(text).system
    assert system.count == 1 + 24
    np.testing.assert_allclose(system.position[1:4], [[1, 2, 3], [1.3, 2, 3], [1.6, 2, 3]])
    np.testing.assert_allclose(system.position[1 + 4], [1, 2.4, 3])
    np.testing.assert_allclose(system.position[-1], [1 + 3 * 0.3, 2 + 2 * 0.4, 3 + 0.5])
    np.testing.assert_array_equal(system.linear_velocity[1:], np.tile([0, 0, -1], (24, 1)))
    shaken = [read(f"{text}jitter = 0.05\nseed = {seed}").system.position[1:] for seed in (1, 1, 2)]
    np.testing.assert_array_equal(shaken[0], shaken[1])
    assert not np.array_equal(shaken[0], shaken[2])
    shift = np.abs(shaken[0] - system.position[1:])
    assert 0.02 < shift.max() <= 0.05


def test_harmonic_force_is_a_sine(read):
    system = read("""
[[bodies]]
name = "block"
shape = "box"
size = [1, 1, 1]
mass = 1
[[forces]]
body = "block"
force = [3, 0, 0]
torque = [0, 0, 5]
frequency = 0.25
phase = 0.5
[[forces]]
body = 0
force = [0, 1, 0]
point = [0, 0, 2]
""").system
    for t in (0.0, 0.7):
        wave = np.sin(2 * np.pi * 0.25 * t + 0.5)
        np.testing.assert_allclose(system.forces(t)[0], [3 * wave, 1, -9.81, -2, 0, 5 * wave])


def test_compound_of_parts_hangs_on_its_centroid(read):
    system = read("""
[[bodies]]
shape = "compound"
density = 1
position = [0, 0, 7]
[[bodies.parts]]
shape = "box"
size = [1, 1, 1]
position = [1, 0, 0]
[[bodies.parts]]
shape = "box"
size = [1, 1, 1]
position = [4, 0, 0]
orientation = [1, 1, 0, 0]
""").system
    np.testing.assert_allclose(system.shapes.offset, [[-1.5, 0, 0], [1.5, 0, 0]], atol=1e-15)
    np.testing.assert_array_equal(system.position, [[0, 0, 7]])
    assert system.mass[0] == pytest.approx(2.0)


SPHERE = '[[bodies]]\nshape = "sphere"\nradius = 1\nmass = 1\n'

CUBE = ConvexHull([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])


def mesh_body(triangles, vertices=CUBE.vertices) -> str:
    """A body of seven lines; the triangles are in the last one."""
    rows = [np.asarray(part).tolist() for part in (vertices, triangles)]
    return (
        f"[[bodies]]\nname = 'part'\nmass = 1\nfixed = false\nshape = 'mesh'\nvertices = {rows[0]}\n"
        f"triangles = {rows[1]}\n"
    )


def hull_body(points) -> str:
    return f"[[bodies]]\nname = 'part'\nmass = 1\nshape = 'hull'\npoints = {np.asarray(points).tolist()}\n"


WRONG = [
    (hull_body(CUBE.points[:3]), 5, "bodies[0].points", "there are 3 that differ, give at least four"),
    (hull_body(CUBE.points[[0, 0, 0, 0, 1]]), 5, "bodies[0].points", "there are 2 that differ"),
    (
        hull_body(CUBE.points * (1, 1, 0)),
        5,
        "bodies[0].points",
        "the 4 points of a convex hull lie in a plane",
    ),
    (hull_body(CUBE.points * (1, 0, 0) + np.arange(8)[:, None]), 5, "bodies[0].points", "lie in a plane"),
    (hull_body(np.full((4, 3), np.nan)), 5, "bodies[0].points", "is nan at index (0, 0): every number must"),
    (mesh_body([(0, 1, 9)]), 7, "bodies[0].triangles", "row 0 is [0, 1, 9], but the 8 vertices are numbered"),
    (
        mesh_body(CUBE.triangles[1:]),
        7,
        "bodies[0].triangles",
        "body 'part' has a mesh whose triangles do not",
    ),
    (mesh_body(CUBE.triangles[:, ::-1]), 7, "bodies[0].triangles", "inside out, as they bound -1 m³"),
    (
        mesh_body(CUBE.triangles, 0 * CUBE.vertices),
        6,
        "bodies[0].vertices",
        "no triangle with an area, of 12",
    ),
    # text, line, key, part of the cause
    ("gravty = [0, 0, 0]", 1, "gravty", "not known here: use gravity, run"),
    ("gravity = [0, 0]", 1, "gravity", "three numbers"),
    ("gravity = [0, 0, nan]", 1, "gravity", "must be finite"),
    ("\n[run]\nstep = 0", 3, "run.step", "must be positive"),
    ("[run]\n\nduration = 'long'", 3, "run.duration", "give one number"),
    ("[run]\nlaw = 'columb'", 2, "run.law", "use one of coulomb, relaxed, pyramid"),
    ("[run]\nsolver = 'gauss'", 2, "run.solver", "use one of auto, apgd"),
    ("[run]\nthreads = 0", 2, "run.threads", "at least 1"),
    ("[run]\nthrow = 'ignore'", 2, "run.throw", "neither true nor false"),
    ("[run]\nsteps = 3", 2, "run.steps", "use duration, step"),
    ("[run]\ntolerance = 0.0", 2, "run.tolerance", "tolerance is 0: it must be positive"),
    ("run = 3", 1, "run", "write a table"),
    ("[materials.ice]\nfriction = -0.1", 2, "materials.ice.friction", "at least 0"),
    ("[materials.ice]\nrestitution = 1.5", 2, "materials.ice.restitution", "from 0 to 1"),
    ("[materials.ice]\nrolling = 0.1", 2, "materials.ice.rolling", "use friction, restitution"),
    (
        "[[pairs]]\nmaterials = ['default', 'ice']\nfriction = 1",
        2,
        "pairs[0].materials",
        "use one of default",
    ),
    ("[[pairs]]\nmaterials = ['default']\nfriction = 1", 2, "pairs[0].materials", "two materials"),
    ("[[pairs]]\nmaterials = ['default', 'default']", 1, "pairs[0]", "give friction or restitution"),
    ("[bodies]\nshape = 'sphere'", 1, "bodies", r"write [[bodies]]"),
    ("[[bodies]]\nradius = 1", 1, "bodies[0]", "shape is missing"),
    ("[[bodies]]\nshape = 'ball'", 2, "bodies[0].shape", "use one of sphere, box"),
    (SPHERE + "[[bodies]]\nshape = 'sphere'\nmass = 1", 5, "bodies[1]", "radius is missing"),
    ("[[bodies]]\nshape = 'sphere'\nradius = -1\nmass = 1", 3, "bodies[0].radius", "must be positive"),
    ("[[bodies]]\nshape = 'sphere'\nradius = '1'\nmass = 1", 3, "bodies[0].radius", "give one number"),
    ("[[bodies]]\nshape = 'sphere'\nradius = 1\nmass = 0", 4, "bodies[0].mass", "must be positive"),
    ("[[bodies]]\nshape = 'sphere'\nradius = 1", 1, "bodies[0]", "exactly one"),
    (SPHERE + "fixed = true", 5, "bodies[0].fixed", "takes no mass"),
    (SPHERE + "fixed = 'yes'", 5, "bodies[0].fixed", "true nor false"),
    (SPHERE + "size = [1, 1, 1]", 5, "bodies[0].size", "use shape, radius, rounding, mass"),
    (SPHERE + "material = 'ice'", 5, "bodies[0].material", "use one of default"),
    (SPHERE + "position = [0, 0]", 5, "bodies[0].position", "three numbers"),
    (SPHERE + "position = ['0', '0', '0']", 5, "bodies[0].position", "three numbers"),
    (SPHERE + "orientation = [0, 0, 0, 0]", 5, "bodies[0].orientation", "no rotation"),
    (SPHERE + "orientation = { axis = [0, 0, 0], angle = 1 }", 5, "bodies[0].orientation.axis", "is zero"),
    (SPHERE + "orientation = { axis = [0, 0, 1] }", 5, "bodies[0].orientation", "angle is missing"),
    (SPHERE + "inertia = [1, 1, 3]", 5, "bodies[0].inertia", "must not exceed"),
    (SPHERE + "name = 'a'\n" + SPHERE + "name = 'a'", 10, "bodies[1].name", "already"),
    ("[[bodies]]\nshape = 'plane'\nnormal = [0, 0, 0]", 3, "bodies[0].normal", "is zero"),
    ("[[bodies]]\nshape = 'plane'\nmass = 1", 3, "bodies[0].mass", "use shape, normal"),
    ("[[bodies]]\nshape = 'compound'\nmass = 1", 1, "bodies[0]", "parts is missing"),
    (
        "[[bodies]]\nshape = 'compound'\nmass = 1\n[[bodies.parts]]\nshape = 'box'\nsize = [1, 0, 1]",
        6,
        "bodies[0].parts[0].size",
        "must be positive",
    ),
    (
        "[[bodies]]\nshape = 'compound'\nmass = 1\nparts = [\n  {shape = 'sphere', radius = 1},\n"
        "  {shape = 'plane'},\n]",
        6,
        "bodies[0].parts[1].shape",
        "use one of sphere",
    ),
    ("[[grids]]\nradius = 1\nmass = 1\ncounts = [1, 1]\nspacing = 1", 4, "grids[0].counts", "three whole"),
    ("[[grids]]\nradius = 1\nmass = 1\ncounts = [1, 1, 1]\nspacing = 0", 5, "grids[0].spacing", "positive"),
    ("[[grids]]\nradius = 1\ncounts = [1000, 1000, 1000]", 3, "grids[0].counts", "10,000,000"),
    ("[[grids]]\nradius = 1\ncounts = [1, 1, 1]\nspacing = 1", 1, "grids[0]", "exactly one"),
    (
        "[[grids]]\nradius = 1\nmass = 1\ncounts = [1, 1, 1]\nspacing = 1\njitter = 1\nseed = 0.5",
        7,
        "grids[0].seed",
        "whole number",
    ),
    (SPHERE + "[[forces]]\nbody = 'ball'\nforce = [1, 0, 0]", 6, "forces[0].body", "not known"),
    (SPHERE + "[[forces]]\nbody = 1\nforce = [1, 0, 0]", 6, "forces[0].body", "0 to 0"),
    (SPHERE + "[[forces]]\nbody = 0", 5, "forces[0]", "it is empty"),
    (SPHERE + "[[forces]]\nbody = 0\nforce = [1, 0]", 7, "forces[0].force", "three numbers"),
    (SPHERE + "[[forces]]\nbody = 0\nforce = [1, 0, 0]\nphase = 1", 8, "forces[0].phase", "frequency"),
]


@pytest.mark.parametrize(("text", "line", "key", "cause"), WRONG, ids=[f"{w[2]}-{w[3]}" for w in WRONG])
def test_an_error_names_line_and_key(read, tmp_path, text, line, key, cause):
    with pytest.raises(FileFormatError) as caught:
        read(text)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'scene.toml'}, line {line}, {key}: "), message
    assert cause in message
    assert "\n" not in message


def test_notes_on_geometry_name_the_body(read):
    with pytest.warns(GeometryWarning, match="body 'part': removed from its convex hull: 1 repeated point$"):
        read(hull_body(np.vstack([CUBE.points, CUBE.points[:1]])))
    with pytest.warns(GeometryWarning, match="body 'part': removed from its mesh: 1 repeated triangle$"):
        read(mesh_body(np.vstack([CUBE.triangles, CUBE.triangles[:1]])))


def test_broken_toml_names_the_line(read):
    with pytest.raises(FileFormatError, match=r"scene\.toml, line 2: .*not valid TOML"):
        read("gravity = [0, 0, 0]\nrun = = 3\n")
    with pytest.raises(FileFormatError, match=r"scene\.toml, line 3: .*not valid TOML"):
        read('\n\nlaw = "coulomb')


def test_windows_line_ends_and_mark_are_taken(tmp_path):
    path = tmp_path / "windows.toml"
    path.write_bytes(b"\xef\xbb\xbfgravity = [0, 0, 0]\r\n[run]\r\nstep = -1\r\n")
    with pytest.raises(FileFormatError, match=r"line 3, run\.step"):
        read_scene(path)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"cannot read .*none\.toml"):
        read_scene(tmp_path / "none.toml")
    with pytest.raises(OSError, match="cannot read"):
        read_scene(tmp_path)
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileFormatError, match="not a text file"):
        read_scene(tmp_path / "binary.toml")


def test_lines_of_everything_that_toml_allows():
    text = '''# comment with [brackets] and key = value
title = """
[not.a.table]
key = 1 \\"""
"""  # after
"quoted key" = 'x # y'
dotted . "inner\\u0041" = 1979-05-27 07:32:00
[table.sub]  # header
array = [
  1, [2, 3],  # ]
  { a = 1, b = { c = "}" } },
]
[[many]]
x = 1
[[many.parts]]
y = 1
[[many.parts]]
y = 2
[[many]]
[many.own]
z = \'\'\'
\'\'quoted\'\'\'\'
w = 3'''
    values = tomllib.loads(text)
    lines = lines_of(text)
    expected = {
        ("title",): 2,
        ("quoted key",): 6,
        ("dotted", "innerA"): 7,
        ("table", "sub"): 8,
        ("table", "sub", "array"): 9,
        ("table", "sub", "array", 0): 10,
        ("table", "sub", "array", 1, 1): 10,
        ("table", "sub", "array", 2, "b", "c"): 11,
        ("many", 0): 13,
        ("many", 0, "x"): 14,
        ("many", 0, "parts", 0, "y"): 16,
        ("many", 0, "parts", 1, "y"): 18,
        ("many", 1): 19,
        ("many", 1, "own", "z"): 21,
        ("many", 1, "own", "w"): 23,
    }
    assert {path: lines[path] for path in expected} == expected
    assert line_of(lines, ("many", 1, "own", "missing")) == 20

    def paths(value, path=()):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            yield (*path, key)
            if isinstance(inner, dict | list):
                yield from paths(inner, (*path, key))

    assert set(paths(values)) == set(lines)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["\n", "# [x]\n", "  \n"]), st.sampled_from(["[1,\n 2]", "'a'", "{k = 1}", "3"])
        )
    )
)
def test_line_of_a_key_is_where_it_is_written(rows):
    text = "".join(f"{blank}key{number} = {value}\n" for number, (blank, value) in enumerate(rows))
    lines, source = lines_of(text), text.split("\n")
    for number in range(len(rows)):
        assert source[lines[(f"key{number}",)] - 1].startswith(f"key{number} ")
