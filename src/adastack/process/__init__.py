"""A task with a memory folded in, the paper's process M_k, and what its steps count for."""

from adastack.process.induced import Induced, TooLargeError, induce

__all__ = ["Induced", "TooLargeError", "induce"]
