"""Faces of hulls that are one flat face but for rounding of the vertices, made once for a scene."""

import numpy as np

_ROUGH = 1e-6
"""Part of the size by which corners of one patch may be off the plane of its largest face."""


def flat_patches(hulls):
    """Tables of flat patches: patch of each face, outline of each patch, faces of each patch.

    Vertices in single precision, or from a mesh that was turned, split a flat face into several that differ
    by 1e-7 in direction; clipped alone, one of them cannot carry what the whole face carries.
    """
    patch_of = np.zeros(len(hulls.planes), dtype=np.int64)
    outlines, members = [], []
    for hull in range(len(hulls.first) - 1):
        _add_patches(hulls, hull, patch_of, outlines, members)
    return (
        patch_of,
        _starts(outlines),
        np.array([v for outline in outlines for v in outline], dtype=np.int64),
        _starts(members),
        np.array([face for group in members for face in group], dtype=np.int64),
    )


def _starts(parts):
    return np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)


def _add_patches(hulls, hull, patch_of, outlines, members):
    """Grow patches from the largest faces of one hull over neighbours that lie in their planes."""
    (first_vertex, first_face, first_edge, *_), (end_vertex, end_face, end_edge, *_) = hulls.first[
        hull : hull + 2
    ]
    vertices = hulls.vertices[first_vertex:end_vertex]
    tolerance = _ROUGH * np.abs(vertices - vertices.mean(axis=0)).max()
    loops = [
        hulls.corners[hulls.face_first[face] : hulls.face_first[face + 1]].tolist()
        for face in range(first_face, end_face)
    ]
    edges = hulls.edges[first_edge:end_edge]
    planes = hulls.planes[first_face:end_face]
    # faces can only be one if the corners of one are in the plane of the other; most edges fail at once
    beside = [[] for _ in loops]
    for _, _, left, right in edges.tolist():
        if planes[left, :3] @ planes[right, :3] > 0.9:
            beside[left].append(right)
            beside[right].append(left)
    sizes = [_area(vertices[loop]) for loop in loops]
    taken = [False] * len(loops)
    for seed in sorted(range(len(loops)), key=lambda face: -sizes[face]):
        if taken[seed]:
            continue
        normal, offset = planes[seed, :3], planes[seed, 3]
        group, open_ends = {seed}, [seed]
        while open_ends:
            for face in beside[open_ends.pop()]:
                if taken[face] or face in group:
                    continue
                if np.abs(vertices[loops[face]] @ normal - offset).max() <= tolerance:
                    group.add(face)
                    open_ends.append(face)
        outline = _outline([loops[face] for face in sorted(group)])
        if outline is None:
            group, outline = {seed}, loops[seed]
        for face in group:
            taken[face] = True
            patch_of[first_face + face] = len(outlines)
        outlines.append(outline)
        members.append([int(first_face) + face for face in sorted(group)])


def _area(corners):
    arms = corners - corners[0]
    return float(np.linalg.norm(np.cross(arms[1:-1], arms[2:]).sum(axis=0)))


def _outline(loops):
    """Vertices round the union of faces; None if the outline is not one simple loop."""
    if len(loops) == 1:
        return loops[0]
    ways = {way for loop in loops for way in zip(loop, loop[1:] + loop[:1], strict=True)}
    border = [(p, q) for p, q in ways if (q, p) not in ways]
    after = dict(border)
    if not after or len(after) < len(border):
        return None
    start = min(after)
    outline = [start]
    while after[outline[-1]] != start:
        outline.append(after[outline[-1]])
    return outline if len(outline) == len(border) else None
