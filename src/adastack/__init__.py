"""adastack: reinforcement-learning agents that learn what to remember."""

__version__ = "0.1.0"
