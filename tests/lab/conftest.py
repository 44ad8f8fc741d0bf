"""What tests of the lab share."""

import pytest

from adastack.commands import archive


@pytest.fixture(autouse=True)
def no_evidence(monkeypatch, tmp_path):
    """The repository's own archive is not what tests are about."""
    monkeypatch.setattr(archive, "EVIDENCE", tmp_path / "no-evidence")
