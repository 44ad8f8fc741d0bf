"""Networks that read a stack slot by slot, as feature extractors for Stable-Baselines3.

They read what `VecStack` and the single wrappers make: slots joined end to end, images joined along
their channels, or slots on a leading axis. Each slot is encoded with the same weights.
"""

from __future__ import annotations

from typing import Any

import torch
from gymnasium import Space
from gymnasium.spaces import Box
from stable_baselines3.common.preprocessing import get_flattened_obs_dim, is_image_space
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

from adastack.integrations.sb3.layout import parts, slots_of
from adastack.memory import check_stack_size

HIDDEN = 128
LARGE_IMAGE = 36
"""Images at least this high and wide are read by the larger of two convolutional networks."""


class SlotEncoder(nn.Module):
    """Turns a preprocessed observation into slots of features, (batch, k, features)."""

    def __init__(self, space: Space[Any], stack_size: int, convolve: bool) -> None:
        super().__init__()
        check_stack_size(stack_size)
        if slots_of(space) not in (None, stack_size):
            raise ValueError(
                f"expected stack_size {slots_of(space)}, that of the environments, "
                f"actual: {stack_size}"
            )
        self.stack_size = stack_size
        self.size = 0
        self.convolutions = nn.ModuleDict()
        for key, part in parts(space).items():
            if convolve and isinstance(part, Box) and is_image_space(part):
                self.convolutions[str(key)] = _convolution(_slot_image(part, stack_size))
                self.size += HIDDEN
            else:
                self.size += _slot_size(part, stack_size)

    def forward(self, observations: Tensor | dict[str, Tensor]) -> Tensor:
        """Encodes the parts of every slot and joins them."""
        found = observations if isinstance(observations, dict) else {"None": observations}
        return torch.cat([self._encode(key, part) for key, part in found.items()], dim=-1)

    def _encode(self, key: str, part: Tensor) -> Tensor:
        batch = len(part)
        if key not in self.convolutions:
            return part.reshape(batch, self.stack_size, -1)
        images = part.reshape(batch * self.stack_size, -1, *part.shape[2:])
        encoded: Tensor = self.convolutions[key](images)
        return encoded.reshape(batch, self.stack_size, HIDDEN)


class StackExtractor(BaseFeaturesExtractor):
    """What all networks over a stack share.

    Args:
        observation_space: The space of the stacks.
        stack_size: The number of slots, k.
    """

    convolve = True

    def __init__(self, observation_space: Space[Any], stack_size: int) -> None:
        super().__init__(observation_space, HIDDEN)
        self.encoder = SlotEncoder(observation_space, stack_size, self.convolve)


class StackMlp(StackExtractor):
    """Three layers of 128 units with tanh over all slots together; pixels are numbers like others.

    Example:
        >>> policy_kwargs = paper_policy(StackMlp, stack_size=2)
    """

    convolve = False

    def __init__(self, observation_space: Space[Any], stack_size: int) -> None:
        super().__init__(observation_space, stack_size)
        sizes = [self.encoder.size * stack_size, HIDDEN, HIDDEN]
        layers = [layer for size in sizes for layer in (nn.Linear(size, HIDDEN), nn.Tanh())]
        self.body = nn.Sequential(nn.Flatten(), *layers)

    def forward(self, observations: Any) -> Tensor:
        """(batch, ...) -> (batch, 128)."""
        features: Tensor = self.body(self.encoder(observations))
        return features


class StackCnn(StackMlp):
    """A convolutional network over each slot's image, then the layers of `StackMlp`."""

    convolve = True

    def __init__(self, observation_space: Space[Any], stack_size: int) -> None:
        super().__init__(observation_space, stack_size)
        if not self.encoder.convolutions:
            raise ValueError(
                f"StackCnn expects an image, uint8 in 0..255 and stacked by VecStack, "
                f"actual: {observation_space}; use StackMlp"
            )


class StackLstm(StackExtractor):
    """Each slot embedded in 128 numbers, one LSTM layer of 128 over the slots; its last state."""

    def __init__(self, observation_space: Space[Any], stack_size: int) -> None:
        super().__init__(observation_space, stack_size)
        self.embed = nn.Linear(self.encoder.size, HIDDEN)
        self.lstm = nn.LSTM(HIDDEN, HIDDEN, batch_first=True)

    def forward(self, observations: Any) -> Tensor:
        """(batch, ...) -> (batch, 128)."""
        outputs, _ = self.lstm(self.embed(self.encoder(observations)))
        last: Tensor = outputs[:, -1]
        return last


class StackTransformer(StackExtractor):
    """Two causal layers of 128 (4 heads, 256 inside) over embedded slots; the last token."""

    def __init__(self, observation_space: Space[Any], stack_size: int) -> None:
        super().__init__(observation_space, stack_size)
        self.embed = nn.Linear(self.encoder.size, HIDDEN)
        self.position = nn.Parameter(0.02 * torch.randn(stack_size, HIDDEN))
        layer = nn.TransformerEncoderLayer(
            HIDDEN, 4, dim_feedforward=256, dropout=0.0, batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(
            layer, 2, norm=nn.LayerNorm(HIDDEN), enable_nested_tensor=False
        )
        self.mask: Tensor
        self.register_buffer(
            "mask", nn.Transformer.generate_square_subsequent_mask(stack_size), persistent=False
        )

    def forward(self, observations: Any) -> Tensor:
        """(batch, ...) -> (batch, 128)."""
        tokens = self.embed(self.encoder(observations)) + self.position
        last: Tensor = self.layers(tokens, mask=self.mask, is_causal=True)[:, -1]
        return last


def paper_policy(extractor: type[StackExtractor], stack_size: int) -> dict[str, Any]:
    """The ``policy_kwargs`` of PPO, A2C, TRPO and MaskablePPO for the paper's networks.

    Actor and critic each have a network of their own, and their heads sit right on top of it.

    Args:
        extractor: `StackMlp`, `StackCnn`, `StackLstm` or `StackTransformer`.
        stack_size: The number of slots, k.

    Example:
        >>> sorted(paper_policy(StackLstm, stack_size=2))[:2]
        ['features_extractor_class', 'features_extractor_kwargs']
    """
    return {
        "features_extractor_class": extractor,
        "features_extractor_kwargs": {"stack_size": stack_size},
        "share_features_extractor": False,
        "net_arch": [],
    }


def _slot_size(part: Space[Any], stack_size: int) -> int:
    """How many numbers one slot of a preprocessed part has."""
    size, rest = divmod(get_flattened_obs_dim(part), stack_size)
    if rest or (part.shape or (0,))[0] % stack_size:
        raise _misfit(part, stack_size)
    return size


def _slot_image(part: Box, stack_size: int) -> tuple[int, ...]:
    """Channels, height and width of one slot's image."""
    if part.shape[0] % stack_size:
        raise _misfit(part, stack_size)
    return (part.shape[0] // stack_size, *part.shape[1:])


def _misfit(part: Space[Any], stack_size: int) -> ValueError:
    return ValueError(f"expected a stack of {stack_size} observations, actual: {part}")


def _convolution(shape: tuple[int, ...]) -> nn.Module:
    """A small network from an image of this shape to 128 numbers."""
    large = min(shape[1:]) >= LARGE_IMAGE
    sizes = [(32, 8, 4), (64, 4, 2), (64, 3, 1)] if large else [(16, 2, 1), (32, 2, 1), (64, 2, 1)]
    layers: list[nn.Module] = []
    channels = shape[0]
    for features, size, stride in sizes:
        layers += [nn.Conv2d(channels, features, size, stride), nn.ReLU()]
        channels = features
    layers.append(nn.Flatten())
    with torch.no_grad():
        flat = nn.Sequential(*layers)(torch.zeros(1, *shape)).shape[1]
    return nn.Sequential(*layers, nn.Linear(flat, HIDDEN), nn.ReLU())
