"""kappa against every policy there is, and the proof policies replayed step by step."""

from itertools import product

import numpy as np
import pytest

from adastack.memory import get_rule
from adastack.tasks import FiniteTask, active_tmaze, make_task, passive_tmaze, xormaze
from adastack.theory.kappa import kappa
from theory.plain import outcomes, push, random_task, reachable_stacks, rollout_value, tree_value

GAMMA = 0.8


def best_of_all(task, rule, k, gamma):
    """The best start value of any deterministic stack policy, by trying all of them."""
    stacks = sorted({stack for _, stack in reachable_stacks(task, rule, k)})
    choices = list(product(range(task.n_actions), range(get_rule(rule).actions(k))))
    starts = np.flatnonzero(task.start)
    best = -np.inf
    for chosen in product(choices, repeat=len(stacks)):
        policy = dict(zip(stacks, chosen, strict=True))
        values = (
            task.start[s] * rollout_value(task, rule, k, policy, int(s), gamma, 12) for s in starts
        )
        best = max(best, sum(values))
    return best


@pytest.mark.parametrize("seed", range(8))
def test_small_random_tasks_agree_with_trying_every_policy(seed):
    task = random_task(seed, states=4)
    gamma = 0.3  # what lies beyond twelve steps is worth less than 1e-6
    perfect = tree_value(task, gamma, 9)
    found = kappa(task, "adaptive", 2, gamma)
    for k in (1, 2):
        best = best_of_all(task, "adaptive", k, gamma)
        enough = best == pytest.approx(perfect, abs=1e-4)
        assert (found.kappa is not None and k >= found.kappa) == enough
        if k in found.smaller:
            assert found.smaller[k].proved
            assert found.smaller[k].value == pytest.approx(best, abs=1e-6)


def test_the_shortest_tmaze_below_kappa_by_trying_every_policy():
    task = passive_tmaze(2)
    assert kappa(task, gamma=GAMMA).smaller[1].value == pytest.approx(
        best_of_all(task, "adaptive", 1, GAMMA)
    )


KAPPA = {
    "adaptive": {
        "passive-tmaze:length=2": 2,
        "passive-tmaze:length=64": 2,
        "passive-tmaze:length=16,random_length=true,continual=true": 2,
        "active-tmaze:length=16": 2,
        "active-tmaze:length=6,random_length=true": 2,
        "active-tmaze:length=6,continual=true": 2,
        "xormaze": 3,
        "heaven-hell": 2,
        "repeat-first": 2,
        "memory-length": 2,
        "memory-length:bits=3": 2,
        "office": 2,
        "key-order": 2,
        "pomdp:file=tmaze": 2,
    },
    "frame": {
        "passive-tmaze:length=7": 7,
        "passive-tmaze:length=7,continual=true": 7,
        "active-tmaze:length=4": 4,
        "active-tmaze:length=4,continual=true": 4,
        "xormaze": 4,
        "heaven-hell": 6,
        "memory-length:length=6": 7,
    },
    "push_skip": {
        "xormaze": 3,
    },
}


@pytest.mark.parametrize(
    ("spec", "rule", "expected"),
    [(spec, rule, k) for rule, found in KAPPA.items() for spec, k in found.items()],
)
def test_kappa_and_its_proof(spec, rule, expected):
    task = make_task(spec)
    found = kappa(task, rule, gamma=0.95, max_choices=2000)
    assert (found.kappa, found.at_least, found.stopped) == (expected, expected, None)
    assert set(found.smaller) == set(range(1, expected))
    for best in found.smaller.values():
        assert best.value <= best.upper
        assert best.value < found.optimum - 1e-6
    assert replayed(task, rule, found) == pytest.approx(found.optimum)


def replayed(task, rule, found):
    """The value of the proof policy from all starts, by pushing probabilities forward."""
    k = found.kappa
    now = {}
    for s in np.flatnonzero(task.start):
        pair = (int(s), (task.empty,) * (k - 1) + (int(task.observation[s]),))
        now[pair] = float(task.start[s])
    total, weight = 0.0, 1.0
    while weight > 1e-12 and now:
        after = {}
        for (state, stack), mass in now.items():
            action, memory_action = found.policy[stack]
            for p, r, target in outcomes(task, state, action):
                total += weight * mass * p * r
                if target is not None:
                    seen = int(task.observation[target])
                    pair = (target, push(task, rule, stack, memory_action, seen))
                    after[pair] = after.get(pair, 0.0) + mass * p
        now, weight = after, weight * found.gamma
    return total


def test_best_values_below_kappa():
    below = kappa(xormaze(), gamma=0.99).smaller
    # One cue is not enough, and with two slots half of the mazes can be told apart.
    assert below[1].value == pytest.approx(0)
    assert below[2].proved
    assert below[2].value == pytest.approx(0.5 * 0.99**4)
    # A window that is too short can still walk on one cue and wait for ever on the other.
    frame = kappa(active_tmaze(6), "frame", gamma=0.99, max_choices=10_000).smaller
    assert frame[1].value == pytest.approx(0)
    assert all(frame[k].value == pytest.approx(0.5 * 0.99**6) for k in (2, 3, 4, 5))


def test_average_and_total_reward():
    found = kappa(active_tmaze(4, continual=True), criterion="average")
    assert found.kappa == 2
    assert found.optimum == pytest.approx(1 / 5)
    assert found.smaller[1].value == pytest.approx(0)
    found = kappa(active_tmaze(4), gamma=1.0)
    assert (found.kappa, found.optimum) == (2, pytest.approx(1))


def coin_task():
    """Two states that look alike; one action ends well in each, and nothing else moves."""
    ends = np.array([[[True], [False]], [[False], [True]], [[True], [True]]])
    return FiniteTask(
        name="coin",
        observation=np.array([0, 0, 1], np.int32),
        next_state=np.array([[[2], [0]], [[1], [2]], [[2], [2]]], np.int32),
        probability=np.ones((3, 2, 1)),
        reward=np.where(ends, 1.0, 0.0) * np.array([1.0, 1.0, 0.0])[:, None, None],
        ends=ends,
        start=np.array([0.5, 0.5, 0.0]),
        observation_names=("same", "end"),
        action_names=("L", "R"),
    )


def test_without_a_discount_a_coin_can_be_enough():
    """One slot and a coin earn 1; always the same action earns a half."""
    found = kappa(coin_task(), gamma=1.0)
    assert (found.kappa, found.optimum, found.policy) == (1, 1.0, None)
    assert found.draws == {(0,): ((0, 0), (1, 0))}
    # The coin earns its half at every step, whatever the state.
    values = np.array([0.5, 0.5])
    for _ in range(100):
        values = 0.5 * 1.0 + 0.5 * values
    assert values == pytest.approx(found.optimum)
    # With a discount the wait costs, and two slots tell what has been tried.
    patient = kappa(coin_task(), gamma=0.9)
    assert (patient.kappa, patient.draws) == (2, None)
    assert patient.smaller[1].value == pytest.approx(0.5)


@pytest.mark.parametrize("task", [active_tmaze(3), passive_tmaze(4)], ids=lambda task: task.name)
def test_without_a_discount_a_coin_is_no_memory(task):
    """A policy that draws may wait for ever, or it decides without knowing: two slots it is."""
    found = kappa(task, gamma=1.0)
    assert (found.kappa, found.at_least, found.draws) == (2, 2, None)


def test_an_undecided_coin_is_not_called_a_proof(monkeypatch):
    monkeypatch.setattr("adastack.theory.kappa.MAX_DRAWN", 3)
    found = kappa(active_tmaze(4), gamma=1.0)
    assert (found.kappa, found.at_least) == (None, 1)
    assert "a policy that draws its actions may be enough" in found.stopped


def test_no_stack_tames_the_tiger():
    found = kappa(make_task("pomdp"), max_choices=2000)
    assert found.kappa is None
    assert "no stack size is enough: while 'hear-left' repeats" in found.stopped
    assert found.smaller[1].value == pytest.approx(-20)  # listening for ever


def counter(modulo, ask=0.1):
    """Marks come until a question: how many, modulo a number? State: count, mark or question."""
    n = 2 * modulo + 1  # marks by count, questions by count, over
    place = np.zeros((n, modulo, 2), int)
    chance, reward = np.zeros((n, modulo, 2)), np.zeros((n, modulo, 2))
    chance[..., 0] = 1
    place[..., :] = n - 1
    for number in range(modulo):
        place[number] = [(number + 1) % modulo, modulo + number]
        chance[number] = [1 - ask, ask]
        reward[modulo + number, number] = 1
    ends = np.zeros((n, modulo, 2), bool)
    ends[modulo:] = True
    return FiniteTask(
        name="counter", observation=[0] * modulo + [1] * modulo + [2], next_state=place,
        probability=chance, reward=reward, ends=ends, start=np.eye(n)[0],
        observation_names=("mark", "question", "over"),
        action_names=tuple(map(str, range(modulo))),
    )  # fmt: skip


@pytest.mark.parametrize("modulo", [2, 3])
def test_no_stack_counts(modulo):
    found = kappa(counter(modulo), max_choices=500)
    assert (found.kappa, found.no_stack) == (None, True)
    assert "while 'mark' repeats" in found.stopped


def test_a_count_that_does_not_matter_needs_no_memory():
    found = kappa(counter(1))
    assert (found.kappa, found.no_stack) == (1, False)


def test_a_search_that_stops_says_where():
    found = kappa(xormaze(), max_k=2)
    assert (found.kappa, found.at_least) == (None, 3)
    assert found.stopped == "no k up to max_k=2 is enough"
    found = kappa(xormaze(), max_choices=1)
    assert found.kappa is None
    assert found.stopped == "k=1: undecided after 1 choices"
    found = kappa(xormaze(), max_beliefs=2)
    assert (found.kappa, found.at_least, found.optimum) == (None, 1, None)
    assert "more than 2 reachable beliefs" in found.stopped
    found = kappa(xormaze(), "none")
    assert found.at_least == 2
    assert "expects stack_size 1" in found.stopped


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="expected a memory rule"):
        kappa(xormaze(), "nonsense")
    with pytest.raises(ValueError, match="max_k must be at least 1, actual: 0"):
        kappa(xormaze(), max_k=0)
    with pytest.raises(ValueError, match="gamma must be"):
        kappa(xormaze(), gamma=-1.0)
