"""The policies of five other experiments, tested at all their lengths."""

from __future__ import annotations

from dataclasses import dataclass

from adastack.lab.experiment import Scale
from adastack.lab.experiments.fixed_length.sweep import ACTIVE as PPO_ACTIVE
from adastack.lab.experiments.fixed_length.sweep import LENGTHS as FIXED
from adastack.lab.experiments.fixed_length.sweep import PASSIVE as PPO_PASSIVE
from adastack.lab.experiments.grids import tested
from adastack.lab.experiments.length_scaling.sweep import LENGTHS as RANDOM
from adastack.lab.experiments.length_scaling.sweep import STUDY as MLP
from adastack.lab.experiments.lstm.sweep import STUDY as LSTM
from adastack.lab.experiments.study import Study, tmaze
from adastack.lab.experiments.tabular.sweep import ACTIVE as Q_ACTIVE
from adastack.lab.experiments.tabular.sweep import PASSIVE as Q_PASSIVE
from adastack.lab.experiments.transformer.sweep import STUDY as TRANSFORMER
from adastack.lab.job import Job


@dataclass(frozen=True)
class Part:
    """One group of heat maps."""

    title: str
    study: Study


def _tested(study: Study, kind: str, lengths: tuple[int, ...], continual: bool = False) -> Study:
    tests = [tmaze(kind, length, continual=continual) for length in lengths]
    return tested(study, tests, smoke=tests[:2])


PARTS = {
    "q-passive": Part(
        "Continual Passive-TMaze, Q-learning",
        _tested(Q_PASSIVE, "passive", FIXED, continual=True),
    ),
    "q-active": Part(
        "Continual Active-TMaze, Q-learning",
        _tested(Q_ACTIVE, "active", FIXED, continual=True),
    ),
    "ppo-passive": Part(
        "Episodic Passive-TMaze of fixed length, PPO with an MLP",
        _tested(PPO_PASSIVE, "passive", FIXED),
    ),
    "ppo-active": Part(
        "Episodic Active-TMaze of fixed length, PPO with an MLP",
        _tested(PPO_ACTIVE, "active", FIXED),
    ),
    "mlp": Part(
        "Episodic Passive-TMaze with random corridors, PPO with an MLP",
        _tested(MLP, "passive", RANDOM),
    ),
    "lstm": Part(
        "Episodic Passive-TMaze with random corridors, PPO with an LSTM",
        _tested(LSTM, "passive", RANDOM),
    ),
    "transformer": Part(
        "Episodic Passive-TMaze with random corridors, PPO with a Transformer",
        _tested(TRANSFORMER, "passive", RANDOM),
    ),
}


def sweep(scale: Scale) -> list[Job]:
    """The trainings of the other experiments, with more tests."""
    return [job for part in PARTS.values() for job in part.study.jobs(scale)]
