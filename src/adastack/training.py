"""The one shell around every learner: what a run is asked to be, checkpoints, resuming, tests.

A session is a run in progress (`adastack.algorithms`); `train` drives, saves and evaluates it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from adastack.algorithms import Session, algorithm, load, settings_for
from adastack.learning_curve import picture_of
from adastack.memory import check_stack_size
from adastack.process.policy import learning_rule
from adastack.progress import Progress
from adastack.runs import Run, RunError, check_seeds
from adastack.schemas import COUNT, INTEGER, OBJECT, TEXT, Schema, list_of
from adastack.tasks.entry import Resolved
from adastack.tasks.failures import EnvironmentFailure
from adastack.tasks.registry import import_module, resolve
from adastack.tensorboard import CurveEvents

SAVE_SECONDS = 10.0
EVALUATION_SEED = 0
TRAINING = {
    "task": TEXT,
    "memory": TEXT,
    "stack_size": COUNT,
    "algo": TEXT,
    "preset": TEXT,
    "steps": COUNT,
}
"""What the settings of every training name, in a run's folder and in a job."""
RUN_SETTINGS = Schema(
    "the settings of a run",
    {**TRAINING, "seeds": list_of(INTEGER), "settings": OBJECT},
    {"imports": list_of(TEXT)},
    others=True,
)
KEYS = tuple(RUN_SETTINGS.entries)
"""What a run's settings name."""


@dataclass(frozen=True, kw_only=True)
class RunSpec:
    """What a run is asked to be."""

    task: str | Resolved
    """The task, or its name with its options."""
    memory: str
    """A memory rule, or, for tables, ``"random"``."""
    stack_size: int
    """The number of slots, k."""
    algo: str
    """One of `ALGORITHMS`."""
    preset: str
    """The settings to begin with."""
    steps: int
    """How many steps each seed takes."""
    seeds: Sequence[int]
    """The seeds."""
    overrides: Mapping[str, Any]
    """Settings that differ from the preset."""
    imports: Sequence[str] = ()
    """Modules that the task or the memory rule needs; the run remembers them."""

    def document(self) -> dict[str, Any]:
        """What the run's ``settings.json`` says.

        Raises:
            ValueError: If something asked for does not exist or does not fit.
        """
        for name in self.imports:
            import_module(name)
        algorithm(self.algo, self.task)
        learning_rule(self.memory)
        check_stack_size(self.stack_size)
        check_seeds(self.seeds, self.steps)
        found = vars(self) | {
            "task": str(self.task),
            "seeds": list(self.seeds),
            "stack_size": int(self.stack_size),
            "settings": settings_for(self.algo, self.preset, self.overrides),
        }
        document = {name: found[name] for name in KEYS}
        return document | ({"imports": list(self.imports)} if self.imports else {})


def make_session(document: Mapping[str, Any], task: Resolved | None = None) -> Session:
    """The session that a run's settings ask for; ``task``, if it cannot be found by its name.

    Raises:
        DamagedFileError: If they are not the settings of a run.
    """
    RUN_SETTINGS.check(document, "a run's settings")
    check_seeds(document["seeds"], document["steps"])
    if task is None:
        task = task_of(document)
    else:  # A memory rule may be theirs.
        _import_remembered(document)
    try:
        session: Session = load(algorithm(document["algo"]).session)(document, task)
    except MemoryError as error:
        raise ValueError(
            f"{error} for a stack of {document['stack_size']} slots: use a smaller k"
        ) from None
    return session


def task_of(document: Mapping[str, Any]) -> Resolved:
    """The task that a run's settings name, once the modules that the run remembers are imported.

    One of them may have been renamed: it is not missed if the task is found all the same, as by
    another ``--import``.
    """
    missing = _import_remembered(document)
    try:
        return resolve(document["task"], stored=True)
    except (ValueError, ImportError):
        if missing is not None:
            raise missing from None
        raise


def _import_remembered(document: Mapping[str, Any]) -> ImportError | None:
    """Imports the modules that a run remembers; why not, for the first that is not found."""
    missing: ImportError | None = None
    for name in document.get("imports", ()):
        try:
            import_module(name, named=False)
        except ImportError as error:
            missing = missing or error
    return missing


def restored(run: Run, task: Resolved | None = None) -> Session:
    """The session of a run, as its last checkpoint has it; see `make_session`.

    Raises:
        RunError: If there is no checkpoint.
    """
    if "algo" not in run.settings:
        raise RunError(f"{run.path} is not the run of a learner")
    saved = run.load_checkpoint()
    if saved is None:
        raise RunError(f"{run.path} has no checkpoint yet: train it first")
    session = make_session(run.settings, task)
    session.restore(*saved)
    return session


def train(
    *, path: Path, resume: bool, progress: Progress, episodes: int | None = None, **asked: Any
) -> dict[str, Any]:
    """Trains seeds side by side and saves them as one run.

    With ``resume`` an unfinished run goes on from its last checkpoint and ends bit for bit as if it
    had never stopped; a finished one gives its result.

    Args:
        path: The run's folder; it must be new, unless it is resumed.
        resume: Go on with the run in the folder, if there is one.
        progress: Where to say how far the run is.
        episodes: How many attempts to evaluate what was learned, where they must be sampled; by
            default as many as the session says.
        **asked: What the run is asked to be: the fields of `RunSpec`.

    Raises:
        ValueError: If something asked for does not exist or does not fit; nothing is written then.
        RuntimeError: If a loss, an observation or a reward is not a number; the run is marked.
    """
    document = RunSpec(**asked).document()
    session = make_session(document, resolve(asked["task"]))
    session.evaluation_episodes = episodes or session.evaluation_episodes
    run = _resumed(path, document) if resume else Run.create(path, document)
    if run.status == "finished":
        return run.result
    with run.held():
        try:
            result = run_session(run, session, progress)
        except FloatingPointError as error:
            run.fail(str(error))
            raise RuntimeError(str(error)) from None
        except EnvironmentFailure as error:
            run.fail(str(error))
            raise
        run.save_picture(picture_of(session.curves()))
        run.finish(result)
    return result


def _resumed(path: Path, document: Mapping[str, Any]) -> Run:
    """The run to go on with; settings that did not exist when it was begun have their defaults."""
    settings = load(algorithm(document["algo"]).settings)(document["preset"], document["algo"], {})
    return Run.resume(path, document, asdict(type(settings)()))


def run_session(run: Run, session: Session, progress: Progress) -> dict[str, Any]:
    """Advances a session to its end, with checkpoints, and evaluates what was learned."""
    saved = run.load_checkpoint()
    if saved is None:
        session.start()
    else:
        session.restore(*saved)
    meta = saved[1] if saved else {}
    events = CurveEvents(run.path, meta.get("event_bytes", 0), meta.get("event_points", 0))
    began, first = time.perf_counter(), session.steps_done
    last_save = began
    while not session.finished:
        session.advance()
        progress.update(session.steps_done, **session.recent())
        if session.savable and time.perf_counter() - last_save > SAVE_SECONDS:
            _save(run, session, events)
            last_save = time.perf_counter()
    spent = time.perf_counter() - began
    _save(run, session, events)
    rows, _ = session.evaluate(None, session.evaluation_episodes, True, EVALUATION_SEED)
    return {
        "run": str(run.path),
        "settings": run.settings,
        "trained_steps": session.steps_done,
        "steps_per_second": (session.steps_done - first) * len(session.seeds) / max(spent, 1e-9),
        "seeds": rows,
    }


def evaluate(
    run: Run, *, task: str | None, episodes: int, greedy: bool, seed: int
) -> dict[str, Any]:
    """Evaluates the policies of a run, on its own task or on another with the same observations.

    Args:
        run: The run.
        task: The other task; None for the run's own.
        episodes: How many attempts to play where the answer is not exact.
        greedy: Take the best actions, or draw as at the end of training.
        seed: Where the random numbers of sampled attempts come from.
    """
    if episodes < 1:
        raise ValueError(f"episodes must be at least 1, actual: {episodes}")
    session = restored(run)
    began = time.perf_counter()
    other = None if task is None else resolve(task)
    rows, walked = session.evaluate(other, episodes, greedy, seed)
    spent = time.perf_counter() - began
    return {
        "run": str(run.path),
        "settings": run.settings,
        "task": task or run.settings["task"],
        "episodes": episodes,
        "greedy": greedy,
        "steps_per_second": walked / max(spent, 1e-9),
        "seeds": rows,
    }


def _save(run: Run, session: Session, events: CurveEvents) -> None:
    """Events first: the checkpoint that counts on them is replaced last."""
    events.add(session.curves())
    arrays, meta = session.checkpoint()
    run.save_checkpoint(arrays, **meta, event_bytes=events.file.size, event_points=events.points)
