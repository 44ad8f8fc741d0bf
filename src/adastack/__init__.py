"""adastack: reinforcement-learning agents that learn what to remember.

Importing it makes its tasks known to Gymnasium: ``gymnasium.make("adastack/PassiveTMaze-v0")``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from adastack.tasks import registry as _registry
from adastack.wrappers import AdaptiveStack, FrameStack

if TYPE_CHECKING:
    from adastack.agent import Agent
    from adastack.diagnosis.diagnosis import diagnose

__version__ = "0.1.0"
__all__ = ["AdaptiveStack", "Agent", "FrameStack", "__version__", "diagnose"]
_FROM = {"Agent": "adastack.agent", "diagnose": "adastack.diagnosis.diagnosis"}

del _registry


def __getattr__(name: str) -> Any:
    # An agent needs the learners; wrappers and mazes need numpy and Gymnasium alone.
    if name not in _FROM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_FROM[name]), name)
