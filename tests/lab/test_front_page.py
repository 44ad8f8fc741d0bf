"""The first page: every claim in one picture, and what is refuted in words."""

from dataclasses import replace

from adastack.lab import checks
from adastack.lab import claims as c
from adastack.lab.changes import REASONS, changes_page
from adastack.lab.claims import Claim, Effect, Verdict
from adastack.lab.effects_figure import MARKS
from adastack.lab.experiment import Analysis, Experiment
from adastack.lab.experiments import load_experiments
from adastack.lab.front_page import claims_picture, surprises
from adastack.lab.report_data import ExperimentReport, ReportData

RUNS = checks.solves("success", c.Arm("AS", {"preset": "paper"}), 0.9)
SAMPLED = Claim("a", "AS is above FS.", "Figure 1", c.all_of([RUNS], ""), reading="strictly")
EXACT = Claim(
    "b",
    "Two slots are enough.",
    "Table 2",
    c.all_of([checks.exactly("kappa", lambda row: None)], ""),
    why="Three are needed.",
)


def data(*verdicts):
    made = Experiment(
        sweep=lambda scale: [], analyse=lambda results: Analysis(), name="maze", title="The maze"
    )
    return ReportData("paper", [ExperimentReport(made, Analysis(), list(verdicts), [], [])], [], [])


def found(status, effect=None):
    return Verdict(status, "0.5 ± 0.1; more", "above", 1, 3, (), effect)


def test_every_claim_is_in_the_picture_with_its_verdict():
    shown = data(
        (SAMPLED, found("not shown", Effect(0.1, -0.2, 0.4))),
        (EXACT, found("refuted")),
        (replace(SAMPLED, sentence="x" * 300 + "."), found("needs runs")),
    )
    svg = claims_picture(shown).svg
    assert "The maze" in svg
    for claim, verdict in shown.reports[0].verdicts[:2]:
        assert f"{MARKS[verdict.status].sign}  {claim.sentence}" in svg
    assert "x" * 110 in svg
    assert "x" * 130 not in svg, "a line that is too long is cut"
    assert MARKS["refuted"].colour.lower() in svg
    assert MARKS["not shown"].colour.lower() in svg
    assert claims_picture(data()).svg == ""


def test_an_interval_is_drawn_where_it_is():
    def drawn(*effect):
        return claims_picture(data((SAMPLED, found("holds", Effect(*effect))))).svg

    assert drawn(0.1, 0.0, 0.4) != drawn(0.1, 0.0, 0.5)
    assert drawn(2.0, 1.5, 3.0) == drawn(5.0, 4.0, 9.0), "what is far is drawn at the edge"


def test_surprises_say_what_is_refuted_and_why():
    held = replace(SAMPLED, sentence="It learns.")
    ours = replace(EXACT, sentence="Ours.", ours=True)
    text = surprises(
        data(
            (SAMPLED, found("refuted")),
            (held, found("holds")),
            (ours, found("refuted")),
            (EXACT, found("refuted")),
        )
    )
    first, second, third = text.split("\n")
    parts = "Two slots are enough.", "(2 of 3 parts)", "Three are needed.", "[maze](maze/README.md)"
    assert all(part in first for part in parts)
    for part in ("AS is above FS.", "We find 0.5 ± 0.1.", "Read as: strictly."):
        assert part in second
    assert "Ours." in third
    assert "It learns." not in text
    assert surprises(data((held, found("holds")))) == "None of the claims is refuted."


def test_what_changed_is_listed_with_its_reason():
    names = ("demir-passive", "kept", "other", "gone", "new")
    verdicts = ("not shown", "holds", "not shown", "needs runs", "holds")
    shown = data(
        *(
            (replace(SAMPLED, id=name, sentence=f"{name}."), found(verdict))
            for name, verdict in zip(names, verdicts, strict=True)
        )
    )
    before = {"demir-passive": "fails", "kept": "holds", "other": "holds", "gone": "holds"}
    text = changes_page(shown, before)
    assert "Of 5 claims 1 have the verdict of the report before, 3 another one, and 1" in text
    assert "(1 holds)" in text
    assert "| refuted | not shown | demir-passive. | the interval spans 0: with two slots" in text
    assert "| holds | not shown | other. | the interval spans the bound |" in text
    assert "| holds | needs runs | gone. | its runs are not in the archive |" in text
    assert "kept." not in text
    assert "new." not in text


def test_every_reason_is_about_a_claim():
    known = {claim.id for experiment in load_experiments().values() for claim in experiment.claims}
    assert set(REASONS) <= known
