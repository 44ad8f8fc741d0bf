"""Rollouts over any Gymnasium vector environment: the other road into the same update."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.vector import VectorEnv
from jax import Array
from numpy.typing import NDArray

from adastack.deep.buffer import StoreOnce
from adastack.deep.gae import generalised_advantages, monte_carlo_returns
from adastack.deep.heads import Categorical, Gaussian, Product
from adastack.deep.initial import initial_params
from adastack.deep.networks import ActorCritic, act, check_net, read, spec_of
from adastack.deep.settings import PPOSettings
from adastack.deep.spaces import columns_of, env_action, head_of, leaves_of, nested
from adastack.deep.tables import ACTIVE_REGRET, MEMORY_REGRET, OVER, PASSIVE_REGRET, SUCCESS
from adastack.deep.update import Batch, Evaluation, Params, optimiser, rates_at, update
from adastack.memory import Stack, get_rule
from adastack.wrappers.metrics import NOTHING, outcome, regrets

Numbers = NDArray[Any]


class HostTrainer:
    """The networks and compiled functions that all seeds of a host run share."""

    def __init__(self, env: VectorEnv, memory: str, stack_size: int, settings: PPOSettings) -> None:
        self.settings, self.memory, self.stack_size = settings, memory, stack_size
        self.observation_space = env.single_observation_space
        self.action_space = env.single_action_space
        self.spec = spec_of(self.observation_space)
        check_net(settings.net, self.spec)
        self.columns = columns_of(self.spec, self.observation_space)
        self.n_memory = get_rule(memory).actions(stack_size)
        self.heads, self.n_actions = self._heads()
        first = self.heads.heads[0]
        deviations = first.size if isinstance(first, Gaussian) else 0
        self.net = ActorCritic(
            self.spec, settings.net, self.heads.n_outputs - deviations, deviations,
            settings.critic, settings.shared, settings.hidden,
        )  # fmt: skip
        self.act = jax.jit(self._act)
        self.greedy = jax.jit(self._greedy)
        self.value = jax.jit(lambda params, leaves: self._net(params, leaves)[1])
        self.learn = jax.jit(self._learn, donate_argnums=(0, 1))

    def _heads(self) -> tuple[Product, int]:
        """The heads, and the number of actions if there is one head for all pairs."""
        head = head_of(self.action_space)
        if self.settings.action_form == "factored":
            return Product((head, Categorical((self.n_memory,)))), 0
        if not isinstance(head, Categorical) or len(head.sizes) > 1:
            raise TypeError(f"action_form 'flat' expects Discrete, actual: {self.action_space}")
        return Product((Categorical((head.sizes[0] * self.n_memory,)),)), head.sizes[0]

    def init(self, seed: int) -> tuple[Params, Any]:
        """Fresh weights and moments."""
        rows = [np.zeros((1, self.stack_size, *shape), dtype) for shape, dtype, _ in self.columns]
        params = initial_params(self.net, nested(self.spec, rows), seed, self.settings.optimism)
        params = jax.tree.map(jnp.asarray, params)
        return params, optimiser(self.settings).init(params)

    def split(self, joined: Numbers) -> tuple[Numbers, Numbers]:
        """What `act` gave as the environment's action, one row each, and the memory action."""
        if self.n_actions:
            memory, action = np.divmod(joined[:, 0].astype(np.int64), self.n_actions)
            return action[:, None], memory
        return joined[:, :-1], joined[:, -1].astype(np.int64)

    def _net(self, params: Params, leaves: list[Array]) -> tuple[Array, Array]:
        return read(self.net, params, nested(self.spec, leaves))

    def _act(self, params: Params, leaves: list[Array], seed: Array, step: Array) -> Array:
        outputs = act(self.net, params, nested(self.spec, leaves))
        key = jax.random.fold_in(jax.random.key(seed), step)
        return jnp.concatenate(self.heads.sample(outputs, key), axis=1).astype(jnp.float32)

    def _greedy(self, params: Params, leaves: list[Array]) -> Array:
        outputs = act(self.net, params, nested(self.spec, leaves))
        return jnp.concatenate(self.heads.mode(outputs), axis=1).astype(jnp.float32)

    def _learn(
        self, params: Params, moments: Any, columns: list[Array], slots: Array, action: Array,
        reward: Array, terminated: Array, over: Array, bootstrap: Array, seed: Array,
        index: Array, progress: Array,
    ) -> tuple[Params, Any, Array]:  # fmt: skip
        """One update from one rollout; observations are gathered where they are needed."""
        s = self.settings

        def evaluate(params: Params, rows: Array, action: Array) -> Evaluation:
            outputs, value = self._net(params, [column[rows] for column in columns])
            entropies = self.heads.entropies(outputs)
            memory = entropies[1] if len(entropies) > 1 else jnp.zeros_like(value)
            log_prob = self.heads.log_prob(outputs, self._parts(action))
            return Evaluation(log_prob, entropies[0], memory, value)

        rows = slots[:-1].reshape(-1, slots.shape[-1])
        actions = action.reshape(len(rows), -1)
        said = evaluate(params, rows, actions)
        if s.critic:
            value = said.value.reshape(reward.shape)
            last = self._net(params, [column[slots[-1]] for column in columns])[1]
            next_value = jnp.where(over, bootstrap, jnp.concatenate([value[1:], last[None]]))
            advantage = generalised_advantages(
                reward, value, next_value, terminated, over, s.gamma, s.gae_lambda
            )
            returns = advantage + value
        else:
            advantage = returns = monte_carlo_returns(reward, over, s.gamma)
        batch = Batch(rows, actions, said.log_prob, advantage.reshape(-1), returns.reshape(-1))
        key = jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), 2**31 - 1), index)
        return update(params, moments, batch, key, rates_at(s, progress), evaluate, s)

    def _parts(self, action: Array) -> list[Array]:
        if self.n_actions:
            return [action]
        return [action[:, :-1], action[:, -1:]]


class Worker:
    """One seed: its environments, its buffer and its weights."""

    def __init__(self, trainer: HostTrainer, make_env: Callable[[], VectorEnv], seed: int) -> None:
        self.trainer, self.seed = trainer, seed
        s = trainer.settings
        self.env = make_env()
        self.buffer = StoreOnce(
            trainer.memory, trainer.stack_size, s.n_envs, s.n_steps,
            [(shape, dtype) for shape, dtype, _ in trainer.columns],
            [empty for _, _, empty in trainer.columns],
        )  # fmt: skip
        self.params, self.moments = trainer.init(seed)
        self.labels = Stack("adaptive", trainer.stack_size, s.n_envs, [((), np.int64)])
        self.cues: Numbers | None = None
        self.over = np.zeros(s.n_envs, bool)
        self.clock = 0

    def restart(self, update: int) -> None:
        """Begins new episodes everywhere, with a seed that depends on the update alone."""
        seed = int(np.random.default_rng([self.seed, 2, update]).integers(2**31))
        observation, infos = self.env.reset(seed=seed)
        self.buffer.reset(self._leaves(observation))
        self._see(infos, np.ones(self.env.num_envs, bool))

    def advance(self, update: int, total: int) -> tuple[Numbers, Numbers, Numbers, float]:
        """A rollout and an update; returns rewards, flags, evicted slots and the loss."""
        t, s = self.trainer, self.trainer.settings
        shape = (s.n_steps, s.n_envs)
        reward, bootstrap = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        terminated, over = np.zeros(shape, bool), np.zeros(shape, bool)
        flags, evicted = np.zeros(shape, np.uint8), np.zeros(shape, np.uint16)
        actions = []
        self.buffer.begin()
        for i in range(s.n_steps):
            self.clock = update * s.n_steps + i
            joined = np.asarray(t.act(self.params, self.buffer.current(), self.seed, self.clock))
            actions.append(joined)
            reward[i], terminated[i], bootstrap[i], flags[i], evicted[i] = self.step(joined)
            over[i] = self.over
        self.params, self.moments, loss = t.learn(
            self.params, self.moments, self.buffer.columns, self.buffer.slots,
            np.stack(actions), reward, terminated, over, bootstrap,
            np.int32(self.seed), np.int32(update), np.float32(update / total),
        )  # fmt: skip
        return reward, flags, evicted, float(loss)

    def step(self, joined: Numbers) -> tuple[Numbers, Numbers, Numbers, Numbers, Numbers]:
        """One step everywhere: rewards, terminations, values cut off, flags, evicted slots."""
        t = self.trainer
        action, memory = t.split(joined)
        observation, reward, terminated, truncated, infos = self.env.step(
            env_action(t.action_space, action)
        )
        self._check(reward)
        self.over = terminated | truncated
        bootstrap = np.zeros(len(reward), np.float32)
        if truncated.any():
            bootstrap = self._bootstrap(infos, truncated & ~terminated, memory)
        slots = self.buffer.push(memory, self._leaves(observation), self.over)
        return reward, terminated, bootstrap, self._flags(slots, infos), slots

    def _leaves(self, observation: Any) -> list[Numbers]:
        space = self.trainer.observation_space
        leaves = leaves_of(self.trainer.spec, space, observation)
        for leaf in leaves:
            if leaf.dtype.kind == "f" and not np.isfinite(leaf).all():
                env = int(np.argwhere(~np.isfinite(leaf))[0][0])
                raise FloatingPointError(
                    f"an observation of environment {env} (seed {self.seed}) is not a number "
                    f"at step {self.clock * len(leaf)}"
                )
        return leaves

    def _check(self, reward: Numbers) -> None:
        if not np.isfinite(reward).all():
            env = int(np.flatnonzero(~np.isfinite(reward))[0])
            raise FloatingPointError(
                f"the reward of environment {env} (seed {self.seed}) is {reward[env]} "
                f"at step {self.clock * len(reward)}"
            )

    def _bootstrap(self, infos: dict[str, Any], cut: Numbers, memory: Numbers) -> Numbers:
        """The value of what a time limit cut off."""
        t, values = self.trainer, np.zeros(len(cut), np.float32)
        for env in np.flatnonzero(cut):
            last = leaves_of(t.spec, t.observation_space, infos["final_obs"][env])
            stack = self.buffer.last_stack(memory, int(env), last)
            values[env] = np.asarray(t.value(self.params, stack))[0]
        return values

    def _see(self, infos: dict[str, Any], fresh: Numbers) -> None:
        """Keeps the labels of what the stacks show, where the environment tells."""
        if "cue" not in infos or "shown" not in infos:
            self.cues = None
            return
        self.cues = np.asarray(infos["cue"]).reshape(len(fresh), -1)
        shown = np.asarray(infos["shown"], np.int64)
        if fresh.any():
            self.labels.reset([shown], [np.array(NOTHING)], fresh)

    def _flags(self, slots: Numbers, infos: dict[str, Any]) -> Numbers:
        over = self.over
        final = infos.get("final_info", {})
        ended, success = outcome({**infos, **_merged(infos, final, over)}, over)
        flags = np.where(ended, OVER, 0) | np.where(ended & success, SUCCESS, 0)
        if self.cues is not None:
            found = regrets(self.labels.columns[0], slots, self.cues, ended)
            flags |= np.where(found.memory, MEMORY_REGRET, 0)
            flags |= np.where(found.active, ACTIVE_REGRET, 0)
            flags |= np.where(found.passive, PASSIVE_REGRET, 0)
            self.labels.push(slots, [np.asarray(infos["shown"], np.int64)])
        self._see(infos, over)
        return flags.astype(np.uint8)


def _merged(infos: dict[str, Any], final: dict[str, Any], over: Numbers) -> dict[str, Any]:
    """What the last info of an episode says about its outcome, where an episode is over."""
    names = ("attempt_over", "success", "is_success")
    return {
        name: np.where(over, np.asarray(final[name]), np.asarray(infos.get(name, False)))
        for name in names
        if name in final
    }
