"""Pictures of the arm, drawn without a graphics library, and of what a memory holds.

The robot's surfaces are sampled once as a cloud of coloured points; a picture projects them and
keeps, for each pixel, the one that is nearest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adastack.extras import require
from adastack.tasks.drawing import canvas
from adastack.tasks.drawing.canvas import FAINT, INK, MARGIN, Colour, Image, Slots
from adastack.tasks.worlds.fetch.arm import Floats, arm_model
from adastack.tasks.worlds.fetch.attempt import GOAL, GOAL_RANGE, Attempt

WIDTH, HEIGHT = 420, 320
LOOK_AT = np.array([1.08, 0.75, 0.58])
DISTANCE, AZIMUTH, ELEVATION = 2.4, 132.0, -16.0
ZOOM = 2.1
"""Width of the picture's half at distance one."""

POINTS_PER_SQUARE_METRE = 60_000
LIGHT = np.array([0.25, -0.45, 0.85]) / np.linalg.norm([0.25, -0.45, 0.85])
GOAL_COLOUR: Colour = (0xD5, 0x2B, 0x1E)
GRIPPER_COLOUR = canvas.BLUE
TILE = 72


@dataclass(frozen=True, eq=False)
class Surface:
    """Points on a part of the robot, in that part's own frame."""

    part: int
    """The number of the geometry in MuJoCo's model."""
    place: Floats
    """(points, 3): where they are."""
    normal: Floats
    """(points, 3): where the surface looks there."""
    colour: Floats
    """(3,)."""


def draw(attempt: Attempt, memory: Slots | None = None) -> Image:
    """The arm and its goal, faint while it is hidden, and the memory below."""
    image = canvas.blank(HEIGHT, WIDTH)
    _draw_arm(image, attempt)
    y, x = (round(float(v)) for v in _project(attempt.goal[None])[0][0])
    if attempt.visible:
        canvas.disc(image, y, x, 6, GOAL_COLOUR)
    else:
        _ring(image, (y, x), 6, GOAL_COLOUR)
    state = "goal in view" if attempt.visible else "goal hidden"
    canvas.write(image, 8, MARGIN, state, GOAL_COLOUR if attempt.visible else FAINT, 1)
    canvas.write(image, 20, MARGIN, f"step {attempt.clock} of {attempt.task.goal_period}", FAINT, 1)
    return canvas.with_memory(image, memory, _tile)


def _draw_arm(image: Image, attempt: Attempt) -> None:
    data = attempt.arm.data
    seen = [_seen(surface, data) for surface in _surfaces()]
    cells, depth, colours = (np.concatenate(column) for column in zip(*seen, strict=True))
    # Painted from far to near: what is nearer overwrites what is behind it.
    order = np.argsort(-depth)
    corner = cells[order, 0] * WIDTH + cells[order, 1]
    pixels = corner[:, None] + np.array([0, 1, WIDTH, WIDTH + 1])
    image.reshape(-1, 3)[pixels.ravel()] = np.repeat(colours[order], 4, axis=0)


def _seen(surface: Surface, data: Any) -> tuple[NDArray[np.intp], Floats, Image]:
    """The pixels, distances and colours of the points that face the camera."""
    turn = data.geom_xmat[surface.part].reshape(3, 3).T
    points = surface.place @ turn + data.geom_xpos[surface.part]
    normals = surface.normal @ turn
    facing = (normals * (_eye() - points)).sum(axis=1) > 0
    places, depth = _project(points[facing])
    cells = np.floor(places).astype(np.intp)
    inside = ((cells >= 0) & (cells < (HEIGHT - 1, WIDTH - 1))).all(axis=1)
    shade = 0.55 + 0.45 * np.clip(normals[facing][inside] @ LIGHT, 0, 1)
    colours = np.clip(surface.colour * shade[:, None] * 255, 0, 255).astype(np.uint8)
    return cells[inside], depth[inside], colours


@cache
def _surfaces() -> list[Surface]:
    """Samples the surfaces of the robot and of the table."""
    model = arm_model().model
    mujoco = require("mujoco", "robot")
    generator = np.random.default_rng(0)
    surfaces = []
    for part in range(model.ngeom):
        kind = model.geom_type[part]
        if model.body_mocapid[model.geom_bodyid[part]] >= 0:
            continue  # the motion target's own mark
        if kind == mujoco.mjtGeom.mjGEOM_MESH:
            triangles = _mesh(model, int(model.geom_dataid[part]))
        elif kind == mujoco.mjtGeom.mjGEOM_BOX:
            triangles = _box(model.geom_size[part])
        else:
            continue
        place, normal = _sample(triangles, generator)
        surfaces.append(Surface(part, place, normal, _colour(model, part)))
    return surfaces


def _sample(triangles: Floats, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """Points spread evenly over triangles, and where the surface looks there."""
    cross = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    twice_area = np.linalg.norm(cross, axis=1)
    count = max(1, round(twice_area.sum() / 2 * POINTS_PER_SQUARE_METRE))
    chosen = generator.choice(len(triangles), count, p=twice_area / twice_area.sum())
    first, second = np.sort(generator.random((2, count)), axis=0)
    weights = np.stack([first, second - first, 1 - second], axis=1)
    places = np.einsum("pk,pki->pi", weights, triangles[chosen])
    return places, cross[chosen] / np.maximum(twice_area[chosen], 1e-12)[:, None]


def _mesh(model: Any, mesh: int) -> Floats:
    first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    vertices = np.array(model.mesh_vert[first : first + count], np.float64)
    first, count = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
    triangles: Floats = vertices[model.mesh_face[first : first + count]]
    return triangles


def _box(half: NDArray[Any]) -> Floats:
    """The twelve triangles of a box."""
    triangles = []
    for axis in range(3):
        right, up = np.eye(3)[(axis + 1) % 3] * half, np.eye(3)[(axis + 2) % 3] * half
        for sign in (1, -1):
            out = sign * np.eye(3)[axis] * half
            corners = [out - right - up, out + right - up, out + right + up, out - right + up]
            corners = corners[::sign]
            triangles += [corners[:3], [corners[0], corners[2], corners[3]]]
    return np.array(triangles)


def _colour(model: Any, part: int) -> Floats:
    material = int(model.geom_matid[part])
    colours = model.mat_rgba[material] if material >= 0 else model.geom_rgba[part]
    own = np.array(model.geom_rgba[part][:3], np.float64)
    return own if (own != 0.5).any() else np.array(colours[:3], np.float64)


def _axes() -> tuple[Floats, Floats, Floats]:
    """The camera's forward, right and up."""
    turn, tilt = np.deg2rad(AZIMUTH), np.deg2rad(ELEVATION)
    forward = np.array([np.cos(tilt) * np.cos(turn), np.cos(tilt) * np.sin(turn), np.sin(tilt)])
    right = np.cross(forward, [0, 0, 1])
    right /= np.linalg.norm(right)
    return forward, right, np.cross(right, forward)


def _eye() -> Floats:
    eye: Floats = LOOK_AT - DISTANCE * _axes()[0]
    return eye


def _project(points: Floats) -> tuple[Floats, Floats]:
    """(y, x) in the picture, and how far away."""
    forward, right, up = _axes()
    away = points - _eye()
    depth = away @ forward
    scale = WIDTH / 2 * ZOOM / depth
    y, x = HEIGHT / 2 - away @ up * scale, WIDTH / 2 + away @ right * scale
    return np.stack([y, x], axis=1), depth


def _tile(observation: NDArray[Any], current: bool) -> Image:
    """What is kept of a moment: gripper and, if it was in view, goal; from above and in height."""
    tile = canvas.blank(TILE, TILE)
    _border(tile, 0, TILE - 14, current)
    _border(tile, TILE - 10, TILE, current)
    goal = observation[GOAL]
    if goal.any():
        _mark(tile, goal, GOAL_COLOUR, 5)
    _mark(tile, observation[:3], GRIPPER_COLOUR, 3)
    return tile


def _mark(tile: Image, point: NDArray[Any], colour: Colour, radius: float) -> None:
    """A point seen from above, and its height beside that; the robot stands below."""
    reach = 1.2 * GOAL_RANGE
    x, y, z = np.clip((point - arm_model().gripper) / reach, -1, 1)
    half = (TILE - 14) / 2
    inner = half - 6
    canvas.disc(tile, round(half - x * inner), round(half - y * inner), radius, colour)
    height = TILE / 2 - z * (TILE / 2 - 7)
    canvas.stroke(tile, (height, TILE - 8), (height, TILE - 2), 3, colour)


def _border(tile: Image, left: int, right: int, current: bool) -> None:
    bottom = TILE if right == TILE else TILE - 14
    corners = [(1, left + 1), (1, right - 1), (bottom - 1, right - 1), (bottom - 1, left + 1)]
    canvas.outline(tile, corners, 2.5 if current else 1, INK if current else FAINT)


def _ring(image: Image, at: tuple[int, int], radius: float, colour: Colour) -> None:
    steps = np.linspace(0, 2 * np.pi, 17)
    points = np.stack([at[0] + radius * np.sin(steps), at[1] + radius * np.cos(steps)], axis=1)
    for begin, end in pairwise(points):
        canvas.stroke(image, begin, end, 1.6, colour)
