"""Filling an archive from stores and other archives."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from adastack.files import DamagedFileError, write_whole
from adastack.lab.archive import Archive
from adastack.lab.archive_file import RUN, body_of, encode, job_of, merged_bodies
from adastack.lab.job import Job
from adastack.lab.manifest import DONE, Document
from adastack.lab.store import Store
from adastack.tasks.spec import parse_spec


@dataclass
class Merged:
    """What became of the jobs of all sources, by their addresses."""

    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    """Archived before, by an older computation or with fewer tests."""
    kept: list[str] = field(default_factory=list)
    """Archived before, as they are."""
    unasked: list[str] = field(default_factory=list)
    """Finished, but no job that is wanted."""
    unfinished: list[str] = field(default_factory=list)
    """Wanted, but without a result."""
    refused: dict[str, str] = field(default_factory=dict)
    """Damaged, or no longer what it was; with the reason."""


def merge(sources: Iterable[str | Path], archive: Archive, wanted: Iterable[Job]) -> Merged:
    """Adds what is finished in stores and archives to an archive, in any order.

    Args:
        sources: Folders.
        archive: Where it goes.
        wanted: The jobs to keep; others are left where they are.

    Raises:
        ValueError: If a source is no folder.
    """
    found, asked = Merged(), {job.address for job in wanted}
    for path in map(Path, sources):
        if not path.is_dir():
            raise ValueError(f"expected a store or an archive, actual: {path}")
        archive.root.mkdir(parents=True, exist_ok=True)
        other = Archive(path)
        if other.addresses():
            _merge_archive(other, archive, asked, found)
        else:
            _merge_store(Store(path), archive, asked, found)
    return found


def _merge_archive(other: Archive, archive: Archive, asked: Collection[str], found: Merged) -> None:
    for address in other.addresses():
        body = other.body(address)
        if body is None:
            found.refused[address] = other.damaged.get(address) or other.changed[address]
        elif address not in asked:
            found.unasked.append(address)
        else:
            _put(archive, body, found)


def _merge_store(store: Store, archive: Archive, asked: Collection[str], found: Merged) -> None:
    jobs, names = {job.address: job for job in store.jobs()}, _Names(store)
    for address in (folder.name for folder in store.folders()):
        if address not in jobs:
            found.refused[address] = "its folder has not the name of its job"
            continue
        try:
            if not (store.folder(jobs[address]) / DONE).exists():
                found.unfinished += [address] * (address in asked)
            elif address not in asked:
                found.unasked.append(address)
            elif _holds(archive, jobs[address], store.document(jobs[address]), names):
                found.kept.append(address)
            else:
                _put(archive, body_of(store, jobs[address]), found)
        except DamagedFileError as error:
            found.refused[address] = str(error).replace(f"{store.root / address}{os.sep}", "")


class _Names:
    """What is made of the curves of a training today; the same for all of a task's kind."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, list[set[str]]] = {}

    def of(self, job: Job) -> list[set[str]]:
        """The names of means and curves."""
        kind = parse_spec(job.settings["task"]).name
        if kind not in self._known:
            self._known[kind] = [set(self._store.means(job)), set(self._store.curves(job))]
        return self._known[kind]


def _holds(archive: Archive, job: Job, document: Document, names: _Names) -> bool:
    """Whether a computation is archived with all that is made of it: its curves need no reading."""
    body = archive.body(job.address)
    if body is None or any(body.get(name) != document.get(name) for name in RUN):
        return False
    if job.kind != "train":
        return True
    tested = all(test.address in body["tests"] for test in job.evaluate)
    return tested and [set(body["means"]), set(body["curves"])] == names.of(job)


def _put(archive: Archive, body: Document, found: Merged) -> None:
    address = job_of(body).address
    before = archive.body(address)
    merged = body if before is None else merged_bodies(before, body)
    if merged == before:
        found.kept.append(address)
        return
    (found.updated if archive.path(address).exists() else found.added).append(address)
    write_whole(archive.path(address), encode(merged))
    archive.forget(address)
