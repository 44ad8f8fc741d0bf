"""What the search for settings found: the candidate that each memory does best with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adastack.lab.experiment import Table
from adastack.lab.league.chosen import CHOSEN
from adastack.lab.league.entrants import CANDIDATES, ENTRANTS, USUAL, Entrant
from adastack.lab.league.league import search_label, search_study
from adastack.lab.results import Results
from adastack.lab.studies.study_figures import values_of

Scores = dict[str, dict[str, dict[str, float]]]
"""By family, memory and candidate: the mean return over the training."""


def scores(results: Results, entrants: Sequence[Entrant] = ENTRANTS) -> Scores:
    """What every candidate scored, where it has been run."""
    study = search_study(entrants)
    found: Scores = {}
    for point in study.points:
        by_label = {memory.label: memory for memory in point.memories}
        for entrant in entrants:
            for name in CANDIDATES:
                memory = by_label[search_label(entrant, name)]
                values = values_of(results, study, point, memory, "auc_return")
                if len(values):
                    rows = found.setdefault(point.name, {}).setdefault(entrant.label, {})
                    rows[name] = float(values.mean())
    return found


def best(found: Scores) -> dict[str, dict[str, str]]:
    """The best candidate where all were run; of equally good ones the first.

    Example:
        >>> tried = {"usual": 0.5, "slow": 0.7, "dense": 0.7, "long": 0.1}
        >>> best({"mazes": {"GRU": tried, "LSTM": {"usual": 1.0}}})
        {'mazes': {'GRU': 'slow'}}
    """
    return {
        family: {
            label: max(tried, key=tried.__getitem__)
            for label, tried in rows.items()
            if len(tried) == len(CANDIDATES)
        }
        for family, rows in found.items()
    }


def settings_in_words(memories: Mapping[str, Sequence[str]]) -> str:
    """Whose settings the search has chosen.

    Args:
        memories: The labels of those that take part, by family of tasks.
    """
    parts, usual = [], False
    for family, labels in memories.items():
        chosen = sum(label in CHOSEN[family] for label in labels)
        usual = usual or chosen < len(labels)
        parts += [f"{family} ({chosen} of {len(labels)} memories)"] if chosen else []
    if not parts:
        return "All settings are the usual ones: the search has chosen none of them yet."
    rest = "; all others are the usual ones" if usual else ""
    return f"Settings that the search has chosen: {', '.join(parts)}{rest}."


def search_table(results: Results) -> Table:
    """A row for each memory and family: what the candidates scored, and which is used."""
    found = scores(results)
    rows: list[list[str | float | int | None]] = []
    for family, by_label in found.items():
        for label, tried in by_label.items():
            used = CHOSEN[family].get(label, USUAL)
            rows.append([family, label, *(tried.get(name) for name in CANDIDATES), used])
    return Table(
        "search",
        ["family", "memory", *CANDIDATES, "used"],
        rows,
        "The search for settings: mean return over the training of each candidate, on other "
        "seeds than the league's.",
    )
