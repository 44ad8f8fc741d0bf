"""Deep agents that learn what to remember: PPO and GRPO in JAX."""

import os

# XLA warns at length, for every program it loads from the compilation cache, that its own tuning
# preferences are not features of the machine. It reads this before jax is imported.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
