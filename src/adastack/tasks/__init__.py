"""What has to be remembered: tasks."""

import importlib
from typing import TYPE_CHECKING, Any

from adastack.tasks.classics import heaven_hell, key_order, office
from adastack.tasks.finite import FiniteTask, Picture
from adastack.tasks.recall import memory_length, repeat_first
from adastack.tasks.registry import TASKS, PaperRow, TaskEntry, make_task, register_task
from adastack.tasks.tmaze import active_tmaze, passive_tmaze
from adastack.tasks.worlds import WORLDS, ConfiguredWorld, World, make_world
from adastack.tasks.xormaze import xormaze

if TYPE_CHECKING:
    from adastack.tasks.environment import FiniteTaskEnv, FiniteTaskVectorEnv
    from adastack.tasks.pomdp_file import PomdpError
    from adastack.tasks.pomdp_task import pomdp

__all__ = [
    "TASKS",
    "WORLDS",
    "ConfiguredWorld",
    "FiniteTask",
    "FiniteTaskEnv",
    "FiniteTaskVectorEnv",
    "PaperRow",
    "Picture",
    "PomdpError",
    "TaskEntry",
    "World",
    "active_tmaze",
    "heaven_hell",
    "key_order",
    "make_task",
    "make_world",
    "memory_length",
    "office",
    "passive_tmaze",
    "pomdp",
    "register_task",
    "repeat_first",
    "xormaze",
]

# `import adastack` registers the tasks, so it passes through here: what needs numba, lark or
# Gymnasium's vector environments is loaded when it is first asked for.
_LATER = {
    "FiniteTaskEnv": "environment",
    "FiniteTaskVectorEnv": "environment",
    "PomdpError": "pomdp_file",
    "pomdp": "pomdp_task",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
