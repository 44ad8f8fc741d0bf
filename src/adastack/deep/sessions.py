"""Which session trains which task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adastack.deep.backend import enable_compilation_cache
from adastack.deep.finite_recurrent_session import RecurrentFiniteSession
from adastack.deep.finite_session import FiniteSession
from adastack.deep.functional_session import FunctionalSession
from adastack.deep.gym_session import GymSession
from adastack.deep.settings import PPOSettings
from adastack.process.policy import memory_rule
from adastack.settings import from_document
from adastack.tasks.entry import Resolved


def make_session(
    document: Mapping[str, Any], task: Resolved
) -> FiniteSession | FunctionalSession | GymSession:
    """The session that a run's settings ask for.

    Finite tasks are trained on their tables, functional tasks are compiled with the update, other
    environments are stepped on the host.
    """
    enable_compilation_cache()
    memory, k, seeds, steps = (document[key] for key in ("memory", "stack_size", "seeds", "steps"))
    settings = from_document(PPOSettings, document["settings"])
    if settings.keep_best and (task.kind != "finite" or settings.recurrent):
        raise ValueError(f"keep_best expects a finite task and no cell, actual: {task}")
    rest = memory_rule(memory, settings.fill_first), k, settings, seeds, steps
    if task.kind == "finite":
        made = RecurrentFiniteSession if settings.recurrent else FiniteSession
        return made(task.finite(), *rest)
    kind = GymSession if task.functional() is None else FunctionalSession
    return kind(task, *rest)
