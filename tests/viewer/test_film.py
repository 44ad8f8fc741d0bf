import base64
import io
import sys

import gymnasium
import numpy as np
import pytest
from PIL import Image

from adastack.tasks import FiniteTaskEnv, passive_tmaze
from adastack.viewer import shoot
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


def test_what_does_not_draw_is_refused():
    env = MemoryStack(gymnasium.make("CartPole-v1"), 2)
    with pytest.raises(ValueError, match="draws rgb arrays"):
        shoot(env, lambda stack, ages: (0, 0))
