"""Tasks for which no stack is large enough.

A stack that receives the same observation again and again stops changing: entries of any other kind
can only be evicted or move towards the old end, and once they rest, the stack is the same at every
step. So is the action that a stack policy takes. A task whose optimal play must keep changing its
action under a stream of one observation, such as the tiger's "listen twice, then open", is beyond
every stack size. So is one in which the action after such a stream depends on how long it was, for
ever: the parity of a count that is asked for at an unknown time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adastack.tasks.finite import Bools
from adastack.theory.optimal import Optimal


def beyond_stacks(optimal: Optimal) -> int | None:
    """An observation whose repetition defeats every stack policy, whatever its size.

    Returns:
        The observation; None if there is no such reason (a finite stack may or may not be enough).
    """
    for seen in range(optimal.beliefs.task.n_observations):
        stuck = ~_may_settle(optimal, seen)
        if stuck.any() and any(_must_reach(optimal, stuck)[b] for _, b, _ in optimal.beliefs.first):
            return seen
    return None


def _may_settle(optimal: Optimal, seen: int) -> Bools:
    """The beliefs from which an optimal player of a stream of one observation can settle.

    It settles if from some step on it takes the same action for ever, and after the stream an
    action that is right however long it was, or if the stream must end.
    """
    after = _after(optimal, seen)
    settled = optimal.best & _forgets(optimal, seen, after)
    while True:
        # The last entry stands for "the stream ends here".
        goes_on = np.vstack([settled, np.ones(settled.shape[1], np.bool_)])
        stays = settled & np.take_along_axis(goes_on, after, axis=0)
        if (stays == settled).all():
            break
        settled = stays
    fine: Bools = np.asarray(settled.any(axis=1))
    while True:
        leads = np.append(fine, True)[after] & optimal.best
        more: Bools = np.asarray(fine | leads.any(axis=1))
        if (more == fine).all():
            return fine
        fine = more


def _forgets(optimal: Optimal, seen: int, after: NDArray[np.intp]) -> Bools:
    """(beliefs, actions): whether, under the stream, its length does not matter in the end.

    With one action for ever the beliefs come to go round in a loop. Whatever else is seen after the
    stream then leaves the same stack, wherever in the loop that was: one action must be optimal.
    """
    n_beliefs, n_actions = after.shape
    forgets = np.ones(after.shape, np.bool_)
    for action in range(n_actions):
        # The last entry stands for "the stream ends here", and stays there.
        following = np.append(after[:, action], n_beliefs)
        following[following < 0] = n_beliefs
        far = following
        for _ in range(n_beliefs.bit_length()):
            far = far[far]
        fine = np.ones(n_beliefs + 1, np.bool_)
        known = np.zeros(n_beliefs + 1, np.bool_)
        known[n_beliefs] = True
        for start in np.unique(far):
            if known[start]:
                continue
            loop = [int(start)]
            while (ahead := int(following[loop[-1]])) != start:
                loop.append(ahead)
            fine[loop], known[loop] = _one_action_fits(optimal, seen, action, loop), True
        forgets[:, action] = fine[far[:n_beliefs]]
    return forgets


def _one_action_fits(optimal: Optimal, seen: int, action: int, loop: list[int]) -> bool:
    """Whether an action is optimal after each other observation, wherever in the loop it comes."""
    common: dict[int, Bools] = {}
    for belief in loop:
        for symbol, following, _ in optimal.beliefs.steps[belief][action]:
            if symbol != seen:
                best = optimal.best[following]
                common[symbol] = common[symbol] & best if symbol in common else best
    return all(fits.any() for fits in common.values())


def _after(optimal: Optimal, seen: int) -> NDArray[np.intp]:
    """(beliefs, actions): the belief after an action and the observation; -1 if it cannot come."""
    steps = optimal.beliefs.steps
    after = np.full(optimal.best.shape, -1, np.intp)
    for belief, by_action in enumerate(steps):
        for action, following in enumerate(by_action):
            for symbol, next_belief, _ in following:
                if symbol == seen:
                    after[belief, action] = next_belief
    return after


def _must_reach(optimal: Optimal, stuck: Bools) -> Bools:
    """The beliefs from which every optimal policy reaches, with some chance, a stuck one."""
    reaching = stuck
    while True:
        ahead = optimal.beliefs.transition @ reaching.astype(float)
        meets = ahead.reshape(optimal.best.shape) > 0
        more: Bools = reaching | (meets | ~optimal.best).all(axis=1)
        if (more == reaching).all():
            return reaching
        reaching = more
