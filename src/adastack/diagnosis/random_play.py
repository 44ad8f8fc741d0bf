"""What random actions are worth: the score of a policy that has learned nothing."""

from __future__ import annotations

from collections.abc import Iterable

from adastack.tasks.entry import Resolved
from adastack.tasks.failures import blamed

EPISODES = 30
MOST_STEPS = 3000


def random_score(task: Resolved, metric: str, seed: int) -> float:
    """The mean return of some attempts, or the reward per 1000 steps.

    Args:
        task: The task.
        metric: ``"return"`` or ``"reward_rate"``.
        seed: Of the environment and of the actions.

    Raises:
        EnvironmentFailure: If the environment raises an exception.
    """
    name = str(task).removeprefix("object:")
    with blamed(name, "making it"):
        env = task.env()
    env.action_space.seed(seed)
    returns: list[float] = []
    current, total, steps, over = 0.0, 0.0, 0, True
    while len(returns) < EPISODES and steps < MOST_STEPS:
        if over:
            with blamed(name, "reset"):
                env.reset(seed=seed if steps == 0 else None)
        with blamed(name, "step"):
            _, reward, terminated, truncated, info = env.step(env.action_space.sample())
        over = bool(terminated or truncated)
        current, total, steps = current + float(reward), total + float(reward), steps + 1
        if over or info.get("attempt_over", False):
            returns.append(current)
            current = 0.0
    env.close()
    if metric == "reward_rate":
        return 1000 * total / steps
    # An attempt that was cut counts only if no other has ended.
    return sum(returns) / len(returns) if returns else current


def random_scores(task: Resolved, metric: str, seeds: Iterable[int]) -> list[float]:
    """The score of each seed."""
    return [random_score(task, metric, seed) for seed in seeds]
