"""An update reads the stacks that its rollout met, and finds what reading all of them finds."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from adastack.deep import finite_network
from adastack.deep.finite import FiniteTrainer
from adastack.deep.networks import over_prefixes
from adastack.deep.networks.prefixes import prefixes_of
from adastack.deep.networks.visited import Visited
from adastack.deep.settings import PPOSettings
from adastack.process import induce
from adastack.tasks import passive_tmaze

K = 32
INDUCED = induce(passive_tmaze(K, random_length=True), "frame", K)


@pytest.mark.parametrize("read_empty", [False, True])
@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 1.0])
def test_a_part_has_what_its_stacks_begin_with(share, read_empty):
    prefixes = prefixes_of(INDUCED.stacks, INDUCED.task.empty, read_empty, 10**6)
    rng = np.random.default_rng(0)
    n = INDUCED.n_agent_states
    stacks = rng.choice(n, size=max(1, int(share * n)), replace=False)
    visited, parts = Visited(prefixes), []

    def spelled(part):
        """What the rows of the part spell: their symbols in order, -1 where none."""
        parts.append(len(part.symbol))
        seen = part.sees[part.end]
        order = jnp.argsort(jnp.where(seen, part.depth, len(part.depth)), axis=1)[:, :K]
        held = jnp.take_along_axis(seen, order, axis=1)
        letters = jnp.where(held, part.symbol[order], -1)
        return letters[part.row % len(letters)]

    found = np.asarray(jax.jit(lambda at: visited.switch(at, spelled))(jnp.asarray(stacks)))
    assert sorted(parts) == visited.sizes
    for stack in stacks:
        whole = INDUCED.stacks[stack]
        read = whole if read_empty else whole[whole != INDUCED.task.empty]
        assert [s for s in found[stack].tolist() if s >= 0] == read.tolist()


def test_the_smallest_part_that_is_enough_is_read():
    prefixes = prefixes_of(INDUCED.stacks, INDUCED.task.empty, False, 10**6)
    visited = Visited(prefixes)
    run = jax.jit(lambda at: visited.switch(at, lambda part: jnp.int32(len(part.symbol))))
    depth = prefixes.depth[prefixes.end]
    assert int(run(jnp.asarray([int(np.argmin(depth))] * 99))) == visited.sizes[0] < len(prefixes)
    everything = np.arange(INDUCED.n_agent_states)
    assert int(run(jnp.asarray(everything))) == len(prefixes)
    for size in visited.sizes:
        # The shortest stacks need no prefix but themselves.
        first = np.argsort(depth, kind="stable")[:size]
        assert int(run(jnp.asarray(np.resize(first, 200)))) == size


def prefixes_read(monkeypatch):
    """How many prefixes each evaluation that is compiled from now on reads."""
    read = []

    def counted(net, params, prefixes):
        read.append(len(prefixes.symbol))
        return over_prefixes(net, params, prefixes)

    monkeypatch.setattr(finite_network, "over_prefixes", counted)
    return read


@pytest.mark.parametrize("n_met", [5, pytest.param(124, marks=pytest.mark.slow)])
def test_an_update_finds_what_a_plain_one_finds(n_met, monkeypatch):
    trainer = FiniteTrainer(INDUCED, PPOSettings(net="transformer", hidden=8))
    network = trainer.network
    assert network.visited is not None
    params = jax.tree.map(lambda leaf: leaf[0], trainer.init([0])).params
    rng = np.random.default_rng(1)
    met = rng.choice(INDUCED.n_agent_states, n_met, replace=False)
    agent = jnp.asarray(met[rng.integers(n_met, size=128)])
    joint = jnp.asarray(rng.integers(network.n_actions * network.n_memory, size=128))

    def slopes(evaluate):
        def number(params):
            found = evaluate(params, agent, joint)
            return sum((jnp.sin(jnp.arange(leaf.size)) * leaf.ravel()).sum() for leaf in found[:3])

        return jax.value_and_grad(number)(params)

    read = prefixes_read(monkeypatch)
    ours = jax.jit(lambda: network.learn_from(agent, slopes))()
    assert read == network.visited.sizes, "a program for each number of prefixes"
    read.clear()
    plain = jax.jit(lambda: slopes(network.evaluate_plainly))()
    for mine, theirs in zip(jax.tree.leaves(ours), jax.tree.leaves(plain), strict=True):
        scale = max(1.0, float(jnp.abs(theirs).max()))
        np.testing.assert_allclose(mine, theirs, atol=1e-5 * scale)
    assert max(float(jnp.abs(leaf).max()) for leaf in jax.tree.leaves(plain[1])) > 1e-2


def test_training_does_not_depend_on_the_seeds_beside_it_nor_on_what_is_read():
    settings = PPOSettings(net="transformer", hidden=8, n_epochs=2)
    trainer, whole = (FiniteTrainer(INDUCED, settings) for _ in range(2))
    whole.network.visited = None

    def trained(trainer, seeds):
        done, count, total = (jnp.int32(number) for number in (0, 2, 10))
        learner = trainer.init(seeds)
        found = trainer.chunk(learner, jnp.asarray(seeds), done, count, total, capacity=2)[0]
        return [np.asarray(leaf[0]) for leaf in jax.tree.leaves(found.params)]

    alone = trained(trainer, [0])
    for mine, beside, plain in zip(
        alone, trained(trainer, [0, 1]), trained(whole, [0]), strict=True
    ):
        np.testing.assert_array_equal(mine, beside)
        np.testing.assert_allclose(mine, plain, atol=1e-5)


@pytest.mark.parametrize(("net", "k"), [("lstm", 32), ("transformer", 16)])
def test_all_are_read_where_a_part_would_save_nothing(net, k):
    task = passive_tmaze(k, random_length=True)
    trainer = FiniteTrainer(induce(task, "frame", k), PPOSettings(net=net, hidden=8))
    assert trainer.network.visited is None
