"""What a deep run has learned, one stack at a time: for whoever wants to watch it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from gymnasium import Space

from adastack.deep.backend import enable_compilation_cache
from adastack.deep.evaluate import log_chances, policy_of
from adastack.deep.finite_session import FiniteSession
from adastack.deep.learner import session_of
from adastack.deep.spaces import check_spaces, env_action, leaves_of
from adastack.process.stacks import Decide
from adastack.runs import Run, RunError
from adastack.tasks.finite import FiniteTask

Act = Callable[[Any, Any], tuple[Any, int]]
"""From a stack and the ages of its slots (-1 for an empty one) to (action, memory action)."""


def finite_policy(run: Run, seed: int) -> tuple[FiniteTask, Decide]:
    """The task of a run on a finite task, and what one of its seeds would do."""
    session = _restored(run)
    assert isinstance(session, FiniteSession)
    n_memory, form = session.trainer.n_memory, session.settings.action_form
    chances = log_chances(session.trainer.net, session.task.n_actions, n_memory, form)
    index = session.seeds.index(seed)
    params = jax.tree.map(lambda leaf: leaf[index], session.learner.params)
    return session.task, policy_of(chances, params, True)


def stack_player(run: Run, seed: int, observations: Space[Any], actions: Space[Any]) -> Act:
    """What one seed of a run over observations would do, in an environment with these spaces.

    Raises:
        ValueError: If the run learned with other spaces.
    """
    session = _restored(run)
    assert not isinstance(session, FiniteSession)
    agent = session.agent
    check_spaces((agent.observation_space, agent.action_space), (observations, actions))
    params = session.params_of(session.seeds.index(seed))
    # Where first stacks repeat their observation, the environment's own empty slots do so too.
    padding = [] if agent.repeats else [empty for _, _, empty in agent.columns]

    def act(stack: Any, ages: Any) -> tuple[Any, int]:
        leaves = [leaf.copy() for leaf in leaves_of(agent.spec, observations, stack)]
        for leaf, empty in zip(leaves, padding, strict=bool(padding)):
            leaf[np.asarray(ages) < 0] = empty
        joined = np.asarray(agent.greedy(params, [leaf[None] for leaf in leaves]))
        action, memory_action = agent.split(joined)
        chosen: Any = env_action(actions, action)[0]
        return chosen, int(memory_action[0])

    return act


def _restored(run: Run) -> Any:
    enable_compilation_cache()
    saved = run.load_checkpoint()
    if saved is None:
        raise RunError(f"{run.path} has no checkpoint yet: train it first")
    session = session_of(run.settings)
    session.restore(*saved)
    return session
