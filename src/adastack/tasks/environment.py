"""FiniteTask as a Gymnasium environment and as a vector environment.

Every step's info says what a metric needs to know and an agent does not:

- ``shown``: what the current observation shows;
- ``cue``: the observations that must be remembered now, -1 for none;
- ``attempt_over``: whether this step ended an attempt, also where the task goes on (a continual
  task) or time ran out;
- ``success``: whether it ended with the right result.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, SupportsIndex

import numpy as np
from gymnasium.spaces import Discrete
from gymnasium.vector import AutoresetMode
from numpy.typing import ArrayLike, NDArray

from adastack.tasks.base import TaskEnv, TaskVectorEnv
from adastack.tasks.checks import (
    checked_action,
    checked_actions,
    checked_mask,
    checked_render_mode,
    masked,
    with_presence,
)
from adastack.tasks.drawing.canvas import Slots
from adastack.tasks.drawing.finite_task import draw
from adastack.tasks.drawing.writing import write
from adastack.tasks.finite import Bools, FiniteTask, Floats

Indices = NDArray[np.intp]
Frame = NDArray[np.uint8] | str

RENDER_MODES = ("rgb_array", "ansi")


class FiniteTaskEnv(TaskEnv):
    """One agent in a finite task; it sees the observation of the hidden state and nothing else.

    Args:
        task: The task; its time limit, if any, truncates episodes here.
        render_mode: ``"rgb_array"``, ``"ansi"`` or None.

    Example:
        >>> from adastack.tasks import FiniteTaskEnv, passive_tmaze
        >>> env = FiniteTaskEnv(passive_tmaze(length=3))
        >>> observation, info = env.reset(seed=0)
        >>> env.task.observation_names[observation] in ("red", "green")
        True
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 4}  # noqa: RUF012

    def __init__(self, task: FiniteTask, render_mode: str | None = None) -> None:
        self.task = task
        self.render_mode = checked_render_mode(render_mode, RENDER_MODES)
        self.observation_space = Discrete(task.n_observations)
        self.action_space = Discrete(task.n_actions)
        self.state = -1
        """The hidden state; -1 before the first reset."""
        self._elapsed = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Begins an episode in a state drawn from the task's start distribution."""
        super().reset(seed=seed)
        self.state = self._draw_start()
        self._elapsed = 0
        self._over = False
        return self.task.observation.item(self.state), self._info(False, False)

    def step(self, action: SupportsIndex) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Takes one action.

        Raises:
            ValueError: If there is no such action.
            ResetNeeded: If the episode is over or has not begun.
        """
        task = self.task
        index = checked_action(action, task.n_actions)
        self._check_episode()
        outcome = self._draw_outcome(index)
        ended = task.ends.item(outcome)
        terminated = ended and not task.continual
        self.state = (
            self._draw_start() if ended and task.continual else task.next_state.item(outcome)
        )
        self._elapsed += 1
        truncated = not terminated and self._elapsed == task.time_limit
        self._over = terminated or truncated
        info = self._info(ended or truncated, task.success.item(outcome))
        observation = task.observation.item(self.state)
        return observation, task.reward.item(outcome), terminated, truncated, info

    def _picture(self, memory: Slots | None) -> Frame:
        picture = draw if self.render_mode == "rgb_array" else write
        return picture(self.task, self.state, memory)

    def _draw_start(self) -> int:
        task = self.task
        if len(task.start_states) == 1:
            return task.start_states.item(0)
        place = task.start_cdf.searchsorted(self.np_random.random(), side="right")
        return task.start_states.item(place)

    def _draw_outcome(self, action: int) -> int:
        """The index of one outcome in the task's flattened tables."""
        task = self.task
        first = (self.state * task.n_actions + action) * task.n_outcomes
        if task.n_outcomes == 1:
            return first
        cdf = task.outcome_cdf[self.state, action]
        return first + int(cdf.searchsorted(self.np_random.random(), side="right"))

    def _info(self, attempt_over: bool, success: bool) -> dict[str, Any]:
        return {
            "shown": self.task.observation.item(self.state),
            "cue": self.task.cue[self.state].copy(),
            "attempt_over": attempt_over,
            "success": success,
        }


class FiniteTaskVectorEnv(TaskVectorEnv):
    """Many agents in a finite task at once, stepped by table look-ups.

    Args:
        task: The task.
        num_envs: How many agents.
        autoreset_mode: When an agent whose episode is over begins the next one.
        render_mode: ``"rgb_array"``, ``"ansi"`` or None.

    Example:
        >>> from adastack.tasks import FiniteTaskVectorEnv, passive_tmaze
        >>> envs = FiniteTaskVectorEnv(passive_tmaze(length=3), num_envs=4)
        >>> observations, infos = envs.reset(seed=0)
        >>> (observations == infos["cue"][:, 0]).all()
        np.True_
    """

    def __init__(
        self,
        task: FiniteTask,
        num_envs: int = 1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
    ) -> None:
        spaces = Discrete(task.n_observations), Discrete(task.n_actions)
        super().__init__(num_envs, spaces, autoreset_mode, render_mode, FiniteTaskEnv.metadata)
        self.task = task
        self.attempt_limit = task.time_limit or task.n_states
        self.state: Indices = np.full(num_envs, -1, np.intp)
        """The hidden state of each agent; -1 before the first reset."""
        self._elapsed = np.zeros(num_envs, np.int64)
        self._over: Indices = np.zeros(0, np.intp)
        """The agents whose episode is over and has not been reset."""
        self._starts = task.start_states.astype(np.intp)
        self._observation = task.observation.astype(np.int64)
        # Outcomes are looked up by their place in the flattened tables.
        self._next_state = task.next_state.astype(np.intp).ravel()
        self._reward = task.reward.ravel()
        self._ends = task.ends.ravel()
        self._success = task.success.ravel()
        self._cdf = task.outcome_cdf.reshape(-1, task.n_outcomes).T[:-1].copy()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Indices, dict[str, Any]]:
        """Begins new episodes.

        Args:
            seed: Seeds the one generator that all agents draw from.
            options: ``{"reset_mask": mask}`` resets only the agents whose entry is True.
        """
        mask = checked_mask(options, self.num_envs, begun=self._begun)
        super().reset(seed=seed)
        self._restart(np.flatnonzero(mask))
        self._over = self._over[~mask[self._over]]
        observations = self._observation.take(self.state)
        infos = self._infos(observations, *np.zeros((2, self.num_envs), np.bool_))
        return observations, infos if mask.all() else masked(infos, mask)

    def step(self, actions: ArrayLike) -> tuple[Indices, Floats, Bools, Bools, dict[str, Any]]:
        """Takes one action for every agent.

        Raises:
            ValueError: If there is no such action.
            ResetNeeded: If no episode has begun, or one is over and autoreset is disabled.
        """
        index = checked_actions(actions, self.num_envs, self.task.n_actions)
        self._check_episodes(self._over)
        outcome = self._draw_outcomes(index)
        self.state = self._next_state.take(outcome)
        reward = self._reward.take(outcome)
        ended = self._ends.take(outcome)
        success = self._success.take(outcome)
        self._elapsed += 1
        if len(self._over):
            reward[self._over] = 0
            ended[self._over] = False
            success[self._over] = False
            self._restart(self._over)
        terminated, truncated, attempt_over = self._endings(ended)
        observations = self._observation.take(self.state)
        infos = self._infos(observations, attempt_over, success)
        if len(self._over) and self.autoreset_mode is AutoresetMode.SAME_STEP:
            self._reset_in_step(observations, infos)
        return observations, reward, terminated, truncated, infos

    @property
    def _begun(self) -> bool:
        return bool(self.state[0] >= 0)

    def _pictures(self) -> Iterable[Frame]:
        picture = draw if self.render_mode == "rgb_array" else write
        return (picture(self.task, int(state)) for state in self.state)

    def _draw_outcomes(self, actions: Indices) -> Indices:
        """One outcome for each agent, as an index into the flattened tables."""
        rows = self.state * self.task.n_actions
        rows += actions
        n_outcomes = self.task.n_outcomes
        if n_outcomes == 1:
            return rows
        draws = self.np_random.random(self.num_envs)
        passed = draws >= self._cdf.take(rows, axis=1)
        outcome: Indices = np.add.reduce(passed, axis=0, dtype=np.intp)
        outcome += rows * n_outcomes
        return outcome

    def _restart(self, where: Indices) -> None:
        """Puts these agents into start states."""
        starts = self._starts
        if len(starts) > 1:
            draws = self.np_random.random(len(where))
            starts = starts.take(self.task.start_cdf.searchsorted(draws, side="right"))
        self.state[where] = starts
        self._elapsed[where] = 0

    def _endings(self, ended: Bools) -> tuple[Bools, Bools, Bools]:
        """Which episodes terminated, which were truncated, and which attempts are over."""
        if self.task.continual:
            self._restart(np.flatnonzero(ended))
            nothing = np.zeros((2, self.num_envs), np.bool_)
            return nothing[0], nothing[1], ended
        if self.task.time_limit is None:
            truncated = np.zeros(self.num_envs, np.bool_)
        else:
            truncated = (self._elapsed >= self.task.time_limit) & ~ended
        attempt_over = ended | truncated
        self._over = np.flatnonzero(attempt_over)
        return ended, truncated, attempt_over

    def _reset_in_step(self, observations: Indices, infos: dict[str, Any]) -> None:
        """Moves what the agents whose episode is over have seen last to ``final_*``."""
        over, self._over = self._over, self._over[:0]
        present = np.zeros(self.num_envs, np.bool_)
        present[over] = True
        final_obs = np.full(self.num_envs, None, object)
        final_obs[over] = observations[over]
        infos["final_info"] = masked(infos, present)
        infos["final_obs"] = final_obs
        infos["_final_info"] = present
        infos["_final_obs"] = present.copy()
        self._restart(over)
        observations[over] = self._observation.take(self.state[over])
        infos["shown"][over] = observations[over]
        infos["cue"][over] = self.task.cue.take(self.state[over], axis=0)
        infos["attempt_over"][over] = infos["success"][over] = False

    def _infos(self, observations: Indices, attempt_over: Bools, success: Bools) -> dict[str, Any]:
        infos = {
            "shown": observations.copy(),
            "cue": self.task.cue.take(self.state, axis=0),
            "attempt_over": attempt_over,
            "success": success,
        }
        return with_presence(infos, self.num_envs)
