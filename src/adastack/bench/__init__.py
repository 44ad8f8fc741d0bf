"""Speed, measured: each figure is a ratio, or a rate, taken in one run."""

from adastack.bench.figure import Figure

__all__ = ["Figure"]
