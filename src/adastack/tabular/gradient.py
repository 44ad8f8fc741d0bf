"""Softmax policy gradients on M_k, compiled: episodic REINFORCE and its average-reward version.

The policy of an agent state is the softmax of its row of parameters: softmax-linear with one
feature per pair of agent state and joint action. Steps are kept until a *segment* ends (an episode,
a block of steps, or a cycle between two visits to one pair of M_k) and then credited with what
followed. After a batch of segments the parameters take a step and are projected onto a ball.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adastack.process.compiled import compiled, inlined
from adastack.process.draws import uniform
from adastack.process.events import PACKED, REWARD, add_events, add_to_attempt
from adastack.tabular.moves import (
    AGENT,
    BATCH_STEPS,
    CLOCK,
    LENGTH,
    ORIGIN_AGENT,
    ORIGIN_STATE,
    SEGMENTS,
    STATE,
    UPDATES,
    next_block,
    start,
    take_step,
)

EPISODE, STEPS, CYCLE = range(3)
"""What a segment is."""
FORGET = 0.01
"""How fast the running average reward forgets old segments."""


class KernelSettings(NamedTuple):
    """The settings as the kernel reads them."""

    segment: int
    steps: int
    blocks_per_row: int
    width: int
    random_memory: bool
    gamma: float
    step_size: float
    step_size_end: float
    entropy: float
    entropy_end: float
    anneal: float
    radius: float
    baseline_rate: float
    batch: int
    horizon: int
    block: int
    block_end: int


class Policy(NamedTuple):
    """Where a policy gradient stands."""

    theta: NDArray[np.float64]
    """(pairs,): the parameters."""
    word: NDArray[np.uint64]
    """(1,): the random generator."""
    place: NDArray[np.int64]
    """Counters; see `moves`."""
    chance: NDArray[np.float64]
    """(pairs,): the policy, row by row as it was last needed."""
    entropy: NDArray[np.float64]
    """(agent states,): its entropy."""
    fresh: NDArray[np.int64]
    """(agent states,): one more than the updates after which the row was computed."""
    gradient: NDArray[np.float64]
    """(pairs,): the estimate for the next update so far."""
    baseline: NDArray[np.float64]
    """(agent states,): what returns are compared with."""
    average: NDArray[np.float64]
    """(2,): rewards and steps of past segments, old ones forgotten."""
    agents: NDArray[np.int64]
    """(horizon,): the agent states of the segment."""
    actions: NDArray[np.int64]
    """(horizon,): the joint actions of the segment."""
    rewards: NDArray[np.float64]
    """(horizon,): the rewards of the segment."""


class Schedule(NamedTuple):
    """What is constant during a block of steps."""

    step_size: float
    entropy: float
    length: int


@compiled
def advance(tables, how, run, record, blocks):  # type: ignore[no-untyped-def]
    """Runs one seed for a number of blocks."""
    for _ in range(blocks):
        row, steps, done = next_block(how, run.place)
        schedule = Schedule(
            how.step_size + (how.step_size_end - how.step_size) * done,
            how.entropy + (how.entropy_end - how.entropy) * done,
            np.int64(how.block + (how.block_end - how.block) * done),
        )
        _block(tables, how, run, schedule, steps, record, row)


@inlined
def _block(tables, how, run, schedule, steps, record, row):  # type: ignore[no-untyped-def]
    place, paid = run.place, record.paid[row]
    state, agent, clock = place[STATE], place[AGENT], place[CLOCK]
    counted = np.int64(0)
    for _ in range(steps):
        if agent < 0:
            state = start(tables, run.word)
            agent, clock = np.int64(tables.first[tables.observation[state]]), 0
        if place[LENGTH] == 0:
            place[ORIGIN_STATE], place[ORIGIN_AGENT] = state, agent
        action = _sample(how, run, agent)
        clock += 1
        _, reward, over, flags, after, following = take_step(
            tables, how.random_memory, state, agent, action, clock, run.word
        )
        counted += PACKED[flags]
        paid[REWARD] += reward
        add_to_attempt(record.attempt, paid, reward, how.gamma, over)
        _keep(run, agent, action, reward)
        state, agent = after, following
        if over and not tables.continual:
            agent = np.int64(-1)
        if _segment_over(how, run, schedule, state, agent):
            _credit(how, run, schedule.entropy)
            if place[SEGMENTS] == how.batch:
                _update(how, run, schedule.step_size)
    add_events(record.counts[row], counted)
    place[STATE], place[AGENT], place[CLOCK] = state, agent, clock


@inlined
def _sample(how, run, agent):  # type: ignore[no-untyped-def]
    """An action from the policy; its row is computed when it is first needed after an update."""
    row = agent * how.width
    if run.fresh[agent] != run.place[UPDATES] + 1:
        run.fresh[agent] = run.place[UPDATES] + 1
        _soften(how, run, agent)
    u, action = uniform(run.word), 0
    bound = run.chance[row]
    while u >= bound and action < how.width - 1:
        action += 1
        bound += run.chance[row + action]
    return action


@inlined
def _soften(how, run, agent):  # type: ignore[no-untyped-def]
    """The softmax of a row, and its entropy."""
    first = agent * how.width
    top, total, entropy = run.theta[first], 0.0, 0.0
    for pair in range(first, first + how.width):
        top = max(top, run.theta[pair])
    for pair in range(first, first + how.width):
        run.chance[pair] = np.exp(run.theta[pair] - top)
        total += run.chance[pair]
    for pair in range(first, first + how.width):
        run.chance[pair] /= total
        entropy -= run.chance[pair] * (run.theta[pair] - top - np.log(total))
    run.entropy[agent] = entropy


@inlined
def _keep(run, agent, action, reward):  # type: ignore[no-untyped-def]
    step = run.place[LENGTH]
    run.agents[step], run.actions[step], run.rewards[step] = agent, action, reward
    run.place[LENGTH] = step + 1


@inlined
def _segment_over(how, run, schedule, state, agent):  # type: ignore[no-untyped-def]
    length = run.place[LENGTH]
    if how.segment == EPISODE:
        return agent < 0
    if how.segment == STEPS:
        return length >= schedule.length
    returned = state == run.place[ORIGIN_STATE] and agent == run.place[ORIGIN_AGENT]
    return returned or length == how.horizon


@inlined
def _credit(how, run, beta):  # type: ignore[no-untyped-def]
    """Adds a segment's estimate of the gradient of reward plus ``beta`` times entropy."""
    place, length = run.place, run.place[LENGTH]
    mean = _mean_reward(how, run, beta)
    gamma = how.gamma if how.segment == EPISODE else 1.0
    ahead = 0.0
    for step in range(length - 1, -1, -1):
        agent, action = run.agents[step], run.actions[step]
        entropy = run.entropy[agent]
        # An episode's return is discounted from its first step, so later steps weigh less.
        weight = gamma**step
        gain = run.rewards[step] - mean + gamma * ahead
        ahead = gain + beta * entropy
        row = agent * how.width
        for pair in range(row, row + how.width):
            chance = run.chance[pair]
            slope = ((pair - row == action) - chance) * (gain - run.baseline[agent])
            if chance > 0.0:
                slope -= beta * chance * (np.log(chance) + entropy)
            run.gradient[pair] += weight * slope
        run.rewards[step] = gain
    for step in range(length):
        agent = run.agents[step]
        run.baseline[agent] += how.baseline_rate * (run.rewards[step] - run.baseline[agent])
    place[SEGMENTS] += 1
    place[BATCH_STEPS] += length
    place[LENGTH] = 0


@inlined
def _mean_reward(how, run, beta):  # type: ignore[no-untyped-def]
    """What a step of the segment is worth on average; nothing in episodes: they are not centred."""
    if how.segment == EPISODE:
        return 0.0
    length, total = run.place[LENGTH], 0.0
    for step in range(length):
        total += run.rewards[step] + beta * run.entropy[run.agents[step]]
    mean = total / length
    # The average of earlier segments: a segment's own would take back half of what it credits.
    if run.average[1] > 0.0:
        mean = run.average[0] / run.average[1]
    run.average[0] = (1.0 - FORGET) * run.average[0] + total
    run.average[1] = (1.0 - FORGET) * run.average[1] + length
    return mean


@inlined
def _update(how, run, step_size):  # type: ignore[no-untyped-def]
    """A step along the gradient, and the projection onto the ball."""
    place = run.place
    share = place[SEGMENTS] if how.segment == EPISODE else place[BATCH_STEPS]
    norm = 0.0
    for pair in range(len(run.theta)):
        run.theta[pair] += step_size * run.gradient[pair] / share
        run.gradient[pair] = 0.0
        norm += run.theta[pair] * run.theta[pair]
    norm = np.sqrt(norm)
    if norm > how.radius:
        for pair in range(len(run.theta)):
            run.theta[pair] *= how.radius / norm
    place[SEGMENTS] = 0
    place[BATCH_STEPS] = 0
    place[UPDATES] += 1


def new_policy(how: KernelSettings, seeds: int, agents: int) -> dict[str, Any]:
    """The first arrays of the learners, but for their parameters, generators and places."""
    pairs = agents * how.width
    return {
        "chance": np.zeros((seeds, pairs)),
        "entropy": np.zeros((seeds, agents)),
        "fresh": np.zeros((seeds, agents), np.int64),
        "gradient": np.zeros((seeds, pairs)),
        "baseline": np.zeros((seeds, agents)),
        "average": np.zeros((seeds, 2)),
        "agents": np.zeros((seeds, how.horizon), np.int64),
        "actions": np.zeros((seeds, how.horizon), np.int64),
        "rewards": np.zeros((seeds, how.horizon)),
    }
