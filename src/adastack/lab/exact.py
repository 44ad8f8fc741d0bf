"""Jobs that are computed rather than learned: kappa, value gap, value-consistency, states, cost."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adastack.lab.execute import register_kind
from adastack.process.induced import induce
from adastack.progress import Progress
from adastack.tasks import make_task
from adastack.theory import answers
from adastack.theory.benchmarks import BENCHMARKS
from adastack.theory.cost import Shape, cost_table
from adastack.theory.kappa import kappa
from adastack.theory.optimal import GAMMA
from adastack.theory.question import Question
from adastack.theory.table import SPECS
from adastack.theory.td import td_outcome
from adastack.theory.trials import branching_example, same_memory_trials, td_sides

Settings = Mapping[str, Any]
Result = dict[str, Any]
SIZES = (2, 16, 64)


@register_kind("kappa")
def find_kappa(settings: Settings, folder: Path, progress: Progress) -> Result:
    """The smallest sufficient stack. Settings: task; memory, max_k, gamma, criterion, max_choices.

    Gives what `answers.kappa_answer` does, but for the policy.
    """
    answer = answers.kappa_answer(Question.of(settings))
    del answer["policy"], answer["draws"]
    return answer


@register_kind("gap")
def find_gaps(settings: Settings, folder: Path, progress: Progress) -> Result:
    """The largest value gap. Settings: task; lengths, memory, k (kappa), gamma, criterion.

    Gives rows with length, stack, optimal, agent, gap and largest: one for each length, or one
    for the task as it is.
    """
    rows: list[Result] = []
    for row in answers.largest_gaps(settings, settings.get("lengths") or [None]):
        rows.append(row)
        progress.update(len(rows))
    return {"task": settings["task"], "rows": rows}


@register_kind("consistency")
def find_consistency(settings: Settings, folder: Path, progress: Progress) -> Result:
    """Value-consistency. Settings: task; and memory, k, gamma, criterion if not the paper's row.

    A task of the paper's table gives its row: kappa, and whether optimal policies are consistent
    at discount 0.99, undiscounted, and exploring. Any other gives consistent, spread, witness.
    """
    if settings["task"] in SPECS and set(settings) == {"task"}:
        return answers.table_answer(settings["task"])
    answer = answers.consistency_answer(Question.of(settings))
    return {**answer, "task": settings["task"], "policy": None}


@register_kind("td")
def find_td(settings: Settings, folder: Path, progress: Progress) -> Result:
    """Where Q-learning under random behaviour ends. Settings: task, k; memory, gamma.

    Gives the value of acting greedily on its fixed point, the optimum, and whether that is optimal.
    """
    process = induce(make_task(settings["task"]), settings.get("memory", "adaptive"), settings["k"])
    return {"task": settings["task"], **vars(td_outcome(process, settings.get("gamma", GAMMA)))}


@register_kind("theorem2")
def find_partial_orders(settings: Settings, folder: Path, progress: Progress) -> Result:
    """Theorem 2 by example and on random tasks. Settings: tasks, gamma.

    Gives the example's premise, conclusion, history, its values and whether both policies are
    value-consistent; and for policies that keep the same things how often the premise was met, and
    the conclusion true.
    """
    example, consistent = branching_example(settings["gamma"])
    same = same_memory_trials(settings["tasks"], settings["gamma"])
    return {"example": {**vars(example), "consistent": consistent}, "same": same._asdict()}


@register_kind("td-sides")
def find_td_sides(settings: Settings, folder: Path, progress: Progress) -> Result:
    """At how many stacks TD(0) ends below and above the true value. Settings: tasks, gamma."""
    return td_sides(settings["tasks"], settings["gamma"])._asdict()


@register_kind("smallest")
def find_smallest(settings: Settings, folder: Path, progress: Progress) -> Result:
    """The smallest sufficient stacks of a small benchmark. Settings: benchmark, and its parameters.

    Gives kappa, and frames, the smallest sufficient frame stack; None where the search stopped, and
    then ``kappa_at_least`` and ``frames_at_least`` are what was proved.
    """
    options = {name: value for name, value in settings.items() if name != "benchmark"}
    task = BENCHMARKS[settings["benchmark"]](**options)
    result: Result = {"task": task.name, "states": task.n_states}
    for name, rule in (("kappa", "adaptive"), ("frames", "frame")):
        found = kappa(task, rule)
        result |= {name: found.kappa, f"{name}_at_least": found.at_least}
    return result


@register_kind("states")
def find_states(settings: Settings, folder: Path, progress: Progress) -> Result:
    """How many agent states there are. Settings: task; memories, sizes.

    Gives rows with rule, stack_size, reachable, pairs, possible, log10_policies.
    """
    memories = settings.get("memories", ("adaptive", "frame"))
    sizes = settings.get("sizes", (1, 2, 3, 4))
    rows = answers.states_answers(make_task(settings["task"]), memories, sizes)
    return {"task": settings["task"], "rows": rows}


@register_kind("cost")
def find_costs(settings: Settings, folder: Path, progress: Progress) -> Result:
    """What memories cost. Settings, all optional: sizes (k), shape, counting, measured (true).

    Gives what `cost_table` does, and in each row as ``measured`` what the compiler counts and how
    long it takes in a network of the same shape.
    """
    from adastack.lab.measured_cost import measure

    shape = Shape(**settings.get("shape", {}))
    counting = settings.get("counting", "recounted")
    answer = cost_table(settings.get("sizes", SIZES), shape, counting=counting)
    if settings.get("measured", True):
        for done, row in enumerate(answer["rows"], start=1):
            row["measured"] = measure(row["net"], row["memory"], row["k"], shape)
            progress.update(done)
    return answer
