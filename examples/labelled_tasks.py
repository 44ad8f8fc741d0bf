"""Small tasks whose memory is known by construction, to try ``adastack diagnose`` on.

From this folder:

    adastack diagnose lag:steps=2 --import labelled_tasks
    adastack diagnose labelled_tasks:HiddenCue --env-arg delay=8

A finite task is written as a function from a state and an action to what may come of it, and
turned into arrays by visiting every state.
"""

from collections.abc import Callable, Hashable
from typing import Any

import gymnasium as gym
import numpy as np

from adastack.tasks import FiniteTask, TaskEntry, register_task

Outcome = tuple[float, Hashable | None, float]
"""How likely it is, the next state (None where the attempt ends), and the reward."""
ASK = 0.05
"""How likely it is at each step that the question comes."""


def build(
    name: str,
    starts: list[Any],
    see: Callable[[Any], str],
    actions: tuple[str, ...],
    step: Callable[[Any, int], list[Outcome]],
) -> FiniteTask:
    """A finite task from a function of states and actions."""
    over = ("over",)
    states, at = [*starts, over], 0
    moves: dict[tuple[Any, int], list[Outcome]] = {}
    while at < len(states):
        for action in range(len(actions)):
            found = [(1.0, None, 0.0)] if states[at] == over else step(states[at], action)
            moves[states[at], action] = found
            states += [s for s in dict.fromkeys(o[1] for o in found) if s and s not in states]
        at += 1
    most = max(map(len, moves.values()))
    shape = (len(states), len(actions), most)
    place, chance, pay = np.zeros(shape, int), np.zeros(shape), np.zeros(shape)
    ends = np.zeros(shape, bool)
    for (state, action), found in moves.items():
        row = states.index(state), action
        for i, (probability, following, reward) in enumerate(found):
            cell = (*row, i)
            place[cell] = states.index(over if following is None else following)
            chance[cell], pay[cell], ends[cell] = probability, reward, following is None
        place[*row, len(found) :] = place[*row, 0]
        ends[*row, len(found) :] = ends[*row, 0]
    shown = ["over" if state == over else see(state) for state in states]
    names = tuple(dict.fromkeys(shown))
    first = np.array([(state in starts) / len(starts) for state in states])
    return FiniteTask(
        name=name, observation=[names.index(each) for each in shown], next_state=place,
        probability=chance, reward=pay, ends=ends, start=first, observation_names=names,
        action_names=actions, time_limit=100,
    )  # fmt: skip


def lag(steps: int = 1, length: int = 8) -> FiniteTask:
    """Bits come one by one; at each, name the one that came so many steps ago: a window.

    Until so many have come, any answer is right. ``steps=0`` needs no memory.
    """

    def step(state: Any, action: int) -> list[Outcome]:
        time, bits = state
        reward = float(len(bits) <= steps or action == bits[-1 - steps]) / length
        if time + 1 == length:
            return [(1.0, None, reward)]
        return [(0.5, (time + 1, (*bits, bit)[-1 - steps :]), reward) for bit in (0, 1)]

    starts = [(0, (0,)), (0, (1,))]
    name = f"lag:steps={steps},length={length}"
    return build(name, starts, lambda s: str(s[1][-1]), ("0", "1"), step)


def count(modulo: int = 2) -> FiniteTask:
    """Marks come and stay away until a question: how many came, modulo a number?

    No observation tells the count, and there is no last question: a counter, beyond any stack.
    """

    def step(state: Any, action: int) -> list[Outcome]:
        number, shown = state
        if shown == "question":
            return [(1.0, None, 1.0 if action == number else -1.0)]
        going = (1 - ASK) / 2
        return [
            (going, ((number + 1) % modulo, "mark"), 0.0),
            (going, (number, "blank"), 0.0),
            (ASK, (number, "question"), 0.0),
        ]

    answers = tuple(str(n) for n in range(modulo))
    return build(f"count:modulo={modulo}", [(0, "blank")], lambda s: s[1], answers, step)


def cues(number: int = 2, delay: int = 4) -> FiniteTask:
    """Cues of two colours, each marked with its place, a wait, and a question for one of them.

    One kept cue tells two bits, by which cue it is and by its colour, so that two slots are enough
    for two cues; for three they are not.
    """

    def step(state: Any, action: int) -> list[Outcome]:
        time, bits, asked = state
        if asked is not None:
            return [(1.0, None, 1.0 if action == bits[asked] else -1.0)]
        if len(bits) < number:
            return [(0.5, (time + 1, (*bits, bit), None), 0.0) for bit in (0, 1)]
        if time < number + delay:
            return [(1.0, (time + 1, bits, None), 0.0)]
        return [(1 / number, (time + 1, bits, which), 0.0) for which in range(number)]

    def see(state: Any) -> str:
        time, bits, asked = state
        if asked is not None:
            return f"which was cue {asked}?"
        return f"cue {time}: {bits[-1]}" if time < number else "wait"

    starts = [(0, (0,), None), (0, (1,), None)]
    return build(f"cues:number={number},delay={delay}", starts, see, ("0", "1"), step)


class HiddenCue(gym.Env[Any, Any]):
    """Real numbers: a cue at the first step, noise, then a choice: two chosen slots.

    Args:
        delay: Steps between the cue and the choice.
        shown: Whether the cue is also shown at the choice, so that no memory is needed.
    """

    def __init__(self, delay: int = 8, shown: bool = False) -> None:
        self.delay, self.shown = delay, shown
        self.observation_space = gym.spaces.Box(-2.0, 2.0, (3,), np.float32)
        self.action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """A new cue."""
        super().reset(seed=seed)
        self._cue, self._time = int(self.np_random.integers(2)), 0
        return self._see(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """The action counts at the last step."""
        last = self._time == self.delay + 1
        right = int(action) == self._cue
        self._time += 1
        reward = (1.0 if right else -1.0) if last else 0.0
        return self._see(), reward, last, False, {"is_success": last and right}

    def _see(self) -> Any:
        choice = self._time == self.delay + 1
        cue = 2.0 * self._cue - 1.0 if self._time == 0 or (choice and self.shown) else 0.0
        noise = self.np_random.uniform(-1, 1)
        return np.array([cue, float(choice), noise], np.float32)


register_task(TaskEntry("lag", lag, "the bit that came some steps ago"))
register_task(TaskEntry("count", count, "how many marks have come"))
register_task(TaskEntry("cues", cues, "the cues, until one is asked for"))
