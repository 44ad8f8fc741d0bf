"""Learning action values on M_k: Q-learning, Sarsa(lambda), Q(lambda), expected Sarsa, compiled.

A *pair* is an agent state and a joint action, numbered ``agent * width + action``; a joint action
is ``memory_action * n_actions + action``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adastack.process.compiled import compiled, inlined
from adastack.process.draws import below, uniform
from adastack.process.events import PACKED, REWARD, add_events, add_to_attempt
from adastack.tabular.moves import (
    ACTION,
    AGENT,
    CLOCK,
    LASTED,
    LEFT,
    LIMIT,
    LONGEST,
    PERIOD,
    STATE,
    STUCK,
    TRACES,
    next_block,
    start,
    take_step,
)

Q, Q_LAMBDA, SARSA, EXPECTED_SARSA = range(4)
NO_BONUS, RARE, RARE_KEPT = range(3)


class KernelSettings(NamedTuple):
    """The settings as the kernel reads them."""

    algo: int
    steps: int
    blocks_per_row: int
    width: int
    n_actions: int
    random_memory: bool
    gamma: float
    alpha: float
    alpha_end: float
    epsilon: float
    epsilon_end: float
    anneal: float
    trace_decay: float
    trace_cut: float
    independent: bool
    persistent: bool
    persistence: float
    persistence_end: float
    count_once: bool
    bonus: int
    bonus_weight: float


class Values(NamedTuple):
    """Where a learner of action values stands; arrays that are not needed are empty."""

    q: NDArray[np.float64]
    """(pairs,): the values."""
    word: NDArray[np.uint64]
    """(1,): the random generator."""
    place: NDArray[np.int64]
    """Counters; see `moves`."""
    greedy: NDArray[np.int64]
    """(agent states,): the best action of each, if there are no traces."""
    trace: NDArray[np.float64]
    """(pairs,): eligibility."""
    traced: NDArray[np.int64]
    """(pairs,): the pairs with a trace, in the first ``place[TRACES]`` entries."""
    trace_at: NDArray[np.int64]
    """(pairs,): where a pair stands in ``traced``; -1 if nowhere."""
    explored: NDArray[np.int64]
    """(agent states, 3): the period, and the action and memory action that it explores or -1."""
    sightings: NDArray[np.int64]
    """(observations,): how often each was seen in the episode, for a bonus."""
    ages: NDArray[np.int64]
    """(slots,): for how many steps each has been kept, for a bonus."""
    gain: NDArray[np.float64]
    """(1,): what the agent state was paid while it lasted, if that counts once."""


class Schedule(NamedTuple):
    """What is constant during a block."""

    alpha: float
    epsilon: float
    log_persistence: float


@compiled
def advance(tables, how, run, record, blocks):  # type: ignore[no-untyped-def]
    """Runs one seed for a number of blocks."""
    for _ in range(blocks):
        row, steps, done = next_block(how, run.place)
        schedule = Schedule(
            how.alpha + (how.alpha_end - how.alpha) * done,
            how.epsilon + (how.epsilon_end - how.epsilon) * done,
            np.log(how.persistence) * (1.0 - done) + np.log(how.persistence_end) * done,
        )
        _block(tables, how, run, schedule, steps, record, row)


@inlined
def _block(tables, how, run, schedule, steps, record, row):  # type: ignore[no-untyped-def]
    state, agent, action = run.place[STATE], run.place[AGENT], run.place[ACTION]
    clock, paid = run.place[CLOCK], record.paid[row]
    counted, total = np.int64(0), 0.0
    if action < 0:
        state, agent, action = _begin(tables, how, run, schedule)
    for _ in range(steps):
        clock += 1
        memory, reward, over, flags, after, following = take_step(
            tables, how.random_memory, state, agent, action, clock, run.word
        )
        counted += PACKED[flags]
        total += reward
        add_to_attempt(record.attempt, paid, reward, how.gamma, over)
        if how.bonus != NO_BONUS and following >= 0:
            reward += _bonus(tables, how, run, agent, memory, following)
        discount = how.gamma
        if how.count_once:
            if following == agent and not over:
                if _waits(how, run, reward):
                    state = after
                    continue
                run.place[LEFT] = 0
            elif following < 0 or tables.continual or not over:
                run.place[LONGEST] = max(run.place[LONGEST], run.place[LASTED] + 1)
            reward, discount = _waited(how, run, reward)
        action = _learn(tables, how, run, schedule, agent, action, reward, discount, following)
        state, agent = after, following
        if over and not tables.continual:
            state, agent, action = _begin(tables, how, run, schedule)
            clock = 0
    paid[REWARD] += total
    add_events(record.counts[row], counted)
    run.place[STATE], run.place[AGENT], run.place[ACTION] = state, agent, action
    run.place[CLOCK] = clock


@inlined
def _begin(tables, how, run, schedule):  # type: ignore[no-untyped-def]
    """A new episode: an empty memory, no traces, a new period of exploration."""
    _forget_traces(run)
    run.place[LEFT] = 0
    state = start(tables, run.word)
    symbol = tables.observation[state]
    if how.bonus != NO_BONUS:
        run.sightings[:] = 0
        run.ages[:] = 0
        run.sightings[symbol] = 1
    agent = np.int64(tables.first[symbol])
    action = _choose(tables, how, run, schedule, agent, _greedy(how, run, agent))
    return state, agent, action


@inlined
def _waits(how, run, reward):  # type: ignore[no-untyped-def]
    """Whether a choice goes on that has left the agent state as it was; if so, adds its reward."""
    place = run.place
    if place[LASTED] == 0:
        place[LIMIT] = 1 + np.int64(STUCK * max(1, place[LONGEST]) * uniform(run.word))
    if place[LASTED] >= place[LIMIT]:
        return False
    run.gain[0] += _worth(how, place[LASTED]) * reward
    place[LASTED] += 1
    return True


@inlined
def _waited(how, run, reward):  # type: ignore[no-untyped-def]
    """What a choice was paid from its first step to this one, and the discount of what follows."""
    lasted = run.place[LASTED]
    paid = run.gain[0] + _worth(how, lasted) * reward
    run.gain[0] = 0.0
    run.place[LASTED] = 0
    return paid, _worth(how, lasted + 1)


@inlined
def _worth(how, steps):  # type: ignore[no-untyped-def]
    """The discount after so many steps of one choice: a wait of thousands must not be worthless."""
    return how.gamma ** (1.0 + np.log(steps)) if steps else 1.0


@inlined
def _learn(tables, how, run, schedule, agent, action, reward, discount, following):  # type: ignore[no-untyped-def]
    """Updates the values after a step and returns the next action; -1 if the episode has ended."""
    q, row, pair = run.q, following * how.width, agent * how.width + action
    target, chosen, best = reward, np.int64(-1), np.int64(0)
    if following >= 0:
        best = _greedy(how, run, following)
        value = q[row + best]
        if how.algo == SARSA:
            chosen = _choose(tables, how, run, schedule, following, best)
            value = q[row + chosen]
        elif how.algo == EXPECTED_SARSA:
            value = _expected(tables, how, q, row, best, schedule.epsilon)
        target += discount * value
    change = schedule.alpha * (target - q[pair])
    if how.trace_decay > 0.0:
        _update_traced(how, run, pair, change, discount)
    else:
        q[pair] += change
        run.greedy[agent] = _best(q, agent, how.width)
    if following >= 0 and how.algo != SARSA:
        best = _greedy(how, run, following)
        chosen = _choose(tables, how, run, schedule, following, best)
        if how.algo == Q_LAMBDA and q[row + chosen] != q[row + best]:
            _forget_traces(run)
    return chosen


@inlined
def _greedy(how, run, agent):  # type: ignore[no-untyped-def]
    """The best action; without traces a step changes one row, whose best action is then noted."""
    if how.trace_decay > 0.0:
        return _best(run.q, agent, how.width)
    return run.greedy[agent]


@inlined
def _best(q, agent, width):  # type: ignore[no-untyped-def]
    """The first of the best actions."""
    row = agent * width
    best, value = row, q[row]
    for pair in range(row + 1, row + width):
        better = q[pair] > value
        best = pair if better else best
        value = q[pair] if better else value
    return best - row


@inlined
def _choose(tables, how, run, schedule, agent, best):  # type: ignore[no-untyped-def]
    """The best action, or an explored one that the agent state keeps for the rest of a period."""
    if how.persistent:
        act, memory = _kept(how, run, schedule, agent)
    else:
        act, memory = _explored(how, run, schedule.epsilon)
    if act < 0 and memory < 0:
        return best
    act = tables.act_of[best] if act < 0 else act
    memory = tables.memory_of[best] if memory < 0 else memory
    return memory * how.n_actions + act


@inlined
def _kept(how, run, schedule, agent):  # type: ignore[no-untyped-def]
    """What an agent state explores in this period; periods have log-uniform lengths."""
    place, explored = run.place, run.explored
    if place[LEFT] == 0:
        place[PERIOD] += 1
        place[LEFT] = np.int64(np.exp(uniform(run.word) * schedule.log_persistence))
    place[LEFT] -= 1
    if explored[agent, 0] != place[PERIOD]:
        explored[agent, 0] = place[PERIOD]
        explored[agent, 1], explored[agent, 2] = _explored(how, run, schedule.epsilon)
    return explored[agent, 1], explored[agent, 2]


@inlined
def _explored(how, run, epsilon):  # type: ignore[no-untyped-def]
    """An explored action and memory action; -1 where the best one stands."""
    act, memory = np.int64(-1), np.int64(-1)
    if how.independent:
        if uniform(run.word) < epsilon:
            act = below(run.word, how.n_actions)
        if how.width > how.n_actions and uniform(run.word) < epsilon:
            memory = below(run.word, how.width // how.n_actions)
    elif uniform(run.word) < epsilon:
        joint = below(run.word, how.width)
        act, memory = joint % how.n_actions, joint // how.n_actions
    return act, memory


@inlined
def _expected(tables, how, q, row, best, epsilon):  # type: ignore[no-untyped-def]
    """The mean value of a row under a policy that explores afresh at each step."""
    n_memory = how.width // how.n_actions
    total = 0.0
    for action in range(how.width):
        if not how.independent:
            chance = epsilon / how.width + (1.0 - epsilon) * (action == best)
        else:
            same = tables.act_of[action] == tables.act_of[best]
            chance = epsilon / how.n_actions + (1.0 - epsilon) * same
            if n_memory > 1:
                same = tables.memory_of[action] == tables.memory_of[best]
                chance *= epsilon / n_memory + (1.0 - epsilon) * same
        total += chance * q[row + action]
    return total


@inlined
def _update_traced(how, run, pair, change, discount):  # type: ignore[no-untyped-def]
    """Replacing traces: the pair's becomes one; all learn in proportion, decay and may vanish."""
    q, trace, traced, trace_at = run.q, run.trace, run.traced, run.trace_at
    count = run.place[TRACES]
    if trace_at[pair] < 0:
        trace_at[pair] = count
        traced[count] = pair
        count += 1
    trace[pair] = 1.0
    decay = discount * how.trace_decay
    i = 0
    while i < count:
        other = traced[i]
        q[other] += change * trace[other]
        trace[other] *= decay
        if trace[other] < how.trace_cut:
            trace_at[other] = -1
            count -= 1
            if i < count:
                traced[i] = traced[count]
                trace_at[traced[i]] = i
        else:
            i += 1
    run.place[TRACES] = count


@inlined
def _forget_traces(run):  # type: ignore[no-untyped-def]
    for i in range(run.place[TRACES]):
        run.trace_at[run.traced[i]] = -1
    run.place[TRACES] = 0


@inlined
def _bonus(tables, how, run, agent, memory, following):  # type: ignore[no-untyped-def]
    """The reward for holding rare observations, in one of two readings; it is never positive."""
    sightings, ages, stack = run.sightings, run.ages, tables.stacks[following]
    slots, evicted = len(ages), tables.evicted[agent, memory]
    for i in range(evicted, slots - 1):
        ages[i] = ages[i + 1]
    if evicted < slots:
        ages[slots - 1] = -1
        sightings[stack[slots - 1]] += 1
    seen = 0
    for count in sightings:
        seen += count
    total, filled = 0.0, 0
    for i in range(slots):
        ages[i] += 1
        if stack[i] < len(sightings):
            rarity = 1.0 - sightings[stack[i]] / seen
            total += rarity if how.bonus == RARE else rarity ** ages[i]
            filled += 1
    if how.bonus == RARE:
        return how.bonus_weight * (total - slots - 1.0)
    return how.bonus_weight * (total / (filled + 1.0) - 1.0)


def new_values(
    how: KernelSettings, seeds: int, agents: int, slots: int, observations: int
) -> dict[str, Any]:
    """The first arrays of the learners, but for their values, generators and places."""
    pairs = agents * how.width if how.trace_decay > 0 else 0
    bonus = how.bonus != NO_BONUS
    return {
        "greedy": np.zeros((seeds, 0 if how.trace_decay > 0 else agents), np.int64),
        "trace": np.zeros((seeds, pairs)),
        "traced": np.zeros((seeds, pairs), np.int64),
        "trace_at": np.full((seeds, pairs), -1, np.int64),
        "explored": np.full((seeds, agents if how.persistent else 0, 3), -1, np.int64),
        "sightings": np.zeros((seeds, observations if bonus else 0), np.int64),
        "ages": np.zeros((seeds, slots if bonus else 0), np.int64),
        "gain": np.zeros((seeds, 1)),
    }
