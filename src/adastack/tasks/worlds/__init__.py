"""The worlds that are no finite tables: their names, Gymnasium ids and how each is made.

Nothing heavy is imported before a world is made: classes are named by entry points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import gymnasium
from gymnasium.envs.registration import load_env_creator

from adastack.tasks.registry import (
    PaperRow,
    check_options,
    hint,
    option_values,
    spelled_spec,
    split_spec,
)

if TYPE_CHECKING:
    from gymnasium.vector import AutoresetMode, VectorEnv

    from adastack.tasks.functional import FunctionalTask


@dataclass(frozen=True)
class World:
    """A world's row in the table."""

    name: str
    """The name on the command line, without options."""
    env_id: str
    """The Gymnasium id."""
    remember: str
    """What must be remembered, in a line."""
    options: Mapping[str, Any]
    """The options and their defaults."""
    functional: str | None = None
    """Its functional task, as ``module:class``, where there is one."""
    env: str | None = None
    """Its environment, as ``module:class``, where it is not made from the functional task."""
    vector_env: str | None = None
    """Its vector environment, likewise."""
    env_only: Mapping[str, Any] = field(default_factory=dict)
    """Options, with their defaults, that only a single environment has."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Arguments that every member of this world gets."""
    horizon: str = "?"
    """T here: the longest attempt, in terms of the options."""
    k_star: str = "?"
    """k* here."""
    kappa: int | None = None
    """kappa here, with adaptive stacking, where it is known."""
    paper: PaperRow | None = None
    """The paper's row for this task."""

    @property
    def default_spec(self) -> str:
        """The name with its options as they stand by default."""
        return spelled_spec(self)


@dataclass(frozen=True)
class ConfiguredWorld:
    """A world with its options chosen."""

    world: World
    options: Mapping[str, Any]

    def functional(self) -> FunctionalTask | None:
        """The functional task, for a compiled rollout; None if this world has none."""
        if self.world.functional is None:
            return None
        task: FunctionalTask = self._call(self.world.functional)
        return task

    def env(self, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
        """One environment."""
        if self.world.env is not None:
            made: gymnasium.Env[Any, Any] = self._call(self.world.env, render_mode=render_mode)
            return made
        from adastack.tasks.functional import FunctionalTaskEnv

        return FunctionalTaskEnv(self._functional(), render_mode)

    def vector_env(
        self,
        num_envs: int,
        autoreset_mode: AutoresetMode | str = "NextStep",
        render_mode: str | None = None,
    ) -> VectorEnv[Any, Any, Any]:
        """Many environments at once, by the fastest way there is."""
        if self.world.vector_env is not None:
            made: VectorEnv[Any, Any, Any] = self._call(
                self.world.vector_env,
                num_envs=num_envs,
                autoreset_mode=autoreset_mode,
                render_mode=render_mode,
            )
            return made
        from adastack.tasks.functional_vector import FunctionalTaskVectorEnv

        return FunctionalTaskVectorEnv(self._functional(), num_envs, autoreset_mode, render_mode)

    def _functional(self) -> FunctionalTask:
        task = self.functional()
        assert task is not None, "a world has an environment of its own or a functional task"
        return task

    def _call(self, path: str, **arguments: Any) -> Any:
        return load_env_creator(path)(**self.world.fixed, **self.options, **arguments)


def make_world(spec: str) -> ConfiguredWorld:
    """Finds a world by its name on the command line.

    Args:
        spec: ``name`` or ``name:option=value,...``.

    Raises:
        ValueError: If the name, an option or a value is unknown.

    Example:
        >>> from adastack.tasks.worlds import make_world
        >>> make_world("cube:view=full,depth=2").env().observation_space.shape
        (24,)
    """
    name, words = split_spec(spec)
    world = _world(name)
    return ConfiguredWorld(world, option_values(world, words))


def make_env(world: str, render_mode: str | None = None, **options: Any) -> gymnasium.Env[Any, Any]:
    """The environment of a world; Gymnasium's entry point."""
    entry = _world(world)
    check_options(replace(entry, options={**entry.options, **entry.env_only}), options)
    return ConfiguredWorld(entry, options).env(render_mode)


def make_vector_env(
    world: str,
    num_envs: int = 1,
    autoreset_mode: AutoresetMode | str = "NextStep",
    render_mode: str | None = None,
    **options: Any,
) -> VectorEnv[Any, Any, Any]:
    """The vector environment of a world; Gymnasium's entry point."""
    entry = _world(world)
    check_options(entry, options)
    return ConfiguredWorld(entry, options).vector_env(num_envs, autoreset_mode, render_mode)


def _world(name: str) -> World:
    if name not in WORLDS:
        known = ", ".join(WORLDS)
        raise ValueError(f"expected a world of {known}, actual: {name!r}{hint(name, WORLDS)}")
    return WORLDS[name]


_CARTPOLE: dict[str, Any] = {
    "options": {"time_limit": 600},
    "functional": "adastack.tasks.worlds.cartpole.functional:MaskedCartPole",
    "env": "adastack.tasks.worlds.cartpole.environment:MaskedCartPoleEnv",
    "horizon": "600",
    "k_star": "2",
    "paper": PaperRow("600", "2", "2", value_consistent=True),
}

WORLDS: Mapping[str, World] = MappingProxyType(
    {
        world.name: world
        for world in (
            World(
                "cube",
                "adastack/Cube-v0",
                "the faces that are not in view",
                {"view": "face", "depth": 3, "random_depth": False, "time_limit": 100},
                functional="adastack.tasks.worlds.cube.functional:Cube",
                horizon="100",
                k_star="T",
                paper=PaperRow("100", "T", "Long", value_consistent=True),
            ),
            World(
                "minigrid-memory",
                "adastack/MiniGridMemory-v0",
                "the object in the start room, until the split",
                {"size": 13, "random_length": False, "view": "symbolic"},
                functional="adastack.tasks.worlds.minigrid.functional:MiniGridMemory",
                env="adastack.tasks.worlds.minigrid.environment:MiniGridMemoryEnv",
                env_only={"env_id": None},
                horizon="5 size^2",
                k_star="T",
                paper=PaperRow("1445", "T", "2", value_consistent=True),
            ),
            World(
                "fetch-reach",
                "adastack/FetchReach-v0",
                "the goal, and where the gripper was a moment ago",
                {"goal_period": 50, "visible_steps": 2},
                env="adastack.tasks.worlds.fetch.environment:FetchReachEnv",
                vector_env="adastack.tasks.worlds.fetch.vector:FetchReachVectorEnv",
                horizon="50",
                k_star="infinite",
                paper=PaperRow("10^6", "infinite", "<= 4", value_consistent=False),
            ),
            World(
                "velocity-only-cartpole",
                "adastack/VelocityOnlyCartPole-v0",
                "earlier speeds, to guess the positions",
                fixed={"shows": "velocity"},
                **_CARTPOLE,
            ),
            World(
                "position-only-cartpole",
                "adastack/PositionOnlyCartPole-v0",
                "the position before, to know the speeds",
                fixed={"shows": "position"},
                **_CARTPOLE,
            ),
        )
    }
)
"""The worlds by name."""

for _entry in WORLDS.values():
    gymnasium.register(
        _entry.env_id,
        entry_point=f"{__name__}:make_env",
        vector_entry_point=f"{__name__}:make_vector_env",
        kwargs={"world": _entry.name},
        # The environments themselves refuse what these wrappers would catch, and cut episodes.
        order_enforce=False,
        disable_env_checker=True,
    )
