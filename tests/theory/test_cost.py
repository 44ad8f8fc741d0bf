"""The recounted formulas against networks whose every operation is counted."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adastack.cli import main
from adastack.theory.cost import MEMORIES, NETS, SLIPS, Shape, cost, growth


class Tally:
    """Builds networks from single operations and counts them and the parameters."""

    def __init__(self):
        self.flops = 0
        self.parameters = 0

    def product(self, rows, columns, inputs=1, parameters=True):
        """``inputs`` vectors times a matrix, an inner product at a time."""
        for _ in range(inputs):
            for _ in range(columns):
                self.flops += rows + rows  # a multiplication and an addition each
        self.parameters += rows * columns if parameters else 0

    def each(self, count, operations=1):
        self.flops += count * operations

    def bias(self, size):
        self.parameters += size
        self.each(size)


def tallied(net, memory, k, s):
    tally = Tally()
    h = s.hidden
    if net == "mlp":
        for width in [k * h] + [h] * (s.layers - 1):
            tally.product(width, h)
            tally.bias(h)
            tally.each(h)  # the nonlinearity
    if net == "lstm":
        for _ in range(s.layers):
            for _ in range(4):
                tally.parameters += h
                for _ in range(2):
                    tally.product(h, h, inputs=k)
            tally.each(h, 8 * k)  # four gates add input, state and bias
            tally.each(h, 5 * k)  # four gates and the cell are squashed
            tally.each(h, 4 * k)  # forget, write, add, read
    if net == "transformer":
        for _ in range(s.layers):
            for rows, columns in [(h, h)] * 4 + [(h, 4 * h), (4 * h, h)]:
                tally.product(rows, columns, inputs=k)
            for _ in range(k):
                tally.product(h, k, parameters=False)  # scores
                tally.product(k, h, parameters=False)  # what is read
            tally.parameters += 4 * h  # two layer norms
    for outputs in [s.actions] + ([k] if memory == "adaptive" else []):
        tally.product(h, outputs)
        tally.bias(outputs)
    return tally


def compiled_flops(net, k, s):
    """Operations of one forward pass, and of the gradient of a batch, as XLA counts them."""
    import jax
    import jax.numpy as jnp

    h, rng = s.hidden, np.random.default_rng(0)

    def weights(*shape):
        return jnp.array(rng.normal(size=shape), jnp.float32)

    def normed(x):
        centred = x - x.mean(-1, keepdims=True)
        return centred / jnp.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)

    def mlp(layers, x):
        x = x.reshape(-1)
        for matrix, bias in layers:
            x = jax.nn.relu(x @ matrix + bias)
        return x

    def lstm(layers, x):
        slots = list(x)
        for w, u, bias in layers:
            out = cell = jnp.zeros(h)
            for t, slot in enumerate(slots):
                i, f, g, o = jnp.split(slot @ w + out @ u + bias, 4)
                cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
                slots[t] = out = jax.nn.sigmoid(o) * jnp.tanh(cell)
        return slots[-1]

    def transformer(layers, x):
        for q, key, value, o, up, down in layers:
            y = normed(x)
            attention = jax.nn.softmax((y @ q) @ (y @ key).T)
            x = x + attention @ (y @ value) @ o
            x = x + jax.nn.relu(normed(x) @ up) @ down
        return x[-1]

    shapes = {
        "mlp": [[(k * h, h), (h,)], *[[(h, h), (h,)]] * (s.layers - 1)],
        "lstm": [[(h, 4 * h), (h, 4 * h), (4 * h,)]] * s.layers,
        "transformer": [[(h, h)] * 4 + [(h, 4 * h), (4 * h, h)]] * s.layers,
    }[net]
    body = {"mlp": mlp, "lstm": lstm, "transformer": transformer}[net]
    layers = [[weights(*shape) for shape in layer] for layer in shapes]
    head = weights(h, s.actions)

    def loss(parameters, batch):
        layers, head = parameters
        return (jax.vmap(lambda x: body(layers, x) @ head)(batch) ** 2).sum()

    def flops(function, *arguments):
        return jax.jit(function).lower(*arguments).compile().cost_analysis()["flops"]

    one = flops(lambda layers, head, x: body(layers, x) @ head, layers, head, weights(k, h))
    return one, flops(jax.grad(loss), (layers, head), weights(s.batch, k, h))


shapes = st.builds(
    Shape,
    hidden=st.integers(1, 6),
    layers=st.integers(1, 3),
    actions=st.integers(1, 5),
    precision=st.sampled_from([2, 4]),
    batch=st.integers(1, 9),
    copies=st.sampled_from([1, 4]),
)


@given(st.sampled_from(NETS), st.sampled_from(MEMORIES), st.integers(1, 6), shapes)
@settings(max_examples=150, deadline=None)
def test_the_formulas_equal_a_count_of_every_operation(net, memory, k, s):
    tally = tallied(net, memory, k, s)
    found = cost(net, memory, k, s)
    assert found.action_flops == tally.flops
    held = {"mlp": 0, "lstm": 2 * s.hidden * s.layers, "transformer": k * s.hidden}[net]
    assert found.action_bytes == s.precision * (tally.parameters + k * s.hidden + held)
    kept = s.hidden * s.layers * {"mlp": 1, "lstm": 6 * k, "transformer": k}[net]
    model = (2 + s.copies) * tally.parameters
    assert found.update_bytes == s.precision * (model + s.batch * ((k + 1) * s.hidden + kept))


@pytest.mark.parametrize(
    ("net", "k", "hidden"), [("mlp", 16, 64), ("lstm", 4, 64), ("transformer", 8, 64)]
)
def test_the_compiler_counts_as_many_operations(net, k, hidden):
    """XLA's own count of the same network, forward and backward: the paper's 3B is not enough."""
    s = Shape(hidden=hidden, layers=2, actions=4, batch=8)
    forward, gradient = compiled_flops(net, k, s)
    found, printed = cost(net, "frame", k, s), cost(net, "frame", k, s, counting="paper")
    assert found.action_flops == pytest.approx(forward, rel=0.05)
    backward = found.update_flops - s.batch * found.action_flops
    assert backward == pytest.approx(gradient, rel=0.12)
    assert printed.update_flops - s.batch * printed.action_flops < 0.97 * gradient


def test_the_papers_boxes_as_printed():
    k, s = 7, Shape(hidden=8, layers=2, actions=3, precision=4, batch=5, copies=4)
    h, n, a, p, b, g = s.hidden, s.layers, s.actions, s.precision, s.batch, s.copies
    mlp = cost("mlp", "adaptive", k, s, counting="paper")
    assert mlp.action_flops == 2 * k * h**2 + 2 * h + (n - 1) * (2 * h**2 + 2 * h) + 2 * h * (a + k)
    assert mlp.action_bytes == (
        p * k * (h**2 + h) + p * (n - 1) * h**2 + p * n * h + p * (h + 1) * (a + k)
    )
    lstm = cost("lstm", "frame", k, s, counting="paper")
    assert lstm.update_flops == 3 * b * k * n * (8 * h**2 + 20 * h) + 6 * b * h * a
    assert lstm.update_bytes == (
        (2 + g) * (p * n * (8 * h**2 + 4 * h) + p * (h + 1) * a) + p * b * k * h * n + p * b * k * h
    )
    transformer = cost("transformer", "frame", k, s, counting="paper")
    assert transformer.action_flops == 24 * n * h**2 * k + 4 * n * h * k**2 + 2 * h * a
    assert transformer.action_bytes == (
        p * n * (12 * h**2 + 4 * h) + p * (h + 1) * a + p * b * (n + 1) * h * k
    )


def test_table_1_with_its_columns_in_place():
    for memory in MEMORIES:
        for net in ("mlp", "lstm"):
            assert set(growth(net, memory).values()) == {1}
        assert growth("transformer", memory) == {
            "action_flops": 2,
            "update_flops": 2,
            "action_bytes": 1,
            "update_bytes": 1,
        }


def test_a_small_adaptive_stack_beats_a_long_window():
    for net in NETS:
        frame, adaptive = cost(net, "frame", 1000), cost(net, "adaptive", 2)
        assert all(getattr(adaptive, name) < value for name, value in vars(frame).items())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rnn", "frame", 2), "net must be one of"),
        (("mlp", "none", 2), "memory must be one of"),
        (("mlp", "frame", 0), "stack_size must be at least 1, actual: 0"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        cost(*arguments)
    with pytest.raises(ValueError, match="hidden must be at least 1, actual: 0"):
        Shape(hidden=0)


def test_the_command_prints_and_draws(tmp_path, capsys):
    plot = tmp_path / "cost.png"
    assert main(["cost", "--k", "2", "64", "--hidden", "32", "--plot", str(plot), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert len(result["costs"]) == len(NETS) * len(MEMORIES) * 2
    first = result["costs"][0]
    assert first["action_flops"] == cost("mlp", "frame", 2, Shape(hidden=32)).action_flops
    assert result["slips"] == list(SLIPS)
    assert plot.stat().st_size > 10_000
    assert main(["cost"]) == 0
    assert "How it grows with k" in capsys.readouterr().out
