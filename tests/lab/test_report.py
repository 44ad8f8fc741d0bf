"""The report says what the store says: claims, figures, what is missing and why."""

import csv
import io
import json
from dataclasses import replace
from html import escape
from pathlib import Path

import pytest

from adastack.cli import main
from adastack.files import write_json
from adastack.lab import experiments
from adastack.lab.claims import Claim, Verdict
from adastack.lab.episodes import watch_all
from adastack.lab.execute import perform
from adastack.lab.experiment import SCALES, Analysis, Experiment, Figure, Table
from adastack.lab.job import Job, train_jobs
from adastack.lab.publish import write_results
from adastack.lab.report import BADGES, NAMES, NUMBERS, missing_rows, report_page
from adastack.lab.report_data import gather
from adastack.lab.store import Store
from adastack.progress import Silent
from browser import Browser, needs_chromium

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">'
    '<clipPath id="c"><path d="M0 0h9v9z"/></clipPath>'
    '<g clip-path="url(#c)"><circle r="4.123456"/></g></svg>'
)
TASK = "passive-tmaze:length=4"


def sweep(scale):
    steps = scale.pick(paper=40_000, smoke=2_000)
    common = {"algo": "sarsa", "preset": "robust", "steps": steps, "batch": 2}
    jobs = train_jobs(TASK, "adaptive", 2, seeds=range(4), **common)
    jobs += train_jobs(TASK, "frame", 2, seeds=range(2), **common)
    return [*jobs, Job("kappa", {"task": "xormaze"})]


def analyse(results):
    rows = [[row["memory"], row["seed"], row["success"], None] for row in results.rows()]
    table = Table("success", ["memory", "seed", "success", "note"], rows, "Success <by> seed")
    return Analysis([table], [Figure("bars", "Bars & whiskers", SVG)])


def solved(results):
    rows = results.rows(memory="adaptive")
    good = sum(row["success"] == 1 for row in rows)
    status = "needs runs" if len(rows) < 2 else "holds" if good == len(rows) else "refuted"
    return Verdict(status, f"{good} of {len(rows)} | seeds", "all seeds")


def never(results):
    return Verdict("refuted", "1 < 2; 2 < 3; 3 < 4; 4 < 5", "1 > 2")


MAZE = Experiment(
    name="maze",
    title="The maze & its cue",
    where="Figure 1",
    sweep=sweep,
    analyse=analyse,
    claims=(
        Claim("maze-solved", "Two slots <are> enough.", "Section 1", solved),
        Claim("maze-never", "Less is more.", "Section 2", never),
    ),
    page="**We run** the maze with `k = 2`.",
)
EMPTY = Experiment(
    name="empty",
    title="Nothing yet",
    where="Table 9",
    sweep=lambda scale: [Job("kappa", {"task": "office"})],
    analyse=lambda results: Analysis([], [Figure("none", "No bars", SVG)]),
)
BOTH = {"maze": MAZE, "empty": EMPTY}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two of three batches are trained, one has failed, the exact answer is missing."""
    store = Store(tmp_path_factory.mktemp("store"))
    first, failing, frame, _ = sweep(SCALES["paper"])
    for job in (first, frame):
        with store.claim(job) as folder:
            perform(job, folder, Silent())
    with store.claim(failing) as folder:
        write_json(folder / "failure.json", {"reason": "out of <luck>"})
    return store


@pytest.fixture(scope="module")
def data(store):
    return gather(store, BOTH, SCALES["paper"])


def test_shared_runs_are_timed_once(store, data):
    maze, _ = data.reports
    twice = gather(store, {"one": maze.experiment, "two": maze.experiment}, SCALES["paper"])
    assert twice.seconds == data.seconds == maze.seconds


def test_what_is_missing_or_failed_is_gathered(data):
    maze, empty = data.reports
    assert len(maze.jobs) == 4
    assert [job.settings.get("seeds") for job in maze.missing] == [[2, 3], None]
    assert list(maze.failed.values()) == ["out of <luck>"]
    assert maze.seconds > 0
    assert empty.finished == []
    assert data.count == {"holds": 1, "refuted": 1}
    assert len(data.finished) == 2
    assert data.libraries[0]["adastack"]
    assert int(data.machines[0]["cores"]) > 0


def test_missing_seeds_are_named_together():
    common = {"algo": "q", "preset": "paper", "steps": 10, "batch": 2}
    jobs = train_jobs(TASK, "frame", 3, seeds=[0, 1, 2, 5], overrides={"net": "mlp"}, **common)
    assert missing_rows([*jobs, Job("gap", {"task": "xormaze", "k": 2})]) == [
        [TASK, "frame", "3", "q, paper", "net mlp", "0-2, 5"],
        ["xormaze", "–", "–", "gap", "k 2", "–"],
    ]


def test_the_page_says_it_all(data):
    html = report_page(data, store="there").html()
    for words in (
        "✓ holds",
        "✗ refuted",
        "Two slots &lt;are&gt; enough.",
        "2 of 2 | seeds",
        "all seeds",
        "<strong>We run</strong> the maze with <code>k = 2</code>",
        "Success &lt;by&gt; seed",
        "Bars &amp; whiskers",
        "2 runs missing",
        "1 run failed",
        "out of &lt;luck&gt;",
        "adastack reproduce maze --scale paper --store there",
        "No run has finished yet.",
        data.machines[0]["cores"],
        data.libraries[0]["numpy"],
        '<a href="#maze">The maze &amp; its cue</a>',
    ):
        assert words in html
    # A report without a run has no figure of nothing.
    assert "No bars" not in html
    assert html.count("<figure") == 1


def test_a_trial_leads_with_what_it_drew(data):
    for scale in ("paper", "smoke"):
        html = report_page(replace(data, scale=scale)).html()
        claims, figure = html.index('<h2 id="claims"'), html.index('<figure class="drawing"')
        assert (claims < figure) == (scale == "paper")
        complete, open_ones = html.index("experiments complete"), html.index("</b>need runs")
        assert (complete > open_ones) == (scale == "paper")


def test_two_drawings_do_not_share_their_names(data):
    page = report_page(data)
    page.svg(SVG, "again")
    html = page.html()
    names = [part.split('"')[0] for part in html.split('<clipPath id="')[1:]]
    assert len(names) == len(set(names)) == 2
    assert all(f"url(#{name})" in html for name in names)


def test_a_task_with_a_finished_run_is_watched(store, data):
    watched = watch_all(store, data.finished)
    assert [("adaptive" in w.title, "frame" in w.title) for w in watched] == [
        (True, False),
        (False, True),
    ]
    assert watched[0].episode["frames"][-1]["success"]


def test_a_run_that_cannot_be_shown_is_named(store, data, tmp_path):
    job = data.finished[0]
    broken = Store(tmp_path)
    with broken.claim(job) as folder:
        perform(job, folder, Silent())
        (folder / "run" / "checkpoint.json").write_text("{}")
    (watched,) = watch_all(broken, [job])
    assert watched.episode is None
    html = report_page(data, [watched]).html()
    assert "cannot be shown" in html


def read(folder):
    return {p.relative_to(folder): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_the_results_folder_is_small_and_the_same_every_time(store, data, tmp_path):
    (tmp_path / "maze").mkdir()
    (tmp_path / "maze" / "old.csv").write_text("from an earlier report")
    (tmp_path / "maze" / "notes.txt").write_text("ours")
    files = write_results(data, tmp_path)
    first = read(tmp_path)
    assert {str(path) for path in first} == {
        "README.md", "claims.svg", "machine.json", "maze/README.md", "maze/bars.svg",
        "maze/claims.json", "maze/notes.txt", "maze/success.csv",
    }  # fmt: skip
    assert len(files) == 7
    write_results(gather(store, BOTH, SCALES["paper"]), tmp_path)
    assert read(tmp_path) == first
    rows = list(csv.reader(io.StringIO((tmp_path / "maze" / "success.csv").read_text())))
    assert rows[0] == ["memory", "seed", "success", "note"]
    assert ["adaptive", "0", "1.0", ""] in rows
    claims = json.loads((tmp_path / "maze" / "claims.json").read_text())
    assert [(claim["id"], claim["verdict"]) for claim in claims] == [
        ("maze-solved", "holds"),
        ("maze-never", "refuted"),
    ]
    text = (tmp_path / "README.md").read_text()
    assert "Not run yet: empty." in text
    assert "(maze/README.md) | Figure 1 | 2 of 4 | 1 | 1 | 0 |" in text
    page = (tmp_path / "maze" / "README.md").read_text()
    assert "![Bars & whiskers](bars.svg)" in page
    assert "2 of 2 \\| seeds" in page
    assert "(../README.md#names-and-numbers)" in page
    assert f"## Names and numbers\n\n{NAMES}\n\n{NUMBERS}\n" in text


def test_what_is_not_recomputed_is_not_dropped(store, data, tmp_path):
    write_results(data, tmp_path)
    before = read(tmp_path / "maze")
    # A report from no run at all leaves the page as it is, and links to it.
    nothing = Store(tmp_path / "none")
    write_results(gather(nothing, BOTH, SCALES["paper"]), tmp_path)
    assert read(tmp_path / "maze") == before
    text = (tmp_path / "README.md").read_text()
    assert "(maze/README.md) | Figure 1 | 0 of 4 ([earlier](maze/README.md): 2) |" in text
    assert f"{BADGES['needs runs']} (earlier report: holds) | Two slots" in text
    assert "Not run yet: empty." in text
    # One from fewer runs moves it aside.
    job = sweep(SCALES["paper"])[2]
    with nothing.claim(job) as folder:
        perform(job, folder, Silent())
    fewer = gather(nothing, BOTH, SCALES["paper"])
    write_results(fewer, tmp_path)
    kept = read(tmp_path / "maze" / "earlier")
    assert set(kept) == set(before)
    same = [path for path in before if path.suffix != ".md"]
    assert [kept[path] for path in same] == [before[path] for path in same]
    assert "(../../README.md#names-and-numbers)" in kept[Path("README.md")].decode()
    page = (tmp_path / "maze" / "README.md").read_text()
    assert "1 of 4 runs finished" in page
    assert "An [earlier report](earlier/README.md) rests on 2 runs" in page
    assert "(earlier report: holds)" in page
    text = (tmp_path / "README.md").read_text()
    assert "1 of 4 ([earlier](maze/earlier/README.md): 2)" in text
    first = read(tmp_path)
    write_results(fewer, tmp_path)
    assert read(tmp_path) == first
    # One from as many takes its place.
    write_results(data, tmp_path)
    assert read(tmp_path / "maze") == before


def test_the_command(store, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(experiments, "load_experiments", lambda: BOTH)
    out = tmp_path / "new" / "report.html"
    words = ["report", "--store", str(store.root), "--out", str(out)]
    assert main([*words, "--results", str(tmp_path / "results"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["claims"] == {"holds": 1, "refuted": 1, "not shown": 0, "needs runs": 0}
    assert said["experiments"]["maze"]["finished"] == 2
    assert (tmp_path / "results" / "README.md").exists()
    assert 'class="episode"' in out.read_text()
    assert main([*words, "all", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["experiments"] == said["experiments"]
    assert main([*words, "--scale", "smoke", "maze"]) == 0
    assert "0 of 4" in capsys.readouterr().out
    assert main([*words, "nowhere"]) == 2
    assert main(["report", "--store", str(tmp_path / "none")]) == 2
    err = capsys.readouterr().err
    assert "expected experiments of maze, empty, or all, actual: 'nowhere'" in err
    assert err.count("\n") == 2
    assert main([*words[:-1], str(tmp_path), "maze"]) == 2
    assert f"--out expects a file, actual: the folder {tmp_path}\n" in capsys.readouterr().err
    # The folder tells of all experiments, so it is never written for some.
    before = read(tmp_path / "results")
    assert main([*words, "maze", "--results", str(tmp_path / "results")]) == 2
    assert "leave out their names" in capsys.readouterr().err
    assert read(tmp_path / "results") == before


def test_every_experiment_can_be_reported_before_it_has_run(tmp_path):
    found = gather(Store(tmp_path), experiments.load_experiments(), SCALES["smoke"])
    assert set(found.count) == {"needs runs"}
    html = report_page(found).html()
    assert "its trainings are too short to decide a claim" in html
    assert escape(NAMES) in html
    assert escape(NUMBERS) in html
    assert all(escape(report.experiment.title) in html for report in found.reports)


@needs_chromium
@pytest.mark.parametrize("width", [pytest.param(1100, marks=pytest.mark.slow), 390])
def test_the_report_draws_and_plays_in_a_browser(store, data, width, tmp_path):
    page = report_page(data, watch_all(store, data.finished))
    page.write(tmp_path / "report.html")
    with Browser() as browser:
        browser.open(tmp_path / "report.html", width=width)
        assert browser.run("document.querySelectorAll('figure.drawing svg circle').length") == 1
        episodes = browser.run("document.querySelectorAll('figure.episode').length")
        assert episodes == 2
        drawn = "[...document.querySelectorAll('figure.episode svg')].map((s) => s.children.length)"
        assert min(browser.run(drawn)) > 5
        browser.run("document.querySelector('figure.episode button').click()")
        browser.wait("Number(document.querySelector('figure.episode input').value) === 4")
        lost = "[...document.links].filter((a) => !document.getElementById(a.hash.slice(1))).length"
        assert browser.run(lost) == 0
        assert browser.run("document.documentElement.scrollWidth <= innerWidth")
        assert browser.errors == []
        outside = [url for url in browser.requests if not url.startswith(("file:", "data:"))]
        assert outside == []
