"""The host rollout: observations stored once, every kind of space, mazes learned."""

from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from adastack.commands import Output
from adastack.commands.train import table_of
from adastack.deep.buffer import StoreOnce
from adastack.deep.evaluation import vector_env
from adastack.deep.gym_session import GymSession
from adastack.deep.host import HostTrainer, Worker
from adastack.deep.settings import PPOSettings
from adastack.memory.reference import ReferenceStack
from adastack.memory.regret import SHARES
from adastack.process.events import EVENTS, counts_of
from adastack.progress import Silent
from adastack.runs import Run
from adastack.tasks import resolve
from adastack.training import train
from adastack.wrappers import vector
from trainers import advance, assert_same_arrays, shared_host_trainer

TINY = PPOSettings(hidden=8, n_envs=3, n_steps=20, batch_size=30, n_epochs=2)


@pytest.mark.parametrize("k", [1, 4, 10])
def test_a_step_costs_one_observation_and_k_numbers(k):
    shape = (32, 32, 3)
    buffer = StoreOnce("adaptive", k, 8, 128, [(shape, np.uint8)], [0])
    per_step = buffer.nbytes / (8 * 128)
    assert per_step <= 1.1 * np.prod(shape) + 4 * k * 1.01


@pytest.mark.parametrize("rule", ["adaptive", "frame", "push_skip"])
def test_stacks_match_the_reference_across_rollouts_and_episodes(rule):
    rng = np.random.default_rng(0)
    k, envs, steps = 3, 4, 7
    buffer = StoreOnce(rule, k, envs, steps, [((), np.int32)], [-1])
    slow = [ReferenceStack(rule, k, padding=-1) for _ in range(envs)]
    first = rng.integers(100, size=envs)
    buffer.reset([first])
    for stack, observation in zip(slow, first, strict=True):
        stack.reset(observation)
    n_memory = {"adaptive": k, "frame": 1, "push_skip": 2}[rule]
    for _ in range(5):
        buffer.begin()
        seen = []
        for _ in range(steps):
            seen.append([list(stack.slots) for stack in slow])
            assert buffer.current()[0].tolist() == seen[-1]
            memory = rng.integers(n_memory, size=envs)
            over = rng.random(envs) < 0.3
            observation = rng.integers(100, size=envs)
            evicted = buffer.push(memory, [observation], over)
            for i, stack in enumerate(slow):
                assert evicted[i] == stack.push(int(memory[i]), observation[i])
                if over[i]:
                    stack.reset(observation[i])
        gathered = buffer.columns[0][buffer.slots[:-1]]
        assert gathered.tolist() == seen


class Spaces(gym.Env):
    """An environment with any spaces; rewards by the wish of the test."""

    def __init__(self, observation_space, action_space, reward=1.0):
        self.observation_space, self.action_space = observation_space, action_space
        self.reward, self.t = reward, 0

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        self.t = 0
        return self.observation_space.sample(), {}

    def step(self, action):
        assert self.action_space.contains(action), action
        self.t += 1
        return self.observation_space.sample(), self.reward, False, self.t == 7, {}


def registered(name, *args, **kwargs):
    gym.register(name, lambda **_: Spaces(*args, **kwargs))
    return name


BOX = spaces.Box(-1, 1, (3,), np.float32)


@pytest.mark.parametrize(
    ("observation_space", "action_space"),
    [
        pytest.param(BOX, spaces.Discrete(3, start=2), marks=pytest.mark.slow),
        pytest.param(
            *(spaces.Discrete(4, start=1), spaces.MultiDiscrete([2, 3])), marks=pytest.mark.slow
        ),
        (spaces.MultiDiscrete([2, 3]), spaces.MultiBinary(2)),
        (spaces.Dict({"b": BOX, "a": spaces.Discrete(2)}), spaces.Box(-2, 2, (2, 2), np.float32)),
    ],
    ids=["box-discrete", "discrete-multi", "multi-binary", "dict-box"],
)
def test_every_space_is_trained(observation_space, action_space):
    name = registered("Spaces-v0", observation_space, action_space)
    session = GymSession(resolve(name), "adaptive", 3, TINY, [0], 60)
    before = session.workers[0].params["params"]["policy"]["kernel"].copy()
    session.advance()
    assert (session.workers[0].params["params"]["policy"]["kernel"] != before).any()
    assert session.evaluate(None, 4, True, 0)[0][0]["return"] == 7.0


def test_an_attempt_without_end_counts_as_far_as_it_was_played(monkeypatch):
    monkeypatch.setattr("adastack.deep.evaluation.MOST_STEPS", 5)
    name = registered("Long-v0", BOX, spaces.Discrete(2))
    (row,), steps = GymSession(resolve(name), "adaptive", 2, TINY, [0], 60).evaluate(
        None, 3, True, 0
    )
    assert (row["attempts"], row["cut"], row["return"], steps) == (3, 3, 5.0, 15)


def test_time_limits_are_bootstrapped():
    name = registered("Ones-v0", spaces.Discrete(1), spaces.Discrete(1))
    settings = PPOSettings(
        hidden=16, n_envs=4, n_steps=25, batch_size=50, gamma=0.5, learning_rate=0.01
    )
    session = GymSession(resolve(name), "none", 1, settings, [0], 5000)
    while session.done < session.total:
        session.advance()
    value = session.agent.value(session.workers[0].params, [np.zeros((1, 1), np.int32)])
    np.testing.assert_allclose(value, 1 / (1 - 0.5), atol=0.1)


@pytest.mark.parametrize("what", ["reward", "observation"])
def test_what_is_not_a_number_stops_the_run(what, tmp_path):
    space = spaces.Box(-np.inf, np.inf, (2,), np.float32)
    name = registered("Nan-v0", space, spaces.Discrete(2), np.nan if what == "reward" else 1.0)
    if what == "observation":
        space.sample = lambda: np.array([np.nan, 0], np.float32)
    with pytest.raises(RuntimeError, match=rf"{what} of environment 0 \(seed 3\)"):
        train(
            task=name, memory="adaptive", stack_size=2, algo="ppo", preset="paper", steps=60,
            seeds=[3], path=tmp_path / "run", resume=False, progress=Silent(),
            overrides={"hidden": 8, "n_envs": 3, "n_steps": 20, "batch_size": 30},
        )  # fmt: skip
    assert Run.open(tmp_path / "run").status == "failed"


def test_an_action_space_nobody_supports_is_refused():
    name = registered("Text-v0", BOX, spaces.Text(3))
    with pytest.raises(TypeError, match="expected a Discrete"):
        HostTrainer(vector_env(resolve(name), 2), "adaptive", 2, TINY)
    name = registered("Flat-v0", BOX, BOX)
    with pytest.raises(TypeError, match="'flat' expects Discrete"):
        HostTrainer(vector_env(resolve(name), 2), "adaptive", 2, PPOSettings(action_form="flat"))


def test_a_run_on_gymnasium_goes_on_where_it_stopped(monkeypatch):
    monkeypatch.setattr("adastack.deep.gym_session.RESTART", 2)

    def session():
        return GymSession(resolve("CartPole-v1"), "adaptive", 2, TINY, [0, 1], 360)

    monkeypatch.setattr("adastack.deep.gym_session.HostTrainer", shared_host_trainer)
    whole, first, second = session(), session(), session()
    advance(whole, 6)
    advance(first, 4)
    assert first.savable
    second.restore(*first.checkpoint())
    advance(second, 2)
    assert_same_arrays(whole.checkpoint()[0], second.checkpoint()[0])


@pytest.mark.parametrize("padding", ["empty", "reset"])
def test_the_learner_and_the_recorder_agree_on_what_is_remembered(padding):
    task, k, rounds, n = resolve("passive-tmaze:length=4"), 3, 200, 3
    agent = HostTrainer(vector_env(task, n), "adaptive", k, replace(TINY, padding=padding))
    worker = Worker(agent, vector_env(task, n), seed=0)
    seeds = []
    worker.env.reset = lambda seed, reset=worker.env.reset: seeds.append(seed) or reset(seed=seed)
    worker.restart(0)
    envs = vector.AdaptiveStack(vector_env(task, n), k, padding_type=padding)
    recorded = vector.RecordMemory(envs, interval=rounds)
    recorded.reset(seed=seeds[0])
    recorded.action_space.seed(0)
    flags = []
    for i in range(rounds):
        if i % TINY.n_steps == 0:
            worker.buffer.begin()
        joint = recorded.action_space.sample()
        recorded.step(joint)
        flags.append(worker.step(joint.astype(np.float32))[3])
    ours = dict(zip(EVENTS, counts_of(np.stack(flags)), strict=True))
    (theirs,) = recorded.windows
    for name in SHARES:
        theirs[name] *= theirs["steps"]
    assert ours == {name: pytest.approx(theirs[name]) for name in EVENTS}
    assert 0 < ours["memory_regret"] < theirs["steps"]


class Winning(Spaces):
    """Says how an episode ended, if it ended well: in every second one."""

    episodes = 0

    def step(self, action):
        *rest, truncated, info = super().step(action)
        self.episodes += truncated
        return (*rest, truncated, {"is_success": True} if self.episodes % 2 else info)


@pytest.mark.parametrize(("kind", "success"), [(Spaces, None), (Winning, 0.5)])
def test_success_is_unknown_where_no_environment_reports_it(kind, success, capsys, monkeypatch):
    monkeypatch.setattr("adastack.deep.gym_session.HostTrainer", shared_host_trainer)
    gym.register("Ends-v0", lambda **_: kind(BOX, spaces.Discrete(2)))

    def session():
        return GymSession(resolve("Ends-v0"), "adaptive", 2, TINY, [0], 120)

    learned, resumed = session(), session()
    learned.advance()
    resumed.restore(*learned.checkpoint())
    for each in (learned, resumed):
        (row,), _ = each.evaluate(None, 6, True, 0)
        assert (row["success"], row["memory_regret"]) == (success, None)
        assert ("success" in each.recent()) == (success is not None)
        each.advance()
        curves = each.curves()
        assert np.isnan(curves["memory_regret"]).all()
        assert np.isnan(curves["success"]).all() == (success is None)
        assert np.isfinite(curves["return"]).all()
    Output().print(table_of([row]))
    shown = capsys.readouterr().out
    assert "success" in shown
    assert ("│ -" in shown) == (success is None)


@pytest.mark.slow
def test_a_maze_is_learned_on_the_host():
    settings = PPOSettings(
        hidden=32, n_envs=16, n_steps=50, batch_size=200, n_epochs=10, learning_rate=3e-3,
        learning_rate_end=3e-3, entropy=0.01, memory_entropy=0.01,
    )  # fmt: skip
    gym.register(
        "ShortMaze-v0", lambda **_: gym.make("adastack/PassiveTMaze-v0", length=3).unwrapped
    )
    session = GymSession(resolve("ShortMaze-v0"), "adaptive", 2, settings, [0], 20_000)
    while session.done < session.total:
        session.advance()
    (result,), _ = session.evaluate(None, 100, True, 0)
    assert result["success"] == 1.0
    assert result["memory_regret"] < 0.7
