"""Perfect play returns exactly the optimum, play without memory exactly chance."""

from itertools import product

import numpy as np
import pytest

from adastack.tasks import (
    TASKS,
    active_tmaze,
    heaven_hell,
    key_order,
    make_task,
    memory_length,
    office,
    passive_tmaze,
    pomdp,
    repeat_first,
    xormaze,
)
from tasks import players

PERFECT = {
    "passive 2": (passive_tmaze(2), players.passive_player),
    "passive 16": (passive_tmaze(16), players.passive_player),
    "passive random": (passive_tmaze(7, random_length=True), players.passive_player),
    "active 2": (active_tmaze(2), players.active_player),
    "active 6": (active_tmaze(6), players.active_player),
    "active random": (active_tmaze(7, random_length=True), players.active_player),
    "xormaze": (xormaze(), players.xor_player),
    "heaven-hell": (heaven_hell(), players.heaven_hell_player),
    "memory length": (memory_length(5), players.memory_length_player),
    "memory length 3 bits": (memory_length(4, bits=3), players.memory_length_player),
    "office": (office(), players.office_player),
    "key-order": (key_order(), players.key_order_player),
    "tmaze file": (pomdp("tmaze"), players.tmaze_file_player),
}


@pytest.mark.parametrize("name", PERFECT)
def test_a_perfect_player_returns_exactly_one(name):
    task, player = PERFECT[name]
    assert players.expected_return(task, player) == 1.0
    # No task pays more than 1 in an attempt: what ends pays at most 1 and the rest pays nothing.
    assert task.reward[task.ends].max() == 1
    assert task.reward[~task.ends].max() == 0


@pytest.mark.parametrize("length", [1, 4, 16])
def test_a_perfect_player_repeats_the_first_card(length):
    value = players.expected_return(repeat_first(length), players.repeat_first_player)
    assert value == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    ("task", "player", "steps"),
    [
        (passive_tmaze(9), players.passive_player, 9),
        (active_tmaze(6), players.active_player, 7),
        (xormaze(), players.xor_player, 5),
        (heaven_hell(), players.heaven_hell_player, 11),
        (office(), players.office_player, 9),
        (key_order(), players.key_order_player, 10),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_perfect_play_takes_this_many_steps_and_none_fewer(task, player, steps):
    assert players.expected_return(task, player, horizon=steps) == 1.0
    assert players.expected_return(task, player, horizon=steps - 1) == 0.0


def test_the_time_of_the_active_maze_can_be_cut():
    assert active_tmaze(6).time_limit == 100
    assert active_tmaze(30).time_limit == 120
    cut = active_tmaze(6, time_limit=8)
    assert (cut.name, cut.time_limit) == ("active-tmaze:length=6,time_limit=8", 8)
    assert players.expected_return(cut, players.active_player) == 1.0
    assert players.expected_return(active_tmaze(6, time_limit=6), players.active_player) == 0.0


@pytest.mark.parametrize("random_length", [False, True])
def test_who_lags_behind_pays_for_every_step(random_length):
    """Against a player with a clock, on random walks."""
    length = 5
    plain = active_tmaze(length, random_length)
    task = active_tmaze(length, random_length, lag_penalty=True)
    assert players.expected_return(task, players.active_player) == 1.0
    rng = np.random.default_rng(0)
    for _ in range(300):
        start = int(rng.choice(plain.start_states))
        here = there = start  # The first states of both are the same.
        column = 1
        for clock in range(1, 20):
            action = int(rng.choice([0, 1, 1, 1, 2, 3]))
            at, now = (here, action, 0), (there, action, 0)
            assert plain.observation[here] == task.observation[there]
            after = int(plain.next_state[at])
            column += 0 if plain.ends[at] else after - here
            late = not plain.ends[at] and column < clock - 1
            assert task.reward[now] == pytest.approx(plain.reward[at] - late / length)
            assert task.ends[now] == plain.ends[at]
            if plain.ends[at]:
                break
            here, there = after, int(task.next_state[now])


@pytest.mark.parametrize(
    ("task", "player", "steps"),
    [
        (passive_tmaze(4, continual=True), players.passive_player, 4),
        (active_tmaze(3, continual=True), players.active_player, 4),
        (xormaze(continual=True), players.xor_player, 5),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_continual_tasks_pay_one_per_attempt_for_ever(task, player, steps):
    assert players.expected_return(task, player, horizon=20 * steps) == 20.0


@pytest.mark.parametrize(
    ("task", "player"),
    [
        (passive_tmaze(5), players.always_one),
        (passive_tmaze(5, random_length=True), players.always_one),
        (passive_tmaze(5, continual=True), players.always_one),
        (active_tmaze(5), players.active_guesser),
        (active_tmaze(5, continual=True), players.active_guesser),
        (xormaze(), lambda memory, seen: (players.UP, None)),
        (heaven_hell(), players.heaven_hell_guesser),
        (memory_length(5), players.always_one),
        (memory_length(3, bits=2), players.always_one),
        (pomdp("tmaze"), players.always_one),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_guess_is_worth_exactly_nothing(task, player):
    assert players.expected_return(task, player) == 0.0


@pytest.mark.parametrize(
    "task",
    [
        passive_tmaze(2),
        passive_tmaze(6),
        passive_tmaze(4, random_length=True),
        active_tmaze(2),
        active_tmaze(5),
        active_tmaze(4, random_length=True),
        xormaze(),
        heaven_hell(),
        memory_length(3),
        office(),
        key_order(),
        pomdp("tmaze"),
    ],
    ids=lambda task: task.name,
)
def test_no_player_without_memory_does_better_than_chance(task):
    assert players.best_memoryless(task) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize(("length", "suits"), [(1, 4), (6, 4), (5, 3), (4, 2)])
def test_without_memory_only_the_first_card_can_be_repeated(length, suits):
    task = repeat_first(length, suits)
    chance = (1 + (length - 1) * (2 / suits - 1)) / length
    best = max(
        players.expected_return(
            task,
            lambda memory, seen, policy=policy: (
                policy[task.observation_names.index(seen)],
                None,
            ),
        )
        for policy in product(range(suits), repeat=suits)
    )
    assert best == pytest.approx(chance, abs=1e-12)


def test_breaking_the_decoration_spoils_the_delivery():
    def clumsy(memory, seen):
        """The way that a player without a care would take: over the decoration."""
        has_coffee = memory == "coffee" or seen == "coffee"
        there = {"1,2": players.LEFT, "1,1": players.UP, "0,1": players.LEFT}
        action = players.RIGHT if has_coffee else there[seen]
        return action, "coffee" if has_coffee else None

    assert players.expected_return(office(), clumsy, horizon=7) == 0.0
    task = office()
    delivered_broken = task.ends & (task.reward == 0)
    assert delivered_broken.any()


def test_the_order_of_the_keys_matters():
    def wrong_way_round(memory, seen):
        """The perfect player in a mirror."""
        mirror = {"A key": "B key", "B key": "A key", "0,1": "0,3", "0,3": "0,1"}
        action, kept = players.key_order_player(memory, mirror.get(seen, seen))
        return {players.LEFT: players.RIGHT, players.RIGHT: players.LEFT}.get(action, action), kept

    assert players.expected_return(key_order(), wrong_way_round, horizon=100) == 0.0


def test_tiger_is_worth_what_it_is_known_to_be_worth():
    """Listen until one side was heard twice more than the other, then open that one's door."""

    def player(memory, seen):
        count = (memory or 0) + {"hear-left": -1, "hear-right": 1, "start": 0}[seen]
        if abs(count) < 2:
            return 0, count
        return (2 if count < 0 else 1), OPENED

    OPENED = "opened"

    def careful(memory, seen):
        """What is heard after opening a door says nothing: it is not counted."""
        return player(0, "start") if memory == OPENED else player(memory, seen)

    task = pomdp("tiger")
    value = players.expected_return(task, careful, horizon=300, discount=0.95)
    assert value == pytest.approx(19.3713, abs=1e-3)
    always_listen = players.expected_return(
        task, lambda memory, seen: (0, None), horizon=300, discount=0.95
    )
    assert always_listen == pytest.approx(-20, abs=1e-3)
    always_open = players.expected_return(
        task, lambda memory, seen: (1, None), horizon=300, discount=0.95
    )
    assert always_open == pytest.approx(-900, abs=1e-3)


def named(*words):
    return lambda held, seen: seen.startswith(words)


WITH_STACK = {
    "passive-tmaze": (players.passive_player, named("red", "green"), {}),
    "active-tmaze": (players.active_player, named("red", "green"), {}),
    "xormaze": (players.xor_player, named("red", "green"), {"recall": lambda held: held}),
    "heaven-hell": (
        players.heaven_hell_player,
        named("heaven"),
        {"recall": lambda held: held[-1].split()[1] if held else None},
    ),
    "repeat-first": (players.repeat_first_player, lambda held, seen: not held, {}),
    "memory-length": (
        players.memory_length_player,
        named("context"),
        {"recall": lambda held: held[-1].removeprefix("context ") if held else None},
    ),
    "office": (players.office_player, named("coffee"), {}),
    "key-order": (players.key_order_player, named("A key", "B key"), {}),
}


@pytest.mark.parametrize("name", WITH_STACK)
def test_kappa_slots_are_enough(name):
    player, keeps, recall = WITH_STACK[name]
    stacked = players.with_stack(player, TASKS[name].kappa, keeps, **recall)
    assert players.expected_return(make_task(name), stacked) == pytest.approx(1, abs=1e-12)


def test_every_kappa_is_shown():
    shown = {*WITH_STACK, "popgym-repeat-first"}  # in worlds/test_popgym_players.py
    assert shown == {name for name, entry in TASKS.items() if entry.kappa is not None}
