"""The archive: the same bytes from any order of stores, and a report without a store."""

import json
import shutil

import numpy as np
import pytest

from adastack.cli import main
from adastack.commands import archive as commands
from adastack.commands.archive import wanted_jobs
from adastack.files import write_json
from adastack.lab import experiments, meaning
from adastack.lab.archive import EVIDENCE, Archive
from adastack.lab.archive_file import columns, decode, encode, rows_of
from adastack.lab.archiving import merge
from adastack.lab.curves import DRAWN, curve_means, thinned
from adastack.lab.evidence import Evidence
from adastack.lab.execute import perform
from adastack.lab.experiment import SCALES, Experiment
from adastack.lab.job import Evaluation, Job
from adastack.lab.manifest import to_jsonable, write_manifest
from adastack.lab.publish import write_results
from adastack.lab.report_data import gather
from adastack.lab.results import Results
from adastack.lab.runner import run
from adastack.lab.store import Store
from adastack.lab.studies.study import Memory, Point, Study
from adastack.lab.studies.study_figures import show_study
from adastack.progress import Silent
from adastack.tabular import settings as presets

TASK, LONGER = "passive-tmaze:length=3", "passive-tmaze:length=8"
POINT = Point(
    "3", TASK, (Memory("AS(κ)", "adaptive", 2), Memory("FS(κ)", "frame", 2)), tests=(LONGER,)
)
STUDY = Study("length", (POINT,), smoke=(POINT,), algo="q", seeds=4, batch=2, steps=20_000)
METRICS = [f"metric {i}" for i in range(12)]
KAPPA = Job("kappa", {"task": "xormaze"})
SMALL = Experiment(
    name="small",
    title="A small maze",
    where="nowhere",
    sweep=lambda scale: [*STUDY.jobs(scale), KAPPA],
    analyse=lambda results: show_study(results, STUDY, "A maze"),
)
JOBS = SMALL.sweep(SCALES["paper"])


def compute(root, jobs):
    store = Store(root)
    for job in jobs:
        with store.claim(job) as folder:
            perform(job, folder, Silent())
    return store


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """Two stores with different seeds, and one with all of them."""
    root = tmp_path_factory.mktemp("stores")
    first, second = JOBS[::2], JOBS[1::2]
    compute(root / "one", first)
    compute(root / "two", second)
    for name in ("one", "two"):
        shutil.copytree(root / name, root / "all", dirs_exist_ok=True)
    return root


@pytest.fixture(scope="module")
def archive(stores, tmp_path_factory):
    return archived(tmp_path_factory.mktemp("archive"), stores / "all")


@pytest.fixture
def only_small(monkeypatch):
    monkeypatch.setattr(experiments, "load_experiments", lambda: {"small": SMALL})


def archived(root, *sources):
    archive = Archive(root)
    merge(sources, archive, JOBS)
    return archive


def content(archive):
    return {path.name: path.read_bytes() for path in archive.root.iterdir()}


def test_stores_merge_to_the_same_bytes_in_any_order(stores, archive, tmp_path):
    one, two, whole = (stores / name for name in ("one", "two", "all"))
    assert len(content(archive)) == len(JOBS) == 5
    assert content(archived(tmp_path / "a", one, two)) == content(archive)
    assert content(archived(tmp_path / "b", two, one, whole)) == content(archive)
    halves = archived(tmp_path / "c", one).root, archived(tmp_path / "d", two).root
    assert content(archived(tmp_path / "e", *halves)) == content(archive)
    assert content(archived(tmp_path / "f", *reversed(halves))) == content(archive)


def test_the_archive_says_what_the_store_does(stores, archive):
    store = Store(stores / "all")
    train = JOBS[0]
    assert archive.jobs() == sorted(JOBS, key=lambda job: job.address)
    for job in JOBS:
        assert archive.is_finished(job)
        assert archive.result(job) == store.result(job)
        for name in ("seconds", "machine", "versions", "finished"):
            assert archive.document(job)[name] == store.document(job)[name]
    for ours, theirs in ((archive.means, store.means), (archive.curves, store.curves)):
        assert ours(train).keys() == theirs(train).keys()
        for name, values in theirs(train).items():
            assert np.array_equal(ours(train)[name], values, equal_nan=True)
    (test,) = train.evaluate
    assert archive.evaluation(train, test) == store.evaluation(train, test)
    both = Results(store, JOBS), Results(archive, JOBS)
    assert both[0].rows() == both[1].rows() != []
    assert both[0].evaluations() == both[1].evaluations() != []


def test_the_results_folder_is_the_same_without_a_store(stores, archive, tmp_path):
    nothing = Evidence(Store(tmp_path / "none"), archive)
    for source, name in ((Store(stores / "all"), "store"), (nothing, "archive")):
        (tmp_path / name).mkdir()
        write_results(gather(source, {"small": SMALL}, SCALES["paper"]), tmp_path / name)
    files = [p.relative_to(tmp_path / "store") for p in (tmp_path / "store").rglob("*.*")]
    assert {path.suffix for path in files} == {".svg", ".csv", ".json", ".md"}
    for path in files:
        theirs = (tmp_path / "archive" / path).read_bytes()
        assert (tmp_path / "store" / path).read_bytes() == theirs, path


def test_archived_jobs_are_not_run_again(archive, tmp_path):
    outcome = run(JOBS, Store(tmp_path / "lab"), workers=1, archive=archive)
    assert sorted(outcome.skipped) == archive.addresses()
    assert not outcome.finished


def test_a_job_without_a_test_that_is_asked_for_is_not_finished(archive):
    more = Job("train", JOBS[0].settings, (*JOBS[0].evaluate, Evaluation(TASK)))
    assert not archive.is_finished(more)
    assert archive.is_finished(JOBS[0])


def test_more_tests_are_added_to_the_same_run(stores, tmp_path):
    shutil.copytree(stores / "one", tmp_path / "lab")
    archive = archived(tmp_path / "archive", tmp_path / "lab")
    more = Job("train", JOBS[0].settings, (Evaluation(TASK),))
    compute(tmp_path / "lab", [more])
    found = merge([tmp_path / "lab", stores / "one"], archive, JOBS)
    assert found.updated == [more.address]
    assert found.kept.count(more.address) == 1
    both = Job("train", more.settings, (*JOBS[0].evaluate, *more.evaluate))
    assert Archive(archive.root).is_finished(both)


def test_curves_outlast_the_format_of_a_run(stores, archive, tmp_path):
    """A manifest vouches for the files of its job: a run of another version is archived, too."""
    shutil.copytree(stores / "one", tmp_path / "lab")
    store, job = Store(tmp_path / "lab"), JOBS[0]
    path, manifest = store.folder(job) / "run" / "checkpoint.json", store.document(job)
    write_json(path, {"slot": json.loads(path.read_text())["slot"], "checksum": "as it was"})
    (store.folder(job) / "run" / "settings.json").write_text("{}")
    files = {name: sum_ for name, sum_ in manifest["files"].items() if not name.startswith("run/")}
    write_manifest(store.folder(job), {**manifest, "files": files})
    again = archived(tmp_path / "archive", tmp_path / "lab")
    assert again.path(job.address).read_bytes() == archive.path(job.address).read_bytes()
    path.write_bytes(b"{}")
    found = merge([tmp_path / "lab"], Archive(tmp_path / "none"), JOBS)
    reason = "run/checkpoint.json: the content does not match its checksum"
    assert found.refused == {job.address: reason}


def test_new_means_of_the_same_run_are_added(stores, tmp_path, monkeypatch):
    """A claim may ask for something new of curves that are still in a store."""
    archive = archived(tmp_path / "archive", stores / "one")
    before, halved = content(archive), lambda metrics: {"half": curve_means(metrics)["auc_reward"]}
    monkeypatch.setattr("adastack.lab.store.curve_means", halved)
    found = merge([stores / "one"], Archive(archive.root), JOBS)
    trained = sorted(job.address for job in JOBS[::2] if job.kind == "train")
    assert sorted(found.updated) == trained
    means = Archive(archive.root).means(JOBS[0])
    assert {"half", "auc_reward"} <= set(means)
    assert means["half"].tolist() == means["auc_reward"].tolist()
    (tmp_path / "before").mkdir()
    for name, text in before.items():
        (tmp_path / "before" / name).write_bytes(text)
    orders = ([tmp_path / "before", archive.root], [archive.root, tmp_path / "before"])
    joined = [content(archived(tmp_path / str(i), *each)) for i, each in enumerate(orders)]
    assert joined[0] == joined[1] == content(archive)


def test_the_newer_of_two_computations_is_kept(stores, tmp_path):
    job = JOBS[0]
    old = archived(tmp_path / "old", stores / "one")
    shutil.copytree(stores / "one", tmp_path / "lab")
    Store(tmp_path / "lab").remove(job.address)
    again = compute(tmp_path / "lab", [job])
    new = archived(tmp_path / "new", tmp_path / "lab")
    assert old.document(job)["seconds"] != new.document(job)["seconds"]
    joined = [archived(tmp_path / str(i), *each) for i, each in enumerate(
        ([old.root, new.root], [new.root, old.root]))]  # fmt: skip
    assert content(joined[0]) == content(joined[1])
    latest = max((old, new), key=lambda each: each.document(job)["finished"])
    if old.document(job)["finished"] != new.document(job)["finished"]:
        assert joined[0].document(job) == latest.document(job)
    assert again.result(job) == joined[0].result(job)


def test_a_job_whose_meaning_changed_no_longer_counts(archive, stores, tmp_path, monkeypatch):
    train = JOBS[0]
    monkeypatch.setitem(meaning.REVISIONS, "metric:memory_regret", 2)
    changed = Archive(archive.root)
    assert not changed.is_finished(train)
    assert changed.is_finished(KAPPA), "what does not rest on the metric still counts"
    assert changed.changed == {train.address: "metric memory_regret has changed since"}
    monkeypatch.setitem(meaning.REVISIONS, "kind:kappa", 2)
    assert not Archive(archive.root).is_finished(KAPPA)
    found = merge([stores / "all", archive.root], Archive(tmp_path / "new"), JOBS)
    assert set(found.refused) == {job.address for job in JOBS}
    assert not list((tmp_path / "new").iterdir())


def test_a_job_whose_preset_changed_no_longer_counts(archive, monkeypatch):
    settings = presets.settings_for("paper", "q", {"gamma": 0.5})
    monkeypatch.setattr(presets, "VALUE_PRESETS", {**presets.VALUE_PRESETS, "paper": settings})
    changed = Archive(archive.root)
    assert changed.jobs() == [KAPPA]
    assert set(changed.changed.values()) == {"the preset paper has changed since"}


def test_a_job_whose_task_changed_no_longer_counts(archive, monkeypatch):
    before = meaning.fingerprint(TASK)
    meaning._of_task.cache_clear()
    assert meaning.fingerprint(TASK) == before
    assert meaning.fingerprint(LONGER) != before
    assert meaning.fingerprint("cube:depth=2") is None
    assert meaning.fingerprint("passive-tmaze:length=1000000") is not None
    known = {TASK: before, LONGER: "other", "xormaze": meaning.fingerprint("xormaze")}
    monkeypatch.setattr(meaning, "fingerprint", known.get)
    changed = Archive(archive.root)
    assert not changed.is_finished(JOBS[0])
    assert LONGER in changed.changed[JOBS[0].address]
    assert changed.is_finished(Job("train", JOBS[0].settings)), "the training is what it was"
    known[TASK] = "other"
    assert Archive(archive.root).jobs() == [KAPPA]


def test_a_damaged_file_is_named_and_not_used(archive, tmp_path, capsys, only_small):
    shutil.copytree(archive.root, tmp_path / "evidence")
    broken = Archive(tmp_path / "evidence")
    path = broken.path(JOBS[0].address)
    path.write_bytes(path.read_bytes().replace(b'"seconds":', b'"seconds":1', 1))
    assert not broken.is_finished(JOBS[0])
    assert broken.is_finished(JOBS[1])
    assert main(["archive", "--into", str(tmp_path / "evidence")]) == 1
    said = capsys.readouterr().out
    assert f"damaged: {path}: the content does not match its checksum" in said.splitlines()
    assert "4 of 5 runs" in said
    again = merge([archive.root], broken, JOBS)
    assert again.updated == [JOBS[0].address]
    assert content(broken) == content(archive)


@pytest.mark.parametrize(
    "forge",
    [
        lambda body: body.pop("curves"),
        lambda body: body["means"].update({"return": "many"}),
        lambda body: body["curves"].update(step=[1, 2.5, None]),
        lambda body: body["result"].update(seeds={"seed": [0, 1], "return": [1]}),
        lambda body: body["result"].update(seeds=[3]),
        lambda body: body["result"].update(seeds={"seed": 3}),
        lambda body: next(iter(body["tests"].values())).update(meaning=True),
        lambda body: next(iter(body["tests"].values())).update(seconds="long"),
        lambda body: body.update(seconds=10**400),
        lambda body: body.update(machine={"processor": 3}),
    ],
)
def test_a_forged_file_is_damaged_alone(archive, tmp_path, forge):
    shutil.copytree(archive.root, tmp_path / "evidence")
    forged = Archive(tmp_path / "evidence")
    path = forged.path(JOBS[0].address)
    body = decode(path.read_bytes())
    forge(body)
    path.write_bytes(encode(body))
    assert not forged.is_finished(JOBS[0])
    assert JOBS[0].address in forged.damaged
    assert forged.is_finished(JOBS[1])


def test_a_bare_clone_reports_and_has_nothing_to_do(
    archive, tmp_path, capsys, only_small, monkeypatch
):
    shutil.copytree(archive.root, tmp_path / "results" / "evidence")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(commands, "EVIDENCE", EVIDENCE)
    assert main(["reproduce", "small", "--dry-run", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)["plan"]["all"]
    assert (plan["exist"], plan["to_do"]) == (5, 0)
    assert main(["report", "--results", "results", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["experiments"]["small"]["finished"] == 5
    assert "A maze" in (tmp_path / "report.html").read_text()
    assert (tmp_path / "results" / "small" / "bars.svg").exists()
    assert not (tmp_path / "lab").exists()


def test_a_command_archives_what_experiments_ask_for(stores, tmp_path, capsys, only_small):
    shutil.copytree(stores / "all", tmp_path / "lab")
    compute(tmp_path / "lab", [Job("kappa", {"task": "passive-tmaze:length=3"})])
    arguments = ["archive", str(tmp_path / "lab"), "--into", str(tmp_path / "evidence")]
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (len(found["added"]), len(found["unasked"]), found["finished"]) == (5, 1, 5)
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert "0 added, 0 updated, 5 kept, 0 unfinished" in said
    assert main(["archive", str(tmp_path / "nothing")]) == 2
    assert "expected a store or an archive" in capsys.readouterr().err


def test_rows_come_back_from_columns():
    rows = [{"a": 1, "b": {"c": None, "d": [1, 2]}}, {"a": 2.5, "b": {"c": 3, "d": []}}]
    assert rows_of(columns(rows)) == rows
    uneven = [{"a": 1}, {"b": 2}]
    assert rows_of(columns(uneven)) == uneven


def test_the_whole_paper_fits_into_twenty_megabytes():
    """Every training with curves of full length that do not repeat, and every test."""
    rng, count = np.random.default_rng(0), 5
    rows = columns([{"seed": seed, **dict.fromkeys(METRICS, 1 / 3)} for seed in range(count)])
    metrics = {name: rng.random((count, 10_000)) for name in DRAWN}
    curves = to_jsonable(thinned({"step": np.arange(1, 10_001) * 100, **metrics}))
    seed = len(encode({"curves": curves, "result": rows, "means": rows})) / count
    test, rest = len(encode({"seeds": rows})) / count, 1500
    trained = [job for job in wanted_jobs().values() if job.kind == "train"]
    size = sum(
        rest + len(job.settings["seeds"]) * (seed + test * len(job.evaluate)) for job in trained
    )
    assert 5e6 < size < 20e6
