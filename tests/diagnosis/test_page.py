"""The page of a diagnosis."""

import pytest

from adastack.commands.diagnose import exit_code
from adastack.diagnosis.diagnosis import Diagnosis
from adastack.diagnosis.memories import CELL, NONE, chosen, window
from adastack.diagnosis.search import INTERRUPTED, NO_ROUNDS, NO_TIME
from adastack.diagnosis.verdict import Trial, judge
from browser import Browser, needs_chromium

RANDOM = [0.0, 0.01]
TRIALS = [
    Trial(NONE, 200, (0.5, 0.48), (False, False)),
    Trial(chosen(2), 100, (1.0, 1.0), (True, True)),
    Trial(window(4), 200, (0.5, 0.51), (False, False)),
    Trial(CELL, 100, (0.7, 0.9), (False, False)),
]


def learned(trials):
    return Diagnosis("me/<b>Maze</b>-v0", judge(trials, RANDOM), random=RANDOM, trials=trials)


def test_it_shows_the_verdict_the_scores_and_what_is_open():
    found = learned(TRIALS)
    page = found.page().html()
    assert "It needs memory: 2 chosen slots are enough." in page
    assert page.count("<circle") == len(TRIALS)
    assert page.count('<td data-name="verdict">clearly below</td>') == 2
    assert page.count('<td data-name="verdict">not decided</td>') == 1
    assert "Keeping beats recency: a window of 4 is not enough." in page
    assert "<b>Maze</b>" not in page


def test_not_decided_is_said_with_what_was_learned():
    found = learned([trial for trial in TRIALS if trial.memory != NONE])
    found.stopped = "time is over"
    assert found.verdict.needs_memory is None
    assert str(found).startswith("me/<b>Maze</b>-v0: Not decided.")
    assert "Time is over: more minutes may decide it." in str(found)
    assert "<b>not decided</b>" in found.page().html()


@pytest.mark.parametrize(
    ("stopped", "advice"),
    [(NO_ROUNDS, "more steps"), (NO_TIME, "more minutes"), (INTERRUPTED, "the same call goes on")],
)
def test_a_search_that_found_nothing_says_why(stopped, advice):
    found = learned([])
    found.stopped = stopped
    assert str(found).startswith("me/<b>Maze</b>-v0: Not decided. ")
    assert advice in str(found)
    assert "<b>learned</b>" not in found.page().html()


def test_a_diagnosis_that_trained_nothing_has_failed():
    found = learned([])
    found.failed = {"none": "a reward is not a number"}
    assert exit_code(found.document()) == 1
    assert "none (a reward is not a number)" in str(found)
    found = learned(TRIALS)
    found.failed = {"adaptive-4": "too little memory"}
    assert exit_code(found.document()) == 0


@needs_chromium
@pytest.mark.parametrize("width", [390, 1100])
def test_it_fits_a_phone_and_nothing_goes_wrong(width, tmp_path):
    learned(TRIALS).page().write(tmp_path / "diagnosis.html")
    with Browser() as browser:
        browser.open(tmp_path / "diagnosis.html", width=width, dark=True)
        assert browser.run("document.documentElement.scrollWidth") <= width
        assert browser.errors == []
