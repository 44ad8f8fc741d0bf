"""The hidden process of a task: where an action leads, once endings have been played out.

An outcome that ends an attempt terminates an episodic task, which shows as a row that sums to less
than one; in a continual task it leads to a start state.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from adastack.process.chain import Matrix
from adastack.tasks.finite import FiniteTask, Floats


@dataclass(frozen=True, eq=False)
class Dynamics:
    """The hidden process."""

    transition: tuple[Matrix, ...]
    """For each action, (states, states): the chance of each next state."""
    reward: Floats
    """(states, actions): the expected reward."""

    @property
    def successors(self) -> list[list[list[tuple[int, float]]]]:
        """``[action][state]``: the next states and their chances, as plain lists."""
        return [_rows(matrix) for matrix in self.transition]


def dynamics(task: FiniteTask) -> Dynamics:
    """The hidden process of a task; time limits are ignored."""
    reward = (task.probability * task.reward).sum(axis=2)
    return Dynamics(tuple(_transition(task, a) for a in range(task.n_actions)), reward)


def _transition(task: FiniteTask, action: int) -> Matrix:
    chance, ends = task.probability[:, action], task.ends[:, action]
    origin, outcome = np.nonzero((chance > 0) & ~ends)
    target = task.next_state[origin, action, outcome]
    shape = (task.n_states, task.n_states)
    moves = sparse.csr_array((chance[origin, outcome], (origin, target)), shape=shape)
    if task.continual:
        ending = sparse.csr_array((chance * ends).sum(axis=1)[:, None])
        moves = moves + ending @ sparse.csr_array(task.start[None, :])
    moves.eliminate_zeros()
    return moves


def _rows(matrix: Matrix) -> list[list[tuple[int, float]]]:
    cuts = matrix.indptr[1:-1]
    targets, chances = np.split(matrix.indices, cuts), np.split(matrix.data, cuts)
    return [
        list(zip(t.tolist(), c.tolist(), strict=True))
        for t, c in zip(targets, chances, strict=True)
    ]
