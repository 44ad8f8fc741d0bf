"""Agent: the Python API. An environment and a memory in, an agent that remembers out."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from adastack.agent_settings import AgentSettings
from adastack.algorithms import Session, algorithm, default_algo, default_preset, default_stack_size
from adastack.files import DamagedFileError
from adastack.learning_curve import picture_of, plot_curves
from adastack.process.policy import memory_rule
from adastack.progress import Silent, watch
from adastack.runs import Run, RunError
from adastack.tasks.checks import checked_integer
from adastack.tasks.registry import resolve
from adastack.tasks.text import without_text
from adastack.training import RunSpec, make_session, restored, task_of
from adastack.wrappers import MemoryStack

Callback = Callable[["Agent"], bool | None]
"""Called about once a second while an agent learns; False stops it."""


class Agent:
    """Learns what to do and what to remember.

    Args:
        env: A task or world by name (``"passive-tmaze:length=16"``), a Gymnasium id
            (``"CartPole-v1"``, ``"my_module:MyEnv-v0"``), an environment, a function that makes
            one, or a vector environment.
        memory: A memory rule: ``"adaptive"``, ``"frame"``, ``"push_skip"``, ``"none"`` or your own.
        k: The number of slots in the stack; by default 2, and 1 without a memory.
        algo: One of `adastack.algorithms.ALGORITHMS`; by default Sarsa where the task is a finite
            table and no cell is asked for, else PPO.
        net: The network over the slots: ``"mlp"``, ``"lstm"``, ``"transformer"`` or ``"cnn"``.
        seed: Where all random numbers come from.
        cell: A recurrent cell over the network: ``"gru"``, ``"lstm"``, ``"lru"`` or ``"none"``.
        preset: The settings to begin with; by default those that learn everywhere.
        settings: Settings that differ from the preset, such as ``learning_rate=1e-3``: see
            `adastack.agent_settings.AgentSettings`.

    Example:
        >>> from adastack import Agent
        >>> agent = Agent("passive-tmaze:length=6", k=2, seed=1)
        >>> agent.learn(100_000, progress=False).evaluate()["success"]
        1.0
    """

    def __init__(
        self,
        env: Any,
        memory: str = "adaptive",
        k: int | None = None,
        algo: str | None = None,
        net: str = "mlp",
        seed: int = 0,
        *,
        cell: str = "none",
        preset: str | None = None,
        **settings: Unpack[AgentSettings],
    ) -> None:
        self._task = resolve(env)
        algo = algo or ("ppo" if cell != "none" else default_algo(self._task))
        overrides: dict[str, Any] = dict(settings)
        if not algorithm(algo).tabular:
            overrides |= {"net": net, "cell": cell}
        elif cell != "none":
            raise ValueError(f"algo {algo} learns a table: cell is for ppo and grpo")
        preset = preset or default_preset(algo, self._task)
        # Sessions want to know how long they are; `learn` says it when it begins.
        self._document = RunSpec(
            task=self._task, memory=memory, stack_size=default_stack_size(memory, k), algo=algo,
            preset=preset, steps=1, seeds=[seed], overrides=overrides,
        ).document()  # fmt: skip
        self._session: Session | None = None
        self._rng = np.random.default_rng([seed, 3])

    def __repr__(self) -> str:
        asked = self._document
        words = (f"{name}={asked[name]!r}" for name in ("task", "memory", "stack_size", "algo"))
        return f"Agent({', '.join(words)}, steps={self.steps})"

    @property
    def settings(self) -> dict[str, Any]:
        """What the agent was asked to be, with every setting of its learner."""
        return {name: value for name, value in self._document.items() if name != "steps"}

    @property
    def steps(self) -> int:
        """Environment steps that it has learned from."""
        return 0 if self._session is None else self._session.steps_done

    def learn(self, steps: float, progress: bool = True, callback: Callback | None = None) -> Agent:
        """Learns for a number of environment steps, or goes on learning.

        Args:
            steps: How many, also written as ``2e5``; rounded up to whole updates.
            progress: Show how far it is, on a terminal as a bar, elsewhere as lines.
            callback: Called with the agent about once a second; if it returns False, learning ends.
        """
        steps = _whole(steps)
        session = self._lengthened(steps)
        with watch(self.steps + steps) if progress else nullcontext(Silent()) as shown:
            while not session.finished:
                session.advance()
                shown.update(session.steps_done, **session.recent())
                if callback is not None and callback(self) is False:
                    break
        return self

    def _lengthened(self, steps: int) -> Session:
        if self._session is None:
            self._document["steps"] = steps
            self._session = make_session(self._document, self._task)
            self._session.start()
        else:
            self._document["steps"] += steps
            self._session.extend(steps)
        return self._session

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = True,
    ) -> tuple[Any, Any]:
        """The joint action for a stack, or for a batch of stacks, that `wrap` shows.

        The arguments are those of Stable-Baselines3, whose ``evaluate_policy`` takes an agent. The
        stack is in the environment, so without a cell there is no state to carry.

        Args:
            observation: A stack, or a batch of stacks.
            state: What a cell has carried so far, as the last call returned it; None at first.
            episode_start: Whether an episode begins, for each of a batch.
            deterministic: Take the likeliest actions, or draw them.

        Returns:
            The joint actions, and with a cell its state for the next call, else None.
        """
        space = self._wrapped().observation_space
        single = _depth(observation) == _depth(space.sample())
        stacks = _map(lambda leaf: np.asarray(leaf)[None], observation) if single else observation
        action, memory, state = self._learned().choose(
            0, stacks, deterministic, self._rng, state, episode_start
        )
        form = self._wrapped().action_form
        joint = [form.join(a, int(m)) for a, m in zip(action, memory, strict=True)]
        return (joint[0] if single else np.stack(joint)), state

    def wrap(self, env: Any) -> MemoryStack:
        """An environment with this agent's memory, whose stacks `predict` understands."""
        settings = self._document["settings"]
        return MemoryStack(
            without_text(env),
            self._document["stack_size"],
            rule=memory_rule(self._document["memory"], settings.get("fill_first", False)),
            padding_type=settings.get("padding", "empty"),
        )

    def evaluate(
        self, episodes: int = 100, env: Any = None, deterministic: bool = True, seed: int = 0
    ) -> dict[str, Any]:
        """What the policy is worth.

        Args:
            episodes: How many to play, where the answer is not exact.
            env: Another environment with the same spaces, as for the constructor.
            deterministic: Take the likeliest actions, or draw anew at each step, as at the end of
                training.
            seed: Where the random numbers of the episodes come from.

        Returns:
            ``success``, ``return``, ``memory_regret`` and more; None where the environment does not
            tell.
        """
        other = None if env is None else resolve(env)
        rows, _ = self._learned().evaluate(other, episodes, deterministic, seed)
        return {name: value for name, value in rows[0].items() if name != "seed"}

    @property
    def curves(self) -> Any:
        """Metrics over the training, by step: a pandas table, or arrays by name without pandas."""
        found = {
            name: values if name == "step" else values[0]
            for name, values in self._learned().curves().items()
            if values.ndim < 3
        }
        try:
            import pandas  # type: ignore[import-untyped]
        except ImportError:
            return found
        return pandas.DataFrame(found).set_index("step")

    def plot(self, metrics: tuple[str, ...] = ("return", "success")) -> Any:
        """A matplotlib figure of the learning curves."""
        return plot_curves(self._learned().curves(), metrics)

    def watch(self, path: str | Path | None = None, *, seed: int = 0, max_steps: int = 200) -> Any:
        """An episode with its memory: shows itself in a notebook, or is written as a page.

        Args:
            path: Where to write the page (HTML); by default nowhere.
            seed: Of the episode.
            max_steps: How many steps to show at most.
        """
        from adastack.viewer.show import Show, drawn_env, episode_page

        env = drawn_env(self._task)
        wrapped = self.wrap(env)
        learned = self._learned()
        show = Show(
            f"{self._task} after {self.steps:,} steps".removeprefix("object:"),
            wrapped.rule.name,
            self._document["stack_size"],
            env,
            learned.act(learned.seeds[0], env),
            wrapped.padding_type,
        )
        page = episode_page(show.episode(seed=seed, max_steps=max_steps), show.title)
        if path is not None:
            page.write(Path(path))
        return page

    def save(self, folder: str | Path) -> Path:
        """Saves the agent: arrays and JSON, which ``adastack evaluate`` and ``watch`` read, too.

        Raises:
            RunError: If the folder already holds something.
        """
        arrays, meta = self._learned().checkpoint()
        run = Run.create(folder, self._document)
        run.save_checkpoint(arrays, **meta)
        run.save_picture(picture_of(self._learned().curves()))
        return run.path

    @classmethod
    def load(cls, folder: str | Path, env: Any = None) -> Agent:
        """Loads an agent that was saved, or trained on the command line.

        Args:
            folder: The folder of `save`, or of a run.
            env: The environment, where it was not given by name.
        """
        run = Run.open(folder)
        name = run.settings.get("task", "")
        if env is None and name.startswith("object:"):
            name = name.removeprefix("object:")
            raise RunError(
                f"{folder} was trained on {name}, which no other process can import: give env=..."
            )
        agent = cls.__new__(cls)
        agent._task = task_of(run.settings) if env is None else resolve(env)
        agent._document = dict(run.settings)
        try:
            agent._session = restored(run, agent._task)
        except DamagedFileError as error:
            if env is None:
                raise
            raise RunError(
                f"expected an environment with the observations and actions of {name}, "
                f"on which {folder} was trained, actual: {agent._task} ({error})"
            ) from None
        agent._rng = np.random.default_rng([run.settings["seeds"][0], 3])
        return agent

    def _learned(self) -> Session:
        if self._session is None:
            raise RunError("the agent has not learned anything yet: call learn(steps) first")
        return self._session

    def _wrapped(self) -> MemoryStack:
        if not hasattr(self, "_wrapper"):
            self._wrapper = self.wrap(self._task.env())
        return self._wrapper


def _whole(steps: Any) -> int:
    """A number of steps; 2e5 is one, too."""
    number = int(steps) if isinstance(steps, float) and steps.is_integer() else steps
    return checked_integer("steps", number, 1)


def _map(function: Callable[[Any], Any], observation: Any) -> Any:
    if isinstance(observation, dict):
        return {name: _map(function, part) for name, part in observation.items()}
    if isinstance(observation, tuple):
        return tuple(_map(function, part) for part in observation)
    return function(observation)


def _depth(observation: Any) -> int:
    """The axes of an observation's first array."""
    while isinstance(observation, dict | tuple):
        observation = next(
            iter(observation.values() if isinstance(observation, dict) else observation)
        )
    return int(np.ndim(observation))
