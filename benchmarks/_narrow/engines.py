"""The same poses in this project and in other engines, each with its recommended settings.

An engine is made once for a pair of shapes and answers pose by pose. A package that is not installed, or a
shape that it does not have, makes `Unavailable`.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from _narrow.judge import Answer
from _narrow.poses import MARGIN
from nonsmooth.collision import Detector
from nonsmooth.model import quaternions, shapes
from nonsmooth.model.system import System

Pair = tuple[shapes.Shape, shapes.Shape]


class Unavailable(Exception):
    """The package or the shape is missing."""


class Engine(Protocol):
    """Finds the contacts of two shapes."""

    def answer(self, position: np.ndarray, quaternion: np.ndarray) -> Answer:
        """Contacts at the poses (2, 3), (2, 4) of the shapes' frames."""


def _answer(rows: list[tuple[Any, Any, float]]) -> Answer:
    return Answer(
        np.array([row[0] for row in rows], dtype=float).reshape(-1, 3),
        np.array([row[1] for row in rows], dtype=float).reshape(-1, 3),
        np.array([row[2] for row in rows], dtype=float),
    )


class Ours:
    """`Detector.detect`."""

    def __init__(self, pair: Pair) -> None:
        system = System()
        self._centre = np.zeros((2, 3))
        for k, shape in enumerate(pair):
            fixed = isinstance(shape, shapes.HalfSpace) or type(shape).__name__ == "HeightField"
            system.add_body(shape, fixed=fixed, **({} if fixed else {"mass": 1.0}))
            if not fixed:
                self._centre[k] = shape.mass_properties(1.0).centre
        self._detector = Detector(system, MARGIN)

    def answer(self, position: np.ndarray, quaternion: np.ndarray) -> Answer:
        """Contacts at the poses (2, 3), (2, 4) of the shapes' frames."""
        moved = np.array([quaternions.rotate(q, c) for q, c in zip(quaternion, self._centre, strict=True)])
        found = self._detector.detect(position + moved, np.ascontiguousarray(quaternion))
        return Answer(found.point.copy(), found.normal.copy(), found.gap.copy())


class Coal:
    """`coal.collide` with a security margin, tolerance 1e-9, and contact patches where it has them."""

    def __init__(self, pair: Pair) -> None:
        try:
            import coal
        except ImportError:
            raise Unavailable from None
        self._coal = coal
        self._solids = [coal_geometry(coal, shape) for shape in pair]
        self._mesh = any(isinstance(shape, shapes.Mesh) for shape in pair)

    def answer(self, position: np.ndarray, quaternion: np.ndarray) -> Answer:
        """Contacts at the poses (2, 3), (2, 4) of the shapes' frames."""
        coal = self._coal
        poses = [
            coal.Transform3s(quaternions.matrix(q), x) for x, q in zip(position, quaternion, strict=True)
        ]
        request = coal.CollisionRequest(coal.CONTACT, 10_000 if self._mesh else 1)
        request.security_margin = MARGIN
        sharpen(request)
        result = coal.CollisionResult()
        a, b = self._solids
        coal.collide(a, poses[0], b, poses[1], request, result)
        if not result.isCollision():
            return _answer([])
        contacts = [result.getContact(k) for k in range(result.numContacts())]
        rows = [(c.pos, c.normal, float(c.penetration_depth)) for c in contacts]
        if not self._mesh:
            rows += self._patch(a, poses[0], b, poses[1], result)
        found = _answer([(np.array(x), np.array(n), gap) for x, n, gap in rows])
        return Answer(found.point, found.normal, found.gap, patch=not self._mesh)

    def _patch(self, a: Any, at_a: Any, b: Any, at_b: Any, result: Any) -> list[tuple[Any, Any, float]]:
        """Corners of the contact patch, all with the gap of the contact."""
        coal = self._coal
        patches = coal.ContactPatchResult()
        coal.computeContactPatch(a, at_a, b, at_b, result, coal.ContactPatchRequest(), patches)
        rows = []
        for k in range(patches.numContactPatches()):
            patch = patches.getContactPatch(k)
            normal, depth = np.array(patch.getNormal()), float(patch.penetration_depth)
            rows += [(np.array(patch.getPoint(i)), normal, depth) for i in range(patch.size())]
        return rows


def sharpen(request: Any) -> None:
    """Ask coal for nine digits instead of six."""
    request.gjk_tolerance = request.epa_tolerance = 1e-9
    request.gjk_max_iterations = request.epa_max_iterations = 512


def coal_geometry(coal: Any, shape: shapes.Shape) -> Any:
    """A shape of coal."""
    name = type(shape).__name__
    if name == "Sphere":
        return coal.Sphere(shape.radius)
    if name == "HalfSpace":
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    if name == "Box":
        return coal.Box(*shape.size)
    if name in ("Capsule", "Cylinder", "Cone"):
        return getattr(coal, name)(shape.radius, shape.length)
    if name == "Ellipsoid":
        return coal.Ellipsoid(*shape.radii)
    if name not in ("ConvexHull", "Mesh"):
        raise Unavailable
    points, corners = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for vertex in np.asarray(shape.vertices):
        points.append(vertex)
    for p, q, r in np.asarray(shape.triangles).tolist():
        corners.append(coal.Triangle(p, q, r))
    if name == "ConvexHull":
        return coal.Convex(points, corners)
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(corners), len(points))
    model.addSubModel(points, corners)
    model.endModel()
    return model


class MuJoCo:
    """`mj_collision` with the defaults: native convex collision, several contacts of a pair."""

    def __init__(self, pair: Pair) -> None:
        try:
            import mujoco
        except ImportError:
            raise Unavailable from None
        self._mujoco = mujoco
        spec = mujoco.MjSpec()
        self._still = int(isinstance(pair[1], shapes.HalfSpace))  # planes must not move by themselves
        for k, shape in enumerate(pair):
            body = spec.worldbody.add_body(mocap=k == self._still)
            if k != self._still:
                body.add_freejoint()
            geom = body.add_geom(margin=MARGIN)
            mujoco_geom(mujoco, spec, geom, shape, f"mesh{k}")
        self._model = spec.compile()
        self._data = mujoco.MjData(self._model)

    def answer(self, position: np.ndarray, quaternion: np.ndarray) -> Answer:
        """Contacts at the poses (2, 3), (2, 4) of the shapes' frames."""
        data, still, free = self._data, self._still, 1 - self._still
        data.mocap_pos[0], data.mocap_quat[0] = position[still], quaternion[still]
        data.qpos[:3], data.qpos[3:7] = position[free], quaternion[free]
        self._mujoco.mj_kinematics(self._model, data)
        self._mujoco.mj_comPos(self._model, data)
        self._mujoco.mj_collision(self._model, data)
        rows = []
        for k in range(data.ncon):
            contact = data.contact[k]
            sign = 1.0 if contact.geom[0] == 0 else -1.0
            rows.append((contact.pos.copy(), sign * contact.frame[:3], float(contact.dist)))
        return _answer(rows)


def mujoco_geom(
    mujoco: Any, spec: Any, geom: Any, shape: shapes.Shape, name: str, again: bool = False
) -> None:
    """Make a geom of MuJoCo into a shape; a mesh collides as its convex hull there.

    The mesh of that `name` is in the model already if `again`.
    """
    kinds, kind = mujoco.mjtGeom, type(shape).__name__
    if kind == "Sphere":
        geom.type, geom.size = kinds.mjGEOM_SPHERE, [shape.radius, 0, 0]
    elif kind == "HalfSpace":
        geom.type, geom.size = kinds.mjGEOM_PLANE, [0, 0, 1]
    elif kind == "Box":
        geom.type, geom.size = kinds.mjGEOM_BOX, 0.5 * np.array(shape.size)
    elif kind in ("Capsule", "Cylinder"):
        geom.type = kinds.mjGEOM_CAPSULE if kind == "Capsule" else kinds.mjGEOM_CYLINDER
        geom.size = [shape.radius, 0.5 * shape.length, 0]
    elif kind == "Ellipsoid":
        geom.type, geom.size = kinds.mjGEOM_ELLIPSOID, shape.radii
    elif kind in ("ConvexHull", "Mesh"):
        if not again:
            mesh = spec.add_mesh(name=name)
            mesh.uservert = np.asarray(shape.vertices).ravel().tolist()
            mesh.userface = np.asarray(shape.triangles).ravel().tolist()
        geom.type, geom.meshname = kinds.mjGEOM_MESH, name
    else:
        raise Unavailable


class PyBullet:
    """`getClosestPoints` with a collision margin of 0."""

    def __init__(self, pair: Pair) -> None:
        try:
            import pybullet
        except ImportError:
            raise Unavailable from None
        self._bullet = pybullet
        self._client = pybullet.connect(pybullet.DIRECT)
        self._bodies = []
        for k, shape in enumerate(pair):
            made = self._make(shape)
            if made < 0:
                raise Unavailable
            mass = 0.0 if k == 0 else 1.0
            body = pybullet.createMultiBody(mass, made, physicsClientId=self._client)
            pybullet.changeDynamics(body, -1, collisionMargin=0.0, physicsClientId=self._client)
            self._bodies.append(body)

    def __del__(self) -> None:
        if hasattr(self, "_client"):
            self._bullet.disconnect(self._client)

    def _make(self, shape: shapes.Shape) -> int:
        bullet, kind = self._bullet, type(shape).__name__
        create = bullet.createCollisionShape
        at = {"physicsClientId": self._client}
        if kind == "Sphere":
            return create(bullet.GEOM_SPHERE, radius=shape.radius, **at)
        if kind == "HalfSpace":
            return create(bullet.GEOM_PLANE, planeNormal=[0, 0, 1], **at)
        if kind == "Box":
            return create(bullet.GEOM_BOX, halfExtents=[0.5 * x for x in shape.size], **at)
        if kind in ("Capsule", "Cylinder"):
            form = bullet.GEOM_CAPSULE if kind == "Capsule" else bullet.GEOM_CYLINDER
            return create(form, radius=shape.radius, height=shape.length, **at)
        if kind == "ConvexHull":
            return create(bullet.GEOM_MESH, vertices=np.asarray(shape.vertices).tolist(), **at)
        if kind == "Mesh":
            corners = np.asarray(shape.triangles).ravel().tolist()
            return create(
                bullet.GEOM_MESH, vertices=np.asarray(shape.vertices).tolist(), indices=corners,
                flags=bullet.GEOM_FORCE_CONCAVE_TRIMESH, **at,
            )  # fmt: skip
        raise Unavailable

    def answer(self, position: np.ndarray, quaternion: np.ndarray) -> Answer:
        """Contacts at the poses (2, 3), (2, 4) of the shapes' frames."""
        for body, x, (w, i, j, k) in zip(self._bodies, position, quaternion, strict=True):
            self._bullet.resetBasePositionAndOrientation(body, x, (i, j, k, w), physicsClientId=self._client)
        found = self._bullet.getClosestPoints(*self._bodies, MARGIN, physicsClientId=self._client) or ()
        rows = [(0.5 * (np.array(c[5]) + np.array(c[6])), -np.array(c[7]), c[8]) for c in found]
        return _answer(rows)


ENGINES: dict[str, type] = {"ours": Ours, "coal": Coal, "MuJoCo": MuJoCo, "PyBullet": PyBullet}
