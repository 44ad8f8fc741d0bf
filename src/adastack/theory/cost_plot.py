"""The costs drawn over k."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from adastack.theory.cost import MEMORIES, NETS, Shape, cost

COLOURS = {"mlp": "#0072b2", "lstm": "#d55e00", "transformer": "#009e73"}
STYLES = {"frame": "-", "adaptive": (0, (1, 2))}
PANELS = {
    "action_flops": "FLOPs for one action",
    "update_flops": "FLOPs for one TD update",
    "action_bytes": "bytes for one action",
    "update_bytes": "bytes for one TD update",
}
SIZES = [2**power for power in range(21)]


def plot_costs(path: str | Path, shape: Shape, counting: str = "recounted") -> None:
    """Draws the four costs of the three networks over k = 1 .. 2^20."""
    figure, axes = plt.subplots(2, 2, figsize=(9.5, 7), sharex=True, layout="constrained")
    for axis, (measure, title) in zip(axes.flat, PANELS.items(), strict=True):
        for net in NETS:
            for memory in MEMORIES:
                values = [
                    getattr(cost(net, memory, k, shape, counting=counting), measure) for k in SIZES
                ]
                axis.loglog(
                    SIZES,
                    values,
                    color=COLOURS[net],
                    linestyle=STYLES[memory],
                    linewidth=2.4 if memory == "adaptive" else 1.6,
                    label=f"{net}, {memory}",
                )
        axis.set_title(title, loc="left", fontsize=11)
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    for axis in axes[1]:
        axis.set_xlabel("slots k: frame stacking needs k*, adaptive stacking kappa")
    axes[0, 0].legend(fontsize=8, frameon=False)
    figure.savefig(path, dpi=120)
    plt.close(figure)
