"""Networks: sizes as published, every kind of observation, weights shared between slots."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

from adastack.deep.initial import initial_params
from adastack.deep.networks import ActorCritic
from adastack.deep.networks.observations import Leaf, check_net, spec_of

MAZE = Leaf("onehot", (5,))


def build(net, k, spec=MAZE, **options):
    model = ActorCritic(spec, net, n_outputs=6, **options)
    slots = jnp.zeros((3, k), jnp.int32)
    return model, initial_params(model, slots, seed=0), slots


def count(tree):
    return sum(leaf.size for leaf in jax.tree.leaves(tree))


@pytest.mark.parametrize(
    ("net", "expected"),
    [
        ("mlp", (2 * 5 + 1) * 128 + 2 * 129 * 128),
        ("lstm", 6 * 128 + 4 * (256 + 1) * 128),
        (
            "transformer",
            6 * 128 + 2 * 128 + 2 * (4 * 129 * 128 + 129 * 256 + 257 * 128 + 4 * 128) + 2 * 128,
        ),
    ],
)
def test_bodies_have_the_published_sizes(net, expected):
    _, params, _ = build(net, k=2)
    assert count(params["params"]["actor_body"]) == expected
    assert count(params["params"]["critic_body"]) == expected


@pytest.mark.parametrize(
    "net", ["mlp", "lstm", pytest.param("transformer", marks=pytest.mark.slow)]
)
def test_order_and_content_of_the_slots_matter(net):
    model, params, _ = build(net, k=3, hidden=16)
    stacks = jnp.array([[0, 1, 2], [1, 0, 2], [0, 1, 3]])
    outputs, value = model.apply(params, stacks)
    assert len(np.unique(np.asarray(value).round(6))) == 3
    np.testing.assert_array_equal(outputs, model.apply(params, stacks, method="act"))


def test_a_shared_body_serves_both():
    _, separate, _ = build("mlp", k=2, hidden=16)
    _, shared, _ = build("mlp", k=2, hidden=16, shared=True)
    assert "critic_body" in separate["params"]
    assert "critic_body" not in shared["params"]


def test_without_critic_there_is_no_value():
    model, params, slots = build("mlp", k=2, hidden=16, critic=False)
    assert "value" not in params["params"]
    assert model.apply(params, slots)[1].tolist() == [0, 0, 0]


def test_optimism_is_the_first_value():
    model, _, slots = build("mlp", k=2, hidden=16)
    params = initial_params(model, slots, seed=0, optimism=100.0)
    np.testing.assert_allclose(model.apply(params, slots)[1], 100, atol=5)


def test_weights_are_orthogonal_with_the_gains_of_stable_baselines():
    _, params, _ = build("mlp", k=2)
    layers = params["params"]
    for kernel, gain in (
        (layers["actor_body"]["Dense_1"]["kernel"], 2**0.5),
        (layers["policy"]["kernel"], 0.01),
        (layers["value"]["kernel"], 1.0),
    ):
        product = kernel.T @ kernel
        np.testing.assert_allclose(product, gain**2 * np.eye(len(product)), atol=1e-5)


SPACES = [
    spaces.Discrete(3),
    spaces.MultiDiscrete([2, 3]),
    spaces.MultiBinary(4),
    spaces.Box(-1, 1, (2, 3), np.float32),
    spaces.Box(0, 255, (7, 7, 3), np.uint8),
    spaces.Box(0, 255, (40, 44, 1), np.uint8),
    spaces.Dict({"image": spaces.Box(0, 255, (7, 7, 3), np.uint8), "n": spaces.Discrete(2)}),
    spaces.Tuple((spaces.Discrete(2), spaces.Box(0, 1, (2,), np.float32))),
]


def sample(space):
    """A batch of two stacks of three, named as specs name parts."""
    if isinstance(space, spaces.Dict):
        return {name: sample(part) for name, part in space.items()}
    if isinstance(space, spaces.Tuple):
        return {str(i): sample(part) for i, part in enumerate(space)}
    return np.stack([[space.sample() for _ in range(3)] for _ in range(2)])


@pytest.mark.parametrize("space", SPACES, ids=str)
@pytest.mark.parametrize("net", ["mlp", "lstm"])
def test_every_observation_is_encoded(space, net):
    space.seed(0)
    slots = sample(space)
    model = ActorCritic(spec_of(space), net, n_outputs=2, hidden=8)
    params = initial_params(model, slots, seed=0)
    outputs, value = jax.jit(model.apply)(params, slots)
    assert outputs.shape == (2, 2)
    assert jnp.isfinite(value).all()
    assert value[0] != value[1]


def test_images_share_one_encoder_over_the_slots():
    spec = spec_of(SPACES[4])
    sizes = set()
    for k in (1, 4):
        model = ActorCritic(spec, "cnn", n_outputs=2, hidden=8)
        params = initial_params(model, jnp.zeros((1, k, 7, 7, 3)), seed=0)
        sizes.add(count(params["params"]["actor_encoder"]))
    assert len(sizes) == 1


def test_a_net_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="expects an image"):
        check_net("cnn", MAZE)
    for shape in ((3, 3, 3), (3, 64, 64)):
        image = spec_of(spaces.Box(0, 255, shape, np.uint8))
        with pytest.raises(ValueError, match="at least 4 x 4 with channels last"):
            check_net("lstm", image)
        check_net("mlp", image)
    with pytest.raises(TypeError, match="expected a Discrete"):
        spec_of(spaces.Text(3))


@pytest.mark.parametrize(
    "space",
    [spaces.Box(-1, 1, (0,)), spaces.Dict({}), spaces.Dict({"a": spaces.Box(0, 1, (2, 0))})],
)
def test_an_observation_without_numbers_is_refused(space):
    with pytest.raises(TypeError, match="expected an observation of at least one number, actual:"):
        spec_of(space)
