"""A stack policy in the making, and the pairs of belief and stack that it reaches so far."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from adastack.process.chain import Matrix
from adastack.process.induced import TooLargeError
from adastack.tasks.finite import Floats
from adastack.theory.belief import Beliefs
from adastack.theory.stacks import StackPolicy, Stacks

MAX_NODES = 50_000

Choice = tuple[int, int]
"""An action and a memory action."""
Accept = Callable[[int, int], bool]
"""Whether a belief (first) may meet an agent state (second)."""


class Partial:
    """Choices for some agent states, and every node that they lead to.

    A *node* is a belief together with an agent state. Nodes whose agent state has no choice yet are
    the frontier; all others have been followed up.
    """

    def __init__(self, process: Beliefs, stacks: Stacks) -> None:
        self.process = process
        self.stacks = stacks
        self.nodes: list[tuple[int, int]] = []
        self.steps: list[list[tuple[int, float]] | None] = []
        """For each node, the nodes that follow and their chances; None on the frontier."""
        self.behind: dict[int, list[int]] = {}
        """For each agent state, its nodes, in the order in which they were reached."""
        self.choice: dict[int, Choice] = {}
        self._index: dict[tuple[int, int], int] = {}
        self._met: list[int] = []
        self._decided = 0
        self._marks: list[tuple[int, int, int, list[int]]] = []
        self.start = [
            (self._node(belief, stacks.first(symbol)), chance)
            for symbol, belief, chance in process.first
        ]

    def first_undecided(self) -> int | None:
        """The agent state on the frontier that was reached first; None if there is none."""
        while self._decided < len(self._met) and self._met[self._decided] in self.choice:
            self._decided += 1
        return self._met[self._decided] if self._decided < len(self._met) else None

    def assign(self, agent: int, choice: Choice, accept: Accept | None = None) -> bool:
        """Makes a choice and follows it up, until a node is reached that is not acceptable.

        Raises:
            TooLargeError: If more than `MAX_NODES` nodes are reached.
        """
        followed: list[int] = []
        self._marks.append((agent, len(self.nodes), self._decided, followed))
        self.choice[agent] = choice
        todo = list(self.behind[agent])
        for node in todo:
            known = len(self.nodes)
            self.steps[node] = self._follow(node)
            followed.append(node)
            if len(self.nodes) > MAX_NODES:
                raise TooLargeError(
                    f"a policy of {self.stacks.stack_size} slots reaches more than {MAX_NODES:,} "
                    "pairs of belief and stack: use a smaller stack_size or a shorter task"
                )
            for new in range(known, len(self.nodes)):
                belief, reached = self.nodes[new]
                if accept is not None and not accept(belief, reached):
                    return False
                if reached in self.choice:
                    todo.append(new)
        return True

    def undo(self) -> None:
        """Takes the last choice back."""
        agent, known, self._decided, followed = self._marks.pop()
        for node in followed:
            self.steps[node] = None
        while len(self.nodes) > known:
            self.steps.pop()
            belief, reached = self.nodes.pop()
            del self._index[belief, reached]
            self.behind[reached].pop()
            if not self.behind[reached]:
                del self.behind[reached]
                self._met.pop()
        del self.choice[agent]

    def policy(self) -> StackPolicy:
        """The choices by stack."""
        return {self.stacks.contents[agent]: choice for agent, choice in self.choice.items()}

    def chain(self) -> Matrix:
        """(nodes, nodes), sparse: the chain of nodes; the frontier leads nowhere."""
        entries = [
            (node, after, chance)
            for node, steps in enumerate(self.steps)
            for after, chance in steps or ()
        ]
        rows, columns, chances = zip(*entries, strict=True) if entries else ((), (), ())
        shape = (len(self.nodes), len(self.nodes))
        return sparse.csr_array((np.array(chances, float), (rows, columns)), shape=shape)

    def start_weights(self) -> Floats:
        """(nodes,): the chance that an attempt begins there."""
        weights = np.zeros(len(self.nodes))
        for node, chance in self.start:
            weights[node] += chance
        return weights

    def actions(self) -> list[int]:
        """For each node, the action chosen; -1 on the frontier."""
        return [self.choice[agent][0] if agent in self.choice else -1 for _, agent in self.nodes]

    def _follow(self, node: int) -> list[tuple[int, float]]:
        belief, agent = self.nodes[node]
        action, memory_action = self.choice[agent]
        push = self.stacks.push
        return [
            (self._node(after, push(agent, memory_action, symbol)), chance)
            for symbol, after, chance in self.process.steps[belief][action]
        ]

    def _node(self, belief: int, agent: int) -> int:
        key = (belief, agent)
        if key not in self._index:
            self._index[key] = len(self.nodes)
            self.nodes.append(key)
            self.steps.append(None)
            if agent not in self.behind:
                self.behind[agent] = []
                self._met.append(agent)
            self.behind[agent].append(self._index[key])
        return self._index[key]


def follow(
    process: Beliefs, stacks: Stacks, choose: Callable[[tuple[int, ...]], Choice | None]
) -> Partial:
    """What a policy reaches; stacks for which it has no choice stay on the frontier."""
    partial = Partial(process, stacks)
    todo = [agent for _, agent in partial.nodes]
    for agent in todo:
        choice = None if agent in partial.choice else choose(stacks.contents[agent])
        if choice is not None:
            known = len(partial.nodes)
            partial.assign(agent, choice)
            todo += [after for _, after in partial.nodes[known:]]
    return partial
