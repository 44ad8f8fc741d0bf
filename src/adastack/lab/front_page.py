"""The first page of the results: one picture of all claims, and what is surprising in words."""

from __future__ import annotations

from adastack.lab.claims import STATUSES, Claim, Verdict
from adastack.lab.effects_figure import MARKS, Effects, effects
from adastack.lab.experiment import Figure
from adastack.lab.report_data import ExperimentReport, ReportData

LONGEST = 116
"""Letters of a claim that fit the picture."""
CAPTION = (
    "Every claim by chapter. ✓ holds, ✗ is refuted, ~ is not shown, … needs runs. The dot is the "
    "part of the claim that is closest to its bound, with its 95% interval; squares are exact."
)


def claims_picture(data: ReportData) -> Figure:
    """All claims by chapter and verdict, each with its effect."""
    groups = {_title(report): _lines(report) for report in data.reports if report.verdicts}
    return Figure("claims", CAPTION, effects(groups))


def _title(report: ExperimentReport) -> str:
    count = report.count
    counts = "  ".join(f"{MARKS[s].sign} {count[s]}" for s in STATUSES if count[s])
    return f"{report.experiment.title}   {counts}"


def _lines(report: ExperimentReport) -> list[Effects]:
    return [
        Effects(_short(claim.sentence), found.status, found.effect, exact="exact" in claim.tags)
        for claim, found in report.verdicts
    ]


def _short(sentence: str) -> str:
    return sentence if len(sentence) <= LONGEST else f"{sentence[: LONGEST - 1].rstrip()}…"


def surprises(data: ReportData) -> str:
    """What is refuted and why, as Markdown: the paper's claims first, of them the exact ones."""
    found = [
        (claim, verdict, report.experiment.name)
        for report in data.reports
        for claim, verdict in report.verdicts
        if verdict.status == "refuted"
    ]
    found.sort(key=lambda each: (each[0].ours, "exact" not in each[0].tags))
    return "\n".join(_surprise(*each) for each in found) or "None of the claims is refuted."


def _surprise(claim: Claim, verdict: Verdict, name: str) -> str:
    worst = verdict.measured.split("; ")[0]
    parts = f" ({verdict.parts - verdict.held} of {verdict.parts} parts)" * (verdict.parts > 1)
    why = f" {claim.why}" if claim.why else ""
    reading = f" Read as: {claim.reading}." if claim.reading else ""
    return (
        f"- **Not so: “{claim.sentence}”**{parts} {claim.where}; [{name}]({name}/README.md). "
        f"We find {worst}.{why}{reading}"
    )
