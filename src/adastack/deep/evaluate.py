"""What a learned policy is worth on a finite task, and what it remembers."""

# ruff: noqa: ANN001, ANN202
from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numba
import numpy as np
from numpy.typing import NDArray

from adastack.deep.heads import joint_log_probs
from adastack.deep.networks import ActorCritic, act
from adastack.deep.simulate import Played, Policy, play
from adastack.deep.tables import cue_classes
from adastack.memory import get_rule
from adastack.tasks.finite import FiniteTask


def policy_of(
    net: ActorCritic, params: Any, n_actions: int, n_memory: int, form: str, greedy: bool
) -> Policy:
    """The policy as a function of stacks, in numpy."""
    outputs = jax.jit(lambda stacks: act(net, params, stacks))

    def probabilities(stacks: NDArray[np.int32]) -> NDArray[np.float64]:
        log_probs = joint_log_probs(outputs(jnp.asarray(stacks)), n_actions, n_memory, form)
        if greedy:
            sure: NDArray[np.float64] = np.eye(n_actions * n_memory)[np.argmax(log_probs, axis=1)]
            return sure
        return np.exp(np.asarray(log_probs, np.float64))

    return probabilities


class Stage:
    """A task to play policies on; what they have in common is computed once."""

    def __init__(self, task: FiniteTask, memory: str, stack_size: int) -> None:
        self.task, self.rule, self.stack_size = task, get_rule(memory), stack_size
        self.cues = cue_classes(task)
        self.best = best_return(task)

    def summary(self, policy: Policy, episodes: int, seed: int) -> dict[str, Any]:
        """Plays a policy and reports what it is worth and what it remembers."""
        played = play(self.task, self.cues, self.rule, self.stack_size, policy, episodes, seed)
        attempts, steps = max(played.attempts, 1), max(played.steps, 1)
        mean_return = played.returns / attempts
        return {
            "success": played.successes / attempts,
            "return": mean_return,
            "reward_rate": 1000 * played.reward / steps,
            "memory_regret": played.memory_regret / steps,
            "active_regret": played.active_regret / attempts,
            "passive_regret": played.passive_regret / attempts,
            "optimality": None if self.best is None else mean_return / self.best,
            "agent_states": played.agent_states,
            "attempts": played.attempts,
            "steps": played.steps,
            "remembered": remembered(self.task, played),
        }


def remembered(task: FiniteTask, played: Played) -> dict[str, dict[str, float | None]]:
    """For each observation: steps it is kept, and how often and how old it is at the decision."""
    report: dict[str, dict[str, float | None]] = {}
    for index, name in enumerate(task.observation_names):
        kept, held = int(played.kept_count[index]), int(played.decision_count[index])
        if kept == 0 and held == 0:
            continue
        report[name] = {
            "kept_steps": int(played.kept_steps[index]) / kept if kept else None,
            "at_decision": held / max(played.attempts, 1),
            "age_at_decision": int(played.decision_age[index]) / held if held else None,
        }
    return report


def best_return(task: FiniteTask) -> float | None:
    """The best undiscounted return of an attempt if the hidden state were seen; None if unbounded.

    A bound that memory can reach in every task whose cues can be found at no cost.
    """
    values = _best_values(task.next_state, task.probability, task.reward, task.ends, max_sweeps=200)
    best = float(values @ task.start) if values is not None else None
    return best if best is not None and best > 0 else None


def _best_values(
    next_state: NDArray[Any],
    probability: NDArray[Any],
    reward: NDArray[Any],
    ends: NDArray[Any],
    max_sweeps: int,
) -> NDArray[np.float64] | None:
    values = np.zeros(len(next_state))
    for sweep in range(max_sweeps):
        # Sweeping to and fro crosses a corridor of any length at once.
        if _sweep(next_state, probability, reward, ends, values, sweep % 2 == 1) < 1e-12:
            return values
    return None


@numba.njit(cache=True)
def _sweep(next_state, probability, reward, ends, values, backward):  # type: ignore[no-untyped-def]
    states, actions, outcomes = next_state.shape
    change = 0.0
    for i in range(states):
        state = states - 1 - i if backward else i
        best = -np.inf
        for action in range(actions):
            total = 0.0
            for o in range(outcomes):
                future = 0.0 if ends[state, action, o] else values[next_state[state, action, o]]
                total += probability[state, action, o] * (reward[state, action, o] + future)
            best = max(best, total)
        change = max(change, abs(best - values[state]))
        values[state] = best
    return change
