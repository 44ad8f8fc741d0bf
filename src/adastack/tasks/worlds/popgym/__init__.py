"""POPGym's environments, ported as functional tasks."""

from adastack.extras import check_installed

check_installed("jax", extra="train")
