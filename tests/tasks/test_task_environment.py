import warnings
from dataclasses import replace
from itertools import pairwise

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from stable_baselines3.common.env_checker import check_env as check_sb3_env

from adastack.tasks import (
    TASKS,
    FiniteTaskEnv,
    FiniteTaskVectorEnv,
    active_tmaze,
    heaven_hell,
    key_order,
    memory_length,
    office,
    passive_tmaze,
    repeat_first,
    xormaze,
)
from spaces import equal
from tasks import players
from tasks.random_tasks import random_task

IDS = [entry.env_id for entry in TASKS.values() if entry.kind == "finite"]
CONTINUAL = [e.env_id for e in TASKS.values() if "continual" in e.options]
VARIANTS = [(env_id, {}) for env_id in IDS] + [
    (env_id, {"continual": True}) for env_id in CONTINUAL
]

PLAYERS = [
    (passive_tmaze(5), players.passive_player),
    (passive_tmaze(5, random_length=True), players.passive_player),
    (active_tmaze(5), players.active_player),
    (active_tmaze(5, random_length=True), players.active_player),
    (xormaze(), players.xor_player),
    (heaven_hell(), players.heaven_hell_player),
    (repeat_first(8), players.repeat_first_player),
    (memory_length(4, bits=2), players.memory_length_player),
    (office(), players.office_player),
    (key_order(), players.key_order_player),
]


def play(env, player, seed=None):
    """One episode: the return, the names of what was seen and the last info."""
    names = env.task.observation_names
    observation, info = env.reset(seed=seed)
    seen, memory, total, done = [names[observation]], None, 0.0, False
    while not done:
        action, memory = player(memory, names[observation])
        observation, reward, terminated, truncated, info = env.step(action)
        seen.append(names[observation])
        total += reward
        done = terminated or truncated
    return total, seen, info


@pytest.mark.parametrize(("env_id", "options"), VARIANTS, ids=str)
def test_the_checkers_have_nothing_to_say(env_id, options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gym.make(env_id, **options).unwrapped)
        check_sb3_env(gym.make(env_id, **options))
        check_sb3_env(gym.make(env_id, render_mode="rgb_array", **options), skip_render_check=False)


@pytest.mark.parametrize(("task", "player"), PLAYERS, ids=lambda value: getattr(value, "name", ""))
def test_a_perfect_player_wins_every_episode(task, player):
    env = FiniteTaskEnv(task)
    for seed in range(20):
        total, _, info = play(env, player, seed)
        assert total == pytest.approx(1)
        assert info["success"]
        assert info["attempt_over"]


def test_same_seed_same_episode():
    env = FiniteTaskEnv(repeat_first(30))
    episodes = [play(env, players.repeat_current_player, seed)[1] for seed in (1, 1, 2)]
    assert episodes[0] == episodes[1] != episodes[2]


@pytest.mark.parametrize(
    ("task", "cues"),
    [
        (passive_tmaze(6), ("red", "green")),
        (passive_tmaze(6, random_length=True), ("red", "green")),
        (memory_length(6, bits=2), [f"context {bits}" for bits in ("00", "01", "10", "11")]),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_passive_cue_is_seen_at_the_start_and_never_again(task, cues):
    env = FiniteTaskEnv(task)
    firsts = set()
    for seed in range(40):
        _, seen, _ = play(env, players.always_one, seed)
        firsts.add(seen[0])
        assert not set(seen[1:-1]) & set(cues)
    assert firsts == set(cues)


@pytest.mark.parametrize(
    "task",
    [active_tmaze(6), active_tmaze(5, random_length=True), xormaze(), heaven_hell()],
    ids=lambda task: task.name,
)
def test_an_active_cue_is_seen_in_its_cell_and_nowhere_else(task):
    over = (task.cue < 0).all(axis=1)
    for state in np.flatnonzero(~over):
        at = task.picture.agent[state]
        there = (task.picture.cue_cells[state] == at).all(axis=1)
        shows = task.cue[state] == task.observation[state]
        assert (task.observation[state] in task.cue[state]) == there.any()
        assert (shows >= there).all()
    for state in task.start_states:
        assert task.observation[state] not in task.cue[state]


def test_time_runs_out_in_the_environment():
    env = FiniteTaskEnv(active_tmaze(4))
    env.reset(seed=0)
    flags = [env.step(players.LEFT)[2:] for _ in range(100)]
    assert [truncated for _, truncated, _ in flags] == [False] * 99 + [True]
    assert not any(terminated for terminated, _, _ in flags)
    assert flags[-1][2]["attempt_over"]
    assert not flags[-1][2]["success"]
    with pytest.raises(ResetNeeded, match="call reset"):
        env.step(players.LEFT)


def test_an_end_at_the_last_moment_is_a_termination():
    env = FiniteTaskEnv(replace(key_order(), time_limit=2))
    env.reset(seed=0)
    env.step(players.DOWN)
    *_, terminated, truncated, info = env.step(players.DOWN)
    assert (terminated, truncated) == (True, False)
    assert info["attempt_over"]
    assert not info["success"]


def test_a_continual_task_goes_on_from_a_new_start():
    env = FiniteTaskEnv(passive_tmaze(3, continual=True))
    observation, info = env.reset(seed=5)
    cues, wins = [], 0
    for step in range(300):
        if step % 3 == 0:
            assert info["shown"] == observation == info["cue"][0]
            cues.append(observation)
        action = players.UP if cues[-1] == 2 else players.DOWN
        observation, reward, terminated, truncated, info = env.step(action)
        assert not terminated
        assert not truncated
        assert info["attempt_over"] == info["success"] == (step % 3 == 2) == (reward == 1)
        wins += info["success"]
    assert wins == 100
    assert 30 < cues.count(2) < 70


@pytest.mark.parametrize("action", [4, -1, 1.0, "up", None, np.array([1])])
def test_an_unknown_action_changes_nothing(action):
    env = FiniteTaskEnv(active_tmaze(4))
    env.reset(seed=0)
    state = env.state
    with pytest.raises(ValueError, match=r"expected an action in 0\.\.3, actual"):
        env.step(action)
    assert env.state == state


def test_nothing_before_the_first_reset():
    env = FiniteTaskEnv(active_tmaze(4), render_mode="ansi")
    for call in (lambda: env.step(0), env.render):
        with pytest.raises(ResetNeeded, match="reset"):
            call()
    envs = FiniteTaskVectorEnv(active_tmaze(4), 2, render_mode="ansi")
    for call in (lambda: envs.step([0, 0]), envs.render):
        with pytest.raises(ResetNeeded, match="reset"):
            call()
    with pytest.raises(ResetNeeded, match="reset all"):
        envs.reset(options={"reset_mask": np.array([True, False])})


def test_chance_follows_the_probabilities():
    task = random_task(3)
    env = FiniteTaskEnv(replace(task, ends=np.zeros_like(task.ends)))
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    counts = np.zeros(task.next_state.shape)
    for _ in range(30_000):
        state, action = env.state, rng.integers(task.n_actions)
        _, reward, *_ = env.step(action)
        outcome = np.flatnonzero(task.reward[state, action] == reward).item()
        assert env.state == task.next_state[state, action, outcome]
        counts[state, action, outcome] += 1
    visits = counts.sum(axis=2, keepdims=True)
    assert (counts[task.probability == 0] == 0).all()
    sigma = np.sqrt(task.probability * (1 - task.probability) / np.maximum(visits, 1))
    assert (np.abs(counts / np.maximum(visits, 1) - task.probability) <= 4.5 * sigma).all()


def one_start(task, **fields):
    """The task with its first start only, so that nothing in it is left to chance."""
    start = np.zeros(task.n_states)
    start[task.start_states[0]] = 1
    return replace(task, start=start, **fields)


CERTAIN = {
    "passive": one_start(passive_tmaze(3)),
    "active": one_start(active_tmaze(2), time_limit=7),
    "active continual": one_start(active_tmaze(2, continual=True)),
    "xormaze": one_start(xormaze(), time_limit=4),
    "key-order": replace(key_order(), time_limit=5),
    "office": replace(office(), time_limit=9),
}


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("name", CERTAIN)
def test_the_vector_environment_does_what_many_single_ones_do(name, mode):
    task, n = CERTAIN[name], 5
    many = SyncVectorEnv([lambda: FiniteTaskEnv(task)] * n, autoreset_mode=mode)
    envs = FiniteTaskVectorEnv(task, n, mode)
    assert envs.observation_space == many.observation_space
    assert envs.action_space == many.action_space
    assert equal(envs.reset(seed=0), many.reset(seed=0))
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(120):
        actions = rng.integers(task.n_actions, size=n)
        actual, expected = envs.step(actions), many.step(actions)
        assert equal(actual, expected)
        assert actual[4].get("final_info", {}).keys() == expected[4].get("final_info", {}).keys()
        over = actual[2] | actual[3]
        ended += over.sum()
        if mode is AutoresetMode.DISABLED and over.any():
            mask = over.copy()
            actual = envs.reset(options={"reset_mask": mask})
            assert equal(actual, many.reset(options={"reset_mask": mask}))
    assert ended > 5 or task.continual


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("continual", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_every_vector_step_is_one_the_task_allows(seed, continual, mode):
    task = random_task(seed, continual=continual, time_limit=None if continual else 6)
    n, rng = 64, np.random.default_rng(seed)
    envs = FiniteTaskVectorEnv(task, n, mode)
    envs.reset(seed=seed)
    fresh = np.zeros(n, bool)
    for _ in range(50):
        before, actions = envs.state.copy(), rng.integers(task.n_actions, size=n)
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        assert (observations == task.observation[envs.state]).all()
        assert (infos["cue"] == task.cue[envs.state]).all()
        over = terminated | truncated
        for i in range(n):
            if fresh[i] and mode is AutoresetMode.NEXT_STEP:
                assert rewards[i] == 0
                assert task.start[envs.state[i]] > 0
                continue
            outcome = np.flatnonzero(task.reward[before[i], actions[i]] == rewards[i]).item()
            at = (before[i], actions[i], outcome)
            assert task.probability[at] > 0
            assert terminated[i] == (task.ends[at] and not continual)
            restarts = (task.ends[at] and continual) or (
                over[i] and mode is AutoresetMode.SAME_STEP
            )
            if restarts:
                assert task.start[envs.state[i]] > 0
            else:
                assert envs.state[i] == task.next_state[at]
        fresh = over
        if mode is AutoresetMode.DISABLED and over.any():
            kept = envs.state.copy()
            envs.reset(options={"reset_mask": over})
            assert (envs.state[~over] == kept[~over]).all()
            assert (task.start[envs.state[over]] > 0).all()


def test_vector_chance_follows_the_probabilities():
    task = random_task(3, n_observations=6, observation=np.arange(6))
    n = 200_000
    envs = FiniteTaskVectorEnv(replace(task, ends=np.zeros_like(task.ends)), n)
    observations, _ = envs.reset(seed=1)
    sigma = np.sqrt(task.start * (1 - task.start) / n)
    assert (np.abs(np.bincount(observations, minlength=6) / n - task.start) <= 4.5 * sigma).all()
    for state in range(task.n_states):
        envs.state[:] = state
        rewards = envs.step(np.ones(n, int))[1]
        for outcome in range(task.n_outcomes):
            p = task.probability[state, 1, outcome]
            share = (rewards == task.reward[state, 1, outcome]).mean()
            assert abs(share - p) <= 4.5 * np.sqrt(p * (1 - p) / n)


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_same_seed_same_steps(mode):
    def run(seed):
        envs = FiniteTaskVectorEnv(passive_tmaze(4, continual=True), 16, mode)
        seen = [envs.reset(seed=seed)[0]]
        seen += [envs.step(np.zeros(16, int))[0] for _ in range(40)]
        return np.array(seen)

    assert (run(3) == run(3)).all()
    assert (run(3) != run(4)).any()


def test_what_is_returned_is_not_used_again():
    envs = FiniteTaskVectorEnv(xormaze(), 8, "SameStep")
    rng = np.random.default_rng(0)
    returned = [envs.reset(seed=0)] + [envs.step(rng.integers(4, size=8)) for _ in range(30)]
    arrays = [
        array
        for result in returned
        for part in result
        for array in (part.values() if isinstance(part, dict) else [part])
        if isinstance(array, np.ndarray)
    ]
    spans = sorted(
        (array.__array_interface__["data"][0], array.nbytes) for array in arrays if array.nbytes
    )
    assert all(a + size <= b for (a, size), (b, _) in pairwise(spans))


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([0, 1, 4], r"expected actions in 0\.\.3, actual: 4 in environment 2"),
        ([0, -1, 2], r"expected actions in 0\.\.3, actual: -1 in environment 1"),
        ([0, 1], "expected 3 integers as actions, actual: shape"),
        ([0.0, 1.0, 2.0], "expected 3 integers as actions, actual: shape .*float64"),
    ],
)
def test_unknown_vector_actions_change_nothing(actions, message):
    envs = FiniteTaskVectorEnv(active_tmaze(4), 3)
    envs.reset(seed=0)
    state = envs.state.copy()
    with pytest.raises(ValueError, match=message):
        envs.step(actions)
    assert (envs.state == state).all()
    envs.step(np.array([0, 1, 2], np.uint8))


@pytest.mark.parametrize(
    ("mask", "error", "message"),
    [
        ([True, False], TypeError, "reset_mask must be a numpy array of bools, actual: list"),
        (np.array([1, 0]), TypeError, "actual: int64"),
        (np.array([True]), ValueError, r"shape \(2,\) and at least one True, actual: shape \(1,\)"),
        (np.array([False, False]), ValueError, "0 True"),
    ],
)
def test_a_wrong_reset_mask_changes_nothing(mask, error, message):
    envs = FiniteTaskVectorEnv(passive_tmaze(4), 2)
    envs.reset(seed=0)
    state, generator = envs.state.copy(), envs.np_random
    with pytest.raises(error, match=message):
        envs.reset(seed=1, options={"reset_mask": mask})
    assert (envs.state == state).all()
    assert envs.np_random is generator


def test_the_caller_keeps_its_options():
    envs = FiniteTaskVectorEnv(passive_tmaze(4), 2)
    envs.reset(seed=0)
    options = {"reset_mask": np.array([True, False])}
    envs.reset(options=options)
    assert list(options) == ["reset_mask"]


def test_a_disabled_environment_says_who_must_be_reset():
    envs = FiniteTaskVectorEnv(passive_tmaze(2), 3, AutoresetMode.DISABLED)
    envs.reset(seed=0)
    envs.step([0, 0, 0])
    envs.step([0, 0, 0])
    with pytest.raises(ResetNeeded, match=r"environment 0 is over.*reset_mask"):
        envs.step([0, 0, 0])
    envs.reset(options={"reset_mask": np.array([True, False, True])})
    with pytest.raises(ResetNeeded, match="environment 1 is over"):
        envs.step([0, 0, 0])
    envs.reset(options={"reset_mask": np.array([False, True, False])})
    envs.step([0, 0, 0])


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"num_envs": 0}, "num_envs must be at least 1, actual: 0"),
        (
            {"autoreset_mode": "Later"},
            "expected an autoreset_mode of .*SameStep.*, actual: 'Later'",
        ),
        ({"render_mode": "human"}, "expected a render_mode of .*ansi.*, actual: 'human'"),
    ],
)
def test_wrong_settings_of_the_vector_environment(kwargs, message):
    with pytest.raises(ValueError, match=message):
        FiniteTaskVectorEnv(passive_tmaze(4), **kwargs)


def test_a_vector_of_pictures():
    envs = gym.make_vec("adastack/XorMaze-v0", num_envs=2, render_mode="rgb_array")
    envs.reset(seed=0)
    first, second = envs.render()
    assert first.shape == second.shape
    assert first.dtype == np.uint8
