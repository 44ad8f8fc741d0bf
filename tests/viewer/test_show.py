import json

import pytest

from adastack.cli import main
from adastack.progress import Silent
from adastack.runs import Run, RunError
from adastack.training import train
from adastack.viewer.show import show_of


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    def make(memory="adaptive", task="passive-tmaze:length=4", steps=60_000):
        path = tmp_path_factory.mktemp("runs") / "run"
        train(
            task=task, memory=memory, stack_size=2, algo="sarsa", preset="robust", steps=steps,
            seeds=[3, 5], path=path, overrides={}, resume=False, progress=Silent(),
        )  # fmt: skip
        return Run.open(path)

    return make


@pytest.fixture(scope="module")
def run(trained):
    return trained()


def test_a_trained_run_plays_what_it_learned(run):
    for seed in (3, 5):
        for episode in range(4):
            frames = show_of(run, seed).episode(seed=episode)["frames"]
            assert len(frames) == 5
            assert frames[-1]["success"]


def test_on_another_task(run):
    show = show_of(run, task="passive-tmaze:length=50")
    for episode in range(6):
        frames = show.episode(seed=episode)["frames"]
        assert len(frames) == 51
        assert frames[-1]["success"]


def test_a_film_of_it_is_the_same_episode(run):
    show = show_of(run)
    film, frames = show.film(seed=2), show.episode(seed=2)["frames"]
    assert [note["ages"] for note in film.notes] == [frame["ages"] for frame in frames]


def test_random_memory_gives_up_any_slot(trained):
    run = trained("random", "passive-tmaze:length=40", steps=500)
    frames = show_of(run).episode()["frames"]
    assert {frame["evicted"] for frame in frames} == {-1, 0, 1}
    assert frames == show_of(run).episode()["frames"]


@pytest.mark.parametrize(
    ("seed", "task", "error", "words"),
    [
        (0, None, RunError, "expected a seed of 3, 5, actual: 0"),
        (3, "repeat-first", ValueError, "expects the observation_names"),
        (3, "cube", ValueError, "cannot be played on"),
        (3, "nowhere", ValueError, "nowhere"),
    ],
)
def test_what_cannot_be_played_is_refused(run, seed, task, error, words):
    with pytest.raises(error, match=words):
        show_of(run, seed, task)


def test_a_run_without_a_checkpoint_is_refused(tmp_path, run):
    bare = Run.create(tmp_path / "bare", run.settings)
    with pytest.raises(RunError, match="train it first"):
        show_of(bare)


@pytest.mark.parametrize(("file", "begins"), [("a.html", b"<!doctype"), ("a.gif", b"GIF8")])
def test_the_command_writes_what_the_name_says(run, file, begins, tmp_path, capsys):
    out = tmp_path / "new" / file
    assert main(["watch", str(run.path), "--out", str(out), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["steps"] == 4
    assert out.read_bytes().startswith(begins)


def test_a_damaged_command_is_one_line(run, tmp_path, capsys):
    assert main(["watch", str(run.path), "--out", str(tmp_path / "show.png")]) == 2
    assert "--out expects an ending of .html, .gif, .mp4" in capsys.readouterr().err
    assert not (tmp_path / "show.png").exists()
    assert main(["watch", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["play", "cube", "--out", str(tmp_path / "p.html")]) == 2
    assert "finite task" in capsys.readouterr().err
    assert not (tmp_path / "p.html").exists()


def test_play_writes_a_page(tmp_path, capsys):
    assert main(["play", "xormaze", "--k", "3", "--out", str(tmp_path / "p.html")]) == 0
    assert "p.html" in capsys.readouterr().out
    assert "section" in (tmp_path / "p.html").read_text()
