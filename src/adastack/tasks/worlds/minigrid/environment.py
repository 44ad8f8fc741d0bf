"""MiniGrid-Memory, by the package itself: see an object, walk away, find its like.

`adastack.tasks.worlds.minigrid.functional` is the same task for compiled rollouts.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from adastack.extras import require
from adastack.tasks.base import TaskEnv
from adastack.tasks.checks import checked_action, checked_integer, checked_render_mode
from adastack.tasks.drawing.canvas import MARGIN, Image, Slots, blank, outline, with_memory
from adastack.tasks.worlds.minigrid.tables import BALL, KEY, N_ACTIONS, VIEW

VIEWS = ("symbolic", "rgb")
TILE = 8
"""Pixels of a cell in the ``rgb`` view."""

HIGHEST_CODES = (10, 5, 2)
"""The largest kind, colour and state that a cell of a symbolic view can have."""

SLOT_TILE = 12
"""Pixels of a cell in the picture of a slot."""

SMALLEST = 7
RENDER_MODES = ("rgb_array",)


class MiniGridMemoryEnv(TaskEnv):
    """A Memory world of the ``minigrid`` package; the agent sees the cells ahead.

    Args:
        size: Cells along each side; odd.
        random_length: Draw the length of the hallway anew for each episode.
        view: ``"symbolic"``: (7, 7, 3) codes; ``"rgb"``: (56, 56, 3) pixels.
        env_id: A registered world, such as ``"MiniGrid-MemoryS17Random-v0"``, instead of the first
            two.
        render_mode: ``"rgb_array"`` or None.

    Example:
        >>> from adastack.tasks.worlds.minigrid.environment import MiniGridMemoryEnv
        >>> env = MiniGridMemoryEnv(size=7)
        >>> view, info = env.reset(seed=0)
        >>> view.shape, info["cue"].shape
        ((7, 7, 3), (1,))
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 8}  # noqa: RUF012

    def __init__(
        self,
        size: int = 13,
        random_length: bool = False,
        view: str = "symbolic",
        env_id: str | None = None,
        render_mode: str | None = None,
    ) -> None:
        check_view(view)
        self.render_mode = checked_render_mode(render_mode, RENDER_MODES)
        self.view = view
        self.grid_env = _package_env(size, random_length, env_id)
        """The package's own environment."""
        self.observation_space = view_space(view)
        self.action_space = gymnasium.spaces.Discrete(N_ACTIONS)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Begins an episode."""
        super().reset(seed=seed)
        seen, _ = self.grid_env.reset(seed=seed)
        self._over = False
        return self._observation(seen["image"]), self._info(seen["image"], False, False)

    def step(self, action: Any) -> tuple[NDArray[np.uint8], float, bool, bool, dict[str, Any]]:
        """Takes one action.

        Raises:
            ValueError: If there is no such action.
            ResetNeeded: If the episode is over or has not begun.
        """
        index = checked_action(action, N_ACTIONS)
        self._check_episode()
        seen, reward, terminated, truncated, _ = self.grid_env.step(index)
        self._over = terminated or truncated
        info = self._info(seen["image"], self._over, terminated and reward > 0)
        return self._observation(seen["image"]), float(reward), terminated, truncated, info

    def stand(self, end: int, x: int, y: int, direction: int, start: int, upper: int) -> None:
        """Puts world and agent where `adastack.tasks.worlds.minigrid.tables` says."""
        package = require("minigrid.core.world_object", "minigrid")
        kinds = {KEY: package.Key, BALL: package.Ball}
        grid_env = self.grid_env
        middle = grid_env.size // 2
        grid_env.reset(seed=0)
        while grid_env.success_pos[0] != end + 1:
            grid_env.reset()
        grid_env.grid.set(1, middle - 1, kinds[start]("green"))
        grid_env.grid.set(end + 1, middle - 2, kinds[upper]("green"))
        grid_env.grid.set(end + 1, middle + 2, kinds[KEY + BALL - upper]("green"))
        ends = [(end + 1, middle - 1), (end + 1, middle + 1)]
        grid_env.success_pos, grid_env.failure_pos = ends if start == upper else ends[::-1]
        grid_env.agent_pos, grid_env.agent_dir = (x, y), direction
        self._over = False

    def _picture(self, memory: Slots | None) -> Image:
        return draw(self.grid_env, memory)

    def _observation(self, image: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return image if self.view == "symbolic" else paint(image, TILE)

    def _info(self, image: NDArray[np.uint8], over: bool, success: bool) -> dict[str, Any]:
        """The object of the start room is the cue; it is shown where its cell is in view."""
        x, y = 1, self.grid_env.height // 2 - 1
        cue = {"key": KEY, "ball": BALL}[self.grid_env.grid.get(x, y).type]
        at = self.grid_env.relative_coords(x, y)
        return {
            "shown": cue if at is not None and image[(*at, 0)] == cue else -1,
            "cue": np.array([cue]),
            "attempt_over": over,
            "success": success,
        }


def view_space(view: str) -> gymnasium.spaces.Box:
    """The space of a view."""
    if view == "symbolic":
        highest = np.broadcast_to(np.array(HIGHEST_CODES, np.uint8), (VIEW, VIEW, 3))
        return gymnasium.spaces.Box(np.zeros_like(highest), highest.copy(), dtype=np.uint8)
    return gymnasium.spaces.Box(0, 255, (VIEW * TILE, VIEW * TILE, 3), np.uint8)


def checked_size(size: Any) -> int:
    """The size as an integer, if it is odd and large enough."""
    if checked_integer("size", size, SMALLEST) % 2 == 0:
        raise ValueError(f"size must be an odd number of at least {SMALLEST}, actual: {size!r}")
    return int(size)


def check_view(view: str) -> None:
    """Raises a ValueError if there is no such view."""
    if view not in VIEWS:
        raise ValueError(f"expected a view of {VIEWS}, actual: {view!r}")


def paint(view: NDArray[np.uint8], tile: int) -> Image:
    """A symbolic view as the package renders it, ``tile`` pixels to a cell."""
    grid, seen = require("minigrid.core.grid", "minigrid").Grid.decode(view)
    pixels: Image = grid.render(tile, (VIEW // 2, VIEW - 1), agent_dir=3, highlight_mask=seen)
    return pixels


def draw(grid_env: Any, memory: Slots | None) -> Image:
    """A package's environment from above, what is in view lit, and the memory below."""
    world = grid_env.get_full_render(highlight=True, tile_size=24)
    picture = blank(world.shape[0] + 2 * MARGIN, world.shape[1] + 2 * MARGIN)
    picture[MARGIN:-MARGIN, MARGIN:-MARGIN] = world
    return with_memory(picture, memory, _tile)


def _tile(view: NDArray[np.uint8], current: bool) -> Image:
    """A kept view; the current one has a frame."""
    pixels = paint(view, SLOT_TILE) if len(view) == VIEW else view
    side = len(pixels)
    tile = blank(side + 8, side + 8)
    tile[4:-4, 4:-4] = pixels
    if current:
        outline(tile, [(2, 2), (2, side + 6), (side + 6, side + 6), (side + 6, 2)], 3)
    return tile


def _package_env(size: int, random_length: bool, env_id: str | None) -> Any:
    package = require("minigrid", "minigrid")
    memory = require("minigrid.envs", "minigrid").MemoryEnv
    if env_id is None:
        return memory(size=checked_size(size), random_length=random_length)
    if "MiniGrid-MemoryS7-v0" not in gymnasium.registry:
        package.register_minigrid_envs()
    env = gymnasium.make(env_id).unwrapped
    if not isinstance(env, memory) or env.agent_view_size != VIEW:
        raise ValueError(
            f"expected the id of a Memory world seen {VIEW} cells far, actual: {env_id!r}"
        )
    return env
