"""One thread for torch, and no RLlib tests where RLlib is not."""

try:
    import torch
except ModuleNotFoundError:
    pass
else:
    # Networks this small are fastest on one thread, above all where tests run side by side.
    torch.set_num_threads(1)

try:
    import ray.rllib  # noqa: F401
except ImportError:
    collect_ignore = ["rllib"]
