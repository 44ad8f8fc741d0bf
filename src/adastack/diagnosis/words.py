"""A diagnosis in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from adastack.diagnosis.evidence import Evidence
from adastack.diagnosis.kept import Kept
from adastack.diagnosis.memories import CELL, NONE, Memory
from adastack.diagnosis.proof import Proof
from adastack.diagnosis.search import INTERRUPTED, NO_ROUNDS, NO_TIME
from adastack.diagnosis.verdict import Level, Trial, Verdict, latest, level_of, standings

STOPPED = {
    NO_ROUNDS: "All rounds are over: more steps may decide it.",
    NO_TIME: "Time is over: more minutes may decide it.",
    INTERRUPTED: "It was interrupted: the same call goes on where it stopped.",
}


def headline(verdict: Verdict) -> str:
    """The verdict in a few words.

    Example:
        >>> headline(Verdict(needs_memory=True, memory=Memory("adaptive", 2)))
        'It needs memory: 2 chosen slots are enough.'
    """
    if verdict.needs_memory is None:
        return "Not decided."
    if not verdict.needs_memory:
        return "It needs no memory."
    if verdict.memory is None:
        some = "" if verdict.at_most is None else f"; {_enough(verdict.at_most)}, maybe fewer"
        return f"It needs memory; how much is not decided{some}."
    return f"It needs memory: {_enough(verdict.memory)}."


def _enough(memory: Memory) -> str:
    if memory.recurrent:
        return "a recurrent cell, which stacks cannot replace"
    return f"{memory.words} {'is' if memory.rule == 'frame' else 'are'} enough"


def paragraph(found: Evidence) -> str:
    """The verdict with its evidence."""
    sentences = [f"{found.task}: {headline(found.verdict)}"]
    if found.proof is not None:
        sentences += _proved(found.proof, found.verdict)
    elif found.trials:
        sentences += _learned(found)
    if found.stopped and not found.verdict.decided:
        sentences.append(STOPPED[found.stopped])
    if found.failed:
        why = "; ".join(f"{name} ({reason})" for name, reason in found.failed.items())
        sentences.append(f"Could not be trained: {why}.")
    if found.kept is not None:
        sentences += kept_words(found.kept)
    return " ".join(sentences)


def _proved(proof: Proof, verdict: Verdict) -> list[str]:
    chosen, window = proof.chosen, proof.window
    what = "reward per step" if chosen.criterion == "average" else "discounted value"
    optimum = f"perfect memory has a {what} of {chosen.optimum:.3g}"
    if verdict.memory == CELL:
        return [f"Proved: {chosen.stopped}; {optimum}."]
    if verdict.memory == NONE:
        return [f"Proved: a policy of the current observation alone is optimal ({optimum})."]
    below = [
        f"{k} slot{'s' * (k > 1)} at most {best.value:.3g}"
        for k, best in chosen.smaller.items()
        if best is not None and best.proved
    ]
    less = f" ({', '.join(below)})" if below else ""
    said = [f"Proved: {optimum}, which {chosen.kappa} slots reach{less}."]
    if window.kappa == chosen.kappa:
        said.append("The last observations do as well as chosen ones.")
    elif window.kappa is not None:
        said.append(f"Keeping beats recency: a window would need {window.kappa}.")
    elif chosen.kappa is not None and window.at_least > chosen.kappa:
        said.append(f"Keeping beats recency: a window would need at least {window.at_least}.")
    else:
        said.append("Whether a window of as many would do is not decided.")
    return said


def _learned(found: Evidence) -> list[str]:
    level = level_of(found.trials, found.random)
    what = "Reward per 1000 steps" if found.metric == "reward_rate" else "Return per attempt"
    random = f"{np.mean(found.random):.3g}"
    said = [f"{what}: random actions get {random}, the best so far {level.score:.3g}."]
    standing = standings(found.trials, found.random)
    enough = _named(found.trials, (m for m in standing if standing[m] == "enough"))
    short = _named(found.trials, (m for m in standing if standing[m] == "short"))
    still = _named(found.trials, (m for m in standing if standing[m] == "open"))
    if enough:
        said.append(f"As good as any: {enough}.")
    if short:
        said.append(f"Clearly below: {short}.")
    if still and not found.verdict.decided:
        said.append(f"Not decided: {still}.")
    return said + _recency(found.verdict, standing) + _caveats(found, level)


def _named(trials: Iterable[Trial], memories: Iterable[Memory]) -> str:
    last = latest(trials)
    return "; ".join(f"{memory.words}, {score_words(last[memory])}" for memory in memories)


def score_words(trial: Trial) -> str:
    """A score with its interval, seeds and steps."""
    interval = f"[{trial.interval.low:.3g}, {trial.interval.high:.3g}]"
    seeds = f"{len(trial.scores)} seeds"
    if trial.known:
        seeds = f"{sum(trial.good)} of {seeds} as good as can be"
    return f"{trial.mean:.3g} {interval} ({seeds}, {trial.steps:,} steps)"


def _recency(verdict: Verdict, standing: Mapping[Memory, str]) -> list[str]:
    memory = verdict.memory
    if memory is None or memory == NONE or memory.recurrent:
        return []
    if memory.rule == "frame":
        return ["The last observations do as well as chosen ones."]
    short = [m.k for m in standing if m.rule == "frame" and standing[m] == "short"]
    return [f"Keeping beats recency: a window of {max(short)} is not enough."] if short else []


def _caveats(found: Evidence, level: Level) -> list[str]:
    said = []
    if not level.learned:
        said.append("Nothing was learned: no memory is above random actions.")
    elif found.verdict.memory == NONE and not level.known:
        said.append(
            "No memory tried did better, over four times the steps that it took to get there; "
            "that the score is the best possible is not known."
        )
    elif found.verdict.memory == CELL:
        most = max(trial.memory.k for trial in found.trials)
        said.append(f"Stacks of up to {most} slots were tried.")
    if found.verdict.decided:
        return said
    if not level.known:
        said.append("The best score is not known to be the best possible.")
    return said


def kept_words(kept: Kept) -> list[str]:
    """What is kept, in sentences."""
    if not kept.kept or kept.held_for is None or kept.seen_at is None:
        return ["Nothing is kept for longer than a window would keep it."]
    each = kept.kept / max(kept.episodes, 1)
    said = (
        f"It keeps {each:.2g} of {kept.observations / max(kept.episodes, 1):.3g} observations an "
        f"episode for longer than a window would, typically seen at step {kept.seen_at[1]:.0f} and "
        f"held for {kept.held_for[1]:.0f} steps"
    )
    often = [name for name, seen, times in kept.what if times / seen > 0.5]
    rarely = [name for name, seen, times in kept.what if times / seen <= 0.5]
    if often and rarely:
        said += f": {', '.join(often[:4])} (and seldom {', '.join(rarely[-3:])})"
    elif kept.numbers:
        differ = ", ".join(f"{index} ({gap:+.1f} sd)" for index, gap in kept.numbers)
        said += f"; kept observations differ from others in their numbers {differ}"
    return [said + "."]
