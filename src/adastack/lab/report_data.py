"""The content of a report: what all experiments show, gathered from a store or an archive."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from adastack.extras import versions
from adastack.files import DamagedFileError
from adastack.lab.claims import Claim, Verdict, evaluate
from adastack.lab.evidence import Evidence
from adastack.lab.experiment import Analysis, Experiment, Scale
from adastack.lab.job import Job
from adastack.lab.machine import machine
from adastack.lab.results import Results
from adastack.lab.store import Store


@dataclass(frozen=True)
class ExperimentReport:
    """One experiment and how far it is."""

    experiment: Experiment
    analysis: Analysis
    verdicts: list[tuple[Claim, Verdict]]
    jobs: list[Job]
    missing: list[Job]
    failed: dict[str, str] = field(default_factory=dict)
    """Why jobs failed, by address."""
    seconds: float = 0.0
    """How long its finished jobs took, one after the other."""

    @property
    def finished(self) -> list[Job]:
        """The jobs that have a result."""
        missing = {job.address for job in self.missing}
        return [job for job in self.jobs if job.address not in missing]

    @property
    def count(self) -> Counter[str]:
        """How many claims have each verdict."""
        return Counter(verdict.status for _, verdict in self.verdicts)


@dataclass(frozen=True)
class ReportData:
    """All experiments, and what they were computed with."""

    scale: str
    reports: list[ExperimentReport]
    machines: list[dict[str, str]]
    """The computers that the finished jobs ran on."""
    libraries: list[dict[str, str]]
    """The versions the finished jobs were made with; more than one set if they differ."""
    seconds: float = 0.0
    """How long the finished jobs took; jobs that experiments share count once."""

    @property
    def count(self) -> Counter[str]:
        """How many claims have each verdict."""
        return sum((report.count for report in self.reports), Counter())

    @property
    def finished(self) -> list[Job]:
        """Every job that has a result, once."""
        found = {job.address: job for report in self.reports for job in report.finished}
        return list(found.values())


def gather(
    store: Store | Evidence, experiments: Mapping[str, Experiment], scale: Scale
) -> ReportData:
    """Reads what is finished and puts every claim to the test.

    Args:
        store: Where the runs are; nothing is computed that is not there.
        experiments: What to report, by name.
        scale: The scale whose runs are counted.
    """
    reports = [_experiment(store, each, scale) for each in experiments.values()]
    data = ReportData(scale.name, reports, [], [])
    documents = _documents(store, data.finished)
    return replace(
        data,
        machines=_different(documents, "machine") or [machine()],
        libraries=_different(documents, "versions") or [versions()],
        seconds=sum(float(each["seconds"]) for each in documents),
    )


def _different(documents: list[dict[str, Any]], name: str) -> list[dict[str, str]]:
    """What documents say under a name, each once, the most frequent first."""
    said = Counter(json.dumps(each[name], sort_keys=True) for each in documents if name in each)
    return [json.loads(text) for text, _ in sorted(said.items(), key=lambda each: -each[1])]


def _experiment(store: Store | Evidence, experiment: Experiment, scale: Scale) -> ExperimentReport:
    results = Results(store, experiment.sweep(scale))
    # Figures of nothing would take long to draw.
    begun = len(results.missing) < len(results.jobs)
    analysis = experiment.analyse(results) if begun else Analysis()
    verdicts = evaluate(experiment.claims, results)
    # Asked again: reading has shown what is damaged.
    missing = results.missing
    reasons = {job.address: store.reason(job) for job in missing}
    failed = {address: reason for address, reason in reasons.items() if reason is not None}
    report = ExperimentReport(experiment, analysis, verdicts, results.jobs, missing, failed)
    seconds = sum(float(each["seconds"]) for each in _documents(store, report.finished))
    return replace(report, seconds=seconds)


def _documents(store: Store | Evidence, jobs: Iterable[Job]) -> list[dict[str, Any]]:
    found = []
    for job in jobs:
        try:
            found.append(store.document(job))
        except (DamagedFileError, KeyError):
            continue
    return found
