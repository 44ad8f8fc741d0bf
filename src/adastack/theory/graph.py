"""Every pair of belief and stack that some stack policy can reach, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adastack.process.induced import TooLargeError
from adastack.tasks.finite import Floats, Ints
from adastack.theory.optimal import Optimal
from adastack.theory.partial_policy import Choice
from adastack.theory.search import different_actions
from adastack.theory.stacks import Stacks

MAX_ROWS = 100_000


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes (pairs of belief and agent state) and where every choice leads. See `graph`."""

    choices: list[list[Choice]]
    """For each agent state, its different choices; empty if it is never met."""
    beliefs: Ints
    """(nodes,): the belief of each node."""
    agents: Ints
    """(nodes,): the agent state of each node."""
    first_row: Ints
    """(nodes,): the row of the node's first choice; the others follow."""
    row_end: Ints
    """(rows + 1,): row r holds the steps ``row_end[r]`` to ``row_end[r + 1]``."""
    step_node: Ints
    """(steps,): the node that follows."""
    step_chance: Floats
    """(steps,): how likely it follows."""
    start: Floats
    """(nodes,): the chance that an attempt begins there."""

    def actions(self) -> Ints:
        """(agent states, choices): the action of each choice; -1 beyond the last."""
        table = np.full((len(self.choices), max(map(len, self.choices))), -1, np.int32)
        for agent, choices in enumerate(self.choices):
            table[agent, : len(choices)] = [action for action, _ in choices]
        return table


def graph(optimal: Optimal, stacks: Stacks, *, max_rows: int = MAX_ROWS) -> Graph:
    """Enumerates what any policy can reach; actions and memory actions of equal effect count once.

    Raises:
        TooLargeError: If there are more than ``max_rows`` pairs of a node and a choice.
    """
    process = optimal.beliefs
    different = different_actions(process)
    choices: dict[int, list[Choice]] = {}
    numbers: dict[tuple[int, int], int] = {}
    begins = {(belief, stacks.first(symbol)): chance for symbol, belief, chance in process.first}
    nodes = list(begins)
    numbers = {node: index for index, node in enumerate(nodes)}
    first_row, row_end, step_node, step_chance = [], [0], [], []
    for belief, agent in nodes:
        if agent not in choices:
            memory = stacks.memory_actions(agent)
            actions = different[stacks.contents[agent][-1]]
            choices[agent] = [(action, evict) for action in actions for evict in memory]
        first_row.append(len(row_end) - 1)
        for action, evict in choices[agent]:
            for symbol, after, chance in process.steps[belief][action]:
                node = (after, stacks.push(agent, evict, symbol))
                if node not in numbers:
                    numbers[node] = len(nodes)
                    nodes.append(node)
                step_node.append(numbers[node])
                step_chance.append(chance)
            row_end.append(len(step_node))
        if len(row_end) > max_rows:
            raise TooLargeError(f"more than {max_rows:,} choices at reachable pairs")
    beliefs, agents = np.array(nodes, np.int32).T
    start = np.zeros(len(nodes))
    start[: len(begins)] = list(begins.values())
    return Graph(
        [choices.get(agent, []) for agent in range(len(stacks.contents))],
        np.ascontiguousarray(beliefs),
        np.ascontiguousarray(agents),
        np.array(first_row, np.int32),
        np.array(row_end, np.int32),
        np.array(step_node, np.int32),
        np.array(step_chance),
        start,
    )
