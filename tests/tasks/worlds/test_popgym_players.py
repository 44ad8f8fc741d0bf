"""What perfect, forgetful and random players earn in the ports of POPGym."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from adastack.tasks.functional import FunctionalTaskEnv
from adastack.tasks.worlds.popgym.levels import GAMES, LEVELS, popgym_task
from adastack.wrappers import AdaptiveStack
from tasks.worlds import popgym_players as players
from tasks.worlds.popgym_package import package
from tasks.worlds.popgym_players import ALL_SEEING, played

EPISODES = 256


class AllSeeing:
    """Plays by the hidden state."""

    def __init__(self, game, env):
        self.best, self.env = ALL_SEEING[game], env

    def act(self, seen):
        return int(self.best(self.env.task, jax.device_get(self.env.state)))


@pytest.mark.parametrize(
    ("game", "player"),
    [
        ("repeat-first", players.First),
        ("repeat-previous", players.Previous),
        ("autoencode", players.Reciter),
        ("count-recall", players.Tally),
    ],
)
def test_who_remembers_all_that_was_shown_earns_one(game, player):
    env = FunctionalTaskEnv(popgym_task(game))
    assert played(env, player(), seed=0) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("game", ["concentration", "battleship", "mine-sweeper"])
def test_who_sees_what_is_hidden_earns_one(game):
    env = FunctionalTaskEnv(popgym_task(game))
    assert played(env, AllSeeing(game, env), seed=0) == pytest.approx(1, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS[1:])
@pytest.mark.parametrize("game", ["repeat-first", "repeat-previous", "autoencode", "count-recall"])
def test_the_maximum_is_one_at_every_level(game, level):
    env = FunctionalTaskEnv(popgym_task(game, level))
    assert played(env, AllSeeing(game, env), seed=0) == pytest.approx(1, abs=1e-4)


def test_two_slots_are_enough_for_repeat_first():
    env = AdaptiveStack(FunctionalTaskEnv(popgym_task("repeat-first")), 2, padding_type="empty")
    (empty, first), _ = env.reset(seed=1)
    total, over, kept = 0.0, False, first
    while not over:
        # The empty slot goes first, then always the card on the table.
        evicted = 0 if kept == empty or total == 0 else 1
        stack, reward, terminated, truncated, _ = env.step([kept, evicted])
        kept, total, over = stack[0], total + reward, terminated or truncated
    assert total == pytest.approx(1, abs=1e-5)


def by_counting(decks):
    """The return of who guesses by the cards that are left, for each deck."""
    now, then = decks[:, :-1], decks[:, 1:]
    ranks = np.arange(13)
    left = 4 - np.cumsum(ranks == now[..., None], axis=1)
    higher = (left * (ranks > now[..., None])).sum(-1)
    lower = (left * (ranks < now[..., None])).sum(-1)
    return (np.where(higher >= lower, 1, -1) * np.sign(then - now)).sum(axis=1) / 52


def test_counting_cards_beats_looking_at_the_one_on_the_table():
    env = FunctionalTaskEnv(popgym_task("higher-lower"))
    total = played(env, players.CardCounter(), 0)
    assert total == pytest.approx(by_counting(np.asarray(env.state.deck)[None])[0], abs=1e-5)
    states, _ = jax.vmap(env.task.reset)(jax.random.split(jax.random.key(0), 4000))
    decks = np.asarray(states.deck)
    looking = (np.where(decks[:, :-1] <= 6, 1, -1) * np.sign(np.diff(decks))).sum(axis=1) / 52
    # For each rank the others are 4 |12 - 2 rank| more on one side, of 51 that may follow.
    expected = np.abs(12 - 2 * np.arange(13)).mean() * 4 / 51 * 51 / 52
    assert looking.mean() == pytest.approx(expected, abs=0.01)
    assert by_counting(decks).mean() == pytest.approx(0.525, abs=0.01)


def test_a_perfect_memory_of_concentration_turns_few_cards_in_vain():
    env = FunctionalTaskEnv(popgym_task("concentration"))
    returns = [played(env, players.Recollection(2), seed) for seed in range(8)]
    assert 0.5 < np.mean(returns) < 1


def test_the_shortest_way_out_costs_its_steps():
    env = FunctionalTaskEnv(popgym_task("labyrinth-escape"))
    total = played(env, AllSeeing("labyrinth-escape", env), seed=0)
    steps = int(env.state.clock)
    assert 10 <= steps < 60
    assert total == pytest.approx(1 - steps / 1024, abs=1e-5)


def test_who_explores_everything_pays_for_the_ways_back():
    env = FunctionalTaskEnv(popgym_task("labyrinth-explore"))
    total = played(env, AllSeeing("labyrinth-explore", env), seed=0)
    back = int(env.state.clock) - 49
    assert total == pytest.approx(1 - back / 1024, abs=1e-5)


def random_returns(task, episodes, steps):
    """Returns of random episodes of the port, all at once."""
    space = task.action_space

    def step(carry, key):
        state, over, total = carry
        of_action, of_step = jax.random.split(key)
        if hasattr(space, "n"):
            action = jax.random.randint(of_action, (episodes,), 0, int(space.n))
        else:
            shape = (episodes, *space.shape)
            action = jax.random.uniform(of_action, shape, minval=space.low, maxval=space.high)
        after = jax.vmap(task.step)(jax.random.split(of_step, episodes), state, action)
        total = total + jnp.where(over, 0, after.reward)
        return (after.state, over | after.terminated | after.truncated, total), None

    @jax.jit
    def run(key):
        state, _ = jax.vmap(task.reset)(jax.random.split(key, episodes))
        begin = (state, jnp.zeros(episodes, bool), jnp.zeros(episodes))
        return jax.lax.scan(step, begin, jax.random.split(key, steps))[0]

    _, over, total = run(jax.random.key(0))
    assert over.all()
    return np.asarray(total)


class Random:
    def __init__(self, env):
        self.act = lambda seen: env.action_space.sample()


QUICK = ("repeat-first", "mine-sweeper")


@pytest.mark.parametrize(
    "game", [pytest.param(g, marks=[] if g in QUICK else [pytest.mark.slow]) for g in GAMES]
)
def test_chance_earns_what_it_earns_in_the_package(game):
    theirs = package(game, "easy")
    theirs.action_space.seed(0)
    n = 40 if game.startswith("labyrinth") else EPISODES
    expected = np.array([played(theirs, Random(theirs), seed) for seed in range(n)])
    ours = random_returns(
        popgym_task(game), EPISODES, 1023 if game.startswith("labyrinth") else 208
    )
    error = np.sqrt(expected.var() / n + ours.var() / EPISODES)
    assert abs(ours.mean() - expected.mean()) < 4 * error + 1e-6
    assert ours.std() == pytest.approx(expected.std(), rel=0.35, abs=1e-3)
