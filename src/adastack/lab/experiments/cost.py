"""What a stack costs: formulas, recounted and as printed, and compiled networks of their shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from adastack.lab import figures
from adastack.lab.checks import exactly, judged
from adastack.lab.claims import Check, Claim, Found, all_of
from adastack.lab.experiment import Analysis, Experiment, Figure, Scale, Table
from adastack.lab.figures import Panel
from adastack.lab.job import Job
from adastack.lab.results import Results
from adastack.lab.statistics import Floats
from adastack.lab.studies.study_figures import analysis

SIZES = [2, 4, 16, 64]
MEASURES = {
    "action_flops": "Operations, one action",
    "update_flops": "Operations, one update",
    "action_bytes": "Bytes, one action",
    "update_bytes": "Bytes, one update",
}
LABELS = {"adaptive": "AS(k)", "frame": "FS(k)"}
NAMES = {"mlp": "MLP", "lstm": "LSTM", "transformer": "Transformer"}
PRINTED = {"mlp": (1, 1, 1, 1), "lstm": (1, 1, 1, 1), "transformer": (2, 1, 2, 1)}
"""Table 1: the power of k for compute of an action and an update, then memory."""
TABLE_ORDER = ("action_flops", "update_flops", "action_bytes", "update_bytes")
CLOSE = 0.1
RECOUNTED: Any = {"counting": "recounted", "sizes": SIZES}
"""The computation that claims are about."""


def sweep(scale: Scale) -> list[Job]:
    """Exact computations, and a few compilations."""
    settings: dict[str, Any] = scale.pick(
        paper={"sizes": SIZES},
        smoke={"sizes": [2], "shape": {"layers": 1, "hidden": 16, "batch": 8}},
    )
    return [
        Job("cost", {**settings, "counting": "recounted", "measured": True}),
        Job("cost", {**settings, "counting": "paper", "measured": False}),
    ]


def analyse(results: Results) -> Analysis:
    """A figure of operations per network, the counts and the growth."""
    found = results.exact("cost", counting="recounted")
    rows = found[0]["rows"] if found else []
    panels = [_panel(rows, net) for net in PRINTED]
    header = [
        "network",
        "memory",
        "k",
        *MEASURES.values(),
        "compiled: operations, one action",
        "us",
    ]
    table = [
        [r["net"], LABELS[r["memory"]], r["k"], *(f"{r[m]:,}" for m in MEASURES), *_measured(r)]
        for r in rows
    ]
    growth = [
        [r["net"], LABELS[r["memory"]], *(f"k^{r[m]}" for m in TABLE_ORDER)]
        for r in (found[0]["growth"] if found else [])
    ]
    caption = (
        "Operations for one action where two slots are enough for AS and a frame stack needs k*: "
        "counted (lines), and as the compiler counts them (crosses). With as many slots as FS, AS "
        "takes as much (see the table)."
    )
    return analysis(
        [
            Table("cost", header, table, "Width 128, three layers, four actions, batch 128."),
            Table("growth", ["network", "memory", *MEASURES.values()], growth, "As k grows."),
        ],
        [Figure("cost", caption, figures.lines(panels, columns=3, logarithmic=True))],
    )


def _panel(rows: list[dict[str, Any]], net: str) -> Panel:
    """One action with the two slots that are enough, and with a frame stack of all that are not."""
    mine = [row for row in rows if row["net"] == net]
    adaptive = [row["action_flops"] for row in mine if (row["memory"], row["k"]) == ("adaptive", 2)]
    groups: dict[str, dict[str, Floats]] = {}
    for row in mine:
        if row["memory"] == "frame":
            group = groups.setdefault(str(row["k"]), {})
            group["AS(κ)"] = np.array(adaptive, np.float64)
            group["FS(k*)"] = np.array([row["action_flops"]], np.float64)
            if "measured" in row:
                group["FS(k*), compiled"] = np.array([row["measured"]["action_flops"]])
    return Panel(NAMES[net], groups, "k*: slots that frames need", "operations, one action")


def _measured(row: dict[str, Any]) -> list[str | None]:
    if "measured" not in row:
        return [None, None]
    found = row["measured"]
    return [f"{found['action_flops']:,.0f}", f"{1e6 * found['action_seconds']:.0f}"]


def _growth(net: str) -> list[Check]:
    """Whether each column grows at least as printed: the table gives lower bounds."""
    return [_grows(net, *column) for column in zip(TABLE_ORDER, PRINTED[net], strict=True)]


def _grows(net: str, name: str, printed: int) -> Check:
    def judge(row: dict[str, Any]) -> Found:
        powers = [each[name] for each in row["growth"] if each["net"] == net]
        tight = "" if min(powers) == printed else ", not tight"
        text = f"{net}, {MEASURES[name].lower()}: k^{min(powers)}, printed at least k^{printed}"
        return judged(min(powers) >= printed, text + tight * (min(powers) > printed))

    return exactly("cost", judge, **RECOUNTED)


def _ratio(net: str) -> Check:
    """Two slots against a frame stack of 64, whatever the length of the maze."""

    def judge(row: dict[str, Any]) -> Found:
        flops = {(r["memory"], r["k"]): r["action_flops"] for r in row["rows"] if r["net"] == net}
        ratio = flops["frame", 64] / flops["adaptive", 2]
        return judged(ratio > 5, f"{net}: FS(64) takes {ratio:.1f} times the operations of AS(2)")

    return exactly("cost", judge, **RECOUNTED)


def _overhead(row: dict[str, Any]) -> Found:
    flops = {(r["net"], r["memory"], r["k"]): r["action_flops"] for r in row["rows"]}
    worst = max(flops[net, "adaptive", k] / flops[net, "frame", k] - 1 for net, memory, k in flops)
    return judged(worst < CLOSE, f"at most {worst:.1%} more operations than FS(k) of the same size")


def _compiled(row: dict[str, Any]) -> Found:
    shares = [r["measured"]["action_flops"] / r["action_flops"] for r in row["rows"]]
    return judged(
        min(shares) > 1 - CLOSE and max(shares) < 1 + CLOSE,
        f"compiled over counted between {min(shares):.3f} and {max(shares):.3f}",
    )


CLAIMS = (
    Claim(
        "cost-mlp-lstm",
        "With an MLP or an LSTM, compute and memory grow at least linearly in the number of slots.",
        "Table 1",
        all_of([*_growth("mlp"), *_growth("lstm")], "a power of k of at least 1 in each column"),
    ),
    Claim(
        "cost-transformer",
        "With a Transformer, compute and memory grow at least as k^2 for an action and at least as "
        "k for an update.",
        "Table 1",
        all_of(_growth("transformer"), "powers of k of at least 2, 1, 2, 1 in the four columns"),
        why="Two columns are swapped: by the paper's own appendix compute grows as k^2 and memory "
        "as k, for actions and updates alike.",
    ),
    Claim(
        "cost-saving",
        "With kappa slots in place of k*, a step costs a fraction.",
        "Section 4; Table 1",
        all_of(
            [_ratio(net) for net in PRINTED],
            "FS(64) takes more than 5 times the operations of AS(2), with every network",
        ),
    ),
    Claim(
        "cost-head",
        "Choosing what to keep costs next to nothing beside a frame stack of the same size.",
        "Appendix, compute and memory",
        all_of([exactly("cost", _overhead, **RECOUNTED)], "less than 10% more"),
    ),
    Claim(
        "cost-twins",
        "The formulas count what a compiled network does.",
        "Appendix, compute and memory",
        all_of(
            [exactly("cost", _compiled, **RECOUNTED)],
            "within 10% of the compiler's count of operations for one action",
        ),
        ours=True,
    ),
)
EXPERIMENT = Experiment(sweep=sweep, analyse=analyse, claims=CLAIMS)
