"""What contacts must do in motion: rest, carry, roll, pass seams and stop bullets, against closed forms.

A wrong manifold rarely shows in a residual, which is that of the contacts as they were found. It shows here:
a missing point tips a body over, a wrong normal kicks it, a point too many brakes it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import nonsmooth as ns
from helpers.corners import CUBE_TRIANGLES, Floats, box_corners
from nonsmooth.model import quaternions
from nonsmooth.model.joints import Prismatic, Ramp, Revolute
from nonsmooth.model.system import System

G = 9.81
Y = quaternions.from_axis_angle((1.0, 0.0, 0.0), 0.5 * math.pi)
"""Takes the axis of a cylinder, z, to −y: it lies across x."""
X = quaternions.from_axis_angle((0.0, 1.0, 0.0), 0.5 * math.pi)
"""Takes the axis of a cylinder to x."""
STEPS = (0.001, 0.005, 0.01, 0.02)
"""s"""


def prism(sides: int, radius: float, length: float) -> Floats:
    """Corners of a regular prism along z, with an edge at angle π/sides: a face is at −y for sides = 4 k."""
    angle = 2.0 * np.pi * (np.arange(sides) + 0.5) / sides
    ring = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.vstack([np.column_stack([ring, np.full(sides, end)]) for end in (-0.5 * length, 0.5 * length)])


def flat_mesh(x: Floats, y: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """An open grid of triangles in the plane z = 0, with z upwards as its outer side."""
    columns, rows = len(x), len(y)
    vertices = np.array([[a, b, 0.0] for b in y for a in x])
    triangles = []
    for row, column in itertools.product(range(rows - 1), range(columns - 1)):
        corner = row * columns + column
        right, above, across = corner + 1, corner + columns, corner + columns + 1
        triangles += [[corner, right, across], [corner, across, above]]
    return vertices, np.array(triangles)


# ---- rest ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("moving", [False, True], ids=["fixed", "moving"])
@pytest.mark.parametrize("turn", [0.0, 1e-9, 0.3, 0.25 * math.pi])
@pytest.mark.parametrize("shift", [(0.0, 0.0), (0.31, -0.17), (0.45, 0.45)])
def test_box_on_a_mesh_cube_stays(turn: float, shift: tuple[float, float], moving: bool) -> None:
    system = System()
    cube = box_corners((1.0, 1.0, 1.0))
    options = {"density": 1000.0} if moving else {"fixed": True}
    system.add_mesh(cube, CUBE_TRIANGLES, position=(0.0, 0.0, 0.5), **options)
    spin = quaternions.from_axis_angle((0.0, 0.0, 1.0), turn)
    system.add_box((0.4, 0.3, 0.2), mass=1.0, position=(*shift, 1.1), orientation=spin, name="box")
    if moving:
        system.add_plane(name="floor")
    forces: list[Floats] = []
    box = system.index("box")
    run = ns.simulate(
        system,
        duration=0.5,
        step=0.005,
        tolerance=1e-10,
        observe=lambda frame: forces.append(frame.force_on(box)),
    )
    assert run.certificate.failed == 0
    assert np.abs(run.system.position - system.position).max() < 1e-9
    assert np.abs(run.system.quaternion - system.quaternion).max() < 1e-9
    np.testing.assert_allclose(np.array(forces), [[0.0, 0.0, G]] * len(forces), atol=1e-5)


@pytest.mark.parametrize("turn", [0.0, 1e-12, 1e-6, 0.5 * math.pi])
@pytest.mark.parametrize("shift", [0.0, 0.4])
def test_cylinder_on_a_cylinder_does_not_sink(turn: float, shift: float) -> None:
    #      ___
    #     (   )   held sideways by a guide, free to sink
    #    ( --- )
    #     \___/   fixed
    system = System()
    system.add_cylinder(0.5, 2.0, orientation=Y, fixed=True, name="below")
    lying = quaternions.product(quaternions.from_axis_angle((0.0, 0.0, 1.0), turn), Y)
    system.add_cylinder(0.3, 1.5, mass=2.0, position=(0.0, shift, 0.8), orientation=lying, name="above")
    system.add_joint(Prismatic(None, "above", point=(0.0, shift, 0.8), axis=(0.0, 0.0, 1.0)))
    above = system.index("above")
    forces: list[float] = []
    run = ns.simulate(
        system,
        duration=0.5,
        step=0.005,
        tolerance=1e-10,
        observe=lambda frame: forces.append(frame.force_on(above)[2]),
    )
    assert run.certificate.failed == 0
    assert run.system.position[above, 2] == pytest.approx(0.8, abs=1e-8)
    np.testing.assert_allclose(forces, 2.0 * G, rtol=1e-6)


# ---- cam and follower ---------------------------------------------------------------------------------

CAM, OFF_CENTRE, MASS, OMEGA = 0.05, 0.01, 0.5, 6.0 * math.pi
"""Radius of the disc and distance of its centre from the shaft in m; kg of the follower; rad/s."""


def cam_and_follower(shape: str) -> System:
    """A disc on an eccentric shaft along y, and a flat follower that is guided along z above it."""
    system = System()
    system.add_material("oiled", friction=0.0)
    centre = (OFF_CENTRE, 0.0, 0.0)
    options = {"mass": 1.0, "position": centre, "material": "oiled", "name": "cam"}
    if shape == "cylinder":
        system.add_cylinder(CAM, 0.02, orientation=Y, **options)
    elif shape == "hull of 720 corners":
        system.add_hull(prism(360, CAM, 0.02), orientation=Y, **options)
    else:
        system.add_sphere(CAM, **options)
    system.add_box(
        (0.16, 0.02, 0.02), mass=MASS, position=(0.0, 0.0, CAM + 0.01), material="oiled", name="follower"
    )
    system.add_joint(Revolute(None, "cam", point=(0.0, 0.0, 0.0), axis=(0.0, -1.0, 0.0), name="shaft"))
    system.add_joint(Prismatic(None, "follower", point=(0.0, 0.0, CAM), axis=(0.0, 0.0, 1.0), name="guide"))
    system.add_driver("shaft", Ramp(OMEGA))
    # The follower starts with the velocity of the cam's highest point.
    system.linear_velocity[system.index("cam")] = (0.0, 0.0, OMEGA * OFF_CENTRE)
    system.angular_velocity[system.index("cam")] = quaternions.rotate_back(
        system.quaternion[system.index("cam")], (0.0, -OMEGA, 0.0)
    )
    system.linear_velocity[system.index("follower")] = (0.0, 0.0, OMEGA * OFF_CENTRE)
    return system


@pytest.mark.parametrize("shape", ["sphere", "cylinder", "hull of 720 corners"])
def test_cam_lifts_a_flat_follower(shape: str) -> None:
    system, step = cam_and_follower(shape), 0.0005
    follower = system.index("follower")
    times, lifts, forces = [], [], []

    def look(frame: ns.Frame) -> None:
        times.append(frame.time)
        lifts.append(float(frame.position[follower, 2]) - 0.01)
        forces.append(float(frame.force_on(follower)[2]))

    run = ns.simulate(system, duration=0.4, step=step, tolerance=1e-10, scheme="projected", observe=look)
    assert run.certificate.failed == 0
    time, lift, force = np.array(times), np.array(lifts), np.array(forces)
    # The highest point of the disc is its radius above its centre, at e sin ωt.
    np.testing.assert_allclose(lift, CAM + OFF_CENTRE * np.sin(OMEGA * time), atol=2e-5)
    if shape.startswith("hull"):
        return  # its edges come up one after the other, each with a small impact
    # The impulse of a step is the change of the velocity over it: the force in its middle.
    middle = time - 0.5 * step
    closed = MASS * (G - OFF_CENTRE * OMEGA**2 * np.sin(OMEGA * middle))
    later = time > 0.02
    np.testing.assert_allclose(force[later], closed[later], rtol=0.02)


# ---- seams --------------------------------------------------------------------------------------------

TILE = 0.25
"""Edge of a tile, a triangle and a cell, in m."""


def add_floor(system: System, kind: str) -> None:
    """A flat floor z = 0 from x = −0.5 to 1.5 m in pieces."""
    x, y = np.linspace(-0.5, 1.5, 9), np.linspace(-0.5, 0.5, 5)
    if kind == "boxes":
        for a, b in itertools.product(x[:-1], y[:-1]):
            place = (a + 0.5 * TILE, b + 0.5 * TILE, -0.05)
            system.add_box((TILE, TILE, 0.1), position=place, material="ice", fixed=True)
    elif kind == "mesh":
        system.add_mesh(*flat_mesh(x, y), material="ice", fixed=True)
    else:
        add_flat_height_field(system, x, y)


def add_flat_height_field(system: System, x: Floats, y: Floats) -> None:
    system.add_height_field(
        np.zeros((len(x), len(y))), (TILE, TILE), position=(0.5 * (x[0] + x[-1]), 0.0, 0.0), material="ice"
    )


SLIDERS: dict[str, Callable[[System, dict], int]] = {
    "box": lambda system, o: system.add_box((0.2, 0.15, 0.1), **o(0.05)),
    "turned box": lambda system, o: system.add_box(
        (0.2, 0.15, 0.1), **o(0.05), orientation=quaternions.from_axis_angle((0.0, 0.0, 1.0), 0.4)
    ),
    "sphere": lambda system, o: system.add_sphere(0.05, **o(0.05)),
    "capsule": lambda system, o: system.add_capsule(0.05, 0.1, **o(0.05), orientation=X),
    "capsule across": lambda system, o: system.add_capsule(0.05, 0.1, **o(0.05), orientation=Y),
    "cylinder": lambda system, o: system.add_cylinder(0.06, 0.1, **o(0.05)),
    "lying cylinder": lambda system, o: system.add_cylinder(0.05, 0.15, **o(0.05), orientation=X),
    "hull": lambda system, o: system.add_hull(prism(8, 0.08, 0.1), **o(0.05)),
}  # fmt: skip


@pytest.mark.parametrize("speed", [1.0, -1.0])
@pytest.mark.parametrize("drop", [1e-7, 4e-6, 1e-5, 3e-5])
def test_what_counts_as_flush_is_certified(drop: float, speed: float) -> None:
    """A step between two boxes, at any height about that which counts as flush, with any margin."""
    for margin in (None, 0.05):
        system = System()
        system.add_material("ice", friction=0.0)
        for x, z in ((0.0, -0.1), (1.0, -0.1 - drop)):
            system.add_box((1.0, 1.0, 0.2), position=(x, 0.0, z), material="ice", fixed=True)
        start = (0.5 - 0.2 * speed, 0.0, 0.1 if speed > 0.0 else 0.1 - drop)
        options = {"position": start, "velocity": (speed, 0.0, 0.0), "material": "ice"}
        system.add_box((0.3, 0.3, 0.2), density=500.0, **options)
        run = ns.simulate(
            system, duration=0.5, step=0.005, tolerance=1e-9, contact_check="all", margin=margin
        )
        assert run.certificate.wrong_contact_steps == 0
        assert run.certificate.failed == 0
        if speed > 0.0:
            # tipping over the edge turns no more than the speed of the fall
            fall = np.sqrt(2.0 * G * drop)
            assert run.system.linear_velocity[2, 0] == pytest.approx(speed, abs=fall)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("floor", ["boxes", "mesh", "height field"])
@pytest.mark.parametrize("slider", SLIDERS)
def test_seams_take_no_speed(slider: str, floor: str, step: float) -> None:
    system = System()
    system.add_material("ice", friction=0.0)
    add_floor(system, floor)

    def options(height: float) -> dict:
        place = (-0.2, 0.03, height)
        return {
            "mass": 1.0,
            "position": place,
            "velocity": (2.0, 0.0, 0.0),
            "material": "ice",
            "name": "slider",
        }

    body = SLIDERS[slider](system, options)
    run = ns.simulate(system, duration=0.5, step=step, tolerance=1e-10)
    assert run.certificate.failed == 0
    velocity, spin = run.system.linear_velocity[body], run.system.angular_velocity[body]
    assert velocity[0] >= 0.999 * 2.0
    assert velocity[0] <= 2.0 + 1e-9
    np.testing.assert_allclose(velocity[1:], 0.0, atol=1e-3)
    np.testing.assert_allclose(spin, 0.0, atol=1e-2)
    assert run.system.position[body, 2] == pytest.approx(0.05, abs=1e-5)


# ---- rolling ------------------------------------------------------------------------------------------

SLOPE = math.radians(10.0)
DOWN = np.array([math.cos(SLOPE), 0.0, -math.sin(SLOPE)])
OUT = np.array([math.sin(SLOPE), 0.0, math.cos(SLOPE)])
RADIUS = 0.1


def add_slope(system: System, kind: str) -> None:
    if kind == "half-space":
        system.add_plane(OUT, material="rubber")
    else:
        turn = quaternions.from_axis_angle((0.0, 1.0, 0.0), SLOPE)
        system.add_box((6.0, 2.0, 0.2), position=-0.1 * OUT, orientation=turn, material="rubber", fixed=True)


def lying_on_the_slope() -> Floats:
    return quaternions.product(quaternions.from_axis_angle((0.0, 1.0, 0.0), SLOPE), Y)


ROLLERS: dict[str, Callable[[System, dict], int]] = {
    "sphere": lambda system, o: system.add_sphere(RADIUS, **o),
    "cylinder": lambda system, o: system.add_cylinder(RADIUS, 0.3, orientation=lying_on_the_slope(), **o),
    "capsule": lambda system, o: system.add_capsule(RADIUS, 0.2, orientation=lying_on_the_slope(), **o),
}


def rolled(roller: str, ground: str, step: float, duration: float) -> tuple[System, ns.Run, int]:
    system = System()
    system.add_material("rubber", friction=0.8)
    add_slope(system, ground)
    body = ROLLERS[roller](system, {"mass": 1.0, "position": RADIUS * OUT, "material": "rubber"})
    return system, ns.simulate(system, duration=duration, step=step, tolerance=1e-10), body


@pytest.mark.parametrize("step", [0.001, 0.002, 0.005, 0.01])
@pytest.mark.parametrize("ground", ["half-space", "box"])
@pytest.mark.parametrize("roller", ROLLERS)
def test_round_bodies_roll_down_a_slope(roller: str, ground: str, step: float) -> None:
    # a = g sin θ / (1 + I/(m r²)); half-implicit Euler integrates a constant acceleration without error in
    # the velocity, and with a h t/2 in the position.
    system, run, body = rolled(roller, ground, step, 0.5)
    assert run.certificate.failed == 0
    inertia = float(system.inertia[body, 2, 2])
    wanted = G * math.sin(SLOPE) / (1.0 + inertia / RADIUS**2)
    if roller == "cylinder":
        assert wanted == pytest.approx(2.0 / 3.0 * G * math.sin(SLOPE))
    np.testing.assert_allclose(
        run.system.linear_velocity[body], 0.5 * wanted * DOWN, atol=1e-3 * 0.5 * wanted
    )
    way = 0.5 * wanted * 0.5**2 + 0.5 * wanted * step * 0.5
    moved = run.system.position[body] - system.position[body]
    np.testing.assert_allclose(moved, way * DOWN, atol=2e-3 * way)


def rolling_polygon(sides: int, inertia: float, duration: float) -> float:
    """Speed (m/s) of a polygon of 1 kg after rolling down the slope from rest.

    It turns about the edge it stands on until the next one comes down. That impact keeps the angular momentum
    about the new edge: ω shrinks by the factor (I + R² cos(2π/n))/(I + R²).
    """
    half, about_edge = math.pi / sides, inertia + RADIUS**2
    kept = (inertia + RADIUS**2 * math.cos(2.0 * half)) / about_edge

    def rate(_: float, state: Floats) -> list[float]:
        return [state[1], G * RADIUS * math.sin(state[0] + SLOPE) / about_edge]

    def comes_down(_: float, state: Floats) -> float:
        return float(state[0]) - half

    comes_down.terminal, comes_down.direction = True, 1.0  # type: ignore[attr-defined]
    time, speed = 0.0, 0.0
    while True:
        found = solve_ivp(rate, (time, duration), [-half, speed], events=comes_down, rtol=1e-10, atol=1e-12)
        time, speed = float(found.t[-1]), kept * float(found.y[1, -1])
        if found.status == 0:
            break
    angle, spin = found.y[:, -1]
    return float(spin) * RADIUS * math.cos(angle)


@pytest.mark.parametrize("step", [0.001, 0.002, 0.005, 0.01])
@pytest.mark.parametrize("ground", ["half-space", "box"])
@pytest.mark.parametrize("sides", [64, 200])
def test_prism_of_many_sides_rolls_down_a_slope(sides: int, ground: str, step: float) -> None:
    system = System()
    system.add_material("rubber", friction=0.8)
    add_slope(system, ground)
    apothem = RADIUS * math.cos(math.pi / sides)
    body = system.add_hull(
        prism(sides, RADIUS, 0.3), mass=1.0, position=apothem * OUT, orientation=lying_on_the_slope(),
        material="rubber",
    )  # fmt: skip
    run = ns.simulate(system, duration=0.5, step=step, tolerance=1e-10)
    assert run.certificate.failed == 0
    inertia = float(system.inertia[body, 2, 2])
    exact = rolling_polygon(sides, inertia, 0.5)
    speed = float(run.system.linear_velocity[body] @ DOWN)
    assert speed == pytest.approx(exact, rel=0.015)
    assert run.certificate.largest_penetration < 1e-3 * RADIUS


def ellipsoid_height(angle: Floats | float, long: float, short: float) -> Floats:
    """Height of the centre of an ellipse over the line it touches, by its angle from lying flat."""
    return np.sqrt(long**2 * np.sin(angle) ** 2 + short**2 * np.cos(angle) ** 2)


def rolling_ellipse(long: float, short: float, inertia: float, spin: float, times: Floats) -> Floats:
    """Angles of an ellipse of 1 kg that rolls without slipping, from lying flat with a spin (rad/s).

    The contact point is at rest, so that the centre moves with |v| = φ' d, where d with d² = h² + h'² is the
    distance of the centre from the contact point: E = ½ (I + h² + h'²) φ'² + g h. Differentiated by time:
    (I + h² + h'²) φ'' + (h h' + h' h'') φ'² + g h' = 0.
    """

    def rate(_: float, state: Floats) -> list[float]:
        angle, speed = state
        height = float(ellipsoid_height(angle, long, short))
        squares = long**2 - short**2
        first = squares * math.sin(angle) * math.cos(angle) / height
        second = (squares * math.cos(2.0 * angle) - first**2) / height
        mass = inertia + height**2 + first**2
        return [speed, -(first * (height + second) * speed**2 + G * first) / mass]

    found = solve_ivp(rate, (0.0, times[-1]), [0.0, spin], t_eval=times, rtol=1e-11, atol=1e-12)
    return found.y[0]


@pytest.mark.parametrize("step", [0.001, 0.002, 0.005])
@pytest.mark.parametrize("ground", ["half-space", "box"])
@pytest.mark.parametrize("spin", [3.0, 9.0], ids=["rocks", "rolls over"])
def test_ellipsoid_rolls_in_its_plane(spin: float, ground: str, step: float) -> None:
    long, short = 0.15, 0.1
    system = System()
    system.add_material("rubber", friction=2.0)
    if ground == "half-space":
        system.add_plane(material="rubber")
    else:
        system.add_box((6.0, 2.0, 0.2), position=(0.0, 0.0, -0.1), material="rubber", fixed=True)
    body = system.add_ellipsoid(
        (long, 0.12, short), mass=1.0, position=(0.0, 0.0, short), velocity=(spin * short, 0.0, 0.0),
        angular_velocity=(0.0, spin, 0.0), material="rubber",
    )  # fmt: skip
    angles, heights, energies = [], [], []

    def look(frame: ns.Frame) -> None:
        axis = quaternions.rotate(frame.quaternion[body], (1.0, 0.0, 0.0))
        angles.append(math.atan2(-axis[2], axis[0]))
        heights.append(float(frame.position[body, 2]))
        energies.append(frame.numbers["kinetic_energy"] + frame.numbers["potential_energy"])

    run = ns.simulate(system, duration=0.6, step=step, tolerance=1e-10, observe=look)
    assert run.certificate.failed == 0
    angle = np.unwrap(angles)
    times = step * np.arange(1, len(angle) + 1)
    inertia = float(system.inertia[body, 1, 1])
    exact = rolling_ellipse(long, short, inertia, spin, times)
    # First order in the step: a step of 1 ms is off by what a millisecond of the motion is worth.
    np.testing.assert_allclose(angle, exact, atol=3.0 * spin * step)
    np.testing.assert_allclose(heights, ellipsoid_height(angle, long, short), atol=spin**2 * long * step**2)
    start = 0.5 * (inertia + short**2) * spin**2 + G * short
    assert np.abs(np.array(energies) - start).max() < 5.0 * step * spin * (start - G * short) + 1e-3


@pytest.mark.parametrize("step", [0.001, 0.002, 0.005])
@pytest.mark.parametrize("ground", ["half-space", "box"])
def test_cone_rolls_around_its_tip(ground: str, step: float) -> None:
    # A cone of half angle α lies on a side line and rolls: its tip stays, its axis goes round with Ω, and it
    # turns about the side line with ω = Ω / tan α. The centre of mass, 3/4 of the height from the tip, moves
    # in a circle at constant height; no force does work.
    radius, height, turn = 0.1, 0.2, 2.0
    slant = math.atan2(radius, height)
    system = System()
    system.add_material("rubber", friction=0.8)
    if ground == "half-space":
        system.add_plane(material="rubber")
    else:
        system.add_box((2.0, 2.0, 0.2), position=(0.0, 0.0, -0.1), material="rubber", fixed=True)
    reach = 0.75 * height
    place = np.array([reach * math.cos(slant), 0.0, reach * math.sin(slant)])
    # The cone's own +z is towards its tip, which is at the origin.
    orientation = quaternions.between((0.0, 0.0, 1.0), -place)
    # Going round counterclockwise, the centre moves along +y: the spin is about the side line, to the tip.
    spin = np.array([-turn / math.tan(slant), 0.0, 0.0])
    body = system.add_cone(
        radius, height, mass=1.0, position=place, orientation=orientation, velocity=np.cross(spin, place),
        angular_velocity=quaternions.rotate_back(orientation, spin), material="rubber",
    )  # fmt: skip
    circle = reach * math.cos(slant)
    assert system.linear_velocity[body, 1] == pytest.approx(turn * circle)
    places, speeds = [], []

    def look(frame: ns.Frame) -> None:
        places.append(frame.position[body].copy())
        speeds.append(float(np.linalg.norm(frame.linear_velocity[body])))

    run = ns.simulate(system, duration=2.0 * math.pi / turn, step=step, tolerance=1e-10, observe=look)
    assert run.certificate.failed == 0
    path, speed = np.array(places), np.array(speeds)
    np.testing.assert_allclose(path[:, 2], place[2], atol=1e-5)
    # Steps along the tangent widen the circle by ρ (Ω h)²/2 each: by π Ω h in a turn.
    slack = 2.0 * math.pi * turn * step
    np.testing.assert_allclose(speed, turn * circle, rtol=slack)
    np.testing.assert_allclose(np.hypot(path[:, 0], path[:, 1]), circle, rtol=slack)
    times = step * np.arange(1, len(path) + 1)
    gone = np.unwrap(np.arctan2(path[:, 1], path[:, 0]))
    np.testing.assert_allclose(gone, turn * times, atol=2.0 * math.pi * slack)


# ---- bullets ------------------------------------------------------------------------------------------


def add_wall(system: System, kind: str) -> None:
    size = (0.01, 1.0, 1.0)
    if kind == "box":
        system.add_box(size, fixed=True, name="wall")
    elif kind == "hull":
        system.add_hull(box_corners(size), fixed=True, name="wall")
    else:
        system.add_mesh(box_corners(size), CUBE_TRIANGLES, fixed=True, name="wall")


BULLETS: dict[str, Callable[[System, dict], int]] = {
    "sphere": lambda system, o: system.add_sphere(0.005, **o),
    "box": lambda system, o: system.add_box((0.01, 0.01, 0.01), **o),
    "capsule": lambda system, o: system.add_capsule(0.005, 0.02, orientation=X, **o),
    "cylinder": lambda system, o: system.add_cylinder(0.005, 0.02, orientation=X, **o),
    "hull": lambda system, o: system.add_hull(prism(12, 0.005, 0.02), orientation=X, **o),
}


@pytest.mark.parametrize("speed", [100.0, 300.0, 1000.0])
@pytest.mark.parametrize("wall", ["box", "hull", "mesh"])
@pytest.mark.parametrize("bullet", BULLETS)
def test_bullet_does_not_pass_a_wall(bullet: str, wall: str, speed: float) -> None:
    system = System(gravity=(0.0, 0.0, 0.0))
    add_wall(system, wall)
    body = BULLETS[bullet](
        system,
        {
            "mass": 0.01,
            "position": (-0.37 * speed * 0.01 - 0.05, 0.013, 0.021),
            "velocity": (speed, 0.0, 0.0),
        },
    )
    furthest: list[float] = []
    ns.simulate(
        system,
        duration=0.05,
        step=0.01,
        observe=lambda frame: furthest.append(float(frame.position[body, 0])),
    )
    assert max(furthest) < -0.005
    assert max(furthest) > -0.05  # it gets there


@pytest.mark.parametrize("speed", [100.0, 1000.0])
@pytest.mark.parametrize("wall", ["box", "hull", "mesh"])
@pytest.mark.parametrize("bullet", BULLETS)
def test_bullet_that_misses_flies_on(bullet: str, wall: str, speed: float) -> None:
    # 1 mm over the edge of the wall; and across its upper corner, which it passes at 1 mm too, while the box
    # around its way holds the corner.
    for slope in (0.0, 0.7):
        system = System(gravity=(0.0, 0.0, 0.0))
        add_wall(system, wall)
        start = -0.37 * speed * 0.01 - 0.05
        way = np.array([math.cos(slope), 0.0, -math.sin(slope)])
        above = np.array([math.sin(slope), 0.0, math.cos(slope)])
        reach = 0.005 if slope == 0.0 else 0.016
        corner = np.array([-0.005 if slope == 0.0 else 0.005, 0.0, 0.5])
        place = corner + (reach + 0.001) * above + start * way
        body = BULLETS[bullet](system, {"mass": 0.01, "position": place, "velocity": speed * way})
        run = ns.simulate(system, duration=0.05, step=0.01)
        np.testing.assert_allclose(run.system.linear_velocity[body], speed * way, rtol=0.0, atol=1e-9 * speed)


TUMBLERS: dict[str, Callable[[System, float, dict], int]] = {
    "sphere": lambda system, r, o: system.add_sphere(r, **o),
    "box": lambda system, r, o: system.add_box((2.0 * r, r, 0.5 * r), **o),
    "capsule": lambda system, r, o: system.add_capsule(0.4 * r, 2.0 * r, **o),
    "cylinder": lambda system, r, o: system.add_cylinder(0.3 * r, 2.0 * r, **o),
    "cone": lambda system, r, o: system.add_cone(0.5 * r, 2.0 * r, **o),
    "ellipsoid": lambda system, r, o: system.add_ellipsoid((r, 0.5 * r, 0.3 * r), **o),
    "hull": lambda system, r, o: system.add_hull(prism(12, 0.4 * r, 2.0 * r), **o),
}


@pytest.mark.parametrize("moving", [False, True], ids=["fixed", "moving"])
@pytest.mark.parametrize("wall", ["box", "mesh"])
def test_no_tumbling_bullet_passes_a_thin_wall(wall: str, moving: bool) -> None:
    # Any attitude, 30 or 300 m/s, up to 500 rad/s, walls of 0.1 to 10 mm, oblique and off the middle.
    rng, step, count, half = np.random.default_rng(7), 0.01, 140, 0.5
    system = System(gravity=(0.0, 0.0, 0.0))
    names = list(TUMBLERS)
    for k in range(count):
        place, thick = np.array([0.0, 60.0 * k, 0.0]), 10.0 ** rng.uniform(-4.0, -2.0)
        size, options = (thick, 2.0 * half, 2.0 * half), {"position": place}
        options |= {"mass": 1000.0 * thick} if moving else {"fixed": True}
        if wall == "box":
            system.add_box(size, **options)
        else:
            system.add_mesh(box_corners(size), CUBE_TRIANGLES, **options)
        speed, tilt, turn = rng.choice([30.0, 300.0]), rng.uniform(0.0, 1.0), rng.uniform(0.0, 2.0 * math.pi)
        way = np.array([math.cos(tilt), math.sin(tilt) * math.cos(turn), math.sin(tilt) * math.sin(turn)])
        aim = np.append(0.0, rng.uniform(-0.3, 0.3, 2))
        start = place + aim - (rng.uniform(0.3, 2.0) * speed * step + 0.1) * way
        attitude, spin = rng.normal(size=4), rng.normal(size=3)
        spin *= rng.uniform(0.0, 500.0) * (k % 2) / np.linalg.norm(spin)
        TUMBLERS[names[k % 7]](
            system,
            rng.uniform(0.005, 0.04),
            {
                "mass": 0.05, "position": start, "velocity": speed * way, "angular_velocity": spin,
                "orientation": attitude / np.linalg.norm(attitude),
            },
        )  # fmt: skip
    walls, bullets = np.arange(0, 2 * count, 2), np.arange(1, 2 * count, 2)
    last = [system.position[bullets] - system.position[walls]]
    passed = np.zeros(count, dtype=bool)
    reached = np.zeros(count, dtype=bool)

    def look(frame: ns.Frame) -> None:
        apart = frame.position[bullets] - frame.position[walls]
        here = np.array([
            quaternions.rotate_back(frame.quaternion[w], d) for w, d in zip(walls, apart, strict=True)
        ])  # fmt: skip
        # Where it crosses the middle of the wall; a wall that moves turns within the step.
        share = np.clip(last[0][:, 0] / (last[0][:, 0] - here[:, 0] + 1e-300), 0.0, 1.0)[:, None]
        cross = here if moving else last[0] + share * (here - last[0])
        inside = np.all(np.abs(cross[:, 1:]) < half, axis=1)
        passed[:] |= (last[0][:, 0] < 0.0) & (here[:, 0] >= 0.0) & inside
        reached[:] |= np.abs(here[:, 0]) < 0.06
        last[0] = here

    momentum = system.mass[~system.fixed] @ system.linear_velocity[~system.fixed]
    run = ns.simulate(system, duration=10 * step, step=step, observe=look)
    assert run.certificate.failed == 0
    assert reached.all()
    assert not passed.any()
    if moving:
        after = system.mass @ run.system.linear_velocity
        np.testing.assert_allclose(after, momentum, rtol=1e-9, atol=1e-9 * np.abs(momentum).max())


@pytest.mark.parametrize("wall", ["box", "mesh"])
@pytest.mark.parametrize("bullet", TUMBLERS)
def test_tumbling_bullet_that_misses_flies_on(bullet: str, wall: str) -> None:
    system = System(gravity=(0.0, 0.0, 0.0))
    add_wall(system, wall)
    state = {"mass": 0.01, "velocity": (300.0, 0.0, 0.0), "angular_velocity": (90.0, 200.0, -150.0)}
    body = TUMBLERS[bullet](system, 0.01, state)
    system.position[body] = (-1.2, 0.0, 0.5 + float(system.bounding_radius[body]) + 0.001)
    run = ns.simulate(system, duration=0.03, step=0.01)
    np.testing.assert_allclose(run.system.linear_velocity[body], (300.0, 0.0, 0.0), rtol=0.0, atol=1e-9)
    assert run.system.position[body, 0] == pytest.approx(-1.2 + 9.0)


def test_boxes_far_away_hide_no_contact() -> None:
    # Neighbours hide contacts at seams only if they do not move against one another.
    system = System()
    system.add_plane()
    system.add_sphere(0.1, mass=1.0, position=(0.0, 0.0, 1.0))
    for x in (50.0, 60.0):
        system.add_box((0.2, 0.2, 0.2), mass=1.0, position=(x, 0.0, 0.1))
    run = ns.simulate(system, duration=0.6, step=0.005, contact_check="all")
    assert run.certificate.failed == 0
    assert run.certificate.late_contacts == 0
    assert run.certificate.largest_penetration < 1e-6
