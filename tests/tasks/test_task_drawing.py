import numpy as np
import pytest

from adastack.tasks import (
    FiniteTaskEnv,
    active_tmaze,
    heaven_hell,
    key_order,
    memory_length,
    passive_tmaze,
    pomdp,
    repeat_first,
    xormaze,
)
from adastack.tasks.drawing.canvas import Slots
from adastack.tasks.drawing.finite_task import CELL, COLOURS, INK, MARGIN, PAPER, draw
from adastack.tasks.drawing.font import lettering
from adastack.tasks.drawing.writing import write

GREY, BLUE, RED, GREEN = (COLOURS[name] for name in ("grey", "blue", "red", "green"))
PICTURED = [passive_tmaze(6), passive_tmaze(5, random_length=True), active_tmaze(5), xormaze()]
PICTURED += [heaven_hell(), key_order(), passive_tmaze(40)]
PLAIN = [repeat_first(4), memory_length(3), pomdp("tiger")]


def corner(image, row, column):
    """The colour of a cell, beside the agent's disc and any writing."""
    return tuple(image[MARGIN + row * CELL + 9, MARGIN + column * CELL + 9].tolist())


def middle(image, row, column):
    return tuple(
        image[MARGIN + row * CELL + CELL // 2, MARGIN + column * CELL + CELL // 2].tolist()
    )


def test_the_colours_are_the_papers():
    assert GREY == (0xC8, 0xC8, 0xC8)
    assert BLUE == (0x80, 0x80, 0xFF)
    assert RED == (0xFF, 0x80, 0x80)
    assert GREEN == (0x80, 0xFF, 0x80)


def test_a_tmaze_shows_cue_corridor_junction_goals_and_agent():
    task = active_tmaze(5)
    for start in task.start_states:
        image = draw(task, int(start))
        cue = RED if task.cue[start, 0] == 2 else GREEN
        row = [corner(image, 1, column) for column in range(5)]
        assert row == [cue, GREY, GREY, GREY, BLUE]
        assert [corner(image, r, 4) for r in (0, 2)] == [RED, GREEN]
        assert corner(image, 0, 0) == PAPER
        assert [middle(image, 1, c) == INK for c in range(5)] == [False, True, False, False, False]


def test_the_agent_stands_on_what_it_sees():
    for task in PICTURED[:4]:
        for state in range(task.n_states):
            row, column = task.picture.agent[state]
            seen = COLOURS[task.observation_names[task.observation[state]]]
            image = draw(task, state)
            assert corner(image, row, column) == seen
            assert middle(image, row, column) == INK


@pytest.mark.parametrize("task", PICTURED + PLAIN, ids=lambda task: task.name)
def test_every_frame_of_a_task_has_one_size(task):
    slots, ages = [task.empty, 0, task.n_observations - 1], [-1, 12345, 0]
    for memory in (None, Slots(slots, ages, 1)):
        shapes = {draw(task, state, memory).shape for state in range(task.n_states)}
        assert len(shapes) == 1
        assert draw(task, 0, memory).dtype == np.uint8


def test_a_long_maze_is_cropped_around_the_agent():
    task = passive_tmaze(1000)
    far = draw(task, 500)
    assert far.shape == draw(task, 0).shape == draw(passive_tmaze(13), 0).shape
    assert middle(far, 1, 6) == INK
    assert corner(far, 0, 12) == PAPER
    at_junction = draw(task, 0)
    assert corner(at_junction, 1, 12) == BLUE
    assert middle(at_junction, 1, 12) == INK


def test_the_memory_shows_what_each_slot_holds():
    task = passive_tmaze(6)
    state = 3
    without, image = draw(task, state), draw(task, state, Slots((4, 2, 0), (-1, 3, 0), None))
    assert (image[: len(without)] == without).all()
    strip = image[len(without) :]
    pixels = {tuple(colour) for colour in strip.reshape(-1, 3).tolist()}
    assert RED in pixels
    assert GREY in pixels
    assert GREEN not in pixels
    evicted = draw(task, state, Slots((4, 2, 0), (-1, 3, 0), 1))
    older = draw(task, state, Slots((4, 2, 0), (-1, 4, 0), None))
    assert (evicted != image).any()
    assert (older != image).any()
    assert (draw(task, state, Slots((4, 3, 0), (-1, 3, 0))) != image).any()


def test_where_the_cross_stands_is_where_the_slot_stood():
    task = passive_tmaze(6)
    plain = draw(task, 3, Slots((2, 0, 0), (5, 1, 0), None))
    columns = []
    for slot in range(3):
        crossed = draw(task, 3, Slots((2, 0, 0), (5, 1, 0), slot))
        columns.append(np.argwhere(crossed != plain)[:, 1].mean())
    assert columns == sorted(columns)
    assert columns[0] < MARGIN


def test_many_slots_and_every_task_can_be_drawn():
    for task in PICTURED + PLAIN:
        slots = [symbol % (task.n_observations + 1) for symbol in range(40)]
        image = draw(task, 0, Slots(slots, list(range(40)), 39))
        assert image.shape[0] > image.shape[1] / 8


def test_letters_differ_and_unknown_ones_are_question_marks():
    letters = [lettering(c).tobytes() for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-+,.:_/()? "]
    assert len(set(letters)) == len(letters)
    assert (lettering("é") == lettering("?")).all()
    assert lettering("ab", 3).shape == (21, 33)
    assert lettering("").shape == (7, 0)


def test_text_of_mazes():
    assert write(passive_tmaze(5), 5 + 3).split("\n") == [
        "    R",
        "G@..B",
        "    G",
        "sees: grey",
    ]
    assert write(xormaze(), 3) == " R\nR@G\n G\nsees: blue"
    assert write(key_order(), 2) == "A.@.B\n  .\n  D\nsees: 0,2"
    assert write(memory_length(3), 1) == "sees: wait"


def test_text_of_memories():
    task = passive_tmaze(5)
    memory = write(task, 3, Slots((4, 2, 0), (-1, 3, 0), None)).split("\n")[-1]
    assert memory == "memory: [ - ] [red 3] > [grey 0]"
    assert write(task, 3, Slots((2, 0), (3, 0), 1)).endswith("memory: [red 3] x > [grey 0]")
    assert write(task, 3, Slots((2, 0), (3, 0), 0)).endswith("memory: x [red 3] > [grey 0]")
    assert write(task, 3, Slots((2, 0))).endswith("memory: [red] > [grey]")


def test_environments_draw_in_the_mode_they_were_made_with():
    task = xormaze()
    assert FiniteTaskEnv(task).render() is None
    for mode, expected in (("rgb_array", draw), ("ansi", write)):
        env = FiniteTaskEnv(task, render_mode=mode)
        env.reset(seed=0)
        assert np.array_equal(env.render(), expected(task, env.state))
        memory = Slots((4, 2, 1), (-1, 7, 0), 2)
        assert np.array_equal(
            env.render_with_memory(*memory), expected(task, env.state, Slots(*memory))
        )
