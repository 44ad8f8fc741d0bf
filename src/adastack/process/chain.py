"""Markov chains, solved exactly: values, gains, visit frequencies.

A chain is a sparse matrix of transition probabilities. A row may sum to less than one: the rest is
the chance that the episode terminates there. Periodic chains and several recurrent classes are
fine everywhere.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import spsolve

from adastack.tasks.finite import Floats

Matrix = Any
"""A scipy.sparse.csr_array; scipy ships no types."""

LEAK = 1e-9
"""A class of states that loses less probability than this per step is closed."""


def discounted_values(transition: Matrix, reward: Floats, gamma: float) -> Floats:
    """Expected discounted return from each state; ``gamma`` = 1 gives the total reward.

    Raises:
        ValueError: If ``gamma`` is 1 and the chain can collect reward for ever.
    """
    if gamma < 1:
        return _solve(sparse.eye_array(len(reward)) - gamma * transition, reward)
    values = np.zeros(len(reward))
    transient = np.ones(len(reward), np.bool_)
    for members in recurrent_classes(transition):
        if np.abs(reward[members]).max() > 0:
            raise ValueError(
                "gamma = 1 expects every episode to end or to stop paying: "
                "use gamma < 1 or the average reward"
            )
        transient[members] = False
    inside = _block(transition, transient, transient)
    values[transient] = _solve(sparse.eye_array(transient.sum()) - inside, reward[transient])
    return values


def recurrent_classes(transition: Matrix) -> list[NDArray[np.intp]]:
    """The closed sets of states that the chain, once inside, visits for ever."""
    count, label = connected_components(transition, directed=True, connection="strong")
    rows, columns = transition.nonzero()
    leak = 1 - np.asarray(transition.sum(axis=1)).ravel()
    open_class = np.zeros(count, np.bool_)
    open_class[label[leak > LEAK]] = True
    open_class[label[rows[label[rows] != label[columns]]]] = True
    order = np.argsort(label, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(label[order])) + 1)
    return [states for states in members if not open_class[label[states[0]]]]


def stationary(transition: Matrix, members: NDArray[np.intp]) -> Floats:
    """The long-run share of time in each state of one recurrent class."""
    inside = transition[members][:, members]
    # One balance equation is redundant: leave out the first state's and fix its weight to one.
    rest = slice(1, None)
    balance = sparse.eye_array(len(members)) - inside.T.tocsr()
    weight = np.ones(len(members))
    if len(members) > 1:
        known = -balance[rest][:, [0]].toarray().ravel()
        weight[rest] = _solve(balance[rest][:, rest], known)
    share: Floats = weight / weight.sum()
    return share


def gain_and_bias(transition: Matrix, reward: Floats) -> tuple[Floats, Floats]:
    """Long-run average reward from each state, and the differential value.

    The bias averages to zero over each recurrent class. The chain must not terminate.
    """
    gain, bias = np.zeros(len(reward)), np.zeros(len(reward))
    transient = np.ones(len(reward), np.bool_)
    for members in recurrent_classes(transition):
        share = stationary(transition, members)
        gain[members] = share @ reward[members]
        centred = reward[members] - gain[members]
        if len(members) > 1:
            inside = sparse.eye_array(len(members)) - transition[members][:, members]
            relative = np.zeros(len(members))
            relative[1:] = _solve(inside.tocsr()[1:][:, 1:], centred[1:])
            bias[members] = relative - share @ relative
        transient[members] = False
    if transient.any():
        system = sparse.eye_array(transient.sum()) - _block(transition, transient, transient)
        outward = _block(transition, transient, ~transient)
        gain[transient] = _solve(system, outward @ gain[~transient])
        source = reward[transient] - gain[transient] + outward @ bias[~transient]
        bias[transient] = _solve(system, source)
    return gain, bias


def visits(transition: Matrix, start: Floats) -> tuple[Floats, Floats]:
    """How often each state is visited from a start distribution.

    Returns:
        The expected number of visits to each transient state, and the long-run share of time in
        each recurrent state; each is zero for states of the other kind.
    """
    passing, staying = np.zeros(len(start)), np.zeros(len(start))
    classes = recurrent_classes(transition)
    transient = np.ones(len(start), np.bool_)
    for members in classes:
        transient[members] = False
    entered = start.copy()
    if transient.any():
        system = sparse.eye_array(transient.sum()) - _block(transition, transient, transient).T
        passing[transient] = np.maximum(_solve(system, start[transient]), 0)
        entered += transition.T @ passing
    for members in classes:
        staying[members] = entered[members].sum() * stationary(transition, members)
    return passing, staying


def conditional_frequencies(transition: Matrix, start: Floats, group: NDArray[Any]) -> Floats:
    """How visits to a group of states are shared among its states, in the long run.

    For each state this is the limit over time of (expected visits to the state) / (expected visits
    to its group); NaN for groups that are never visited. States that are visited for ever outweigh
    those that are only passed.
    """
    passing, staying = visits(transition, start)
    groups = int(group.max()) + 1
    for_ever = np.bincount(group, staying, groups)[group]
    passed = np.bincount(group, passing, groups)[group]
    with np.errstate(invalid="ignore", divide="ignore"):
        shares: Floats = np.where(for_ever > LEAK, staying / for_ever, passing / passed)
    return shares


def _block(matrix: Matrix, rows: NDArray[np.bool_], columns: NDArray[np.bool_]) -> Matrix:
    return matrix[np.flatnonzero(rows)][:, np.flatnonzero(columns)]


def _solve(system: Matrix, right: Floats) -> Floats:
    """Solves a regular sparse system; a singular one is an error, not a NaN."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solution: Floats = np.atleast_1d(spsolve(sparse.csc_array(system), right))
    return solution
