"""Checks on seeds whose answer is known."""

import numpy as np
import pytest

from adastack.lab import claims as c
from adastack.lab.claims import Claim


class Fake:
    """Results made by hand: rows with a value each."""

    def __init__(self, steps=c.PAPER_STEPS, exact=(), **groups):
        self._rows = [
            {"memory": name, "trained_steps": steps, "score": value, "tested": "elsewhere"}
            for name, values in groups.items()
            for value in values
        ]
        self._exact = list(exact)

    def rows(self, **where):
        return [row for row in self._rows if row["memory"] == where["memory"]]

    def evaluations(self, **where):
        return [
            row for row in self.rows(memory=where["memory"]) if row["tested"] == where["tested"]
        ]

    def exact(self, kind, **where):
        return self._exact


def arm(name, **rest):
    return c.Arm(name, {"memory": name}, **rest)


HIGH, LOW = [0.9, 1.0, 1.0, 0.95, 1.0], [0.1, 0.0, 0.05, 0.1, 0.0]
A, B = arm("a"), arm("b")


def status(check, results):
    return c.all_of([check], "")(results).status


def test_above_needs_more_than_the_noise():
    assert status(c.above("score", A, B), Fake(a=HIGH, b=LOW)) == "holds"
    assert status(c.above("score", A, B), Fake(a=LOW, b=HIGH)) == "fails"
    noisy = [0.0, 1.0, 0.0, 1.0, 0.0]
    assert status(c.above("score", A, B), Fake(a=noisy, b=LOW)) == "fails"
    assert status(c.below("score", A, B), Fake(a=LOW, b=HIGH)) == "holds"
    assert status(c.above("score", A, B, margin=0.95), Fake(a=HIGH, b=LOW)) == "fails"


def test_near_allows_a_share():
    assert status(c.near("score", A, B), Fake(a=[0.91] * 5, b=[1.0] * 5)) == "holds"
    assert status(c.near("score", A, B), Fake(a=[0.89] * 5, b=[1.0] * 5)) == "fails"
    assert status(c.near("score", A, B, slack=0.2), Fake(a=[0.89] * 5, b=[1.0] * 5)) == "holds"
    assert status(c.near("score", A, B), Fake(a=[2.0] * 5, b=[1.0] * 5)) == "holds"


def test_no_more_allows_a_share_of_the_second():
    assert status(c.no_more("score", A, B), Fake(a=[1.09] * 5, b=[1.0] * 5)) == "holds"
    # 10% of the second, not of the first.
    assert status(c.no_more("score", A, B), Fake(a=[1.105] * 5, b=[1.0] * 5)) == "fails"
    assert status(c.no_more("score", A, B, slack=0.2), Fake(a=[1.105] * 5, b=[1.0] * 5)) == "holds"
    assert status(c.no_more("score", A, B), Fake(a=[0.1] * 5, b=[1.0] * 5)) == "holds"


def test_a_near_miss_is_seen_as_one():
    check = c.near("score", A, B)
    assert check(Fake(a=[0.8951] * 5, b=[1.0] * 5)).text.endswith(", ratio 0.895")
    assert "ratio" not in check(Fake(a=[0.5] * 5, b=[-1.0] * 5)).text


def test_a_check_says_what_it_is_about():
    check = c.about("The maze", c.between("score", arm("a", tested="elsewhere"), 0.5))
    assert check(Fake(a=[1.0] * 5)).text == "The maze, a, tested on elsewhere: 1 ± 0 (n=5)"
    assert check(Fake()) is None


def test_alike_and_between():
    assert status(c.alike("score", [A, B]), Fake(a=[0.96] * 5, b=[1.0] * 5)) == "holds"
    assert status(c.alike("score", [A, B]), Fake(a=[0.9] * 5, b=[1.0] * 5)) == "fails"
    assert status(c.between("score", A, 0.5, 0.7), Fake(a=[0.6] * 5)) == "holds"
    assert status(c.between("score", A, 0.5, 0.7), Fake(a=[0.8] * 5)) == "fails"


def test_rising_and_falling():
    arms = [arm(name) for name in "abc"]
    grows = Fake(a=[0.1, 0.12, 0.1, 0.11, 0.1], b=[0.5] * 5, c=[0.9, 1, 1, 1, 1])
    assert status(c.rising("score", arms), grows) == "holds"
    assert status(c.falling("score", arms), grows) == "fails"
    assert status(c.falling("score", arms[::-1]), grows) == "holds"
    dips = Fake(a=[0.1] * 5, b=[0.05] * 5, c=[0.9] * 5)
    assert status(c.rising("score", arms), dips) == "fails"
    assert status(c.rising("score", arms, slack=0.1), dips) == "holds"


@pytest.mark.parametrize(
    "results",
    [Fake(), Fake(a=HIGH), Fake(a=HIGH, b=LOW[:4]), Fake(steps=999_999, a=HIGH, b=LOW)],
    ids=["none", "one side", "too few seeds", "too short"],
)
def test_too_few_runs_prove_nothing(results):
    for check in (
        c.above("score", A, B),
        c.near("score", A, B),
        c.alike("score", [A, B]),
        c.rising("score", [A, B]),
    ):
        assert status(check, results) == "not enough runs"


def test_an_arm_reads_its_test():
    results = Fake(a=HIGH)
    assert np.array_equal(arm("a", tested="elsewhere").values(results, "score"), HIGH)
    assert arm("a", tested="nowhere").values(results, "score") is None


def test_a_verdict_shows_all_that_was_measured():
    test = c.all_of([c.between("score", A, 0.5), c.between("score", B, 0.5)], "both above a half")
    verdict = test(Fake(a=HIGH, b=LOW))
    assert verdict.status == "fails"
    assert "a: 0.97 ±" in verdict.measured
    assert "b: 0.05 ±" in verdict.measured
    assert verdict.measured.startswith("b: "), "what fails is told first"
    assert verdict.needed == "both above a half"
    some = test(Fake(a=HIGH))
    assert some.status == "not enough runs"
    assert "a: 0.97 ±" in some.measured


def test_exact_answers_are_judged():
    check = c.exactly("kappa", lambda row: c.Found(row["kappa"] == 2, str(row["kappa"])))
    assert status(check, Fake(exact=[{"kappa": 2}])) == "holds"
    assert status(check, Fake(exact=[{"kappa": 3}])) == "fails"
    assert status(check, Fake()) == "not enough runs"


def test_evaluate_keeps_the_order():
    claims = [Claim(name, "", "", c.all_of([], "")) for name in "xyz"]
    assert [claim.id for claim, _ in c.evaluate(claims, Fake())] == ["x", "y", "z"]
