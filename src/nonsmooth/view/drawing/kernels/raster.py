"""Pixels of spheres and triangles, with a depth buffer.

In the camera's frame x is to the right, y down and z ahead, in m. A layer of a picture has for every pixel
the nearness of what is seen there (0 for nothing, larger is nearer), its unit normal in the camera's frame,
and whose it is. Nearness is 1/z in perspective, which is linear over a triangle's pixels; a map of what light
reaches has parallel rays, and there it is a large number less the depth.
"""

import math

from nonsmooth._support.jit import inlined_kernel, kernel

NOTHING = -1
PLANE, PALE = 1, 2  # bits of an owner's flags
PALE_OPACITY = 0.5  # of what is drawn faintly


@kernel
def draw_spheres(centre, radius, owner, focal, layer):
    """Draw spheres with centres (s, 3) in the camera's frame; `focal` is the focal length in pixels.

    Every pixel's ray is cut with the sphere, so that outlines are exact. Spheres that reach behind the eye
    are left out.
    """
    nearness, normal, whose = layer
    height, width = nearness.shape
    middle_x, middle_y = 0.5 * width, 0.5 * height
    for s in range(radius.shape[0]):
        x, y, z, r = centre[s, 0], centre[s, 1], centre[s, 2], radius[s]
        if not z > 1.0001 * r:
            continue
        rr = r * r
        below = z * z - rr
        # The tangents from the eye in the planes of x, z and of y, z.
        spread_x, spread_y = r * math.sqrt(x * x + below), r * math.sqrt(y * y + below)
        left = max(math.floor(middle_x + focal * (x * z - spread_x) / below), 0)
        right = min(math.ceil(middle_x + focal * (x * z + spread_x) / below), width)
        upper = max(math.floor(middle_y + focal * (y * z - spread_y) / below), 0)
        lower = min(math.ceil(middle_y + focal * (y * z + spread_y) / below), height)
        outside = x * x + y * y + z * z - rr
        for v in range(upper, lower):
            dy = (v + 0.5 - middle_y) / focal
            for u in range(left, right):
                dx = (u + 0.5 - middle_x) / focal
                # |t d − c|² = r² with the direction d = (dx, dy, 1), so that t is the depth.
                along, square = dx * x + dy * y + z, dx * dx + dy * dy + 1.0
                inside = along * along - square * outside
                if inside > 0.0:
                    t = (along - math.sqrt(inside)) / square
                    if 1.0 / t > nearness[v, u]:
                        nearness[v, u] = 1.0 / t
                        normal[v, u, 0] = (t * dx - x) / r
                        normal[v, u, 1] = (t * dy - y) / r
                        normal[v, u, 2] = (t - z) / r
                        whose[v, u] = owner[s]


@kernel
def draw_sphere_shadows(centre, radius, nearness):
    """Draw spheres into a map of light: centres (s, 3) as pixels and nearness, radii in pixels."""
    height, width = nearness.shape
    for s in range(radius.shape[0]):
        x, y, near, r = centre[s, 0], centre[s, 1], centre[s, 2], radius[s]
        for v in range(max(math.floor(y - r), 0), min(math.ceil(y + r), height)):
            for u in range(max(math.floor(x - r), 0), min(math.ceil(x + r), width)):
                dx, dy = u + 0.5 - x, v + 0.5 - y
                inside = r * r - dx * dx - dy * dy
                if inside > 0.0:
                    nearness[v, u] = max(nearness[v, u], near + math.sqrt(inside))


@kernel
def draw_triangles(corner, corner_normal, owner, layer):
    """Draw triangles (t, 3, 3) whose corners are x and y in pixels and nearness.

    Normals (t, 3, 3) at the corners are in the camera's frame. A layer without normals, of size 0, gets the
    nearness only.
    """
    nearness, normal, whose = layer
    height, width = nearness.shape
    shaded = normal.shape[0] > 0
    for t in range(owner.shape[0]):
        ax, ay, an = corner[t, 0, 0], corner[t, 0, 1], corner[t, 0, 2]
        bx, by, bn = corner[t, 1, 0], corner[t, 1, 1], corner[t, 1, 2]
        cx, cy, cn = corner[t, 2, 0], corner[t, 2, 1], corner[t, 2, 2]
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if not abs(area) > 1e-12:
            continue
        left = int(max(math.floor(min(ax, bx, cx) - 0.5), 0.0))
        right = int(min(math.ceil(max(ax, bx, cx) + 0.5), width))
        upper = int(max(math.floor(min(ay, by, cy) - 0.5), 0.0))
        lower = int(min(math.ceil(max(ay, by, cy) + 0.5), height))
        for v in range(upper, lower):
            y = v + 0.5
            for u in range(left, right):
                x = u + 0.5
                p = ((bx - x) * (cy - y) - (by - y) * (cx - x)) / area
                q = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) / area
                r = 1.0 - p - q
                if p < 0.0 or q < 0.0 or r < 0.0:
                    continue
                near = p * an + q * bn + r * cn
                if near > nearness[v, u]:
                    nearness[v, u] = near
                    if shaded:
                        # Shares in space, not in the picture: nearer corners count for more.
                        p, q, r = p * an, q * bn, r * cn
                        size = 0.0
                        for k in range(3):
                            normal[v, u, k] = (
                                p * corner_normal[t, 0, k]
                                + q * corner_normal[t, 1, k]
                                + r * corner_normal[t, 2, k]
                            )
                            size += normal[v, u, k] * normal[v, u, k]
                        if size > 0.0:
                            size = math.sqrt(size)
                            for k in range(3):
                                normal[v, u, k] /= size
                        whose[v, u] = owner[t]


@inlined_kernel
def _shade_of(nearness, x, y, near, reach):
    """Part of the light that does not arrive at a point of the map of light: the mean of its neighbours'."""
    height, width = nearness.shape
    u, v = math.floor(x), math.floor(y)
    if u < reach or v < reach or u >= width - reach or v >= height - reach:
        return 0.0
    hidden = 0
    for i in range(v - reach, v + reach + 1):
        for j in range(u - reach, u + reach + 1):
            hidden += nearness[i, j] > near
    return hidden / ((2 * reach + 1) * (2 * reach + 1))


@inlined_kernel
def _line_share(coordinate, spacing, thickness):
    """1 on a grid line, 0 between lines, and between them within half a `thickness` of a line's edge."""
    away = abs(coordinate / spacing - math.floor(coordinate / spacing + 0.5)) * spacing
    return min(max(1.5 - away / thickness, 0.0), 1.0)


@kernel
def shade(layer, look, light, shadow, floor, focal, pixels):
    """Colour every pixel of a layer into `pixels` (h, w, 4): red, green, blue and opacity from 0 to 1.

    `look` is the owners' colours (k, 3) from 0 to 1 and flags (k,); `light` the direction to the light in the
    camera's frame, and the shares of ambient, key and highlight. `shadow` is a map of light with
    the (3, 4) matrix from the camera's frame to its pixels and nearness, and the width of its softness.
    `floor` is for planes: origin (3,) and axes (3, 3) of the world and the scene's centre (3,) in the
    camera's frame, then the spacing of grid lines, the distances from the centre up to which planes are
    opaque and where they end, and the width of a line at depth 1.
    """
    nearness, normal, whose = layer
    colour, flags = look
    direction, strength = light
    lit, to_light, softness = shadow
    origin, axes, centre, (spacing, inner, outer, fineness) = floor
    height, width = nearness.shape
    texel = math.sqrt(to_light[0, 0] ** 2 + to_light[0, 1] ** 2 + to_light[0, 2] ** 2)
    offset = (1.5 + softness) / texel
    for v in range(height):
        for u in range(width):
            owner = whose[v, u]
            if owner == NOTHING:
                pixels[v, u, 3] = 0.0
                continue
            z = 1.0 / nearness[v, u]
            dx, dy = (u + 0.5 - 0.5 * width) / focal, (v + 0.5 - 0.5 * height) / focal
            x, y = z * dx, z * dy
            nx, ny, nz = normal[v, u, 0], normal[v, u, 1], normal[v, u, 2]
            if nx * dx + ny * dy + nz > 0.0:  # seen from behind
                nx, ny, nz = -nx, -ny, -nz
            incidence = nx * direction[0] + ny * direction[1] + nz * direction[2]
            key = max(incidence, 0.0)
            if key > 0.0:
                # From a little above the surface, as a map of light is coarse.
                sx, sy, sz = x + offset * nx, y + offset * ny, z + offset * nz
                key *= 1.0 - _shade_of(
                    lit,
                    to_light[0, 0] * sx + to_light[0, 1] * sy + to_light[0, 2] * sz + to_light[0, 3],
                    to_light[1, 0] * sx + to_light[1, 1] * sy + to_light[1, 2] * sz + to_light[1, 3],
                    to_light[2, 0] * sx + to_light[2, 1] * sy + to_light[2, 2] * sz + to_light[2, 3],
                    softness,
                )
            sight = 1.0 / math.sqrt(dx * dx + dy * dy + 1.0)
            facing = -(nx * dx + ny * dy + nz) * sight
            brightness = strength[0] * (0.6 + 0.4 * facing) + strength[1] * key
            opacity, gleam = 1.0, 0.0
            if flags[owner] & PLANE:
                # Nearly the same from all sides, so that walls and floor are a quiet background.
                brightness = 0.9
                if incidence > 0.0:
                    brightness = 0.76 + (0.17 + 0.07 * incidence) * key / incidence
                away = math.sqrt((x - centre[0]) ** 2 + (y - centre[1]) ** 2 + (z - centre[2]) ** 2)
                opacity = min(max((outer - away) / (outer - inner), 0.0), 1.0)
                # Lines as wide as a pixel, also where the plane is seen at a low angle.
                thin = fineness * z / max(facing, 0.05)
                line = 0.0
                for k in range(3):
                    ex, ey, ez = axes[k, 0], axes[k, 1], axes[k, 2]
                    if thin < 0.3 * spacing and abs(nx * ex + ny * ey + nz * ez) < 0.9:
                        coordinate = (x - origin[0]) * ex + (y - origin[1]) * ey + (z - origin[2]) * ez
                        line = max(line, _line_share(coordinate, spacing, thin))
                brightness *= 1.0 - 0.1 * line
            elif key > 0.0:
                # Half-way vector between light and sight, for a soft highlight.
                hx, hy, hz = direction[0] - dx * sight, direction[1] - dy * sight, direction[2] - sight
                size = math.sqrt(hx * hx + hy * hy + hz * hz)
                glance = (nx * hx + ny * hy + nz * hz) / max(size, 1e-9)
                gleam = strength[2] * max(glance, 0.0) ** 32 * min(3.0 * key, 1.0)
            edge = _on_edge(layer, v, u, z)
            if flags[owner] & PALE:
                opacity *= 0.75 if edge else PALE_OPACITY
            if edge:
                # Darker, but lighter on what is so dark already that a darker line would not be seen.
                luminance = 0.3 * colour[owner, 0] + 0.6 * colour[owner, 1] + 0.1 * colour[owner, 2]
                if luminance * brightness < 0.15:
                    gleam += 0.16
                else:
                    brightness *= 0.72
            for k in range(3):
                pixels[v, u, k] = min(colour[owner, k] * brightness + gleam, 1.0)
            pixels[v, u, 3] = opacity


@inlined_kernel
def _on_edge(layer, v, u, z):
    """Whether another body or another face begins right of or below a pixel."""
    nearness, normal, whose = layer
    height, width = nearness.shape
    for i, j in ((v, min(u + 1, width - 1)), (min(v + 1, height - 1), u)):
        if whose[i, j] != whose[v, u]:
            return True
        bend = (
            normal[i, j, 0] * normal[v, u, 0]
            + normal[i, j, 1] * normal[v, u, 1]
            + normal[i, j, 2] * normal[v, u, 2]
        )
        if bend < 0.8 and abs(1.0 / nearness[i, j] - z) < 0.05 * z:
            return True
    return False


@kernel
def blend(below, above, opacity):
    """Lay the pixels `above` over opaque ones `below` (h, w, 3), with their own opacity times another."""
    for v in range(below.shape[0]):
        for u in range(below.shape[1]):
            share = opacity * above[v, u, 3]
            if share > 0.0:
                for k in range(3):
                    below[v, u, k] += share * (above[v, u, k] - below[v, u, k])


@kernel
def reduce_pixels(fine, samples, pixels):
    """Mean of squares of `samples` by `samples` pixels, as bytes (h, w, 3)."""
    scale = 255.0 / (samples * samples)
    for v in range(pixels.shape[0]):
        for u in range(pixels.shape[1]):
            for k in range(3):
                total = 0.0
                for i in range(samples):
                    for j in range(samples):
                        total += fine[samples * v + i, samples * u + j, k]
                pixels[v, u, k] = int(min(max(scale * total + 0.5, 0.0), 255.0))
