"""What experiments in both TMazes show, and the comparisons that the paper makes in each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from adastack.lab.checks import above, given, near, within
from adastack.lab.claims import Test, all_of
from adastack.lab.experiment import Analysis
from adastack.lab.results import Results
from adastack.lab.studies.study import Study
from adastack.lab.studies.study_figures import main_metric, show_study, together


@dataclass(frozen=True)
class Maze:
    """A study in one of the two TMazes."""

    kind: str
    """``"passive"`` or ``"active"``."""
    study: Study
    where: str
    """Its figure in the paper."""
    variant: str = ""
    """Another form of the maze, as in file names and claims, if this is not the usual one."""
    words: str = ""
    """What the variant is, as in a sentence: it follows the maze's name."""

    @property
    def key(self) -> str:
        """As file names and claims have it."""
        return f"{self.kind}-{self.variant}" if self.variant else self.kind

    @property
    def title(self) -> str:
        """As captions have it: ``Passive-TMaze``."""
        return f"{self.kind.capitalize()}-TMaze{self.words}"


def both_mazes(study: Callable[[str], Study], passive: str, active: str) -> tuple[Maze, Maze]:
    """The two TMazes: a study of each kind, and where the paper shows it."""
    return Maze("passive", study("passive"), passive), Maze("active", study("active"), active)


def show_mazes(results: Results, mazes: Sequence[Maze], what: str) -> Analysis:
    """Both mazes, one after the other; ``what`` begins every caption, with {} for the maze."""
    return together(
        [show_study(results, maze.study, what.format(maze.title), maze.key) for maze in mazes]
    )


def learns_quickly(study: Study) -> Test:
    """Whether AS(2) learns a maze in the first tenth of the training, where FS(k*) learns it."""
    return all_of(
        [
            given(within("steps_to_solve", first, study.steps / 10), second, "end_success", 0.8)
            for first, second in study.pairs("AS(κ)", "FS(k*)")
        ],
        "at every length that FS(k*) learns, more than half of the seeds need at most a tenth of "
        "the training until four of five attempts succeed",
    )


def earns_as_the_oracle(study: Study) -> Test:
    """Whether AS(2) keeps up with a frame stack as long as the maze."""
    return all_of(
        [near(f"auc_{main_metric(study)}", *pair) for pair in study.pairs("AS(κ)", "FS(k*)")],
        f"at every length at least 90% of FS(k*)'s {main_metric(study)} over the training",
    )


def earns_more_than(study: Study, other: str) -> Test:
    """Whether AS(2) is above another memory at every length but the first, where all is in view."""
    longer = [point.name for point in study.points[1:]]
    return all_of(
        [above(f"auc_{main_metric(study)}", *pair) for pair in study.pairs("AS(κ)", other, longer)],
        f"at lengths {longer[0]} to {longer[-1]} the difference's 95% interval is above 0",
    )
