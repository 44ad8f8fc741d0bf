"""What a stack of k slots costs: arithmetic and memory, for one action and for one TD update.

The formulas are those of the paper's appendix, for networks that read k embeddings of size h. Where
its counting slips, ``counting="recounted"`` has what a count of the operations gives; `SLIPS` says
what differs and why. One floating-point operation is one addition, multiplication or nonlinearity.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from adastack.settings import check_one_of

NETS = ("mlp", "lstm", "transformer")
MEMORIES = ("frame", "adaptive")
COUNTINGS = ("recounted", "paper")

SLIPS = (
    "LSTM: a gate multiplies two h x h matrices, 4h^2 operations with the additions, and adds, "
    "squashes and combines in 17h, so a layer costs 16h^2 + 17h a slot; the paper counts "
    "8h^2 + 20h, the multiplications alone.",
    "LSTM: the text speaks of two passes for the adaptive stack; its formula, rightly, has one.",
    "LSTM: acting holds h and the cell of every layer, 2hL numbers, not hL; to go back, a slot of "
    "a layer keeps four gates, cell and h, 6h numbers, not h.",
    "Transformer: the memory of one action has a factor B in the frame case; one action has B = 1.",
    "Transformer: the memory of one action, a lower bound, holds the activations of all L layers; "
    "they are used up layer by layer, so kh numbers are enough.",
    "TD update: a backward pass costs two forward passes (gradients of weights and of inputs) less "
    "the gradients of the embeddings, which are given; with the forward passes of network and "
    "target that is nearly 4B actions, and nearer 3B for an MLP whose first layer dominates. The "
    "paper says 3B.",
    "TD update: the next stack is needed, too; it has one observation more than the present one.",
    "AdamW: gradient and two moments are G = 3 copies; the paper's 4 has one more, such as master "
    "weights of higher precision.",
    "Output heads: a bias is counted among the parameters, but its addition is not among the "
    "operations.",
    "Table 1: for the Transformer the middle columns are exchanged; by the paper's own formulas "
    "compute grows as k^2 and memory as k, for actions and updates alike.",
)
"""Where the paper's counting slips; the recounted formulas differ in these points alone."""


@dataclass(frozen=True)
class Shape:
    """The sizes that a cost depends on, besides the number of slots."""

    hidden: int = 128
    """h, the width of embeddings and layers."""
    layers: int = 3
    """L, the number of layers."""
    actions: int = 4
    """|A|, the number of environment actions."""
    precision: int = 4
    """P, bytes per number."""
    batch: int = 128
    """B, the size of a learning batch."""
    copies: int = 4
    """G, copies of the model that the optimiser holds: 1 for SGD, 3 for Adam, the paper's 4."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < 1:
                raise ValueError(f"{name} must be at least 1, actual: {value}")


@dataclass(frozen=True)
class Cost:
    """Operations and bytes."""

    action_flops: int
    """Operations for one action."""
    update_flops: int
    """Operations for one TD update of a batch."""
    action_bytes: int
    """Bytes that one action needs: parameters, stack and live activations."""
    update_bytes: int
    """Bytes that one TD update needs: model, target, optimiser, stacks and activations."""


def cost(
    net: str,
    memory: str,
    stack_size: int,
    shape: Shape | None = None,
    *,
    counting: str = "recounted",
) -> Cost:
    """The cost of a network with a stack.

    Args:
        net: ``"mlp"``, ``"lstm"`` or ``"transformer"``.
        memory: ``"frame"``, or ``"adaptive"``, which has a head for the k memory actions, too.
        stack_size: The number of slots, k.
        shape: The sizes of the network and of its learning.
        counting: ``"recounted"``, or ``"paper"`` for the appendix as printed.

    Example:
        >>> frame = cost("transformer", "frame", 1000)
        >>> adaptive = cost("transformer", "adaptive", 2)
        >>> frame.action_flops // adaptive.action_flops
        1147
    """
    check_one_of("net", net, NETS)
    check_one_of("memory", memory, MEMORIES)
    check_one_of("counting", counting, COUNTINGS)
    if stack_size < 1:
        raise ValueError(f"stack_size must be at least 1, actual: {stack_size}")
    s = shape or Shape()
    printed = counting == "paper"
    outputs = s.actions + (stack_size if memory == "adaptive" else 0)
    count = _BODIES[net](s, stack_size, printed)
    action_flops = count.flops + outputs * (2 * s.hidden + (0 if printed else 1))
    parameters = count.parameters + (s.hidden + 1) * outputs
    stack = s.hidden * stack_size
    live = stack + count.live
    if printed and net == "transformer" and memory == "frame":
        live *= s.batch
    update_flops = 3 * action_flops if printed else 4 * action_flops - count.spared
    stacks = stack if printed else stack + s.hidden
    return Cost(
        action_flops=action_flops,
        update_flops=s.batch * update_flops,
        action_bytes=s.precision * (parameters + live),
        update_bytes=s.precision
        * ((2 + s.copies) * parameters + s.batch * (stacks + count.activations)),
    )


@dataclass(frozen=True)
class _Body:
    """What lies between the stack and the heads."""

    flops: int
    parameters: int
    live: int
    """Numbers held while acting, beside parameters and stack."""
    activations: int
    """Numbers held per sample for the backward pass, beside the stack."""
    spared: int
    """Operations of the backward pass that would lead into given inputs."""


def _mlp(s: Shape, k: int, printed: bool) -> _Body:
    h, layers = s.hidden, s.layers
    return _Body(
        flops=2 * k * h * h + 2 * h + (layers - 1) * (2 * h * h + 2 * h),
        parameters=k * h * h + (layers - 1) * h * h + layers * h,
        live=0,
        activations=h * layers,
        spared=2 * k * h * h,
    )


def _lstm(s: Shape, k: int, printed: bool) -> _Body:
    h, layers = s.hidden, s.layers
    slot = 8 * h * h + 20 * h if printed else 16 * h * h + 17 * h
    return _Body(
        flops=k * layers * slot,
        parameters=layers * (8 * h * h + 4 * h),
        live=h * layers * (1 if printed else 2),
        activations=k * h * layers * (1 if printed else 6),
        # Into the first layer's inputs, and into every layer's state before the first slot.
        spared=8 * h * h * (k + layers),
    )


def _transformer(s: Shape, k: int, printed: bool) -> _Body:
    h, layers = s.hidden, s.layers
    return _Body(
        flops=24 * layers * h * h * k + 4 * layers * h * k * k,
        parameters=layers * (12 * h * h + 4 * h),
        live=k * h * (layers if printed else 1),
        activations=k * h * layers,
        spared=6 * k * h * h,
    )


_BODIES: dict[str, Callable[[Shape, int, bool], _Body]] = {
    "mlp": _mlp,
    "lstm": _lstm,
    "transformer": _transformer,
}


def growth(net: str, memory: str, *, counting: str = "recounted") -> dict[str, int]:
    """The paper's Table 1: the power of k with which each cost grows, found by doubling k."""
    large = 2**40
    once, twice = (cost(net, memory, k, counting=counting) for k in (large, 2 * large))
    return {
        name: round(math.log2(getattr(twice, name) / value)) for name, value in vars(once).items()
    }


def cost_table(
    sizes: Sequence[int], shape: Shape | None = None, *, counting: str = "recounted"
) -> dict[str, Any]:
    """Every network with every memory, as JSON holds it.

    Gives ``shape``, ``rows`` with net, memory, k and the four costs, their ``growth`` with k, and
    ``slips``.
    """
    shape = shape or Shape()
    return {
        "shape": asdict(shape),
        "rows": [
            {"net": net, "memory": memory, "k": k}
            | asdict(cost(net, memory, k, shape, counting=counting))
            for net in NETS
            for k in sizes
            for memory in MEMORIES
        ],
        "growth": [
            {"net": net, "memory": memory, **growth(net, memory, counting=counting)}
            for net in NETS
            for memory in MEMORIES
        ],
        "slips": list(SLIPS),
    }
