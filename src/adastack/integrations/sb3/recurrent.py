"""Recurrence over what was kept, for sb3-contrib's RecurrentPPO."""

from __future__ import annotations

from typing import Any

from gymnasium import Space
from sb3_contrib.common.recurrent.policies import RecurrentActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule
from torch import Tensor, nn

from adastack.integrations.sb3.extractors import HIDDEN, StackExtractor


class SlotEmbedding(StackExtractor):
    """Each slot embedded in 128 numbers, (batch, k, 128), for a recurrence to read in order."""

    def __init__(self, observation_space: Space[Any], stack_size: int) -> None:
        super().__init__(observation_space, stack_size)
        self.embed = nn.Linear(self.encoder.size, HIDDEN)

    def forward(self, observations: Any) -> Tensor:
        """(batch, ...) -> (batch, k, 128)."""
        embedded: Tensor = self.embed(self.encoder(observations))
        return embedded


class KeptLstmPolicy(RecurrentActorCriticPolicy):
    """RecurrentPPO's LSTM over the k kept observations rather than over the last ones.

    At every step, in training and in play, the LSTM starts from nothing and reads the slots, oldest
    first. So the gradient reaches exactly what the agent chose to keep, however old it is, and
    never a window of recent steps; no hidden state is carried from step to step.

    Args:
        observation_space: The space of the stacks.
        action_space: The joint actions.
        lr_schedule: The learning rate.
        stack_size: The number of slots, k.
        kwargs: As in sb3-contrib's ``RecurrentActorCriticPolicy``.

    Example:
        >>> from sb3_contrib import RecurrentPPO
        >>> from stable_baselines3.common.env_util import make_vec_env
        >>> from adastack.integrations.sb3 import KeptLstmPolicy, VecAdaptiveStack
        >>> venv = VecAdaptiveStack(make_vec_env("CartPole-v1"), 2)
        >>> model = RecurrentPPO(KeptLstmPolicy, venv, policy_kwargs={"stack_size": 2})
    """

    def __init__(
        self,
        observation_space: Space[Any],
        action_space: Space[Any],
        lr_schedule: Schedule,
        stack_size: int,
        **kwargs: Any,
    ) -> None:
        if not kwargs.get("enable_critic_lstm", True) or kwargs.get("shared_lstm"):
            raise ValueError(
                "KeptLstmPolicy expects an LSTM each for actor and critic, the default"
            )
        kwargs = {
            "net_arch": [],
            "lstm_hidden_size": HIDDEN,
            "share_features_extractor": False,
            **kwargs,
            "features_extractor_class": SlotEmbedding,
            "features_extractor_kwargs": {"stack_size": stack_size},
        }
        super().__init__(observation_space, action_space, lr_schedule, **kwargs)
        self.stack_size = stack_size

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {**super()._get_constructor_parameters(), "stack_size": self.stack_size}

    @staticmethod
    def _process_sequence(  # type: ignore[override]
        features: Tensor, lstm_states: tuple[Tensor, Tensor], episode_starts: Tensor, lstm: nn.LSTM
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        outputs, _ = lstm(features.swapaxes(0, 1))
        return outputs[-1], lstm_states
