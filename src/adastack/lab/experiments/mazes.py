"""What experiments in both TMazes show, and the comparisons that the paper makes in each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from adastack.lab.claims import above, all_of, near
from adastack.lab.experiment import Analysis, Verdict
from adastack.lab.experiments.study import Study
from adastack.lab.experiments.study_figures import main_metric, show_study, together
from adastack.lab.results import Results

Mazes = Mapping[str, tuple[str, Study]]
"""A maze's title and study, by the word that file names and claims have for it."""


def both_mazes(passive: Study, active: Study) -> Mazes:
    """The two TMazes."""
    return {"passive": ("Passive-TMaze", passive), "active": ("Active-TMaze", active)}


def show_mazes(results: Results, mazes: Mazes, what: str) -> Analysis:
    """Both mazes, one after the other; ``what`` begins every caption, with {} for the maze."""
    shown = [
        show_study(results, study, what.format(title), key) for key, (title, study) in mazes.items()
    ]
    return together(shown)


def earns_as_the_oracle(study: Study) -> Callable[[Results], Verdict]:
    """Whether AS(2) keeps up with a frame stack as long as the maze."""
    return all_of(
        [near(f"auc_{main_metric(study)}", *pair) for pair in study.pairs("AS(κ)", "FS(k*)")],
        f"at every length at least 90% of FS(k*)'s {main_metric(study)} over the training",
    )


def earns_more_than(study: Study, other: str) -> Callable[[Results], Verdict]:
    """Whether AS(2) is above another memory at every length but the first, where all is in view."""
    longer = [point.name for point in study.points[1:]]
    return all_of(
        [above(f"auc_{main_metric(study)}", *pair) for pair in study.pairs("AS(κ)", other, longer)],
        f"at lengths {longer[0]} to {longer[-1]} the difference's 95% interval is above 0",
    )
