"""The Python API: any environment in, an agent out that predicts, saves, loads and goes on."""

import inspect
import sys
from dataclasses import fields

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import SyncVectorEnv

from adastack import Agent
from adastack.agent_settings import AgentSettings
from adastack.cli import main
from adastack.deep.settings import PPOSettings
from adastack.runs import RunError
from adastack.tabular.settings import GradientSettings, ValueSettings
from adastack.tasks import registry
from adastack.tasks.failures import EnvironmentFailure

pytestmark = pytest.mark.usefixtures("programs_are_compiled_once")
TINY = {"n_envs": 2, "n_steps": 32, "batch_size": 32, "n_epochs": 1, "hidden": 8}


class Recall(gym.Env):
    """Shows one of two signs, then nothing; asks for it at the end."""

    observation_space = spaces.Box(-1, 1, (2,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(self, delay=3):
        self.delay = delay

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.sign, self.clock = int(self.np_random.integers(2)), 0
        return np.array([2 * self.sign - 1, 0], np.float32), {}

    def step(self, action):
        self.clock += 1
        over = self.clock > self.delay
        shown = np.array([0, self.clock == self.delay], np.float32)
        right = int(action) == self.sign
        return shown, float(over and right), over, False, {"is_success": over and right}


def learned(env=Recall, steps=128, **more):
    return Agent(env, k=2, **{**TINY, **more}).learn(steps, progress=False)


@pytest.mark.parametrize(
    "env",
    [
        "passive-tmaze:length=3",
        pytest.param("CartPole-v1", marks=pytest.mark.slow),
        pytest.param(Recall(), marks=pytest.mark.slow),
        Recall,
        lambda: Recall(5),
        SyncVectorEnv([Recall] * 2),
    ],
    ids=["task", "id", "object", "class", "function", "vector"],
)
def test_every_form_of_an_environment_is_learned(env):
    agent = learned(env, algo="ppo")
    assert agent.steps == 128
    assert np.isfinite(agent.evaluate(4)["return"])


class Told(Recall):
    """Says in a list what must be remembered."""

    def reset(self, *, seed=None, options=None):
        observation, _ = super().reset(seed=seed)
        return observation, {"shown": self.sign, "cue": [self.sign, -1][: 1 + self.sign]}

    def step(self, action):
        *rest, info = super().step(action)
        return *rest, {**info, "shown": 3, "cue": [self.sign, -1][: 1 + self.sign]}


def test_cues_may_be_lists():
    agent = learned(Told, steps=128)
    row = agent.evaluate(8)
    # The first step of four has nothing in memory yet.
    assert row["memory_regret"] >= 0.25
    assert row["active_regret"] is not None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*text is left out")
def test_environments_with_missions_are_learned():
    envs = pytest.importorskip("minigrid.envs")
    agent = learned(lambda: envs.MemoryEnv(size=7))
    env = agent.wrap(envs.MemoryEnv(size=7))
    action, _ = agent.predict(env.reset(seed=0)[0])
    assert env.action_space.contains(action)


def test_what_is_no_environment_is_refused():
    with pytest.raises(TypeError, match=r"expected the name of a task.*actual: int"):
        Agent(3)
    with pytest.raises(TypeError, match="a function that makes a Gymnasium environment"):
        Agent(lambda: 3, **TINY).learn(64, progress=False)
    with pytest.raises(ValueError, match="did you mean hidden"):
        Agent(Recall, hiden=3)
    with pytest.raises(RunError, match="call learn"):
        Agent(Recall).evaluate()


class OutOfSpace(Recall):
    observation_space = spaces.Dict(a=spaces.Discrete(3), b=spaces.Box(-1, 1, (2,), np.float32))

    def reset(self, **asked):
        observation, info = super().reset(**asked)
        return {"a": 7, "b": observation}, info


def test_an_observation_outside_its_space_is_shown_in_one_line():
    with pytest.raises(EnvironmentFailure, match=r"expected Dict.*actual: {'a': .*7.*}$") as caught:
        Agent(OutOfSpace, **TINY).learn(64, progress=False)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"k": 0}, "stack_size must be at least 1, actual: 0"),
        ({"k": -1}, "stack_size must be at least 1, actual: -1"),
        ({"k": 1.5}, "stack_size must be an integer, actual: 1.5"),
        ({"memory": "adaptiv"}, r"expected a memory of .*\(did you mean adaptive\?\)"),
        ({"seed": -1}, "seeds must be different numbers in 0.*, actual: "),
    ],
)
def test_what_cannot_be_learned_with_is_refused_at_once(asked, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Agent(Recall, **asked)


def test_steps_may_be_written_as_on_the_command_line():
    agent = Agent("passive-tmaze:length=3").learn(2e3, progress=False)
    assert agent.steps == 2_000
    for steps in (0, -5, 10.5, "many"):
        with pytest.raises(ValueError, match="steps must be an integer of at least 1, actual"):
            agent.learn(steps)


def test_predict_plays_in_the_wrapped_environment():
    agent = learned()
    env = agent.wrap(Recall())
    stack, _ = env.reset(seed=0)
    action, state = agent.predict(stack)
    assert state is None
    assert env.action_space.contains(action)
    batch, _ = agent.predict(np.stack([stack, stack]))
    assert batch.tolist() == [action.tolist()] * 2
    drawn = {tuple(agent.predict(stack, deterministic=False)[0]) for _ in range(50)}
    assert len(drawn) > 1


def test_stable_baselines_evaluates_an_agent():
    evaluation = pytest.importorskip("stable_baselines3.common.evaluation")
    agent = learned()
    mean, _ = evaluation.evaluate_policy(
        agent, agent.wrap(Recall()), n_eval_episodes=200, warn=False
    )
    assert mean == pytest.approx(agent.evaluate(400)["return"], abs=0.15)


def test_what_has_no_name_elsewhere_is_asked_for(tmp_path):
    agent = learned(env=lambda: Recall())
    agent.save(tmp_path / "agent")
    with pytest.raises(RunError, match="give env="):
        Agent.load(tmp_path / "agent")
    assert Agent.load(tmp_path / "agent", env=Recall).steps == agent.steps


def test_an_agent_is_loaded_for_an_environment_like_its_own(tmp_path):
    agent = learned()
    agent.save(tmp_path / "agent")
    with pytest.raises(
        RunError, match=r"expected an environment with the observations and actions"
    ):
        Agent.load(tmp_path / "agent", env="CartPole-v1")


def test_a_saved_agent_goes_on_as_the_first_does(tmp_path):
    first = learned(normalize_observation=True)
    first.save(tmp_path / "agent")
    assert first.settings["task"] == f"{__name__}:Recall"  # A name that another process finds.
    second = Agent.load(tmp_path / "agent")
    assert second.evaluate(20) == first.evaluate(20)
    first.learn(64, progress=False)
    second.learn(64, progress=False)
    assert first.steps == second.steps == 192
    ours, theirs = (agent._session.checkpoint()[0] for agent in (first, second))
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        np.testing.assert_array_equal(array, theirs[name])
    with pytest.raises(RunError, match="already exists"):
        first.save(tmp_path / "agent")


def test_a_table_goes_on_learning(tmp_path):
    agent = Agent("passive-tmaze:length=4", seed=3).learn(20_000, progress=False)
    agent.save(tmp_path / "table")
    again = Agent.load(tmp_path / "table").learn(30_000, progress=False)
    agent.learn(30_000, progress=False)
    assert agent.steps == again.steps == 50_000
    assert np.array_equal(agent._session.table, again._session.table)
    assert len(agent.curves["return"]) == 500
    assert agent.evaluate()["success"] == 1.0


def test_a_callback_follows_and_stops_the_learning():
    seen = []

    def stop_at(agent):
        seen.append(agent.steps)
        return agent.steps < 192

    agent = Agent(Recall, **TINY).learn(640, progress=False, callback=stop_at)
    assert seen == [64, 128, 192]
    assert agent.steps == 192


def test_an_agent_shows_itself(tmp_path):
    agent = learned("passive-tmaze:length=3", algo="ppo", steps=256)
    figure = agent.plot()
    assert figure.axes[0].get_xlabel() == "environment steps"
    page = agent.watch(tmp_path / "watch.html")
    assert "iframe" in page._repr_html_()
    assert "passive-tmaze" in (tmp_path / "watch.html").read_text()


@pytest.mark.slow
def test_defaults_learn_to_remember():
    """A cue, a delay of ten, a decision: every seed, with nothing but the defaults."""
    for seed in range(3):
        agent = Agent(lambda: Recall(10), seed=seed).learn(60_000, progress=False)
        assert agent.evaluate()["success"] >= 0.99


def test_every_setting_is_a_keyword_with_its_type():
    found = {}
    for kind in (PPOSettings, ValueSettings, GradientSettings):
        found |= {field.name: str(field.type) for field in fields(kind)}
    del found["net"], found["cell"]  # Arguments of their own.
    typed = {name: hint.__forward_arg__ for name, hint in AgentSettings.__annotations__.items()}
    assert typed == found
    assert inspect.signature(Agent).parameters["settings"].annotation == "Unpack[AgentSettings]"


def test_what_does_not_fit_gymnasium_is_said_to():
    class Wrong(Recall):
        def reset(self, *, seed=None, options=None):
            return np.zeros((7, 7)), {}

    with pytest.raises(EnvironmentFailure, match=r"Wrong failed in reset: .*check_env\(env\) says"):
        learned(env=Wrong)


def test_an_agent_says_what_it_is():
    agent = Agent("passive-tmaze:length=3", k=2)
    assert repr(agent) == (
        "Agent(task='passive-tmaze:length=3', memory='adaptive', stack_size=2, "
        "algo='sarsa', steps=0)"
    )


def test_an_agent_is_loaded_with_the_modules_that_its_run_remembers(tmp_path, monkeypatch, capsys):
    """As in a process that has never heard of the task, nor of the memory rule."""
    (tmp_path / "agents_tasks.py").write_text(
        "from adastack.tasks import TaskEntry, passive_tmaze, register_task\n"
        "register_task(TaskEntry('agents-tmaze', lambda: passive_tmaze(length=3), 'the cue'))\n"
    )
    monkeypatch.chdir(tmp_path)
    line = ["train", "agents-tmaze", "--k", "2", "--steps", "1000", "--out", "run"]
    assert main([*line, "--import", "agents_tasks", "--json"]) == 0
    capsys.readouterr()
    monkeypatch.delitem(sys.modules, "agents_tasks")
    registry._TASKS.pop("agents-tmaze")
    assert Agent.load("run").settings["task"] == "agents-tmaze"
