"""A frame stack as long as the maze, with the paper's settings, in Stable-Baselines3.

With corridors of random length the cue can stand in any slot, and an MLP learns each slot on its
own; with ``--fixed`` it is always in the oldest one.
"""

import argparse

from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy
from torch.nn import Tanh

import adastack  # noqa: F401  (makes the mazes known to Gymnasium)
from adastack.integrations.sb3 import VecStack


def main():
    """Learns a maze and says how often it succeeds, every tenth of the way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fixed", action="store_true", help="corridors of one length")
    parser.add_argument("--padding", default="empty", choices=("empty", "zero", "reset"))
    args = parser.parse_args()
    maze = {"length": args.length, "random_length": not args.fixed}

    def environments(n_envs):
        venv = make_vec_env("adastack/PassiveTMaze-v0", n_envs, env_kwargs=maze, seed=args.seed)
        return VecStack(venv, args.length, rule="frame", padding_type=args.padding)

    model = PPO(
        "MlpPolicy",
        environments(1),
        n_steps=128,
        batch_size=128,
        n_epochs=10,
        learning_rate=3e-4,
        policy_kwargs={"net_arch": [128] * 3, "activation_fn": Tanh},
        seed=args.seed,
        device="cpu",
    )
    for part in range(10):
        model.learn(args.steps // 10, reset_num_timesteps=part == 0)
        mean_return, _ = evaluate_policy(model, environments(10), n_eval_episodes=200)
        print(f"steps {model.num_timesteps}, success {(mean_return + 1) / 2:.2f}")


if __name__ == "__main__":
    main()
