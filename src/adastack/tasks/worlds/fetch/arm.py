"""The Fetch arm of ``gymnasium-robotics``, moved without the package's look-ups by name.

The package builds the model and says where an episode begins; everything after that is MuJoCo
alone, with the same numbers bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adastack.extras import require

Floats = NDArray[np.float64]

SUBSTEPS = 20
REACH = 0.05
"""Metres that the gripper's target moves for an action of one."""

ROTATION = np.array([1.0, 0.0, 1.0, 0.0])
"""What an action adds to the gripper's orientation before it is normalised."""


@dataclass(frozen=True, eq=False)
class ArmModel:
    """What all arms share; nothing here changes while they move."""

    model: Any
    time: float
    qpos: Floats
    qvel: Floats
    """Time, joint positions and joint speeds at the start of an episode."""
    gripper: Floats
    """(3,): where the gripper is then; goals are drawn around it."""
    site: int
    """The site of the gripper."""
    hand: int
    """The body that follows the motion target."""
    fingers: NDArray[np.intp]
    """(2,): where the finger joints stand in ``qpos``, right and left."""


@cache
def arm_model() -> ArmModel:
    """Builds the model once for all arms of the process."""
    mujoco = require("mujoco", "robot")
    # What the package would print while it is imported is about other environments.
    require("farama_notifications", "robot").notifications.pop("gymnasium_robotics", None)
    package = require("gymnasium_robotics.envs.fetch.reach", "robot")
    env = package.MujocoFetchReachEnv(reward_type="dense")
    model = env.model
    first, second = int(model.eq_obj1id[0]), int(model.eq_obj2id[0])
    joints = [model.joint(f"robot0:{side}_gripper_finger_joint") for side in "rl"]
    found = ArmModel(
        model=model,
        time=float(env.initial_time),
        qpos=env.initial_qpos.copy(),
        qvel=env.initial_qvel.copy(),
        gripper=env.initial_gripper_xpos.copy(),
        site=mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, "robot0:grip"),
        hand=second if model.body_mocapid[first] >= 0 else first,
        fingers=np.array([int(joint.qposadr[0]) for joint in joints]),
    )
    env.close()
    return found


class Arm:
    """One arm."""

    def __init__(self) -> None:
        self.shared = arm_model()
        self._mujoco = require("mujoco", "robot")
        self.data = self._mujoco.MjData(self.shared.model)
        # Views into MuJoCo's memory: looking them up anew costs as much as a tenth of a step.
        self.gripper: Floats = self.data.site_xpos[self.shared.site]
        """(3,): where the gripper is."""
        self._hand: Floats = self.data.xpos[self.shared.hand]
        self._hand_rotation: Floats = self.data.xquat[self.shared.hand]
        self._target: Floats = self.data.mocap_pos[0]
        self._target_rotation: Floats = self.data.mocap_quat[0]
        self._qpos: Floats = self.data.qpos

    def __reduce__(self) -> tuple[Any, ...]:
        """What a copy begins with: the views above would not look into its own memory."""
        model, kind = self.shared.model, self._mujoco.mjtState.mjSTATE_INTEGRATION
        state = np.empty(self._mujoco.mj_stateSize(model, kind))
        self._mujoco.mj_getState(model, self.data, state, kind)
        return _arm_at, (state,)

    @property
    def fingers(self) -> Floats:
        """(2,): how far the fingers are open, right and left."""
        return self._qpos[self.shared.fingers]

    def reset(self) -> None:
        """Puts the arm where an episode begins."""
        shared = self.shared
        self._mujoco.mj_resetData(shared.model, self.data)
        self.data.time = shared.time
        self._qpos[:] = shared.qpos
        self.data.qvel[:] = shared.qvel
        self._mujoco.mj_forward(shared.model, self.data)

    def move(self, shift: Floats) -> None:
        """Pulls the gripper towards a point this far from where it is, for a 25th of a second.

        Other threads run meanwhile.
        """
        model = self.shared.model
        np.add(self._hand, shift, out=self._target)
        np.add(self._hand_rotation, ROTATION, out=self._target_rotation)
        self._mujoco.mj_step(model, self.data, SUBSTEPS)
        # The gripper stays closed. Where that puts the bodies is all that has to be known now: the
        # next step computes everything else anew.
        self._qpos[self.shared.fingers] = 0.0
        self._mujoco.mj_kinematics(model, self.data)


def _arm_at(state: Floats) -> Arm:
    """An arm in a state that was saved."""
    arm, mujoco = Arm(), require("mujoco", "robot")
    model = arm.shared.model
    mujoco.mj_setState(model, arm.data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
    mujoco.mj_kinematics(model, arm.data)
    return arm
