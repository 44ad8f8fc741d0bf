"""Speed, measured: each figure is a ratio, or a rate, taken in one run."""

from adastack.extras import check_installed

check_installed("jax", extra="train")

from adastack.bench.figure import Figure

__all__ = ["Figure"]
