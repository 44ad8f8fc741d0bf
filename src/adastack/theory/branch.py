# ruff: noqa: ANN001, ANN202 (the compiled functions have no annotations)
"""Branch and bound over stack policies, compiled, for discounted rewards.

Perfect memory is worth V*. A stack policy's value is V* minus, for each node (a pair of belief and
stack) and each discounted visit to it, what its action loses there. So a partial policy is followed
by letting its discounted visits flow from node to node until they end, fade out, or arrive at a
stack that has no choice yet, where they wait. What has been lost on the way is lost for good, and
what waits at one stack will lose at least as much as the best action that all of it has in common.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numba
import numpy as np

from adastack.tasks.finite import Bools, Floats, Ints
from adastack.theory.graph import Graph

FADED = 1e-10
"""Discounted visits fewer than this are not followed any further."""
PRECISION = 1e-8
"""A policy counts as better if it is better by this much, relative to the largest value."""


@dataclass(frozen=True)
class Outcome:
    """How a branch and bound search ended."""

    loss: float
    """What the best policy known loses against perfect memory."""
    chosen: Ints
    """(agent states,): the choice of that policy, -1 where it needs none; empty if it is old."""
    least: float
    """No policy loses less."""
    tried: int
    """How many choices were tried."""

    @property
    def proved(self) -> bool:
        """Whether no policy is better than the best one known."""
        return self.least >= self.loss


def least_loss(
    graph: Graph, loss: Floats, gamma: float, *, scale: float, enough: float, max_effort: int
) -> Outcome:
    """The deterministic stack policy that loses least against perfect memory.

    Args:
        graph: What policies can reach.
        loss: (nodes, actions): what each action loses at each node.
        gamma: The discount, less than one.
        scale: The largest value, which gives differences their meaning.
        enough: What a policy that is known already loses; only better ones are looked for.
        max_effort: How many nodes to look at before stopping with a bound.
    """
    tables = _Tables(
        graph.agents,
        np.maximum(loss, 0.0),
        graph.actions(),
        np.array([len(choices) for choices in graph.choices], np.int32),
        graph.first_row,
        graph.row_end,
        graph.step_node,
        gamma * graph.step_chance,
    )
    best, chosen, margin, spent, tried = enough, graph.agents[:0], PRECISION * scale, 0, 0
    # A good policy is found fast among those that follow the first option almost always, and the
    # better the one at hand, the less is left to search.
    for detours in (1, 2, len(tables.counts)):
        share = max_effort - spent if detours > 2 else max_effort // 10
        found = _search(tables, graph.start, best, margin, detours, share)
        if found[0] < best:
            best, chosen = found[:2]
        least, spent, tried = found[2], spent + found[3], tried + found[4]
    return Outcome(float(best), chosen, float(least), int(tried))


class _Tables(NamedTuple):
    """What does not change during a search."""

    agents: Ints
    loss: Floats
    actions: Ints
    counts: Ints
    first_row: Ints
    row_end: Ints
    step_node: Ints
    step_weight: Floats
    """The discount times the chance of each step."""


class _Path(NamedTuple):
    """The partial policy and what is reached under it."""

    chosen: Ints
    """(agent states,): the choice made; -1 for none."""
    reached: Ints
    """The nodes reached, in the order in which they were."""
    place: Ints
    """(nodes,): where a node stands among those reached; -1 if it is not."""
    flow: Floats
    """(nodes,): discounted visits still to be followed; zero between choices."""
    queue: Ints
    """The nodes with such visits, as a ring."""
    queued: Bools
    """(nodes,): whether a node stands in the queue."""


@numba.njit(cache=True)
def _search(tables, start, best, margin, detours, max_effort):  # type: ignore[no-untyped-def]
    """Depth first; returns the least loss, its policy, a bound on the loss, effort, choices.

    A policy may differ from the first option of each choice at most ``detours`` times.
    """
    n_nodes, n_agents = len(tables.agents), len(tables.counts)
    path = _begin(n_nodes, n_agents, start)
    best_chosen = path.chosen.copy()
    who, next_option = np.full(n_agents + 1, -1, np.int32), np.zeros(n_agents + 1, np.int32)
    order = np.empty((n_agents + 1, tables.actions.shape[1]), np.int32)
    known = np.zeros(n_agents + 1, np.int32)
    lost, bound = np.zeros(n_agents + 1), np.zeros(n_agents + 1)
    spare = np.full(n_agents + 1, detours)
    # waiting[depth, place]: the discounted visits that wait at each node reached.
    waiting = np.zeros((16, n_nodes))
    for node in path.reached[: np.count_nonzero(start > 0)]:
        waiting[0, known[0]] = start[node]
        known[0] += 1
    depth, effort, tried, entering = 0, 0, 0, True
    while depth >= 0:
        if entering:
            now = waiting[depth, : known[depth]]
            who[depth], least = _frontier(tables, path, now, order[depth])
            bound[depth], next_option[depth] = lost[depth] + least, 0
            if who[depth] < 0 and lost[depth] < best - margin:
                best = lost[depth]
                _copy(path.chosen, best_chosen)
        options = tables.counts[who[depth]] if spare[depth] > 0 else 1
        if bound[depth] >= best - margin or next_option[depth] == options:
            depth -= 1
            entering = False
            if depth >= 0:
                _forget(path, who[depth], known[depth], known[depth + 1])
            continue
        if effort >= max_effort and best < np.inf:
            least = _open_bound(tables, who, next_option, bound, depth)
            return best, best_chosen, least, effort, tried
        path.chosen[who[depth]] = order[depth, next_option[depth]]
        spare[depth + 1] = spare[depth] - (next_option[depth] > 0)
        next_option[depth] += 1
        effort, tried = effort + n_agents + known[depth], tried + 1
        if depth + 1 == len(waiting):
            larger = np.zeros((2 * len(waiting), n_nodes))
            _copy(waiting.reshape(-1), larger.reshape(-1))
            waiting = larger
        _copy(waiting[depth, : known[depth]], waiting[depth + 1])
        lost[depth + 1], known[depth + 1] = _follow(
            tables, path, waiting[depth + 1], who[depth], known[depth], lost[depth], best - margin
        )
        depth += 1
        entering = True
    return best, best_chosen, best, effort, tried


@numba.njit(cache=True)
def _begin(n_nodes, n_agents, start):  # type: ignore[no-untyped-def]
    path = _Path(
        np.full(n_agents, -1, np.int32),
        np.empty(n_nodes, np.int32),
        np.full(n_nodes, -1, np.int32),
        np.zeros(n_nodes),
        np.empty(n_nodes, np.int32),
        np.zeros(n_nodes, np.bool_),
    )
    place = 0
    for node in range(n_nodes):
        if start[node] > 0:
            path.reached[place], path.place[node] = node, place
            place += 1
    return path


@numba.njit(cache=True)
def _frontier(tables, path, waiting, order):  # type: ignore[no-untyped-def]
    """The undecided agent state at which most waits (-1 for none) and what all must lose.

    The options of that agent state are left in ``order``, the one that loses least first.
    """
    n_agents, n_actions = len(tables.counts), tables.loss.shape[1]
    mass, losses = np.zeros(n_agents), np.zeros((n_agents, n_actions))
    for place, visits in enumerate(waiting):
        if visits > 0:
            node = path.reached[place]
            agent = tables.agents[node]
            mass[agent] += visits
            for action in range(n_actions):
                losses[agent, action] += visits * tables.loss[node, action]
    least, heaviest = 0.0, -1
    for agent in range(n_agents):
        if not mass[agent] > 0:
            continue
        smallest = np.inf
        for option in range(tables.counts[agent]):
            smallest = min(smallest, losses[agent, tables.actions[agent, option]])
        least += smallest
        if heaviest < 0 or mass[agent] > mass[heaviest]:
            heaviest = agent
    if heaviest >= 0:
        _sort_options(losses[heaviest], tables.actions[heaviest], tables.counts[heaviest], order)
    return heaviest, least


@numba.njit(cache=True)
def _sort_options(losses, actions, count, order):  # type: ignore[no-untyped-def]
    """Sorts the options by what their actions lose; equal ones stay in their order."""
    for option in range(count):
        place = option
        while place > 0 and losses[actions[order[place - 1]]] > losses[actions[option]]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = option


@numba.njit(cache=True)
def _copy(source, target):  # type: ignore[no-untyped-def]
    """Writes an array to the beginning of another.

    An assignment to a slice takes seconds to compile, for the message of an error that cannot
    happen here.
    """
    for i in range(len(source)):
        target[i] = source[i]


@numba.njit(cache=True)
def _follow(tables, path, waiting, agent, known, lost, limit):  # type: ignore[no-untyped-def]
    """Lets what waits at an agent state flow on; returns the loss so far and the nodes known.

    Nothing is followed any further once the loss has reached the limit.
    """
    n_nodes = len(tables.agents)
    flow, queued, queue = path.flow, path.queued, path.queue
    head, length = 0, 0
    for place in range(known):
        node = path.reached[place]
        if tables.agents[node] == agent and waiting[place] > 0:
            flow[node], waiting[place] = waiting[place], 0.0
            queue[length], queued[node] = node, True
            length += 1
    while length > 0:
        node = queue[head]
        head, length = (head + 1) % n_nodes, length - 1
        visits, flow[node], queued[node] = flow[node], 0.0, False
        if visits < FADED or lost >= limit:
            continue
        option = path.chosen[tables.agents[node]]
        lost += visits * tables.loss[node, tables.actions[tables.agents[node], option]]
        row = tables.first_row[node] + option
        for step in range(tables.row_end[row], tables.row_end[row + 1]):
            after = tables.step_node[step]
            if path.place[after] < 0:
                path.reached[known], path.place[after] = after, known
                waiting[known] = 0.0
                known += 1
            if path.chosen[tables.agents[after]] < 0:
                waiting[path.place[after]] += visits * tables.step_weight[step]
                continue
            flow[after] += visits * tables.step_weight[step]
            if not queued[after]:
                queue[(head + length) % n_nodes], queued[after] = after, True
                length += 1
    return lost, known


@numba.njit(cache=True)
def _forget(path, agent, known, reached):  # type: ignore[no-untyped-def]
    """Takes the choice for an agent state back, and what was reached by it."""
    path.chosen[agent] = -1
    for place in range(known, reached):
        path.place[path.reached[place]] = -1


@numba.njit(cache=True)
def _open_bound(tables, who, next_option, bound, depth):  # type: ignore[no-untyped-def]
    """The least that any policy can lose that has not been tried."""
    for level in range(depth):
        if next_option[level] < tables.counts[who[level]]:
            return bound[level]
    return bound[depth]
