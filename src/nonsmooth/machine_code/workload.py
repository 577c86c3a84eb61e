"""Small pieces of work that together call every kernel, with every type of argument that users meet.

Kernels are compiled for the types of their arguments, which appear only in a call. Pieces run through the
registries, so that a new scene, solver, joint or problem belongs to the work as soon as it is registered. A
kernel that no piece calls fails a test of this file, and belongs into a piece.
"""

from __future__ import annotations

import io
import itertools
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import nonsmooth as ns
from nonsmooth.errors import OptionError, UnsupportedError

Piece = Callable[[], None]
_STEPS = 4
_LARGE = 500


def pieces() -> dict[str, Piece]:
    """Return every piece by its name; in this order processes seldom wait for each other's kernels."""
    return dict(_pieces())


def run(piece: Piece) -> None:
    """Run a piece as far as the installed packages allow: a build has only those that compile.

    Small steps of rough scenes need not reach their tolerance.
    """
    with warnings.catch_warnings(), suppress(ImportError):
        warnings.simplefilter("ignore")
        piece()


def _pieces() -> Iterator[tuple[str, Piece]]:
    yield "shapes on terrain", _shapes_on_terrain
    for name in ns.solvers.REGISTRY:
        yield f"solver {name}", partial(_solver, name)
    yield "analysis of problems", _analysis
    yield "complementarity problems", _complementarity
    yield "joints", _joints
    yield "events", _events
    for name in ns.scenes.SCENES:
        yield f"scene {name}", partial(_scene, name)
    for scheme in ns.stepping.options.SCHEMES:
        yield f"scheme {scheme}", partial(_scheme, scheme)
    yield "meshes", _meshes
    yield "fast bodies", _fast_bodies
    yield "impacts", _impacts
    yield "queries", _queries
    yield "threads", _threads
    yield "pictures", _pictures
    yield "pictures of a recording", _recording


# ---- simulations ------------------------------------------------------------------------------------


def _simulate(system: ns.System, steps: int = _STEPS, **options: Any) -> None:
    step = options.pop("step", 0.005)
    ns.simulate(system, duration=steps * step, step=step, **options)


def _small(name: str) -> ns.System:
    found = ns.scenes.SCENES[name]
    return found.build(**found.small)


def _scene(name: str) -> None:
    settings = {k: v for k, v in ns.scenes.SCENES[name].settings.items() if k != "duration"}
    _simulate(_small(name), **settings)


def _scheme(scheme: str) -> None:
    for name in ("stirrer", "box-stack", "four-bar", "grasp"):
        _simulate(_small(name), scheme=scheme)
    _simulate(_dropped(ns.System()), 60, scheme=scheme)


def _dropped(system: ns.System) -> ns.System:
    """One body of every shape, close above a plane or on whatever the system has, with restitution."""
    rng = np.random.default_rng(3)
    system.add_material("m", friction=0.4, restitution=0.3)
    if len(system.position) == 0:
        system.add_plane(material="m")
    for i in range(12):
        place = {
            "mass": 1.0,
            "material": "m",
            "position": (0.11 * (i % 3), 0.12 * (i // 3), 0.2 + 0.05 * i),
            "orientation": _unit(rng.standard_normal(4)),
        }
        match i % 6:
            case 0:
                system.add_sphere(0.1, **place)
            case 1:
                system.add_box((0.2, 0.3, 0.15), **place)
            case 2:
                system.add_cylinder(0.1, 0.25, **place)
            case 3:
                system.add_cone(0.12, 0.25, **place)
            case 4:
                system.add_ellipsoid((0.1, 0.15, 0.08), **place)
            case 5:
                system.add_hull(0.2 * rng.standard_normal((12, 3)), rounding=0.01, **place)
    system.add_capsule(0.1, 0.2, mass=1.0, position=(0.0, -0.3, 0.3))
    return system


def _unit(vector: Any) -> Any:
    return vector / np.linalg.norm(vector)


def _terrain() -> ns.System:
    system = ns.System()
    heights = 0.1 * np.random.default_rng(5).random((9, 9))
    system.add_height_field(heights, (0.25, 0.25), position=(-1.0, -1.0, 0.0))
    return system


def _shapes_on_terrain() -> None:
    _simulate(_dropped(_terrain()), 60)


_TETRAHEDRON = (
    0.3 * np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]),
)


def _meshes() -> None:
    system = _dropped(_terrain())
    for i in range(3):
        system.add_mesh(*_TETRAHEDRON, mass=1.0, position=(0.05 * i, 0.0, 0.1 + 0.2 * i))
    _simulate(system, 40)


def _fast_bodies() -> None:
    """They move further in a step than their size, past solids and surfaces."""
    system = _dropped(_terrain())
    system.add_mesh(*_TETRAHEDRON, mass=1.0, position=(0.3, 0.3, 2.0), velocity=(0.0, 0.0, -200.0))
    system.add_sphere(0.05, mass=1.0, position=(0.0, 0.0, 3.0), velocity=(0.0, 0.0, -300.0))
    system.add_box((0.1, 0.1, 0.1), mass=1.0, position=(0.5, 0.0, 3.0), velocity=(-100.0, 0.0, -300.0))
    _simulate(system, 10)


def _impacts() -> None:
    """Under both laws, on wide faces, where sweeps over the contacts may not converge."""
    for law, seed in itertools.product(("newton", "poisson"), (1, 3)):
        rng = np.random.default_rng(seed)
        system = ns.System()
        system.add_material("m", friction=0.9, restitution=0.9, impact_law=law)
        system.add_plane(material="m")
        half, along = 10.0 ** rng.uniform(-1.5, 0.3), 3.0 * rng.standard_normal(2)
        system.add_box(
            (1.0, 1.0, 2.0 * half),
            mass=1.0,
            material="m",
            position=(0.0, 0.0, half + 1e-4),
            velocity=(along[0], 0.0, -2.0),
            angular_velocity=(0.0, 0.0, along[1]),
        )
        system.add_box(
            (0.6, 0.6, 2.0 * half),
            mass=rng.uniform(0.1, 10.0),
            material="m",
            position=(0.1, 0.2, 3.0 * half + 2e-4),
            velocity=(-3.0 * rng.standard_normal(), 1.0, -4.0),
        )
        _simulate(system, 2, step=0.01)


def _joints() -> None:
    """Every element on the coordinate of a joint, under every scheme."""
    for scheme in ns.stepping.options.SCHEMES:
        system = ns.System()
        for i in range(5):
            system.add_box((0.8, 0.1, 0.1), mass=1.0, position=(float(i), 0.0, 0.0))
            system.add_joint(ns.joints.Revolute(None, i, point=(i - 0.4, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
        system.add_driver(0, ns.joints.Sine(0.0, 0.1, 1.0))
        system.add_motor(1, force=1.0)
        system.add_motor(2, speed=1.0, limit=2.0)
        system.add_spring(3, stiffness=10.0, damping=1.0)
        system.add_limit(3, upper=0.1)
        system.add_joint_friction(4, 1.0)
        _simulate(system, 40, scheme=scheme)


def _threads() -> None:
    for name in ("filling", "box-wall"):
        _simulate(ns.scenes.SCENES[name].build(), threads=2)


def _pictures() -> None:
    from nonsmooth.view.drawing.camera import Camera
    from nonsmooth.view.drawing.raster import Canvas, Palette, Solids

    owner = np.zeros(1, dtype=np.int32)
    corners = _TETRAHEDRON[0][_TETRAHEDRON[1][:1]]
    ball = Solids.of_spheres(np.zeros((1, 3)), np.ones(1), owner)
    solids = Solids.joined([ball, Solids.of_triangles(corners, np.ones((1, 3, 3)), owner)])
    canvas = Canvas(Camera(eye=(3.0, -5.0, 2.0), target=(0.0, 0.0, 0.0)), 32, 24, np.zeros(3), 4.0)
    layer, plain = canvas.layer(), np.zeros(1, dtype=bool)
    canvas.draw(layer, solids)
    canvas.cast_shadows(solids)
    palette = Palette(np.full((1, 3), 200, dtype=np.uint8), plain, plain)
    canvas.finished([(canvas.shaded(layer, palette), 1.0)])


def _recording() -> None:
    from nonsmooth.view.drawing.picture import Painter

    for name in ("filling", "stirrer"):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "run.h5"
            _simulate(_small(name), record=file)
            _simulate(_small(name), 2 * _STEPS, record=file, resume=True)
            with ns.Trajectory(file) as trajectory:
                last = float(trajectory.times[-1])
                Painter(trajectory, [last]).paint(last)


def _events() -> None:
    from nonsmooth.scenes.closed_form import MODELS

    for model in MODELS.values():
        scene = model.build()
        if hasattr(scene, "start"):
            ns.simulate_events(scene.system(), *scene.start(), duration=0.01)


# ---- queries ----------------------------------------------------------------------------------------


def _queries() -> None:
    system = _dropped(_terrain())
    meshes = [system.add_mesh(*_TETRAHEDRON, mass=1.0, position=(i, 0.0, 0.1)) for i in range(2)]
    directions = np.random.default_rng(1).standard_normal((50, 3))
    for body in range(1, len(system.position)):
        system.distance(body, (0.0, 0.0, 1.0))
        system.distance(body, 0)
        system.distance(body, meshes[0] if body == meshes[1] else meshes[1])
    for scene in (system, ns.scenes.filling(spheres=100)):
        scene.cast_rays((0.0, 0.0, 3.0), directions)


# ---- problems ---------------------------------------------------------------------------------------


def _problems() -> list[ns.ContactProblem]:
    """With masses and without, with joints and without, on dense and on sparse matrices."""
    found = [named.build() for named in ns.problems.NAMED.values()]
    found += [ns.problems.random_problem(1, contacts=10, joint_rows=rows) for rows in (0, 4)]
    return found + [
        ns.ContactProblem(
            delassus=each.operator.matrix(),
            free_velocity=each.free_velocity,
            friction=each.friction,
            components=each.components,
        )
        for each in found
        if each.joint_rows == 0
    ]


def _variants(solver: type[ns.solvers.Solver]) -> Iterator[ns.solvers.Solver]:
    """The default, and every value of every option that is one of a few names."""
    yield solver()
    for name, values in _NAMED_OPTIONS.get(solver.name, {}).items():
        for value in values:
            yield solver(**{name: value})


_NAMED_OPTIONS: dict[str, dict[str, tuple[Any, ...]]] = {
    "apgd": {"step": ("fixed",)},
    "gauss-seidel": {
        "acceleration": ("none", "nncg"),
        "order": ("natural", "symmetric", "coloured"),
        "form": ("block-sparse",),
        "joints": ("separate",),
        "threads": (2,),
    },
    "newton": {"formulation": ("alart-curnier", "fischer-burmeister"), "warm_sweeps": (0,)},
    "admm": {"form": ("rows",)},
    "fixed-point": {"inner": (ns.solvers.APGD(),)},
    "interior-point": {"form": ("primal",)},
    "jor-prox": {"strategy": ("row-sum", "adaptive")},
    "sor-prox": {"strategy": ("row-sum", "adaptive"), "order": ("normals-first",)},
    "augmented-lagrangian": {"subproblem": ("once",)},
}


def _solver(name: str) -> None:
    for solver in _variants(ns.solvers.REGISTRY[name]):
        for problem in _problems():
            for law in ("coulomb", "relaxed", "pyramid(8)"):
                with suppress(UnsupportedError, ImportError):
                    ns.solve(problem.with_law(law), solver, max_iterations=20, throw=False)


def _analysis() -> None:
    for problem in _problems():
        solution = ns.solve(problem, throw=False)
        print(solution.certificate, file=io.StringIO())
        with suppress(UnsupportedError):
            ns.solvers.minimum_norm(problem, solution.impulses, solution.joint_impulses)
        with suppress(OptionError):
            ns.solve(problem, measure="both", throw=False)


def _complementarity() -> None:
    mcp = ns.complementarity
    problems = [named.build() for named in mcp.library.NAMED.values()]
    for problem in problems:
        for name in mcp.REGISTRY:
            if problem.size < _LARGE:
                with suppress(UnsupportedError, ImportError):
                    mcp.solve(problem, mcp.by_name(name), max_iterations=5, throw=False)
    matrix = np.array([[2.0, 1.0], [3.0, 2.0]])
    mcp.conditions.matrix_class(matrix)
    mcp.solve(mcp.LCP(matrix, [-1.0, -2.0]), mcp.Lemke())
    free = np.full(2, np.inf)
    mcp.solve(mcp.MCP(lambda z: matrix @ z - 1.0, -free, free, sparsity=matrix))
