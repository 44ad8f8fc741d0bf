import pytest

from adastack.memory import RULES
from adastack.tasks import FiniteTaskEnv, make_task, passive_tmaze, xormaze
from adastack.viewer.game import game_of, game_page, hints
from adastack.wrappers import MemoryStack


def test_the_tables_are_the_tasks():
    task = make_task("repeat-first:length=3")
    game = game_of(task, "adaptive", 2)
    for state in range(task.n_states):
        for action in range(task.n_actions):
            for outcome in range(task.n_outcomes):
                place = (state * task.n_actions + action) * task.n_outcomes + outcome
                assert game["next_state"][place] == task.next_state[state, action, outcome]
                assert game["reward"][place] == task.reward[state, action, outcome]
                assert game["ends"][place] == task.ends[state, action, outcome]
    assert game["picture"] is None
    assert game["starts"] == task.start_states.tolist()


@pytest.mark.parametrize("rule", ["adaptive", "frame", "push_skip"])
def test_the_rule_is_the_rules_table(rule):
    assert game_of(xormaze(), rule, 3)["evict"] == RULES[rule].table(3).tolist()


@pytest.mark.parametrize(
    ("spec", "k"), [("passive-tmaze:length=9", 2), ("active-tmaze", 2), ("xormaze", 3)]
)
def test_who_follows_the_hints_solves_the_task(spec, k):
    task = make_task(spec)
    advice = game_of(task, "adaptive", k)["hints"]
    env = MemoryStack(FiniteTaskEnv(task), k, padding_type="empty")
    for seed in range(8):
        stack, info = env.reset(seed=seed)
        over = False
        while not over:
            held = [-1 if age < 0 else s for s, age in zip(stack, info["slot_ages"], strict=True)]
            stack, _, terminated, truncated, info = env.step(advice[",".join(map(str, held))])
            over = terminated or truncated
        assert info["success"]


def test_no_hints_where_they_are_not_cheap():
    assert hints(make_task("passive-tmaze:length=3000"), "adaptive", 2) == {}


def test_a_huge_task_is_refused():
    with pytest.raises(ValueError, match="at most 200,000 outcomes"):
        game_page(passive_tmaze(length=100_000), "adaptive", 2)


def test_the_page_is_whole():
    html = game_page(xormaze(), "adaptive", 3).html()
    assert "src=" not in html
    assert "href=" not in html
    assert "adastack play xormaze --k 3 --memory adaptive" in html
