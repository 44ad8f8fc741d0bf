"""A small part of the campaign (`make test-faults`), which `test_faults.py` runs, and its judge."""

import numpy as np
import pytest

from adastack.cli import VERBS
from faults import campaign, changes, harness, inputs, stops, stores
from faults.trainings import References, same


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    campaign.warm_up()
    place = tmp_path_factory.mktemp("faults")
    (place / "store").mkdir()
    return References(place), stores.Whole(place / "store")


def assert_good(faults, tmp_path):
    tally = harness.Tally()
    for i, fault in enumerate(faults):
        place = tmp_path / str(i)
        place.mkdir()
        tally.add(fault, place)
    assert tally.notes == []
    assert tally.counts == {harness.GOOD: tally.tried}
    assert tally.tried > 0


def test_kills_at_write_points(made, tmp_path):
    faults = list(stops.points(np.random.default_rng(0), 200, made[0], ["sarsa"], ""))
    assert {"sarsa before replace checkpoint.json", "sarsa after fsync result.json"} <= {
        fault.name.split(",")[0] for fault in faults
    }
    assert_good(faults[:4], tmp_path)


@pytest.mark.slow
def test_disk_errors(made, tmp_path):
    assert_good(stops.errors(np.random.default_rng(0), 4, made[0]), tmp_path)


def test_two_processes(made, tmp_path):
    assert_good(stops.shared(np.random.default_rng(0), 2, made[0]), tmp_path)


def test_changed_files(made, tmp_path):
    rng = np.random.default_rng(0)
    assert_good(changes.of_runs(rng, 6, made[0], ["sarsa"]), tmp_path)


def test_forged_checkpoints(made, tmp_path, monkeypatch):
    monkeypatch.setattr(changes, "DEEP", {})
    assert_good(changes.malicious(np.random.default_rng(0), 6, made[0]), tmp_path)


@pytest.mark.slow
def test_links_lead_nowhere(made, tmp_path):
    assert_good(stores.links(np.random.default_rng(0), 4, made[1]), tmp_path)


@pytest.mark.slow
def test_modules_in_the_way_are_not_run(made, tmp_path):
    assert_good(stores.path_hijack(np.random.default_rng(0), 1, made[1]), tmp_path)


def test_command_lines(made, tmp_path):
    assert_good(inputs.words(np.random.default_rng(0), len(VERBS), made[0]), tmp_path)


def test_markup(made, tmp_path):
    assert_good(inputs.markup(np.random.default_rng(0), 3, made[0]), tmp_path)


@pytest.mark.slow
def test_environments(tmp_path):
    faults = {fault.name: fault for fault in inputs.environments(np.random.default_rng(0), 200)}
    chosen = (
        "info none in step",
        "exit 0 in step",
        "key error in reset",
        "zero division in making",
    )
    assert_good([faults[name] for name in chosen], tmp_path)


def test_pomdp_files(tmp_path):
    assert_good(inputs.pomdp_files(np.random.default_rng(0), 6), tmp_path)


def test_the_campaign_notices_what_is_wrong(made, tmp_path):
    """A run that ends with another result, a traceback and a hang are told from what is good."""

    def wrong(place):
        stops.copied(made[0]["q"], place)
        found = same(place / "run", made[0]["sarsa"])
        return (harness.GOOD if found else harness.WRONG), ""

    def crash(place):
        ended = harness.ran(lambda: 1 // 0, place)
        return harness.verdict(ended) or harness.GOOD, ended.said

    def hang(place):
        ended = harness.ran(lambda: __import__("time").sleep(60), place, patience=0.2)
        return harness.verdict(ended) or harness.GOOD, ""

    tally = harness.Tally()
    for i, run in enumerate((wrong, crash, hang)):
        (tmp_path / str(i)).mkdir()
        tally.add(harness.Fault("", "", run), tmp_path / str(i))
    assert tally.counts == {"wrong": 1, "traceback": 1, "hang": 1}
    assert campaign.table({1: {"x": tally}}).splitlines()[2] == "| x | 3 | 0 | 1 | 1 | 1 |"
