"""Networks over a stack of k slots: encode each slot, read the slots, put heads on top.

A cell between what was read and the heads is in `adastack.deep.recurrent`. Weights are drawn in
`adastack.deep.initial`.
"""

from __future__ import annotations

from typing import Any, cast

import flax.linen as nn
import jax.numpy as jnp
from jax import Array

from adastack.deep.cell_table import NO_CELL
from adastack.deep.network_table import NETWORKS
from adastack.deep.networks.observations import SlotEncoder, Spec
from adastack.deep.networks.prefixes import Prefixes
from adastack.deep.networks.visited import Part


class ActorCritic(nn.Module):
    """Policy outputs and a value for each stack."""

    spec: Spec
    net: str
    n_outputs: int
    """Network outputs of the policy, deviations excluded."""
    n_deviations: int = 0
    """Log-deviations, which do not depend on the stack, appended to the first outputs."""
    critic: bool = True
    shared: bool = False
    hidden: int = 128
    cell: str = NO_CELL
    """What carries a state through the episode, between the towers and the heads."""

    def setup(self) -> None:
        """Builds the towers: actor, and critic unless it is shared or absent."""
        network = NETWORKS[self.net]
        convolve, body = network.convolve, network.load().Body
        self.actor_encoder = SlotEncoder(self.spec, convolve, self.hidden)
        self.actor_body = body(self.hidden)
        self.policy = nn.Dense(self.n_outputs)
        if self.n_deviations:
            self.log_std = self.param("log_std", nn.initializers.zeros, (self.n_deviations,))
        if self.critic:
            self.value = nn.Dense(1)
        if self.separate:
            self.critic_encoder = SlotEncoder(self.spec, convolve, self.hidden)
            self.critic_body = body(self.hidden)

    def __call__(
        self, slots: Any, filled: Array | None = None, critic_features: Array | None = None
    ) -> tuple[Array, Array]:
        """Policy outputs (batch, n) and values (batch,): every row by itself, slot by slot.

        This is the definition of every network without a cell. `policy_and_value` gives the same in
        less time.

        Args:
            slots: Arrays of shape (batch, k, ...), nested as the spec is.
            filled: (batch,): how many slots a sequence network reads; all, if None.
            critic_features: (batch, k, features): of the slots, for the critic alone.
        """
        return self.heads(self.towers(slots, filled, critic_features))

    @property
    def separate(self) -> bool:
        """Whether there is a second tower, for the critic."""
        return self.critic and not self.shared

    @property
    def n_towers(self) -> int:
        """Actor and critic, or one for both."""
        return 1 + self.separate

    def towers(
        self, slots: Any, filled: Array | None = None, critic_features: Array | None = None
    ) -> list[Array]:
        """What each tower reads of stacks, (batch, hidden)."""
        actor, *critic = self.encode(slots, critic_features)
        read = [self.actor_body(actor, filled)]
        return read + [self.critic_body(features, filled) for features in critic]

    def act(self, slots: Any, filled: Array | None = None) -> Array:
        """The policy outputs alone."""
        read = self.actor_body(self.actor_encoder(slots), filled)
        return self.outputs(read)

    def encode(self, slots: Any, critic_features: Array | None = None) -> list[Array]:
        """For each tower, the features of the slots, (batch, k, features)."""
        features = [self.actor_encoder(slots)]
        if self.separate:
            own = self.critic_encoder(slots)
            features.append(
                own if critic_features is None else jnp.concatenate([own, critic_features], axis=-1)
            )
        return features

    def encode_for_actor(self, slots: Any) -> list[Array]:
        """The actor's features of the slots."""
        return [self.actor_encoder(slots)]

    def heads(self, read: list[Array]) -> tuple[Array, Array]:
        """Policy outputs and values, from what each tower has read."""
        return self.outputs(read[0]), self.values(read[-1])

    def values(self, read: Array) -> Array:
        """Values, from what the critic's tower has read; 0 without a critic."""
        return self.value(read)[:, 0] if self.critic else jnp.zeros(len(read))

    def outputs(self, read: Array) -> Array:
        """Policy outputs, from what the actor's tower has read."""
        outputs = self.policy(read)
        if not self.n_deviations:
            return outputs
        log_std = jnp.broadcast_to(self.log_std, (len(outputs), self.n_deviations))
        mean, rest = jnp.split(outputs, [self.n_deviations], axis=-1)
        return jnp.concatenate([mean, log_std, rest], axis=-1)


def policy_and_value(
    net: ActorCritic, params: Any, slots: Any, filled: Array | None = None,
    critic_features: Array | None = None,
) -> tuple[Array, Array]:  # fmt: skip
    """Policy outputs and values of a batch of stacks, as ``ActorCritic`` defines them."""
    network = NETWORKS[net.net]
    if not network.sequence:
        return cast(tuple[Array, Array], net.apply(params, slots, None, critic_features))
    features = cast(list[Array], net.apply(params, slots, critic_features, method="encode"))
    read = network.load().read(_bodies(net, params), features, filled)
    return cast(tuple[Array, Array], net.apply(params, read, method="heads"))


def over_distinct(
    net: ActorCritic, params: Any, observations: Any, index: Array, critic_features: Array | None
) -> tuple[Array, Array]:
    """As `policy_and_value`, of stacks whose slots show some of ``observations``.

    Args:
        net: The network, one that joins its slots.
        params: The weights.
        observations: Arrays of shape (observations, 1, ...), nested as the spec is.
        index: (batch, k): the observation in each slot.
        critic_features: As in `policy_and_value`.
    """
    features = cast(list[Array], net.apply(params, observations, method="encode"))
    of_row = [None, critic_features][: net.n_towers]
    read = (
        NETWORKS[net.net]
        .load()
        .read_distinct(_bodies(net, params), [each[:, 0] for each in features], index, of_row)
    )
    return cast(tuple[Array, Array], net.apply(params, read, method="heads"))


def act(net: ActorCritic, params: Any, slots: Any, filled: Array | None = None) -> Array:
    """The policy outputs alone of a batch of stacks."""
    network = NETWORKS[net.net]
    if not network.sequence:
        return cast(Array, net.apply(params, slots, method="act"))
    features = cast(list[Array], net.apply(params, slots, method="encode_for_actor"))
    (read,) = network.load().read(_bodies(net, params)[:1], features, filled)
    return cast(Array, net.apply(params, read, method="outputs"))


def over_prefixes(net: ActorCritic, params: Any, prefixes: Prefixes | Part) -> tuple[Array, Array]:
    """Policy outputs and values of all stacks of a sequence network's one-hot symbols.

    Of some of them, if the network reads parts (`adastack.deep.network_table.Network`).
    """
    read = read_prefixes(net, params, prefixes)
    return cast(tuple[Array, Array], net.apply(params, read, method="heads"))


def read_stacks(
    net: ActorCritic, params: Any, slots: Any, filled: Array | None = None
) -> list[Array]:
    """What each tower reads of a batch of stacks, (batch, hidden)."""
    network = NETWORKS[net.net]
    if not network.sequence:
        return cast(list[Array], net.apply(params, slots, method="towers"))
    features = cast(list[Array], net.apply(params, slots, method="encode"))
    return cast(list[Array], network.load().read(_bodies(net, params), features, filled))


def read_prefixes(net: ActorCritic, params: Any, prefixes: Prefixes | Part) -> list[Array]:
    """What each tower reads of the stacks of a sequence network's one-hot symbols."""
    return cast(list[Array], NETWORKS[net.net].load().read_prefixes(_bodies(net, params), prefixes))


def _bodies(net: ActorCritic, params: Any) -> list[Any]:
    names = ("actor_body", "critic_body") if net.separate else ("actor_body",)
    return [params["params"][name] for name in names]
