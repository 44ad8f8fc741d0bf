"""A page on which the visitor holds the stack: any finite task, with any memory rule."""

from __future__ import annotations

from html import escape
from typing import Any

from adastack.memory import get_rule
from adastack.process.induced import TooLargeError
from adastack.tasks import TASKS, FiniteTask
from adastack.tasks.spec import parse_spec
from adastack.theory.belief import beliefs
from adastack.theory.bound import best_policy
from adastack.theory.feasible import find_optimal
from adastack.theory.optimal import default_gamma, optimal_values
from adastack.theory.stacks import StackPolicy, Stacks
from adastack.viewer.episode import spelled, symbols_of
from adastack.viewer.page import Page, embedded

MOST_OUTCOMES = 200_000
"""A page with more would take long to open."""
MOST_BELIEFS, MOST_CHOICES = 2_000, 5_000
"""How far hints are looked for."""

_SCORE = "".join(
    f'<li><b class="{name}">0</b>{name}</li>' for name in ("attempts", "solved", "reward", "steps")
)
_STAGE = (
    f'<ul class="figures">{_SCORE}</ul><div class="slots"></div>'
    '<p class="message" aria-live="polite"></p><button class="again" hidden>again '
    '<kbd>Enter</kbd></button><div class="pad"></div><p class="hint" aria-live="polite"></p>'
    '<div class="options">{options}</div><svg class="map"></svg>'
)


class GamePage(Page):
    """A page that plays a task."""

    scripts = ("draw.js", "game.js")
    styles = ("page.css", "game.css")


def game_page(task: FiniteTask, rule: str, stack_size: int) -> GamePage:
    """The page of a task with a memory, ready to be played.

    Args:
        task: The task.
        rule: The name of the memory rule.
        stack_size: The number of slots, k.

    Raises:
        ValueError: If the task's tables are too large for a page.

    Example:
        >>> from adastack.tasks import xormaze
        >>> "section" in game_page(xormaze(), "adaptive", 3).html()
        True
    """
    document = game_of(task, rule, stack_size)
    page = GamePage(f"Hold the stack: {spelled(task.name)}")
    page.text(
        f"You are the agent. All you know is what is in your memory of {stack_size} "
        f"{'slot' if stack_size == 1 else 'slots'}: what you see now and what you chose to keep. "
        "Before each move, choose the slot to evict; what you see next takes its place."
        + _goal(task)
    )
    boxes = {"hints": "hints"} if document["hints"] else {}
    if task.picture is not None:
        boxes["map"] = "show the map, which an agent does not see"
    options = "".join(
        f'<label><input type="checkbox" name="{name}"> {escape(says)}</label>'
        for name, says in boxes.items()
    )
    page.raw(
        f'<section class="game">{_STAGE.format(options=options)}{embedded(document)}</section>'
    )
    page.markdown(_keys(task))
    page.code(f"adastack play {task.name} --k {stack_size} --memory {rule}")
    return page


def game_of(task: FiniteTask, rule: str, stack_size: int) -> dict[str, Any]:
    """The task's tables, the memory rule's and the hints, as JSON knows them."""
    if task.next_state.size > MOST_OUTCOMES:
        raise ValueError(
            f"expected a task of at most {MOST_OUTCOMES:,} outcomes to play, actual: "
            f"{task.next_state.size:,} in {task.name}; choose a shorter one"
        )
    flat = {name: getattr(task, name).ravel() for name in ("next_state", "probability", "reward")}
    picture = task.picture and {
        "background": task.picture.background.tolist(),
        "agent": task.picture.agent.tolist(),
        "cue_cells": task.picture.cue_cells.tolist(),
    }
    return {
        "task": task.name,
        "memory": rule,
        "k": stack_size,
        "evict": get_rule(rule).table(stack_size).tolist(),
        "symbols": symbols_of(task),
        "actions": list(task.action_names),
        "n_outcomes": task.n_outcomes,
        **{name: array.tolist() for name, array in flat.items()},
        "ends": task.ends.ravel().astype(int).tolist(),
        "observation": task.observation.tolist(),
        "cue": task.cue.tolist(),
        "starts": task.start_states.tolist(),
        "start_weights": task.start[task.start_states].tolist(),
        "continual": task.continual,
        "time_limit": task.time_limit,
        "picture": picture,
        "hints": {
            ",".join(str(-1 if symbol == task.empty else symbol) for symbol in stack): choice
            for stack, choice in hints(task, rule, stack_size).items()
        },
    }


def hints(task: FiniteTask, rule: str, stack_size: int) -> StackPolicy:
    """The best stack policy, where it is found at once: an optimal one, or the best of its size."""
    try:
        known = beliefs(task, max_beliefs=MOST_BELIEFS)
        optimal = optimal_values(known, default_gamma(task))
        stacks = Stacks(task, rule, stack_size)
        found = find_optimal(optimal, stacks, max_choices=MOST_CHOICES)
        if found.policy is not None:
            return found.policy
        best = best_policy(optimal, stacks, max_choices=MOST_CHOICES)
    except TooLargeError:
        return {}
    return best.policy if best.proved else {}


def _goal(task: FiniteTask) -> str:
    entry = TASKS.get(parse_spec(task.name).name)
    return f" Worth remembering: {entry.remember}." if entry else ""


def _keys(task: FiniteTask) -> str:
    moves = {"up", "right", "down", "left"} >= set(task.action_names)
    act = "the arrow keys" if moves else "the letters"
    ending = (
        "The task never ends: after each attempt you are put back to the start, and nothing tells."
        if task.continual
        else "When an attempt ends, the map is shown."
        if task.picture is not None
        else ""
    )
    return (
        f"Keys: the numbers choose a slot, {act} act. The framed slot is what you see now; one "
        f"that the memory's rule cannot evict is not for you to choose. {ending}"
    )
