"""Policies over stacks, and joint actions.

There are two kinds of policies. A `StackPolicy` belongs to a finite task: from the symbols in the
slots to the probabilities of the joint actions. An `Act` belongs to any environment: from the
observations in the slots, and their ages, to an action and a memory action.

A joint action is one number for an environment action and a memory action.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adastack.memory import RULES, Rule, get_rule
from adastack.settings import did_you_mean
from adastack.tasks.finite import FiniteTask

Floats = NDArray[np.float64]
StackPolicy = Callable[[tuple[int, ...]], Floats]
"""stack -> probabilities of the joint actions."""
Act = Callable[[Any, Any], tuple[Any, int]]
"""(stack, ages of its slots, -1 for an empty one) -> (action, memory action).

One that carries a state through the episode also has ``begin``; see `begin_episode`.
"""
RANDOM = "random"
"""The memory that evicts a uniformly random slot, a control."""


def join_actions(action: Any, memory_action: Any, n_actions: int) -> Any:
    """The joint action.

    Example:
        >>> join_actions(1, 2, n_actions=4)
        9
    """
    return memory_action * n_actions + action


def split_actions(joint: Any, n_actions: int) -> tuple[Any, Any]:
    """The action and the memory action of a joint action.

    Example:
        >>> split_actions(9, n_actions=4)
        (1, 2)
    """
    return joint % n_actions, joint // n_actions


def learning_rule(memory: str) -> Rule:
    """The rule of a memory; the random one evicts by the adaptive rule.

    Raises:
        ValueError: If there is no such memory.
    """
    if memory == RANDOM:
        return get_rule("adaptive")
    if memory not in RULES:
        known = [*sorted(RULES), RANDOM]
        raise ValueError(
            f"expected a memory of {', '.join(known)}, actual: {memory!r}"
            f"{did_you_mean(str(memory), known)}"
        )
    return get_rule(memory)


def memory_rule(memory: str, fill_first: bool) -> str:
    """The name of the rule that a memory evicts by.

    Args:
        memory: A memory rule, or ``"random"``, which evicts by the adaptive rule.
        fill_first: Whether the adaptive memory fills its slots before it evicts the newest.
    """
    rule = learning_rule(memory).name
    return "adaptive_full" if fill_first and rule == "adaptive" else rule


def greedy_rows(scores: Floats) -> Floats:
    """For each row of scores, all probability on the first of the best joint actions."""
    best: Floats = np.eye(scores.shape[-1])[scores.argmax(axis=-1)]
    return best


def choose_actions(
    policy: StackPolicy,
    stacks: Any,
    n_actions: int,
    rng: np.random.Generator,
    random_memory: bool = False,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Actions and memory actions that a policy draws for a batch of stacks, (batch, k)."""
    rows = [policy(tuple(int(symbol) for symbol in stack)) for stack in stacks]
    drawn = np.array([rng.choice(len(row), p=row / row.sum()) for row in rows])
    action, memory_action = split_actions(drawn, n_actions)
    if random_memory:
        memory_action = rng.integers(np.shape(stacks)[1], size=len(rows))
    return action, memory_action


def finite_act(
    trained: FiniteTask, policy: StackPolicy, random_memory: bool, seed: int, env: Any
) -> Act:
    """The likeliest actions of a policy, in an environment of a finite task.

    Raises:
        ValueError: If the policy cannot be played there.
    """
    task = getattr(env.unwrapped, "task", None)
    if not isinstance(task, FiniteTask):
        raise ValueError(f"a policy of {trained.name} cannot be played on {env.unwrapped}")
    check_same_signals(trained, task)
    rng = np.random.default_rng(seed)

    def act(stack: Any, ages: Any) -> tuple[int, int]:
        best = int(policy(tuple(int(symbol) for symbol in stack)).argmax())
        action, memory_action = split_actions(best, trained.n_actions)
        return action, int(rng.integers(len(stack))) if random_memory else memory_action

    return act


def begin_episode(act: Act) -> None:
    """Tells a policy that an episode begins, if it carries a state from step to step."""
    begin = getattr(act, "begin", None)
    if begin is not None:
        begin()


def check_same_signals(trained: FiniteTask, other: FiniteTask) -> None:
    """Raises unless a policy learned on one task can be played on the other."""
    for name in ("observation_names", "action_names"):
        ours, theirs = getattr(trained, name), getattr(other, name)
        if ours != theirs:
            raise ValueError(
                f"a policy of {trained.name} expects the {name} {', '.join(ours)}, "
                f"actual: {', '.join(theirs)} of {other.name}"
            )
