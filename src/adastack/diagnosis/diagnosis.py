"""A diagnosis: its parts put together."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gymnasium

from adastack.algorithms import default_algo
from adastack.diagnosis.evidence import Evidence
from adastack.diagnosis.kept import what_is_kept
from adastack.diagnosis.memories import Memory
from adastack.diagnosis.page import diagnosis_page
from adastack.diagnosis.proof import Proof, prove
from adastack.diagnosis.random_play import random_scores
from adastack.diagnosis.search import ROUNDS, Budget, Found, search
from adastack.diagnosis.trials import TABULAR, Learner
from adastack.diagnosis.verdict import Trial, standings
from adastack.diagnosis.words import headline, paragraph
from adastack.process.policy import Act
from adastack.progress import Progress, Silent, watch
from adastack.runs import Run
from adastack.tasks.entry import Resolved
from adastack.tasks.registry import resolve
from adastack.theory.stacks import StackPolicy
from adastack.viewer.page import Page
from adastack.viewer.show import Show, drawn_env, show_of

MINUTES = 10.0
FIRST_STEPS = 25_600
"""Steps of each seed in the first round, where time is the limit."""
MAX_K = 8
MOST_SEEDS = 100
HOST_EPISODES = 32
"""Attempts behind a score where environments are stepped on the host."""


class Diagnosis(Evidence):
    """What memory a task needs, and why that is believed."""

    def __str__(self) -> str:
        return paragraph(self)

    def _repr_html_(self) -> str:
        """The page inside a notebook."""
        return self.page()._repr_html_()

    def page(self) -> Page:
        """The diagnosis as a page: `write` it to a file."""
        return diagnosis_page(self)

    def document(self) -> dict[str, Any]:
        """The diagnosis as JSON."""
        verdict, best = self.verdict, self.verdict.memory
        found = standings(self.trials, self.random)
        return {
            "task": self.task,
            "verdict": headline(verdict),
            "needs_memory": verdict.needs_memory,
            "memory": None if best is None else best.rule,
            "k": None if best is None else best.k,
            "cell": None if best is None else best.cell,
            "at_most": None if verdict.at_most is None else verdict.at_most.name,
            "proved": verdict.proved,
            "paragraph": paragraph(self),
            "metric": self.metric,
            "random": list(self.random),
            "trials": [_row(trial, found[trial.memory]) for trial in self.trials],
            "failed": self.failed,
            "stopped": self.stopped,
            "kappa": None if self.proof is None else _kappas(self.proof),
            "kept": None if self.kept is None else self.kept.document(),
            "seconds": self.seconds,
        }


def _row(trial: Trial, standing: str) -> dict[str, Any]:
    return {
        "memory": trial.memory.name,
        "steps": trial.steps,
        "scores": list(trial.scores),
        "mean": trial.mean,
        "low": trial.interval.low,
        "high": trial.interval.high,
        "good": list(trial.good),
        "standing": standing,
        "run": trial.run,
    }


def _kappas(proof: Proof) -> dict[str, Any]:
    return {
        "adaptive": proof.chosen.kappa,
        "frame": proof.window.kappa,
        "frame_at_least": proof.window.at_least,
        "optimum": proof.chosen.optimum,
        "gamma": proof.chosen.gamma,
        "criterion": proof.chosen.criterion,
        "stopped": proof.chosen.stopped,
    }


def diagnose(
    env: Any,
    *,
    minutes: float | None = None,
    steps: int | None = None,
    seeds: int = 3,
    seed: int = 0,
    max_k: int = MAX_K,
    solved: float | None = None,
    prove_first: bool = True,
    preset: str = "default",
    out: str | Path | None = None,
    imports: Sequence[str] = (),
    progress: bool = True,
) -> Diagnosis:
    """Finds out whether an environment needs memory, how much, and of which kind.

    Finite tasks that are small enough are answered by proof, in seconds. For others several
    memories learn it: none, the last observations, slots that the agent chooses, and a recurrent
    cell; those that matter for the answer learn for longer and longer.

    Args:
        env: As for `adastack.Agent`: a name, an environment, or a function that makes one.
        minutes: When to stop; by default 10, or never where ``steps`` are given.
        steps: Of each seed in the longest training; the answer then depends on the seeds alone.
        seeds: Seeds of each memory, 2 to 100.
        seed: The first of them.
        max_k: The largest stack to try.
        solved: A return that is as good as can be; by default the environment's
            ``reward_threshold``. Without one, and without successes, "needs no memory" takes longer
            to decide.
        prove_first: Ask the exact theory, where the task is finite.
        preset: The settings of the learner.
        out: A folder that keeps the runs; the same call with the same folder goes on. By default
            they are not kept.
        imports: Modules that the environment needs.
        progress: Show what is trained, on standard error.

    Example:
        >>> from adastack import diagnose
        >>> found = diagnose("passive-tmaze:length=5", progress=False)
        >>> found.verdict.memory.name, found.verdict.proved
        ('adaptive-2', True)
    """
    _check(minutes, steps, seeds, max_k)
    if solved is not None and not math.isfinite(solved):
        raise ValueError(f"solved must be a finite return, actual: {solved}")
    task, began = resolve(env), time.monotonic()
    proof = prove(task.finite()) if prove_first and task.kind == "finite" else None
    name = str(task).removeprefix("object:")
    if proof is not None:
        found = Diagnosis(name, proof.verdict, proof=proof, show=_proved_show(task, proof))
    else:
        algo = default_algo(task)
        budget = _budget(minutes, steps, TABULAR if algo != "ppo" else 1)
        with ExitStack() as stack:
            folder = Path(out or stack.enter_context(TemporaryDirectory(prefix="adastack-")))
            learner = Learner(
                task=task, algo=algo, preset=preset, seeds=range(seed, seed + seeds),
                folder=folder, solved=_threshold(task) if solved is None else solved,
                imports=imports, episodes=HOST_EPISODES if task.kind == "host" else None,
            )  # fmt: skip
            found = _learned(name, learner, budget, max_k, progress)
            return _with_kept(found, began)
    return _with_kept(found, began)


def _budget(minutes: float | None, steps: int | None, scale: int) -> Budget:
    """How long the search may take: so many rounds if steps are given, else so many minutes."""
    limit = MINUTES if minutes is None and steps is None else minutes
    seconds = None if limit is None else 60 * limit
    if steps is None:
        return Budget(FIRST_STEPS * scale, None, seconds)
    return Budget(max(1, steps // 2 ** (ROUNDS - 1)), ROUNDS, seconds)


def _check(minutes: float | None, steps: int | None, seeds: int, max_k: int) -> None:
    if minutes is not None and not minutes > 0:
        raise ValueError(f"minutes must be above 0, actual: {minutes}")
    if steps is not None and steps < 1:
        raise ValueError(f"steps must be at least 1, actual: {steps}")
    if not 2 <= seeds <= MOST_SEEDS or max_k < 2:
        raise ValueError(
            f"expected 2 to {MOST_SEEDS} seeds and a max_k of at least 2, "
            f"actual: {seeds} and {max_k}"
        )


def _threshold(task: Resolved) -> float | None:
    """The return at which the environment itself counts as solved, if it says so."""
    spec = gymnasium.registry.get(task.name.rpartition(":")[2])
    return None if spec is None else spec.reward_threshold


def _learned(name: str, learner: Learner, budget: Budget, max_k: int, progress: bool) -> Diagnosis:
    random = random_scores(learner.task, learner.metric, learner.seeds)
    with ExitStack() as shown:

        def watching(memory: Memory, steps: int) -> Progress:
            shown.close()
            quiet: AbstractContextManager[Progress] = nullcontext(Silent())
            return shown.enter_context(watch(steps, memory.words) if progress else quiet)

        found = search(learner, random, budget, max_k, watching)
    return Diagnosis(
        name, found.verdict, metric=learner.metric, random=random, trials=found.trials,
        failed={memory.name: why for memory, why in found.failed.items()},
        stopped="" if found.verdict.decided else found.stopped,
        show=_learned_show(learner, found),
    )  # fmt: skip


def _learned_show(learner: Learner, found: Found) -> Show | None:
    """The best seed of the memory that is enough, else of the best stack."""
    memory = found.verdict.memory or found.verdict.at_most
    if memory is None or memory.recurrent or memory.rule == "none":
        return None
    trial = max((t for t in found.trials if t.memory == memory), key=lambda t: (t.best, t.steps))
    seed = learner.seeds[trial.scores.index(max(trial.scores))]
    return show_of(Run.open(trial.run), seed, learner.task)


def _proved_show(task: Resolved, proof: Proof) -> Show | None:
    """The optimal policy that the proof rests on."""
    memory = proof.verdict.memory or proof.verdict.at_most
    if memory is None or memory.recurrent or memory.k == 1:
        return None
    result = proof.window if memory.rule == "frame" else proof.chosen
    if result.policy is None:
        return None
    title = f"{task}: an optimal policy with {memory.words}"
    return Show(title, memory.rule, memory.k, drawn_env(task), _act(result.policy))


def _act(policy: StackPolicy) -> Act:
    def act(stack: Any, ages: Any) -> tuple[int, int]:
        return policy[tuple(int(symbol) for symbol in stack)]

    return act


def _with_kept(found: Diagnosis, began: float) -> Diagnosis:
    if found.show is not None and found.show.rule != "frame":
        found.kept = what_is_kept(found.show)
    found.seconds = time.monotonic() - began
    return found
