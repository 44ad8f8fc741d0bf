"""A store in which every training has finished, with made-up numbers."""

import zlib

import numpy as np

from adastack.lab.curves import curve_means, thinned

EVALUATED = (
    *("success", "return", "reward_rate", "memory_regret", "active_regret", "passive_regret"),
    *("memory_regret_after", "discounted_return", "optimality", "abstraction", "best_success"),
)
CURVES = (
    *("reward", "return", "success", "attempts"),
    *("memory_regret", "active_regret", "passive_regret"),
    *("memory_regret_after", "discounted_return"),
)


class MadeUp:
    """Numbers in 0..1 that depend on the job alone."""

    def is_finished(self, job):
        return job.kind == "train"

    def result(self, job):
        return {"seeds": self._rows(job, "own"), "settings": {"gamma": 0.99}}

    def evaluation(self, job, evaluation):
        return {"seeds": self._rows(job, evaluation.task)}

    def means(self, job):
        return curve_means(self._metrics(job))

    def curves(self, job):
        return thinned(self._metrics(job))

    def _metrics(self, job):
        shape = (len(job.settings["seeds"]), 4)
        curves = {name: self._generator(job, name).random(shape) for name in CURVES}
        return {"step": np.arange(1, 5) * 250_000, **curves}

    def _rows(self, job, what):
        generator = self._generator(job, what)
        return [
            {"seed": seed, **{name: generator.random() for name in EVALUATED}}
            for seed in job.settings["seeds"]
        ]

    def _generator(self, job, what):
        return np.random.default_rng(zlib.crc32(f"{job.address} {what}".encode()))
