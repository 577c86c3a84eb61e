"""Joints in scene files: they are those of the Python calls, and what is wrong is named with line and key."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nonsmooth as ns
from helpers.joint_examples import AXIS, EXAMPLES, POINT
from helpers.paths import ROOT
from nonsmooth.errors import FileFormatError
from nonsmooth.io import read_scene
from nonsmooth.io.scenes import scene_file as scene_module
from nonsmooth.io.scenes.joints import MOTIONS, PARTS
from nonsmooth.io.scenes.scene_file import Scene
from nonsmooth.model.joints import BY_NAME, Joint
from nonsmooth.stepping.options import SCHEMES

PAGE = ROOT / "docs" / "scene-files.md"

BODIES = """gravity = [0, 0, -9.81]
[[bodies]]
name = "left"
shape = "box"
size = [0.1, 0.2, 0.3]
mass = 2.0
position = [0.1, -0.2, 0.3]
orientation = [0.8, 0.1, -0.5, 0.3]
[[bodies]]
name = "right"
shape = "sphere"
radius = 0.1
mass = 1.0
position = [1.5, 0.7, -0.4]
orientation = [0.2, 0.7, 0.1, -0.4]
velocity = [0.3, 0.2, 0.1]
angular_velocity = [0.1, -0.6, 0.2]
"""
FIRST = BODIES.count("\n") + 1
"""The line after the bodies."""


def same_bodies() -> ns.System:
    system = ns.System()
    system.add_box(
        (0.1, 0.2, 0.3), mass=2.0, position=(0.1, -0.2, 0.3), orientation=(0.8, 0.1, -0.5, 0.3), name="left"
    )
    system.add_sphere(
        0.1, mass=1.0, position=(1.5, 0.7, -0.4), orientation=(0.2, 0.7, 0.1, -0.4), name="right",
        velocity=(0.3, 0.2, 0.1), angular_velocity=(0.1, -0.6, 0.2),
    )  # fmt: skip
    return system


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str], Scene]:
    def read_text(text: str) -> Scene:
        path = tmp_path / "scene.toml"
        path.write_text(text, encoding="utf-8")
        return read_scene(path)

    return read_text


def assert_same(found: ns.System, wanted: ns.System) -> None:
    """Joints, rows, coordinates, forces and ignored pairs are the same, bit for bit."""
    ours, theirs = found.joints, wanted.joints
    assert [type(joint) for joint in ours] == [type(joint) for joint in theirs]
    assert ours.names == theirs.names
    assert [joint.collide for joint in ours] == [joint.collide for joint in theirs]
    one, two = ours.table, theirs.table
    for name in one.rows._fields:
        np.testing.assert_array_equal(getattr(one.rows, name), getattr(two.rows, name))
    for field in dataclasses.fields(one):
        if field.name not in ("rows", "timed"):
            np.testing.assert_array_equal(getattr(one, field.name), getattr(two, field.name))
    for t in (0.0, 0.31, 1.7):
        np.testing.assert_array_equal(one.offsets(t), two.offsets(t))
        np.testing.assert_array_equal(found.forces(t), wanted.forces(t))
    assert ours.potential_energy(found) == theirs.potential_energy(wanted)
    np.testing.assert_array_equal(found.ignored_pairs, wanted.ignored_pairs)
    state = found.position, found.quaternion
    np.testing.assert_array_equal(ours.anchors(*state), theirs.anchors(*state))


def toml(part: str, **values: Any) -> str:
    """An entry [[part]] with these keys."""

    def word(value: Any) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, tuple | list):
            return f"[{', '.join(word(item) for item in value)}]"
        return f'"{value}"' if isinstance(value, str) else repr(value)

    return "\n".join([f"[[{part}]]", *(f"{key} = {word(value)}" for key, value in values.items()), ""])


# ---- the same as in Python ----------------------------------------------------------------------------


def test_every_type_and_every_key_is_tried() -> None:
    assert list(EXAMPLES) == list(BY_NAME)
    kinds = [kind for kind in vars(ns.joints).values() if isinstance(kind, type) and issubclass(kind, Joint)]
    assert {*kinds} - {Joint} == {*BY_NAME.values()}
    common = {"a", "b", "name", "collide"}
    for name, kind in BY_NAME.items():
        tried = set().union(*EXAMPLES[name].ways) | EXAMPLES[name].refuses | common
        assert tried == {field.name for field in dataclasses.fields(kind)}, name


BODY_PAIRS = [("left", "right"), (1, 0), ("right", None), (None, "left")]


@pytest.mark.parametrize(
    ("kind", "keys", "bodies"),
    [
        (kind, keys, bodies)
        for kind, example in EXAMPLES.items()
        for keys in example.ways
        for bodies in BODY_PAIRS
        if None not in bodies or example.ground
    ],
    ids=lambda v: str(v)[:40],
)
def test_joints_are_those_of_python(
    kind: str, keys: dict[str, Any], bodies: tuple[Any, Any], read: Callable[[str], Scene]
) -> None:
    a, b = bodies
    given = {side: body for side, body in (("a", a), ("b", b)) if body is not None}
    wanted = same_bodies()
    wanted.add_joint(BY_NAME[kind](a, b, **keys, name="it", collide=True))
    wanted.add_joint(BY_NAME[kind](a, b, **keys))
    text = toml("joints", type=kind, **given, **keys, name="it", collide=True)
    text += toml("joints", type=kind, **given, **keys)
    assert_same(read(BODIES + text).system, wanted)


numbers = st.floats(-3.0, 3.0, allow_subnormal=False)
sizes = st.floats(0.01, 100.0)
COORDINATES = {
    "revolute": ("angle",),
    "prismatic": ("position",),
    "cylindrical": ("angle", "position"),
    "planar": ("x", "y", "angle"),
    "screw": ("angle", "position"),
    "strut": ("length",),
    "point-on-line": ("position",),
}


@st.composite
def elements(draw: st.DrawFn) -> tuple[str, dict[str, Any], Callable[[ns.System], None]]:
    """An entry of a file, its keys, and the call that does the same."""
    kind = draw(st.sampled_from(["ramp", "sine", "smooth", "force", "speed", "spring", "limit", "friction"]))
    if kind in MOTIONS:
        motion: dict[str, dict[str, float]] = {
            "ramp": {"speed": draw(numbers), "start": draw(numbers)},
            "sine": {"amplitude": draw(numbers), "frequency": draw(sizes), "phase": draw(numbers)},
            "smooth": {"start": draw(numbers), "end": draw(numbers), "begin": 0.2, "duration": draw(sizes)},
        }
        keys = motion[kind]
        return (
            "drivers",
            {"motion": kind, **keys},
            lambda s, **o: s.add_driver("j", MOTIONS[kind](**keys), **o),
        )
    if kind in ("force", "speed"):
        size, limit = draw(numbers), {} if kind == "force" else {"limit": draw(st.just(math.inf) | sizes)}
        if draw(st.booleans()):
            wave = {"frequency": draw(sizes), "phase": draw(numbers)}
            value: Any = ns.joints.Sine(size, **wave).value
        else:
            wave, value = {}, size
        return (
            "motors",
            {kind: size} | limit | wave,
            lambda s, **o: s.add_motor("j", **{kind: value}, **limit, **o),
        )
    if kind == "spring":
        keys = {"stiffness": draw(sizes)} | draw(
            st.fixed_dictionaries({}, optional={"damping": sizes, "rest": numbers})
        )
        return "springs", keys, lambda s, **o: s.add_spring("j", **keys, **o)
    if kind == "limit":
        keys = draw(st.sampled_from([{"lower": -1.0}, {"upper": 0.5}, {"lower": -2.0, "upper": 7.0}]))
        return "limits", keys, lambda s, **o: s.add_limit("j", **keys, **o)
    bound = draw(sizes)
    return "joint_friction", {"bound": bound}, lambda s, **o: s.add_joint_friction("j", bound, **o)


@given(kind=st.sampled_from(list(COORDINATES)), element=elements(), which=st.integers(0, 2))
def test_elements_are_those_of_python(
    tmp_path_factory: pytest.TempPathFactory, kind: str, element: Any, which: int
) -> None:
    part, keys, add = element
    names = COORDINATES[kind]
    choice = {"coordinate": names[which % len(names)]} if len(names) > 1 or which == 0 else {}
    wanted = same_bodies()
    wanted.add_joint(BY_NAME[kind]("left", "right", **EXAMPLES[kind].keys, name="j"))
    add(wanted, **choice)
    path = tmp_path_factory.mktemp("scene") / "scene.toml"
    joint = toml("joints", type=kind, a="left", b="right", **EXAMPLES[kind].keys, name="j")
    path.write_text(BODIES + joint + toml(part, joint="j", **choice, **keys))
    assert_same(read_scene(path).system, wanted)


def test_a_file_with_everything(read: Callable[[str], Scene]) -> None:
    pin = {"a": "left", "b": "right", "point": POINT, "axis": AXIS}
    text = BODIES + "[run]\nscheme = 'rattle'\nassemble = true\nstep = 0.01\n"
    text += toml("joints", type="revolute", name="pin", **pin)
    text += toml("joints", type="strut", a="left", **EXAMPLES["strut"].keys)
    text += toml("drivers", joint="pin", motion="ramp", speed=2.0)
    text += toml("springs", joint=1, stiffness=100.0)
    text += toml("limits", joint=1, lower=0.1)
    text += toml("ignore_contacts", a="left", b=1)
    scene = read(text)
    assert scene.settings == {"scheme": "rattle", "step": 0.01}
    assert scene.assemble
    assert not read(BODIES).assemble
    wanted = same_bodies()
    wanted.add_joint(ns.joints.Revolute("left", "right", point=POINT, axis=AXIS, name="pin"))
    wanted.add_joint(ns.joints.Strut("left", None, **EXAMPLES["strut"].keys))
    wanted.add_driver("pin", ns.joints.Ramp(2.0))
    wanted.add_spring(1, stiffness=100.0)
    wanted.add_limit(1, lower=0.1)
    wanted.ignore_contacts(0, 1)
    assert_same(scene.system, wanted)


def test_bodies_are_free_to_pass_through_each_other(read: Callable[[str], Scene]) -> None:
    assert len(read(BODIES).system.ignored_pairs) == 0
    pairs = read(BODIES + toml("ignore_contacts", a="right", b="left")).system.ignored_pairs
    assert pairs.tolist() == [[0, 1]]


def test_joints_reach_spheres_of_a_grid(read: Callable[[str], Scene]) -> None:
    grid = toml("grids", radius=0.1, mass=1.0, counts=[3, 1, 1], spacing=0.5, origin=[0.0, 0.0, 5.0])
    joint = toml("joints", type="distance", a=2, b=4, anchor_a=[0, 0, 0], anchor_b=[0, 0, 0])
    system = read(BODIES + joint + grid).system
    assert system.joints.table.rows.bodies.tolist() == [[2, 4]]
    assert system.coordinate(0) == pytest.approx(1.0, rel=1e-15)


# ---- what is wrong --------------------------------------------------------------------------------------

PIN = toml("joints", type="revolute", name="pin", a="left", b="right", point=POINT, axis=AXIS)
ON_PIN = FIRST + PIN.count("\n")
"""The line after the pin."""

WRONG = [
    # text after the bodies, line after them, key, part of the cause
    ("[[joints]]\na = 'left'", 0, "joints[0]", "type is missing"),
    ("[[joints]]\ntype = 'hinge'", 1, "joints[0].type", "use one of fixed, spherical, revolute"),
    ("[[joints]]\ntype = 'revolute'", 0, "joints[0]", "give a, b or both"),
    ("[[joints]]\ntype = 'revolute'\na = 'lefty'", 2, "joints[0].a", "'lefty' is not known: names are left"),
    ("[[joints]]\ntype = 'revolute'\na = 7", 2, "joints[0].a", "0 to 1"),
    ("[[joints]]\ntype = 'revolute'\nb = true", 2, "joints[0].b", "give an index or a name"),
    ("[[joints]]\ntype = 'spherical'\na = 0\npitch = 1", 3, "joints[0].pitch", "use type, a, b, name"),
    ("[[joints]]\ntype = 'screw'\na = 0", 0, "joints[0]", "pitch is missing"),
    ("[[joints]]\ntype = 'gear'\na = 0\nb = 1", 0, "joints[0]", "radii is missing"),
    (PIN.replace("0.6", "0.7"), 6, "joints[0].axis", "axis of joint 'pin' has length"),
    (PIN.replace("-0.2", "nan"), 5, "joints[0].point", "must be finite"),
    (PIN + "collide = 1", 7, "joints[0].collide", "neither true nor false"),
    (PIN + PIN, 9, "joints[1].name", "'pin' exists already"),
    (PIN.replace("right", "left"), 0, "joints[0]", "joint 'pin' connects body 'left' with itself"),
    (
        "[[joints]]\ntype = 'revolute'\na = 0\naxis = [0, 0, 1]",
        0,
        "joints[0]",
        "needs its point given one way",
    ),
    (PIN + "[[drivers]]\nmotion = 'ramp'", 7, "drivers[0]", "joint is missing"),
    (PIN + "[[drivers]]\njoint = 'pen'", 8, "drivers[0].joint", "'pen' is not known: names are pin"),
    (
        PIN + "[[drivers]]\njoint = 'pin'\nmotion = 'run'",
        9,
        "drivers[0].motion",
        "use one of ramp, sine, smooth",
    ),
    (PIN + "[[drivers]]\njoint = 'pin'\nmotion = 'ramp'", 7, "drivers[0]", "speed is missing"),
    (
        PIN + "[[drivers]]\njoint = 'pin'\nmotion = 'ramp'\nspeed = '1'",
        10,
        "drivers[0].speed",
        "give one number, in the driver of joint 'pin'",
    ),
    (
        PIN + "[[drivers]]\njoint = 'pin'\ncoordinate = 'position'\nmotion = 'ramp'\nspeed = 1",
        9,
        "drivers[0].coordinate",
        "joint 'pin' is a Revolute with angle, and no 'position'",
    ),
    (
        PIN + 2 * "[[drivers]]\njoint = 'pin'\nmotion = 'ramp'\nspeed = 1\n",
        11,
        "drivers[1]",
        "driver of joint 'pin' contradicts the driver of joint 'pin'",
    ),
    (PIN + "[[motors]]\njoint = 0", 7, "motors[0]", "the motor of joint 'pin' needs one of force and speed"),
    (PIN + "[[motors]]\njoint = 0\nspeed = 1", 7, "motors[0]", "joint 'pin' has no limit: give limit"),
    (
        PIN + "[[motors]]\njoint = 0\nforce = 1\nlimit = 3",
        10,
        "motors[0].limit",
        "use joint, coordinate, force",
    ),
    (
        PIN + "[[motors]]\njoint = 0\nforce = 1\nphase = 3",
        10,
        "motors[0].phase",
        "frequency, which is missing",
    ),
    (PIN + "[[motors]]\njoint = 0\nforce = '1'\nfrequency = 3", 9, "motors[0].force", "motor of joint 'pin'"),
    (PIN + "[[motors]]\njoint = 0\nspeed = 1\nlimit = -3", 10, "motors[0].limit", "must be positive"),
    (PIN + "[[springs]]\njoint = 0", 7, "springs[0]", "the spring of joint 'pin' has no effect"),
    (PIN + "[[springs]]\njoint = 0\nstiffness = -2", 9, "springs[0].stiffness", "must not be negative"),
    (PIN + "[[springs]]\njoint = 1\nstiffness = 2", 8, "springs[0].joint", "0 to 0"),
    (PIN + "[[limits]]\njoint = 0", 7, "limits[0]", "give lower, upper or both"),
    (PIN + "[[limits]]\njoint = 0\nupper = 'x'", 9, "limits[0].upper", "upper limit of joint 'pin' is 'x'"),
    (PIN + "[[joint_friction]]\njoint = 0", 7, "joint_friction[0]", "bound is missing"),
    (PIN + "[[joint_friction]]\njoint = 0\nbound = 0", 9, "joint_friction[0].bound", "must be positive"),
    (
        "[[joints]]\ntype = 'spherical'\na = 0\npoint = [0, 0, 0]\n[[springs]]\njoint = 0\nstiffness = 1",
        5,
        "springs[0].joint",
        "joint 0 is a Spherical, which has no coordinate",
    ),
    ("[[ignore_contacts]]\na = 0", 0, "ignore_contacts[0]", "b is missing"),
    ("[[ignore_contacts]]\na = 0\nb = 'x'", 2, "ignore_contacts[0].b", "not known"),
    ("[[ignore_contacts]]\na = 0\nb = 'left'", 0, "ignore_contacts[0]", "paired with itself"),
    ("[joints]\ntype = 'fixed'", 0, "joints", "write [[joints]]"),
    ("[run]\nscheme = 'verlet'", 1, "run.scheme", "use one of stabilised, projected, rattle"),
    ("[run]\nassemble = 'yes'", 1, "run.assemble", "neither true nor false"),
]


@pytest.mark.parametrize(("text", "line", "key", "cause"), WRONG, ids=[f"{w[2]}-{w[3][:30]}" for w in WRONG])
def test_an_error_names_line_and_key(
    read: Callable[[str], Scene], tmp_path: Path, text: str, line: int, key: str, cause: str
) -> None:
    with pytest.raises(FileFormatError) as caught:
        read(BODIES + text)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'scene.toml'}, line {FIRST + line}, {key}: "), message
    assert cause in message
    assert "\n" not in message


# ---- the page -------------------------------------------------------------------------------------------


def test_the_example_of_the_page_runs(read: Callable[[str], Scene]) -> None:
    text = next(
        block
        for block in re.findall(r"^```toml\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
        if "[[joints]]" in block
    )
    scene = read(text)
    run = ns.simulate(scene.system, **scene.settings)
    assert run.certificate.failed == 0
    assert run.steps["joint_error"].max() < 1e-9
    assert run.system.coordinate("mast") == pytest.approx(1.0, abs=1e-9)
    assert run.system.coordinate("rope") <= 0.3 + 1e-9
    assert 0.0 <= run.system.coordinate("hinge") < 0.1  # the closer has brought the door back
    assert abs(run.system.coordinate_velocity("hinge")) < 0.1


def test_table_of_joints_has_rows_and_coordinates() -> None:
    text = (PAGE.parent / "joints.md").read_text(encoding="utf-8")
    table = text.split("| joint | rows |")[1].split("\n\n")[0]
    shown = {}
    for line in table.splitlines()[2:]:
        name, rows, coordinates, *_ = (cell.strip() for cell in line.strip("|").split("|"))
        shown[name.strip("`")] = (int(rows), re.findall(r"`(\w+)` \((\w+)\)", coordinates))
    wanted = {}
    for name, kind in BY_NAME.items():
        system = same_bodies()
        system.add_joint(kind("left", "right", **EXAMPLES[name].keys))
        rows, units = len(system.joints.table), []
        for coordinate in system.joints.coordinate_names(0):
            if not kind.fixed_coordinates:  # those of a rod can be read only
                system.add_joint_friction(0, 1.0, coordinate=coordinate)
            unit = "m" if kind.fixed_coordinates else system.joints.table.units[-1]
            units.append((coordinate, unit))
        wanted[kind.__name__] = (rows, units)
    assert shown == wanted


def test_schemes_are_those_of_simulate() -> None:
    assert scene_module._CHOICES["scheme"] == SCHEMES


def test_the_page_has_every_type_and_every_key() -> None:
    text = PAGE.read_text(encoding="utf-8")

    def first_cells(heading: str) -> set[str]:
        table = text.split(f"| {heading} |")[1].split("\n\n")[0]
        return set(re.findall(r"^\| `([\w-]+)`", table, re.MULTILINE))

    assert first_cells("type") == set(BY_NAME)
    assert first_cells("motion") == set(MOTIONS)
    for part in PARTS:
        assert f"[[{part}]]" in text
    named = set(re.findall(r"`(\w+)`", text))
    for kind in (*BY_NAME.values(), *MOTIONS.values()):
        assert {field.name for field in dataclasses.fields(kind)} <= named
