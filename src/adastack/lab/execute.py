"""What a worker does with a job: compute it, evaluate it, and write the manifest."""

from __future__ import annotations

import importlib
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from adastack.extras import versions
from adastack.files import DamagedFileError, write_json
from adastack.lab.job import Evaluation, Job
from adastack.lab.machine import machine
from adastack.lab.manifest import (
    DONE,
    EVALUATIONS,
    FAILURE,
    JOB,
    PROGRESS,
    Document,
    as_document,
    check_files,
    evaluation_file,
    missing_evaluations,
    read_manifest,
    to_jsonable,
    write_manifest,
)
from adastack.lab.meaning import meaning_of, meaning_of_test
from adastack.lab.reporter import seconds_before
from adastack.progress import Progress
from adastack.runs import Run, RunError
from adastack.tasks.registry import resolve
from adastack.training import RunSpec, evaluate, make_session, run_session

Kind = Callable[[Mapping[str, Any], Path, Progress], dict[str, Any]]
KINDS: dict[str, Kind] = {}
"""The known kinds of jobs; exact ones are in `adastack.lab.exact`."""
RUN = "run"


def register_kind(name: str) -> Callable[[Kind], Kind]:
    """Makes a function known as a kind of job.

    It is given the job's settings, a folder to write to and a progress, and returns a result that
    JSON can hold. Workers are processes of their own: a kind that they must find without
    importing your code first is named ``"package.module:function"`` and needs no registering.
    """

    def register(function: Kind) -> Kind:
        KINDS[name] = function
        return function

    return register


def kind_of(name: str) -> Kind:
    """The function that computes a kind of job.

    Raises:
        ValueError: If there is none.
    """
    module, colon, function = name.partition(":")
    if colon:
        found: Kind = getattr(importlib.import_module(module), function)
        return found
    if name not in KINDS:
        importlib.import_module("adastack.lab.exact")
    if name not in KINDS:
        raise ValueError(f"expected a kind of job of {', '.join(sorted(KINDS))}, actual: {name!r}")
    return KINDS[name]


def perform(job: Job, folder: Path, progress: Progress) -> Document:
    """Computes what a folder lacks of its job, and returns the content of ``done.json``.

    The folder must be held (see `Store.claim`). What is damaged is thrown away and computed anew.
    ``seconds`` are of computing, so that what else a machine does says nothing about a job.
    """
    document = _sound(job, folder)
    if document is None:
        began = time.process_time() - seconds_before(folder)
        result = kind_of(job.kind)(_asked(job), folder, progress)
        document = {
            "job": as_document(Job(job.kind, job.settings)),
            "result": to_jsonable(result),
            "meaning": meaning_of(job),
            "versions": versions(),
            "machine": machine(),
            "seconds": time.process_time() - began,
            "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }
        document = _write(folder, job, document)
    tests = missing_evaluations(document, job)
    for index, evaluation in enumerate(tests, start=1):
        progress.update(int(job.settings["steps"]), test=index, tests=len(tests))
        began = time.process_time()
        _evaluate(job, folder, evaluation)
        about = {
            "meaning": meaning_of_test(evaluation.task),
            "seconds": time.process_time() - began,
        }
        document["files"].pop(evaluation_file(evaluation), None)
        document["tests"] = {**document.get("tests", {}), evaluation.address: about}
        document = _write(folder, job, document)
    (folder / FAILURE).unlink(missing_ok=True)
    return document


def _asked(job: Job) -> Mapping[str, Any]:
    """The job's settings; for a training also the modules to import, which its run remembers."""
    if job.kind == "train" and job.imports:
        return {**job.settings, "imports": job.imports}
    return job.settings


def _sound(job: Job, folder: Path) -> Document | None:
    """What is finished; a damaged folder is emptied."""
    try:
        document = read_manifest(folder, job)
        if document is not None:
            check_files(folder, document)
    except DamagedFileError:
        empty(folder)
        return None
    return document


def _write(folder: Path, job: Job, document: Document) -> Document:
    write_manifest(folder, document)
    written = read_manifest(folder, job)
    assert written is not None
    return written


def empty(folder: Path) -> None:
    """Removes what a job computed.

    ``done.json`` goes last: killed on the way, the folder is still known to be damaged, and what
    is left of it is not taken for a run to go on with.
    """
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name not in (DONE, JOB, PROGRESS):
            path.unlink()
    (folder / DONE).unlink(missing_ok=True)


@register_kind("train")
def _train(settings: Mapping[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    """Trains all seeds into ``run/``, from its checkpoint if there is one."""
    path = folder / RUN
    document = RunSpec(**settings).document()
    resumed = path.exists()
    try:
        result = _trained(document, path, progress)
    except (DamagedFileError, RunError):
        if not resumed:
            raise
        # Its checkpoint is damaged, or begun with settings that have changed since.
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
        result = _trained(document, path, progress)
    return {
        "seeds": result["seeds"],
        "trained_steps": result["trained_steps"],
        "settings": document["settings"],
    }


def _trained(document: dict[str, Any], path: Path, progress: Progress) -> dict[str, Any]:
    # Whether it has finished or failed is for the job's folder to say, so the run's does not.
    run = Run.resume(path, document)
    try:
        with run.held():
            session = make_session(document, resolve(document["task"]))
            return run_session(run, session, progress)
    except FloatingPointError as error:
        raise RuntimeError(str(error)) from None


def _evaluate(job: Job, folder: Path, evaluation: Evaluation) -> None:
    """Evaluates what was trained, on tasks that the job names, not its files."""
    resolve(job.settings["task"])
    task = None if evaluation.task == job.settings["task"] else evaluation.task
    found = evaluate(
        Run.open(folder / RUN),
        task=task,
        episodes=evaluation.episodes,
        greedy=evaluation.greedy,
        seed=evaluation.seed,
    )
    (folder / EVALUATIONS).mkdir(exist_ok=True)
    write_json(
        folder / evaluation_file(evaluation),
        {"evaluation": vars(evaluation), "seeds": to_jsonable(found["seeds"])},
    )
