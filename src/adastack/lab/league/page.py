"""The league's page: which memory for which problem, in words, tables and pictures."""

from __future__ import annotations

from html import escape

from adastack.lab.experiment import Table
from adastack.lab.league.league import League
from adastack.lab.league.show import RULES, WORDS, sentences
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
        command: What makes the missing runs.
    """
    page = Page(report.experiment.title)
    page.raw(
        f'<p class="soft">{len(report.finished)} of {len(report.jobs)} runs finished · '
        f"{league.steps:,} steps, {league.seeds} seeds</p>"
    )
    page.markdown(report.experiment.page)
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


def _task_by_task(page: Page, table: Table) -> None:
    """A list, as reasons are too long for the cells of a table."""
    page.heading("Task by task")
    page.text(RULES)
    items = (
        f"<li><b>{escape(str(task))}</b> ({escape(str(what))}): take {escape(str(take))}. "
        f"{escape(str(why)[:1].upper() + str(why)[1:])}.</li>"
        for task, what, take, why in table.rows
    )
    page.raw(f"<ul>{''.join(items)}</ul>")
