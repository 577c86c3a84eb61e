"""The web viewer: what it decides without a browser, and its pages in a real one (headless Chromium)."""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nonsmooth as ns
from helpers.command_line import SOURCES, assert_mistake, run, run_process
from nonsmooth.errors import FileFormatError, OptionError
from nonsmooth.model import quaternions
from nonsmooth.model.shapes import Ellipsoid
from nonsmooth.model.shapes.surfaces import box_mesh
from nonsmooth.scenes import SCENES
from nonsmooth.scenes.filling import filling
from nonsmooth.view.drawing.colours import ColourBy
from nonsmooth.view.drawing.geometry import Part, half_space_parts, parts_of
from nonsmooth.view.drawing.look import Look
from nonsmooth.view.drawing.snapshot import Snapshot
from nonsmooth.view.web.lines import edge_mesh, grid_mesh, round_length, sharp_edges
from nonsmooth.view.web.picking import pick, ray_spheres, ray_triangles
from nonsmooth.view.web.plots import small_plot
from nonsmooth.view.web.stage import Stage
from nonsmooth.view.web.state import CHAIN_CLASSES, ForceScale, GrowingCurve, Playback, Throttle, chain_class

HINT = "pip install playwright, then apt install chromium (or playwright install --with-deps chromium)"
PATIENCE = 60.0
"""Seconds that a page may take for anything: software rendering on a busy machine is slow."""


# ---- which frame is due ---------------------------------------------------------------------------------


def test_playback_shows_the_frame_whose_time_has_come() -> None:
    playback = Playback([0.0, 0.1, 0.2, 0.5, 1.0])
    assert playback.frame_at(3.0) == 0  # nobody has pressed Play
    playback.play(10.0)
    for wall, frame in ((10.0, 0), (10.099, 0), (10.101, 1), (10.49, 2), (10.6, 3)):
        assert playback.frame_at(wall) == frame
        assert playback.playing
    assert playback.frame_at(11.0) == 4
    assert not playback.playing
    playback.play(20.0)  # at the end it begins anew
    assert playback.frame_at(20.0) == 0


def test_playback_says_how_far_it_is_on_the_way_to_the_next_frame() -> None:
    playback = Playback([0.0, 0.1, 0.5, 1.0])
    assert playback.place_at(3.0) == (0, 0.0)
    playback.play(10.0)
    for wall, frame, share in ((10.05, 0, 0.5), (10.2, 1, 0.25), (10.75, 2, 0.5)):
        assert playback.place_at(wall) == (frame, pytest.approx(share))
    playback.pause(10.8)
    assert playback.place_at(10.8) == (2, 0.0)
    playback.play(10.8)
    assert playback.place_at(11.4) == (3, 0.0)
    assert not playback.playing


def test_speed_pause_step_and_slider() -> None:
    playback = Playback(np.linspace(0.0, 1.0, 101))
    playback.set_speed(0.1, 0.0)
    playback.play(0.0)
    assert playback.frame_at(2.005) == 20
    playback.set_speed(1.0, 2.005)  # goes on from frame 20
    assert playback.frame_at(2.108) == 30
    playback.pause(2.108)
    assert playback.frame_at(99.0) == 30
    playback.step(-1, 99.0)
    assert playback.frame_at(99.0) == 29
    playback.step(10**9, 99.0)
    assert playback.frame_at(99.0) == 100
    playback.seek(50, 100.0)
    assert (playback.frame_at(100.0), playback.playing) == (50, False)
    playback.play(100.0)
    playback.seek(70, 100.1)  # while it plays, it goes on from there
    assert (playback.frame_at(100.205), playback.playing) == (80, True)
    playback.seek(-5, 101.0)
    assert playback.frame_at(101.0) == 0


def test_playback_of_a_growing_file() -> None:
    playback = Playback([0.0, 1.0])
    playback.seek(1, 0.0)
    playback.extend([0.0, 1.0, 2.0], 0.0)  # who is at the end goes with it
    assert playback.frame_at(0.0) == 2
    playback.seek(1, 0.0)
    playback.extend([0.0, 1.0, 2.0, 3.0], 0.0)
    assert playback.frame_at(0.0) == 1
    playback.extend([0.0], 0.0)  # begun again
    assert playback.frame_at(0.0) == 0
    single = Playback([0.0])
    single.play(0.0)
    assert (single.frame_at(5.0), single.playing) == (0, False)


def test_throttle_lets_through_no_more_than_its_rate() -> None:
    throttle = Throttle(30.0)
    passed = [now for now in np.arange(0.0, 1.0, 0.001) if throttle.due(float(now))]
    assert 28 <= len(passed) <= 30
    assert np.diff(passed).min() >= 1.0 / 30.0 - 1e-9
    assert throttle.due(100.0)


# ---- curves and forces ----------------------------------------------------------------------------------


def test_curve_keeps_peaks_and_stays_small() -> None:
    curve = GrowingCurve(most=50)
    for k in range(10_000):
        curve.append(float(k), 7.0 if k == 4321 else np.sin(k))
    curve.append(10_000.0, np.nan)
    t, values = curve.points()
    assert len(t) == len(values) <= 100
    assert np.all(np.diff(t) > 0.0)
    assert values[t == 4321.0] == 7.0
    whole = GrowingCurve()
    whole.extend([0.0, 1.0, 2.0], [1.0, np.inf, 3.0])
    assert [part.tolist() for part in whole.points()] == [[0.0, 2.0], [1.0, 3.0]]


def test_force_scale_grows_and_never_shrinks() -> None:
    scale = ForceScale().including(np.array([0.0, 90.0]))
    assert scale.top == 100.0
    assert scale.including(np.array([3.0])) is scale
    assert scale.including(np.array([140.0])).top == 150.0
    assert scale.including(np.zeros(0)) is scale


def test_chain_classes_follow_the_normal_force() -> None:
    classes = chain_class(np.array([0.0, 1.9, 2.1, 19.9, 20.1, 99.0, 500.0]), 100.0)
    assert classes.tolist() == [-1, -1, 0, 0, 1, CHAIN_CLASSES - 1, CHAIN_CLASSES - 1]
    assert chain_class(np.array([5.0]), 0.0).tolist() == [-1]


@pytest.mark.parametrize("logarithmic", [True, False])
def test_small_plot_is_a_picture_with_units(logarithmic: bool) -> None:
    t = np.linspace(0.0, 2.0, 21)
    picture = ElementTree.fromstring(small_plot("energy in J", t, 1e-6 + t, 1.0, logarithmic=logarithmic))
    texts = [node.text for node in picture.iter("text")]
    assert "energy in J" in texts
    assert "2 s" in texts
    assert ("10⁻⁶" in texts) == logarithmic
    pale, strong = (node.get("points", "").split() for node in picture.iter("polyline"))
    assert len(strong) == 11  # up to now
    assert len(pale) == 11
    heights = [float(point.split(",")[1]) for point in strong]
    assert heights == sorted(heights, reverse=True)  # growing values go up
    for nothing in (np.zeros(0), np.zeros(3)):
        ElementTree.fromstring(small_plot("", nothing, nothing, 0.0, logarithmic=logarithmic))


# ---- picking and lines ----------------------------------------------------------------------------------


def test_ray_meets_spheres_where_geometry_says() -> None:
    origin, direction = np.array([0.0, 0.0, 10.0]), np.array([0.0, 0.0, -1.0])
    centres = np.array(
        [[0.0, 0.0, 0.0], [0.6, 0.0, 5.0], [2.0, 0.0, 0.0], [0.0, 0.0, 20.0], [0.0, 0.0, 10.5]]
    )
    distance = ray_spheres(origin, direction, centres, np.array([2.0, 1.0, 1.0, 1.0, 1.0]))
    assert distance == pytest.approx([8.0, 5.0 - 0.8, np.inf, np.inf, 0.0])


def test_ray_meets_a_box_where_the_slab_method_says() -> None:
    rng = np.random.default_rng(1)
    half = np.array([0.5, 1.0, 2.0])
    vertices, faces = box_mesh(half)
    hits = 0
    for _ in range(200):
        origin, target = 6.0 * rng.standard_normal(3), rng.uniform(-2.0, 2.0, 3)
        if np.all(np.abs(origin) <= half):
            continue
        direction = (target - origin) / np.linalg.norm(target - origin)
        near, far = np.sort(np.stack([(-half - origin) / direction, (half - origin) / direction]), axis=0)
        expected = near.max() if near.max() <= far.min() and far.min() >= 0.0 else np.inf
        assert ray_triangles(origin, direction, vertices[faces]) == pytest.approx(expected)
        hits += np.isfinite(expected)
    assert 50 < hits < 200


def test_pick_finds_the_nearest_body_and_walls_from_their_front_only() -> None:
    system = filling(40)
    low, high = system.position[:40].min(axis=0) - 1.0, system.position[:40].max(axis=0) + 1.0
    parts = [part for part in parts_of(system.shapes, 1.0) if not part.half_space]
    parts += half_space_parts(system.shapes, system.position, system.quaternion, low, high)
    state = (system.position, system.quaternion)
    # From the front, through the wall "front", which turns its back.
    before = system.position[0] - np.array([0.0, 100.0, 0.0])
    assert pick(parts, *state, before, np.array([0.0, 1.0, 0.0])) == 0
    corner = np.array([3.35, 3.35, 100.0])  # of the floor, |x|, |y| ≤ 3.42, beside the spheres
    assert pick(parts, *state, corner, np.array([0.0, 0.0, -1.0])) == system.index("floor")
    assert pick(parts, *state, corner, np.array([0.0, 0.0, 1.0])) is None


def test_edges_of_a_box_and_of_a_round_thing() -> None:
    box = Part(0, 0.0, *box_mesh([0.5, 1.0, 2.0]), np.zeros(3))
    edges = sharp_edges(box)
    assert np.sort(np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1)) == pytest.approx(
        [1] * 4 + [2] * 4 + [4] * 4
    )
    vertices, faces = edge_mesh(box, 0.01)
    assert (vertices.shape, faces.shape) == ((72, 3), (72, 3))
    assert np.all(np.abs(vertices) <= np.array([0.5, 1.0, 2.0]) + 0.0101)

    assert len(sharp_edges(Part(0, 0.0, *Ellipsoid((1.0, 1.1, 0.9)).surface(), np.zeros(3)))) == 0


def test_grid_lies_just_above_its_plane_and_faces_the_same_way() -> None:
    square = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
    turn = quaternions.matrix(quaternions.normalise([0.9, 0.3, -0.2, 0.1]))
    offset = np.array([0.05, 0.0, 0.0])
    part = Part(0, 0.0, square @ turn.T, np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32), turn @ offset)
    vertices, faces = grid_mesh(part, 0.5, 0.01)
    flat = vertices @ turn
    assert flat[:, 2] == pytest.approx(0.01)
    assert np.abs(flat[:, :2]).max() <= 1.0 + 0.02
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) @ turn
    assert np.all(normals[:, 2] > 0.0)
    assert [round_length(length) for length in (0.9, 1.0, 3.0, 0.051)] == pytest.approx([0.5, 1.0, 2.0, 0.05])


# ---- the scene, without a browser -----------------------------------------------------------------------


@pytest.fixture
def heap(tmp_path: Path) -> Path:
    """Eight balls of two sizes that fall on a floor, and a fixed box."""
    system = ns.System()
    system.add_plane(name="floor")
    system.add_spheres(0.1, [[0.25 * k, 0.0, 0.3] for k in range(5)], mass=1.0)
    system.add_spheres(0.05, [[0.25 * k, 0.3, 0.2] for k in range(3)], mass=0.1)
    system.add_box((0.2, 0.2, 0.2), position=(0.0, -0.5, 0.1), fixed=True, name="box")
    path = tmp_path / "heap.h5"
    ns.simulate(system, duration=0.6, step=0.02, record=str(path))
    return path


def moment_and_stage(path: Path, frame: int) -> tuple[Snapshot, Stage]:
    with ns.Trajectory(path) as trajectory:
        moment = Snapshot.of_recording(trajectory, frame)
        assert moment.contacts is not None
        return moment, Stage.of_recording(trajectory)


def viewer() -> Any:
    return pytest.importorskip(
        "nonsmooth.view.web.viewer", reason='the viewer: pip install "nonsmooth[view]"', exc_type=ImportError
    )


def test_stage_of_a_system_is_that_of_its_recording(tmp_path: Path) -> None:
    for name in ("slider-crank", "box-stack"):
        system = SCENES[name].build()
        ns.simulate(system, duration=0.01, step=0.01, record=tmp_path / f"{name}.h5")
        with ns.Trajectory(tmp_path / f"{name}.h5") as trajectory:
            recorded, live = Stage.of_recording(trajectory), Stage.of_system(system)
            start, begun = Snapshot.of_recording(trajectory, 0), Snapshot.of_start(system)
        assert live.names == recorded.names
        assert live.joints.types == recorded.joints.types
        for field in ("fixed", "reach"):
            np.testing.assert_array_equal(getattr(live, field), getattr(recorded, field))
        for field in ("bodies", "anchor", "frame"):
            np.testing.assert_array_equal(getattr(live.joints, field), getattr(recorded.joints, field))
        np.testing.assert_array_equal(begun.position, start.position)


def test_between_two_frames_bodies_go_straight_and_turn_the_shorter_way(heap: Path) -> None:
    before, after = moment_and_stage(heap, 3)[0], moment_and_stage(heap, 4)[0]
    turn = np.array([[np.cos(0.2), 0.0, 0.0, np.sin(0.2)]])  # 0.4 rad about z
    before.quaternion[:], after.quaternion[:] = quaternions.IDENTITY, -turn  # −q is the same rotation as q
    middle = Snapshot.between(before, after, 0.5)
    np.testing.assert_allclose(middle.position, 0.5 * (before.position + after.position))
    half = [np.cos(0.1), 0.0, 0.0, np.sin(0.1)]
    np.testing.assert_allclose(middle.quaternion, np.tile(half, (len(after.position), 1)))
    assert middle.time == pytest.approx(0.5 * (before.time + after.time))
    assert middle.contacts is before.contacts
    assert middle.recorded is before


def test_all_spheres_are_one_batch_and_move_with_the_frames(heap: Path) -> None:
    web = viewer()
    with web.RecordingView(heap, port=0) as view:
        view.page._ended.set()  # this test shows frames itself
        view.page._thread.join()
        scene, choice = view.page.scene, view.page.panel.choice
        meshes = [batch for batch in scene._batches if batch._spheres]
        assert [len(batch._bodies) for batch in meshes] == [8]
        sent = {}
        for frame in (0, 8):
            moment, _ = moment_and_stage(heap, frame)
            shown = scene.show(moment, choice)
            handle = meshes[0]._handle
            np.testing.assert_array_equal(handle.batched_positions, moment.position[1:9].astype(np.float32))
            sent[frame] = np.array(handle.batched_colors)
        assert (sent[0] != sent[8]).any()  # they have become faster
        assert (shown.colours.unit, shown.colours.low) == ("m/s", 0.0)
        top = shown.colours.high
        assert (
            scene.show(moment_and_stage(heap, 0)[0], choice).colours.high == top
        )  # the scale does not shrink
        resting = moment_and_stage(heap, -1)[0]
        shown = scene.show(
            resting,
            replace(choice, look=Look(ColourBy.FORCE, forces=True, chains=True, contacts=True)),
        )
        assert shown.contacts == len(resting.contacts)
        assert shown.colours.unit == "N"
        marks = scene._marks
        assert marks._points.points.shape == (shown.contacts, 3)
        # A ball of 1 kg lies on the floor: 9.81 N upwards on the ball, on a scale of 10 N.
        assert shown.forces.top == 10.0
        longest = marks._arrows.batched_scales.max()
        assert longest == pytest.approx(shown.arrow_length * 0.981, rel=1e-3)
        assert quaternions.rotate(marks._arrows.batched_wxyzs, [0.0, 0.0, 1.0])[:, 2] == pytest.approx(1.0)
        body = scene.pick(resting, resting.position[3] + [0.0, 0.0, 5.0], np.array([0.0, 0.0, -1.0]))
        assert body == 3
        from nonsmooth.view.web.panel import body_numbers

        numbers = re.sub("<[^>]*>", " ", body_numbers(scene.stage, resting, body))
        assert "body 3" in numbers
        assert re.search(r"net force\s+\S+, \S+, 9\.81 N", numbers), numbers
        assert "<b>box</b>" in body_numbers(scene.stage, resting, 9)


def test_camera_has_the_whole_run_in_sight_and_rods_are_drawn(tmp_path: Path) -> None:
    web = viewer()
    path = tmp_path / "pendulum.h5"
    ns.simulate(SCENES["pendulum"].build(), duration=1.0, step=0.01, record=str(path))
    with web.RecordingView(path, port=0) as view, ns.Trajectory(path) as trajectory:
        (pivot,) = (anchor[0] for anchor in trajectory.joints.anchor)  # at the ground
        moment = Snapshot.of_recording(trajectory, 50)
        camera = view.page.scene.camera(moment, 1.5)
        points = np.array([pivot, *(trajectory.frame(k).position[-1] for k in (0, 30, 60, 100))])
        x, y = camera.project(points, 150, 100).T
        assert np.all((x > 0.0) & (x < 150.0) & (y > 0.0) & (y < 100.0))
        view.page.scene.show(moment, view.page.panel.choice)
        rod = view.page.scene._struts._lines.points
        np.testing.assert_allclose(rod[0], [pivot, moment.position[-1]], atol=1e-6)


def test_page_is_served_on_this_computer_alone_and_ports_are_found(heap: Path) -> None:
    web = viewer()
    with web.RecordingView(heap, port=0) as first:
        port = int(first.address.rpartition(":")[2])
        assert first.address == f"http://127.0.0.1:{port}"
        with web.RecordingView(heap, port=port) as second:  # taken: the next one
            assert int(second.address.rpartition(":")[2]) > port
        assert first.page.server.request_share_url() is None
    with pytest.raises(OptionError, match=r"cannot serve on 203\.0\.113\.7, port 8080"):
        web.RecordingView(heap, host="203.0.113.7")
    with pytest.raises(OptionError, match="port is 70000"):
        web.RecordingView(heap, port=70000)


def test_recording_that_grows_is_followed(tmp_path: Path) -> None:
    web = viewer()
    system = ns.System()
    system.add_plane()
    system.add_sphere(0.1, mass=1.0, position=(0.0, 0.0, 0.5))
    path = tmp_path / "run.h5"
    ns.simulate(system, duration=1.0, step=0.1, record=str(path), until=lambda frame: frame.index == 4)
    with web.RecordingView(path, port=0) as view:
        assert view._follow.value
        ns.simulate(
            system,
            duration=1.0,
            step=0.1,
            record=str(path),
            resume=True,
            until=lambda frame: frame.index == 7,
        )
        wait_until(lambda: "frame 0 of 7" in view.page._status.content, "news of frames that are not seen")
        view._seek(7)
        ns.simulate(system, duration=1.0, step=0.1, record=str(path), resume=True)
        wait_until(lambda: view._shown == (10, 0.0), "the last frame")
        assert not view._follow.value  # it has come to its end


def test_recording_that_becomes_another_run_is_told(tmp_path: Path) -> None:
    web = viewer()
    path = tmp_path / "run.h5"
    ns.simulate(filling(5), duration=1.0, step=0.01, record=str(path), until=lambda frame: frame.index == 4)
    with web.RecordingView(path, port=0) as view:
        again = ns.Recording(path, overwrite=True)
        ns.simulate(filling(8), duration=1.0, step=0.01, record=again, until=lambda frame: frame.index == 4)
        with pytest.raises(FileFormatError, match="holds another run now: open it again"):
            view.wait(PATIENCE)


def test_a_live_run_that_goes_on_has_the_curves_of_its_first_steps(heap: Path) -> None:
    web = viewer()
    with ns.Trajectory(heap) as trajectory, web.LiveView("heap", filling(2), port=0) as view:
        view.recall(trajectory.steps)
        np.testing.assert_array_equal(view._residual.points()[0], trajectory.steps["time"])
        np.testing.assert_array_equal(view._energy.points()[1], trajectory.steps["kinetic_energy"])


def test_what_goes_wrong_on_the_page_ends_the_run() -> None:
    web = viewer()
    with web.LiveView("ball", filling(2), port=0) as view:
        view.page.opened.set()
        view._pause_or_go_on()
        view.page._tick = lambda changed: 1 / 0
        with pytest.raises(ZeroDivisionError):
            view.hold()


def test_live_run_can_be_paused_stepped_and_stopped() -> None:
    web = viewer()
    system = ns.System()
    system.add_sphere(0.1, mass=1.0)
    done: list[int] = []
    with web.LiveView("ball", system, port=0) as view:

        def watch(frame: Any) -> None:
            done.append(frame.index)
            view.observe(frame)

        def work() -> None:
            ns.simulate(system, duration=1e6, step=0.01, observe=watch, until=view.stopped)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            time.sleep(0.3)
            assert len(done) == 1  # nobody looks yet
            view.page.opened.set()
            wait_until(lambda: len(done) > 20, "steps")
            view._pause_or_go_on()
            time.sleep(0.3)
            paused = len(done)
            time.sleep(0.3)
            assert len(done) == paused
            wait_until(lambda: view._shown is not None and view._shown.frame.index == done[-1], "picture")
            view._allow_step()
            wait_until(lambda: len(done) == paused + 1, "one step")
            view._pause_or_go_on()
            wait_until(lambda: len(done) > paused + 20, "more steps")
        finally:
            view._ask_to_stop()
            thread.join(PATIENCE)
        assert not thread.is_alive()
        view.finish()


def wait_until(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"waited {PATIENCE:g} s in vain for {what}"
        time.sleep(0.02)


# ---- the commands ---------------------------------------------------------------------------------------


def test_mistakes_end_in_a_sentence(tmp_path: Path) -> None:
    assert_mistake(run("run", "filling", "--port", "9000"), "--port applies to the viewer.* --view")
    assert_mistake(run("view", str(tmp_path / "none.h5")), "cannot read .*none.h5")


def test_without_viser_the_command_names_the_cure(heap: Path, tmp_path: Path) -> None:
    (tmp_path / "viser.py").write_text("raise ImportError('not here')\n")
    result = run_process("view", str(heap), PYTHONPATH=os.pathsep.join([str(tmp_path), str(SOURCES)]))
    assert result.returncode == 1
    assert result.stderr == (
        'Error: the viewer needs viser, which is not installed: pip install "nonsmooth[view]"\n'
    )


def test_ctrl_c_ends_a_run_that_waits_for_its_page() -> None:
    viewer()
    last_words = "Interrupted before the first step: nothing was recorded"
    with serving("run", "box-stack", "--view", code=130, last_words=last_words):
        time.sleep(0.5)


# ---- in a browser ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason=f"the browser tests need Chromium: {HINT}")
    viewer()
    with api.sync_playwright() as playwright:
        program = (
            shutil.which("chromium") or shutil.which("google-chrome") or playwright.chromium.executable_path
        )
        if not Path(program).exists():
            pytest.skip(f"the browser tests need Chromium: {HINT}")
        flags = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
        chromium = playwright.chromium.launch(executable_path=program, args=flags)
        yield chromium
        chromium.close()


@contextmanager
def serving(*words: str, code: int = 0, last_words: str = "") -> Iterator[str]:
    """Run a command that serves a page, give the page's address, and end the command with Ctrl-C.

    Its exit code must be `code`, and it must say `last_words`.
    """
    paths = os.pathsep.join([str(SOURCES), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, "-m", "nonsmooth", *words, "--port", "0"],
        env={**os.environ, "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    try:
        assert process.stdout is not None
        lines = []
        for line in iter(process.stdout.readline, ""):  # the first may say that kernels are compiled
            lines.append(line)
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                break
        else:
            raise AssertionError("".join(lines))
        yield found[0]
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == code, said
        assert last_words in said
    finally:
        process.kill()
        process.communicate()


class Page:
    """A page of the viewer in a window of 1000 × 500 pixels, drawn coarsely: there is no graphics card."""

    def __init__(self, browser: Any, address: str) -> None:
        self.page = browser.new_page(viewport={"width": 1000, "height": 500})
        self.page.set_default_timeout(1e3 * PATIENCE)
        self.faults: list[str] = []
        self.page.on(
            "console", lambda message: self.faults.append(message.text) if message.type == "error" else None
        )
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.goto(f"{address}?fixedDpr=0.5")
        self.button("Reset camera").wait_for()
        self.wait_for_picture()

    def button(self, name: str) -> Any:
        return self.page.get_by_role("button", name=name, exact=True)

    def status(self) -> str:
        return str(self.page.locator(".nonsmooth-status").inner_text())

    def wait_for_status(self, pattern: str) -> str:
        wait_until(lambda: re.search(pattern, self.status()) is not None, f"the status {pattern}")
        return self.status()

    def picture(self) -> np.ndarray:
        """Pixels between the two panels."""
        from PIL import Image

        shot = self.page.screenshot(clip={"x": 320, "y": 60, "width": 340, "height": 420})
        return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB"), dtype=float)

    def wait_for_picture(self) -> None:
        wait_until(lambda: colours_in(self.picture()) > 30, "a picture that is not blank")

    def wait_for_change(self, before: np.ndarray) -> np.ndarray:
        """Wait until the picture has become another one."""
        now = before

        def changed() -> bool:
            nonlocal now
            now = self.picture()
            return different(now, before)

        wait_until(changed, "another picture")
        return now


def colours_in(picture: np.ndarray) -> int:
    return len(np.unique(picture.reshape(-1, 3), axis=0))


def different(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether one pixel in 500 has changed by more than a quarter of the way from black to white."""
    return bool(np.mean(np.abs(one - other).max(axis=2) > 64.0) > 0.002)


def test_recorded_run_plays_in_the_browser(browser: Any, heap: Path) -> None:
    with serving("view", str(heap)) as address:
        page = Page(browser, address)
        assert page.status() == "t = 0 s, frame 0 of 30"
        start = page.picture()
        page.button("Play").click()
        page.wait_for_status("frame 30 of 30")
        end = page.wait_for_change(start)
        page.button("Play").wait_for()  # it has stopped by itself
        slider = page.page.get_by_role("slider").first
        slider.focus()
        slider.press("Home")
        page.wait_for_status("frame 0 of 30")
        again = page.wait_for_change(end)
        assert not different(again, start)
        box = slider.locator("xpath=..").bounding_box()
        page.page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
        page.wait_for_status(r"frame 1[3-7] of 30")
        page.button("+1").click()
        page.button("Last").click()
        page.wait_for_status("frame 30 of 30")
        page.page.get_by_text("Force arrows").click()
        page.page.get_by_text(re.compile(r"m long: 10 N")).wait_for()
        page.wait_for_change(end)  # bodies have become glass
        page.page.mouse.click(490, 270)
        page.page.get_by_text("net force").wait_for()  # of what lies in the middle, if only the floor
        assert page.faults == []
        page.page.close()


def test_live_run_is_shown_in_the_browser(browser: Any) -> None:
    command = ("run", "slider-crank", "--step", "0.001", "--quiet")
    assert run(*command, "--duration", "0.005").exit_code == 0  # its kernels may have to be compiled
    with serving(
        *command, "--duration", "1e4", "--view", last_words="Stopped on the page at t = "
    ) as address:
        page = Page(browser, address)
        page.wait_for_change(page.picture())  # it moves
        page.button("Pause").click()
        page.wait_for_status("paused")
        page.button("Continue").wait_for()
        time.sleep(1.0)  # the step under way comes to its end
        paused, still = page.status(), page.picture()
        time.sleep(0.5)
        assert page.status() == paused
        assert not different(page.picture(), still)
        page.button("Continue").click()
        page.wait_for_status("running")
        page.wait_for_change(still)
        page.button("Stop").click()
        page.wait_for_status("ended")
        assert page.faults == []
        page.page.close()
