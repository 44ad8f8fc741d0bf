"""The report: one HTML page that says which claims hold, and shows why."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence, Sized
from html import escape
from itertools import groupby
from typing import Any

from adastack.lab.claims import STATUSES, Claim, Verdict
from adastack.lab.episodes import Watched
from adastack.lab.experiment import Table
from adastack.lab.job import Job
from adastack.lab.live import duration, label
from adastack.lab.report_data import ExperimentReport, ReportData
from adastack.viewer.page import Page

BADGES = {
    "holds": "✓ holds",
    "refuted": "✗ refuted",
    "not shown": "~ not shown",
    "needs runs": "… needs runs",
}
NAMES = (
    "AS(k) is an adaptive stack of k slots, FS(k) a frame stack, Demir(k) a push/skip stack, + IM "
    "with its bonus for rare observations. κ is the number of slots that is enough for an adaptive "
    "stack, k* the number that the paper's oracle, a frame stack, has. “Robust”, and the "
    "presets of worlds, are settings of our own; all others are the paper's. “At 3” is a maze of "
    "length 3 or the like: what stands on the figure's axis."
)
NUMBERS = (
    "A claim holds if the 95% interval of each of its parts is on the right side of its bound. It "
    "is refuted if one is on the wrong side, at a level that allows for the number of parts. Else "
    "it is not shown, and would be decided by about so many seeds if the means stay as they are. "
    "Parts that could show nothing are left out and named. "
    "a ± b (n=5) is the mean of 5 seeds and their standard deviation; “apart by” is the 95% "
    "interval of the difference of two means: Welch's, or joined from Wilson's where seeds have "
    "two values only. In figures, lines on bars are one standard "
    "deviation and dots are seeds; light bands are one standard deviation, and dark bands or lines "
    "on points the 95% interval of the mean."
)
CLASSES = {"holds": "holds", "refuted": "fails", "not shown": "open", "needs runs": "open"}


def report_page(data: ReportData, episodes: Sequence[Watched] = (), store: str = "") -> Page:
    """The page.

    Args:
        data: What the experiments show.
        episodes: What is watched at the end.
        store: The store, as in ``--store``, if it is not the default.
    """
    page = Page("The paper's claims, put to the test")
    _summary(page, data)
    page.contents()
    # A trial decides next to nothing: what it drew is worth more than a list of open claims.
    if data.scale == "paper":
        _claims(page, data)
    for report in data.reports:
        _experiment(page, report, data.scale, store)
    if episodes:
        _episodes(page, episodes)
    if data.scale != "paper":
        _claims(page, data)
    _computed_with(page, data)
    return page


def command_of(name: str, scale: str, store: str = "") -> str:
    """The command that makes an experiment's runs."""
    place = f" --store {shlex.quote(store)}" if store else ""
    return f"adastack reproduce {name} --scale {scale}{place}"


def cell(value: str | float | int | None) -> str:
    """An entry of a table as text."""
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def missing_rows(jobs: Sequence[Job]) -> list[list[str]]:
    """What is missing, a row for all seeds of the same settings."""
    seeds: dict[tuple[str, ...], list[int]] = {}
    for job in jobs:
        s = job.settings
        options = dict(s.get("overrides", {}))
        if job.kind != "train":
            shown = ("task", "memory", "stack_size")
            options = {name: value for name, value in s.items() if name not in shown}
        words = ", ".join(f"{name} {value}" for name, value in sorted(options.items()))
        what = f"{s['algo']}, {s['preset']}" if job.kind == "train" else job.kind
        key = (
            s.get("task", "–"),
            s.get("memory", "–"),
            s.get("stack_size", "–"),
            what,
            words or "–",
        )
        seeds.setdefault(tuple(map(str, key)), []).extend(s.get("seeds", ()))
    return [[*key, _ranges(found)] for key, found in seeds.items()]


def _summary(page: Page, data: ReportData) -> None:
    count, reports = data.count, data.reports
    done = sum(not report.missing for report in reports)
    jobs = {job.address for report in reports for job in report.jobs}
    size = "the scale of the paper"
    if data.scale != "paper":
        size = "a small scale, as a trial: its trainings are too short to decide a claim"
    page.text(
        f"Experiments of the paper, run again at {size}. "
        "Whether a claim holds, is refuted or is not shown is decided by a test that stands beside "
        "it; where runs are missing it says so."
    )
    verdicts = {
        "claims hold": str(count["holds"]),
        "claims refuted": str(count["refuted"]),
        "not shown": str(count["not shown"]),
        "need runs": str(count["needs runs"]),
    }
    work = {
        "experiments complete": f"{done} of {len(reports)}",
        "runs finished": f"{len(data.finished)} of {len(jobs)}",
        "of computing": duration(data.seconds),
    }
    figures = verdicts | work if data.scale == "paper" else work | verdicts
    items = "".join(f"<li><b>{value}</b>{name}</li>" for name, value in figures.items())
    page.raw(f'<ul class="figures">{items}</ul>')


def _claims(page: Page, data: ReportData) -> None:
    page.heading("Claims")
    for text in (NAMES, NUMBERS):
        page.text(text)
    header = ("verdict", "claim", "measured", "needed", "experiment")
    rows = [
        _claim_row(header, claim, verdict, report.experiment.name)
        for status in STATUSES
        for report in data.reports
        for claim, verdict in report.verdicts
        if verdict.status == status
    ]
    head = "".join(f"<th>{name}</th>" for name in header)
    page.raw(
        f'<div class="scroll"><table class="prose claims"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _claim_row(header: Sequence[str], claim: Claim, verdict: Verdict, name: str) -> str:
    cells = (
        _badge(verdict),
        f'{escape(claim.sentence)} <span class="soft">{escape(said_about(claim))}</span>',
        _measured(f"{count_of(verdict)}{verdict.measured}"),
        escape(verdict.needed),
        f'<a href="#{escape(name)}">{escape(name)}</a>',
    )
    # On a narrow screen rows become cards, and the names of the columns stand in them.
    inner = "".join(
        f'<td data-name="{column}">{value}</td>'
        for column, value in zip(header, cells, strict=True)
    )
    return f'<tr id="claim-{escape(claim.id)}">{inner}</tr>'


def said_about(claim: Claim) -> str:
    """Where the claim is from, and what its tags say."""
    return "; ".join((claim.where, *claim.tags))


def count_of(verdict: Verdict) -> str:
    """How many parts hold, and how many seeds would decide it, before what was measured."""
    count = f"{verdict.held} of {verdict.parts} parts; " if verdict.parts > 1 else ""
    if verdict.status != "not shown" or verdict.effect is None:
        return count
    seeds = "more than 1000" if verdict.seeds is None else f"about {verdict.seeds}"
    return f"{count}{seeds} seeds would decide it; "


def _measured(text: str) -> str:
    """A line for each check; all but the first two are folded away."""
    lines = [escape(line) for line in text.split("; ")]
    shown, folded = "<br>".join(lines[:2]), lines[2:]
    if len(folded) < 2:
        return "<br>".join(lines)
    more = "<br>".join(folded)
    return f"{shown}<details><summary>{len(folded)} more</summary>{more}</details>"


def _badge(verdict: Verdict) -> str:
    return f'<span class="badge {CLASSES[verdict.status]}">{BADGES[verdict.status]}</span>'


def _experiment(page: Page, report: ExperimentReport, scale: str, store: str) -> None:
    experiment, total = report.experiment, len(report.jobs)
    page.heading(experiment.title, experiment.name)
    page.raw(
        f'<p class="soft">{escape(experiment.where)} · {len(report.finished)} of {total} runs '
        f"finished · {duration(report.seconds)} of computing</p>"
    )
    page.markdown(experiment.page)
    if scale == "paper":
        _verdicts(page, report)
    if report.finished:
        for figure in report.analysis.figures:
            page.svg(figure.svg, figure.caption)
        for table in report.analysis.tables:
            _table(page, table)
    else:
        page.text("No run has finished yet.")
    if scale != "paper":
        _verdicts(page, report, fold=True)
    _missing(page, report)
    page.code(command_of(experiment.name, scale, store))


def _verdicts(page: Page, report: ExperimentReport, fold: bool = False) -> None:
    """The verdicts; ``fold`` hides claims that need runs behind their number."""
    items: list[str] = []
    waiting: list[str] = []
    for claim, verdict in report.verdicts:
        link = f'<a href="#claim-{escape(claim.id)}">{escape(claim.sentence)}</a>'
        place = waiting if fold and verdict.status == "needs runs" else items
        place.append(f"<li>{_badge(verdict)} {link}</li>")
    page.raw(f'<ul class="verdicts">{"".join(items)}</ul>')
    if waiting:
        count = "1 claim needs" if len(waiting) == 1 else f"{len(waiting)} claims need"
        page.raw(f"<details><summary>{count} runs</summary>")
        page.raw(f'<ul class="verdicts">{"".join(waiting)}</ul></details>')


def _table(page: Page, table: Table) -> None:
    rows = [[cell(value) for value in row] for row in table.rows]
    page.table(list(table.header), rows, table.caption or table.name)


def _missing(page: Page, report: ExperimentReport) -> None:
    if report.missing:
        page.raw(f"<details><summary>{_runs(report.missing)} missing</summary>")
        header = ["task", "memory", "k", "learner", "settings", "seeds"]
        page.table(header, missing_rows(report.missing))
        page.raw("</details>")
    if report.failed:
        page.raw(f"<details open><summary>{_runs(report.failed)} failed</summary>")
        names = {job.address: label(job) for job in report.missing}
        rows = [[names[address], why] for address, why in report.failed.items()]
        page.table(["run", "reason"], rows)
        page.raw("</details>")


def _episodes(page: Page, episodes: Sequence[Watched]) -> None:
    page.heading("Watch them remember", "episodes")
    page.text(
        "The best seed of a finished run, playing what it has learned. The framed slot is what the "
        "agent sees now, the others are what it kept; a red cross marks what was evicted."
    )
    for _, rivals in groupby(episodes, lambda watched: watched.title.partition(": ")[0]):
        shown = list(rivals)
        for watched in shown:
            if watched.episode is None:
                page.raw(f'<p class="soft">{escape(watched.title)}: {escape(watched.problem)}</p>')
        played = {each.title: each.episode for each in shown if each.episode is not None}
        if played:
            page.episodes(played)


def _computed_with(page: Page, data: ReportData) -> None:
    page.heading("Computed with", "machine")
    _side_by_side(page, "machine", "", data.machines)
    _side_by_side(page, "library", "version", data.libraries)


def _side_by_side(page: Page, what: str, one: str, found: Sequence[Mapping[str, str]]) -> None:
    """A table of what runs were computed with; a column for each set of values."""
    names = list(dict.fromkeys(name for each in found for name in each))
    columns = [f"runs, set {i + 1}" for i in range(len(found))]
    rows = [[name, *(each.get(name, "–") for each in found)] for name in names]
    page.table([what, *(columns if len(columns) > 1 else [one])], rows)


def _ranges(numbers: Sequence[int]) -> str:
    """Integers as ranges: ``0-4, 7``."""
    parts: list[list[int]] = []
    for number in sorted(set(numbers)):
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    words = [str(p[0]) if len(p) == 1 else f"{p[0]}-{p[-1]}" for p in parts]
    return ", ".join(words) or "–"


def _runs(found: Sized) -> str:
    return "1 run" if len(found) == 1 else f"{len(found)} runs"


def summary_of(data: ReportData) -> dict[str, Any]:
    """The report in numbers."""
    return {
        "scale": data.scale,
        "claims": {status: data.count[status] for status in STATUSES},
        "experiments": {
            report.experiment.name: {
                "runs": len(report.jobs),
                "finished": len(report.finished),
                "failed": len(report.failed),
                "claims": {claim.id: verdict.status for claim, verdict in report.verdicts},
            }
            for report in data.reports
        },
    }
