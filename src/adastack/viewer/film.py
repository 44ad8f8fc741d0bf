"""Episodes as pictures: for a page, a GIF or an MP4."""

from __future__ import annotations

import base64
import io
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.vector.utils import iterate
from PIL import Image as Images

from adastack.extras import require
from adastack.files import write_whole
from adastack.process.policy import Act, begin_episode
from adastack.tasks.drawing.canvas import PAPER, Image, Slots, with_memory
from adastack.tasks.failures import blamed
from adastack.viewer.bars import Bars
from adastack.wrappers import MemoryStack

PALETTE = 128
"""Colours of a picture on a page."""
LEAST_MILLISECONDS = 80
"""Between two pictures on a page: slow enough to see what is evicted."""
LAST_SECONDS = 1.5
"""How long a film stays on its last picture."""


@dataclass(frozen=True)
class Film:
    """An episode, picture by picture; each shows the world and the memory."""

    pictures: list[Image]
    notes: list[dict[str, Any]]
    """What happened at each: ages, evicted slot, reward, whether an attempt was over, success."""
    rate: float
    """Pictures per second."""
    legend: str = ""
    """What the bars of an observation are, if it is drawn so and has parts with names."""

    def document(self) -> dict[str, Any]:
        """The episode as a JSON-able document for the page; equal pictures are kept once."""
        images: dict[str, int] = {}
        frames = []
        for picture, note in zip(self.pictures, self.notes, strict=True):
            address = _data_address(picture)
            frames.append({**note, "image": images.setdefault(address, len(images))})
        beat = max(LEAST_MILLISECONDS, round(1000 / self.rate))
        document = {"images": list(images), "frames": frames, "milliseconds": beat}
        return {**document, "legend": self.legend} if self.legend else document

    def write_gif(self, path: str | Path) -> None:
        """Writes an animated GIF, whole."""
        first, *rest = [Images.fromarray(picture) for picture in _same_size(self.pictures)]
        beat = round(1000 / self.rate)
        beats = [beat] * len(rest) + [max(beat, round(1000 * LAST_SECONDS))]
        content = io.BytesIO()
        first.save(
            content, "GIF", save_all=True, append_images=rest, duration=beats, loop=0, optimize=True
        )
        write_whole(path, content.getvalue())

    def write_mp4(self, path: str | Path) -> None:
        """Writes an MP4, whole.

        Raises:
            ImportError: If what writes videos is not installed; the message says what to install.
        """
        imageio = require("imageio.v2", "view")
        require("imageio_ffmpeg", "view")
        pictures = _same_size(self.pictures)
        pictures += [pictures[-1]] * round(LAST_SECONDS * self.rate)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "film.mp4"
            with imageio.get_writer(file, fps=self.rate, macro_block_size=2) as writer:
                for picture in pictures:
                    writer.append_data(picture)
            write_whole(path, file.read_bytes())


def shoot(env: MemoryStack, act: Act, *, seed: int = 0, max_steps: int = 200) -> Film:
    """Plays one episode and keeps a picture of every step.

    Args:
        env: An environment with a memory. If it draws itself (``render_mode="rgb_array"``), so
            it is shown; otherwise its observations are, as bars.
        act: Who plays.
        seed: The seed of the environment.
        max_steps: Where to stop at the latest.
    """
    name = type(env.unwrapped).__name__ if env.spec is None else env.spec.id
    with blamed(name, "reset"):
        stack, info = env.reset(seed=seed)
    begin_episode(act)
    draw, legend = _drawing_of(env)
    pictures, notes = [draw(stack)], [_note(info)]
    for _ in range(max_steps):
        action, memory_action = act(stack, env.slot_ages)
        joint = env.action_form.join(action, memory_action)
        notes[-1]["action"] = np.array2string(np.asarray(action), precision=2)
        with blamed(name, "step"):
            stack, reward, terminated, truncated, info = env.step(joint)
        over = terminated or truncated
        pictures.append(draw(stack))
        notes.append(_note(info, reward=float(reward), over=over))
        if over:
            break
    return Film(pictures, notes, float(env.metadata.get("render_fps", 4)), legend)


def _drawing_of(env: MemoryStack) -> tuple[Callable[[Any], Image], str]:
    """How to draw an environment with its memory, given the stack that it shows; the legend."""
    if env.draws_memory:
        return lambda stack: np.asarray(env.render(), np.uint8), ""
    bars = Bars(env.env.observation_space)

    def draw(stack: Any) -> Image:
        slots = list(iterate(env.observation_space, stack))
        picture = _rendered(env)
        picture = bars.picture(slots[-1]) if picture is None else picture
        return with_memory(
            picture, Slots(slots, env.slot_ages.tolist(), env.evicted_slot), bars.tile
        )

    return draw, bars.legend


def _rendered(env: MemoryStack) -> Image | None:
    """The environment's own picture, if it has one."""
    if env.render_mode != "rgb_array":
        return None
    try:
        picture = env.render()
    except NotImplementedError:
        return None
    return np.asarray(picture, np.uint8) if isinstance(picture, np.ndarray) else None


def _note(info: dict[str, Any], **happened: Any) -> dict[str, Any]:
    over = bool(info.get("attempt_over", happened.get("over", False)))
    success = info.get("success", info.get("is_success"))
    return {
        "ages": info["slot_ages"].tolist(),
        "evicted": int(info["evicted_slot"]),
        **happened,
        "over": over,
        "success": None if success is None else bool(success),
    }


def _data_address(picture: Image) -> str:
    content, options = io.BytesIO(), {}
    drawn = Images.fromarray(picture).quantize(PALETTE)
    paper = np.asarray(drawn)[(picture == PAPER).all(axis=-1)]
    if paper.size:  # The page says what paper looks like: it may be dark.
        options = {"transparency": int(np.bincount(paper).argmax())}
    drawn.save(content, "PNG", optimize=True, **options)
    return "data:image/png;base64," + base64.b64encode(content.getvalue()).decode()


def _same_size(pictures: Sequence[Image]) -> list[Image]:
    """All pictures on sheets of one size, with even sides as videos want them."""
    sides = [max(picture.shape[axis] for picture in pictures) for axis in (0, 1)]
    height, width = (side + side % 2 for side in sides)
    sheets = []
    for picture in pictures:
        sheet = np.full((height, width, 3), PAPER, np.uint8)
        sheet[: picture.shape[0], : picture.shape[1]] = picture
        sheets.append(sheet)
    return sheets
