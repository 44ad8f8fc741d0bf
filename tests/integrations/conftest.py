"""Networks this small are fastest on one thread, above all where tests run side by side."""

try:
    import torch
except ModuleNotFoundError:
    pass
else:
    torch.set_num_threads(1)
