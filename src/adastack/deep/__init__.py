"""Deep agents that learn what to remember: PPO and GRPO in JAX."""

import os

from adastack.extras import check_installed

# XLA warns at length, for every program it loads from the compilation cache, that its own tuning
# preferences are not features of the machine. It reads this before jax is imported.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

check_installed("jax", "flax", "optax", extra="train")
