"""Jobs for tests, found by name in worker processes."""

import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

from adastack.lab.execute import kind_of
from adastack.lab.job import Evaluation, Job, train_jobs

# A process in the background ignores Ctrl-C, and so would its children; this one hears it.
HEARS_CTRL_C = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
TMAZE = "passive-tmaze:length=4,continual=true"


def tabular(seeds=(0, 1), steps=20_000, evaluate=(), **overrides):
    return train_jobs(
        TMAZE,
        "adaptive",
        2,
        algo="sarsa",
        preset="robust",
        steps=steps,
        seeds=list(seeds),
        overrides=overrides,
        evaluate=evaluate,
    )[0]


def deep(seed, steps=40_000):
    return train_jobs(
        "passive-tmaze:length=4",
        "adaptive",
        2,
        algo="ppo",
        preset="robust",
        steps=steps,
        seeds=[seed],
        evaluate=[Evaluation("passive-tmaze:length=20")],
    )[0]


def often(job):
    """The same training with a checkpoint many times a second."""
    return replace(job, kind="lab.kinds:train_saving_often")


def train_saving_often(settings, folder, progress):
    # Here, so that workers with other jobs need not import the learners.
    from adastack import training
    from adastack.deep import finite_session
    from adastack.tabular import session

    training.SAVE_SECONDS = 0.0
    finite_session.CHUNK_SECONDS = session.CHUNK_SECONDS = 0.05
    return kind_of("train")(settings, folder, progress)


def longer(length=50):
    return Evaluation(f"passive-tmaze:length={length},continual=true")


def quick(number, **settings):
    return Job("lab.kinds:square", {"number": number, **settings})


def square(settings, folder, progress):
    """Notes that it was computed, when asked to."""
    if "log" in settings:
        with Path(settings["log"]).open("a") as file:
            file.write(f"{settings['number']}\n")
    time.sleep(settings.get("seconds", 0))
    if settings.get("error"):
        raise ValueError(settings["error"])
    return {"square": settings["number"] ** 2}


def pid(settings, folder, progress):
    return {"pid": os.getpid(), "parent": os.getppid(), "jax": "jax" in sys.modules}


def die(settings, folder, progress):
    """Kills its process the first few times."""
    tries = folder / "tries"
    before = int(tries.read_text()) if tries.exists() else 0
    tries.write_text(str(before + 1))
    if before < settings["times"]:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"tries": before + 1}


def hang(settings, folder, progress):
    """Does nothing for ever, the first time."""
    tries = folder / "tries"
    if not tries.exists():
        tries.write_text("1")
        time.sleep(3600)
    return {"hung": 1}
