"""The tasks and worlds that come with the package, a row each.

Nothing heavy is imported before a world is made: its classes are named as ``module:class``.
"""

from typing import Any

from adastack.tasks.classics import heaven_hell, key_order, office
from adastack.tasks.entry import PaperRow, TaskEntry
from adastack.tasks.pomdp_task import pomdp
from adastack.tasks.recall import memory_length, repeat_first
from adastack.tasks.tmaze import (
    active_tmaze,
    long_active_tmaze,
    long_passive_tmaze,
    passive_tmaze,
)
from adastack.tasks.xormaze import xormaze

_WORLDS = "adastack.tasks.worlds"
_REWARD_MACHINES = PaperRow("1000", "T", "T", value_consistent=False)
_WORLD_PPO: dict[str, Any] = {
    "n_envs": 16,
    "n_steps": 128,
    "batch_size": 256,
    "learning_rate": 1e-3,
    "learning_rate_end": 1e-4,
    "normalize_observation": True,
}
_CUBE_PPO = {**_WORLD_PPO, "n_envs": 64, "n_steps": 100, "batch_size": 1600, "n_epochs": 4,
             "entropy": 0.01, "patience": 3.0, "normalize_observation": False}  # fmt: skip
_MINIGRID_PPO = {**_WORLD_PPO, "hidden": 64, "n_envs": 64, "n_steps": 64, "batch_size": 512,
                 "gamma": 0.995, "entropy": 0.01, "entropy_until": 0.8, "anneal_entropy": True,
                 "padding": "reset", "patience": 3.0, "normalize_advantage": False}  # fmt: skip
_CARTPOLE: dict[str, Any] = {
    "horizon": "600",
    "paper": PaperRow("600", "2", "2"),
    "functional": f"{_WORLDS}.cartpole.functional:MaskedCartPole",
    "env": f"{_WORLDS}.cartpole.environment:MaskedCartPoleEnv",
    "defaults": {"time_limit": 600, "noise": 0.0, "previous_action": False},
    "ppo": {**_WORLD_PPO, "learning_rate": 3e-4, "learning_rate_end": 3e-5},
    "steps_per_second": 1.5e4,
}


def _popgym(
    game: str, remember: str, horizon: str, k_star: str = "T", kappa: int | None = None
) -> TaskEntry:
    """One of POPGym's environments as a functional task; ``horizon`` is T at each level."""
    id_name = game.title().replace("-", "").replace("Cartpole", "CartPole")
    return TaskEntry(
        f"popgym-{game}",
        None,
        remember,
        f"adastack/Popgym{id_name}-v0",
        horizon,
        k_star,
        kappa,
        functional=f"{_WORLDS}.popgym.levels:popgym_task",
        defaults={"level": "easy", "previous_action": False},
        fixed={"game": game},
    )


# fmt: off
ROWS = (
    # name, builder, what must be remembered, Gymnasium id, T, k*, kappa, the paper's T, k*, kappa
    TaskEntry("passive-tmaze", passive_tmaze, "the colour at the start, until the junction",
              "adastack/PassiveTMaze-v0", "length", "T", 2, PaperRow("10^6", "T", "2"),
              stretched=long_passive_tmaze),
    TaskEntry("active-tmaze", active_tmaze, "the colour behind the start, once looked for",
              "adastack/ActiveTMaze-v0", "max(100, 4 length)", "T", 2, PaperRow("100", "T", "2"),
              stretched=long_active_tmaze),
    TaskEntry("xormaze", xormaze, "two colours, of which only the comparison counts",
              "adastack/XorMaze-v0", "100", "T", 3, PaperRow("100", "T", "3")),
    TaskEntry("heaven-hell", heaven_hell, "which way heaven is, once the priest has been asked",
              "adastack/HeavenHell-v0", "20", "T", 2, PaperRow("20", "T", "2")),
    TaskEntry("repeat-first", repeat_first, "the suit of the first card",
              "adastack/RepeatFirst-v0", "length", "T", 2, PaperRow("832", "T", "2")),
    TaskEntry("memory-length", memory_length, "the bits of the context, until one is asked for",
              "adastack/MemoryLength-v0", "length + 1", "T", 2, PaperRow("100", "T", "2")),
    TaskEntry("office", office, "whether coffee has been fetched (and whether anything was broken)",
              "adastack/Office-v0", "100", "T", 2, _REWARD_MACHINES),
    TaskEntry("key-order", key_order, "which key was taken last",
              "adastack/KeyOrder-v0", "100", "T", 2, _REWARD_MACHINES),
    TaskEntry("pomdp", pomdp, "what the file makes worth remembering", "adastack/Pomdp-v0"),
    TaskEntry("cube", None, "the faces that are not in view",
              "adastack/Cube-v0", "100", "T", None, PaperRow("100", "T", "Long"),
              functional=f"{_WORLDS}.cube.functional:Cube",
              defaults={"view": "face", "depth": 3, "random_depth": False, "time_limit": 100},
              ppo=_CUBE_PPO, steps_per_second=1.5e4),
    TaskEntry("minigrid-memory", None, "the object in the start room, until the split",
              "adastack/MiniGridMemory-v0", "5 size^2", "T", None, PaperRow("1445", "T", "2"),
              functional=f"{_WORLDS}.minigrid.functional:MiniGridMemory",
              env=f"{_WORLDS}.minigrid.environment:MiniGridMemoryEnv",
              defaults={"size": 13, "random_length": False, "view": "symbolic"},
              env_only={"env_id": None}, ppo=_MINIGRID_PPO, steps_per_second=5e3,
              wide=True),
    TaskEntry("fetch-reach", None, "the goal, and where the gripper was a moment ago",
              "adastack/FetchReach-v0", "50", "infinite",
              paper=PaperRow("10^6", "infinite", "<= 4", value_consistent=False),
              env=f"{_WORLDS}.fetch.environment:FetchReachEnv",
              vector_env=f"{_WORLDS}.fetch.vector:FetchReachVectorEnv",
              defaults={"goal_period": 50, "visible_steps": 2},
              ppo={**_WORLD_PPO, "gamma": 0.95, "patience": 2.0}, steps_per_second=1.3e3),
    TaskEntry("velocity-only-cartpole", None, "earlier speeds, to guess the positions",
              "adastack/VelocityOnlyCartPole-v0", k_star="T", fixed={"shows": "velocity"},
              **_CARTPOLE),
    TaskEntry("position-only-cartpole", None, "the position before, to know the speeds",
              "adastack/PositionOnlyCartPole-v0", k_star="2", fixed={"shows": "position"},
              **_CARTPOLE),
    _popgym("repeat-first", "the suit of the first card", "51, 415, 831", kappa=2),
    _popgym("repeat-previous", "the suits of the last cards", "51, 103, 155", "4, 32, 64"),
    _popgym("autoencode", "all suits, and in which order they came", "103, 207, 311"),
    _popgym("count-recall", "how often each kind of card was dealt", "51, 103, 207"),
    _popgym("concentration", "where which card lies", "104, 208, 104"),
    _popgym("higher-lower", "which ranks have been dealt", "51, 103, 155"),
    _popgym("battleship", "where shots went, and what they hit", "64, 100, 144"),
    _popgym("mine-sweeper", "where clicks went, and what they found", "14, 30, 54"),
    _popgym("multiarmed-bandit", "how often each arm paid", "200, 400, 600"),
    _popgym("labyrinth-escape", "where the player has been", "1023"),
    _popgym("labyrinth-explore", "where the player has been", "1023"),
    _popgym("position-only-cartpole", "the position before, to know the speeds",
            "200, 400, 600", "2"),
    _popgym("velocity-only-cartpole", "earlier speeds, to guess the positions", "200, 400, 600"),
    _popgym("noisy-cartpole", "positions, to take the noise out", "200"),
    _popgym("position-only-pendulum", "the angle before, to know the speed",
            "200, 150, 100", "2"),
    _popgym("noisy-pendulum", "angles, to take the noise out", "200"),
)
# fmt: on
