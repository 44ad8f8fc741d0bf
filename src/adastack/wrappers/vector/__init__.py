"""Memory for vector environments: the vector versions of `adastack.wrappers`."""

from adastack.wrappers.vector.metrics import RecordMemory
from adastack.wrappers.vector.stack import AdaptiveStack, FrameStack, MemoryStack, PushSkipStack

__all__ = ["AdaptiveStack", "FrameStack", "MemoryStack", "PushSkipStack", "RecordMemory"]
