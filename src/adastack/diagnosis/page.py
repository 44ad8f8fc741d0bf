"""A diagnosis as a page to look at."""

from __future__ import annotations

from html import escape

import numpy as np

from adastack.diagnosis.chart import Bar, score_chart
from adastack.diagnosis.evidence import Evidence
from adastack.diagnosis.memories import Memory
from adastack.diagnosis.verdict import latest, level_of, standings
from adastack.diagnosis.words import headline, paragraph
from adastack.viewer.page import Page

MOST_STEPS = 100
"""Of the episode that is shown."""
STANDING = {"enough": "as good as any", "short": "clearly below", "open": "not decided"}


def diagnosis_page(found: Evidence) -> Page:
    """The verdict, its evidence, what is kept, an episode, and how to get it again."""
    page = Page(f"Which memory does {found.task} need?")
    page.raw(f"<p><b>{escape(headline(found.verdict))}</b></p>")
    page.raw(_cards(found))
    page.text(paragraph(found))
    if found.proof is not None:
        _add_proof(page, found)
    if found.trials:
        _add_trials(page, found)
    if found.kept is not None and found.kept.what:
        _add_kept(page, found)
    if found.show is not None:
        page.heading("An episode, with what it remembers")
        page.episode(found.show.episode(max_steps=MOST_STEPS), found.show.title)
    if found.command:
        page.heading("Again")
        page.code(found.command)
    return page


def _cards(found: Evidence) -> str:
    """The answer to each question."""
    verdict = found.verdict
    memory = verdict.memory
    needs = {True: "yes", False: "no", None: "not decided"}[verdict.needs_memory]
    cards = {"memory needed": needs, "slots": _slots(memory), "kind": _kind(memory)}
    known = "proved" if verdict.proved else "learned" if found.trials else "not yet"
    cards["how it is known"] = known
    items = "".join(f"<li><b>{escape(b)}</b>{escape(a)}</li>" for a, b in cards.items())
    return f'<ul class="figures">{items}</ul>'


def _slots(memory: Memory | None) -> str:
    if memory is None:
        return "not decided"
    return "no stack" if memory.recurrent else str(memory.k)


def _kind(memory: Memory | None) -> str:
    if memory is None:
        return "not decided"
    if memory.recurrent:
        return f"{memory.cell} cell"
    return {"none": "none", "frame": "recent", "adaptive": "kept"}[memory.rule]


def _add_proof(page: Page, found: Evidence) -> None:
    assert found.proof is not None
    page.heading("What is proved")
    rows = []
    for name, result in (("chosen slots", found.proof.chosen), ("window", found.proof.window)):
        enough = str(result.kappa) if result.kappa is not None else f"at least {result.at_least}"
        rows.append([name, "none" if result.no_stack else enough])
    page.table(["memory", "slots that are enough"], rows)
    values = [
        [str(k), f"{best.value:.4g}", "yes" if best.proved else f"at most {best.upper:.4g}"]
        for k, best in found.proof.chosen.smaller.items()
        if best is not None and np.isfinite(best.value)
    ]
    if values:
        page.table(["chosen slots", "best value", "proved"], values, "What fewer slots reach")


def _add_trials(page: Page, found: Evidence) -> None:
    page.heading("What each memory learned")
    standing = standings(found.trials, found.random)
    last = latest(found.trials)
    order = sorted(last, key=lambda m: (m.recurrent, m.rule != "none", m.rule, m.k))
    level = level_of(found.trials, found.random)
    bars = [
        Bar(m.words, last[m].mean, last[m].interval.low, last[m].interval.high, standing[m])
        for m in order
    ]
    lines = {"random": float(np.mean(found.random)), "best": level.score}
    page.raw(score_chart(bars, lines, f"{found.metric.replace('_', ' ')}, 95% intervals"))
    rows = [
        [
            trial.memory.words,
            f"{trial.steps:,}",
            f"{trial.mean:.4g}",
            f"{trial.interval.low:.4g} to {trial.interval.high:.4g}",
            ", ".join(f"{score:.4g}" for score in trial.scores),
            STANDING[standing[trial.memory]] if trial is last[trial.memory] else "",
        ]
        for trial in sorted(found.trials, key=lambda t: (order.index(t.memory), t.steps))
    ]
    heads = ["memory", "steps", found.metric.replace("_", " "), "95% interval", "seeds", "verdict"]
    page.table(heads, rows)


def _add_kept(page: Page, found: Evidence) -> None:
    assert found.kept is not None
    page.heading("What is kept")
    rows = [
        [name, str(seen), str(times), f"{times / seen:.0%}"]
        for name, seen, times in found.kept.what
    ]
    page.table(["observation", "seen", "kept", "share"], rows)
