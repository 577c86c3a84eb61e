"""A renderer without display or GPU: spheres and triangles in the world to pixels.

Spheres are intersected with the ray of every pixel, triangles are filled; light is directional with soft
shadows, and ambient, and every pixel is the mean of 2 by 2 samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth._support.arrays import Floats, Indices, Pixels
from nonsmooth.model import quaternions
from nonsmooth.view.drawing.camera import Camera
from nonsmooth.view.drawing.geometry import Part, clip_polygon, fan, vertex_normals
from nonsmooth.view.drawing.kernels import raster as kernels

BACKGROUND = (250, 251, 252)
"""Red, green, blue of the background."""
PLANE_COLOUR = (234, 237, 241)
"""Colour of half-spaces in full light."""

_SAMPLES = 2
"""Samples per pixel in each direction."""
_SHADOW_SIZE = 1024
_SHADOW_SOFTNESS = 2
"""Width of the edge of a shadow, in pixels of the shadow map."""
_LIGHT, _FLAT_LIGHT = (0.68, 0.45, 0.16), (0.95, 0.25, 0.0)
"""Ambient light, directional light and highlights: in the scene, and for marks drawn over it."""
_FLOOR_FADE = (1.1, 2.6)
"""Distances from the scene's centre, in diagonals, between which planes fade out."""


def paled(rgb: Pixels) -> Pixels:
    """Return the appearance of colours (k, 3) on faintly drawn bodies."""
    mixed = kernels.PALE_OPACITY * rgb + (1.0 - kernels.PALE_OPACITY) * np.array(BACKGROUND)
    return mixed.round().astype(np.uint8)


class Solids(NamedTuple):
    """Spheres and triangles in the world; owners are rows of a `Palette`."""

    centres: Floats
    """(s, 3) in m."""
    radii: Floats
    """(s,) in m."""
    sphere_owner: Indices
    """(s,)"""
    corners: Floats
    """(t, 3, 3) in m."""
    normals: Floats
    """(t, 3, 3) at the corners."""
    triangle_owner: Indices
    """(t,)"""

    @classmethod
    def of_spheres(cls, centres: Floats, radii: Floats, owner: Indices) -> Solids:
        """Return only spheres."""
        return cls(centres, radii, owner, np.zeros((0, 3, 3)), np.zeros((0, 3, 3)), _no_owner())

    @classmethod
    def of_triangles(cls, corners: Floats, normals: Floats, owner: Indices) -> Solids:
        """Return only triangles."""
        return cls(np.zeros((0, 3)), np.zeros(0), _no_owner(), corners, normals, owner)

    @classmethod
    def joined(cls, several: Sequence[Solids]) -> Solids:
        """Return the union of several solids."""
        return cls(*(np.concatenate(columns) for columns in zip(cls.none(), *several, strict=True)))

    @classmethod
    def none(cls) -> Solids:
        """Return empty solids."""
        return cls.of_spheres(np.zeros((0, 3)), np.zeros(0), _no_owner())

    def owned_by(self, wanted: NDArray[np.bool_]) -> Solids:
        """Return the solids whose owners are in the mask `wanted` (owners,)."""
        return self.where(wanted[self.sphere_owner], wanted[self.triangle_owner])

    def where(self, spheres: NDArray[np.bool_], triangles: NDArray[np.bool_]) -> Solids:
        """Return some spheres and some triangles."""
        return Solids(
            self.centres[spheres], self.radii[spheres], self.sphere_owner[spheres],
            self.corners[triangles], self.normals[triangles], self.triangle_owner[triangles],
        )  # fmt: skip


class Assembly:
    """Parts as arrays in the frames of their bodies, to be placed in every frame of a film."""

    def __init__(self, parts: Sequence[Part], owner: Sequence[int]) -> None:
        """Take parts with their rows of the palette."""
        balls = [(part, who) for part, who in zip(parts, owner, strict=True) if part.radius > 0.0]
        meshes = [(part, who) for part, who in zip(parts, owner, strict=True) if not part.radius > 0.0]
        self._ball_body = np.array([part.body for part, _ in balls], dtype=np.int64)
        self._offset = np.array([part.offset for part, _ in balls]).reshape(-1, 3)
        self._radius = np.array([part.radius for part, _ in balls])
        self._ball_owner = np.array([who for _, who in balls], dtype=np.int32)
        counts = [len(part.faces) for part, _ in meshes]
        self._mesh_body = np.repeat(np.array([part.body for part, _ in meshes], dtype=np.int64), counts)
        self._mesh_owner = np.repeat(np.array([who for _, who in meshes], dtype=np.int32), counts)
        none = np.zeros((0, 3, 3))
        self._corners = np.concatenate([none, *(part.vertices[part.faces] for part, _ in meshes)])
        self._normals = np.concatenate([none, *(_corner_normals(part) for part, _ in meshes)])

    def placed(self, position: Floats, quaternion: Floats) -> Solids:
        """Return the parts in the world, of bodies at `position` (n, 3) in m with `quaternion` (n, 4)."""
        places = np.concatenate([position, np.zeros((1, 3))])  # the last row is the ground, body −1
        turns = quaternions.matrix(np.concatenate([quaternion, [quaternions.IDENTITY]]))
        ball, mesh = self._ball_body, self._mesh_body
        centres = places[ball] + np.einsum("sij,sj->si", turns[ball], self._offset)
        # (t, corner, j) times the transposed turn (t, j, i)
        turned = turns[mesh].transpose(0, 2, 1)
        corners = places[mesh][:, None, :] + self._corners @ turned
        solids = Solids(
            centres, self._radius, self._ball_owner, corners, self._normals @ turned, self._mesh_owner
        )
        # A failed run may hold positions that are not finite.
        return solids.where(np.isfinite(centres.sum(axis=1)), np.isfinite(corners.reshape(-1, 9).sum(axis=1)))


@dataclass(frozen=True, eq=False)
class Palette:
    """Colours and styles of owners."""

    rgb: Pixels
    """(k, 3)"""
    plane: NDArray[np.bool_]
    """(k,) whether the owner is a half-space: without highlight, with grid lines, fading out."""
    pale: NDArray[np.bool_]
    """(k,) whether the owner is drawn faintly, so that objects inside or behind it are visible."""


@dataclass
class Layer:
    """Visible surface in every sample of a picture: nearness, normal and owner."""

    height: int
    width: int
    nearness: NDArray[np.float32] = field(init=False)
    normal: NDArray[np.float32] = field(init=False)
    owner: Indices = field(init=False)

    def __post_init__(self) -> None:
        self.nearness = np.zeros((self.height, self.width), dtype=np.float32)
        self.normal = np.zeros((self.height, self.width, 3), dtype=np.float32)
        self.owner = np.full((self.height, self.width), kernels.NOTHING, dtype=np.int32)

    @property
    def arrays(self) -> tuple[NDArray[np.float32], NDArray[np.float32], Indices]:
        """Arguments for the kernels."""
        return self.nearness, self.normal, self.owner


class Canvas:
    """A picture of `width` by `height` pixels under construction, of a scene with centre and diagonal (m)."""

    def __init__(self, camera: Camera, width: int, height: int, centre: Floats, diagonal: float) -> None:
        self.camera = camera
        self._shape = (_SAMPLES * height, _SAMPLES * width)
        self._focal = camera.focal_length(self._shape[0])
        self._centre, self._diagonal = centre, diagonal
        right, down, ahead = camera.axes
        # From above, from the left, and from behind the eye: visible surfaces are lit; shadows fall aside.
        light = np.array([0.0, 0.0, 1.0]) - 0.45 * right - 0.45 * ahead - 0.25 * down
        self._light = light / np.linalg.norm(light)
        self._shadows = np.zeros((_SHADOW_SIZE, _SHADOW_SIZE), dtype=np.float32)
        self._to_map = self._map_of_light()

    def layer(self) -> Layer:
        """Return an empty layer."""
        return Layer(*self._shape)

    def draw(self, layer: Layer, solids: Solids) -> None:
        """Draw solids into a layer; nearer surfaces hide farther ones."""
        centres = self.camera.in_sight(solids.centres)
        kernels.draw_spheres(centres, solids.radii, solids.sphere_owner, self._focal, layer.arrays)
        corners, normals, owner = self._ahead(solids)
        nearness = 1.0 / corners[..., 2]
        x = 0.5 * self._shape[1] + self._focal * corners[..., 0] * nearness
        y = 0.5 * self._shape[0] + self._focal * corners[..., 1] * nearness
        kernels.draw_triangles(np.stack([x, y, nearness], axis=-1), normals, owner, layer.arrays)

    def cast_shadows(self, solids: Solids) -> None:
        """Draw solids into the shadow map."""
        matrix, shift = self._to_map[:, :3], self._to_map[:, 3]
        scale = float(np.linalg.norm(matrix[0]))
        kernels.draw_sphere_shadows(solids.centres @ matrix.T + shift, scale * solids.radii, self._shadows)
        nothing = np.zeros((0, 0, 3), dtype=np.float32), np.zeros((0, 0), dtype=np.int32)
        corners = solids.corners @ matrix.T + shift
        kernels.draw_triangles(corners, solids.normals, solids.triangle_owner, (self._shadows, *nothing))

    def shaded(self, layer: Layer, palette: Palette, *, shadows: bool = True) -> NDArray[np.float32]:
        """Return the samples (h, w, 4) of a layer in the light: red, green, blue and opacity up to 1.

        Without `shadows` all surfaces are lit, also inside bodies.
        """
        samples = np.empty((*self._shape, 4), dtype=np.float32)
        flags = kernels.PLANE * palette.plane + kernels.PALE * palette.pale
        look = (palette.rgb / 255.0, flags.astype(np.int64))
        axes = self.camera.axes
        light = (axes @ self._light, _LIGHT if shadows else _FLAT_LIGHT)
        # The shadow map in coordinates of the camera: p = eye + axesᵀ c.
        turned = self._to_map[:, :3] @ axes.T
        shift = self._to_map[:, :3] @ np.array(self.camera.eye) + self._to_map[:, 3]
        in_the_way = self._shadows if shadows else np.zeros((1, 1), dtype=np.float32)
        shadow = (in_the_way, np.column_stack([turned, shift]), _SHADOW_SOFTNESS)
        inner, outer = (self._diagonal * distance for distance in _FLOOR_FADE)
        floor = (
            self.camera.in_sight(np.zeros(3)),
            np.ascontiguousarray(axes.T),
            self.camera.in_sight(self._centre),
            (_grid_spacing(self._diagonal), inner, outer, 0.5 * _SAMPLES / self._focal),
        )
        kernels.shade(layer.arrays, look, light, shadow, floor, self._focal, samples)
        return samples

    def finished(self, layers: Sequence[tuple[NDArray[np.float32], float]]) -> Pixels:
        """Return the picture (h, w, 3): shaded layers over the background, each with an opacity."""
        fine = np.empty((*self._shape, 3), dtype=np.float32)
        fine[:] = np.array(BACKGROUND) / 255.0
        for samples, opacity in layers:
            kernels.blend(fine, samples, opacity)
        pixels = np.empty((self._shape[0] // _SAMPLES, self._shape[1] // _SAMPLES, 3), dtype=np.uint8)
        kernels.reduce_pixels(fine, _SAMPLES, pixels)
        return pixels

    def _map_of_light(self) -> Floats:
        """(3, 4) from the world to pixels and nearness of the shadow map, which has parallel rays."""
        away = Camera(tuple(self._light), (0.0, 0.0, 0.0), _across(self._light)).axes
        scale = _SHADOW_SIZE / (1.15 * self._diagonal)
        rows = scale * np.stack([away[0], away[1], -away[2]])
        middle = np.array([0.5 * _SHADOW_SIZE, 0.5 * _SHADOW_SIZE, 100.0 * _SHADOW_SIZE])
        return np.column_stack([rows, middle - rows @ self._centre])

    def _ahead(self, solids: Solids) -> tuple[Floats, Floats, Indices]:
        """Triangles in the camera's frame, cut off at a small depth."""
        corners = self.camera.in_sight(solids.corners)
        normals = solids.normals @ self.camera.axes.T
        owner = solids.triangle_owner
        least = 1e-3 * self._diagonal
        behind = corners[..., 2] < least
        cut = np.flatnonzero(behind.any(axis=1) & ~behind.all(axis=1))
        whole = ~behind.any(axis=1)
        pieces = [(corners[whole], normals[whole], owner[whole])]
        for t in cut:
            polygon = clip_polygon(corners[t], np.array([0.0, 0.0, least]), np.array([0.0, 0.0, 1.0]))
            triangles = polygon[fan(len(polygon))]
            flat = np.broadcast_to(normals[t, 0], triangles.shape)
            pieces.append((triangles, flat, np.full(len(triangles), owner[t], dtype=np.int32)))
        a, b, c = (np.concatenate(column) for column in zip(*pieces, strict=True))
        return a, b, c


# ---- lines and arrows -------------------------------------------------------------------------------


def rods(start: Floats, end: Floats, radius: ArrayLike, owner: ArrayLike, taper: float = 1.0) -> Solids:
    """Return rods between points (k, 3) in m with radii (k,); their ends are `taper` times as thick."""
    sides = 8
    line = end - start
    length = np.linalg.norm(line, axis=1, keepdims=True)
    along = line / np.where(length > 0.0, length, 1.0)
    first = np.cross(along, np.eye(3)[np.argmin(np.abs(along), axis=1)])
    first /= np.where(length > 0.0, np.linalg.norm(first, axis=1, keepdims=True), 1.0)
    second = np.cross(along, first)
    angles = np.arange(sides) * (2.0 * math.pi / sides)
    across = np.cos(angles)[:, None] * first[:, None] + np.sin(angles)[:, None] * second[:, None]  # (k, m, 3)
    thickness = np.broadcast_to(np.asarray(radius, dtype=np.float64), len(start))[:, None, None]
    lower, upper = start[:, None] + thickness * across, end[:, None] + taper * thickness * across
    at, after = np.arange(sides), (np.arange(sides) + 1) % sides
    corners = np.stack(
        [
            np.stack([lower[:, at], lower[:, after], upper[:, after]], axis=2),
            np.stack([lower[:, at], upper[:, after], upper[:, at]], axis=2),
        ],
        axis=1,
    ).reshape(-1, 3, 3)
    normals = np.stack(
        [
            np.stack([across[:, at], across[:, after], across[:, after]], axis=2),
            np.stack([across[:, at], across[:, after], across[:, at]], axis=2),
        ],
        axis=1,
    ).reshape(-1, 3, 3)
    owners = np.broadcast_to(np.asarray(owner, dtype=np.int32), len(start))
    return Solids.of_triangles(corners, normals, np.repeat(owners, 2 * sides))


def arrows(start: Floats, end: Floats, radius: Floats, owner: ArrayLike) -> Solids:
    """Return arrows between points (k, 3) in m with radii (k,); heads are at most half as long."""
    line = end - start
    length = np.linalg.norm(line, axis=1, keepdims=True)
    head = np.minimum(6.0 * radius[:, None], 0.5 * length)
    neck = end - line * (head / np.where(length > 0.0, length, 1.0))
    return Solids.joined([rods(start, neck, radius, owner), rods(neck, end, 2.6 * radius, owner, taper=0.0)])


# ---- small helpers ----------------------------------------------------------------------------------


def _no_owner() -> Indices:
    return np.zeros(0, dtype=np.int32)


def _corner_normals(part: Part) -> Floats:
    """Normals (f, 3, 3) at the corners of the faces of a mesh."""
    if part.smooth:
        return vertex_normals(part)[part.faces]
    corners = part.vertices[part.faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.linalg.norm(normal, axis=1, keepdims=True)
    return np.repeat((normal / np.where(size > 0.0, size, 1.0))[:, None, :], 3, axis=1)


def _across(direction: Floats) -> tuple[float, float, float]:
    x, y, z = np.eye(3)[int(np.argmin(np.abs(direction)))].tolist()
    return (x, y, z)


def _grid_spacing(diagonal: float) -> float:
    """1, 2 or 5 times a power of ten, about a tenth of the scene's diagonal."""
    wanted = 0.12 * diagonal
    power = 10.0 ** math.floor(math.log10(wanted))
    return power * max(step for step in (1.0, 2.0, 5.0) if step * power <= wanted)
