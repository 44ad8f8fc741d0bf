"""The recounted formulas against networks whose every operation is counted."""

import json

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
            tally.each(h, 20 * k)  # the paper's allowance for biases, gates and cell
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
    assert found.update_flops == 4 * s.batch * tally.flops
    held = {"mlp": 0, "lstm": s.hidden * s.layers, "transformer": k * s.hidden * s.layers}[net]
    assert found.action_bytes == s.precision * (tally.parameters + k * s.hidden + held)
    kept = s.hidden * s.layers * (1 if net == "mlp" else k)
    model = (2 + s.copies) * tally.parameters
    assert found.update_bytes == s.precision * (model + s.batch * (k * s.hidden + kept))


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
