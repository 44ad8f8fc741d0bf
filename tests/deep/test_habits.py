"""Some environments keep what is rare, and their memory actions are not learned from."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete, MultiBinary
from hypothesis import given, settings
from hypothesis import strategies as st

from adastack.deep.agent import StackAgent
from adastack.deep.clock import CLOCK
from adastack.deep.functional import FunctionalTrainer
from adastack.deep.habits import (
    LEAST_CHANCE,
    MARGIN,
    copies,
    evicting_the_ordinary,
    surprisal_of_numbers,
    surprisal_of_symbols,
    with_habit,
)
from adastack.deep.normalise import no_stats, updated_stats
from adastack.deep.settings import settings_for
from adastack.deep.update import critic_weight
from adastack.memory import get_rule
from adastack.tasks import resolve

ENVS, STEPS = 8, 24


def stats_of(rows, counts=None):
    rows = jnp.asarray(rows, jnp.float32)
    counts = jnp.ones_like(rows, bool) if counts is None else counts
    return updated_stats(no_stats(rows.shape[1:]), rows, counts)


def test_a_symbol_is_as_surprising_as_it_is_rare():
    seen = stats_of(np.eye(3)[[0] * 6 + [1] * 2])
    shown = jnp.eye(4)[jnp.array([[0, 1], [2, 3]])][..., :3]  # 3 stands for an empty slot
    expected = [[np.log(8 / 6), np.log(8 / 2)], [-np.log(LEAST_CHANCE), 0]]
    np.testing.assert_allclose(surprisal_of_symbols(seen, shown), expected, rtol=1e-6)


def test_a_number_that_is_seldom_there_is_surprising():
    rows = np.array([[1.0, 0], [-1, 0], [1, 0], [-1, 5]], np.float32)
    seen = stats_of(rows, jnp.asarray(rows != 0))
    found = surprisal_of_numbers(seen, jnp.asarray(rows), jnp.float32(4))
    often, seldom = 0.5 - np.log(3 / 4), 0.5 + np.log(4)
    np.testing.assert_allclose(found, [often, often, often, seldom], atol=1e-4)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.floats(0, 10, width=32), min_size=3, max_size=3),
    st.sampled_from(["adaptive", "push_skip", "frame"]),
)
def test_the_least_rare_goes_of_what_the_rule_may_evict(surprisal, rule):
    slots = get_rule(rule).table(3)[:, 3]
    action = int(evicting_the_ordinary(jnp.asarray([surprisal]), jnp.asarray([slots]))[0])
    worth = np.asarray(surprisal, np.float32) - np.float32([0, 0, MARGIN])
    assert worth[slots[action]] == worth[slots].min()


def test_the_first_stays_among_equals():
    equals = jnp.asarray([[2.0, 2.0, 2.0], [2.0, 2.0, 2.4]])
    evicts = jnp.asarray([[0, 1, 2]] * 2)
    assert evicting_the_ordinary(equals, evicts).tolist() == [2, 2]


def test_empty_slots_are_evicted_first():
    """Zeros would be rare among numbers that never are, but an empty slot is nothing to keep."""
    chosen = settings_for("default", "ppo", {"hidden": 16})
    agent = StackAgent(Box(-1, 1, (1,)), Discrete(2), "adaptive", 3, chosen)
    params, _ = agent.init(0)
    seen = stats_of(np.linspace(0.5, 1, 100)[:, None])
    params["seen"] |= {"0": seen, CLOCK: stats_of(np.arange(100.0))}
    stacks = [np.tile(np.float32([[0], [0.5], [0.9]]), (4, 1, 1))]
    joined = agent.explorer._by_habit(params, stacks, jnp.ones((4, 2)), jnp.full(4, 2))
    assert joined[:, -1].tolist() == [1, 0, 1, 1]


def test_nothing_is_kept_twice():
    """A sign that lasts for two steps leaves room for the next one."""
    slots = jnp.asarray([[[5], [5], [1]], [[5], [1], [5]], [[5], [6], [1]]])
    assert copies(slots).tolist() == [[False, True, False], [False, False, True], [False] * 3]
    chosen = settings_for("default", "ppo", {"hidden": 16})
    agent = StackAgent(Discrete(8), Discrete(2), "adaptive", 3, chosen)
    params, _ = agent.init(0)
    often = np.eye(9)[[0, 1, 2, 3] * 5 + [5, 6]]
    params["seen"] |= {"0": stats_of(often), CLOCK: stats_of(np.arange(22.0))}
    stack = [0, 1, 2]
    for symbol in (5, 5, 3, 6, 6, 3, 0, 1):
        shown = [jnp.tile(jnp.asarray(stack), (2, 1))]
        slot = int(agent.explorer._by_habit(params, shown, jnp.zeros((2, 2)), None)[1, -1])
        stack = [*stack[:slot], *stack[slot + 1 :], symbol]
    assert stack == [5, 6, 1]


def test_where_nothing_is_known_of_rarity_there_is_no_habit():
    chosen = settings_for("default", "ppo", {"hidden": 16})
    for space, known in ((MultiBinary(3), False), (Discrete(3), True), (Box(0, 1, (2,)), True)):
        assert StackAgent(space, Discrete(2), "adaptive", 2, chosen).explorer.keeps_rare == known


@cache
def trainer(memory="adaptive"):
    size = {"n_envs": ENVS, "n_steps": STEPS, "batch_size": 48, "n_epochs": 1, "hidden": 16}
    chosen = settings_for("default", "ppo", size | {"critic_worth": False})
    return FunctionalTrainer(resolve("popgym-repeat-first").functional(), memory, 2, chosen)


def rolled_out(memory="adaptive"):
    made = trainer(memory)
    learner = made.start(0)
    _, rollout, _ = jax.jit(made.rollout)(learner.params, learner.env, 0, 0)
    return learner, rollout


def test_habits_hold_the_first_of_equals_and_others_do_not():
    """Before anything has been seen, all suits are equally rare."""
    _, rollout = rolled_out()
    evicts_newest = np.asarray(rollout.action[..., -1] == 1)
    habit = np.asarray(with_habit(ENVS))
    # The first step fills the stack whatever the memory action is.
    assert evicts_newest[1:, habit].all()
    assert 0.2 < evicts_newest[1:, ~habit].mean() < 0.8


def test_only_the_memory_action_of_a_habit_is_not_learned():
    """The gradient does not depend on what habits evicted, but on what they did and earned."""
    made, (learner, rollout) = trainer(), rolled_out()
    habit = np.asarray(with_habit(ENVS))

    def moved(change):
        changed = jax.tree.map(jnp.asarray, change(jax.tree.map(np.array, rollout)))
        after, *_ = made.learned(learner.params, learner.moments, changed, 0, 0, np.float32(0))
        policy = after["params"]["policy"]["kernel"]
        return np.asarray(policy - learner.params["params"]["policy"]["kernel"])

    def flipped(column, envs):
        def change(rollout):
            rollout.action[:, envs, column] = 1 - np.minimum(rollout.action[:, envs, column], 1)
            return rollout

        return change

    as_it_is = moved(lambda rollout: rollout)
    memory_head = slice(-2, None)
    np.testing.assert_allclose(
        moved(flipped(-1, habit))[:, memory_head], as_it_is[:, memory_head], atol=1e-6
    )
    assert abs(moved(flipped(-1, ~habit))[:, memory_head] - as_it_is[:, memory_head]).max() > 1e-4
    assert abs(moved(flipped(0, habit))[:, :-2] - as_it_is[:, :-2]).max() > 1e-4


def test_the_critic_learns_from_habits():
    """What is paid in an environment with a habit moves it."""
    made, (learner, rollout) = trainer(), rolled_out()
    habit = np.asarray(with_habit(ENVS))

    def critic_after(envs):
        paid = np.array(rollout.reward)
        paid[:, envs] *= -1
        decided = rollout.decided._replace(paid=jnp.asarray(paid))
        changed = rollout._replace(reward=jnp.asarray(paid), decided=decided)
        after, *_ = made.learned(learner.params, learner.moments, changed, 0, 0, np.float32(0))
        return np.asarray(after["params"]["critic_body"]["Dense_0"]["kernel"])

    assert abs(critic_after(habit) - critic_after(np.zeros(ENVS, bool))).max() > 1e-5


def test_rows_count_for_the_critic_as_for_what_is_learned_there():
    weight = jnp.asarray([[1.0, 0.5], [2.0, 0.0], [0.0, 0.0]])
    assert critic_weight(weight).tolist() == [0.5, 2.0, 0.0]


@pytest.mark.parametrize(
    "off",
    [
        {"cell": "gru"},
        {"shared": True},
        {"action_form": "flat"},
        {"critic_clock": False},
        {"count_once": False},
        {"n_envs": 2, "batch_size": 200},
        {"keep_rare": False},
    ],
)
def test_who_has_no_habit(off):
    assert not settings_for("default", "ppo", off).keeps_rare
    assert settings_for("default", "ppo", {}).keeps_rare
