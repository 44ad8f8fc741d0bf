"""PPO that learns what to remember, in one file to read and to change.

The agent walks a T-maze: a cue at the start says which arm to take at the end. It holds two
observations and chooses at every step which of them to evict.

    python examples/ppo_single_file.py                  # solves the maze in seconds
    python examples/ppo_single_file.py --memory frame   # the last two observations do not
"""

import argparse
from dataclasses import dataclass, fields

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

import adastack  # noqa: F401  (makes the mazes known to Gymnasium)
from adastack.wrappers.vector import MemoryStack


@dataclass(frozen=True)
class Settings:
    """What can be set on the command line."""

    env: str = "adastack/PassiveTMaze-v0"  # the environment; observations and actions are Discrete
    length: int = 5  # the length of the maze
    memory: str = "adaptive"  # the rule: adaptive, frame or push_skip
    stack_size: int = 2  # how many observations the agent holds
    seed: int = 0  # everything random follows from it
    total_steps: int = 30_000  # environment steps in all
    n_envs: int = 64  # environments side by side
    n_steps: int = 20  # steps of each between two updates
    n_epochs: int = 8  # passes over these steps
    batch_size: int = 320  # steps in a minibatch
    learning_rate: float = 3e-3  # Adam's step size
    gamma: float = 0.99  # discount
    gae_lambda: float = 1.0  # weight of longer returns in the advantage
    clip: float = 0.2  # how far a probability ratio may move
    entropy: float = 0.03  # weight of the entropy of both choices
    value_coef: float = 0.5  # weight of the value loss
    max_grad_norm: float = 0.5  # longer gradients are shortened to this


def make_envs(settings, n_envs):
    """Many mazes, each with a memory; a maze that is over begins anew in the same step."""
    envs = gym.make_vec(
        settings.env,
        num_envs=n_envs,
        vectorization_mode="vector_entry_point",
        autoreset_mode="SameStep",
        length=settings.length,
    )
    return MemoryStack(envs, settings.stack_size, rule=settings.memory, padding_type="empty")


class Agent(nn.Module):
    """Logits for every choice and a value, from the one-hot symbols of all slots."""

    def __init__(self, envs):
        super().__init__()
        self.symbols = int(envs.single_observation_space.nvec[0])
        space = envs.single_action_space
        # A passive memory leaves one choice, what to do; others add what to evict.
        self.choices = (
            [int(space.n)] if isinstance(space, gym.spaces.Discrete) else list(space.nvec)
        )
        n_inputs = self.symbols * envs.single_observation_space.shape[0]
        self.actor = network(n_inputs, sum(self.choices), 0.01)
        self.critic = network(n_inputs, 1, 1.0)

    def forward(self, stacks):
        """Stacks (batch, k) -> one distribution for each choice, and values (batch,)."""
        x = nn.functional.one_hot(stacks, self.symbols).float().flatten(1)
        logits = self.actor(x).split(self.choices, dim=1)
        return [Categorical(logits=part) for part in logits], self.critic(x).squeeze(1)


def network(n_inputs, n_outputs, gain):
    """Two hidden layers with tanh."""
    layers = [nn.Linear(n_inputs, 64), nn.Linear(64, 64), nn.Linear(64, n_outputs)]
    for layer, scale in zip(layers, (2**0.5, 2**0.5, gain), strict=True):
        nn.init.orthogonal_(layer.weight, scale)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(layers[0], nn.Tanh(), layers[1], nn.Tanh(), layers[2])


def log_prob(choices, actions):
    """The choices are made independently: their log-probabilities add up."""
    return sum(choice.log_prob(actions[:, i]) for i, choice in enumerate(choices))


def as_env_actions(actions):
    """One choice is a number, several are a row."""
    return actions.numpy() if actions.shape[1] > 1 else actions[:, 0].numpy()


@torch.no_grad()
def rollout(agent, envs, stacks, n_steps):
    """Plays; returns the stacks that come next and what happened, (steps, environments, ...)."""
    steps = {name: [] for name in ("stacks", "actions", "log_probs", "values", "rewards", "dones")}
    for _ in range(n_steps):
        choices, values = agent(stacks)
        actions = torch.stack([choice.sample() for choice in choices], dim=1)
        following, rewards, terminated, truncated, _ = envs.step(as_env_actions(actions))
        rewards = torch.as_tensor(rewards, dtype=torch.float32)
        dones = torch.as_tensor(terminated | truncated)
        happened = (stacks, actions, log_prob(choices, actions), values, rewards, dones)
        for name, value in zip(steps, happened, strict=True):
            steps[name].append(value)
        stacks = torch.as_tensor(following)
    return stacks, {name: torch.stack(values) for name, values in steps.items()}


@torch.no_grad()
def advantages(agent, stacks, steps, settings):
    """Generalised advantages; nothing flows back over the end of an episode."""
    _, following = agent(stacks)
    carried = torch.zeros_like(following)
    result = torch.zeros_like(steps["rewards"])
    for t in reversed(range(len(result))):
        alive = ~steps["dones"][t]
        error = steps["rewards"][t] + settings.gamma * following * alive - steps["values"][t]
        carried = error + settings.gamma * settings.gae_lambda * alive * carried
        result[t], following = carried, steps["values"][t]
    return result


def update(agent, optimizer, steps, advantage, settings):
    """A few epochs of clipped policy gradients and value regression."""
    data = {name: value.flatten(0, 1) for name, value in steps.items()}
    data |= {"advantage": advantage.flatten(), "returns": (advantage + steps["values"]).flatten()}
    for _ in range(settings.n_epochs):
        for rows in torch.randperm(len(data["returns"])).split(settings.batch_size):
            batch = {name: value[rows] for name, value in data.items()}
            loss = ppo_loss(agent, batch, settings)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), settings.max_grad_norm)
            optimizer.step()


def ppo_loss(agent, batch, settings):
    """The clipped objective, the value loss and the entropy of both choices."""
    choices, values = agent(batch["stacks"])
    ratio = (log_prob(choices, batch["actions"]) - batch["log_probs"]).exp()
    advantage = batch["advantage"]
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
    policy_loss = -torch.minimum(ratio * advantage, clipped * advantage).mean()
    value_loss = (values - batch["returns"]).square().mean()
    entropy = sum(choice.entropy().mean() for choice in choices)
    return policy_loss + settings.value_coef * value_loss - settings.entropy * entropy


@torch.no_grad()
def evaluate(agent, settings, n_envs=200):
    """The share of mazes in which the likeliest choices lead to the right goal."""
    envs = make_envs(settings, n_envs)
    stacks, _ = envs.reset(seed=settings.seed + 1)
    success, waiting = np.zeros(n_envs, bool), np.ones(n_envs, bool)
    while waiting.any():
        choices, _ = agent(torch.as_tensor(stacks))
        actions = torch.stack([choice.probs.argmax(dim=1) for choice in choices], dim=1)
        stacks, rewards, terminated, truncated, _ = envs.step(as_env_actions(actions))
        done = terminated | truncated
        success |= waiting & done & (rewards > 0)
        waiting &= ~done
    return float(success.mean())


def train(settings):
    """Trains and returns the success of the greedy policy."""
    torch.set_num_threads(1)
    torch.manual_seed(settings.seed)
    envs = make_envs(settings, settings.n_envs)
    agent = Agent(envs)
    optimizer = torch.optim.Adam(agent.parameters(), lr=settings.learning_rate, eps=1e-5)
    first, _ = envs.reset(seed=settings.seed)
    stacks: Tensor = torch.as_tensor(first)
    per_update = settings.n_envs * settings.n_steps
    for done in range(per_update, settings.total_steps + 1, per_update):
        stacks, steps = rollout(agent, envs, stacks, settings.n_steps)
        update(agent, optimizer, steps, advantages(agent, stacks, steps, settings), settings)
        over = steps["rewards"][steps["dones"]]
        print(f"step {done:7d}  success while learning {(over > 0).float().mean():.2f}")
    success = evaluate(agent, settings)
    print(f"{settings.memory} memory of {settings.stack_size}: success {success:.2f}")
    return success


def main():
    """Reads the settings from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for field in fields(Settings):
        parser.add_argument(
            "--" + field.name.replace("_", "-"), type=type(field.default), default=field.default
        )
    return train(Settings(**vars(parser.parse_args())))


if __name__ == "__main__":
    main()
