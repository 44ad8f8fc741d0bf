"""Exact jobs say what the theory says."""

import json

import numpy as np
import pytest

from adastack.lab.execute import kind_of
from adastack.lab.experiments import consistency
from adastack.lab.job import Job
from adastack.progress import Silent
from adastack.theory.benchmarks import autoencode, memory_cards, minigrid_memory, numpad
from adastack.theory.cost import Shape, cost


def computed(kind, **settings):
    result = kind_of(kind)(settings, None, Silent())
    return json.loads(json.dumps(result, allow_nan=False))


def test_kappa():
    found = computed("kappa", task="passive-tmaze:length=5")
    assert (found["kappa"], found["stopped"]) == (2, None)
    # With one slot the turn is a guess, whether it pays 1 or nothing.
    assert found["best_below"]["1"]["value"] < found["optimum"]
    assert computed("kappa", task="passive-tmaze:length=5", memory="frame")["kappa"] == 5


def test_gap_over_lengths():
    rows = computed("gap", task="passive-tmaze", lengths=[4, 5, 9], gamma=0.5)["rows"]
    assert [row["length"] for row in rows] == [4, 5, 9]
    # V* when the corridor is first met is gamma^(L-2): the reward comes L - 2 steps later.
    assert [row["optimal"] for row in rows] == pytest.approx([0.25, 0.125, 0.5**7])
    assert rows[0]["gap"] == pytest.approx(abs(rows[0]["optimal"] - rows[0]["agent"]))


def test_consistency_of_the_table_and_of_others():
    row = computed("consistency", task="xormaze")
    assert (row["kappa"], row["paper_kappa"]) == (3, "3")
    assert isinstance(row["discounted"], bool)
    other = computed("consistency", task="passive-tmaze:length=6", gamma=0.9)
    assert other["consistent"] is False
    assert other["spread"] > 0


def test_states():
    rows = computed("states", task="passive-tmaze:length=16", sizes=[2])["rows"]
    assert {row["rule"]: row["reachable"] for row in rows}["adaptive"] == 10


@pytest.mark.slow
def test_compiled_networks_cost_what_the_formulas_say():
    small = {"hidden": 32, "layers": 2, "batch": 8}
    found = computed("cost", sizes=[4], shape=small)
    assert len(found["rows"]) == 6
    for row in found["rows"]:
        formula = cost(row["net"], row["memory"], row["k"], Shape(**small))
        assert row["action_flops"] == formula.action_flops
        measured = row["measured"]
        assert measured["action_flops"] == pytest.approx(formula.action_flops, rel=0.2)
        assert measured["update_flops"] == pytest.approx(formula.update_flops, rel=0.25)
        assert measured["update_seconds"] > 0
        assert measured["update_bytes"] > measured["action_bytes"] > 0


def test_exact_jobs_make_no_steps():
    assert Job("gap", {"task": "passive-tmaze"}).steps == 0


def test_theorem_2_is_refuted_by_example_and_true_of_one_memory():
    found = computed("theorem2", tasks=2, gamma=0.9)
    example = found["example"]
    assert example["consistent"]
    assert example["premise"]
    assert not example["conclusion"]
    assert example["history"] == ["start", "left"]
    # Kept and answered 0: paid 1 one step later. Forgotten and answered 1: 0.9.
    assert example["values"] == pytest.approx([0.9 * 1.0, 0.9 * 0.9])
    assert found["same"]["conclusions"] == found["same"]["premises"] > 20


def test_td_ends_on_either_side():
    found = computed("td-sides", tasks=6, gamma=0.9)
    assert found["lower"] > 0
    assert found["higher"] > 0
    assert found["lower"] + found["higher"] <= 6 * 4


@pytest.mark.parametrize("cards", [1, 2, 3])
def test_autoencode_needs_a_slot_for_each_card_and_one_more(cards):
    found = computed("smallest", benchmark="autoencode", cards=cards)
    assert (found["kappa"], found["frames"]) == (cards + 1, 2 * cards)


def test_autoencode_pays_for_the_cards_in_reverse():
    """A player with the whole hand in mind earns 1; one that forgot the order earns less."""
    task = autoencode(3, suits=2)
    assert task.n_states == 2**3 * 6
    totals = []
    for state in task.start_states:
        hand, place, total = [], int(state), 0.0
        for step in range(6):
            seen = int(task.observation[place])
            hand += [seen] if step < 3 else []
            assert (seen == 2) == (step >= 3)
            action = hand[5 - step] if step >= 3 else 0
            total += float(task.reward[place, action, 0])
            assert bool(task.ends[place, action, 0]) == (step == 5)
            place = int(task.next_state[place, action, 0])
        totals.append(total)
    assert totals == pytest.approx([1.0] * 8)


@pytest.mark.parametrize(("pads", "length", "needed"), [(2, 2, 1), (3, 3, 2), (4, 2, 2)])
def test_a_numpad_needs_fewer_slots_than_pads(pads, length, needed):
    found = computed("smallest", benchmark="numpad", pads=pads, length=length)
    assert (found["kappa"], found["frames"]) == (needed, needed)


def test_pressing_the_hidden_order_pays_and_a_wrong_pad_puts_out_the_lights():
    task = numpad(3)
    names = task.observation_names
    for start in task.start_states:
        states, order = [int(start)], []
        for _ in range(3):
            (right,) = (
                pad
                for pad in range(3)
                if names[task.observation[task.next_state[states[-1], pad, 0]]].endswith("lit")
            )
            order.append(right)
            states.append(int(task.next_state[states[-1], right, 0]))
        assert sorted(order) == [0, 1, 2]
        assert [task.reward[s, a, 0] for s, a in zip(states, order, strict=False)] == [0, 0, 1]
        # One right, one wrong: the first pad of the order lights up again.
        wrong = int(task.next_state[states[1], order[0], 0])
        assert names[task.observation[task.next_state[wrong, order[0], 0]]].endswith("lit")


def test_memory_cards_pay_for_pairs():
    """A player who sees all cards ends with one reward for each pair."""
    task = memory_cards(2)
    state, total = int(task.start_states[0]), 0.0
    for left in (4, 2):
        pays = np.flatnonzero(task.reward[state, :, 0])
        assert len(pays) == 1
        assert (task.probability[state, pays[0]] > 0).sum() == (left - 2 or 1)
        total += float(task.reward[state, pays[0], 0])
        assert bool(task.ends[state, pays[0], 0]) == (left == 2)
        state = int(task.next_state[state, pays[0], 0])
    assert total == 2


@pytest.mark.slow
def test_two_slots_are_enough_in_a_small_minigrid():
    found = computed("smallest", benchmark="minigrid-memory", size=7)
    assert (found["states"], found["kappa"], found["frames"]) == (192, 2, 5)
    assert set(minigrid_memory(7).action_names) == {"left", "right", "forward"}


@pytest.mark.slow
def test_memory_cards_are_bounded_from_below():
    """Whether three slots are enough is not decided; that two are not is proved."""
    found = computed("smallest", benchmark="memory-cards", pairs=2)
    assert found["kappa"] is None
    assert found["kappa_at_least"] == 3
    assert consistency._small_row(found)[2] == "at least 3"


@pytest.mark.parametrize(("bound", "verdict"), [(2, "empty"), (3, "refuted")])
def test_a_search_that_stopped_shows_no_more_than_its_bound(bound, verdict):
    class Stopped:
        def exact(self, kind, **where):
            return [{**where, "kappa": None, "kappa_at_least": bound}]

    small = {"benchmark": "minigrid-memory", "size": 13}
    assert consistency._small(small, "kappa", 2)(Stopped()).status == verdict
