"""Training one memory: what counts as good, and what is left when it is cut."""

import pytest

from adastack.diagnosis.memories import CELL, NONE, Memory, chosen, window
from adastack.diagnosis.search import Budget, Deadline, OutOfTimeError
from adastack.diagnosis.trials import Learner, goodness
from adastack.progress import Silent
from adastack.tasks import resolve


def learner(folder, task="passive-tmaze:length=3"):
    return Learner(task=resolve(task), algo="sarsa", preset="default", seeds=(0, 1), folder=folder)


@pytest.mark.parametrize(
    ("seed", "solved", "good"),
    [
        ({"return": 1.0}, None, None),
        ({"return": 1.0, "success": None, "optimality": None}, None, None),
        ({"return": 0.2, "success": 1.0}, None, True),
        ({"return": 0.2, "success": 0.9}, None, False),
        # It could be faster, which does not count where attempts are.
        ({"return": 1.0, "success": 1.0, "optimality": 0.98}, None, True),
        ({"return": 1.0, "success": 0.5, "optimality": 1.0}, None, True),
        ({"return": 480.0, "success": 0.0}, 475, True),
        ({"return": 470.0}, 475, False),
    ],
)
def test_what_is_as_good_as_can_be(seed, solved, good):
    assert goodness(seed, solved) is good


def test_every_memory_has_a_folder_of_its_own(tmp_path):
    memories = [NONE, CELL, chosen(2), window(2), chosen(3), Memory("adaptive", 2, "gru")]
    folders = {learner(tmp_path).run_folder(memory, 100) for memory in memories}
    assert len(folders) == len(memories)


def test_what_time_has_cut_goes_on_to_the_same_scores(tmp_path):
    over = Deadline(Silent(), Budget(first=1, seconds=-1.0))
    with pytest.raises(OutOfTimeError):
        learner(tmp_path / "cut").learn(chosen(2), 50_000, over)
    resumed = learner(tmp_path / "cut").learn(chosen(2), 50_000, Silent())
    whole = learner(tmp_path / "whole").learn(chosen(2), 50_000, Silent())
    assert resumed.scores == whole.scores
    assert resumed.good == (True, True)


def test_attempts_that_follow_each_other_are_compared_by_their_reward_rate(tmp_path):
    assert learner(tmp_path).metric == "return"
    assert learner(tmp_path, "passive-tmaze:length=3,continual=true").metric == "reward_rate"
