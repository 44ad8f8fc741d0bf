"""The same PPO as Stable-Baselines3's, as far as learning curves can tell."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from adastack.deep.finite import FiniteTrainer
from adastack.deep.settings import PPOSettings
from adastack.process import induce
from adastack.process.events import ATTEMPT, SUCCESS
from adastack.tasks import passive_tmaze
from adastack.tasks.environment import FiniteTaskEnv
from adastack.wrappers import AdaptiveStack

SEEDS, UPDATES, PARTS = 10, 160, 4


def ours(length):
    """(seeds, parts): success in each quarter of the run."""
    trainer = FiniteTrainer(induce(passive_tmaze(length), "adaptive", 2), PPOSettings())
    learner, seeds = trainer.init(range(SEEDS)), jnp.arange(SEEDS)
    _, log, _ = trainer.chunk(learner, seeds, 0, UPDATES, UPDATES, capacity=UPDATES)
    flags = np.asarray(log.flags).reshape(PARTS, -1, SEEDS, 128)
    won = ((flags & SUCCESS) > 0).sum(axis=(1, 3))
    return (won / ((flags & ATTEMPT) > 0).sum(axis=(1, 3))).T


def theirs(length):
    stable_baselines3 = pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.callbacks import BaseCallback

    class Outcomes(BaseCallback):
        def __init__(self):
            super().__init__()
            self.rewards = []

        def _on_step(self):
            if self.locals["dones"][0]:
                self.rewards.append((self.num_timesteps, float(self.locals["rewards"][0])))
            return True

    rows = []
    for seed in range(SEEDS):
        env = AdaptiveStack(FiniteTaskEnv(passive_tmaze(length)), 2, padding_type="empty")
        model = stable_baselines3.PPO(
            "MlpPolicy", env, n_steps=128, batch_size=128, n_epochs=10, seed=seed, device="cpu",
            policy_kwargs={"net_arch": [128, 128, 128]},
        )  # fmt: skip
        outcomes = Outcomes()
        model.learn(128 * UPDATES, callback=outcomes)
        when, reward = np.array(outcomes.rewards).T
        part = np.minimum((when - 1) * PARTS // (128 * UPDATES), PARTS - 1)
        rows.append([(reward[part == i] > 0).mean() for i in range(PARTS)])
    return np.array(rows)


@pytest.mark.slow
@pytest.mark.parametrize("length", [5, 10])
def test_learning_curves_agree_within_seed_noise(length):
    """A rank test in every quarter, and nothing may be far apart; a broken learner fails both."""
    our_curves, their_curves = ours(length), theirs(length)
    for i in range(PARTS):
        p = stats.mannwhitneyu(our_curves[:, i], their_curves[:, i]).pvalue
        assert p > 0.01, (i, our_curves[:, i].round(2), their_curves[:, i].round(2))
    gap = abs(our_curves.mean(axis=0) - their_curves.mean(axis=0))
    assert (gap < 0.3).all(), gap
    assert our_curves[:, -1].max() > 0.95
