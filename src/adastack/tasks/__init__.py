"""What has to be remembered: tasks."""

from adastack.tasks.finite import FiniteTask, Picture
from adastack.tasks.induced import Induced, TooLargeError, induce
from adastack.tasks.tmaze import active_tmaze, passive_tmaze
from adastack.tasks.xormaze import xormaze

__all__ = [
    "FiniteTask",
    "Induced",
    "Picture",
    "TooLargeError",
    "active_tmaze",
    "induce",
    "passive_tmaze",
    "xormaze",
]
