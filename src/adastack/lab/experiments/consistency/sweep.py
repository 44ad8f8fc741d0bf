"""Value-consistency of every task of the table that we have, and the fixed point of Q-learning."""

from __future__ import annotations

from adastack.lab.experiment import Scale
from adastack.lab.job import Job
from adastack.theory.table import SPECS

TD_TASKS = {
    "passive-tmaze:length=5": 2,
    "passive-tmaze:length=5,continual=true": 2,
    "active-tmaze:length=6": 2,
    "active-tmaze:length=6,continual=true": 2,
    "xormaze": 3,
    "heaven-hell": 2,
    "repeat-first": 2,
    "memory-length": 2,
    "office": 2,
    "key-order": 2,
}
"""Tasks with the slots that are enough for them."""
SMOKE = ("heaven-hell", "office")


def sweep(scale: Scale) -> list[Job]:
    """Exact computations alone."""
    specs = scale.pick(paper=SPECS, smoke=SMOKE)
    tasks = scale.pick(paper=tuple(TD_TASKS), smoke=SMOKE)
    return [
        *(Job("consistency", {"task": spec}) for spec in specs),
        *(Job("td", {"task": task, "k": TD_TASKS[task]}) for task in tasks),
    ]
