"""Jobs that are computed rather than learned: kappa, value gap, value-consistency, states, cost."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adastack.lab.execute import register_kind
from adastack.lab.manifest import to_jsonable
from adastack.process.induced import induce
from adastack.progress import Progress
from adastack.tasks import FiniteTask, make_task, resolve
from adastack.theory.consistency import optimal_consistency
from adastack.theory.cost import MEMORIES, NETS, SLIPS, Shape, cost, growth
from adastack.theory.gap import largest_gap, value_gaps
from adastack.theory.kappa import MAX_CHOICES, MAX_K, kappa
from adastack.theory.optimal import GAMMA
from adastack.theory.states import count_states
from adastack.theory.table import SPECS, consistency_table
from adastack.theory.td import td_outcome

Settings = Mapping[str, Any]
Result = dict[str, Any]
SIZES = (2, 16, 64)


@register_kind("kappa")
def find_kappa(settings: Settings, folder: Path, progress: Progress) -> Result:
    """The smallest sufficient stack. Settings: task; memory, max_k, gamma, criterion, max_choices.

    Gives kappa (or None, and why the search stopped), at_least, the value of perfect memory as
    optimum, and for each smaller k the best value.
    """
    found = kappa(
        make_task(settings["task"]), settings.get("memory", "adaptive"), **_search(settings)
    )
    best = {
        k: None if b is None else {"value": b.value, "upper": b.upper, "proved": b.proved}
        for k, b in found.smaller.items()
    }
    kept = ("task", "gamma", "criterion", "kappa", "at_least", "optimum", "stopped")
    return {
        **{name: getattr(found, name) for name in kept},
        "memory": found.rule,
        "best_below": to_jsonable(best),
    }


@register_kind("gap")
def find_gaps(settings: Settings, folder: Path, progress: Progress) -> Result:
    """The largest value gap. Settings: task; lengths, memory, k (kappa), gamma, criterion.

    Gives rows with length, stack, optimal, agent, gap and largest: one for each length, or one
    for the task as it is.
    """
    rows = []
    for done, length in enumerate(settings.get("lengths") or [None]):
        found = resolve(settings["task"])
        task = (found if length is None else found.with_options(length=length)).finite()
        gaps = value_gaps(
            task,
            _size(task, settings),
            settings.get("memory", "adaptive"),
            settings.get("gamma"),
            settings.get("criterion", "discounted"),
        )
        gap = largest_gap(gaps)
        rows.append({"length": length, **vars(gap), "gap": gap.gap})
        progress.update(done + 1)
    return {"task": settings["task"], "rows": rows}


@register_kind("consistency")
def find_consistency(settings: Settings, folder: Path, progress: Progress) -> Result:
    """Value-consistency. Settings: task; and memory, k, gamma, criterion if not the paper's row.

    A task of the paper's table gives its row: kappa, and whether optimal policies are consistent
    at discount 0.99, undiscounted, and exploring. Any other gives consistent, spread, witness.
    """
    spec = settings["task"]
    if spec in SPECS and set(settings) == {"task"}:
        row = consistency_table((spec,))[0]
        columns = {name: getattr(row, name) for name in ("discounted", "undiscounted", "exploring")}
        return {
            "task": spec,
            "kappa": row.kappa,
            "paper_kappa": row.paper_kappa,
            "paper_consistent": row.paper_consistent,
            **{name: found.consistent for name, found in columns.items()},
            "spread": to_jsonable({name: found.spread for name, found in columns.items()}),
            "witness": to_jsonable(row.discounted.witness),
        }
    task = make_task(spec)
    found = optimal_consistency(
        task,
        _size(task, settings),
        settings.get("memory", "adaptive"),
        settings.get("gamma"),
        settings.get("criterion", "discounted"),
    )
    document: Result = to_jsonable({**vars(found), "task": spec, "policy": None})
    return document


@register_kind("td")
def find_td(settings: Settings, folder: Path, progress: Progress) -> Result:
    """Where Q-learning under random behaviour ends. Settings: task, k; memory, gamma.

    Gives the value of acting greedily on its fixed point, the optimum, and whether that is optimal.
    """
    process = induce(make_task(settings["task"]), settings.get("memory", "adaptive"), settings["k"])
    found = td_outcome(process, settings.get("gamma", GAMMA))
    return {"task": settings["task"], **to_jsonable(vars(found))}


@register_kind("states")
def find_states(settings: Settings, folder: Path, progress: Progress) -> Result:
    """How many agent states there are. Settings: task; memories, sizes.

    Gives rows with rule, stack_size, reachable, pairs, possible, log10_policies.
    """
    task = make_task(settings["task"])
    rules = settings.get("memories", ("adaptive", "frame"))
    sizes = settings.get("sizes", (1, 2, 3, 4))
    rows = [count_states(task, rule, size) for rule in rules for size in sizes]
    return {"task": settings["task"], "rows": to_jsonable(rows)}


@register_kind("cost")
def find_costs(settings: Settings, folder: Path, progress: Progress) -> Result:
    """What memories cost. Settings, all optional: sizes (k), shape, counting, measured (true).

    Gives rows with net, memory, k and the four costs, for each of them ``measured``: what the
    compiler counts and how long it takes in a network of the same shape; growth; and slips.
    """
    from adastack.lab.measured_cost import measure

    shape = Shape(**settings.get("shape", {}))
    counting = settings.get("counting", "recounted")
    rows = []
    for net in NETS:
        for k in settings.get("sizes", SIZES):
            for memory in MEMORIES:
                counted = vars(cost(net, memory, k, shape, counting=counting))
                row: Result = {"net": net, "memory": memory, "k": k, **counted}
                if settings.get("measured", True):
                    row["measured"] = measure(net, memory, k, shape)
                rows.append(row)
                progress.update(len(rows))
    orders = [
        {"net": net, "memory": memory, **growth(net, memory, counting=counting)}
        for net in NETS
        for memory in MEMORIES
    ]
    return {"shape": vars(shape), "rows": rows, "growth": orders, "slips": list(SLIPS)}


def _search(settings: Settings) -> dict[str, Any]:
    return {
        "max_k": settings.get("max_k", MAX_K),
        "gamma": settings.get("gamma"),
        "criterion": settings.get("criterion", "discounted"),
        "max_choices": settings.get("max_choices", MAX_CHOICES),
    }


def _size(task: FiniteTask, settings: Settings) -> int:
    """The stack size asked for, or kappa."""
    if "k" in settings:
        return int(settings["k"])
    found = kappa(task, settings.get("memory", "adaptive"), **_search(settings))
    if found.kappa is None:
        raise ValueError(f"{task.name} has no known kappa ({found.stopped}): give k")
    return found.kappa
