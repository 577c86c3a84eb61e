"""Pictures and films of recorded runs, against closed forms of perspective and of what was recorded."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import nonsmooth as ns
from helpers import command_line
from nonsmooth.collision import ContactForces
from nonsmooth.errors import MissingPackageError, OptionError
from nonsmooth.io import Trajectory
from nonsmooth.model import quaternions
from nonsmooth.model import shapes as shapes_module
from nonsmooth.model.polyhedra import moments
from nonsmooth.model.shapes import Box, Capsule, Cylinder, Ellipsoid
from nonsmooth.model.shapes.surfaces import box_mesh, sphere_mesh, square_mesh
from nonsmooth.view.drawing import geometry, visible_bounds
from nonsmooth.view.drawing.camera import Camera, Edges, View
from nonsmooth.view.drawing.colours import (
    ColourBy,
    ContactState,
    body_colours,
    body_values,
    contact_friction,
    contact_states,
    number_text,
    scale_colours,
    scale_top,
)
from nonsmooth.view.drawing.film import Film, Pace, _Pictures, write_film
from nonsmooth.view.drawing.gif import GifFile
from nonsmooth.view.drawing.legend import annotate
from nonsmooth.view.drawing.look import Look
from nonsmooth.view.drawing.picture import Painter
from nonsmooth.view.drawing.raster import BACKGROUND, Assembly, Canvas, Palette, Solids, rods

SMALL = {"width": 160, "height": 90}


def run_cli(*words: object) -> tuple[int, str]:
    result = command_line.run(*words)
    return result.exit_code, " ".join(result.output.split())


@pytest.fixture(scope="module")
def ball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ball of 2 kg that falls for 0.1 s and then lies on a floor; a frame for each 0.05 s."""
    path = tmp_path_factory.mktemp("ball") / "ball.h5"
    system = ns.System()
    system.add_plane(name="floor")
    system.add_sphere(0.1, mass=2.0, position=(0, 0, 0.14), name="ball")
    ns.simulate(system, duration=0.5, step=0.01, record=ns.Recording(path, interval=0.05))
    return path


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hinged bar without a shape, turned by a driver at 2 rad/s."""
    path = tmp_path_factory.mktemp("arm") / "arm.h5"
    system = ns.System(gravity=(0, 0, 0))
    system.add_body(
        None, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0), velocity=(0, 1, 0),
        angular_velocity=(0, 0, 2), name="bar",
    )  # fmt: skip
    system.add_joint(ns.joints.Revolute(None, "bar", point=(0, 0, 0), axis=(0, 0, 1), name="hinge"))
    system.add_driver("hinge", ns.joints.Ramp(2.0))
    ns.simulate(system, duration=0.4, step=0.01, record=ns.Recording(path, interval=0.1))
    return path


# ---- meshes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mesh", "volume", "defect"),
    [
        (sphere_mesh(4), 4.0 / 3.0 * math.pi, 0.003),
        (Box((2.0, 4.0, 6.0)).surface(), 48.0, 1e-12),
        (Cylinder(1.0, 4.0).surface(), 4.0 * math.pi, 0.007),
        (Capsule(1.0, 4.0).surface(), (4.0 + 4.0 / 3.0) * math.pi, 0.01),
        (Ellipsoid((1.0, 2.0, 3.0)).surface(), 8.0 * math.pi, 0.01),
    ],
)
def test_meshes_enclose_the_volume_of_their_shapes_from_inside(mesh, volume, defect):
    found = moments(*mesh).volume  # negative where triangles are clockwise
    assert volume * (1.0 - defect) <= found <= volume * (1.0 + 1e-12)


def test_parts_are_in_the_frame_of_the_body():
    system = ns.System()
    turn = quaternions.from_axis_angle((0, 0, 1), math.pi / 2)
    shapes = shapes_module.Compound(
        (
            (shapes_module.Sphere(0.5), (1, 2, 3), (1, 0, 0, 0)),
            (shapes_module.Box((2, 4, 6)), (0, 0, 1), turn),
        )
    )
    system.add_body(shapes, mass=1.0, inertia=(1, 1, 1))
    ball, box = geometry.parts_of(system.shapes, 10.0)
    assert (ball.radius, box.radius) == (0.5, 0.0)
    centre_of_mass = system.shapes.offset[0] - (1, 2, 3)
    np.testing.assert_allclose(ball.offset, np.add((1, 2, 3), centre_of_mass), atol=1e-12)
    np.testing.assert_allclose(box.vertices.max(axis=0), np.add((2, 1, 4), centre_of_mass), atol=1e-12)


def test_four_walls_and_a_floor_become_an_open_box():
    system = ns.scenes.filling(8, radius=0.1, width=0.6)
    lowest, highest = np.array([-0.3, -0.3, 0.0]), np.array([0.3, 0.3, 1.0])
    parts = geometry.half_space_parts(system.shapes, system.position, system.quaternion, lowest, highest)
    areas = {}
    for part in parts:
        corners = system.position[part.body] + quaternions.rotate(system.quaternion[part.body], part.vertices)
        edges = corners[part.faces]
        across = np.cross(edges[:, 1] - edges[:, 0], edges[:, 2] - edges[:, 0])
        areas[part.body] = 0.5 * np.linalg.norm(across.sum(axis=0))
    names = system.names
    assert areas[names["floor"]] == pytest.approx(0.6 * 0.6)
    for wall in ("left", "right", "front", "back"):
        assert areas[names[wall]] == pytest.approx(0.6 * 1.05)  # a rim of 5 % above the scene


def test_bodies_that_flew_away_are_not_framed():
    position = np.zeros((31, 3))
    position[:30, 0] = np.arange(30)
    position[30] = (0.0, 0.0, -1e6)
    lowest, highest = visible_bounds.bounds_of(position, np.zeros(31, dtype=bool), np.full(31, 0.5))
    np.testing.assert_allclose(lowest, (-0.5, -0.5, -0.5))
    np.testing.assert_allclose(highest, (29.5, 0.5, 0.5))
    lowest, highest = visible_bounds.bounds_of(position[:2], np.zeros(2, dtype=bool), np.array([0.5, np.inf]))
    np.testing.assert_allclose([lowest, highest], [[-0.5] * 3, [0.5] * 3])


def test_a_bar_without_shape_reaches_from_its_centre_to_its_joint(arm):
    with Trajectory(arm) as trajectory:
        bar, pin = geometry.skeleton_parts(trajectory.joints, trajectory.shapes, 1, 1.0)
        reach = geometry.reach_of(trajectory.bodies.bounding_radius, trajectory.joints)
    assert (bar.body, bar.joint, pin.body, pin.joint) == (0, False, -1, True)
    thickness = np.abs(bar.vertices[:, 1]).max()
    assert bar.vertices[:, 0].min() == pytest.approx(-0.5 - thickness)
    assert bar.vertices[:, 0].max() == pytest.approx(thickness)
    np.testing.assert_allclose(reach, [0.5])


# ---- camera -----------------------------------------------------------------------------------------


def test_projection_is_that_of_a_pinhole():
    camera = Camera(eye=(0, -4, 0), target=(0, 0, 0), field_of_view=90.0)
    assert camera.focal_length(200) == pytest.approx(100.0)
    points = [(0, 0, 0), (1, 0, 0), (0, 0, 1), (0, 4, 1)]
    expected = [(150, 100), (175, 100), (150, 75), (150, 87.5)]
    np.testing.assert_allclose(camera.project(points, 300, 200), expected)


@pytest.mark.parametrize("view", [View(), View(10.0, -30.0), View(200.0, 90.0), View(45.0, 0.0)])
@pytest.mark.parametrize("edges", [Edges(), Edges(0.3, 0.8, 0.9, 0.2)])
def test_framing_has_all_balls_in_sight_and_touches_the_margin(view, edges):
    rng = np.random.default_rng(3)
    centres, radii = rng.normal((5.0, -3.0, 1.0), 1.0, (40, 3)), rng.uniform(0.05, 0.4, 40)
    camera = Camera.framing(centres, radii, 1.6, view, [edges])
    seen = camera.in_sight(centres)
    half = math.tan(math.radians(0.5 * camera.field_of_view))
    shares = []
    for axis, sign, width in (
        (0, 1.0, 1.6 * edges.right), (0, -1.0, 1.6 * edges.left), (1, 1.0, edges.down), (1, -1.0, edges.up),
    ):  # fmt: skip
        angle = math.atan(width * half)
        inside = seen[:, 2] * math.sin(angle) - sign * seen[:, axis] * math.cos(angle) - radii
        shares.append(inside.min())
    assert min(shares) == pytest.approx(0.0, abs=1e-9)  # the tighter pair of edges is touched by balls
    assert sorted(shares)[1] == pytest.approx(0.0, abs=1e-9)
    nearer = Camera.framing(centres, radii, 1.6, view, [edges, Edges(0.9, 0.9, 0.9, 0.9), edges])
    assert nearer.in_sight(centres.mean(axis=0))[2] < camera.in_sight(centres.mean(axis=0))[2]


def test_zoom_makes_bodies_larger():
    centres, radii = np.zeros((1, 3)), np.ones(1)
    near, far = (Camera.framing(centres, radii, 1.0, View(zoom=zoom)) for zoom in (2.0, 1.0))
    assert near.in_sight([0, 0, 0])[2] == pytest.approx(0.5 * far.in_sight([0, 0, 0])[2])


# ---- pixels -----------------------------------------------------------------------------------------


def canvas_of(camera: Camera, width: int = 320, height: int = 240) -> Canvas:
    return Canvas(camera, width, height, np.zeros(3), 4.0)


def spheres(*rows: tuple[float, float, float, float]) -> Solids:
    table = np.array(rows)
    return Solids.of_spheres(table[:, :3].copy(), table[:, 3].copy(), np.arange(len(rows), dtype=np.int32))


@pytest.mark.parametrize("place", [(0.0, 0.0, 0.0), (1.2, 0.5, 0.7), (-1.0, -1.0, 0.4)])
def test_the_outline_of_a_sphere_is_the_ellipse_of_perspective(place):
    camera, radius = Camera(eye=(0, -6, 0), target=(0, 0, 0)), 0.5
    canvas = canvas_of(camera)
    layer = canvas.layer()
    canvas.draw(layer, spheres((*place, radius)))
    # A cone of half angle α about a line at the angle θ from the axis, cut by the picture.
    seen = camera.in_sight(place)
    distance = np.linalg.norm(seen)
    sine, cosine_of_axis = radius / distance, seen[2] / distance
    left = cosine_of_axis**2 - sine**2
    focal = camera.focal_length(layer.height)
    area = math.pi * focal**2 * sine**2 * math.sqrt(1.0 - sine**2) / left**1.5
    assert np.count_nonzero(layer.owner == 0) == pytest.approx(area, rel=0.01)
    # The depth at the middle of the outline is where the line to the centre enters the sphere.
    column, row = (camera.project(place, layer.width, layer.height)).astype(int)
    assert 1.0 / layer.nearness[row, column] == pytest.approx(
        seen[2] * (distance - radius) / distance, rel=1e-3
    )


def test_corners_of_a_box_are_where_the_camera_projects_them():
    camera = Camera(eye=(3, -5, 2), target=(0, 0, 0))
    part = geometry.Part(0, 0.0, *box_mesh((0.5, 0.4, 0.7)), np.zeros(3))
    canvas = canvas_of(camera)
    layer = canvas.layer()
    canvas.draw(layer, Assembly([part], [0]).placed(np.zeros((1, 3)), np.array([quaternions.IDENTITY])))
    corners = camera.project(part.vertices, layer.width, layer.height)
    rows, columns = np.nonzero(layer.owner == 0)
    for found, places in ((columns, corners[:, 0]), (rows, corners[:, 1])):
        assert abs(found.min() - places.min()) <= 1.0
        assert abs(found.max() + 1.0 - places.max()) <= 1.0
    from scipy.spatial import ConvexHull

    assert len(rows) == pytest.approx(ConvexHull(corners).volume, rel=0.01)
    # A nearest corner's depth, and a normal that is a face's.
    normals = np.unique(np.round(layer.normal[rows, columns] @ camera.axes, 3) + 0.0, axis=0)
    assert sorted(map(tuple, normals.tolist())) == [(0, -1, 0), (0, 0, 1), (1, 0, 0)]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_nearer_hides_farther(order):
    camera = Camera(eye=(0, -6, 0), target=(0, 0, 0))
    rows = [(0.0, -1.0, 0.0, 0.3), (0.0, 1.0, 0.0, 0.6)]
    canvas = canvas_of(camera)
    layer = canvas.layer()
    for which in order:
        solids = spheres(rows[which])
        canvas.draw(layer, solids._replace(sphere_owner=np.array([which], dtype=np.int32)))
    middle = layer.owner[layer.height // 2]
    assert middle[layer.width // 2] == 0
    assert set(middle.tolist()) == {-1, 0, 1}  # the larger one is seen around the smaller one
    rod = rods(np.array([[0.0, 0.0, -1.0]]), np.array([[0.0, 0.0, 1.0]]), 0.02, 2)
    canvas.draw(layer, rod)
    assert layer.owner[layer.height // 2, layer.width // 2] == 0  # behind the near sphere
    beside = layer.height // 2 + 10 + int(0.3 / 5.0 * camera.focal_length(layer.height))
    assert layer.owner[beside, layer.width // 2] == 2  # before the far one


def test_a_floor_that_reaches_behind_the_eye_is_cut():
    camera = Camera(eye=(0, 0, 1), target=(0, 5, 0))
    part = geometry.Part(0, 0.0, *square_mesh(40.0, 1), np.zeros(3), half_space=True)
    canvas = canvas_of(camera)
    layer = canvas.layer()
    canvas.draw(layer, Assembly([part], [0]).placed(np.zeros((1, 3)), np.array([quaternions.IDENTITY])))
    covered = layer.owner == 0
    assert covered[-1].all()
    # The far edge, 20 m away, is a level line; below it there is floor only.
    edge = camera.project([(0.0, 20.0, 0.0)], layer.width, layer.height)[0, 1]
    assert np.count_nonzero(covered) == pytest.approx(layer.width * (layer.height - edge), rel=0.005)


def test_a_sphere_casts_a_shadow():
    camera = Camera(eye=(0, -6, 3), target=(0, 0, 0))
    floor = geometry.Part(0, 0.0, *square_mesh(10.0, 1), np.zeros(3), half_space=True)
    palette = Palette(
        np.array([(200, 200, 200), (200, 40, 40)], dtype=np.uint8), np.array([True, False]), np.zeros(2, bool)
    )
    pictures = []
    for cast in (False, True):
        canvas = canvas_of(camera)
        layer = canvas.layer()
        ball = Solids.of_spheres(np.array([[0.0, 0.0, 0.6]]), np.array([0.4]), np.array([1], dtype=np.int32))
        ground = Assembly([floor], [0]).placed(np.zeros((1, 3)), np.array([quaternions.IDENTITY]))
        for solids in (ball, ground):
            canvas.draw(layer, solids)
        if cast:
            canvas.cast_shadows(ball)
        pictures.append(canvas.finished([(canvas.shaded(layer, palette), 1.0)]).astype(int))
    darker = np.count_nonzero((pictures[0] - pictures[1]).sum(axis=2) > 30)
    focal = camera.focal_length(240)
    disc = math.pi * (0.4 * focal / math.hypot(6.0, 3.0)) ** 2
    # A disc of shadow, foreshortened on the floor; some of it is behind the ball.
    assert 0.1 * disc < darker < 1.0 * disc


# ---- colours ----------------------------------------------------------------------------------------


def test_colours_tell_speed_and_force(ball):
    with Trajectory(ball) as trajectory:
        fixed = trajectory.bodies.fixed
        falling, resting = trajectory.frame(1), trajectory.frame(-1)
        contacts = trajectory.contacts(-1)
        speed = body_values(ColourBy.SPEED, falling, None, 2)
        np.testing.assert_allclose(speed, [0.0, 9.81 * 0.05], rtol=1e-12)
        force = body_values(ColourBy.FORCE, resting, contacts, 2)
        np.testing.assert_allclose(force, [2.0 * 9.81, 2.0 * 9.81], rtol=1e-6)
        colours = body_colours(ColourBy.FORCE, resting, contacts, fixed)
        assert (colours.low, colours.high, colours.unit) == (0.0, 20.0, "N")
        slow, fast = (body_colours(ColourBy.SPEED, falling, None, fixed, high=high) for high in (5.0, 0.1))
        assert (slow.rgb[0] == fast.rgb[0]).all()  # the floor is grey
        assert (slow.rgb[1] != fast.rgb[1]).any()
        with pytest.raises(OptionError, match="contacts were not recorded"):
            body_colours(ColourBy.FORCE, resting, None, fixed)
        friction = contact_friction(contacts, trajectory.shapes, trajectory.materials.pairs)
        np.testing.assert_allclose(friction, 0.5)
        assert contact_states(contacts, friction).tolist() == [ContactState.STICK]


def test_all_shapes_of_a_body_have_its_material():
    """What contacts do is told from the materials of bodies: recordings do not say which shapes touch."""
    system = ns.System()
    system.add_material("ice", friction=0.02)
    pieces = [(shapes_module.Sphere(0.1), (x, 0, 0), (1, 0, 0, 0)) for x in (0, 1)]
    system.add_body(shapes_module.Compound(tuple(pieces)), mass=1.0, material="ice")
    assert system.shapes.material.tolist() == [system.materials.index("ice")] * 2


def test_contacts_stick_slide_and_separate():
    impulse = np.array([(0.0, 0.0, 2.0), (0.3, 0.0, 1.0), (0.3, 0.4, 1.0), (0.0, 0.0, 0.0)]) * 0.01
    normal = np.tile((0.0, 0.0, 1.0), (4, 1))
    contacts = ContactForces(
        np.zeros((4, 2), dtype=np.int32), np.zeros((4, 3)), normal, np.zeros(4), impulse, 0.01, ns.System()
    )
    stick, slide, separate = ContactState
    assert contact_states(contacts, np.full(4, 0.5)).tolist() == [stick, stick, slide, separate]


@pytest.mark.parametrize(
    ("values", "top"), [([0.0], 1.0), ([0.0123], 0.015), ([7.0], 8.0), ([95.0], 100.0), ([np.nan, 2.0], 2.0)]
)
def test_scales_end_at_round_numbers(values, top):
    assert scale_top(values) == pytest.approx(top)
    assert scale_top(values, least=1000.0) == 1000.0


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (0.05, "0.05"), (1500.0, "1500"), (2e-5, "2·10⁻⁵"), (1.5e7, "1.5·10⁷")]
)
def test_numbers_are_written_for_people(value, text):
    assert number_text(value) == text


# ---- pictures of runs -------------------------------------------------------------------------------


def test_pictures_of_two_times_differ_and_of_one_do_not(ball):
    with Trajectory(ball) as trajectory:
        painter = Painter(trajectory, [0.0, 0.5], Look(**SMALL))
        first, again, last = (painter.paint(time) for time in (0.0, 0.0, 0.5))
    assert first.shape == (90, 160, 3)
    assert first.dtype == np.uint8
    assert (first == again).all()
    assert np.count_nonzero((first != last).any(axis=2)) > 100


def test_the_ball_is_seen_where_the_camera_projects_it(ball):
    with Trajectory(ball) as trajectory:
        painter = Painter(trajectory, [0.0, 0.5], Look(colour=ColourBy.BODY, width=320, height=180))
        for time in (0.0, 0.5):
            picture = painter.paint(time).astype(int)
            coloured = np.ptp(picture, axis=2) > 60  # floor, shadow and letters are grey
            rows, columns = np.nonzero(coloured)
            place = painter.snapshot(time).frame.position[1]
            seen = painter.camera.project(place, 320, 180)
            assert np.hypot(columns.mean() + 0.5 - seen[0], rows.mean() + 0.5 - seen[1]) < 2.0
            depth = painter.camera.in_sight(place)[2]
            radius = 0.1 * painter.camera.focal_length(180) / math.sqrt(depth**2 - 0.1**2)
            assert len(rows) == pytest.approx(math.pi * radius**2, rel=0.05)


def test_between_frames_positions_are_linear_and_turns_are_on_the_way(arm):
    with Trajectory(arm) as trajectory:
        painter = Painter(trajectory, [0.0], Look(**SMALL))
        before, middle, after = (painter.snapshot(time).frame for time in (0.1, 0.15, 0.2))
    np.testing.assert_allclose(middle.position, 0.5 * (before.position + after.position))
    angle = 2.0 * 0.15  # half-way between two turns about one axis is half the turn
    expected = quaternions.from_axis_angle((0, 0, 1), angle)
    assert abs(middle.quaternion[0] @ expected) == pytest.approx(1.0, abs=1e-6)


def test_forces_chains_and_contacts_are_drawn_over_bodies(ball):
    pictures = {}
    with Trajectory(ball) as trajectory:
        for name in ("", "forces", "chains", "contacts"):
            look = Look(**SMALL, **({name: True} if name else {}))
            pictures[name] = Painter(trajectory, [0.5], look).paint(0.5).astype(int)
    for name in ("forces", "chains", "contacts"):
        assert np.count_nonzero(np.abs(pictures[name] - pictures[""]).sum(axis=2) > 60) > 50, name
    red = (pictures["forces"][..., 0] - pictures["forces"][..., 1]) > 80
    assert red.any()
    assert not ((pictures[""][..., 0] - pictures[""][..., 1]) > 80).any()


@pytest.mark.parametrize("overlay", [{}, {"contacts": True}, {"forces": True, "chains": True}])
def test_a_colour_of_the_legend_is_found_on_the_body(ball, overlay):
    """A force of 19.62 N has the colour that is at 19.62 of 20 on the scale, whatever is drawn over it."""
    with Trajectory(ball) as trajectory:
        look = Look(colour=ColourBy.FORCE, width=320, height=240, **overlay)
        painter = Painter(trajectory, [0.5], look)
        picture = painter.paint(0.5).astype(int)
        centre = painter.camera.project(painter.snapshot(0.5).frame.position[1], 320, 240)
    # The bar is the column that is coloured from top to bottom, within its frame.
    rows = np.arange(round(2.9 * 9) + 1, round(2.9 * 9) + round(0.32 * 240) - 1)
    column = 240 + int(np.argmax(np.ptp(picture[rows][:, 240:], axis=2).min(axis=0)))
    bar = picture[rows, column]
    assert len(np.unique(bar, axis=0)) > 50  # a ramp
    colour = bar[round((1.0 - 19.62 / 20.0) * (len(bar) - 1))]
    around = np.hypot(*np.meshgrid(np.arange(320) - centre[0], np.arange(240) - centre[1])) < 60.0
    distance = np.abs(picture[around] - colour).max(axis=1)
    assert np.count_nonzero(distance <= 6) > 50


@pytest.mark.parametrize("size", [(1280, 720), (640, 480), (480, 640)])
@pytest.mark.parametrize("overlay", [{}, {"contacts": True, "forces": True}])
def test_legends_do_not_cover_bodies(ball, size, overlay):
    """The ball is where it is drawn with other colours: there, legends have changed no pixel."""
    width, height = size
    with Trajectory(ball) as trajectory:
        painter = Painter(
            trajectory, [0.5], Look(colour=ColourBy.FORCE, width=width, height=height, **overlay)
        )
        picture = painter.paint(0.5).astype(int)
        place = painter.snapshot(0.5).frame.position[1]
        centre, depth = painter.camera.project(place, width, height), painter.camera.in_sight(place)[2]
        radius = 0.1 * painter.camera.focal_length(height) / math.sqrt(depth**2 - 0.1**2)
        empty = np.full_like(picture, 7).astype(np.uint8)
        keys = painter._marks.keys(painter._pixels(painter.camera), painter.snapshot(0.5).contacts)
        colours = painter._colours(painter.snapshot(0.5))
    written = annotate(empty, 0.5, colours, keys if overlay else [], scale_colours())
    rows, columns = np.nonzero((written != 7).any(axis=2))
    assert len(rows) > 500
    assert np.hypot(columns + 0.5 - centre[0], rows + 0.5 - centre[1]).min() > radius
    assert 2.0 * radius > 0.5 * min(width, height)  # and the ball is not small for that


def test_edges_are_seen_on_dark_bodies():
    """Two faces of a dark box: the line between them stands out from both."""
    camera = Camera(eye=(3, -5, 2), target=(0, 0, 0))
    part = geometry.Part(0, 0.0, *box_mesh((0.5, 0.4, 0.7)), np.zeros(3))
    canvas = canvas_of(camera)
    layer = canvas.layer()
    canvas.draw(layer, Assembly([part], [0]).placed(np.zeros((1, 3)), np.array([quaternions.IDENTITY])))
    palette = Palette(np.array([(68, 1, 84)], dtype=np.uint8), np.zeros(1, bool), np.zeros(1, bool))
    picture = canvas.finished([(canvas.shaded(layer, palette), 1.0)]).astype(int).sum(axis=2)
    corner = camera.project((0.5, -0.4, 0.0), 320, 240).astype(int)
    row, edge = picture[corner[1]], corner[0]
    assert row[edge - 3 : edge + 3].max() > max(row[edge - 8], row[edge + 8]) + 30


def test_a_rod_between_two_points_is_drawn(tmp_path):
    """A pendulum is a ball, a joint, and the rod between them."""
    system = ns.System(gravity=(0, 0, 0))
    system.add_sphere(0.05, mass=1.0, position=(0, 0, -1))
    system.add_joint(ns.joints.Distance(None, 0, point_a=(0, 0, 0), point_b=(0, 0, -1)))
    ns.simulate(system, duration=0.01, step=0.01, record=tmp_path / "rod.h5")
    with Trajectory(tmp_path / "rod.h5") as trajectory:
        painter = Painter(trajectory, [0.0], Look(colour=ColourBy.BODY, width=480, height=360))
        picture = painter.paint(0.0).astype(int)
        for height in (-0.3, -0.5, -0.7):
            column, row = painter.camera.project((0, 0, height), 480, 360).astype(int)
            assert picture[row, column - 1 : column + 2].sum(axis=1).min() < 300


def test_a_joint_beside_the_shape_of_its_body_hangs_on_a_rod(tmp_path):
    system = ns.System(gravity=(0, 0, 0))
    system.add_box((0.2, 0.2, 0.2), mass=1.0, position=(0, 0, -1), name="bob")
    system.add_joint(ns.joints.Revolute(None, "bob", point=(0, 0, 0), axis=(0, 1, 0)))
    ns.simulate(system, duration=0.01, step=0.01, record=tmp_path / "bob.h5")
    with Trajectory(tmp_path / "bob.h5") as trajectory:
        rod, pin = geometry.skeleton_parts(trajectory.joints, trajectory.shapes, 1, 1.0)
    assert (rod.body, rod.joint, pin.body, pin.joint) == (0, True, -1, True)
    ends = rod.vertices[:, 2]
    assert ends.min() == pytest.approx(0.1, abs=0.01)  # the face of the box
    assert ends.max() == pytest.approx(1.0, abs=0.01)


def test_a_fixed_wall_before_a_ball_is_glass(tmp_path):
    pictures = []
    for wall in (False, True):
        system = ns.System(gravity=(0, 0, 0))
        system.add_sphere(0.2, mass=1.0, name="ball")
        if wall:
            system.add_box((4.0, 0.1, 4.0), position=(0, -1, 0), fixed=True)
        ns.simulate(system, duration=0.01, step=0.01, record=tmp_path / f"{wall}.h5")
        with Trajectory(tmp_path / f"{wall}.h5") as trajectory:
            camera = Camera(eye=(0, -4, 0), target=(0, 0, 0))
            look = Look(colour=ColourBy.BODY, **SMALL)
            pictures.append(Painter(trajectory, [0.0], look, camera=camera).paint(0.0).astype(int))
    alone, behind = pictures
    middle = (45, 80)
    assert np.ptp(alone[middle]) > 50
    assert np.ptp(behind[middle]) > 0.6 * np.ptp(alone[middle])  # its colour is still to be seen
    assert (behind[45, 30] != BACKGROUND).any()  # and so is the wall


def test_a_mechanism_without_shapes_is_seen(arm):
    with Trajectory(arm) as trajectory:
        picture = Painter(trajectory, [0.2], Look(colour=ColourBy.BODY, **SMALL)).paint(0.2).astype(int)
    assert np.count_nonzero(np.ptp(picture, axis=2) > 50) > 100


def test_what_is_not_recorded_cannot_be_drawn(tmp_path):
    system = ns.System()
    system.add_sphere(0.1, mass=1.0)
    path = tmp_path / "few.h5"
    ns.simulate(
        system, duration=0.02, step=0.01, record=ns.Recording(path, fields=("position", "quaternion"))
    )
    with Trajectory(path) as trajectory:
        with pytest.raises(OptionError, match="'linear_velocity' was not recorded"):
            Painter(trajectory, [0.0])
        with pytest.raises(OptionError, match="'contacts' was not recorded"):
            Painter(trajectory, [0.0], Look(colour=ColourBy.BODY, chains=True))
        with pytest.raises(OptionError, match=r"recorded from 0 s to 0\.02 s"):
            Painter(trajectory, [0.3], Look(colour=ColourBy.BODY))
        assert Painter(trajectory, [0.0], Look(colour=ColourBy.BODY, **SMALL)).paint(0.0).any()


# ---- films ------------------------------------------------------------------------------------------


def test_the_pace_of_a_film_gives_its_times():
    np.testing.assert_allclose(Pace(10.0, 0.5).times(1.0, 1.2), [1.0, 1.05, 1.1, 1.15, 1.2])
    np.testing.assert_allclose(Pace(25.0, 1.0).times(0.0, 0.1), [0.0, 0.04, 0.08])
    with pytest.raises(OptionError, match="give a later end"):
        Pace().times(2.0, 1.0)


def test_a_gif_has_its_pictures_and_its_pace(ball, tmp_path):
    code, text = run_cli(
        "render", ball, "--film", tmp_path / "f.gif", "--fps", 30, "--speed", 0.5, "--to", 0.15,
        "--size", "160x90",
    )  # fmt: skip
    assert code == 0
    assert "10 pictures, 0.3 s of film" in text
    with Image.open(tmp_path / "f.gif") as film:
        assert film.n_frames == 10
        assert film.size == (160, 90)
        delays = []
        for number in range(10):
            film.seek(number)
            delays.append(film.info["duration"])
    assert set(delays) == {30, 40}  # hundredths of a second
    assert sum(delays) == 330


def test_pictures_of_a_gif_are_those_that_were_painted(tmp_path):
    """A disc wanders over a background of all shades: it leaves no trail, and colours are nearly right."""
    shades = scale_colours()[np.tile(np.linspace(0, 255, 120).round().astype(int), (80, 1))]
    rows, columns = np.mgrid[:80, :120]
    path, pictures = tmp_path / "wander.gif", []
    with GifFile(path, 120, 80) as film:
        for number in range(20):
            picture = shades.copy()
            picture[np.hypot(rows - 40, columns - 5 * number) < 15] = (200, 10 * number, 30)
            film.add(picture, 4)
            pictures.append(picture.astype(int))
        film.add(picture, 7)  # nothing new
    with Image.open(path) as film:
        assert (film.n_frames, film.info["loop"]) == (21, 0)
        for number, picture in enumerate(pictures):
            film.seek(number)
            assert film.info["duration"] == 40
            error = np.abs(np.asarray(film.convert("RGB")).astype(int) - picture)
            assert error.max() <= 24
            assert error.mean() < 3.0
        film.seek(20)
        assert film.info["duration"] == 70
    read_by_others(path, pictures)


def read_by_others(path, pictures):
    """imageio wants all pictures to be alike, and ffmpeg decodes them in a way of its own."""
    imageio = pytest.importorskip("imageio.v3", reason="pip install 'imageio[ffmpeg]'")
    ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="pip install 'imageio[ffmpeg]'")
    height, width = pictures[0].shape[:2]
    assert imageio.imread(path).shape == (len(pictures) + 1, height, width, 3)
    # not by its read_frames, which leaves pipes to the garbage collector
    decode = [ffmpeg.get_ffmpeg_exe(), "-v", "error", "-i", str(path), "-fps_mode", "passthrough"]
    decoded = subprocess.run(
        [*decode, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], capture_output=True, check=True
    )
    frames = np.frombuffer(decoded.stdout, np.uint8).reshape(-1, height, width, 3).astype(int)
    assert len(frames) == len(pictures) + 1
    for frame, picture in zip(frames, pictures, strict=False):
        assert np.abs(frame - picture).max() <= 24


def test_the_memory_for_a_gif_does_not_grow_with_its_length(tmp_path):
    """Noise of 30,000 pixels makes 40 kB of every picture: 12 of them would be half a megabyte."""
    rng = np.random.default_rng(0)
    held = []
    with GifFile(tmp_path / "noise.gif", 200, 150) as film:
        tracemalloc.start()
        for _ in range(14):
            film.add(rng.integers(0, 256, (150, 200, 3), dtype=np.uint8), 4)
            held.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
    assert held[-1] - held[1] < 100_000
    assert (tmp_path / "noise.gif").stat().st_size > 14 * 30_000


def test_an_mp4_has_its_pictures(ball, tmp_path):
    ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="films in MP4: pip install 'imageio[ffmpeg]'")
    code, text = run_cli(
        "render", ball, "--film", tmp_path / "f.mp4", "--fps", 20, "--from", 0.1, "--to", 0.5,
        "--size", "160x90",
    )  # fmt: skip
    assert code == 0
    assert "9 pictures, 0.5 s of film" in text  # 9/20 s, rounded
    frames, seconds = ffmpeg.count_frames_and_secs(str(tmp_path / "f.mp4"))
    assert frames == 9
    assert seconds == pytest.approx(9 / 20, abs=0.02)


@pytest.mark.parametrize("ending", [".gif", ".mp4"])
def test_ctrl_c_keeps_a_film_that_can_be_played(ball, tmp_path, ending):
    if ending == ".mp4":
        ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="films in MP4: pip install 'imageio[ffmpeg]'")

    def interrupt(done: int, total: int, now: str) -> None:
        if done == 3:
            raise KeyboardInterrupt

    pace = Pace(20.0)
    path = tmp_path / f"cut{ending}"
    with Trajectory(ball) as trajectory:
        times = pace.times(0.0, 0.5)
        painter = Painter(trajectory, times, Look(**SMALL))
        assert write_film(painter, times, path, pace, interrupt) == Film(frames=3, wanted=11)
    if ending == ".gif":
        with Image.open(path) as film:
            assert film.n_frames == 3
    else:
        assert ffmpeg.count_frames_and_secs(str(path))[0] == 3


@pytest.mark.parametrize("ending", [".gif", ".mp4"])
def test_ctrl_c_waits_until_a_picture_is_in_the_film(ball, tmp_path, monkeypatch, ending):
    if ending == ".mp4":
        ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="films in MP4: pip install 'imageio[ffmpeg]'")
    pace = Pace(20.0)
    path = tmp_path / f"cut{ending}"
    take = _Pictures.take
    taken = []

    def pressed(self, add, *what):
        def add_and_press(*arguments):
            taken.append(1)
            if len(taken) == 4:
                signal.raise_signal(signal.SIGINT)
            add(*arguments)

        return take(self, add_and_press, *what)

    monkeypatch.setattr(_Pictures, "take", pressed)
    with Trajectory(ball) as trajectory:
        times = pace.times(0.0, 0.5)
        painter = Painter(trajectory, times, Look(**SMALL))
        assert write_film(painter, times, path, pace) == Film(frames=4, wanted=11)
    if ending == ".gif":
        with Image.open(path) as film:
            assert film.n_frames == 4
    else:
        assert ffmpeg.count_frames_and_secs(str(path))[0] == 4


def test_mp4_without_imageio_says_what_to_install(ball, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    code, text = run_cli("render", ball, "--film", tmp_path / "f.mp4")
    assert code == 1
    assert 'pip install "nonsmooth[view]"' in text
    assert not (tmp_path / "f.mp4").exists()
    with Trajectory(ball) as trajectory, pytest.raises(MissingPackageError):
        write_film(Painter(trajectory, [0.0], Look(**SMALL)), np.zeros(1), tmp_path / "f.mp4", Pace())


# ---- the command ------------------------------------------------------------------------------------


def test_the_command_draws_a_picture(ball, tmp_path):
    code, text = run_cli(
        "render", ball, "--time", 0.3, "-o", tmp_path / "p.png", "--size", "200x100", "--colour", "force",
        "--camera", "-90,10,1.5", "--forces",
    )  # fmt: skip
    assert code == 0
    assert "t = 0.300 s drawn in" in text
    with Image.open(tmp_path / "p.png") as picture:
        assert picture.size == (200, 100)
        assert len(picture.getcolors(100000)) > 100


def test_pictures_may_be_jpeg_and_the_help_says_so(ball, tmp_path):
    assert run_cli("render", ball, "-o", tmp_path / "p.jpg", "--size", "200x100")[0] == 0
    with Image.open(tmp_path / "p.jpg") as picture:
        assert (picture.format, picture.size) == ("JPEG", (200, 100))
    assert ".png or .jpg" in run_cli("render", "--help")[1]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "no output given"),
        (["-o", "a.png", "--film", "a.gif"], "no output given"),
        (["-o", "a.png", "--time", "9"], "time 9 s is not in"),
        (["-o", "a.png", "--colour", "sped"], "did you mean speed?"),
        (["-o", "a.png", "--size", "big"], "--size big is not a size"),
        (["-o", "a.png", "--size", "4x4"], "width of a picture is 4"),
        (["-o", "a.png", "--camera", "3"], "--camera 3 is not a view"),
        (["-o", "a.png", "--camera", "0,120"], "elevation is 120.0"),
        (["-o", "a.png", "--camera", "0,20,0"], "zoom is 0.0"),
        (["-o", "a.bmp"], "must end in one of .png"),
        (["-o", "nowhere/a.png"], "there is no folder"),
        (["-o", "a.png", "--fps", "3"], "--fps applies only to a film"),
        (["--film", "a.gif", "--time", "0.1"], "--time applies only to a picture"),
        (["--film", "a.avi"], "must end in one of .mp4, .gif"),
        (["--film", "a.gif", "--fps", "90"], "a GIF can have 50 or less"),
        (["--film", "a.gif", "--speed", "0"], "speed of a film is 0.0"),
        (["--film", "a.mp4", "--size", "101x90"], "choose even numbers"),
        (["--film", "a.gif", "--to", "7"], "time 7 s is not in"),
    ],
)
def test_mistakes_end_in_one_sentence(ball, tmp_path, monkeypatch, words, sentence):
    monkeypatch.chdir(tmp_path)
    code, text = run_cli("render", ball, *words)
    assert code == 1
    assert sentence in text
    assert not list(tmp_path.iterdir())
