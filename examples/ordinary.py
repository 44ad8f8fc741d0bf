"""Ordinary memory tasks, learned with nothing but the defaults.

python examples/ordinary.py delay|colours|goal|images [--seeds 0 1 2] [--steps 200000]
                            [--pays 1 -1]
"""

import argparse

import gymnasium as gym
import numpy as np

from adastack import Agent


class Task(gym.Env):
    """An episode that ends at step ``last``; subclasses show, move and judge."""

    pays = (1.0, -1.0)
    """For a right decision, and for a wrong one."""

    def reset(self, *, seed=None, options=None):
        """Begins an episode."""
        super().reset(seed=seed)
        self.clock = 0
        self.begin()
        return self.show(), {}

    def decide(self, action, answer):
        """A decision at the last step is paid, nothing before."""
        over = self.clock == self.last
        right = bool(over and int(action) == answer)
        self.clock += 1
        reward = self.pays[not right] if over else 0.0
        return self.show(), reward, bool(over), False, {"is_success": right}


class Delay(Task):
    """A sign within the first five steps, 30 steps of noise, a decision; real numbers."""

    observation_space = gym.spaces.Box(-1, 1, (3,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def begin(self):
        """Draws the sign and when it is shown."""
        self.sign, self.shown_at = self.np_random.integers([2, 5])
        self.last = self.shown_at + 31

    def show(self):
        """A number, whether it is the sign, whether the sign is asked for."""
        if self.clock == self.shown_at:
            return np.array([2 * self.sign - 1, 1, 0], np.float32)
        return np.array([self.np_random.uniform(-1, 1), 0, self.clock == self.last], np.float32)

    def step(self, action):
        """Asks for the sign."""
        return self.decide(action, self.sign)


class Colours(Task):
    """One of four colours, 20 blanks, recall; symbols."""

    observation_space = gym.spaces.Discrete(6)
    action_space = gym.spaces.Discrete(4)
    last = 21

    def begin(self):
        """Draws the colour."""
        self.colour = int(self.np_random.integers(4))

    def show(self):
        """The colour, a blank, or the question."""
        return self.colour if self.clock == 0 else 4 + (self.clock == self.last)

    def step(self, action):
        """Asks for the colour."""
        return self.decide(action, self.colour)


class Goal(Task):
    """A place in the plane, shown twice, then hidden; Box actions."""

    observation_space = gym.spaces.Box(-2, 2, (4,), np.float32)
    action_space = gym.spaces.Box(-1, 1, (2,), np.float32)
    last = 25

    def begin(self):
        """Draws where to start and where to go."""
        self.here, self.goal = self.np_random.uniform(-1, 1, (2, 2))

    def show(self):
        """Where it is, and at first where to go."""
        return np.concatenate([self.here, self.goal * (self.clock < 2)]).astype(np.float32)

    def step(self, action):
        """Pays the negative distance; being within 0.15 at the end is a success."""
        self.here = np.clip(self.here + 0.15 * np.clip(action, -1, 1), -1.2, 1.2)
        self.clock += 1
        distance = float(np.hypot(*(self.here - self.goal)))
        return (
            self.show(),
            -distance,
            False,
            self.clock >= self.last,
            {"is_success": distance < 0.15},
        )


class Images(Task):
    """A bright side in the first of fourteen noisy images of 8 x 8, a decision at the last."""

    observation_space = gym.spaces.Box(0, 255, (8, 8, 1), np.uint8)
    action_space = gym.spaces.Discrete(2)
    last = 13

    def begin(self):
        """Draws the side."""
        self.side = int(self.np_random.integers(2))

    def show(self):
        """Noise; a bright side at first, a bright bar at the end."""
        image = self.np_random.integers(0, 160, (8, 8, 1)).astype(np.uint8)
        if self.clock == 0:
            image[:, slice(0, 2) if self.side else slice(6, 8)] = 255
        elif self.clock == self.last:
            image[3:5] = 255
        return image

    def step(self, action):
        """Asks for the side."""
        return self.decide(action, self.side)


TASKS = {"delay": (Delay, 2), "colours": (Colours, 2), "goal": (Goal, 4), "images": (Images, 2)}
"""Each environment and its number of slots."""


def main():
    """Prints the greedy success of each seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=200_000)
    parser.add_argument("--pays", type=float, nargs=2, default=Task.pays)
    args = parser.parse_args()
    Task.pays = args.pays
    env, k = TASKS[args.task]
    for seed in args.seeds:
        agent = Agent(env, k=k, seed=seed).learn(args.steps, progress=False)
        print(args.task, seed, f"{agent.evaluate(200)['success']:.3f}", flush=True)


if __name__ == "__main__":
    main()
