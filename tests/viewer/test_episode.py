import numpy as np
import pytest

from adastack.tasks import active_tmaze, make_task, passive_tmaze
from adastack.viewer import record

GREY, BLUE, RED, GREEN = range(4)
SPECS = ("passive-tmaze:length=5", "active-tmaze:length=4", "xormaze", "heaven-hell", "office")


def lengths_of(task, seeds, max_steps=40):
    """The length that each frame shows, and how many steps the attempt took to the junction."""
    for seed in seeds:
        frames = record(task, "frame", 2, lambda stack: (1, 0), seed=seed, max_steps=max_steps)[
            "frames"
        ]
        yield [len(frame["cells"][0]) for frame in frames], frames


def test_a_maze_of_random_length_is_drawn_at_its_length():
    seen = set()
    for widths, frames in lengths_of(passive_tmaze(length=6, random_length=True), range(20)):
        length = len(frames) - 1
        assert widths == [length] * len(frames)
        assert [frame["agent"] for frame in frames[:-1]] == [[1, c] for c in range(length)]
        corridor = frames[0]["cells"][1]
        assert corridor[0] in (RED, GREEN)
        assert corridor[1:] == [GREY] * (length - 2) + [BLUE]
        # The cue stays on the map, also where the states of all lengths are the same.
        assert all(frame["cells"][1][0] == corridor[0] for frame in frames)
        seen.add(length)
    assert seen == {2, 3, 4, 5, 6}


def test_a_continual_maze_changes_its_length_with_every_attempt():
    task = active_tmaze(length=5, random_length=True, continual=True)

    def right_then_up(stack):
        return (0 if stack[-1] == BLUE else 1), 0

    frames = record(task, "frame", 2, right_then_up, max_steps=60)["frames"]
    begun = [frame for frame in frames if frame["over"]]
    assert len({len(frame["cells"][0]) for frame in begun}) > 2
    assert all(frame["agent"] == [1, 1] for frame in begun)


@pytest.mark.parametrize("spec", SPECS)
def test_a_maze_of_one_length_is_drawn_whole(spec):
    task = make_task(spec)
    frames = record(task, "frame", 2, lambda stack: (0, 0), max_steps=5)["frames"]
    assert np.shape(frames[0]["cells"]) == task.picture.background.shape
    walls = task.picture.background < 0
    for frame in frames:
        assert ((np.array(frame["cells"]) < 0) == walls).all()


def test_it_says_how_an_attempt_ended():
    task = passive_tmaze(length=3)
    frames = record(task, "adaptive", 2, lambda stack: (0, 0), seed=0)["frames"]
    assert [frame["over"] for frame in frames] == [False, False, False, True]
    assert frames[-1]["success"] == (frames[-1]["reward"] == 1)


def test_the_map_still_shows_the_cues_when_all_is_over():
    frames = record(make_task("xormaze"), "frame", 3, lambda stack: (0, 0), seed=2)["frames"]
    assert frames[-1]["over"]
    for frame in frames:
        assert {frame["cells"][1][0], frame["cells"][1][2]} <= {RED, GREEN}
        assert frame["cells"][1][0] == frames[0]["cells"][1][0]
