"""Rollouts over any Gymnasium vector environment, stepped on the host."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import numpy as np
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import iterate
from numpy.typing import NDArray

from adastack.deep.agent import Rollout, StackAgent
from adastack.deep.buffer import StoreOnce
from adastack.deep.explorer import After, Exploring
from adastack.deep.networks.observations import leaves_in
from adastack.deep.recurrent import begun_where
from adastack.deep.settings import PPOSettings
from adastack.deep.spaces import env_action, leaves_of
from adastack.deep.update import Params
from adastack.memory import Stack
from adastack.memory.regret import NOTHING, REGRETS, regrets
from adastack.process.events import ATTEMPT, step_flags
from adastack.tasks.failures import EnvironmentFailure, blamed
from adastack.wrappers.metrics import labels_of, outcome

Numbers = NDArray[Any]


class Saved(NamedTuple):
    """What a worker carries from one restart of its environments to the next."""

    params: Params
    moments: Any
    longest: Any
    """The longest wait so far that ended with a change; see `waits`."""


class HostTrainer(StackAgent):
    """An agent for the environments of a vector environment."""

    def __init__(self, env: VectorEnv, memory: str, stack_size: int, settings: PPOSettings) -> None:
        spaces = env.single_observation_space, env.single_action_space
        super().__init__(*spaces, memory, stack_size, settings)


class Worker:
    """One seed: its environments, its buffer and its weights."""

    def __init__(self, agent: StackAgent, env: VectorEnv, seed: int, name: str = "") -> None:
        self.agent, self.env, self.seed = agent, env, seed
        self.name = name or type(env.unwrapped).__name__
        n, k = env.num_envs, agent.stack_size
        self.buffer = StoreOnce(
            agent.memory, k, n, agent.settings.n_steps,
            [(shape, dtype) for shape, dtype, _ in agent.inputs.stored],
            [empty for _, _, empty in agent.inputs.stored], agent.repeats,
        )  # fmt: skip
        self.use(*agent.init(seed))
        # A symbol that does not exist would be a row of zeros to the network.
        columns = zip(leaves_in(agent.inputs.spec), agent.inputs.columns, strict=True)
        self.symbols = [empty if leaf.kind == "onehot" else None for leaf, (_, _, empty) in columns]
        self.labels = Stack("adaptive", k, n, [((), np.int64)])
        self.cues: Numbers | None = None
        self.is_success: Numbers | None = None
        """``is_success`` of each environment, if reported."""
        self.reports_success = False
        """Whether an info has ever reported success."""
        self.over = np.zeros(n, bool)
        self.time = np.zeros(n, np.float32)
        """Steps of each episode so far."""
        self.clock = 0
        self.longest = np.zeros((), np.int32)
        """The longest wait so far that ended with a change; see `waits`."""
        self.exploring: Exploring = agent.explorer.begin(n, seed, 0)
        self.carry = agent.first_carry(n)
        """What a cell has carried up to the current step."""

    @property
    def unknown(self) -> frozenset[str]:
        """Metrics that the environments have not reported."""
        success = () if self.reports_success else ("success",)
        return frozenset((*success, *(REGRETS if self.cues is None else ())))

    def close(self) -> None:
        """Closes the environments."""
        with blamed(self.name, "close"):
            self.env.close()

    def use(self, params: Params, moments: Any) -> None:
        """Goes on with other weights."""
        self.params, self.moments = params, moments

    def saved(self) -> Saved:
        """What `restore` needs, where the environments begin anew."""
        return Saved(self.params, self.moments, self.longest)

    def restore(self, saved: Saved) -> None:
        """Goes on with other weights and another longest wait."""
        self.use(saved.params, saved.moments)
        self.longest = np.asarray(saved.longest)

    def restart(self, update: int) -> None:
        """Begins new episodes everywhere, with a seed that depends on the update alone."""
        seed = int(np.random.default_rng([self.seed, 2, update]).integers(2**31))
        with blamed(self.name, "reset"):
            observation, infos = self.env.reset(seed=seed)
        self.time[:] = 0
        self.buffer.reset(self._stored(observation))
        with blamed(self.name, "its info"):
            self._see(infos, np.ones(self.env.num_envs, bool))
        self.exploring = self.agent.explorer.begin(
            self.env.num_envs, self.seed, update, int(self.longest)
        )
        self.carry = self.agent.first_carry(self.env.num_envs)

    def advance(self, update: int, total: int) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """A rollout and an update: rewards, flags, evicted slots and what `LEARNING` names."""
        t, s = self.agent, self.agent.settings
        shape = (s.n_steps, s.n_envs)
        reward, bootstrap = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        terminated, over = np.zeros(shape, bool), np.zeros(shape, bool)
        flags, evicted = np.zeros(shape, np.uint8), np.zeros(shape, np.uint16)
        actions, decisions, decided, carry = [], [], [], self.carry
        self.exploring = t.explorer.with_density(self.exploring, self.moments)
        self.buffer.begin()
        shown = self._shown()
        for i in range(s.n_steps):
            self.clock = update * s.n_steps + i
            drawn, decision, self.carry = t.explore(
                self.params, shown, self.exploring, self.seed, self.clock, self.buffer.filled(),
                self.carry,
            )  # fmt: skip
            joined = np.asarray(drawn)
            actions.append(joined)
            decisions.append(decision)
            reward[i], terminated[i], bootstrap[i], flags[i], evicted[i] = self.step(joined)
            over[i] = self.over
            before, shown = shown, self._shown()
            step = After(before, shown, reward[i], (flags[i] & ATTEMPT) > 0, over[i], terminated[i])
            self.exploring, done = t.explorer.go_on(
                self.exploring, joined, step, self.seed, self.clock
            )
            decided.append(done)
        if self.exploring.wait is not None:
            self.longest = np.asarray(self.exploring.wait.longest)[0]
        rollout = Rollout(
            self.buffer.columns, self.buffer.slots, np.stack(actions), reward, terminated, over,
            bootstrap, np.stack(decisions), jax.tree.map(lambda *parts: np.stack(parts), *decided),
            carry,
        )  # fmt: skip
        params, moments, learning = t.learn(
            self.params, self.moments, rollout,
            np.int32(self.seed), np.int32(update), np.float32(update / total),
        )  # fmt: skip
        self.use(params, moments)
        return reward, flags, evicted, np.asarray(learning)

    def step(self, joined: Numbers) -> tuple[Numbers, Numbers, Numbers, Numbers, Numbers]:
        """One step everywhere: rewards, terminations, values cut off, flags, evicted slots.

        The carry is already that after the current stacks have been read.
        """
        t = self.agent
        action, memory = t.split(joined)
        with blamed(self.name, "step"):
            observation, reward, terminated, truncated, infos = self.env.step(
                env_action(t.action_space, action)
            )
        self._check(reward)
        self.over = terminated | truncated
        bootstrap = np.zeros(len(reward), np.float32)
        if truncated.any() and not t.settings.limits_end:
            bootstrap = self._bootstrap(infos, truncated & ~terminated, memory)
        if self.over.any():
            self.carry = begun_where(self.over, self.carry)
        self.time = np.where(self.over, 0, self.time + 1).astype(np.float32)
        slots = self.buffer.push(memory, self._stored(observation), self.over)
        with blamed(self.name, "its info"):
            flags = self._flags(slots, infos)
        return reward, terminated, bootstrap, flags, slots

    def _shown(self) -> list[Numbers]:
        """What the stacks show."""
        return self.buffer.current()[: len(self.agent.inputs.columns)]

    def _stored(self, observation: Any) -> list[Numbers]:
        """What the buffer stores of observations: with a clock, also the time step."""
        leaves = self._leaves(observation)
        return [*leaves, self.time] if self.agent.settings.uses_clock else leaves

    def _leaves(self, observation: Any) -> list[Numbers]:
        space = self.agent.observation_space
        leaves = leaves_of(self.agent.inputs.spec, space, observation)
        for i, leaf in enumerate(leaves):
            if leaf.dtype.kind == "f" and not np.isfinite(leaf).all():
                env = int(np.argwhere(~np.isfinite(leaf))[0][0])
                raise FloatingPointError(
                    f"an observation of environment {env} (seed {self.seed}) of {self.name} is not "
                    f"a number at step {self.clock * len(leaf)}"
                )
            most = self.symbols[i]
            if most is not None and (leaf.min() < 0 or (leaf >= most).any()):
                env = int(np.argwhere((leaf < 0) | (leaf >= most))[0][0])
                shown = list(iterate(self.env.observation_space, observation))[env]
                raise EnvironmentFailure(
                    f"the environment {self.name} shows what its observation space does not hold: "
                    f"expected {space}, actual: {' '.join(str(shown).split())}"
                )
        return leaves

    def _check(self, reward: Numbers) -> None:
        if not np.isfinite(reward).all():
            env = int(np.flatnonzero(~np.isfinite(reward))[0])
            raise FloatingPointError(
                f"the reward of environment {env} (seed {self.seed}) of {self.name} is "
                f"{reward[env]} at step {self.clock * len(reward)}"
            )

    def _bootstrap(self, infos: dict[str, Any], cut: Numbers, memory: Numbers) -> Numbers:
        """The value of what a time limit cut off."""
        t, values = self.agent, np.zeros(len(cut), np.float32)
        for env in np.flatnonzero(cut):
            last = leaves_of(t.inputs.spec, t.observation_space, infos["final_obs"][env])
            if t.settings.uses_clock:
                last.append(self.time[env] + 1)
            stack, filled = self.buffer.last_stack(memory, int(env), last)
            carry = None if self.carry is None else self.carry[:, env : env + 1]
            values[env] = np.asarray(t.value(self.params, stack, filled, carry))[0]
        return values

    def _see(self, infos: dict[str, Any], fresh: Numbers) -> None:
        """Keeps the labels of the observations in the stacks, where they are reported."""
        shown, self.cues = labels_of(infos, len(fresh))
        if self.cues is not None and fresh.any():
            self.labels.reset([shown], None if self.agent.repeats else [np.array(NOTHING)], fresh)

    def _flags(self, slots: Numbers, infos: dict[str, Any]) -> Numbers:
        over = self.over
        final = infos.get("final_info", {})
        self.is_success = infos.get("is_success")
        ended, success = outcome({**infos, **_merged(infos, final, over)}, over)
        if success is None:
            success = np.zeros(len(over), bool)
        else:
            self.reports_success = True
        found = None
        if self.cues is not None:
            found = regrets(self.labels.columns[0], slots, self.cues, ended)
            self.labels.push(slots, [labels_of(infos, len(over))[0]])
        self._see(infos, over)
        flags: Numbers = step_flags(ended, success, found)
        return flags


def _merged(infos: dict[str, Any], final: dict[str, Any], over: Numbers) -> dict[str, Any]:
    """The outcomes that the last infos of episodes report, where an episode is over."""
    names = ("attempt_over", "success", "is_success")
    return {
        name: np.where(over, np.asarray(final[name]), np.asarray(infos.get(name, False)))
        for name in names
        if name in final
    }
