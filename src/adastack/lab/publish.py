"""The results folder: tables, figures and verdicts as small files that are the same every time."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from adastack.files import encode_json, read_json, write_json, write_whole
from adastack.lab.changes import changes_page
from adastack.lab.claims import STATUSES
from adastack.lab.earlier import earlier_page, earlier_verdicts, keep_earlier, runs_behind
from adastack.lab.experiment import Table
from adastack.lab.front_page import CAPTION, claims_picture, surprises
from adastack.lab.report import BADGES, NAMES, NUMBERS, command_of, count_of, said_about
from adastack.lab.report_data import ExperimentReport, ReportData
from adastack.viewer.svg import slim

OURS = (".csv", ".svg", ".json")
BEFORE = "before.json"
"""The verdicts of an earlier report, by claim; with it, ``changes.md`` says what is another now."""


def write_results(data: ReportData, folder: Path) -> list[Path]:
    """Writes tables, figures and verdicts of every experiment with a finished run.

    An experiment's folder holds a CSV file for each table, an SVG file for each figure,
    ``claims.json`` and a README. What an earlier report wrote from more runs is kept: see
    `adastack.lab.earlier`.

    Returns:
        The files, in order.
    """
    shown = [report for report in data.reports if report.finished]
    files = [path for report in shown for path in _write_experiment(report, data.scale, folder)]
    computed = {"machines": data.machines, "libraries": data.libraries}
    write_json(folder / "machine.json", computed)
    names = ["machine.json", "README.md"]
    if data.count:
        names.insert(1, "claims.svg")
        write_whole(folder / "claims.svg", f"{slim(claims_picture(data).svg)}\n".encode())
    if (folder / BEFORE).exists():
        names.insert(1, "changes.md")
        before = read_json(folder / BEFORE)
        write_whole(folder / "changes.md", changes_page(data, before).encode())
    write_whole(folder / "README.md", _readme(data, folder).encode())
    return [*files, *(folder / name for name in names)]


def _write_experiment(report: ExperimentReport, scale: str, folder: Path) -> list[Path]:
    place = folder / report.experiment.name
    place.mkdir(parents=True, exist_ok=True)
    keep_earlier(place, len(report.finished))
    contents = {f"{table.name}.csv": _csv(table) for table in report.analysis.tables}
    contents |= {
        f"{figure.name}.svg": f"{slim(figure.svg)}\n".encode() for figure in report.analysis.figures
    }
    contents["claims.json"] = encode_json(
        [
            {
                "id": claim.id,
                "claim": claim.sentence,
                "where": claim.where,
                "tags": list(claim.tags),
                "verdict": verdict.status,
                "parts": [verdict.held, verdict.parts],
                "left_out": list(verdict.left_out),
                "effect": None if verdict.effect is None else list(verdict.effect),
                "seeds_to_decide": verdict.seeds,
                "measured": verdict.measured,
                "needed": verdict.needed,
            }
            for claim, verdict in report.verdicts
        ]
    )
    contents["README.md"] = _page(report, scale, place).encode()
    for old in place.iterdir():
        if old.suffix in OURS and old.name not in contents:
            old.unlink()
    for name, content in contents.items():
        write_whole(place / name, content)
    return [place / name for name in contents]


def _csv(table: Table) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.header)
    writer.writerows(["" if value is None else value for value in row] for row in table.rows)
    return text.getvalue().encode()


def _readme(data: ReportData, folder: Path) -> str:
    """The first page: which claims hold, with links to the experiments."""
    shown = [report for report in data.reports if _has_page(report, folder)]
    count = data.count
    parts = [
        "# Results",
        f"Scale: {data.scale}. Of {count.total()} claims {count['holds']} hold, "
        f"{count['refuted']} are refuted, {count['not shown']} are not shown (more seeds would "
        f"decide) and {count['needs runs']} need runs. Computed on "
        f"{_computers(data)}; library versions are in [machine.json](machine.json).",
        "`adastack report --results results` writes this folder from the archive in "
        "[evidence](evidence) and the runs in a store.",
        *([f"![{CAPTION}](claims.svg)"] if count else []),
        *(
            ["What [changed](changes.md) since the report before, and why."]
            if (folder / BEFORE).exists()
            else []
        ),
        "## Surprises",
        "What is refuted, and why where we know.",
        surprises(data),
        "## Experiments",
        "Each has a page: what was run, its claims with what was measured, figures and tables.",
        _experiments(shown, folder),
    ]
    missing = [c.experiment.name for c in data.reports if c not in shown]
    if missing:
        parts += [f"Not run yet: {', '.join(missing)}."]
    parts += ["## Claims", _claims(data, folder)]
    parts += ["## Names and numbers", NAMES, NUMBERS]
    return "\n\n".join(parts) + "\n"


def _has_page(report: ExperimentReport, folder: Path) -> bool:
    """Whether this report or an earlier one has written a page."""
    return bool(report.finished) or runs_behind(folder / report.experiment.name) > 0


def _computers(data: ReportData) -> str:
    return " and on ".join(
        f"{each['cores']} cores of {each['processor'] or each['architecture']} with "
        f"{each['memory'] or 'unknown'} memory"
        for each in data.machines
    )


def _experiments(shown: list[ExperimentReport], folder: Path) -> str:
    rows = []
    for report in shown:
        each, count = report.experiment, report.count
        runs = f"{len(report.finished)} of {len(report.jobs)}"
        earlier = earlier_page(folder / each.name, len(report.finished))
        if earlier is not None:
            page = earlier.relative_to(folder).as_posix()
            runs += f" ([earlier]({page}/README.md): {runs_behind(earlier)})"
        numbers = [str(count[status]) for status in STATUSES]
        rows.append([f"[{each.title}]({each.name}/README.md)", each.where, runs, *numbers])
    header = ["experiment", "in the paper", "runs finished", *STATUSES]
    return _markdown(header, rows)


def _claims(data: ReportData, folder: Path) -> str:
    rows = []
    for status in STATUSES:
        for report in data.reports:
            name = report.experiment.name
            link = f"[{name}]({name}/README.md)" if _has_page(report, folder) else name
            earlier = _earlier(report, folder / name)
            rows += [
                [
                    BADGES[status] + earlier.get(claim.id, ""),
                    claim.sentence,
                    said_about(claim),
                    link,
                ]
                for claim, verdict in report.verdicts
                if verdict.status == status
            ]
    return _markdown(["verdict", "claim", "in the paper, and how it is tested", "experiment"], rows)


def _earlier(report: ExperimentReport, place: Path) -> dict[str, str]:
    """What stands beside the verdict of a claim that an earlier report could decide."""
    said = earlier_verdicts(place, len(report.finished))
    now = {claim.id: verdict.status for claim, verdict in report.verdicts}
    undecided = STATUSES[-1]
    return {
        name: f" (earlier report: {verdict})"
        for name, verdict in said.items()
        if now.get(name) == undecided and verdict not in (undecided, "not enough runs")
    }


def _page(report: ExperimentReport, scale: str, place: Path) -> str:
    """An experiment's own page."""
    each, analysis, earlier = report.experiment, report.analysis, _earlier(report, place)
    claims = [
        [
            BADGES[found.status] + earlier.get(claim.id, ""),
            claim.sentence,
            _lines(f"{count_of(found)}{found.measured}"),
            found.needed,
            said_about(claim),
        ]
        for claim, found in report.verdicts
    ]
    tables = [f"[{table.name}.csv]({table.name}.csv)" for table in analysis.tables]
    kept = earlier_page(place, len(report.finished))
    more = kept and (
        f"An [earlier report]({kept.name}/README.md) rests on {runs_behind(kept)} runs, more than "
        "are there now."
    )
    parts = [
        f"# {each.title}",
        f"{each.where}; {len(report.finished)} of {len(report.jobs)} runs finished. Made by",
        f"    {command_of(each.name, scale)}",
        *([more] if more else []),
        each.page.strip(),
        "## Claims",
        "What [names and numbers](../README.md#names-and-numbers) mean.",
        _markdown(["verdict", "claim", "measured", "needed", "in the paper"], claims),
        "## Figures and tables",
        *(f"![{figure.caption}]({figure.name}.svg)" for figure in analysis.figures),
        f"As files: {', '.join([*tables, '[claims.json](claims.json)'])}.",
    ]
    return "\n\n".join(parts) + "\n"


def _lines(measured: str) -> str:
    """A line for each check."""
    return measured.replace("; ", "<br>")


def _markdown(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    cells = [[word.replace("|", "\\|") for word in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)
