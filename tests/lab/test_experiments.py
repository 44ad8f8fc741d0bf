"""The experiments: valid jobs, and analyses and claims that stand on any store."""

import pytest

from adastack.algorithms import settings_for
from adastack.lab.claims import NOTHING, evaluate
from adastack.lab.execute import kind_of, perform
from adastack.lab.experiment import SCALES
from adastack.lab.experiments import choose_experiments, load_experiments
from adastack.lab.job import Job, merged
from adastack.lab.results import Results
from adastack.lab.store import Store
from adastack.lab.studies.study import Memory, Point, Study
from adastack.lab.studies.study_figures import best_model
from adastack.memory import get_rule
from adastack.progress import Silent
from adastack.tasks import resolve
from lab.made_up import MadeUp

NAMES = [
    *(
        "headline",
        "best-checkpoint",
        "tabular",
        "xormaze",
        "demir",
        "length-scaling",
        "memory-scaling",
    ),
    *("fixed-length", "lstm", "transformer", "grpo", "generalisation", "fetch", "minigrid"),
    *("cube", "cartpole", "world-settings", "minimal-memory", "consistency", "theorems", "cost"),
    *("league", "league-lengths"),
]
EXACT = {"minimal-memory", "consistency", "cost"}
ALL = load_experiments()


def check_task(spec):
    """Raises unless there is such a task; long mazes are shortened."""
    task = resolve(spec)
    if task.kind == "finite":
        long = task.options.get("length", 0) > 20
        (task.with_options(length=20) if long else task).finite()


def check_training(settings):
    check_task(settings["task"])
    get_rule(settings["memory"])
    settings_for(settings["algo"], settings["preset"], settings["overrides"])
    assert settings["stack_size"] >= 1
    assert len(set(settings["seeds"])) == len(settings["seeds"]) > 0


def test_every_experiment_is_found():
    assert list(ALL) == NAMES, "in the order in which they are told"
    assert all(experiment.name == name for name, experiment in ALL.items())


def test_experiments_are_chosen_in_their_order():
    assert list(choose_experiments(["cost", "headline"])) == ["headline", "cost"]
    assert list(choose_experiments(["cost", "all"])) == NAMES
    for names in ([], ["headline", "fixed_length"], ["all", "none"]):
        with pytest.raises(ValueError, match=r"expected experiments of headline, .*, or all"):
            choose_experiments(names)


def test_claims_have_names_of_their_own():
    ids = [claim.id for experiment in ALL.values() for claim in experiment.claims]
    assert len(set(ids)) == len(ids) >= 30
    for experiment in ALL.values():
        assert experiment.claims
        assert all(claim.sentence.endswith(".") and claim.where for claim in experiment.claims)
        assert "**The paper**" in experiment.page
        assert "**Reading it.**" in experiment.page


@pytest.mark.parametrize("scale", SCALES.values(), ids=lambda scale: scale.name)
@pytest.mark.parametrize("name", NAMES)
def test_jobs_can_be_run(name, scale):
    jobs = merged(ALL[name].sweep(scale))
    assert jobs
    for job in jobs:
        kind_of(job.kind)
        if job.kind == "train":
            check_training(job.settings)
        elif "task" in job.settings:
            check_task(job.settings["task"])
        for test in job.evaluate:
            check_task(test.task)


def test_addresses_tell_jobs_apart():
    jobs = merged(job for e in ALL.values() for s in SCALES.values() for job in e.sweep(s))
    assert len({job.address for job in jobs}) == len(jobs)
    assert all(jobs[i].settings != jobs[j].settings for i in range(50) for j in range(i))


def test_experiments_share_their_runs():
    tests = {job.address for job in ALL["generalisation"].sweep(SCALES["paper"])}
    trained = {
        job.address
        for name in ("tabular", "fixed-length", "length-scaling", "lstm", "transformer")
        for job in ALL[name].sweep(SCALES["paper"])
        # Further seeds of a run, where the usual ones leave a claim open, are not tested elsewhere.
        if min(job.settings["seeds"]) < 20
    }
    assert tests == trained


def test_smoke_is_small():
    jobs = merged(job for e in ALL.values() for job in e.sweep(SCALES["smoke"]))
    assert all(job.settings["steps"] <= 10_000 for job in jobs if job.kind == "train")
    assert all(len(job.settings["seeds"]) <= 2 for job in jobs if job.kind == "train")


@pytest.mark.parametrize("scale", SCALES.values(), ids=lambda scale: scale.name)
@pytest.mark.parametrize("name", NAMES)
def test_an_empty_store_says_not_enough_runs(name, scale, tmp_path):
    results = Results(Store(tmp_path / "lab"), ALL[name].sweep(scale))
    analysis = ALL[name].analyse(results)
    assert not analysis.figures
    assert results.missing == results.jobs
    for _, verdict in evaluate(ALL[name].claims, results):
        assert verdict.status == "needs runs"
        assert verdict.needed


def test_a_small_store_is_drawn(tmp_path):
    store = Store(tmp_path / "lab")
    experiment = ALL["generalisation"]
    wanted = {"passive-tmaze:length=2,continual=true", "passive-tmaze:length=3,continual=true"}
    jobs = [
        job for job in merged(experiment.sweep(SCALES["smoke"])) if job.settings["task"] in wanted
    ]
    assert len(jobs) == 7
    for job in jobs:
        with store.claim(job) as folder:
            perform(job, folder, Silent())
    results = Results(store, experiment.sweep(SCALES["smoke"]))
    names = {figure.name for figure in experiment.analyse(results).figures}
    assert names == {"q-passive-optimality", "q-passive-abstraction"}
    plain = ALL["tabular"].analyse(Results(store, ALL["tabular"].sweep(SCALES["smoke"])))
    assert {figure.name for figure in plain.figures} == {"passive-bars", "passive-curves"}
    assert not {"active", "active-comparison"} & {table.name for table in plain.tables}
    table = next(table for table in plain.tables if table.name == "passive")
    filled = [row for row in table.rows if row[4] == "2 of 20"]
    assert len(filled) == 8
    for _, verdict in evaluate(experiment.claims, results):
        assert verdict.status == "needs runs"  # Two seeds of 2000 steps prove nothing.


def draw_nothing(monkeypatch):
    """Most of the time goes into letters and lines, which have tests of their own."""
    for part in ("svg_of", "_bar_panel", "_line_panel", "_band"):
        monkeypatch.setattr(f"adastack.lab.figures.{part}", lambda *_: "<svg></svg>")


@pytest.mark.parametrize("drawn", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", sorted(set(NAMES) - EXACT))
def test_a_full_store_decides_every_claim_about_runs(name, drawn, monkeypatch):
    """Claims and drawings ask for runs that the sweep has."""
    if not drawn:
        draw_nothing(monkeypatch)
    results = Results(MadeUp(), ALL[name].sweep(SCALES["paper"]))
    sampled = [claim for claim in ALL[name].claims if "exact" not in claim.tags]
    assert sampled
    for claim, verdict in evaluate(sampled, results):
        assert verdict.status != "needs runs", claim.id
        assert verdict.measured != NOTHING
    shown = ALL[name].analyse(results)
    assert shown.figures
    assert all(
        row[4].split()[0] != "0" for t in shown.tables if "seeds" in t.header for row in t.rows
    )


def test_every_test_of_a_world_has_its_row(monkeypatch):
    draw_nothing(monkeypatch)
    shown = ALL["fetch"].analyse(Results(MadeUp(), ALL["fetch"].sweep(SCALES["paper"])))
    table = next(table for table in shown.tables if table.name == "mlp-tests")
    # Three memories with 7 periods and 6 numbers of visible steps, and the adaptive one's million.
    assert len(table.rows) == 3 * (7 + 6) + 1
    assert [row[1:3] for row in table.rows if "1000000" in row[0]] == [["AS(κ)", 4]]
    assert all(len(row[4].split(", ")) == 5 for row in table.rows)
    assert {"mlp-tests", "lstm-tests"} <= {figure.name for figure in shown.figures}


def test_exact_claims_come_true(tmp_path):
    """The claims on the XorMaze: three slots are enough, and four frames, so five are, too."""
    store, experiment = Store(tmp_path / "lab"), ALL["minimal-memory"]
    jobs = [job for job in experiment.sweep(SCALES["paper"]) if job.settings["task"] == "xormaze"]
    for job in jobs:
        with store.claim(job) as folder:
            perform(job, folder, Silent())
    verdicts = {
        claim.id: verdict.status
        for claim, verdict in evaluate(experiment.claims, Results(store, jobs))
    }
    assert verdicts["minimal-xormaze"] == "holds"
    assert verdicts["minimal-xormaze-frame"] == verdicts["minimal-xormaze-fewer"] == "holds"
    assert verdicts["minimal-adaptive"] == "needs runs"


def test_what_is_proved_is_tried(tmp_path):
    """A part of each exact claim of the chapter; the rest of its runs are missing."""
    store, experiment = Store(tmp_path / "lab"), ALL["theorems"]
    exact = [job for job in experiment.sweep(SCALES["paper"]) if job.kind == "kappa"]
    for job in exact:
        with store.claim(job) as folder:
            perform(job, folder, Silent())
    found = {
        claim.id: verdict for claim, verdict in evaluate(experiment.claims, Results(store, exact))
    }
    assert found["theorems-proposition-1"].status == "holds"
    assert found["theorems-proposition-1"].held == 5
    assert found["theorems-kappa-exists"].status == "refuted"
    assert "while 'hear-left' repeats" in found["theorems-kappa-exists"].measured
    assert found["theorems-2"].status == found["theorems-1-episodic"].status == "needs runs"


@pytest.mark.parametrize(
    ("task", "k", "optimal"), [("heaven-hell", 2, True), ("xormaze", 3, False)]
)
def test_where_q_learning_ends(task, k, optimal, tmp_path):
    found = kind_of("td")({"task": task, "k": k}, tmp_path, Silent())
    assert found["optimal"] is optimal
    assert (found["value"] == pytest.approx(found["optimum"])) is optimal


def test_every_kind_is_known():
    with pytest.raises(ValueError, match="kind of job"):
        kind_of("nothing")
    assert kind_of("td") is not kind_of("kappa")
    assert Job("td", {"task": "office", "k": 2}).steps == 0


def test_the_best_model_is_that_of_the_training_not_of_the_test():
    class Chosen:
        def rows(self, **where):
            returns = {0: 0.2, 1: 0.9, 2: 0.9}
            return [{"seed": s, "end_return": r} for s, r in returns.items()]

        def evaluations(self, **where):
            assert where["tested"] == "longer"
            return [{"seed": s, "success": v} for s, v in enumerate((1.0, 0.4, 0.6))]

    study = Study("", (Point("p", "xormaze", (Memory("AS(k)", "adaptive", 2),)),), smoke=())
    (point,) = study.points
    found = best_model(Chosen(), study, point, point.memories[0], "longer", "success")
    assert found == 0.4, "the first of those with the highest return while training"
    assert best_model(Results(MadeUp(), []), study, point, point.memories[0], "x", "y") is None
