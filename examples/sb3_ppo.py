"""Adaptive stacking in Stable-Baselines3: one more line than without it."""

import argparse

from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy

import adastack  # noqa: F401  (makes the mazes known to Gymnasium)
from adastack.integrations.sb3 import MemoryCallback, VecAdaptiveStack, export_policy

MAZE = {"env_id": "adastack/PassiveTMaze-v0", "env_kwargs": {"length": 5}}


def main():
    """Learns a maze, says how well, and writes the policy to a folder if one is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=12_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tensorboard", help="folder for TensorBoard")
    parser.add_argument("--export", help="folder for the policy")
    args = parser.parse_args()
    venv = VecAdaptiveStack(make_vec_env(n_envs=64, **MAZE), 2, padding_type="empty")
    model = PPO(
        "MlpPolicy",
        venv,
        n_steps=20,
        batch_size=320,
        n_epochs=8,
        learning_rate=3e-3,
        ent_coef=0.03,
        gae_lambda=1.0,
        seed=args.seed,
        device="cpu",
        tensorboard_log=args.tensorboard,
    )
    model.learn(args.steps, callback=MemoryCallback(interval=20))
    fresh = VecAdaptiveStack(make_vec_env(n_envs=20, **MAZE), 2, padding_type="empty")
    mean_return, _ = evaluate_policy(model, fresh, n_eval_episodes=200)
    print(f"success {(mean_return + 1) / 2:.2f}")
    if args.export:
        export_policy(args.export, model, fresh, task="Passive T-maze of length 5")


if __name__ == "__main__":
    main()
