"""The league's page: which memory for which problem, in words, tables and pictures."""

from __future__ import annotations

from html import escape

from adastack.lab.experiment import Table
from adastack.lab.league.league import League, family_of
from adastack.lab.league.search import settings_in_words
from adastack.lab.league.show import RULES, WORDS, sentences
from adastack.lab.league.words import UNDECIDED
from adastack.lab.report import cell, missing_rows
from adastack.lab.report_data import ExperimentReport
from adastack.lab.results import Results
from adastack.viewer.page import Page


def league_page(report: ExperimentReport, results: Results, league: League, command: str) -> Page:
    """Everything on one page.

    Args:
        report: The experiment, with its analysis.
        results: The runs it rests on.
        league: Who took part, and where.
        command: What makes the missing runs, and the page again.
    """
    page = Page(report.experiment.title)
    page.raw(
        f'<p class="soft">{len(report.finished)} of {len(report.jobs)} runs finished · '
        f"{league.steps:,} steps, {league.seeds} seeds</p>"
    )
    page.markdown(report.experiment.page)
    page.text(settings_in_words(_memories(results, league)))
    page.heading("In words")
    for sentence in sentences(results, league):
        page.text(sentence)
    for figure in report.analysis.figures:
        page.svg(figure.svg, figure.caption)
    tables = {table.name: table for table in report.analysis.tables}
    if WORDS in tables:
        _task_by_task(page, tables.pop(WORDS))
    for table in tables.values():
        rows = [[cell(value) for value in row] for row in table.rows]
        page.table(list(table.header), rows, table.caption)
    if report.missing:
        page.heading("Missing runs")
        header = ["task", "memory", "k", "learner", "settings", "seeds"]
        page.table(header, missing_rows(report.missing))
    page.code(command)
    return page


def _memories(results: Results, league: League) -> dict[str, list[str]]:
    """Which memories were asked for, by family of tasks."""
    return {
        family_of(point.task): [memory.label for memory in point.memories]
        for point in league.study.shown(results)
    }


def taken(memory: str) -> str:
    """What to do, in words, where a memory was found or was not."""
    return memory if memory == UNDECIDED else f"take {memory}"


def _task_by_task(page: Page, table: Table) -> None:
    """A list, as reasons are too long for the cells of a table."""
    page.heading("Task by task")
    page.text(RULES)
    items = (
        f"<li><b>{escape(str(task))}</b> ({escape(str(what))}): {escape(taken(str(take)))}. "
        f"{escape(str(why)[:1].upper() + str(why)[1:])}.</li>"
        for task, what, take, why in table.rows
    )
    page.raw(f"<ul>{''.join(items)}</ul>")
