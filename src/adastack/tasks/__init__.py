"""Tasks and worlds in which something must be remembered."""

from adastack.tasks.classics import heaven_hell, key_order, office
from adastack.tasks.entry import PaperRow, Resolved, TaskEntry
from adastack.tasks.environment import FiniteTaskEnv, FiniteTaskVectorEnv
from adastack.tasks.finite import FiniteTask, Picture
from adastack.tasks.pomdp_file import PomdpError
from adastack.tasks.pomdp_task import pomdp
from adastack.tasks.recall import memory_length, repeat_first
from adastack.tasks.registry import TASKS, make_task, register_task, resolve
from adastack.tasks.tmaze import active_tmaze, passive_tmaze
from adastack.tasks.xormaze import xormaze

__all__ = [
    "TASKS",
    "FiniteTask",
    "FiniteTaskEnv",
    "FiniteTaskVectorEnv",
    "PaperRow",
    "Picture",
    "PomdpError",
    "Resolved",
    "TaskEntry",
    "active_tmaze",
    "heaven_hell",
    "key_order",
    "make_task",
    "memory_length",
    "office",
    "passive_tmaze",
    "pomdp",
    "register_task",
    "repeat_first",
    "resolve",
    "xormaze",
]
