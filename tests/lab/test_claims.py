"""Checks on seeds whose answer is known."""

import numpy as np
import pytest

from adastack.lab import checks
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
    assert status(checks.above("score", A, B), Fake(a=HIGH, b=LOW)) == "holds"
    assert status(checks.above("score", A, B), Fake(a=LOW, b=HIGH)) == "refuted"
    noisy = [0.0, 1.0, 0.0, 1.0, 0.0]
    assert status(checks.above("score", A, B), Fake(a=noisy, b=LOW)) == "not shown"
    assert status(checks.below("score", A, B), Fake(a=LOW, b=HIGH)) == "holds"
    assert status(checks.above("score", A, B, margin=0.95), Fake(a=HIGH, b=LOW)) == "not shown"
    assert status(checks.above("score", A, B, margin=1.2), Fake(a=HIGH, b=LOW)) == "refuted"
    same = Fake(a=[1.0] * 5, b=[1.0] * 5)
    assert status(checks.above("score", A, B), same) == "refuted", "as high is not higher"


def test_what_is_not_shown_says_how_many_seeds_would_do():
    """With four times the seeds the interval is half as wide."""
    noisy, flat = [0.0, 1.0, 0.2, 0.8, 0.3], [0.25, 0.26, 0.24, 0.25, 0.26]
    verdict = c.all_of([checks.above("score", A, B)], "")(Fake(a=noisy, b=flat))
    assert verdict.status == "not shown"
    assert 5 < verdict.seeds < 100
    more = Fake(a=noisy * (verdict.seeds // 5 + 1), b=flat * (verdict.seeds // 5 + 1))
    assert status(checks.above("score", A, B), more) == "holds"
    equal = Fake(a=[0.0, 1.0] * 5, b=[1.0, 0.0] * 5)
    assert c.all_of([checks.above("score", A, B)], "")(equal).seeds is None


def test_seeds_that_solve_or_do_not_are_counted():
    """By Wilson: 4 of 4 are more than half, 3 of 3 may not be."""
    arms = [arm("a", least=3)]
    for good, count, expected in (
        *((4, 4, "holds"), (3, 3, "not shown"), (9, 10, "holds"), (7, 10, "not shown")),
        *((0, 4, "refuted"), (0, 3, "not shown"), (3, 10, "not shown"), (1, 10, "refuted")),
    ):
        results = Fake(a=[1.0] * good + [0.5] * (count - good))
        assert status(checks.solves("score", *arms, 0.99), results) == expected
        opposite = {"holds": "refuted", "refuted": "holds"}.get(expected, expected)
        assert status(checks.unsolved("score", *arms, 0.99), results) == opposite


def test_near_allows_a_share():
    assert status(checks.near("score", A, B), Fake(a=[0.91] * 5, b=[1.0] * 5)) == "holds"
    assert status(checks.near("score", A, B), Fake(a=[0.89] * 5, b=[1.0] * 5)) == "refuted"
    assert status(checks.near("score", A, B, slack=0.2), Fake(a=[0.89] * 5, b=[1.0] * 5)) == "holds"
    assert status(checks.near("score", A, B), Fake(a=[2.0] * 5, b=[1.0] * 5)) == "holds"
    noisy = [0.85, 0.95, 0.9, 0.97, 0.88]
    assert status(checks.near("score", A, B), Fake(a=noisy, b=[1.0] * 5)) == "not shown"


def test_an_oracle_that_learned_nothing_is_no_measure():
    nothing = [0.01, -0.02, 0.0, 0.03, -0.01]
    verdict = c.all_of([checks.near("score", A, B)], "")(Fake(a=nothing, b=nothing))
    assert (verdict.status, verdict.parts) == ("not shown", 0)
    assert "b is not above chance" in verdict.left_out[0]
    both = c.all_of([checks.near("score", A, B), checks.near("score", A, A)], "")
    assert both(Fake(a=HIGH, b=nothing))[0] == "holds", "the other part decides"
    assert both(Fake(a=HIGH, b=nothing)).held == both(Fake(a=HIGH, b=nothing)).parts == 1


def test_what_was_not_learned_cannot_be_generalised():
    check = checks.given(checks.above("score", A, B), A, "score", 0.9)
    assert status(check, Fake(a=HIGH, b=LOW)) == "holds"
    assert check(Fake(a=LOW, b=HIGH), 1).status == "empty"
    assert check(Fake(a=HIGH), 1) is None


def test_no_more_allows_a_share_of_the_second():
    assert status(checks.no_more("score", A, B), Fake(a=[1.09] * 5, b=[1.0] * 5)) == "holds"
    # 10% of the second, not of the first.
    assert status(checks.no_more("score", A, B), Fake(a=[1.105] * 5, b=[1.0] * 5)) == "refuted"
    assert (
        status(checks.no_more("score", A, B, slack=0.2), Fake(a=[1.105] * 5, b=[1.0] * 5))
        == "holds"
    )
    assert status(checks.no_more("score", A, B), Fake(a=[0.1] * 5, b=[1.0] * 5)) == "holds"


def test_a_near_miss_is_seen_as_one():
    check = checks.near("score", A, B)
    assert check(Fake(a=[0.8951] * 5, b=[1.0] * 5), 1).text.endswith(", ratio 0.895")
    assert "ratio" not in check(Fake(a=[0.5] * 5, b=[-1.0] * 5), 1).text


def test_a_check_says_what_it_is_about():
    check = checks.about("The maze", checks.between("score", arm("a", tested="elsewhere"), 0.5))
    text = check(Fake(a=[1.0] * 5), 1).text
    assert text == "The maze, a, tested on elsewhere: 1 ± 0 (n=5) [1, 1]"
    assert check(Fake(), 1) is None


def test_alike_and_between():
    assert status(checks.alike("score", [A, B]), Fake(a=[0.96] * 5, b=[1.0] * 5)) == "holds"
    assert status(checks.alike("score", [A, B]), Fake(a=[0.9] * 5, b=[1.0] * 5)) == "refuted"
    assert status(checks.between("score", A, 0.5, 0.7), Fake(a=[0.6] * 5)) == "holds"
    assert status(checks.between("score", A, 0.5, 0.7), Fake(a=[0.8] * 5)) == "refuted"
    spread = [0.4, 0.6, 0.7, 0.5, 0.6]
    assert status(checks.between("score", A, 0.5, 0.7), Fake(a=spread)) == "not shown"


def test_rising_and_falling():
    arms = [arm(name) for name in "abc"]
    grows = Fake(a=[0.1, 0.12, 0.1, 0.11, 0.1], b=[0.5] * 5, c=[0.9, 1, 1, 1, 1])
    assert status(checks.rising("score", arms), grows) == "holds"
    assert status(checks.falling("score", arms), grows) == "refuted"
    assert status(checks.falling("score", arms[::-1]), grows) == "holds"
    dips = Fake(a=[0.1] * 5, b=[0.05] * 5, c=[0.9] * 5)
    assert status(checks.rising("score", arms), dips) == "refuted"
    assert status(checks.rising("score", arms, slack=0.1), dips) == "holds"
    noise = Fake(a=[0.1, 0.9, 0.4, 0.6, 0.5], b=[0.5, 0.2, 0.9, 0.4, 0.6], c=[0.6, 0.3, 0.8] * 2)
    assert status(checks.rising("score", arms), noise) == "not shown"
    # A step down that may be chance does not refute a clear rise.
    wobbles = Fake(a=[0.1, 0.2, 0.1, 0.2, 0.3], b=[0.0, 0.3, 0.05, 0.25, 0.2], c=[0.9] * 5)
    assert status(checks.rising("score", arms), wobbles) == "holds"


@pytest.mark.parametrize(
    "results",
    [Fake(), Fake(a=HIGH), Fake(a=HIGH, b=LOW[:2]), Fake(steps=999_999, a=HIGH, b=LOW)],
    ids=["none", "one side", "too few seeds", "too short"],
)
def test_too_few_runs_prove_nothing(results):
    for check in (
        checks.above("score", A, B),
        checks.near("score", A, B),
        checks.alike("score", [A, B]),
        checks.rising("score", [A, B]),
    ):
        assert status(check, results) == "needs runs"


def test_three_seeds_have_an_interval():
    """It is wide: a difference that five seeds show, three may not."""
    assert status(checks.above("score", A, B), Fake(a=HIGH[:3], b=LOW[:3])) == "holds"
    few, more = [0.9, 0.5, 0.7], [0.9, 0.5, 0.7] * 2
    assert status(checks.above("score", A, B), Fake(a=few, b=[0.4, 0.2, 0.3])) == "not shown"
    assert status(checks.above("score", A, B), Fake(a=more, b=[0.4, 0.2, 0.3] * 2)) == "holds"


def test_few_seeds_that_agree_are_not_certain():
    same, other = [1.0] * 3, [0.5] * 3
    found = checks.above("score", A, B)(Fake(a=same, b=other), 1)
    assert (found.status, found.seeds) == ("not shown", 5)
    assert status(checks.between("score", A, low=0.9), Fake(a=same)) == "not shown"
    assert status(checks.above("score", A, B), Fake(a=[1.0] * 5, b=[0.5] * 5)) == "holds"
    assert status(checks.above("score", A, B), Fake(a=[1.0, 0.99, 1.0], b=other)) == "holds"


def test_an_arm_reads_its_test():
    results = Fake(a=HIGH)
    assert np.array_equal(arm("a", tested="elsewhere").values(results, "score"), HIGH)
    assert arm("a", tested="nowhere").values(results, "score") is None


def test_a_verdict_shows_all_that_was_measured():
    test = c.all_of(
        [checks.between("score", A, 0.5), checks.between("score", B, 0.5)], "both above a half"
    )
    verdict = test(Fake(a=HIGH, b=LOW))
    assert verdict.status == "refuted"
    assert (verdict.held, verdict.parts) == (1, 2)
    assert "a: 0.97 ±" in verdict.measured
    assert "b: 0.05 ±" in verdict.measured
    assert verdict.measured.startswith("b: "), "what fails is told first"
    assert verdict.needed == "both above a half"
    some = test(Fake(a=HIGH))
    assert some.status == "needs runs"
    assert "a: 0.97 ±" in some.measured
    assert test(Fake(b=LOW)).status == "refuted", "whatever the other part will say"


def test_many_parts_are_not_more_easily_refuted_than_one():
    """A part that alone is just beyond its bound may be chance among twenty."""
    low = Fake(a=[0.47, 0.44, 0.46, 0.4, 0.48])
    check = checks.between("score", A, low=0.5)
    assert c.all_of([check], "")(low).status == "refuted"
    assert c.all_of([check] * 20, "")(low).status == "not shown"


def test_the_effect_is_that_of_the_weakest_part():
    test = c.all_of([checks.above("score", A, B), checks.between("score", A, low=0.5)], "")
    verdict = test(Fake(a=HIGH, b=LOW))
    mean, other = np.mean(HIGH), np.mean(LOW)
    assert verdict.effect.value == pytest.approx(min(mean - other, mean - 0.5) / mean)
    assert verdict.effect.low < verdict.effect.value < verdict.effect.high


def test_few_steps_are_counted_from_above():
    quick, slow = Fake(a=[10.0] * 9 + [1000.0]), Fake(a=[10.0] + [1000.0] * 9)
    assert status(checks.within("score", A, 100), quick) == "holds"
    assert status(checks.within("score", A, 100), slow) == "refuted"
    assert "9 of 10 seeds need at most 100" in checks.within("score", A, 100)(quick, 1).text


def test_a_claim_says_whose_it_is_and_how_it_is_tested():
    published = arm("a", seeds="0 to 9")
    object.__setattr__(published, "where", {"memory": "a", "preset": "paper"})
    test = c.all_of([checks.solves("score", published, 0.9)], "")
    assert Claim("x", "", "", test, reading="strictly").tags == (
        *("the paper's claim", "published settings", "strictly", "sampled", "seeds 0 to 9"),
    )
    ours = Claim("x", "", "", c.all_of([checks.above("score", published, B)], ""), ours=True)
    assert ours.tags[:2] == ("our claim", "published settings and our settings")
    exact = c.all_of([checks.exactly("kappa", lambda row: checks.judged(True, ""))], "")
    assert Claim("x", "", "", exact).tags == ("the paper's claim", "exact")


def test_exact_answers_are_judged():
    check = checks.exactly("kappa", lambda row: checks.judged(row["kappa"] == 2, str(row["kappa"])))
    assert status(check, Fake(exact=[{"kappa": 2}])) == "holds"
    assert status(check, Fake(exact=[{"kappa": 3}])) == "refuted"
    assert status(check, Fake()) == "needs runs"


def test_evaluate_keeps_the_order():
    claims = [Claim(name, "", "", c.all_of([], "")) for name in "xyz"]
    assert [claim.id for claim, _ in c.evaluate(claims, Fake())] == ["x", "y", "z"]
