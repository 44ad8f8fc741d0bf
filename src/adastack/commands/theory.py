"""``adastack theory``: what can be known exactly about a task and a memory."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from adastack.commands import Output
from adastack.settings import printable
from adastack.tasks import resolve
from adastack.theory.answers import (
    consistency_answer,
    gap_answers,
    kappa_answer,
    largest_gaps,
    states_answers,
    sufficient_states,
    table_answer,
)
from adastack.theory.gap import plot_gaps
from adastack.theory.kappa import MAX_CHOICES, MAX_K
from adastack.theory.question import Question
from adastack.theory.table import SPECS

MEMORIES = ("adaptive", "frame")
"""Those whose states are counted."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The question, the task and the memory."""
    parser.add_argument("question", choices=tuple(ANSWERS), help="what to ask")
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
    if args.task is None and args.question != "consistency":
        raise ValueError(f"expected a task after {args.question!r}: see adastack tasks")
    if args.plot and not (args.question == "gap" and args.lengths):
        raise ValueError("--plot expects the question gap and --lengths")
    return {"question": args.question, **ANSWERS[args.question](args)}


def _kappa(args: argparse.Namespace) -> dict[str, Any]:
    answer = kappa_answer(Question.of(vars(args)))
    answer["values"] = {name: answer.pop(name) for name in ("optimum", "best_below")}
    return answer


def _gap(args: argparse.Namespace) -> dict[str, Any]:
    if not args.lengths:
        return {"task": args.task, "gaps": gap_answers(Question.of(vars(args)))}
    rows = list(largest_gaps(vars(args), args.lengths))
    if args.plot:
        points = [(row["length"], row["gap"]) for row in rows]
        plot_gaps({resolve(args.task).name: points}, args.plot)
    return {"task": args.task, "lengths": rows, "plot": args.plot}


def _consistency(args: argparse.Namespace) -> dict[str, Any]:
    if args.task is None:
        return {"table": [table_answer(spec) for spec in SPECS]}
    return consistency_answer(Question.of(vars(args)))


def _states(args: argparse.Namespace) -> dict[str, Any]:
    question = Question.of(vars(args))
    return {
        "task": question.task.name,
        "states": states_answers(question.task, MEMORIES, range(1, (args.k or 4) + 1)),
        "enough": sufficient_states(question, MEMORIES),
    }


ANSWERS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "kappa": _kappa,
    "gap": _gap,
    "consistency": _consistency,
    "states": _states,
}


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
    asked = printable(f"{result['task']}, {result['memory']} memory, {what}: kappa is ")
    console.print(Text(asked).append(str(found), "bold"))
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
    table = Table("stack", "action", "evicts", box=box.SIMPLE_HEAD, title="An optimal policy")
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
    which = "an" if result["consistent"] else "no"
    proved = "" if result["proved"] else " (the search stopped before this was proved)"
    console.print(
        f"{result['task']}, {result['rule']} memory of {result['stack_size']}: "
        f"{which} optimal policy is value-consistent{proved}"
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
