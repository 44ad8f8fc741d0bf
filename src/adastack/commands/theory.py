"""``adastack theory``: what can be known exactly about a task and a memory."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from adastack.commands import Output
from adastack.memory import get_rule
from adastack.tasks import FiniteTask, make_task, resolve
from adastack.theory.consistency import optimal_consistency
from adastack.theory.gap import Gap, largest_gap, plot_gaps, value_gaps
from adastack.theory.kappa import MAX_CHOICES, MAX_K, KappaResult, kappa
from adastack.theory.stacks import StackPolicy
from adastack.theory.states import count_states
from adastack.theory.table import consistency_table

QUESTIONS = ("kappa", "gap", "consistency", "states")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The question, the task and the memory."""
    parser.add_argument("question", choices=QUESTIONS, help="what to ask")
    parser.add_argument(
        "task", nargs="?", help="the task; consistency without one gives the paper's table"
    )
    parser.add_argument("--memory", default="adaptive", help="the memory rule (adaptive)")
    parser.add_argument("--k", type=int, help="the stack size (kappa)")
    parser.add_argument("--max-k", type=int, default=MAX_K, help=f"try k up to this ({MAX_K})")
    parser.add_argument("--gamma", type=float, help="the discount (the task's own, or 0.99)")
    parser.add_argument(
        "--criterion",
        default="discounted",
        choices=("discounted", "average"),
        help="discounted, or average reward of a continual task (discounted)",
    )
    parser.add_argument(
        "--max-choices",
        type=int,
        default=MAX_CHOICES,
        metavar="N",
        help=f"how long to search, for each k ({MAX_CHOICES})",
    )
    parser.add_argument(
        "--lengths", type=int, nargs="+", metavar="L", help="gap: for these lengths of the task"
    )
    parser.add_argument("--plot", metavar="FILE", help="gap: draw it over --lengths")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Answers the question."""
    if args.question == "consistency" and args.task is None:
        return {
            "question": "consistency",
            "table": [_table_row(row) for row in consistency_table()],
        }
    if args.task is None:
        raise ValueError(f"expected a task after {args.question!r}: see adastack tasks")
    if args.plot and not (args.question == "gap" and args.lengths):
        raise ValueError("--plot expects the question gap and --lengths")
    get_rule(args.memory)
    answer: Callable[[argparse.Namespace], dict[str, Any]] = {
        "kappa": _kappa,
        "gap": _gap,
        "consistency": _consistency,
        "states": _states,
    }[args.question]
    return {"question": args.question, **answer(args)}


def _solve(args: argparse.Namespace, task: FiniteTask, memory: str | None = None) -> KappaResult:
    return kappa(
        task,
        memory or args.memory,
        args.max_k,
        args.gamma,
        args.criterion,
        max_choices=args.max_choices,
    )


def _kappa(args: argparse.Namespace) -> dict[str, Any]:
    task = make_task(args.task)
    found = _solve(args, task)
    best = {
        str(k): {"value": _finite(b.value), "upper": b.upper, "proved": b.proved}
        for k, b in found.smaller.items()
    }
    return {
        "task": found.task,
        "memory": found.rule,
        "gamma": found.gamma,
        "criterion": found.criterion,
        "kappa": found.kappa,
        "at_least": found.at_least,
        "policy": found.policy and _policy(task, found.rule, found.policy),
        "values": {"optimum": found.optimum, "best_below": best},
        "stopped": found.stopped,
    }


def _size(args: argparse.Namespace, task: FiniteTask) -> int:
    """The stack size asked for, or kappa."""
    if args.k is not None:
        return int(args.k)
    found = _solve(args, task)
    if found.kappa is None:
        raise ValueError(f"{task.name} has no known kappa ({found.stopped}): give --k")
    return found.kappa


def _gap(args: argparse.Namespace) -> dict[str, Any]:
    found = resolve(args.task)
    tasks = [found.with_options(length=n) for n in args.lengths] if args.lengths else [found]
    answers = []
    for task in (each.finite() for each in tasks):
        answers.append(
            value_gaps(
                task,
                _size(args, task),
                args.memory,
                args.gamma,
                args.criterion,
                max_choices=args.max_choices,
            )
        )
    if not args.lengths:
        return {"task": args.task, "gaps": [_gap_row(gap) for gap in answers[0]]}
    rows = [
        {"length": length, **_gap_row(largest_gap(gaps))}
        for length, gaps in zip(args.lengths, answers, strict=True)
    ]
    if args.plot:
        plot_gaps({found.name: [(row["length"], row["gap"]) for row in rows]}, args.plot)
    return {"task": args.task, "lengths": rows, "plot": args.plot}


def _gap_row(gap: Gap) -> dict[str, Any]:
    return asdict(gap) | {"gap": gap.gap}


def _consistency(args: argparse.Namespace) -> dict[str, Any]:
    task = make_task(args.task)
    found = optimal_consistency(
        task,
        _size(args, task),
        args.memory,
        args.gamma,
        args.criterion,
        max_choices=args.max_choices,
    )
    answer = asdict(found)
    if found.policy is not None:
        answer["policy"] = _policy(task, found.rule, found.policy)
    return answer


def _table_row(row: Any) -> dict[str, Any]:
    columns = ("discounted", "undiscounted", "exploring")
    return {
        "task": row.task,
        "kappa": row.kappa,
        "paper_kappa": row.paper_kappa,
        "paper_consistent": row.paper_consistent,
        **{name: getattr(row, name).consistent for name in columns},
        "spread": {name: getattr(row, name).spread for name in columns},
        "witness": row.discounted.witness and asdict(row.discounted.witness),
    }


def _states(args: argparse.Namespace) -> dict[str, Any]:
    task = make_task(args.task)
    sizes = range(1, (args.k or 4) + 1)
    rows = [asdict(count_states(task, rule, k)) for rule in ("adaptive", "frame") for k in sizes]
    enough: dict[str, Any] = {}
    for rule in ("adaptive", "frame"):
        found = _solve(args, task, rule)
        enough[rule] = (
            None if found.kappa is None else asdict(count_states(task, rule, found.kappa))
        )
    return {"task": task.name, "states": rows, "enough": enough}


def _policy(task: FiniteTask, rule: str, policy: StackPolicy) -> list[dict[str, Any]]:
    """The policy in words: what is in the stack, what is done, which slot is given up."""
    names = (*task.observation_names, "-")
    size = len(next(iter(policy)))
    slots = get_rule(rule).table(size)
    return [
        {
            "stack": [names[symbol] for symbol in stack],
            "action": task.action_names[action],
            "memory_action": memory_action,
            "evicted_slot": int(slots[memory_action, size - stack.count(task.empty)]),
        }
        for stack, (action, memory_action) in policy.items()
    ]


def _finite(value: float) -> float | None:
    return value if value > float("-inf") else None


def show(result: dict[str, Any]) -> None:
    """Prints the answer for a person."""
    shown = {
        "kappa": _show_kappa,
        "gap": _show_gap,
        "consistency": _show_consistency,
        "states": _show_states,
    }
    shown[result["question"]](Output(), result)


def _show_kappa(console: Console, result: dict[str, Any]) -> None:
    found = result["kappa"] if result["kappa"] is not None else f"at least {result['at_least']}"
    what = "average reward" if result["criterion"] == "average" else f"gamma {result['gamma']}"
    console.print(f"{result['task']}, {result['memory']} memory, {what}: kappa is [bold]{found}[/]")
    if result["stopped"]:
        console.print(result["stopped"])
    table = Table("k", "best value", "proved", box=box.SIMPLE_HEAD)
    for k, best in result["values"]["best_below"].items():
        value = "-" if best["value"] is None else f"{best['value']:.6g}"
        table.add_row(k, value, "yes" if best["proved"] else f"at most {best['upper']:.6g}")
    optimum = result["values"]["optimum"]
    table.add_row("perfect memory", "-" if optimum is None else f"{optimum:.6g}", "")
    console.print(table)
    if result["policy"]:
        _show_policy(console, result["policy"])


def _show_policy(console: Console, policy: list[dict[str, Any]]) -> None:
    table = Table("stack", "action", "gives up", box=box.SIMPLE_HEAD, title="An optimal policy")
    for row in policy:
        slot = row["evicted_slot"]
        table.add_row(" | ".join(row["stack"]), row["action"], f"slot {slot}: {row['stack'][slot]}")
    console.print(table)


def _show_gap(console: Console, result: dict[str, Any]) -> None:
    rows = result.get("lengths") or result["gaps"]
    columns = [name for name in ("length", "stack", "optimal", "agent", "gap") if name in rows[0]]
    heads = {"optimal": "V* when first met", "agent": "V_k", "gap": "gap"}
    table = Table(*(heads.get(name, name) for name in columns), box=box.SIMPLE_HEAD)
    for row in rows:
        values = (row[name] for name in columns)
        table.add_row(*(f"{v:.6g}" if isinstance(v, float) else str(v) for v in values))
    console.print(table)
    if result.get("plot"):
        console.print(f"wrote {result['plot']}")


def _show_consistency(console: Console, result: dict[str, Any]) -> None:
    if "table" in result:
        _show_table(console, result["table"])
        return
    answer = "value-consistent" if result["consistent"] else "not value-consistent"
    which = "an optimal policy is" if result["consistent"] else "no optimal policy is"
    proved = "" if result["proved"] else " (the search stopped before this was proved)"
    console.print(
        f"{result['task']}, {result['rule']} memory of {result['stack_size']}: {which} {proved}"
        f"{answer.removeprefix('not ')}"
    )
    if result["witness"]:
        console.print(f"both leave the stack {' | '.join(result['witness']['stack'])}:")
        pairs = zip(result["witness"]["histories"], result["witness"]["values"], strict=True)
        for history, value in pairs:
            console.print(f"  {value:.6g} after {', '.join(history)}", highlight=False)


def _show_table(console: Console, rows: list[dict[str, Any]]) -> None:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("task", no_wrap=True)
    heads = ("kappa", "paper's\nkappa", "paper\nticks", "optimal", "undis-\ncounted", "exploring")
    for head in heads:
        table.add_column(head)
    for row in rows:
        ticks = ("paper_consistent", "discounted", "undiscounted", "exploring")
        cells = ("yes" if row[name] else "no" for name in ticks)
        table.add_row(row["task"], str(row["kappa"]), row["paper_kappa"], *cells)
    console.print(table)
    console.print(
        "Whether all histories behind each stack have the same value: under an optimal policy "
        "at discount 0.99; for its total reward (differential value if continual); under the same "
        "policy with one action in ten at random."
    )


def _show_states(console: Console, result: dict[str, Any]) -> None:
    table = Table("memory", "k", "reachable", "possible", "policies", box=box.SIMPLE_HEAD)
    enough = [row for row in result["enough"].values() if row]
    for row in [*result["states"], *(row for row in enough if row not in result["states"])]:
        policies = row["log10_policies"]
        table.add_row(
            row["rule"] + (" (enough)" if row in enough else ""),
            str(row["stack_size"]),
            "too many" if row["reachable"] is None else f"{row['reachable']:,}",
            f"{row['possible']:,}",
            "-" if policies is None else f"10^{policies:.0f}",
        )
    console.print(table)
