"""Projections: a nearest point is known by what it must satisfy, not by a second copy of the formula.

For a closed convex set C, p = Π_C(x) exactly if p ∈ C and (x − p)·(y − p) ≤ 0 for all y ∈ C; for a cone K
that is p ∈ K, x − p ∈ K°, p·(x − p) = 0. Distances are compared with |x|, because a projection in double
precision cannot know its answer better than a few units in the last place of x.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numba import njit
from scipy.optimize import minimize_scalar, nnls

from nonsmooth.errors import NonsmoothError, ProblemError
from nonsmooth.problem import cones
from nonsmooth.problem.kernels import cones as kernels

SIDES = (4, 6, 8, 16)
tilt = njit(lambda x, y, mu, sides: kernels.tilt(x, y, mu, sides))
ROUNDING = 1e-14
"""Relative error allowed: about 45 units in the last place."""


# ---- what is drawn ------------------------------------------------------------------------------

magnitudes = st.sampled_from([1e-12, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1e12])
units = st.floats(-1.0, 1.0, allow_subnormal=False).map(lambda v: 0.0 if abs(v) < 1e-15 else v)
numbers = st.builds(lambda m, v: m * v, magnitudes, units)
frictions = st.one_of(
    st.sampled_from([0.0, 1e-12, 1e-3, 0.3, 1.0, 1e3, 1e6]),
    st.floats(0.01, 3.0),
)
factors = st.sampled_from([2.0**-30, 0.125, 4.0, 2.0**40])
angles = st.floats(0.0, 2.0 * math.pi)


@st.composite
def points(draw: st.DrawFn, components: int = 3) -> np.ndarray:
    """Components that differ in size by up to 24 powers of ten, or all of one size."""
    if draw(st.booleans()):
        return np.array([draw(numbers) for _ in range(components)])
    size = draw(magnitudes)
    return size * np.array([draw(units) for _ in range(components)])


def corners(sides: int) -> np.ndarray:
    angle = 2.0 * math.pi * np.arange(sides) / sides
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


# ---- distances from the sets, written from their definitions ------------------------------------


def outside_cone(x: np.ndarray, mu: float) -> float:
    """Distance of x from K = {|x_t| ≤ μ x_n}, an upper bound of it near the apex."""
    excess = (np.hypot(x[1], x[2]) - mu * x[0]) / math.hypot(1.0, mu)
    return max(0.0, excess, -x[0])


def outside_polar(x: np.ndarray, mu: float) -> float:
    """The same for K° = {x_n ≤ −μ |x_t|}."""
    return max(0.0, (x[0] + mu * np.hypot(x[1], x[2])) / math.hypot(1.0, mu))


def outside_pyramid(x: np.ndarray, mu: float, sides: int) -> float:
    """Largest distance from a facet's half space; the facets' normals point between the corners."""
    middle = math.pi * (2 * np.arange(sides) + 1) / sides
    reach = mu * math.cos(math.pi / sides)
    facets = (np.cos(middle) * x[1] + np.sin(middle) * x[2] - reach * x[0]) / math.hypot(1.0, reach)
    return max(0.0, facets.max(), -x[0])


def outside_pyramid_polar(x: np.ndarray, mu: float, sides: int) -> float:
    """Largest product with an edge of unit length: the polar of a cone spanned by its edges."""
    corner = corners(sides)
    edges = (x[0] + mu * (corner @ x[1:])) / math.hypot(1.0, mu)
    return max(0.0, edges.max())


def size(x: np.ndarray) -> float:
    return float(np.linalg.norm(x))


# ---- the round cone, its polar and its dual -----------------------------------------------------


@given(points(), frictions)
@example(np.zeros(3), 0.5)
@example(np.array([1.0, 0.0, 0.0]), 0.0)
@example(np.array([-1.0, 0.0, 0.0]), 0.0)
@example(np.array([-1.0, 0.0, 0.0]), 1e6)
@example(np.array([0.0, 1.0, 0.0]), 0.0)
@example(np.array([0.0, 3.0, 4.0]), 1e6)
@example(np.array([1e-12, 1e12, 0.0]), 1e6)
def test_cone_projection_is_nearest(x, mu):
    p = cones.project_cone(x, mu)
    bound = ROUNDING * size(x)
    assert outside_cone(p, mu) <= bound
    assert outside_polar(x - p, mu) <= bound
    assert abs(p @ (x - p)) <= ROUNDING * size(x) ** 2


@given(points(), frictions)
@example(np.array([-1.0, 0.0, 0.0]), 0.0)
@example(np.array([0.0, 1.0, 0.0]), 0.0)
@example(np.array([1e12, 1e-12, 0.0]), 1e6)
def test_polar_projection_is_nearest(x, mu):
    p = cones.project_polar_cone(x, mu)
    bound = ROUNDING * size(x)
    assert outside_polar(p, mu) <= bound
    assert outside_cone(x - p, mu) <= bound
    assert abs(p @ (x - p)) <= ROUNDING * size(x) ** 2


@given(points(), frictions)
def test_moreau(x, mu):
    """x = Π_K(x) + Π_K°(x), the two orthogonal; the two are computed by formulas of their own."""
    inside, outside = cones.project_cone(x, mu), cones.project_polar_cone(x, mu)
    assert size(inside + outside - x) <= ROUNDING * size(x)
    assert abs(inside @ outside) <= ROUNDING * size(x) ** 2


@given(points(), frictions)
def test_dual_is_the_polar_turned_round(x, mu):
    """K* = {x_n ≥ μ |x_t|} = −K°, and for μ > 0 it is the friction cone of 1/μ."""
    p = cones.project_dual_cone(x, mu)
    assert outside_polar(-p, mu) <= ROUNDING * size(x)
    assert np.array_equal(p, -cones.project_polar_cone(-x, mu))
    if mu >= 1e-3:
        assert size(p - cones.project_cone(x, 1.0 / mu)) <= ROUNDING * size(x)


@given(points(), points(), frictions, st.sampled_from([0, *SIDES]))
def test_variational_inequality(x, y, mu, sides):
    """(x − p)·(y − p) ≤ 0 for points y of the set, here on its boundary, on its axis and inside."""
    p = cones.project_cone(x, mu, sides=sides)
    direction = y[1:] / np.hypot(*y[1:]) if np.any(y[1:]) else np.array([1.0, 0.0])
    rim = mu * corners(sides)[int(abs(y[1]) % sides)] if sides else mu * direction
    for height in (0.0, abs(y[0]), size(x), 2.0 * abs(p[0])):
        for share in (0.0, 0.5, 1.0):
            inside = height * np.array([1.0, *(share * rim)])
            slack = ROUNDING * (size(x) + size(inside)) * size(x)
            assert (x - p) @ (inside - p) <= slack


@given(points(), points(), frictions, st.sampled_from([0, *SIDES]))
def test_projection_does_not_expand(x, y, mu, sides):
    apart = size(cones.project_cone(x, mu, sides=sides) - cones.project_cone(y, mu, sides=sides))
    assert apart <= size(x - y) + ROUNDING * (size(x) + size(y))
    apart = size(cones.project_polar_cone(x, mu) - cones.project_polar_cone(y, mu))
    assert apart <= size(x - y) + ROUNDING * (size(x) + size(y))


@given(points(), frictions, st.sampled_from([0, *SIDES]))
def test_projection_is_idempotent(x, mu, sides):
    once = cones.project_cone(x, mu, sides=sides)
    assert size(cones.project_cone(once, mu, sides=sides) - once) <= ROUNDING * size(x)
    once = cones.project_polar_cone(x, mu)
    assert size(cones.project_polar_cone(once, mu) - once) <= ROUNDING * size(x)


@given(points(), frictions, factors, st.sampled_from([0, *SIDES]))
def test_projection_grows_with_the_point(x, mu, factor, sides):
    """Π(a x) = a Π(x) for a > 0, to the last bit for powers of two."""
    assert np.array_equal(
        cones.project_cone(factor * x, mu, sides=sides), factor * cones.project_cone(x, mu, sides=sides)
    )
    assert np.array_equal(cones.project_polar_cone(factor * x, mu), factor * cones.project_polar_cone(x, mu))
    third = cones.project_cone(x / 3.0, mu, sides=sides)
    assert size(third - cones.project_cone(x, mu, sides=sides) / 3.0) <= ROUNDING * size(x)


@given(angles, frictions, magnitudes)
def test_points_of_the_cone_stay_where_they_are(angle, mu, height):
    """Inside and on the axis to the last bit; on the boundary to rounding."""
    rim = mu * np.array([math.cos(angle), math.sin(angle)])
    axis = np.array([height, 0.0, 0.0])
    assert np.array_equal(cones.project_cone(axis, mu), axis)
    inside = height * np.array([1.0, *(0.99 * rim)])
    assert np.array_equal(cones.project_cone(inside, mu), inside)
    boundary = height * np.array([1.0, *rim])
    assert size(cones.project_cone(boundary, mu) - boundary) <= ROUNDING * size(boundary)
    polar = height * np.array([-mu, math.cos(angle), math.sin(angle)])  # on the boundary of K°
    assert size(cones.project_cone(polar, mu)) <= ROUNDING * size(polar)
    assert size(cones.project_polar_cone(polar, mu) - polar) <= ROUNDING * size(polar)


def test_exact_boundary_points_with_exact_numbers():
    """3-4-5 triangles: |x_t| = 5 and μ x_n = 5 have no rounding at all."""
    boundary = np.array([10.0, 3.0, -4.0])
    assert np.array_equal(cones.project_cone(boundary, 0.5), boundary)
    assert np.array_equal(cones.project_polar_cone(boundary, 0.5), np.zeros(3))
    polar = np.array([-2.5, 3.0, -4.0])
    assert np.array_equal(cones.project_cone(polar, 0.5), np.zeros(3))
    assert np.array_equal(cones.project_polar_cone(polar, 0.5), polar)


def test_closed_form_between_the_cones():
    """μ = 1 and x = (0, 3, 4): half way, p = (2.5, 1.5, 2)."""
    assert cones.project_cone([0.0, 3.0, 4.0], 1.0) == pytest.approx([2.5, 1.5, 2.0], rel=1e-15)
    assert cones.project_polar_cone([0.0, 3.0, 4.0], 1.0) == pytest.approx([-2.5, 1.5, 2.0], rel=1e-15)


@given(points(), st.floats(0.05, 5.0))
def test_nearest_by_search_along_the_boundary(x, mu):
    """The nearest point of the boundary ray below x, found by a scalar search."""
    length = np.hypot(x[1], x[2])
    if length <= mu * x[0] or size(x) == 0.0:
        return
    ray = np.array([1.0, *(mu * x[1:] / length)]) if length > 0.0 else np.array([1.0, mu, 0.0])
    unit = x / size(x)
    found = minimize_scalar(
        lambda a: float(np.sum((unit - a * ray) ** 2)), bounds=(0.0, 2.0), method="bounded",
        options={"xatol": 1e-10},
    )  # fmt: skip
    p = cones.project_cone(unit, mu)
    assert size(unit - p) <= math.sqrt(found.fun) + 1e-14
    assert size(p - found.x * ray) <= 1e-6 * size(ray)


# ---- fewer components, more points --------------------------------------------------------------


@given(points(2), frictions, st.sampled_from([0, *SIDES]))
def test_two_components_are_three_with_a_zero(x, mu, sides):
    planar = cones.project_cone(x, mu, sides=sides)
    assert planar.shape == (2,)
    full = cones.project_cone([*x, 0.0], mu, sides=sides)
    assert np.array_equal(planar, full[:2])
    assert abs(full[2]) <= ROUNDING * size(x)
    assert size(planar - cones.project_cone(x, mu)) <= ROUNDING * size(x)  # a planar pyramid is the cone
    assert np.array_equal(cones.project_polar_cone(x, mu), cones.project_polar_cone([*x, 0.0], mu)[:2])
    assert np.array_equal(cones.project_dual_cone(x, mu), cones.project_dual_cone([*x, 0.0], mu)[:2])


@given(numbers, frictions, st.sampled_from([0, *SIDES]))
@example(-1.0, 0.0, 4)
@example(-1.0, 0.0, 0)
def test_one_component_is_the_half_line(n, mu, sides):
    """Without tangential components friction has nothing to say."""
    assert cones.project_cone([n], mu, sides=sides) == pytest.approx([max(0.0, n)], rel=1e-15, abs=0.0)
    assert cones.project_polar_cone([n], mu) == pytest.approx([min(0.0, n)], rel=1e-15, abs=0.0)
    assert cones.project_dual_cone([n], mu) == pytest.approx([max(0.0, n)], rel=1e-15, abs=0.0)


@pytest.mark.parametrize("project", [cones.project_cone, cones.project_polar_cone, cones.project_dual_cone])
@pytest.mark.parametrize("width", [1, 2, 3])
def test_arrays_of_points(project, width):
    """Any leading shape, friction per point or one for all, each point on its own."""
    rng = np.random.default_rng(7)
    x, mu = rng.standard_normal((4, 5, width)), rng.uniform(0.0, 2.0, (4, 5))
    before = x.copy()
    many = project(x, mu)
    assert many.shape == x.shape
    assert np.array_equal(x, before)
    for i in np.ndindex(4, 5):
        assert np.array_equal(many[i], project(x[i], mu[i]))
    assert np.array_equal(project(x, mu[0]), project(x, np.broadcast_to(mu[0], (4, 5))))
    assert np.array_equal(project(x, 0.3), project(x, np.full((4, 5), 0.3)))
    assert project(np.zeros((0, width)), 0.3).shape == (0, width)


@pytest.mark.parametrize("bad", range(3))
@pytest.mark.parametrize("sides", [0, *SIDES])
def test_not_a_number_stays_visible(bad, sides):
    """A NaN must never become a zero."""
    x = np.array([0.3, -2.0, 1.0])
    x[bad] = np.nan
    assert np.isnan(cones.project_cone(x, 0.5, sides=sides)).all()
    assert np.isnan(cones.project_polar_cone(x, 0.5)).all()
    assert np.isnan(cones.project_disk([np.nan, 1.0], 0.5)).any()
    assert np.isnan(cones.project_half_line(np.nan))


# ---- pyramids -----------------------------------------------------------------------------------


@pytest.mark.parametrize("sides", SIDES)
@given(x=points(), mu=frictions)
@example(x=np.array([-1.0, 0.0, 0.0]), mu=0.0)
@example(x=np.array([-1.0, 0.0, 0.0]), mu=0.5)
@example(x=np.array([0.0, 1.0, 0.0]), mu=0.0)
@example(x=np.array([1.0, 0.0, 2.0]), mu=1e6)
def test_pyramid_projection_is_nearest(sides, x, mu):
    p = cones.project_cone(x, mu, sides=sides)
    bound = ROUNDING * size(x)
    assert outside_pyramid(p, mu, sides) <= bound
    assert outside_pyramid_polar(x - p, mu, sides) <= bound
    assert abs(p @ (x - p)) <= ROUNDING * size(x) ** 2


@pytest.mark.parametrize("sides", [3, 5, *SIDES])
def test_pyramid_against_least_squares(sides):
    """The pyramid is spanned by its edges: the projection is a non-negative least-squares problem."""
    rng = np.random.default_rng(sides)
    for mu in (0.0, 0.1, 0.7, 3.0):
        edges = np.vstack([np.ones(sides), mu * corners(sides).T])
        for x in rng.standard_normal((60, 3)):
            weights, distance = nnls(edges, x)
            p = cones.project_cone(x, mu, sides=sides)
            assert size(p - edges @ weights) <= 1e-13
            assert size(x - p) == pytest.approx(distance, abs=1e-13)


@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("mu", [0.3, 2.0])
def test_pyramid_on_its_mirror_planes(sides, mu):
    """Points above corners and above the middle of sides, where the wedge of a point is not unique."""
    for k in range(2 * sides):
        angle = math.pi * k / sides
        for n in (-1.0, 0.0, 0.2, 1.0):
            x = np.array([n, math.cos(angle), math.sin(angle)])
            p = cones.project_cone(x, mu, sides=sides)
            assert outside_pyramid(p, mu, sides) <= ROUNDING
            assert outside_pyramid_polar(x - p, mu, sides) <= ROUNDING
            assert abs(p @ (x - p)) <= ROUNDING


@given(points(), st.floats(0.01, 3.0))
def test_pyramid_tends_to_the_cone(x, mu):
    """Inscribed: pyramid ⊂ cone, and in the cone's cross-section the gap is μ (1 − cos π/m) = O(1/m²)."""
    unit = x / max(size(x), 1e-300)
    cone = cones.project_cone(unit, mu)
    for sides in (*SIDES, 64, 1024):
        p = cones.project_cone(unit, mu, sides=sides)
        assert outside_cone(p, mu) <= ROUNDING
        # a pyramid point is no farther than this from the cone's nearest point c, so |x − p| ≤ |x − c| + gap
        gap = mu * (1.0 - math.cos(math.pi / sides)) * cone[0]
        assert size(unit - p) <= size(unit - cone) + gap + ROUNDING
        # nearest points of two nested sets: |p − c|² ≤ |x − p|² − |x − c|²
        assert size(p - cone) ** 2 <= gap**2 + 2.0 * gap * size(unit - cone) + ROUNDING


def test_pyramid_error_falls_with_the_square_of_the_sides():
    """The worst distance of a boundary point from the pyramid is that of the middle of a side."""
    mu, errors = 0.6, []
    for sides in (8, 16, 32, 64):
        angle = math.pi / sides
        boundary = np.array([1.0, mu * math.cos(angle), mu * math.sin(angle)])
        errors.append(size(boundary - cones.project_cone(boundary, mu, sides=sides)))
        reach = mu * math.cos(angle)
        assert errors[-1] == pytest.approx((mu - reach) / math.hypot(1.0, reach), rel=1e-10)
    ratios = np.divide(errors[:-1], errors[1:])
    assert np.all(np.abs(ratios - 4.0) < 0.1)


# ---- disk, polygon, half line, box --------------------------------------------------------------

radii = st.one_of(st.just(0.0), magnitudes, st.floats(0.01, 3.0))


@given(points(2), points(2), radii)
@example(np.array([3.0, 4.0]), np.zeros(2), 5.0)
@example(np.zeros(2), np.zeros(2), 0.0)
def test_disk(x, y, radius):
    p, bound = cones.project_disk(x, radius), ROUNDING * size(x)
    assert size(p) <= radius * (1.0 + ROUNDING)
    if size(x) < radius:
        assert np.array_equal(p, x)
    assert size(cones.project_disk(p, radius) - p) <= bound
    assert size(p - cones.project_disk(y, radius)) <= size(x - y) + bound + ROUNDING * size(y)
    inside = y * min(1.0, radius / size(y)) if size(y) > 0.0 else y
    assert (x - p) @ (inside - p) <= ROUNDING * (size(x) + size(inside)) * size(x)
    # nearest: the disk lies behind the plane through p, so its support along x − p is p·(x − p)
    assert radius * size(x - p) <= p @ (x - p) + 4.0 * ROUNDING * radius * size(x)


@given(numbers, radii)
def test_disk_of_one_component_is_an_interval(x, radius):
    expected = min(max(x, -radius), radius)
    assert cones.project_disk([x], radius) == pytest.approx([expected], rel=1e-15, abs=0.0)


@pytest.mark.parametrize("sides", SIDES)
@given(x=points(2), radius=st.one_of(st.just(0.0), magnitudes, st.floats(0.01, 3.0)))
def test_polygon(sides, x, radius):
    """Nearest: the support of the polygon along x − p is reached in p."""
    p = np.array(kernels.project_polygon(x[0], x[1], radius, sides))
    scale = size(x) + radius
    middle = math.pi * (2 * np.arange(sides) + 1) / sides
    facets = np.stack([np.cos(middle), np.sin(middle)], axis=1) @ p - radius * math.cos(math.pi / sides)
    assert facets.max() <= ROUNDING * scale
    support = radius * (corners(sides) @ (x - p)).max()
    assert support <= p @ (x - p) + ROUNDING * scale * scale
    assert np.allclose(kernels.project_polygon(p[0], p[1], radius, sides), p, rtol=0.0, atol=ROUNDING * scale)


@given(numbers, numbers)
def test_half_line(x, y):
    p = cones.project_half_line(x)
    assert p == (x if x > 0.0 else 0.0)
    assert cones.project_half_line(p) == p
    assert abs(p - cones.project_half_line(y)) <= abs(x - y)
    assert (x - p) * (abs(y) - p) <= 0.0


@given(points(3), points(3), points(3), points(3))
def test_box(x, y, a, b):
    lower, upper = np.minimum(a, b), np.maximum(a, b)
    p = cones.project_box(x, lower, upper)
    assert np.all(p >= lower)
    assert np.all(p <= upper)
    assert np.array_equal(cones.project_box(p, lower, upper), p)
    assert np.all(np.abs(p - cones.project_box(y, lower, upper)) <= np.abs(x - y))
    # the normal cone of a box: x may only differ from p where p is on that face, and outwards
    assert np.all((x <= p) | (p == upper))
    assert np.all((x >= p) | (p == lower))


def test_box_takes_infinite_bounds_and_one_bound_for_all():
    x = np.array([[-5.0, 0.5], [7.0, 2.0]])
    assert np.array_equal(cones.project_box(x, 0.0, np.inf), cones.project_half_line(x))
    assert np.array_equal(cones.project_box(x, -1.0, [1.0, 3.0]), [[-1.0, 0.5], [1.0, 2.0]])


# ---- the tilting term ---------------------------------------------------------------------------


@pytest.mark.parametrize("sides", [3, 5, *SIDES])  # odd polygons tell u_t from −u_t
@given(t=points(2), mu=frictions)
def test_tilt_is_the_support_of_the_polygon(sides, t, mu):
    """s = max_k μ (cos 2πk/m, sin 2πk/m)·(−u_t): what the polygon's friction can take out."""
    expected = mu * (corners(sides) @ -t).max()
    assert tilt(t[0], t[1], mu, sides) == pytest.approx(expected, rel=1e-14, abs=1e-14 * mu * size(t))
    assert tilt(t[0], t[1], mu, sides) >= 0.0


@given(points(2), frictions)
def test_tilt_of_the_disk(t, mu):
    assert tilt(t[0], t[1], mu, 0) == pytest.approx(mu * np.hypot(t[0], t[1]), rel=1e-14)


@given(points(2), frictions, st.sampled_from([0, *SIDES]))
def test_tilt_puts_any_sliding_velocity_on_the_boundary_of_the_dual_cone(t, mu, sides):
    """(s, u_t) ∈ K*, and no smaller s will do."""
    s = tilt(t[0], t[1], mu, sides)
    tilted = np.array([s, *t])
    outside = outside_pyramid_polar(-tilted, mu, sides) if sides else outside_polar(-tilted, mu)
    assert outside <= ROUNDING * size(tilted)
    if s > 1e-6 * size(t) > 0.0:
        lower = np.array([s * (1.0 - 1e-6), *t])
        assert (outside_pyramid_polar(-lower, mu, sides) if sides else outside_polar(-lower, mu)) > 0.0


# ---- set-valued laws: Studer and Glocker --------------------------------------------------------

steps = st.sampled_from([1e-3, 0.5, 1.0, 7.0, 1e3])


@given(points(2), steps, st.one_of(st.just(0.0), st.floats(0.01, 3.0)))
@example(np.array([3.0, 4.0]), 2.0, 2.5)
def test_kappa_by_its_definition(xi, r, a):
    """Eq. 23."""
    length, kappa = size(xi), cones.kappa_disk(xi, r, a)
    if length / r <= a * (1.0 - 1e-15):
        assert np.array_equal(kappa, np.zeros(2))
    elif length / r > a * (1.0 + 1e-15):
        assert size(kappa - (xi - r * a * xi / length)) <= ROUNDING * length
    assert size(kappa) <= length


@given(points(2), steps, st.one_of(st.just(0.0), st.floats(0.01, 3.0)))
@example(np.array([3.0, 4.0]), 2.0, 2.5)
def test_kappa_and_prox_add_up(xi, r, a):
    """Identity (130): κ_S(ξ, r) = ξ − prox_{rS}(ξ), and prox_{rS}(ξ) = r prox_S(ξ/r)."""
    kappa = cones.kappa_disk(xi, r, a)
    assert size(kappa - (xi - cones.project_disk(xi, r * a))) <= ROUNDING * size(xi)
    assert size(kappa - (xi - r * cones.project_disk(xi / r, a))) <= ROUNDING * size(xi)


def test_kappa_of_arrays():
    rng = np.random.default_rng(3)
    xi, a = rng.standard_normal((6, 2)), rng.uniform(0.0, 1.0, 6)
    many = cones.kappa_disk(xi, 0.7, a)
    for i in range(6):
        assert np.array_equal(many[i], cones.kappa_disk(xi[i], 0.7, a[i]))
    assert np.array_equal(cones.kappa_disk(xi[:, :1], 0.7, 0.2)[:, 0], [
        v - math.copysign(0.7 * 0.2, v) if abs(v) > 0.7 * 0.2 else 0.0 for v in xi[:, 0]
    ])  # fmt: skip


@given(numbers, numbers, steps)
def test_relation_24(b, other, r):
    """x + r Upr(x) ∋ b  ⇔  x = prox(b): x solves the inclusion, and nothing else does."""
    x = float(cones.project_half_line(b))
    assert cones.in_upr((b - x) / r, x)
    if other != x:
        assert not cones.in_upr((b - other) / r, other)


@given(points(2), steps, st.floats(0.01, 3.0), angles, st.floats(1e-3, 1.0))
def test_relation_25(b, r, a, angle, distance):
    """x + r a SgnSp(x) ∋ b  ⇔  x = κ_S(b, r)."""
    x, scale = cones.kappa_disk(b, r, a), size(b) + r * a
    rounding = 1e-13 * scale / r
    assert cones.in_sgn_sp((b - x) / r, x, a, tolerance=rounding)
    other = x + distance * scale * np.array([math.cos(angle), math.sin(angle)])
    assert not cones.in_sgn_sp((b - other) / r, other, a, tolerance=rounding)


@given(points(2), steps, st.floats(0.01, 3.0), angles, st.floats(1e-3, 1.0))
def test_relation_26(b, r, a, angle, distance):
    """x + r SgnSp⁻¹(x/a) ∋ b  ⇔  x = prox_S(b); y ∈ SgnSp⁻¹(x/a) says x ∈ a SgnSp(y)."""
    b = b / max(1.0, size(b) / 10.0)  # a tolerance for forces and for velocities alike
    x = cones.project_disk(b, a)
    assert cones.in_sgn_sp(x, (b - x) / r, a, tolerance=1e-13 * (1.0 + 1.0 / r))
    other = x + distance * (a + size(b)) * np.array([math.cos(angle), math.sin(angle)])
    assert not cones.in_sgn_sp(other, (b - other) / r, a, tolerance=1e-13 * (1.0 + 1.0 / r))


@pytest.mark.parametrize(
    ("force", "velocity", "holds"),
    [
        (0.0, 0.0, True),
        (3.0, 0.0, True),  # closed and pressed
        (0.0, 2.0, True),  # opens without force
        (3.0, 2.0, False),  # pushes while it opens
        (-1.0, 0.0, False),  # pulls
        (0.0, -1.0, False),  # penetrates
        (-1.0, 2.0, False),
        (math.nan, 0.0, False),
        (0.0, math.nan, False),
    ],
)
def test_upr_by_its_cases(force, velocity, holds):
    """Eq. 2, −λ ∈ Upr(γ̇), and by Eq. 3 the same with the two changed over."""
    assert bool(cones.in_upr(-force, velocity)) is holds
    assert bool(cones.in_upr(-velocity, force)) is holds


@pytest.mark.parametrize(
    ("force", "velocity", "holds"),
    [
        ((0.0, 0.0), (0.0, 0.0), True),
        ((3.0, 4.0), (0.0, 0.0), True),  # sticks at its limit
        ((3.0, 4.1), (0.0, 0.0), False),  # more than the limit
        ((-5.0, 0.0), (2.0, 0.0), True),  # slides, friction against it
        ((5.0, 0.0), (2.0, 0.0), False),  # friction along it
        ((-4.0, 0.0), (2.0, 0.0), False),  # slides with less than the limit
        ((0.0, -5.0), (2.0, 0.0), False),  # across
        ((math.nan, 0.0), (0.0, 0.0), False),
        ((0.0, 0.0), (math.nan, 0.0), False),
    ],
)
def test_sgn_sp_by_its_cases(force, velocity, holds):
    """Eq. 5 with a = 5."""
    assert bool(cones.in_sgn_sp(-np.array(force), velocity, 5.0)) is holds


def test_memberships_of_arrays():
    force, velocity = np.array([0.0, 1.0, 1.0]), np.array([1.0, 0.0, 1.0])
    assert cones.in_upr(-force, velocity).tolist() == [True, True, False]
    forces, velocities = np.array([[-0.5, 0.0], [0.5, 0.0], [-0.5, 0.0]]), np.array([[1.0, 0.0]] * 3)
    limits = np.array([0.5, 0.5, 0.6])
    assert cones.in_sgn_sp(-forces, velocities, limits).tolist() == [True, False, False]


# ---- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize("project", [cones.project_cone, cones.project_polar_cone, cones.project_dual_cone])
@pytest.mark.parametrize("points", [1.0, np.zeros(4), np.zeros((2, 0))], ids=["scalar", "four", "none"])
def test_points_of_wrong_shape(project, points):
    with pytest.raises(ProblemError, match=r"points have shape .* 1 to 3 components"):
        project(points, 0.5)


@pytest.mark.parametrize("points", [1.0, np.zeros(3)], ids=["scalar", "three"])
def test_disk_points_of_wrong_shape(points):
    with pytest.raises(ProblemError, match=r"points have shape .* 1 to 2 components"):
        cones.project_disk(points, 0.5)


def test_kappa_of_a_number():
    with pytest.raises(ProblemError, match="points have shape"):
        cones.kappa_disk(1.0, 1.0, 0.5)


@pytest.mark.parametrize("project", [cones.project_cone, cones.project_polar_cone, cones.project_dual_cone])
@pytest.mark.parametrize("friction", [-0.5, math.nan, math.inf])
def test_friction_out_of_range(project, friction):
    """An infinite μ has no cone in double precision: (n + μt)/(1 + μ²) is not a number."""
    with pytest.raises(ProblemError, match="friction"):
        project([-1.0, 2.0, 0.3], friction)


@pytest.mark.parametrize("project", [cones.project_cone, cones.project_polar_cone, cones.project_dual_cone])
def test_friction_of_wrong_shape(project):
    with pytest.raises(ProblemError, match="friction"):
        project(np.zeros((4, 3)), [0.1, 0.2])


@pytest.mark.parametrize("radius", [-0.5, math.nan])
def test_radius_out_of_range(radius):
    with pytest.raises(ProblemError, match="radius"):
        cones.project_disk([1.0, 2.0], radius)
    with pytest.raises(ProblemError, match="radius"):
        cones.kappa_disk([1.0, 2.0], 1.0, radius)


@pytest.mark.parametrize("r", [0.0, -1.0, math.nan])
def test_kappa_factor_out_of_range(r):
    with pytest.raises(ProblemError, match=r"r = .* must be positive"):
        cones.kappa_disk([1.0, 2.0], r, 0.5)


@pytest.mark.parametrize("sides", [-4, 1, 2])
def test_pyramid_without_a_polygon(sides):
    """Fewer than three sides enclose nothing."""
    with pytest.raises(NonsmoothError, match="sides"):
        cones.project_cone([1.0, 2.0, 0.3], 0.5, sides=sides)


def test_empty_box():
    with pytest.raises(ProblemError, match="lower is above upper"):
        cones.project_box([0.0, 0.0], [1.0, -1.0], [0.0, 1.0])
