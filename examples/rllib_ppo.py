"""Adaptive stacking in RLlib (new API stack): actions are pairs, which RLlib samples natively."""

import argparse
import logging

import ray
from ray.rllib.algorithms.ppo import PPOConfig

from adastack.integrations.rllib import flatten, register

MAZE = {"env": "adastack/PassiveTMaze-v0", "env_kwargs": {"length": 5}}


def main():
    """Learns a maze and says how well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, default=36)
    parser.add_argument("--memory", default="adaptive")
    args = parser.parse_args()
    if not ray.is_initialized():
        ray.init(num_cpus=1, include_dashboard=False, logging_level=logging.ERROR)
    memory = {"stack_size": 2, "rule": args.memory, "padding_type": "empty"}
    config = (
        PPOConfig()
        .environment(register(), env_config={**MAZE, **memory})
        .env_runners(num_env_runners=0, num_envs_per_env_runner=32, env_to_module_connector=flatten)
        .learners(num_learners=0)
        .rl_module(model_config={"fcnet_hiddens": [64, 64]})
        .training(
            lr=3e-3,
            train_batch_size_per_learner=1280,
            minibatch_size=320,
            num_epochs=8,
            entropy_coeff=0.03,
            lambda_=1.0,
            vf_loss_coeff=0.5,
            grad_clip=0.5,
        )
        .debugging(seed=0, log_level="ERROR")
    )
    algo = config.build_algo()
    for update in range(args.updates):
        mean_return = algo.train()["env_runners"]["episode_return_mean"]
        if update % 6 == 5:
            print(f"update {update + 1}: success while learning {(mean_return + 1) / 2:.2f}")
    algo.stop()


if __name__ == "__main__":
    main()
