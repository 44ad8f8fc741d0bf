"""Networks over a stack of k slots: encode each slot, read the slots, put heads on top.

Weights are drawn in `adastack.deep.initial`.
"""

from __future__ import annotations

from typing import Any, cast

import flax.linen as nn
import jax.numpy as jnp
from jax import Array

from adastack.deep.network_table import NETWORKS
from adastack.deep.networks.observations import SlotEncoder, Spec


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
        if self.critic and not self.shared:
            self.critic_encoder = SlotEncoder(self.spec, convolve, self.hidden)
            self.critic_body = body(self.hidden)

    def __call__(self, slots: Any) -> tuple[Array, Array]:
        """Slots of shape (batch, k, ...) -> policy outputs (batch, n) and values (batch,)."""
        read = self.actor_body(self.actor_encoder(slots))
        outputs = self._with_deviations(self.policy(read))
        if not self.critic:
            return outputs, jnp.zeros(len(outputs))
        if not self.shared:
            read = self.critic_body(self.critic_encoder(slots))
        return outputs, self.value(read)[:, 0]

    def act(self, slots: Any) -> Array:
        """The policy outputs alone."""
        return self._with_deviations(self.policy(self.actor_body(self.actor_encoder(slots))))

    def _with_deviations(self, outputs: Array) -> Array:
        if not self.n_deviations:
            return outputs
        log_std = jnp.broadcast_to(self.log_std, (len(outputs), self.n_deviations))
        mean, rest = jnp.split(outputs, [self.n_deviations], axis=-1)
        return jnp.concatenate([mean, log_std, rest], axis=-1)


def policy_and_value(net: ActorCritic, params: Any, slots: Any) -> tuple[Array, Array]:
    """Policy outputs and values of a batch of stacks."""
    outputs, value = cast(tuple[Array, Array], net.apply(params, slots))
    return outputs, value


def act(net: ActorCritic, params: Any, slots: Any) -> Array:
    """The policy outputs alone of a batch of stacks."""
    return cast(Array, net.apply(params, slots, method="act"))
