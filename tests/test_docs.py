"""What the pages show must run."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import adastack

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
OPTIONAL = ("integrations",)


def snippets():
    for page in PAGES:
        for index, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.S)):
            yield pytest.param(code, id=f"{page.name}-{index}")


def modules():
    for module in pkgutil.walk_packages(adastack.__path__, "adastack."):
        if not any(part in module.name for part in OPTIONAL):
            yield module.name


@pytest.mark.parametrize("code", list(snippets()))
def test_the_code_on_a_page_runs(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "page", "exec"), {"__name__": "__page__"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_pictures_exist(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("name", list(modules()))
def test_docstring_examples_hold(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0
