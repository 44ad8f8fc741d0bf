import json
import re

from adastack.tasks import passive_tmaze, repeat_first
from adastack.viewer import Page, record


def keep_the_cue(stack):
    return (2 if 3 in stack else 0), (0 if stack[-1] in (2, 3) else 1)


def test_an_episode_shows_what_was_held_and_given_up():
    episode = record(passive_tmaze(length=5), "adaptive", 2, keep_the_cue, seed=1)
    frames = episode["frames"]
    cue = frames[0]["slots"][-1]
    assert len(frames) == 6
    assert frames[0]["slots"] == [-1, cue]
    assert [frame["slots"][0] for frame in frames[1:]] == [cue] * 5
    assert [frame["ages"][0] for frame in frames] == [-1, 1, 2, 3, 4, 5]
    assert [frame["evicted"] for frame in frames] == [-1, 0, 1, 1, 1, 1]
    assert [frame["agent"][1] for frame in frames[:5]] == [0, 1, 2, 3, 4]
    assert frames[-1]["reward"] == 1
    assert frames[-1]["over"]
    assert frames[0]["action"] in episode_actions()


def episode_actions():
    return passive_tmaze(length=5).action_names


def test_a_long_maze_is_shown_through_a_window():
    episode = record(passive_tmaze(length=100), "frame", 3, lambda stack: (0, 0))
    assert len(episode["frames"]) == 101
    assert all(len(frame["cells"][0]) == 20 for frame in episode["frames"])
    middle = episode["frames"][50]
    assert middle["more"] == [True, True]


def test_a_task_without_a_map_has_only_its_memory():
    episode = record(repeat_first(length=4), "frame", 2, lambda stack: (0, 0))
    assert "cells" not in episode["frames"][0]


def test_a_continual_task_stops_where_it_is_told():
    task = passive_tmaze(length=3, continual=True)
    episode = record(task, "adaptive", 2, keep_the_cue, max_steps=20)
    assert len(episode["frames"]) == 21


def test_the_page_is_whole_and_holds_no_outside_address(tmp_path):
    page = Page("a < b & c")
    page.text("<script>alert(1)</script>")
    page.table(["x"], [["<b>"]])
    episode = record(passive_tmaze(length=3), "adaptive", 2, keep_the_cue)
    episode["task"] = "</script>"
    page.episode(episode, "one")
    page.write(tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text()
    assert "<title>a &lt; b &amp; c</title>" in html
    assert "<script>alert" not in html
    assert "<td>&lt;b&gt;</td>" in html
    data = re.search(r'<script type="application/json">(.*?)</script>', html, re.S)
    assert json.loads(data.group(1)) == episode
    assert not re.search(r'(src|href)="', html)
