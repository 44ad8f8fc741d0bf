"""A policy for PPO and A2C that acts with numbers and picks a slot: Gaussian x categorical."""

from __future__ import annotations

from typing import Any, Self

import torch
from gymnasium import Space
from gymnasium.spaces import Dict
from stable_baselines3.common.distributions import CategoricalDistribution, DiagGaussianDistribution
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.preprocessing import is_image_space
from stable_baselines3.common.torch_layers import (
    BaseFeaturesExtractor,
    CombinedExtractor,
    FlattenExtractor,
    NatureCNN,
)
from stable_baselines3.common.type_aliases import Schedule
from torch import Tensor, nn

from adastack.integrations.sb3.actions import HybridBox


class HybridDistribution(DiagGaussianDistribution):
    """Independent: a diagonal Gaussian, and a categorical whose draw is the action's last number.

    It is a DiagGaussianDistribution to SB3 so that SB3's policies build its network.
    """

    def __init__(self, n_numbers: int, n_memory: int) -> None:
        super().__init__(n_numbers)
        self.gaussian = DiagGaussianDistribution(n_numbers)
        self.memory = CategoricalDistribution(n_memory)

    @property
    def distribution(self) -> Any:  # type: ignore[override]
        """There is no single one: an algorithm that asks, such as TRPO, would leave out a part."""
        raise TypeError(
            "HybridActorCriticPolicy expects PPO or A2C; for other algorithms use "
            "action_form='scores' and their own policies"
        )

    def proba_distribution_net(
        self, latent_dim: int, log_std_init: float = 0.0
    ) -> tuple[nn.Module, nn.Parameter]:
        """A layer for the means and the logits, and the logarithms of the deviations."""
        log_std = nn.Parameter(torch.full((self.action_dim,), log_std_init))
        return nn.Linear(latent_dim, self.action_dim + self.memory.action_dim), log_std

    def proba_distribution(self, mean_actions: Tensor, log_std: Tensor) -> Self:
        """Sets means and logits, side by side, and deviations."""
        self.gaussian.proba_distribution(mean_actions[:, : self.action_dim], log_std)
        self.memory.proba_distribution(mean_actions[:, self.action_dim :])
        return self

    def log_prob(self, actions: Tensor) -> Tensor:
        """Log-density of the numbers plus log-probability of the memory action."""
        return self.gaussian.log_prob(actions[:, :-1]) + self.memory.log_prob(actions[:, -1])

    def entropy(self) -> Tensor:
        """The sum of both entropies, in nats."""
        numbers = self.gaussian.entropy()
        assert numbers is not None
        return numbers + self.memory.entropy()

    def sample(self) -> Tensor:
        """Draws both."""
        return _joined(self.gaussian.sample(), self.memory.sample())

    def mode(self) -> Tensor:
        """The means and the likeliest memory action."""
        return _joined(self.gaussian.mode(), self.memory.mode())


class HybridActorCriticPolicy(ActorCriticPolicy):
    """For PPO and A2C on Box actions, over ``VecStack(..., action_form="hybrid")``.

    The arguments are those of SB3's ``ActorCriticPolicy``; the feature extractor fits the
    observations by itself unless one is named.

    Example:
        >>> from stable_baselines3 import PPO
        >>> from stable_baselines3.common.env_util import make_vec_env
        >>> from adastack.integrations.sb3 import HybridActorCriticPolicy, VecAdaptiveStack
        >>> venv = VecAdaptiveStack(make_vec_env("Pendulum-v1"), 3)
        >>> model = PPO(HybridActorCriticPolicy, venv)
    """

    def __init__(
        self,
        observation_space: Space[Any],
        action_space: Space[Any],
        lr_schedule: Schedule,
        **kwargs: Any,
    ) -> None:
        if not isinstance(action_space, HybridBox):
            raise ValueError(
                f"HybridActorCriticPolicy expects VecStack(..., action_form='hybrid') over Box "
                f"actions, actual: {action_space}"
            )
        if kwargs.get("use_sde"):
            raise ValueError("HybridActorCriticPolicy expects use_sde=False, actual: True")
        kwargs.setdefault("features_extractor_class", _extractor_for(observation_space))
        super().__init__(observation_space, action_space, lr_schedule, **kwargs)

    def _build(self, lr_schedule: Schedule) -> None:
        space = self.action_space
        assert isinstance(space, HybridBox)
        self.action_dist = HybridDistribution(space.shape[0] - 1, space.n_memory)
        super()._build(lr_schedule)


def _joined(numbers: Tensor, memory_actions: Tensor) -> Tensor:
    return torch.cat([numbers, memory_actions[:, None].to(numbers.dtype)], dim=1)


def _extractor_for(space: Space[Any]) -> type[BaseFeaturesExtractor]:
    if isinstance(space, Dict):
        return CombinedExtractor
    return NatureCNN if is_image_space(space) else FlattenExtractor
