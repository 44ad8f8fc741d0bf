"""adastack: reinforcement-learning agents that learn what to remember.

Importing it makes its tasks known to Gymnasium: ``gymnasium.make("adastack/PassiveTMaze-v0")``.
"""

from adastack.tasks import registry as _registry

__version__ = "0.1.0"

del _registry
