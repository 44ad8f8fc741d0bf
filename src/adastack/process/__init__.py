"""A task with a memory folded in, the paper's process M_k, and what its steps count for."""

from adastack.extras import check_installed

check_installed("numba", "scipy", extra="train")

from adastack.process.induced import Induced, TooLargeError, induce

__all__ = ["Induced", "TooLargeError", "induce"]
