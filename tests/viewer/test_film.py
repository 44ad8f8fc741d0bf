import base64
import io
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from PIL import Image

from adastack.tasks import FiniteTaskEnv, passive_tmaze
from adastack.viewer import shoot
from adastack.viewer.bars import SMALL, Bars
from adastack.viewer.show import episode_page
from adastack.wrappers import MemoryStack


def keep_the_cue(stack, ages):
    return (2 if 3 in stack else 0), (0 if stack[-1] in (2, 3) else 1)


def filmed(length=4):
    task = FiniteTaskEnv(passive_tmaze(length=length), render_mode="rgb_array")
    env = MemoryStack(task, 2, padding_type="empty")
    return shoot(env, keep_the_cue, seed=1), env


def test_a_film_has_a_picture_of_every_step():
    film, env = filmed(4)
    assert len(film.pictures) == len(film.notes) == 5
    assert (film.pictures[-1] == env.render()).all()
    assert not (film.pictures[0] == film.pictures[1]).all()
    assert [note["evicted"] for note in film.notes] == [-1, 0, 1, 1, 1]
    assert film.notes[-1]["reward"] == 1
    assert film.notes[-1]["success"]


def test_its_page_shows_the_same_pictures_once_each():
    film, _ = filmed(4)
    film.pictures.append(film.pictures[0])
    film.notes.append(film.notes[0])
    document = film.document()
    assert [frame["image"] for frame in document["frames"]] == [0, 1, 2, 3, 4, 0]
    for address, picture in zip(document["images"], film.pictures, strict=False):
        content = base64.b64decode(address.removeprefix("data:image/png;base64,"))
        found = np.asarray(Image.open(io.BytesIO(content)).convert("RGB"), np.int32)
        assert np.abs(found - picture).mean() < 2


def test_a_gif_plays_the_episode(tmp_path):
    film, _ = filmed(4)
    film.write_gif(tmp_path / "film.gif")
    with Image.open(tmp_path / "film.gif") as gif:
        assert gif.n_frames == 5
        gif.seek(4)
        found = np.asarray(gif.convert("RGB"), np.int32)
        assert gif.info["duration"] >= 1500
    height, width = film.pictures[4].shape[:2]
    assert np.abs(found[:height, :width] - film.pictures[4]).mean() < 3


def test_an_mp4_plays_the_episode(tmp_path):
    pytest.importorskip("imageio_ffmpeg")
    import imageio.v2

    film, _ = filmed(4)
    film.write_mp4(tmp_path / "film.mp4")
    with imageio.v2.get_reader(tmp_path / "film.mp4") as reader:
        frames = list(iter(reader))  # The reader itself says that its length is infinite.
    assert len(frames) == 5 + 6
    height, width = film.pictures[2].shape[:2]
    assert np.abs(np.asarray(frames[2], np.int32)[:height, :width] - film.pictures[2]).mean() < 8


def test_without_ffmpeg_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    film, _ = filmed(3)
    with pytest.raises(ImportError, match=r"pip install 'adastack\[view\]'"):
        film.write_mp4(tmp_path / "film.mp4")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("render_mode", [None, "rgb_array"])
def test_what_draws_no_memory_is_shown_with_bars(render_mode):
    env = MemoryStack(gymnasium.make("CartPole-v1", render_mode=render_mode), 2)
    film = shoot(env, lambda stack, ages: (0, 1), max_steps=4)
    assert len(film.pictures) == 5
    rows = [picture[-120:] for picture in film.pictures]
    # The first observation stays in slot 0 while the newest changes.
    left, right = slice(0, 18 + SMALL), slice(18 + SMALL + 20, None)
    assert all((row[:80, left] == rows[1][:80, left]).all() for row in rows[2:])
    assert not (rows[1][:80, right] == rows[4][:80, right]).all()


@pytest.mark.parametrize(
    ("space", "high", "low"),
    [
        (spaces.Box(-1, 1, (2,), np.float32), [1, 1], [-1, -1]),
        (spaces.Box(-np.inf, np.inf, (2,), np.float32), [5, 5], [0, 0]),
        (spaces.Discrete(4), 3, 0),
        (spaces.Box(0, 255, (4, 4, 3), np.uint8), np.full((4, 4, 3), 255), np.zeros((4, 4, 3))),
        (spaces.Dict(a=spaces.Discrete(2), b=spaces.Box(0, 1, (1,))), {"a": 1, "b": [1]},
         {"a": 0, "b": [0]}),
    ],
    ids=["limits", "none", "symbol", "image", "dict"],
)  # fmt: skip
def test_different_observations_look_different(space, high, low):
    bars = Bars(space)
    assert not (bars.tile(high, False) == bars.tile(low, False)).all()
    assert not (bars.tile(low, False) == bars.tile(low, True)).all()


def test_what_is_not_made_of_numbers_cannot_be_drawn():
    with pytest.raises(ValueError, match="expected an observation of numbers to draw"):
        Bars(spaces.Sequence(spaces.Discrete(2)))


def test_a_legend_names_the_bars_of_a_dict():
    parts = {"place": spaces.Box(-1, 1, (2,)), "bell": spaces.Discrete(2), "dial": spaces.Box(0, 1)}
    assert Bars(spaces.Dict(parts)).legend == (
        "Bars from left to right: bell (2), dial, place (2)."
    )
    long = spaces.Dict(a=spaces.Box(0, 1, (40,)), b=spaces.Box(0, 1, (20,)))
    assert "of 60 numbers the first 48" in Bars(long).legend
    assert Bars(spaces.Box(-1, 1, (2,))).legend == ""
    image = spaces.Dict(seen=spaces.Box(0, 255, (4, 4, 3), np.uint8), speed=spaces.Box(0, 1))
    assert Bars(image).legend == "", "the image is shown instead"


def test_the_page_of_an_episode_has_the_legend():
    class Bell(gymnasium.Env):
        observation_space = spaces.Dict(bell=spaces.Discrete(2), place=spaces.Box(-1, 1, (2,)))
        action_space = spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            return {"bell": 1, "place": np.zeros(2, np.float32)}, {}

        def step(self, action):
            return {"bell": 0, "place": np.ones(2, np.float32)}, 1.0, True, False, {}

    film = shoot(MemoryStack(Bell(), 2), lambda stack, ages: (0, 0))
    html = episode_page(film.document(), "bells").html()
    assert "<p>Bars from left to right: bell (2), place (2).</p>" in html
    assert "Bars from" not in episode_page(filmed()[0].document(), "a maze").html()
