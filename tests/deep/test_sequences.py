"""Sequence networks: what they read, and that every way to compute it gives the plain one's."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from adastack.deep.agent import StackAgent
from adastack.deep.finite import FiniteTrainer
from adastack.deep.initial import initial_params
from adastack.deep.networks import ActorCritic, act, over_prefixes, policy_and_value
from adastack.deep.networks.observations import Leaf, spec_of
from adastack.deep.networks.prefixes import prefixes_of
from adastack.deep.settings import PPOSettings
from adastack.process import induce
from adastack.tasks import active_tmaze, passive_tmaze, xormaze

EMPTY, K, ROWS = 3, 4, 5
NETS = ("lstm", "transformer")
NUMBERS = spaces.Box(-1, 1, (3,), np.float32)
IMAGES = spaces.Box(0, 255, (5, 5, 1), np.uint8)


@st.composite
def stacks_of_symbols(draw):
    """Stacks with some empty slots, the oldest."""
    shown = draw(hnp.arrays(np.int32, (ROWS, K), elements=st.integers(0, EMPTY - 1)))
    filled = draw(hnp.arrays(np.int32, ROWS, elements=st.integers(1, K)))
    return np.where(np.arange(K) < K - filled[:, None], EMPTY, shown), filled


def network(net, k=K, spec=None, **options):
    model = ActorCritic(spec or Leaf("onehot", (EMPTY + 1,)), net, 4, hidden=8, **options)
    return model, initial_params(model, np.zeros((1, k), np.int32), seed=1)


def result(of, params):
    """Outputs and values, and the gradient of a number made from all of them."""

    def number(params):
        outputs, value = of(params)
        weights = jnp.sin(jnp.arange(outputs.size)).reshape(outputs.shape)
        total = (weights * outputs).sum() + (jnp.cos(jnp.arange(len(value))) * value).sum()
        return total, (outputs, value)

    gradient, found = jax.grad(number, has_aux=True)(params)
    return found, gradient


def same(ours, plain):
    """Two results are equal up to rounding, and not zero."""
    for mine, theirs in zip(jax.tree.leaves(ours), jax.tree.leaves(plain), strict=True):
        scale = max(1.0, float(jnp.abs(theirs).max()))
        np.testing.assert_allclose(mine, theirs, atol=1e-5 * scale)
    assert max(float(jnp.abs(leaf).max()) for leaf in jax.tree.leaves(plain[1])) > 1e-2


def compared(params, plain, *ours):
    """All have the same result; compiled together, in half the time."""
    expected, *found = jax.jit(lambda params: [result(of, params) for of in (plain, *ours)])(params)
    for each in found:
        same(each, expected)


@cache
def compiled(net, read_empty):
    """A network's results for stacks: in a batch, and every row by itself."""
    model, params = network(net)

    def of(compute):
        def found(params, stacks, filled):
            read = None if read_empty else filled
            return result(lambda params: compute(params, stacks, read), params)

        return jax.jit(found)

    return of(partial(policy_and_value, model)), of(model.apply), model, params


READ = [
    ("lstm", False),
    pytest.param("transformer", False, marks=pytest.mark.slow),
    pytest.param("lstm", True, marks=pytest.mark.slow),
    pytest.param("transformer", True, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("net", "read_empty"), READ)
@given(drawn=stacks_of_symbols())
@settings(max_examples=20, deadline=None)
def test_a_batch_is_read_as_every_row_by_itself(net, read_empty, drawn):
    batch, plain, _, params = compiled(net, read_empty)
    same(batch(params, *drawn), plain(params, *drawn))


@pytest.mark.parametrize(("net", "read_empty"), READ)
def test_all_prefixes_at_once_are_read_as_every_row_by_itself(net, read_empty):
    _, plain, model, params = compiled(net, read_empty)
    stacks = np.array([[3, 3, 3, 1], [3, 3, 1, 0], [0, 1, 2, 0], [0, 1, 2, 1], [3, 0, 1, 2]])
    prefixes = prefixes_of(stacks, EMPTY, read_empty, stacks.size)
    assert len(prefixes) < stacks.size
    ours = jax.jit(partial(result, lambda params: over_prefixes(model, params, prefixes)))
    same(ours(params), plain(params, stacks.astype(np.int32), (stacks != EMPTY).sum(1, np.int32)))


@pytest.mark.parametrize("net", NETS)
def test_the_actor_alone_is_read_like_both(net):
    stacks, filled = jnp.array([[EMPTY, EMPTY, 0, 1], [0, 1, 2, 0]]), jnp.array([2, 4])
    model, params = network(net)
    both = jax.jit(lambda *found: (act(model, *found), model.apply(*found)[0]))
    np.testing.assert_allclose(*both(params, stacks, filled), atol=1e-5)


@pytest.mark.parametrize(
    ("net", "options"),
    [
        ("lstm", {"critic": False}),
        ("lstm", {"shared": True}),
        pytest.param("transformer", {"critic": False}, marks=pytest.mark.slow),
        pytest.param("transformer", {"shared": True}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_one_tower_is_read_like_two(net, options):
    stacks = np.array([[EMPTY, EMPTY, 0, 1], [EMPTY, 2, 1, 0], [0, 1, 2, 0]])
    filled = jnp.array([2, 3, 4])
    model, params = network(net, **options)
    prefixes = prefixes_of(stacks, EMPTY, False, stacks.size)
    compared(
        params,
        lambda params: model.apply(params, jnp.asarray(stacks), filled),
        lambda params: policy_and_value(model, params, jnp.asarray(stacks), filled),
        lambda params: over_prefixes(model, params, prefixes),
    )


@pytest.mark.parametrize(
    ("net", "space"),
    [
        pytest.param("transformer", NUMBERS, marks=pytest.mark.slow),
        ("lstm", IMAGES),
        pytest.param("lstm", NUMBERS, marks=pytest.mark.slow),
        pytest.param("transformer", IMAGES, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_observations_of_all_kinds_are_read_alike(net, space):
    space.seed(0)
    slots = np.stack([[space.sample() for _ in range(3)] for _ in range(4)])
    filled = jnp.array([1, 2, 3, 2])
    model = ActorCritic(spec_of(space), net, 4, hidden=8)
    params = initial_params(model, slots, seed=0)
    compared(
        params,
        lambda params: model.apply(params, slots, filled),
        lambda params: policy_and_value(model, params, slots, filled),
    )


@pytest.mark.parametrize("net", NETS)
def test_an_empty_slot_is_nothing_and_positions_count_from_the_oldest(net):
    model, params = network(net)
    stacks = jnp.array([[0, 1, 1, 0], [2, 2, 1, 0], [2, 1, 1, 0]])
    outputs, value = jax.jit(model.apply)(params, stacks, jnp.array([2, 2, 3]))
    np.testing.assert_array_equal(outputs[0], outputs[1])
    assert value[0] == value[1] != value[2]
    short, weights = network(net, k=2)
    for tower in ("actor_body", "critic_body"):
        weights["params"][tower] = dict(params["params"][tower])
        if net == "transformer":
            weights["params"][tower]["position"] = params["params"][tower]["position"][:2]
    for name in ("policy", "value"):
        weights["params"][name] = params["params"][name]
    full = jax.jit(short.apply)(weights, stacks[:1, 2:])[1]
    np.testing.assert_allclose(full[0], value[0], atol=1e-6)
    read_all = jax.jit(model.apply)(params, stacks)[1]
    assert len(np.unique(np.asarray(read_all))) == 3


@given(drawn=stacks_of_symbols())
def test_prefixes_are_those_of_the_stacks(drawn):
    stacks, filled = drawn
    found = prefixes_of(stacks, EMPTY, False, 100)
    spelled = []
    for symbol, parent in zip(found.symbol, found.parent, strict=True):
        spelled.append((*(spelled[parent] if parent >= 0 else ()), int(symbol)))
    assert len(set(spelled)) == len(spelled) == len(found)
    wholes = [tuple(stack[K - n :]) for stack, n in zip(stacks.tolist(), filled, strict=True)]
    assert [spelled[end] for end in found.end] == wholes
    assert set(spelled) == {whole[:n] for whole in wholes for n in range(1, len(whole) + 1)}
    assert [len(word) - 1 for word in spelled] == found.depth.tolist()
    for word, row in zip(spelled, found.sees, strict=True):
        assert [spelled[i] for i in np.flatnonzero(row)] == [
            word[: n + 1] for n in range(len(word))
        ]
    assert prefixes_of(stacks, EMPTY, False, len(found) - 1) is None
    assert len(prefixes_of(stacks, EMPTY, True, 100).widths) == K


def test_frame_stacks_of_64_have_no_more_prefixes_than_stacks():
    induced = induce(passive_tmaze(64, random_length=True), "frame", 64)
    found = prefixes_of(induced.stacks, induced.task.empty, False, 10**6)
    assert len(found) == induced.n_agent_states == 252


@pytest.mark.parametrize("net", NETS)
@pytest.mark.parametrize(
    ("task", "rule", "k", "read_empty"),
    [
        (active_tmaze(4), "adaptive", 3, False),
        pytest.param(passive_tmaze(6), "frame", 6, True, marks=pytest.mark.slow),
        pytest.param(passive_tmaze(6), "frame", 6, False, marks=pytest.mark.slow),
        pytest.param(xormaze(), "push_skip", 3, False, marks=pytest.mark.slow),
        pytest.param(xormaze(), "push_skip", 3, True, marks=pytest.mark.slow),
        pytest.param(active_tmaze(4), "adaptive", 3, True, marks=pytest.mark.slow),
    ],
    ids=lambda value: str(value) if isinstance(value, str | bool) else "",
)
def test_tables_rows_and_policies_of_a_task_are_the_plain_network(task, rule, k, net, read_empty):
    chosen = {"net": net, "read_empty": read_empty, "hidden": 8}
    table, rows = (
        FiniteTrainer(induce(task, rule, k), PPOSettings(tables=tables, **chosen)).network
        for tables in (True, False)
    )
    params = initial_params(table.net, np.zeros((1, k), np.int32), seed=0)
    n = table.induced.n_agent_states
    agent, joint = jnp.arange(n)[::-1], jnp.arange(n) % (task.n_actions * table.n_memory)
    stacks = jnp.asarray(table.induced.stacks)
    filled = None if read_empty else jnp.asarray((table.induced.stacks != task.empty).sum(1))

    @jax.jit
    def found(params):
        evaluated = [of.evaluate(params, agent, joint) for of in (table, rows)]
        outputs = [table.output_table(params), rows.outputs(params, stacks)]
        plain = table.evaluate_plainly(params, agent, joint)
        return evaluated, plain, outputs, table.net.apply(params, stacks, filled)[0]

    evaluated, plain, outputs, plain_outputs = found(params)
    for ours, theirs in [*((each, plain) for each in evaluated),
                         *((each, plain_outputs) for each in outputs)]:  # fmt: skip
        jax.tree.map(partial(np.testing.assert_allclose, atol=1e-5), ours, theirs)


@pytest.mark.parametrize(
    ("net", "rule", "k", "batch", "expected"),
    [
        ("lstm", "frame", 64, 128, True),
        ("transformer", "frame", 64, 128, True),
        ("lstm", "adaptive", 2, 128, True),
        ("mlp", "frame", 64, 128, False),
        ("lstm", "frame", 64, 2, False),
    ],
)
def test_tables_are_used_where_they_are_less_work(net, rule, k, batch, expected):
    induced = induce(passive_tmaze(64, random_length=True), rule, k)
    options = PPOSettings(net=net, batch_size=batch, n_steps=128, hidden=8)
    assert FiniteTrainer(induced, options).network.tabulated is expected


@pytest.mark.parametrize("read_empty", [False, True])
def test_an_agent_reads_what_is_filled(read_empty):
    """Zeros may be an observation: what is filled is told, and guessed only where it is not."""
    space, actions = spaces.Box(-1, 1, (2,), np.float32), spaces.Discrete(2)
    # Positions tell zeros from nothing; a fresh LSTM, whose biases are zero, does not.
    chosen = PPOSettings(net="transformer", hidden=8, read_empty=read_empty)
    agent = StackAgent(space, actions, "adaptive", 3, chosen)
    params, _ = agent.init(0)
    stack = np.array([[[0, 0], [0, 0], [0.5, -0.5]]], np.float32)
    apply, value_of = jax.jit(agent.net.apply), jax.jit(agent.value_of)
    one, three = (float(apply(params, stack, jnp.array([n]))[1][0]) for n in (1, 3))
    told = [float(value_of(params, [stack], jnp.array([n]))[0]) for n in (1, 3)]
    guessed = float(value_of(params, [stack])[0])
    assert one != three
    expected = [three, three, three] if read_empty else [one, three, one]
    np.testing.assert_allclose([*told, guessed], expected, atol=1e-6)
