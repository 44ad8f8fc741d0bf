"""A memory rule of your own: one function, known everywhere once it is registered."""

import gymnasium as gym

import adastack  # makes the mazes known to Gymnasium
from adastack.memory import register_rule
from adastack.wrappers import MemoryStack


@register_rule("note_or_skip", actions=2)
def note_or_skip(memory_action, filled, stack_size):
    """0 skips the current observation, 1 notes it in place of the one before it."""
    return stack_size - 1 if memory_action == 0 else max(stack_size - 2, 0)


env = MemoryStack(gym.make("adastack/PassiveTMaze-v0", length=5), 2, rule="note_or_skip")
stack, info = env.reset(seed=0)
for memory_action in (1, 0, 0, 0):  # note the cue, skip the corridor
    stack, reward, terminated, truncated, info = env.step([0, memory_action])
print(f"adastack {adastack.__version__}: {stack}, slot ages {info['slot_ages']}")
