"""An environment of your own: any Gymnasium environment takes a memory as it is."""

import gymnasium as gym

from adastack.wrappers import AdaptiveStack, RecordMemory


class Recall(gym.Env):
    """A number is shown once; five steps later it must be named."""

    observation_space, action_space = gym.spaces.Discrete(4), gym.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.number, self.time = int(self.np_random.integers(3)), 0
        return self.number, {"shown": self.number, "cue": [self.number]}

    def step(self, action):
        self.time += 1
        right = self.time == 5 and action == self.number
        told = {"shown": 3, "cue": [self.number], "success": right}
        return 3, float(right), self.time == 5, False, told


env = RecordMemory(AdaptiveStack(Recall(), stack_size=2, padding_type="empty"))
stack, info = env.reset(seed=0)
while "memory" not in info:  # until the attempt is over
    memory, current = stack
    slot = 0 if current < 3 else 1  # keep the number, evict the blanks
    stack, reward, terminated, truncated, info = env.step([memory % 3, slot])
print(f"reward {reward}, slot ages {info['slot_ages']}, {info['memory']}")
