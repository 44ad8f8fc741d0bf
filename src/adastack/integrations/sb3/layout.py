"""How a stack lies in an observation so that Stable-Baselines3's own networks can read it.

Vectors are joined end to end, oldest first, and images along their channels, which come first: the
form of SB3's own ``VecFrameStack`` (behind its ``VecTransposeImage``, for images). Anything else
keeps the slots as a leading axis.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import Space
from gymnasium.spaces import Box, Dict, MultiBinary, MultiDiscrete
from stable_baselines3.common.preprocessing import is_image_space, is_image_space_channels_first
from stable_baselines3.common.vec_env import VecEnv, VecTransposeImage

from adastack.wrappers.observations import is_array, stacked_space

SLOTS = "adastack_slots"


def parts(space: Space[Any]) -> dict[str | None, Space[Any]]:
    """The entries of a Dict space, or the space itself under None.

    Raises:
        ValueError: If Stable-Baselines3 has no networks for such observations.
    """
    found: dict[str | None, Space[Any]] = {None: space}
    if isinstance(space, Dict):
        found = dict(space.spaces.items())
    for part in found.values():
        if not is_array(part):
            raise ValueError(
                "expected observations of Box, Discrete, MultiDiscrete or MultiBinary, or a Dict "
                f"of these, actual: {space}"
            )
    return found


def channels_first(venv: VecEnv) -> VecEnv:
    """The environments with the channels of their images first.

    SB3 guesses where the channels are from the smallest axis, and many stacked channels mislead it;
    with this wrapper in place it does not guess.
    """
    first = [
        is_image_space_channels_first(part)
        for part in parts(venv.observation_space).values()
        if isinstance(part, Box) and is_image_space(part)
    ]
    if not first:
        return venv
    if any(first) and not all(first):
        raise ValueError(
            f"expected images with their channels all first or all last, "
            f"actual: {venv.observation_space}"
        )
    return VecTransposeImage(venv, skip=all(first))


def is_joined(space: Space[Any]) -> bool:
    """Whether slots of this space are joined rather than kept on an axis of their own."""
    return len(space.shape or ()) == 1 or is_image_space(space)


def joined_space(space: Space[Any], stack_size: int, padding_type: Any) -> Space[Any]:
    """The space of a stack in SB3's form; `slots_of` tells its number of slots."""
    stacked = stacked_space(space, stack_size, padding_type)
    joined: Space[Any]
    if isinstance(space, Dict) and isinstance(stacked, Dict):
        joined = Dict({key: _joined(part, stacked[key]) for key, part in space.spaces.items()})
    else:
        joined = _joined(space, stacked)
    # The shape does not tell: 12 numbers are 2 slots of 6 as well as 3 of 4.
    vars(joined)[SLOTS] = stack_size
    return joined


def slots_of(space: Space[Any]) -> int | None:
    """The number of slots of a space that `joined_space` made; None for others."""
    found: int | None = vars(space).get(SLOTS)
    return found


def joined_shape(space: Space[Any], stack_size: int) -> tuple[int, ...]:
    """The shape of a stack of observations of one part in SB3's form."""
    shape = space.shape or ()
    return (stack_size * shape[0], *shape[1:]) if is_joined(space) else (stack_size, *shape)


def _joined(space: Space[Any], stacked: Space[Any]) -> Space[Any]:
    """Merges the slots of a stacked space with the axis that follows them."""
    if not is_joined(space):
        return stacked
    shape = joined_shape(space, (stacked.shape or (1,))[0])
    if isinstance(stacked, Box):
        low, high = stacked.low.reshape(shape), stacked.high.reshape(shape)
        return Box(low, high, dtype=stacked.dtype.type)
    if isinstance(stacked, MultiDiscrete):
        return MultiDiscrete(stacked.nvec.reshape(shape), start=stacked.start.reshape(shape))
    return MultiBinary(int(np.prod(shape)))
