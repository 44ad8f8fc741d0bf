"""A ``.pomdp`` file as a finite task."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from adastack.tasks.finite import Bools, FiniteTask, Ints
from adastack.tasks.pomdp_file import MAX_BYTES, Pomdp, PomdpError, parse_pomdp

SHIPPED = Path(__file__).parent / "data"


def pomdp(file: str | Path = "tiger") -> FiniteTask:
    """The task that a ``.pomdp`` file describes.

    In such a file what is seen depends on the action and on chance, and nothing is seen before the
    first action. So the task's states are pairs of the file's state and what was seen last, and
    the first observation is an extra one, ``start``.

    An attempt ends where the file says ``reset``, and on entering a state that no action leaves and
    that pays nothing. A task in which one of these can happen is episodic; any other goes on for
    ever and is continual. The file's discount is kept in `FiniteTask.discount`.

    Args:
        file: The name of a shipped file, ``tiger`` or ``tmaze``, or the path of another.

    Raises:
        PomdpError: If there is no such file or it is malformed, with the line.

    Example:
        >>> from adastack.tasks import pomdp
        >>> pomdp("tiger").observation_names
        ('hear-left', 'hear-right', 'start')
    """
    # Not where the core is imported: files need more than numpy, as the grammar does.
    from adastack.files import DamagedFileError, read_bytes

    shipped = sorted(path.stem for path in SHIPPED.glob("*.pomdp"))
    path = SHIPPED / f"{file}.pomdp" if str(file) in shipped else Path(file)
    try:
        text = read_bytes(path, MAX_BYTES, follow=True).decode()
    except OSError as error:
        raise PomdpError(
            f"expected a .pomdp file or one of {', '.join(shipped)}, actual {file}: "
            f"{error.strerror}"
        ) from None
    except UnicodeDecodeError:
        raise PomdpError(f"{file}: expected text, actual bytes that are not UTF-8") from None
    except DamagedFileError as error:
        raise PomdpError(str(error)) from None
    return to_task(parse_pomdp(text, str(file)), f"pomdp:file={file}")


def to_task(model: Pomdp, name: str) -> FiniteTask:
    """Splits a model's states by what was seen last."""
    n_states, n_observations = len(model.states), len(model.observations)
    joint = model.transition[:, :, :, None] * model.emission[:, None]
    reached = _reachable(model)
    # A pair's key is state * (observations + 1) + observation; the extra observation is `start`.
    n_seen = n_observations + 1
    began = np.flatnonzero(model.start) * n_seen + n_observations
    after, seen = np.nonzero(joint[:, reached].any(axis=(0, 1)))
    keys = np.concatenate([began, after * n_seen + seen])
    number = np.full(n_states * n_seen, -1)
    number[keys] = np.arange(len(keys))

    arrive = number.reshape(n_states, n_seen)[:, :n_observations]
    ends = (_absorbing(model, joint) | model.resets[:, :, None])[:, :, :, None]
    tables = (
        np.broadcast_to(arrive, joint.shape),
        joint,
        model.reward,
        np.broadcast_to(ends, joint.shape),
    )
    next_state, probability, reward, over = _outcomes(joint, tables, keys // n_seen)
    start = np.zeros(len(keys))
    start[: len(began)] = model.start[model.start > 0]
    return FiniteTask(
        name=name,
        observation=keys % n_seen,
        next_state=next_state,
        probability=probability,
        reward=reward,
        ends=over,
        start=start,
        observation_names=(*model.observations, "start"),
        action_names=model.actions,
        continual=not over.any(),
        discount=model.discount,
    )


def _reachable(model: Pomdp) -> Ints:
    """The file's states that an attempt can come to."""
    leads: Bools = np.any(model.transition > 0, axis=0)
    reached: Bools = model.start > 0
    while not np.array_equal(reached, more := reached | leads[reached].any(axis=0)):
        reached = more
    return np.flatnonzero(reached).astype(np.int32)


def _absorbing(model: Pomdp, joint: np.ndarray) -> Bools:
    """(states,): whether no action leaves a state or pays anything in it."""
    place = np.arange(len(model.states))
    stays = ((model.transition[:, place, place] == 1) & ~model.resets).all(axis=0)
    pays = ((joint > 0) & (model.reward != 0)).any(axis=(0, 2, 3))
    absorbing: Bools = stays & ~pays
    return absorbing


def _outcomes(
    joint: np.ndarray, tables: tuple[np.ndarray, ...], states: np.ndarray
) -> tuple[np.ndarray, ...]:
    """The possible outcomes of each pair and action, from tables over all of them.

    Returns the tables with shape (pairs, actions, outcomes), where what an action has fewer of is
    filled with outcomes of probability zero.
    """
    n_actions, n_states = joint.shape[:2]
    flat = joint.reshape(n_actions, n_states, -1)
    n_outcomes = int((flat > 0).sum(axis=-1).max())
    chosen = np.argsort(flat == 0, axis=-1, kind="stable")[:, :, :n_outcomes]
    possible = np.take_along_axis(flat, chosen, axis=-1) > 0
    found = []
    for table in tables:
        values = np.take_along_axis(table.reshape(flat.shape), chosen, axis=-1)
        values = np.where(possible, values, 0).astype(table.dtype)
        found.append(values.transpose(1, 0, 2)[states])
    return tuple(found)
