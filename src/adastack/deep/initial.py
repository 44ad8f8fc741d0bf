"""The first weights, drawn in numpy: compiled, drawing them would take longer than a start may."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from adastack.deep.cell_table import NO_CELL, load_cell
from adastack.deep.network_table import NETWORKS
from adastack.deep.networks import ActorCritic

SQRT2 = math.sqrt(2)
POSITION_DEVIATION = 0.02

Weights = NDArray[np.float32]


def bias_to_newest_slot(params: Any, patience: float, n_last: int) -> Any:
    """Makes the last ``n_last`` outputs of a policy likelier at first.

    They evict the newest slot, so what is older stays for longer.
    """
    params["params"]["policy"]["bias"][-n_last:] += np.float32(patience)
    return params


def initial_params(
    net: ActorCritic, slots: Any, seed: int, optimism: float = 0.0, critic_features: Any = None
) -> Any:
    """Weights as Stable-Baselines3 draws them where it has such a layer.

    Orthogonal with gain sqrt(2) in MLPs and convolutions, 0.01 for the policy and 1 for the value;
    orthogonal recurrent weights; elsewhere normal with variance 1 / inputs. ``optimism`` is the
    value of everything before anything is learned; ``critic_features`` are the critic's alone.
    """
    leaves, structure = jax.tree.flatten((slots, None, critic_features))
    shapes = _shapes(net, structure, tuple((leaf.shape, np.dtype(leaf.dtype)) for leaf in leaves))
    rng = np.random.default_rng(seed)
    leaves, structure = jax.tree_util.tree_flatten_with_path(shapes)
    drawn = [_draw([str(step.key) for step in path], leaf.shape, rng, net, optimism)
             for path, leaf in leaves]  # fmt: skip
    params = jax.tree_util.tree_unflatten(structure, drawn)
    if net.cell != NO_CELL:
        # Last, so that the other weights are those of the same network without a cell.
        towers = [load_cell(net.cell).draw(net.hidden, rng) for _ in range(net.n_towers)]
        params["params"]["cell"] = {
            name: np.stack([tower[name] for tower in towers]) for name in towers[0]
        }
    return params


@lru_cache(maxsize=8)
def _shapes(net: ActorCritic, structure: Any, leaves: tuple[tuple[Any, Any], ...]) -> Any:
    """The shapes of all weights; flax takes a while to tell, and all seeds have the same."""
    inputs = structure.unflatten([np.zeros(shape, dtype) for shape, dtype in leaves])
    return jax.eval_shape(net.init, jax.random.key(0), *inputs)


def _draw(
    path: list[str], shape: tuple[int, ...], rng: np.random.Generator, net: ActorCritic,
    optimism: float,
) -> Weights:  # fmt: skip
    kind = path[-1]
    if kind == "scale":
        return np.ones(shape, np.float32)
    if kind == "position":
        return rng.normal(0, POSITION_DEVIATION, shape).astype(np.float32)
    if kind != "kernel":
        return np.full(shape, optimism if path[-2:] == ["value", "bias"] else 0, np.float32)
    gain = _gain(path, net)
    if gain is not None:
        return orthogonal(shape, gain, rng)
    inputs = math.prod(shape[:-1]) if path[-2] == "out" else shape[0]
    return rng.normal(0, 1 / math.sqrt(inputs), shape).astype(np.float32)


def _gain(path: list[str], net: ActorCritic) -> float | None:
    """The gain of an orthogonal layer; None for the others."""
    if path[1] == "policy":
        return 0.01
    if path[1] == "value":
        return 1.0
    if path[1].endswith("encoder"):
        return SQRT2
    found: float | None = NETWORKS[net.net].load().gain(path)
    return found


def orthogonal(shape: tuple[int, ...], gain: float, rng: np.random.Generator) -> Weights:
    """Orthogonal weights; the last axis counts outputs."""
    rows, columns = math.prod(shape[:-1]), shape[-1]
    q, r = np.linalg.qr(rng.normal(size=(max(rows, columns), min(rows, columns))))
    q = q * np.sign(np.diag(r))
    weights = gain * (q if rows >= columns else q.T)
    return weights.reshape(shape).astype(np.float32)
