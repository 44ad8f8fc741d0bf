"""The results folder: tables, figures and verdicts as small files that are the same every time."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from adastack.files import encode_json, write_json, write_whole
from adastack.lab.experiment import Table
from adastack.lab.findings import STATUSES, Chapter, Findings
from adastack.lab.report import BADGES, command_of
from adastack.viewer.svg import slim

OURS = (".csv", ".svg", ".json")


def write_results(findings: Findings, folder: Path) -> list[Path]:
    """Writes what is worth keeping of every experiment with a finished run.

    An experiment's folder holds a CSV file for each table, an SVG file for each figure and
    ``claims.json``; what an earlier report wrote there and this one does not is removed.

    Returns:
        The files, in order.
    """
    shown = [chapter for chapter in findings.chapters if chapter.finished]
    files = [path for chapter in shown for path in _write_chapter(chapter, folder)]
    machine = {**findings.machine, "libraries": findings.libraries}
    write_json(folder / "machine.json", machine)
    write_whole(folder / "README.md", _readme(findings, shown).encode())
    return [*files, folder / "machine.json", folder / "README.md"]


def _write_chapter(chapter: Chapter, folder: Path) -> list[Path]:
    place = folder / chapter.experiment.name
    place.mkdir(parents=True, exist_ok=True)
    contents = {f"{table.name}.csv": _csv(table) for table in chapter.analysis.tables}
    contents |= {
        f"{figure.name}.svg": f"{slim(figure.svg)}\n".encode()
        for figure in chapter.analysis.figures
    }
    contents["claims.json"] = encode_json(
        [
            {
                "id": claim.id,
                "claim": claim.sentence,
                "where": claim.where,
                "verdict": verdict.status,
                "measured": verdict.measured,
                "needed": verdict.needed,
            }
            for claim, verdict in chapter.verdicts
        ]
    )
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


def _readme(findings: Findings, shown: list[Chapter]) -> str:
    count, machine = findings.count, findings.machine
    parts = [
        "# Results",
        f"Scale: {findings.scale}. Of {count.total()} claims {count['holds']} hold, "
        f"{count['fails']} fail and {count['not enough runs']} lack runs. Computed on "
        f"{machine['cores']} cores of {machine['processor'] or machine['architecture']} with "
        f"{machine['memory'] or 'unknown'} memory; library versions are in "
        "[machine.json](machine.json).",
        "`adastack report --results results` writes this folder from the runs in a store.",
        "## Claims",
        _claims(findings),
    ]
    for chapter in shown:
        parts += _section(chapter, findings.scale)
    missing = [c.experiment.name for c in findings.chapters if not c.finished]
    if missing:
        parts += ["## Not run yet", ", ".join(missing)]
    return "\n\n".join(parts) + "\n"


def _claims(findings: Findings) -> str:
    rows = [
        "| verdict | claim | in the paper | measured | needed |",
        "| --- | --- | --- | --- | --- |",
    ]
    for status in STATUSES:
        for chapter in findings.chapters:
            for claim, verdict in chapter.verdicts:
                if verdict.status == status:
                    words = (claim.sentence, claim.where, verdict.measured, verdict.needed)
                    cells = [BADGES[status], *(word.replace("|", "\\|") for word in words)]
                    rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _section(chapter: Chapter, scale: str) -> list[str]:
    name = chapter.experiment.name
    state = f"{len(chapter.finished)} of {len(chapter.jobs)} runs finished"
    tables = [f"[{table.name}.csv]({name}/{table.name}.csv)" for table in chapter.analysis.tables]
    figures = [
        f"![{figure.caption}]({name}/{figure.name}.svg)" for figure in chapter.analysis.figures
    ]
    files = ", ".join([*tables, f"[claims.json]({name}/claims.json)"])
    return [
        f"## {chapter.experiment.title}",
        f"{chapter.experiment.where}; {state}. Tables: {files}.",
        f"    {command_of(name, scale)}",
        *figures,
    ]
