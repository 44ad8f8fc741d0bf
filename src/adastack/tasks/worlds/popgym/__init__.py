"""POPGym's tasks as functional tasks: twins of the package's environments."""

from adastack.extras import check_installed

check_installed("jax", extra="train")
