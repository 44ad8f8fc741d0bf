"""Every experiment, as small as it can be, from the command line to the page."""

import json

import pytest

from adastack.cli import main
from adastack.lab.experiments import load_experiments


@pytest.mark.slow
def test_everything_runs_and_is_reported(tmp_path, capsys):
    where = ["--scale", "smoke", "--store", str(tmp_path / "lab"), "--json"]
    assert main(["reproduce", "all", *where]) == 0
    outcome = json.loads(capsys.readouterr().out)
    assert outcome["failed"] == {}
    assert main(["reproduce", "all", "--dry-run", *where]) == 0
    plan = json.loads(capsys.readouterr().out)["plan"]
    assert set(plan["experiments"]) == set(load_experiments())
    assert plan["all"]["to_do"] == 0
    assert plan["all"]["exist"] == len(outcome["finished"])
    assert main(["report", "--out", str(tmp_path / "report.html"), *where]) == 0
    assert (tmp_path / "report.html").stat().st_size > 100_000
    assert main(["runs", "--verify", "--store", str(tmp_path / "lab")]) == 0
