"""The cone: against closed forms, a hull of many sides, and what the other rooms make of it."""

import math

import numpy as np
import pytest

from nonsmooth.collision.bounds import local_bounds
from nonsmooth.collision.kernels.directions import solids
from nonsmooth.errors import ProblemError
from nonsmooth.io import Recording, Trajectory, read_scene
from nonsmooth.io.runs.writer import Writer
from nonsmooth.model import Cone, ConvexHull, System
from nonsmooth.model.shapes import CONE, Capsule, Sphere
from nonsmooth.view.drawing.geometry import parts_of


def many_sides(cone: Cone, sides: int) -> ConvexHull:
    angles = np.arange(sides) * (2.0 * math.pi / sides)
    rim = cone.radius * np.column_stack([np.cos(angles), np.sin(angles)])
    base = np.column_stack([rim, np.full(sides, -0.5 * cone.length)])
    return ConvexHull(np.vstack([base, [0.0, 0.0, 0.5 * cone.length]]))


def test_mass_is_that_of_a_pyramid_of_many_sides():
    cone = Cone(0.4, 1.5)
    ours, theirs = cone.mass_properties(3.0), many_sides(cone, 2000).mass_properties(3.0)
    assert ours.mass == pytest.approx(3.0 * math.pi * 0.4**2 * 1.5 / 3.0)
    assert ours.mass == pytest.approx(theirs.mass, rel=1e-5)
    np.testing.assert_allclose(ours.centre, theirs.centre, atol=1e-6)
    np.testing.assert_allclose(ours.inertia, theirs.inertia, rtol=1e-5, atol=1e-9)


def test_supports_bounds_and_surface_agree():
    cone = Cone(0.4, 1.5)
    directions = np.random.default_rng(1).normal(size=(200, 3))
    directions = np.vstack([directions, np.eye(3), -np.eye(3)])
    bound, far = cone.local_bound(), np.array([0.3, -0.2, 0.9])
    vertices, _ = cone.surface()
    for n in directions / np.linalg.norm(directions, axis=1)[:, None]:
        point = cone.support(n)
        kernel = solids.local_support(solids.CONE, *cone.extents, *n)
        assert point @ n == pytest.approx(np.dot(kernel, n), abs=1e-15)
        assert np.all(np.abs(point - bound[:3]) <= bound[3:6] + 1e-15)
        assert np.linalg.norm(point - bound[:3]) <= bound[6] + 1e-15
        assert np.linalg.norm(point - far) <= cone.reach(far) + 1e-15
        assert point @ n - 0.003 <= (vertices @ n).max() <= point @ n + 1e-15
    assert cone.reach(np.array([0, 0, -0.75])) == pytest.approx(1.5)


def test_a_body_sits_at_the_centroid_and_the_other_rooms_know_it(tmp_path):
    system = System()
    system.add_cone(0.4, 1.6, mass=2.0, position=(0, 0, 5), name="top")
    table = system.shapes
    assert table.kind.tolist() == [CONE] == [solids.CONE]
    np.testing.assert_allclose(table.offset, [[0, 0, 0.4]])
    np.testing.assert_allclose(table.size, [[0.4, 0.8, 0, 0]])
    np.testing.assert_allclose(local_bounds(table)[0, 3:6], [0.4, 0.4, 0.8])
    (part,) = parts_of(table, 1.0)
    np.testing.assert_allclose(part.vertices[:, 2].max(), 1.2)
    with Writer(Recording(tmp_path / "cone.h5")) as writer:
        writer.begin(system, {}, numbers={})
    with Trajectory(tmp_path / "cone.h5") as trajectory:
        assert trajectory.shapes.objects == (Cone(0.4, 1.6),)
    (tmp_path / "cone.toml").write_text(
        "[[bodies]]\nshape = 'cone'\nradius = 0.4\nlength = 1.6\nmass = 2.0\n"
    )
    assert read_scene(tmp_path / "cone.toml").system.shapes.objects == (Cone(0.4, 1.6),)
    (tmp_path / "round.toml").write_text(
        "".join(
            f"[[bodies]]\nmass = 2.0\nrounding = 0.1\nshape = {shape}\n"
            for shape in (
                "'cone'\nradius = 0.4\nlength = 1.6",
                "'sphere'\nradius = 0.4",
                "'capsule'\nradius = 0.4\nlength = 1",
            )
        )
    )
    rounded = read_scene(tmp_path / "round.toml").system
    assert rounded.shapes.objects == (Cone(0.4, 1.6, 0.1), Sphere(0.5), Capsule(0.5, 1.0))
    with Writer(Recording(tmp_path / "round.h5")) as writer:
        writer.begin(rounded, {}, numbers={})
    with Trajectory(tmp_path / "round.h5") as trajectory:
        assert trajectory.shapes.objects == rounded.shapes.objects
    with pytest.raises(ProblemError, match="body 'b': the length of a cone is 0 m: it must be positive"):
        system.add_cone(1.0, 0.0, mass=1.0, name="b")
