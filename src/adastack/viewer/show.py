"""What a trained run does: its policy, in an environment with its memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from adastack.learners import LEARNERS, TABULAR
from adastack.process.stacks import Decide
from adastack.runs import Run, RunError
from adastack.tabular.learner import session_of
from adastack.tabular.policies import check_same_signals, policy_of
from adastack.tabular.session import RANDOM
from adastack.tasks import FiniteTask, FiniteTaskEnv, resolve
from adastack.viewer.episode import record, spelled
from adastack.viewer.film import Act, Film, shoot
from adastack.wrappers import MemoryStack


@dataclass(frozen=True)
class Show:
    """A policy and the environment it is watched in."""

    title: str
    rule: str
    stack_size: int
    env: gymnasium.Env[Any, Any]
    """Without its memory; its render mode is ``"rgb_array"``."""
    act: Act
    padding: str = "empty"
    """What slots show that nothing has come to yet: ``"empty"``, or ``"reset"``, the first."""

    def film(self, *, seed: int = 0, max_steps: int = 200) -> Film:
        """An episode in pictures."""
        return shoot(self._with_memory(), self.act, seed=seed, max_steps=max_steps)

    def episode(self, *, seed: int = 0, max_steps: int = 200) -> dict[str, Any]:
        """An episode for a page: drawn by the page if the task is finite, else in pictures."""
        if not isinstance(self.env, FiniteTaskEnv):
            return self.film(seed=seed, max_steps=max_steps).document()

        def player(stack: Any) -> tuple[int, int]:
            # A finite task's empty slots carry a symbol of their own: ages add nothing.
            return self.act(np.asarray(stack), np.zeros(0, np.int64))

        return record(
            self.env.task, self.rule, self.stack_size, player, seed=seed, max_steps=max_steps
        )

    def _with_memory(self) -> MemoryStack:
        return MemoryStack(self.env, self.stack_size, rule=self.rule, padding_type=self.padding)


def show_of(run: Run, seed: int | None = None, task: str | None = None) -> Show:
    """What one seed of a run has learned, ready to be watched.

    Args:
        run: The run.
        seed: One of the run's seeds; the first by default.
        task: Another task with the same observations; the run's own by default.

    Raises:
        RunError: If the run has no such seed, or has not been trained yet.
        ValueError: If the policy cannot be played on the task.
    """
    settings = run.settings
    if settings.get("algo") not in LEARNERS:
        raise RunError(f"{run.path} is not the run of a learner")
    seeds = settings["seeds"]
    seed = seeds[0] if seed is None else seed
    if seed not in seeds:
        raise RunError(f"expected a seed of {', '.join(map(str, seeds))}, actual: {seed}")
    spec, memory, k = task or settings["task"], settings["memory"], settings["stack_size"]
    env = resolve(spec).env("rgb_array")
    title = f"{spelled(spec)}: {settings['algo']} with {memory} memory, {k} slots, seed {seed}"
    rule = "adaptive" if memory == RANDOM else memory
    if isinstance(env, FiniteTaskEnv) != (resolve(settings["task"]).kind == "finite"):
        raise ValueError(f"a policy of {settings['task']} cannot be evaluated on {spec}")
    if isinstance(env, FiniteTaskEnv):
        return Show(title, rule, k, env, _finite_act(run, seed, env.task))
    from adastack.deep.policies import stack_player

    act = stack_player(run, seed, env.observation_space, env.action_space)
    return Show(title, rule, k, env, act, settings["settings"]["padding"])


def _finite_act(run: Run, seed: int, task: FiniteTask) -> Act:
    trained, decide = _policy(run, seed)
    check_same_signals(trained, task)
    random = run.settings["memory"] == RANDOM
    generator = np.random.default_rng(seed)

    def act(stack: Any, ages: Any) -> tuple[int, int]:
        best = int(decide(tuple(int(symbol) for symbol in stack)).argmax())
        memory_action, action = divmod(best, task.n_actions)
        return action, int(generator.integers(len(stack))) if random else memory_action

    return act


def _policy(run: Run, seed: int) -> tuple[FiniteTask, Decide]:
    """The finite task of a run, and what one of its seeds has learned."""
    if LEARNERS[run.settings["algo"]] != TABULAR:
        from adastack.deep.policies import finite_policy

        return finite_policy(run, seed)
    saved = run.load_checkpoint()
    if saved is None:
        raise RunError(f"{run.path} has no checkpoint yet: train it first")
    session = session_of(run.settings)
    session.restore(saved[0])
    index = run.settings["seeds"].index(seed)
    return session.induced.task, policy_of(session, index, greedy=True)
