"""Verdicts before and after: what changed since an earlier report, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from adastack.lab.claims import Claim, Verdict
from adastack.lab.report_data import ReportData

RENAMED = {"fails": "refuted", "not enough runs": "needs runs"}
"""Verdicts of reports that knew three."""
COUNTED = "seeds are counted, more than half must solve it, where it was a mean over all of them"
WEIGHED = "the bonus weighs 1, as in the authors' code, where it was 0.1"
SAME = "the interval spans 0: with two slots both memories have the same choices"
LEFT_OUT = "lengths at which FS(k*) is not above chance measure nothing and are left out"
HELD_OUT = "seeds on which settings were chosen no longer count"
REASONS = {
    "consistency-machines-exploring": "no task is consistent with exploration, so it tells nothing",
    "cost-transformer": "the table gives lower bounds, so a faster growth is none against it",
    "cube-training": HELD_OUT,
    "cube-testing": HELD_OUT,
    "demir-active": SAME,
    "demir-active-bonus": WEIGHED,
    "demir-passive": SAME,
    "demir-passive-bonus": WEIGHED,
    "fixed-active-oracle": LEFT_OUT,
    "fixed-passive-oracle": LEFT_OUT,
    "generalisation-ppo-active": "lengths that no seed of AS(2) learned are left out",
    "headline-published": COUNTED,
    "length-any-length": COUNTED,
    "length-harder": "regret is counted after the step, so that a perfect agent has none",
    "memory-any-size": COUNTED,
    "memory-regret": "regret is counted after the step, so that a perfect agent has none",
    "minimal-xormaze-frame": "k* is an order that is enough, not the smallest",
    "tabular-memory-use": "regret is counted after the step, so that a perfect agent has none",
    "xormaze-bonus": WEIGHED,
    "xormaze-greedy": f"{COUNTED}; with 400 seeds instead of 20",
    "xormaze-solves": "the return is that of an episode, where it was a mean over windows",
}
"""What changed in a claim's test or runs since the report with three verdicts."""


def changes_page(data: ReportData, before: Mapping[str, str]) -> str:
    """A table of the claims whose verdict is another than it was, as Markdown.

    Args:
        data: The report.
        before: The verdict of each claim in an earlier one, by the claim's id.
    """
    earlier = {name: RENAMED.get(verdict, verdict) for name, verdict in before.items()}
    found = {claim.id: (claim, verdict) for r in data.reports for claim, verdict in r.verdicts}
    rows = [
        f"| {earlier[name]} | {verdict.status} | {claim.sentence} | {_reason(claim, verdict)} |"
        for name, (claim, verdict) in found.items()
        if name in earlier and verdict.status != earlier[name]
    ]
    new = [(claim, verdict) for name, (claim, verdict) in found.items() if name not in earlier]
    same = sum(name in earlier and v.status == earlier[name] for name, (_, v) in found.items())
    parts = [
        "# Verdicts before and after",
        f"Of {len(found)} claims {same} have the verdict of the report before, {len(rows)} another "
        f"one, and {len(new)} are new ({_counts(new)}). A claim that failed counted as refuted.",
        "\n".join(["| before | now | claim | why |", "| --- | --- | --- | --- |", *rows]),
    ]
    return "\n\n".join(parts) + "\n"


def _reason(claim: Claim, verdict: Verdict) -> str:
    if verdict.status == "needs runs":
        return "its runs are not in the archive"
    if claim.id in REASONS:
        return REASONS[claim.id]
    if verdict.status == "not shown":
        return "the interval spans the bound"
    return f"{verdict.held} of {verdict.parts} parts hold, each by an interval, on runs made anew"


def _counts(claims: list[tuple[Claim, Verdict]]) -> str:
    count = Counter(verdict.status for _, verdict in claims)
    return ", ".join(f"{number} {status}" for status, number in sorted(count.items())) or "none"
