"""Memory for any Gymnasium environment; `adastack.wrappers.vector` has the vector versions."""

from adastack.wrappers.metrics import RecordMemory
from adastack.wrappers.single import AdaptiveStack, FrameStack, MemoryStack, PushSkipStack

__all__ = ["AdaptiveStack", "FrameStack", "MemoryStack", "PushSkipStack", "RecordMemory"]
