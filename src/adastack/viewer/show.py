"""What a trained run does: its policy, in an environment with its memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from adastack.process.policy import Act, begin_episode, memory_rule
from adastack.runs import Run, RunError
from adastack.tasks import FiniteTaskEnv
from adastack.tasks.entry import Resolved
from adastack.tasks.registry import resolve
from adastack.training import restored
from adastack.viewer.episode import record, spelled
from adastack.viewer.film import Film, shoot
from adastack.viewer.page import Page
from adastack.wrappers import MemoryStack


@dataclass(frozen=True)
class Show:
    """A policy and the environment it is watched in."""

    title: str
    rule: str
    stack_size: int
    env: gymnasium.Env[Any, Any]
    """Without its memory; `drawn_env` makes it."""
    act: Act
    padding: str = "empty"
    """What slots show that nothing has come to yet: ``"empty"``, or ``"reset"``, the first."""

    def film(self, *, seed: int = 0, max_steps: int = 200) -> Film:
        """An episode in pictures."""
        return shoot(self.with_memory(), self.act, seed=seed, max_steps=max_steps)

    def episode(self, *, seed: int = 0, max_steps: int = 200) -> dict[str, Any]:
        """An episode for a page: drawn by the page if the task is finite, else in pictures."""
        if not isinstance(self.env, FiniteTaskEnv):
            return self.film(seed=seed, max_steps=max_steps).document()

        def player(stack: Any) -> tuple[int, int]:
            # A finite task's empty slots carry a symbol of their own: ages add nothing.
            return self.act(np.asarray(stack), np.zeros(0, np.int64))

        begin_episode(self.act)
        return record(
            self.env.task, self.rule, self.stack_size, player, seed=seed, max_steps=max_steps
        )

    def with_memory(self) -> MemoryStack:
        """The environment with its memory, whose stacks `act` reads."""
        return MemoryStack(self.env, self.stack_size, rule=self.rule, padding_type=self.padding)


def drawn_env(task: Resolved) -> gymnasium.Env[Any, Any]:
    """An environment of a task that draws itself, if it can."""
    try:
        return task.env(render_mode="rgb_array")
    except TypeError:  # It takes no render mode.
        return task.env()


def episode_page(episode: dict[str, Any], title: str) -> Page:
    """A page with one episode."""
    page = Page("What it remembers")
    page.text(
        "The framed slot is what the agent sees now; the others are what it remembers. "
        "A red cross marks what was evicted for it. Below, a bar for each observation that was "
        "kept; a click goes to that step."
    )
    if "legend" in episode:
        page.text(episode["legend"])
    page.episode(episode, title)
    return page


def show_of(run: Run, seed: int | None = None, task: str | Resolved | None = None) -> Show:
    """What one seed of a run has learned, ready to be watched.

    Args:
        run: The run.
        seed: One of the run's seeds; the first by default.
        task: Another task with the same observations, by its name, or the run's own where that has
            none that can be found; the run's own by default.

    Raises:
        RunError: If the run has no such seed, or has not been trained yet.
        ValueError: If the policy cannot be played on the task.
    """
    session = restored(run, task if isinstance(task, Resolved) else None)
    settings, seeds = run.settings, session.seeds
    seed = seeds[0] if seed is None else seed
    if seed not in seeds:
        raise RunError(f"expected a seed of {', '.join(map(str, seeds))}, actual: {seed}")
    spec, memory, k = task or settings["task"], settings["memory"], settings["stack_size"]
    env = drawn_env(resolve(spec, stored=task is None))
    name = spelled(str(spec).removeprefix("object:"))
    title = f"{name}: {settings['algo']} with {memory} memory, {k} slots, seed {seed}"
    chosen = settings["settings"]
    rule = memory_rule(memory, chosen.get("fill_first", False))
    padding = chosen.get("padding", "empty")
    return Show(title, rule, k, env, session.act(seed, env), padding)
