"""Value-consistency of the tasks of the paper's table, and what Q-learning converges to."""

from __future__ import annotations

from typing import Any

from adastack.lab.checks import exactly, judged
from adastack.lab.claims import Check, Claim, Found, all_of
from adastack.lab.experiment import Analysis, Experiment, Scale, Table
from adastack.lab.job import Job
from adastack.lab.results import Results
from adastack.lab.studies.study_figures import analysis
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
CARDS = (1, 2, 3)
"""Cards of the Autoencodes that are small enough."""
NUMPADS = ({"pads": 2}, {"pads": 3}, {"pads": 4, "length": 2})
ROOMS = (7, 9, 13)
"""Sizes of MiniGrid-Memory."""
SMALL: tuple[dict[str, Any], ...] = (
    *({"benchmark": "autoencode", "cards": cards} for cards in CARDS),
    *({"benchmark": "numpad", **numpad} for numpad in NUMPADS),
    {"benchmark": "memory-cards", "pairs": 2},
    *({"benchmark": "minigrid-memory", "size": size} for size in ROOMS),
)
"""Benchmarks of the table, as small as exact answers ask for."""
MACHINES = ("office", "key-order")
TICKED = tuple(spec for spec in SPECS if spec not in MACHINES)
COLUMNS = ("paper_consistent", "discounted", "undiscounted", "exploring")


def sweep(scale: Scale) -> list[Job]:
    """Exact computations alone."""
    specs = scale.pick(paper=SPECS, smoke=SMOKE)
    tasks = scale.pick(paper=tuple(TD_TASKS), smoke=SMOKE)
    return [
        *(Job("consistency", {"task": spec}) for spec in specs),
        *(Job("td", {"task": task, "k": TD_TASKS[task]}) for task in tasks),
        *(Job("smallest", small) for small in scale.pick(paper=SMALL, smoke=SMALL[:1])),
    ]


def analyse(results: Results) -> Analysis:
    """Value-consistency, small benchmarks, and what Q-learning converges to."""
    header = ["task", "kappa", "paper's kappa", "paper", "optimal", "undiscounted", "exploring"]
    rows = [
        [r["task"], r["kappa"], r["paper_kappa"], *("yes" if r[c] else "no" for c in COLUMNS)]
        for r in results.exact("consistency")
    ]
    caption = (
        "Whether all histories behind each stack have the same value: as the paper has it; under "
        "an optimal policy at discount 0.99; without discount; with one action in ten at random."
    )
    limits = [
        [
            r["task"],
            r["k"],
            f"{r['value']:.4g}",
            f"{r['optimum']:.4g}",
            "yes" if r["optimal"] else "no",
        ]
        for r in results.exact("td")
    ]
    return analysis(
        [
            Table("consistency", header, rows, caption),
            Table(
                "td",
                ["task", "k", "greedy on the fixed point", "V*", "optimal"],
                limits,
                "Where Q-learning on stacks converges under uniformly random behaviour.",
            ),
            Table(
                "smallest",
                ["benchmark", "states", "kappa", "smallest frame stack"],
                [_small_row(row) for row in results.exact("smallest")],
                "Benchmarks of Table 2 that are small enough for exact answers.",
            ),
        ]
    )


def _small_row(row: dict[str, Any]) -> list[Any]:
    """A row of a table; what was not found is bounded from below."""
    sizes = [row[name] or f"at least {row[f'{name}_at_least']}" for name in ("kappa", "frames")]
    return [row["task"], row["states"], *sizes]


def _says(spec: str, column: str, want: bool) -> Check:
    """Whether a task has a property; what all tasks have, or none, tells them not apart."""

    def discriminating(results: Results, parts: int = 1) -> Found | None:
        rows = results.exact("consistency", task=spec)
        if not rows:
            return None
        value = rows[0][column]
        every = [row[column] for row in results.exact("consistency")]
        if value == want and not want and len(every) == len(SPECS) and not any(every):
            return Found("empty", f"{_word(spec, value)}, as for every task")
        return judged(value == want, _word(spec, value))

    return discriminating


def _word(spec: str, value: bool) -> str:
    return f"{spec}: {'yes' if value else 'no'}"


def _kappa(spec: str) -> Check:
    def judge(row: dict[str, Any]) -> Found:
        paper, ours = row["paper_kappa"], row["kappa"]
        return judged(paper == str(ours), f"{spec}: {ours} (paper {paper})")

    return exactly("consistency", judge, task=spec)


def _small(settings: dict[str, Any], name: str, want: int) -> Check:
    """Whether a small benchmark needs as many slots as the paper says.

    A search that stopped before it knew shows nothing, unless more slots are proved to be needed.
    """

    def judge(row: dict[str, Any]) -> Found:
        bound = row[f"{name}_at_least"]
        if row[name] is None and bound <= want:
            return Found("empty", f"{_parameters(settings)}: not decided, at least {bound}")
        return judged(row[name] == want, f"{_parameters(settings)}: {row[name]} (paper {want})")

    return exactly("smallest", judge, **settings)


def _at_least(settings: dict[str, Any], want: int) -> Check:
    def judge(row: dict[str, Any]) -> Found:
        bound = row["kappa_at_least"]
        return judged(bound >= want, f"{_parameters(settings)}: at least {bound}, proved")

    return exactly("smallest", judge, **settings)


def _parameters(settings: dict[str, Any]) -> str:
    rest = [f"{name} {value}" for name, value in settings.items() if name != "benchmark"]
    return f"{settings['benchmark']} with {', '.join(rest)}"


def _of(benchmark: str) -> list[dict[str, Any]]:
    return [settings for settings in SMALL if settings["benchmark"] == benchmark]


def _optimal(task: str) -> Check:
    def judge(row: dict[str, Any]) -> Found:
        return judged(bool(row["optimal"]), f"{task}: {row['value']:.3g} of {row['optimum']:.3g}")

    return exactly("td", judge, task=task)


def _claim(
    name: str,
    sentence: str,
    checks: list[Check],
    needed: str,
    *,
    where: str = "Table 2",
    why: str = "",
) -> Claim:
    return Claim(f"consistency-{name}", sentence, where, all_of(checks, needed), why=why)


CLAIMS = (
    _claim(
        "ticks",
        "The tasks that the table ticks are value-consistent under optimal policies.",
        [_says(spec, "discounted", True) for spec in TICKED],
        "an optimal policy with kappa slots and no two values behind a stack, discount 0.99",
        why="In the T-maze of length 5 the stack (red, grey) is left by three histories, with 3, 2 "
        "and 1 corridor cells to go, worth g^3, g^2 and g. The mazes are learned all the same: "
        "value-consistency is sufficient, not necessary.",
    ),
    _claim(
        "ticks-undiscounted",
        "The tasks that the table ticks are value-consistent, at least without a discount.",
        [_says(spec, "undiscounted", True) for spec in TICKED],
        "the same for the total reward, or the differential value of a continual task",
        why="In a continual maze the next reward is nearer at one end of the corridor than at the "
        "other, and both ends leave the same stack; Repeat First pays at every step, so what is "
        "left depends on the time, which no stack shows.",
    ),
    _claim(
        "machines",
        "Reward machines are not value-consistent under optimal policies.",
        [_says(spec, "discounted", False) for spec in MACHINES],
        "no optimal policy with kappa slots is value-consistent",
        where="Table 2; Appendix, reward machines",
        why="Two slots are enough for an optimal policy that keeps what drove the machine (the "
        "coffee, the last key), and each of its stacks then has one value.",
    ),
    _claim(
        "machines-exploring",
        "Reward machines are not value-consistent for policies that wander.",
        [_says(spec, "exploring", False) for spec in MACHINES],
        "two values behind a stack if one action in ten is random",
        where="Appendix, reward machines",
    ),
    _claim(
        "kappa",
        "The table's kappa is the smallest number of slots that is enough.",
        [_kappa(spec) for spec in SPECS],
        "the exact kappa is the printed one",
        why="The table gives reward machines kappa = T; in these two the observation that drove "
        "the machine is enough.",
    ),
    _claim(
        "autoencode",
        "In Autoencode as many slots are enough as there are cards, half of the episode.",
        [_small(each, "kappa", each["cards"]) for each in _of("autoencode")],
        "the exact kappa with one, two and three cards is their number",
        why="It is one more: while the cards are named, the current observation takes a slot, too, "
        "as it does in the T-maze, whose two slots are the cue and the current observation.",
    ),
    _claim(
        "autoencode-frames",
        "In Autoencode a frame stack must reach back over the whole episode.",
        [_small(each, "frames", 2 * each["cards"]) for each in _of("autoencode")],
        "the smallest sufficient frame stack has two slots for each card",
    ),
    _claim(
        "numpad",
        "In Numpad as many slots are enough, and needed, as there are pads.",
        [_small(each, "kappa", each["pads"]) for each in _of("numpad")],
        "the exact kappa of small Numpads, whose pads are pressed instead of walked to",
        why="Fewer are enough. A pad that lights up after another says that the two belong "
        "together, so with two pads nothing has to be kept, and with three the pad before.",
    ),
    _claim(
        "memory-cards",
        "In Memory Cards a large part of the cards must be remembered.",
        [_at_least(each, each["pairs"] + 1) for each in _of("memory-cards")],
        "with two pairs at least three slots: two for the three cards that are not in view",
    ),
    _claim(
        "minigrid",
        "In MiniGrid-Memory two slots are enough, and needed.",
        [_small(each, "kappa", 2) for each in _of("minigrid-memory")],
        "the exact kappa of the world by its tables, whose views do not tell the position",
    ),
    _claim(
        "td",
        "Q-learning on stacks ends with an optimal policy on the tasks that the table ticks.",
        [_optimal(task) for task in TD_TASKS if task not in MACHINES],
        "greedy on the fixed point under random behaviour is optimal on each of them",
        where="Theorem 3; Table 2",
        why="The values that Q-learning finds are averages over the histories that exploration "
        "mixes behind a stack. In the XorMaze two reds in the stack are mostly one cue seen twice "
        "by a random walk, so the greedy policy never decides.",
    ),
)
EXPERIMENT = Experiment(sweep=sweep, analyse=analyse, claims=CLAIMS)
