"""The table on the page is the table that is tested, and the docstrings' examples hold."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

pytest.importorskip("stable_baselines3")

from adastack import integrations
from adastack.integrations.support import table

PAGE = Path(__file__).parents[2] / "docs" / "integrations.md"
ELSEWHERE = ("adastack.integrations.rllib",)
"""Tested where RLlib is installed."""


def modules():
    for module in pkgutil.walk_packages(integrations.__path__, "adastack.integrations."):
        if module.name not in ELSEWHERE:
            yield module.name


def test_the_page_shows_the_table():
    assert table() in PAGE.read_text()


@pytest.mark.parametrize("name", list(modules()))
def test_docstring_examples_hold(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_importing_adastack_does_not_import_torch():
    """The integrations are imported where they are used."""
    import subprocess
    import sys

    code = "import sys, adastack, adastack.wrappers.vector, adastack.integrations as i; " + (
        "assert not {'torch', 'stable_baselines3', 'torchrl', 'ray'} & set(sys.modules), i"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
