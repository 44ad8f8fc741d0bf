"""Seeds that learn side by side on one task: their arrays, and the threads that advance them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from adastack.memory import RULES, Rule, get_rule
from adastack.process.capacity import induce_within
from adastack.process.draws import first_words
from adastack.process.induced import Induced
from adastack.process.tables import FIELDS, Tables, tables_of
from adastack.tabular import gradient, values
from adastack.tabular.moves import (
    ACTION,
    AGENT,
    BLOCK,
    BLOCKS,
    PLACES,
    Record,
    blocks_in,
    blocks_per_row,
    new_record,
)
from adastack.tabular.settings import (
    EXPLORATIONS,
    INTRINSICS,
    VALUE_ALGOS,
    GradientSettings,
    Settings,
    ValueSettings,
)
from adastack.tasks.finite import FiniteTask

RANDOM = "random"
"""The memory that evicts a uniformly random slot, a control."""
Array = NDArray[Any]
THREADS: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]


class Session:
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
        self.random = memory == RANDOM
        rule = learning_rule(memory)
        self.width = task.n_actions * (1 if self.random else rule.actions(stack_size))
        self.induced = induce_within(
            task, rule.name, stack_size, self._bytes_per_agent(task, stack_size)
        )
        self.tables = _tables(self.induced, algo, settings)
        self.kind, self.how, self._advance = self._kernel()
        self.arrays = self._first_arrays()

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
        return min(self.steps, self.blocks_done * BLOCK)

    @property
    def table(self) -> NDArray[np.float64]:
        """(seeds, agent states, joint actions): values, or the parameters of the policy."""
        name = "q" if self.algo in VALUE_ALGOS else "theta"
        return self.arrays[name].reshape(len(self.seeds), -1, self.width)

    def advance(self, blocks: int) -> None:
        """Lets every seed take a number of blocks of 100 steps, on all cores."""
        blocks = min(blocks, self.blocks - self.blocks_done)

        def run(seed: int) -> None:
            mine = {name: array[seed] for name, array in self.arrays.items()}
            record = Record(*(mine.pop(name) for name in Record._fields))
            self._advance(self.tables, self.how, self.kind(**mine), record, blocks)

        with ThreadPoolExecutor(min(len(self.seeds), THREADS)) as pool:
            list(pool.map(run, range(len(self.seeds))))

    def curves(self) -> dict[str, Array]:
        """The metrics so far, by window of 100 steps (more in very long runs).

        Per window: summed reward; mean return, discounted return and success of the attempts that
        ended in it (NaN if none did) and their number; the fraction of steps with memory regret;
        the number of steps with active and with passive regret.
        """
        window = blocks_per_row(self.steps)
        rows = -(-self.blocks_done // window)
        paid, events = self.arrays["paid"][:, :rows], self.arrays["events"][:, :rows]
        counts = {name: events[:, :, i].astype(np.float64) for i, name in enumerate(FIELDS)}
        attempts = np.where(counts["attempts"] > 0, counts["attempts"], np.nan)
        ends = np.minimum(np.arange(1, rows + 1) * window * BLOCK, self.steps_done)
        return {
            "step": ends.astype(np.int64),
            "reward": paid[:, :, 0],
            "return": paid[:, :, 1] / attempts,
            "discounted_return": paid[:, :, 2] / attempts,
            "success": counts["successes"] / attempts,
            "attempts": counts["attempts"],
            "memory_regret": counts["memory_regret"] / np.diff(ends, prepend=0),
            "active_regret": counts["active_regret"],
            "passive_regret": counts["passive_regret"],
        }

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Goes on from saved arrays.

        Raises:
            ValueError: If they do not belong to such a session.
        """
        for name, array in self.arrays.items():
            found = arrays.get(name)
            if found is None or found.shape != array.shape or found.dtype != array.dtype:
                actual = "nothing" if found is None else f"{found.dtype}{found.shape}"
                raise ValueError(
                    f"the checkpoint is of another run: expected {name} as "
                    f"{array.dtype}{array.shape}, actual: {actual}"
                )
        self.arrays = {name: np.array(arrays[name]) for name in self.arrays}

    def _kernel(self) -> tuple[Any, Any, Any]:
        common = {
            "steps": self.steps,
            "blocks_per_row": blocks_per_row(self.steps),
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


def learning_rule(memory: str) -> Rule:
    """The rule of a memory; the random one evicts by the adaptive rule."""
    if memory == RANDOM:
        return get_rule("adaptive")
    if memory not in RULES:
        raise ValueError(f"expected a memory of {[*sorted(RULES), RANDOM]}, actual: {memory!r}")
    return get_rule(memory)


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
    persistent = max(settings.persistence, settings.persistence_end) > 1
    return values.KernelSettings(
        **common,
        algo=VALUE_ALGOS.index(algo),
        n_actions=n_actions,
        gamma=settings.gamma,
        alpha=settings.alpha,
        alpha_end=settings.alpha_end,
        epsilon=settings.epsilon,
        epsilon_end=settings.epsilon_end,
        anneal=settings.anneal,
        trace_decay=settings.trace_decay,
        trace_cut=settings.trace_cut,
        independent=settings.exploration == EXPLORATIONS[1],
        persistent=persistent,
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
    taken = set(gradient.KernelSettings._fields) - set(common) - {"segment"}
    return gradient.KernelSettings(
        **common, segment=segment, **{name: getattr(settings, name) for name in taken}
    )
