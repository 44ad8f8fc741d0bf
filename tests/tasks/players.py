"""Scripted players, and the exact return of a player by enumeration of all that can happen."""

from functools import cache

UP, RIGHT, DOWN, LEFT = range(4)


def expected_return(task, player, horizon=None, discount=1.0):
    """The exact expected return of a deterministic player with any memory it likes.

    A player is a function ``(memory, name of the observation) -> (action, memory)``; its first
    memory is None.
    """
    names = task.observation_names

    @cache
    def value(state, memory, left):
        if left == 0:
            return 0.0
        action, kept = player(memory, names[task.observation[state]])
        total = 0.0
        for outcome in range(task.n_outcomes):
            at = (state, action, outcome)
            if task.probability[at] == 0:
                continue
            total += task.probability[at] * (task.reward[at] + discount * after(at, kept, left - 1))
        return total

    def after(at, kept, left):
        if not task.ends[at]:
            return value(int(task.next_state[at]), kept, left)
        return begin(kept, left) if task.continual else 0.0

    def begin(memory, left):
        return sum(task.start[state] * value(int(state), memory, left) for state in starts)

    starts = [state for state in range(task.n_states) if task.start[state] > 0]
    return begin(None, horizon or task.time_limit or 200)


def best_memoryless(task):
    """The best expected return of any map from observations to actions, by trying them all.

    An observation's action is only chosen when it is first met. Without memory and without chance
    a state that comes again comes for ever.
    """
    assert task.n_outcomes == 1
    starts = [int(state) for state in task.start.nonzero()[0]]

    def from_start(place, policy):
        if place == len(starts):
            return 0.0
        return walk(place, starts[place], frozenset(), 0.0, policy)

    def walk(place, state, seen, earned, policy):
        symbol = int(task.observation[state])
        if state in seen:
            return task.start[starts[place]] * earned + from_start(place + 1, policy)
        if symbol not in policy:
            options = ({**policy, symbol: action} for action in range(task.n_actions))
            return max(walk(place, state, seen, earned, option) for option in options)
        at = (state, policy[symbol], 0)
        total = earned + task.reward[at]
        if task.ends[at]:
            return task.start[starts[place]] * total + from_start(place + 1, policy)
        return walk(place, int(task.next_state[at]), seen | {state}, total, policy)

    return from_start(0, {})


def passive_player(memory, seen):
    cue = memory or seen
    return (UP if cue == "red" else DOWN), (None if seen == "blue" else cue)


def active_player(memory, seen):
    if seen in ("red", "green"):
        return RIGHT, seen
    if memory is None:
        return LEFT, None
    if seen == "blue":
        return (UP if memory == "red" else DOWN), None
    return RIGHT, memory


def active_guesser(memory, seen):
    return (UP if seen == "blue" else RIGHT), None


def xor_player(memory, seen):
    """Looks left, then right; then the two colours tell."""
    cues = memory or ()
    if seen != "blue":
        return (RIGHT if len(cues) == 0 else LEFT), (*cues, seen)
    if len(cues) < 2:
        return (LEFT if len(cues) == 0 else RIGHT), cues
    return (UP if cues[0] != cues[1] else DOWN), ()


def heaven_hell_player(memory, seen):
    """Down to the priest, back up, and to the side that was named."""
    if seen.startswith("heaven"):
        return LEFT, seen.split()[1]
    row, column = (int(part) for part in seen.split(","))
    if memory is None:
        return (DOWN if row < 3 else RIGHT), None
    if row == 0:
        return (LEFT if memory == "west" else RIGHT), memory
    return (LEFT if column > 3 else UP), memory


def heaven_hell_guesser(memory, seen):
    row, _ = (int(part) for part in seen.split(","))
    return (LEFT if row == 0 else UP), None


def repeat_first_player(memory, seen):
    first = memory or seen
    return ("clubs", "diamonds", "hearts", "spades").index(first), first


def repeat_current_player(memory, seen):
    return ("clubs", "diamonds", "hearts", "spades").index(seen), None


def memory_length_player(memory, seen):
    context = seen.removeprefix("context ") if seen.startswith("context") else memory
    bit = int(seen[4:-1]) if seen.startswith("bit") else 0
    return int(context[bit]), context


def always_one(memory, seen):
    return 1, None


def office_player(memory, seen):
    has_coffee = memory == "coffee" or seen == "coffee"
    kept = "coffee" if has_coffee else None
    there = {"1,2": LEFT, "1,1": LEFT, "1,0": UP}
    back = {"coffee": DOWN, "1,0": RIGHT, "1,1": RIGHT, "1,2": RIGHT, "1,3": RIGHT, "1,4": UP}
    return (back if has_coffee else there)[seen], kept


def key_order_player(memory, seen):
    last = seen if seen.endswith("key") else memory
    to = {None: LEFT, "A key": RIGHT, "B key": DOWN}[last]
    ways = {"A key": RIGHT, "B key": LEFT, "0,1": to, "0,3": RIGHT if last == "A key" else LEFT}
    if last == "A key" and seen == "0,1":
        return RIGHT, last
    return ways.get(seen, to), last


def tmaze_file_player(memory, seen):
    cue = seen if seen in ("red", "green") else memory
    return (0 if cue == "red" else 1), cue


def with_stack(player, stack_size, keeps, recall=lambda held: held[-1] if held else None):
    """The same player with nothing but a stack of observations to remember by.

    ``keeps(held, seen)`` says whether the current observation enters the memory in place of the
    oldest slot, otherwise it is given up itself; ``recall`` makes the player's memory of what the
    slots hold.
    """

    def stacked(slots, seen):
        slots = slots or (None,) * (stack_size - 1)
        held = tuple(name for name in slots if name is not None)
        action, _ = player(recall(held), seen)
        return action, ((*slots, seen)[1:] if keeps(held, seen) else slots)

    return stacked
