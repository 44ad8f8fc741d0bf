"""What the paper proves, tried: kappa, Proposition 1, Theorems 1 and 2, and where TD ends."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adastack.lab.checks import exactly, given, judged, solves
from adastack.lab.claims import Check, Claim, Found, all_of
from adastack.lab.experiment import Analysis, Experiment, Scale, Table
from adastack.lab.experiments.minimal_memory import CHOICES
from adastack.lab.job import Job
from adastack.lab.results import Results
from adastack.lab.statistics import wilson_interval
from adastack.lab.studies.study import PPO_SEEDS, Memory, Point, Study, tmaze
from adastack.lab.studies.study_figures import analysis, show_study, together

ORDERS: Any = {"tasks": 12, "gamma": 0.9}
SIDES: Any = {"tasks": 600, "gamma": 0.9}
SMOKE: Any = {"tasks": 1, "gamma": 0.9}
IMITATED = (
    tmaze("passive", 6),
    tmaze("active", 4),
    "xormaze",
    "heaven-hell",
    "memory-length:length=6,bits=1",
)
"""Tasks with a finite k*."""
WITHOUT_KAPPA = "pomdp:file=tiger"
"""The tiger."""
GENERALLY = 0.75
"""The share of stacks that counts as generally."""
NEARLY = 0.98
"""The share of the optimal value that counts as optimal."""


def _point(task: str, slots: int, frames: int, algo: str) -> Point:
    memories = (
        Memory("AS(κ)", "adaptive", slots, algo=algo, preset="robust"),
        Memory("FS(k*)", "frame", frames, algo=algo, preset="robust"),
    )
    return Point(task, task, memories)


EPISODIC = (
    _point(tmaze("passive", 4), 2, 4, "reinforce"),
    _point(tmaze("active", 3), 2, 3, "reinforce"),
    _point("xormaze", 3, 4, "reinforce"),
)
CONTINUAL = (
    _point(tmaze("passive", 4, continual=True), 2, 4, "average-reinforce"),
    _point(tmaze("active", 3, continual=True), 2, 3, "average-reinforce"),
)
METRICS = {
    "auc_return": "Return over the training",
    "optimality": "Optimality after training, greedy",
}
STUDY = Study(
    "task",
    (*EPISODIC, *CONTINUAL),
    smoke=EPISODIC[:1],
    algo="reinforce",
    preset="robust",
    seeds=PPO_SEEDS,
    batch=PPO_SEEDS,
    metrics=METRICS,
)


def sweep(scale: Scale) -> list[Job]:
    """A few exact computations, random tasks, and REINFORCE on five tasks."""
    tasks = scale.pick(paper=IMITATED, smoke=IMITATED[:1])
    return [
        *(_kappa(task, rule) for task in tasks for rule in ("adaptive", "frame")),
        _kappa(WITHOUT_KAPPA, "adaptive"),
        Job("theorem2", scale.pick(paper=ORDERS, smoke=SMOKE)),
        Job("td-sides", scale.pick(paper=SIDES, smoke=SMOKE)),
        *STUDY.jobs(scale),
    ]


def _kappa(task: str, rule: str) -> Job:
    return Job("kappa", {"task": task, "memory": rule, "max_choices": CHOICES})


def analyse(results: Results) -> Analysis:
    """The slots of both memories, and what REINFORCE learns."""
    rows = [
        [row["task"], row["memory"], row["kappa"], row["stopped"]] for row in results.exact("kappa")
    ]
    header = ["task", "memory", "slots that are enough", "why there are none"]
    table = Table("kappa", header, rows, "The smallest stack with an optimal policy.")
    shown = show_study(results, STUDY, "REINFORCE with our settings", "reinforce")
    return together([analysis([table]), shown])


def _imitates(task: str) -> Check:
    """A frame stack that is enough is one of the policies of an adaptive stack of its size."""

    def check(results: Results, parts: int = 1) -> Found | None:
        found = [
            row["kappa"]
            for rule in ("adaptive", "frame")
            for row in results.exact("kappa", task=task, memory=rule)
        ]
        if len(found) < 2:
            return None
        adaptive, frame = found
        good = adaptive is not None and frame is not None and adaptive <= frame
        return judged(good, f"{task}: AS({adaptive}), FS({frame})")

    return check


def _exists(row: dict[str, Any]) -> Found:
    return judged(row["kappa"] is not None, f"tiger: {row['stopped']}")


def _example(row: dict[str, Any]) -> Found:
    found = row["example"]
    history = " then ".join(found["history"] or ())
    values = " and ".join(f"{value:.2f}" for value in found["values"] or ())
    refuted = found["consistent"] and found["premise"] and not found["conclusion"]
    return judged(not refuted, f"after {history} the two policies are worth {values}")


def _same(row: dict[str, Any]) -> Found:
    found = row["same"]
    text = f"conclusion true in {found['conclusions']} of {found['premises']} cases"
    return judged(found["conclusions"] == found["premises"] > 0, text)


def _sides(row: dict[str, Any]) -> Found:
    """Lower at most stacks, by Wilson's interval."""
    lower, count = row["lower"], row["lower"] + row["higher"]
    share = wilson_interval(lower, count)
    text = f"lower at {lower} of {count} stacks {share}"
    if share.low > GENERALLY:
        return Found("holds", text)
    return Found("refuted" if share.high < GENERALLY else "not shown", text)


def _converges(point: Point) -> Check:
    """AS(kappa) ends with an optimal policy, if FS(k*) does."""
    ours, theirs = (STUDY.arm(point.name, label) for label in ("AS(κ)", "FS(k*)"))
    return given(solves("optimality", ours, NEARLY), theirs, "optimality", NEARLY)


def _theorem_1(
    name: str, sentence: str, corollary: str, points: Iterable[Point], why: str = ""
) -> Claim:
    return Claim(
        f"theorems-1-{name}",
        sentence,
        f"Theorem 1; {corollary}",
        all_of(
            [_converges(point) for point in points],
            "more than half of the seeds end with 98% of the optimal value, where FS(k*) can",
        ),
        reading="after 10^6 steps, as a limit cannot be run",
        why=f"The theorem assumes that the learner finds the best policy of its class.{why}",
    )


CLAIMS = (
    Claim(
        "theorems-proposition-1",
        "With k* slots Adaptive Stacking has an optimal policy.",
        "Proposition 1",
        all_of(
            [_imitates(task) for task in IMITATED], "kappa is at most the slots of a frame stack"
        ),
    ),
    Claim(
        "theorems-kappa-exists",
        "kappa always exists.",
        "Section 4",
        all_of([exactly("kappa", _exists, task=WITHOUT_KAPPA)], "the tiger has a kappa"),
        why="A stack that receives the same observation again and again stops changing, and with "
        "it the action; but the tiger's optimal policy listens twice and then opens, over and "
        "over. The claim assumes a finite k*, which this task does not have.",
    ),
    _theorem_1(
        "episodic",
        "An unbiased learner, REINFORCE, finds an optimal policy with kappa slots.",
        "Corollary 1",
        EPISODIC,
        why=" A gradient stops where it vanishes, and always guessing one goal is such a place.",
    ),
    _theorem_1(
        "average",
        "REINFORCE on the average reward of continual tasks does, too.",
        "Corollary 2",
        CONTINUAL,
    ),
    Claim(
        "theorems-2",
        "If V_k of one value-consistent policy is nowhere above that of another, no history is "
        "worth more under the first.",
        "Theorem 2",
        all_of([exactly("theorem2", _example, **ORDERS)], "so for any two policies"),
        reading="the premise is read on the stacks that both policies meet: elsewhere one of the "
        "two values is not defined",
        why="The proof compares both policies at the same stack, but one history may leave them "
        "with different stacks: one that keeps the branch and answers 0 is worth 0.9 after "
        "start, left, one that keeps nothing and answers 1 is worth 0.81, and yet V_k of the "
        "second is nowhere lower.",
    ),
    Claim(
        "theorems-2-same-memory",
        "Theorem 2 is true of policies that keep the same observations.",
        "not in the paper",
        all_of([exactly("theorem2", _same, **ORDERS)], "in every case, on random tasks"),
        ours=True,
    ),
    Claim(
        "theorems-td-lower",
        "The fixed point of TD is generally lower than the true value of a stack.",
        "Section 4, after Theorem 2",
        all_of([exactly("td-sides", _sides, **SIDES)], "at three of four stacks where they differ"),
        why="An average over hidden states errs to either side, here about as often up as down.",
    ),
)
EXPERIMENT = Experiment(sweep=sweep, analyse=analyse, claims=CLAIMS)
