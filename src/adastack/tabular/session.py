"""Seeds that learn side by side on one task: their arrays, and the threads that advance them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

from adastack.files import DamagedFileError
from adastack.process.capacity import induce_within
from adastack.process.draws import first_words
from adastack.process.evaluated import Solve
from adastack.process.events import (
    RECENT,
    WINDOW,
    WINDOWS,
    all_events,
    check_windows,
    means_of,
    saved_curves,
)
from adastack.process.finite_policies import FinitePolicies
from adastack.process.induced import Induced
from adastack.process.policy import (
    RANDOM,
    StackPolicy,
    greedy_rows,
    learning_rule,
)
from adastack.process.tables import Tables, tables_of
from adastack.schemas import fitting
from adastack.tabular import gradient, values
from adastack.tabular.limits import check_together, expected_arrays
from adastack.tabular.moves import (
    ACTION,
    AGENT,
    BLOCKS,
    PLACES,
    Record,
    blocks_in,
    blocks_per_row,
    new_record,
)
from adastack.tabular.policies import exploring_rows, table_policy
from adastack.tabular.settings import (
    EXPLORATIONS,
    INTRINSICS,
    VALUE_ALGOS,
    GradientSettings,
    Settings,
    ValueSettings,
    settings_from,
)
from adastack.tabular.threads import share_out
from adastack.tasks.entry import Resolved
from adastack.tasks.finite import FiniteTask

CHUNK_SECONDS = 0.5
Array = NDArray[Any]
Kernel = TypeVar("Kernel", values.KernelSettings, gradient.KernelSettings)
THREADS: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]


def make_session(document: Mapping[str, Any], task: Resolved) -> Session:
    """The session that a run's settings ask for."""
    algo = document["algo"]
    return Session(
        task.finite(),
        document["memory"],
        document["stack_size"],
        algo,
        settings_from(algo, document["settings"]),
        document["steps"],
        document["seeds"],
    )


class Session(FinitePolicies):
    """Learners of one kind, one for each seed; what a seed learns does not depend on the others.

    Args:
        task: The task.
        memory: A memory rule, or ``"random"``.
        stack_size: The number of slots, k.
        algo: One of `ALGOS`.
        settings: The algorithm's settings.
        steps: How many steps each seed takes in all.
        seeds: The seeds.

    Example:
        >>> from adastack.tabular import Session, settings_for
        >>> from adastack.tasks import passive_tmaze
        >>> maze = passive_tmaze(length=4, continual=True)
        >>> session = Session(maze, "adaptive", 2, "q", settings_for("paper", "q"), 1000, [0, 1])
        >>> session.advance(10)
        >>> session.steps_done
        1000
    """

    def __init__(
        self,
        task: FiniteTask,
        memory: str,
        stack_size: int,
        algo: str,
        settings: Settings,
        steps: int,
        seeds: Sequence[int],
    ) -> None:
        self.algo, self.settings, self.steps, self.seeds = algo, settings, steps, list(seeds)
        self.task, self.memory, self.stack_size = task, memory, stack_size
        self.random = memory == RANDOM
        self._chunk, self._blocks_per_row = 1, blocks_per_row(steps)
        rule = learning_rule(memory)
        self.width = task.n_actions * (1 if self.random else rule.actions(stack_size))
        self.induced = induce_within(
            task, rule.name, stack_size, self._bytes_per_agent(task, stack_size)
        )
        self.tables = _tables(self.induced, algo, settings)
        self.kind, self.how, self._advance = self._kernel()
        self.arrays = self._first_arrays()

    evaluation_episodes = 1000
    """Attempts behind the result of a training, where they must be sampled."""
    savable = True

    @property
    def blocks_done(self) -> int:
        """Blocks of steps that every seed has taken."""
        return int(self.arrays["place"][:, BLOCKS].min())

    @property
    def blocks(self) -> int:
        """Blocks of steps in the whole run."""
        return blocks_in(self.steps)

    @property
    def steps_done(self) -> int:
        """Steps that every seed has taken."""
        return min(self.steps, self.blocks_done * WINDOW)

    @property
    def finished(self) -> bool:
        """Whether all steps have been taken."""
        return self.blocks_done == self.blocks

    @property
    def table(self) -> NDArray[np.float64]:
        """(seeds, agent states, joint actions): values, or the parameters of the policy."""
        name = "q" if self.algo in VALUE_ALGOS else "theta"
        return self.arrays[name].reshape(len(self.seeds), -1, self.width)

    def start(self) -> None:
        """Nothing to do: the arrays are fresh."""

    def advance(self, blocks: int | None = None) -> None:
        """Lets every seed take some blocks of 100 steps, on all cores; by default half a second."""
        began = time.perf_counter()
        count = min(self._chunk if blocks is None else blocks, self.blocks - self.blocks_done)

        def run(seed: int) -> None:
            mine = {name: array[seed] for name, array in self.arrays.items()}
            record = Record(*(mine.pop(name) for name in Record._fields))
            self._advance(self.tables, self.how, self.kind(**mine), record, count)

        share_out(run, len(self.seeds), THREADS)
        spent = time.perf_counter() - began
        # The first call may have compiled the kernel; a chunk never grows by more than ten.
        self._chunk = max(1, min(10 * count, int(count * CHUNK_SECONDS / spent)))

    def curves(self) -> dict[str, Array]:
        """The metrics so far, by window of 100 steps (more in very long runs); see `curves_of`."""
        return saved_curves(self.checkpoint()[0])

    def recent(self) -> dict[str, float]:
        """Means over the seeds and the last windows, for a progress line."""
        ends = self._window_ends()
        last = slice(max(0, len(ends) - RECENT), len(ends))
        begin = ends[last.start - 1] if last.start else 0
        paid, counts = self.arrays["paid"][:, last], self.arrays["counts"][:, last]
        return means_of(paid, counts, (self.steps_done - begin) * len(self.seeds))

    def _window_ends(self) -> Array:
        width = self._blocks_per_row
        rows = -(-self.blocks_done // width)
        return np.minimum(np.arange(1, rows + 1) * width * WINDOW, self.steps_done)

    def checkpoint(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """What `restore` needs."""
        arrays = {_saved_name(name): array for name, array in self.arrays.items()}
        return {**arrays, f"{WINDOWS}ends": self._window_ends()}, {}

    def restore(self, arrays: Mapping[str, Array], meta: Mapping[str, Any]) -> None:
        """Goes on from a checkpoint.

        Raises:
            DamagedFileError: If it does not belong to such a session.
        """
        names = {_saved_name(name): name for name in self.arrays}
        counts = _saved_name("counts")
        if counts in arrays:
            arrays = {**arrays, counts: all_events(arrays[counts])}
        expected = expected_arrays(self)
        found = fitting({saved: expected[name] for saved, name in names.items()}, arrays)
        restored = {name: found[saved].copy() for saved, name in names.items()}
        check_together(self, restored)
        self.arrays = restored
        check_windows(arrays)
        if not np.array_equal(arrays[f"{WINDOWS}ends"], self._window_ends()):
            raise DamagedFileError("the checkpoint is damaged: its curves have other steps")

    def policy(self, index: int, *, greedy: bool = True) -> StackPolicy:
        """What one of the seeds has learned."""
        table = self.table[index]
        rows = (
            greedy_rows(table)
            if greedy
            else exploring_rows(table, self.settings, self.task.n_actions)
        )
        return table_policy(self.induced, rows)

    def kept_slots(self, index: int) -> tuple[int, ...] | None:
        """The slots that a seed would keep next, where training stopped; None before an episode."""
        agent = int(self.arrays["place"][index, AGENT])
        if agent < 0:
            return None
        memory_action = 0
        if not self.random:
            memory_action = int(self.tables.memory_of[self.table[index, agent].argmax()])
        stack: list[int] = self.induced.stacks[agent].tolist()
        # A next observation that is not taken in leaves the others where they are.
        slot = min(int(self.tables.evicted[agent, memory_action]), len(stack) - 1)
        return (*stack[:slot], *stack[slot + 1 :])

    def extend(self, steps: int) -> None:
        """Adds so many steps to the run; annealing is then a fraction of all of them."""
        self.steps += steps
        rows = -(-self.blocks // self._blocks_per_row)
        for name in ("paid", "counts"):
            array = self.arrays[name]
            more = ((0, 0), (0, max(0, rows - array.shape[1])), (0, 0))
            self.arrays[name] = np.pad(array, more)
        self.kind, self.how, self._advance = self._kernel()

    def solver(self) -> Solve:
        """See `FinitePolicies.solver`."""
        # Not at the start of a run, which must be quick.
        from adastack.theory.kappa import quick_optimum

        return quick_optimum

    def _kernel(self) -> tuple[Any, Any, Any]:
        common = {
            "steps": self.steps,
            "blocks_per_row": self._blocks_per_row,
            "width": self.width,
            "random_memory": self.random,
        }
        if isinstance(self.settings, ValueSettings):
            how: Any = _value_how(self.algo, self.settings, self.induced.task.n_actions, common)
            return values.Values, how, values.advance
        how = _gradient_how(self.algo, self.settings, common)
        return gradient.Policy, how, gradient.advance

    def _first_arrays(self) -> dict[str, Array]:
        seeds, agents = len(self.seeds), self.induced.n_agent_states
        place = np.zeros((seeds, PLACES), np.int64)
        place[:, [ACTION, AGENT]] = -1
        arrays = {
            "word": first_words(self.seeds),
            "place": place,
            **new_record(seeds, self.steps)._asdict(),
        }
        shape = (seeds, agents * self.width)
        if isinstance(self.settings, ValueSettings):
            slots, observations = self.induced.stack_size, self.induced.task.n_observations
            arrays |= values.new_values(self.how, seeds, agents, slots, observations)
            return {**arrays, "q": np.full(shape, self.settings.initial_value)}
        return {**arrays, **gradient.new_policy(self.how, seeds, agents), "theta": np.zeros(shape)}

    def _bytes_per_agent(self, task: FiniteTask, stack_size: int) -> int:
        """What one more agent state costs, at most."""
        arrays = 4 if self.algo in VALUE_ALGOS else 3
        per_seed = 8 * (arrays * self.width + 4)
        pushes = (4 * task.n_observations + 16) * (self.width // task.n_actions)
        return len(self.seeds) * per_seed + pushes + 4 * stack_size


def _saved_name(name: str) -> str:
    return f"{WINDOWS}{name}" if name in ("paid", "counts") else name


def _tables(induced: Induced, algo: str, settings: Settings) -> Tables:
    tables = tables_of(induced)
    continual = induced.task.continual
    if algo == "reinforce" and continual:
        raise ValueError(
            f"reinforce expects an episodic task, actual: {induced.task.name}; "
            "average-reinforce learns continual ones"
        )
    if algo == "average-reinforce" and not continual:
        raise ValueError(
            f"average-reinforce expects a continual task, actual: {induced.task.name}; "
            "reinforce learns episodic ones"
        )
    if algo == "reinforce" and isinstance(settings, GradientSettings):
        limit = min(tables.time_limit or settings.horizon, settings.horizon)
        return tables._replace(time_limit=limit)
    return tables


def _value_how(
    algo: str, settings: ValueSettings, n_actions: int, common: dict[str, Any]
) -> values.KernelSettings:
    return _kernel_settings(
        values.KernelSettings,
        settings,
        **common,
        algo=VALUE_ALGOS.index(algo),
        n_actions=n_actions,
        independent=settings.exploration == EXPLORATIONS[1],
        persistent=max(settings.persistence, settings.persistence_end) > 1,
        persistence=float(settings.persistence),
        persistence_end=float(settings.persistence_end),
        bonus=INTRINSICS.index(settings.intrinsic),
        bonus_weight=settings.intrinsic_weight,
    )


def _gradient_how(
    algo: str, settings: GradientSettings, common: dict[str, Any]
) -> gradient.KernelSettings:
    segment = gradient.EPISODE
    if algo == "average-reinforce":
        segment = gradient.STEPS if settings.segment == "block" else gradient.CYCLE
    return _kernel_settings(gradient.KernelSettings, settings, **common, segment=segment)


def _kernel_settings(kind: type[Kernel], settings: Settings, **given: Any) -> Kernel:
    """What is given, and the settings of the same names."""
    same = {name: getattr(settings, name) for name in kind._fields if name not in given}
    return kind(**given, **same)
