"""A small part of the campaign of faults, in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

QUICK = Path(__file__).with_name("quick.py")


@pytest.mark.slow
@pytest.mark.parametrize("marked", ["not slow", "slow"])
def test_a_small_part_of_the_campaign(marked):
    # Faults are tried in forked children, which would hang where JAX has started its threads.
    words = [sys.executable, "-m", "pytest", str(QUICK), "-q", "-p", "no:xdist", "-m", marked]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, ended.stdout
