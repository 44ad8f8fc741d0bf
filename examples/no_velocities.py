"""Classic control without velocities: the agent must remember where things were.

python examples/no_velocities.py cartpole|pendulum|mountain-car [--memory adaptive] [--k 2]
                                 [--seeds 0 1 2] [--steps 100000] [--set batch_size=100 ...]
"""

import argparse
import json

import gymnasium as gym
import numpy as np

from adastack import Agent

TASKS = {
    "cartpole": ("CartPole-v1", [0, 2], 100_000),
    "pendulum": ("Pendulum-v1", [0, 1], 100_000),
    "mountain-car": ("MountainCarContinuous-v0", [0], 300_000),
}
"""The environment, which of its numbers are shown, and the steps that rl-zoo gives it."""


def without_velocities(name):
    """The environment, with its positions alone."""
    env_id, shown, _ = TASKS[name]
    env = gym.make(env_id)
    full = env.observation_space
    space = gym.spaces.Box(full.low[shown], full.high[shown], dtype=np.float32)
    return gym.wrappers.TransformObservation(env, lambda seen: seen[shown], space)


def setting(text):
    """A name and a value, as in batch_size=100."""
    name, value = text.split("=")
    return name, json.loads(value)


def main():
    """Prints the mean return of 100 greedy episodes of each seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--memory", default="adaptive")
    parser.add_argument("--k", type=int, default=2)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int)
    parser.add_argument("--set", type=setting, nargs="+", default=[])
    args = parser.parse_args()
    steps = args.steps or TASKS[args.task][2]
    for seed in args.seeds:
        agent = Agent(
            lambda: without_velocities(args.task),
            memory=args.memory,
            k=args.k,
            seed=seed,
            **dict(args.set),
        ).learn(steps, progress=False)
        print(args.task, seed, f"{agent.evaluate(100)['return']:.1f}", flush=True)


if __name__ == "__main__":
    main()
