"""The best that any agent can do: optimal values over histories, by policy iteration on beliefs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from adastack.process.chain import Matrix, discounted_values, gain_and_bias
from adastack.tasks.finite import Bools, FiniteTask, Floats
from adastack.theory.belief import Beliefs, beliefs

Criterion = Literal["discounted", "average"]

GAMMA = 0.99
TOLERANCE = 1e-9
"""Values closer than this, relative to the largest, are equal."""
NEARLY_ONE = 0.999
"""The discount whose optimal policy undiscounted policy iteration starts from."""


@dataclass(frozen=True, eq=False)
class Optimal:
    """Optimal values of every reachable belief. Build it with `optimal_values`."""

    beliefs: Beliefs
    gamma: float
    criterion: Criterion
    value: Floats
    """(beliefs,): V*; under the average criterion the differential value."""
    gain: Floats
    """(beliefs,): the best average reward; zero under the discounted criterion."""
    action_value: Floats
    """(beliefs, actions): the value of taking an action once and acting optimally from then on."""
    best: Bools
    """(beliefs, actions): whether an optimal policy may take the action."""

    @property
    def goal(self) -> Floats:
        """(beliefs,): what is to be maximised: the gain if rewards are averaged, else the value."""
        return self.gain if self.criterion == "average" else self.value

    @property
    def start_value(self) -> float:
        """The optimum before the first observation is seen."""
        return sum(chance * float(self.goal[belief]) for _, belief, chance in self.beliefs.first)

    @property
    def tolerance(self) -> float:
        """How far two values may lie apart and still count as equal."""
        return TOLERANCE * max(1.0, float(np.abs(self.value).max()))


def default_gamma(task: FiniteTask) -> float:
    """The discount that the task's definition names, or the paper's 0.99."""
    return GAMMA if task.discount is None else task.discount


def check_criterion(task: FiniteTask, gamma: float, criterion: str) -> None:
    """Raises unless the task has such values.

    Raises:
        ValueError: If the criterion is unknown, or ``gamma`` does not fit it.
    """
    if criterion not in ("discounted", "average"):
        raise ValueError(f"criterion must be 'discounted' or 'average', actual: {criterion!r}")
    if criterion == "average" and not task.continual:
        raise ValueError(f"the average reward expects a continual task, actual: {task.name}")
    if criterion == "discounted" and not 0 < gamma <= 1:
        raise ValueError(f"gamma must be in (0, 1], actual: {gamma}")
    if criterion == "discounted" and gamma == 1 and task.continual:
        raise ValueError(
            f"gamma = 1 expects an episodic task, actual: {task.name}; "
            "a continual task has an average reward"
        )


def optimal_values(
    task: FiniteTask | Beliefs, gamma: float = 0.99, criterion: Criterion = "discounted"
) -> Optimal:
    """The optimal value V* of every belief that a history can lead to.

    Args:
        task: The task, or its beliefs if they have been enumerated already.
        gamma: The discount; 1 for the total reward of an episodic task.
        criterion: ``"discounted"``, or ``"average"`` for the average reward of a continual task.

    Raises:
        TooLargeError: If the task has too many reachable beliefs.
        ValueError: If the task has no such values.

    Example:
        >>> from adastack.tasks import passive_tmaze
        >>> round(optimal_values(passive_tmaze(length=5), gamma=0.5).start_value, 6)  # 0.5 ** 4
        0.0625
    """
    process = task if isinstance(task, Beliefs) else beliefs(task)
    check_criterion(process.task, gamma, criterion)
    if criterion == "average":
        return _average(process)
    if gamma == 1:
        return _undiscounted(process)
    policy = _iterate(process, np.zeros(len(process), np.intp), gamma)
    return _result(process, policy, gamma)


def _iterate(process: Beliefs, policy: NDArray[np.intp], gamma: float) -> NDArray[np.intp]:
    """Policy iteration; an action is replaced only by a strictly better one."""
    everyone = np.arange(len(process))
    while True:
        values = discounted_values(*_follow(process, policy), gamma)
        table = _back_up(process, values, gamma)
        slack = TOLERANCE * 1e-2 * max(1.0, float(np.abs(values).max()))
        better = table.max(axis=1) > table[everyone, policy] + slack
        if not better.any():
            return policy
        policy = np.where(better, table.argmax(axis=1), policy)


def _result(process: Beliefs, policy: NDArray[np.intp], gamma: float) -> Optimal:
    values = discounted_values(*_follow(process, policy), gamma)
    table = _back_up(process, values, gamma)
    slack = TOLERANCE * max(1.0, float(np.abs(values).max()))
    best = table >= values[:, None] - slack
    return Optimal(process, gamma, "discounted", values, np.zeros(len(values)), table, best)


def _undiscounted(process: Beliefs) -> Optimal:
    """Total reward: from a policy that ends its episodes, strict improvement never leaves them.

    Such a policy is optimal unless it pays to wait for ever, which is refused.
    """
    policy = _iterate(process, np.zeros(len(process), np.intp), NEARLY_ONE)
    result = _result(process, _iterate(process, policy, 1.0), 1.0)
    if _can_wait(result).any():
        raise ValueError(
            f"{process.task.name} pays an agent that never ends its episode: use gamma < 1"
        )
    return result


def _can_wait(result: Optimal) -> Bools:
    """The beliefs of negative value among which an agent could stay for ever without loss."""
    process = result.beliefs
    waiting: Bools = result.value < -result.tolerance
    free = process.reward >= 0
    while True:
        inside = (process.transition @ waiting.astype(float)).reshape(free.shape) > 1 - TOLERANCE
        staying: Bools = waiting & (free & inside).any(axis=1)
        if (staying == waiting).all():
            return staying
        waiting = staying


def _average(process: Beliefs) -> Optimal:
    """Howard's policy iteration for any number of recurrent classes: first gain, then bias."""
    policy = _iterate(process, np.zeros(len(process), np.intp), NEARLY_ONE)
    everyone = np.arange(len(process))
    while True:
        gain, bias = gain_and_bias(*_follow(process, policy))
        gains = (process.transition @ gain).reshape(len(process), -1)
        biases = _back_up(process, bias, 1.0)
        slack = TOLERANCE * max(1.0, float(np.abs(bias).max()))
        top = gains >= gains.max(axis=1, keepdims=True) - slack
        masked = np.where(top, biases, -np.inf)
        better = ~top[everyone, policy] | (masked.max(axis=1) > biases[everyone, policy] + slack)
        if not better.any():
            best = masked >= (gain + bias)[:, None] - slack
            return Optimal(process, 1.0, "average", bias, gain, biases, best)
        policy = np.where(better, masked.argmax(axis=1), policy)


def _follow(process: Beliefs, policy: NDArray[np.intp]) -> tuple[Matrix, Floats]:
    """The chain of beliefs under a policy, and its rewards."""
    rows = np.arange(len(process)) * process.task.n_actions + policy
    return process.transition[rows], process.reward.ravel()[rows]


def _back_up(process: Beliefs, values: Floats, gamma: float) -> Floats:
    """(beliefs, actions): reward now and the value of what follows."""
    ahead = (process.transition @ values).reshape(process.reward.shape)
    table: Floats = process.reward + gamma * ahead
    return table
