"""What the pages show must run, and what they point to must exist."""

import doctest
import importlib
import pkgutil
import re
import shlex
import subprocess
import sys
from collections import Counter
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

import adastack
from adastack.algorithms import ALGORITHMS
from adastack.cli import _parser
from adastack.deep.settings import PRESETS, PPOSettings
from adastack.memory import RULES
from adastack.tabular.settings import GradientSettings, ValueSettings
from browser import Browser, needs_chromium

pytestmark = pytest.mark.usefixtures("programs_are_compiled_once")
ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))]
RESULTS = sorted((ROOT / "results").rglob("*.md"))
OPTIONAL = ("integrations",)
KINDS = {"", "python", "sh", "python rllib"}
"""What a block may be: Python is run; ``python rllib`` is run where RLlib is installed."""
FENCE = re.compile(r"^```(.*?)\n(.*?)^```$", re.S | re.M)


def page_name(path):
    return path.relative_to(ROOT).as_posix()


def snippets():
    for page in PAGES:
        for index, (kind, code) in enumerate(FENCE.findall(page.read_text())):
            if kind == "python":
                yield pytest.param(code, id=f"{page_name(page)}-{index}")


def modules():
    for module in pkgutil.walk_packages(adastack.__path__, "adastack."):
        if not any(part in module.name for part in OPTIONAL):
            yield module.name


@pytest.mark.parametrize("code", list(snippets()))
def test_the_code_on_a_page_runs(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "page", "exec"), {"__name__": "__page__"})


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_blocks_are_of_a_kind_that_is_tested(page):
    assert {kind for kind, _ in FENCE.findall(page.read_text())} <= KINDS


def commands():
    """The commands on the pages, without what is said beside them."""
    for page in PAGES:
        text = page.read_text()
        shell = "\n".join(code for kind, code in FENCE.findall(text) if kind == "sh")
        indented = "\n".join(re.findall(r"^    (adastack .*)$", FENCE.sub("", text), re.M))
        for line in re.findall(r"^(adastack [a-z][\w-]*(?: .*)?)$", f"{shell}\n{indented}", re.M):
            words = shlex.split(re.split(r"\s{3,}", line)[0], comments=True)
            yield pytest.param(words[1:], id=f"{page_name(page)}: {' '.join(words)}")


@pytest.mark.parametrize("words", list(commands()))
def test_the_commands_on_a_page_are_understood(words):
    parser, module = _parser(words[0])
    assert module is not None, words[0]
    parser.parse_args(words)


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))


@cache
def anchors(page):
    """The anchors of a page's headings, as GitHub and the site make them."""
    found = Counter()
    names = set()
    for title in re.findall(r"^#+ +(.*)$", FENCE.sub("", page.read_text()), re.M):
        words = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", title).replace("`", "").replace("*", "")
        slug = re.sub(r"[^\w\- ]", "", words.lower()).strip().replace(" ", "-")
        names.add(slug if not found[slug] else f"{slug}-{found[slug]}")
        found[slug] += 1
    return names


@pytest.mark.parametrize("page", [*PAGES, *RESULTS], ids=page_name)
def test_links_and_pictures_exist(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        place = (page.parent / path).resolve() if path else page
        assert place.exists(), target
        if anchor:
            assert anchor in anchors(place), target


@pytest.mark.parametrize(
    ("name", "settings"),
    [("deep", PPOSettings), ("tabular", ValueSettings), ("tabular", GradientSettings)],
)
def test_every_setting_is_on_its_page(name, settings):
    page = (ROOT / "docs" / f"{name}.md").read_text()
    rows = re.findall(r"^\| (`[^|]*) \|", page, re.M)
    named = {word for row in rows for word in re.findall(r"`(\w+)`", row)}
    assert {field.name for field in fields(settings)} <= named


def test_rules_presets_and_algorithms_are_on_their_pages():
    concepts = (ROOT / "docs" / "concepts.md").read_text()
    assert all(f"| `{name}` |" in concepts for name in RULES)
    deep, tabular = ((ROOT / "docs" / f"{name}.md").read_text() for name in ("deep", "tabular"))
    assert all(f"`{name}`" in deep for name in PRESETS)
    assert all(f"`{name}`" in (tabular if row.tabular else f"{deep}`ppo``grpo`")
               for name, row in ALGORITHMS.items())  # fmt: skip


@pytest.mark.parametrize("name", list(modules()))
def test_docstring_examples_hold(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("mkdocs")
    pytest.importorskip("mkdocstrings")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.mark.slow
def test_the_site_needs_no_network(site):
    loaded = re.compile(r'<(?:script|img|iframe)[^>]* src="([^"]*)|<link[^>]* href="([^"]*)')
    for page in site.rglob("*.html"):
        found = [a or b for a, b in loaded.findall(page.read_text())]
        assert found
        assert [address for address in found if address.startswith(("http:", "https:", "//"))] == []


@pytest.mark.slow
def test_the_reference_is_made_from_docstrings(site):
    text = (site / "api" / "wrappers.html").read_text()
    assert "AdaptiveStack" in text
    assert "The number of slots, k." in text


@pytest.mark.slow
@needs_chromium
def test_search_works_from_the_file_system(site):
    query = "document.querySelector('[data-md-component=search-query]')"
    with Browser() as browser:
        browser.open(site / "index.html")
        browser.run(f"{query}.focus()")
        browser.run(f"{query}.value = 'persistence'")
        for event in ("input", "keyup"):
            browser.run(f"{query}.dispatchEvent(new Event('{event}', {{bubbles: true}}))")
        browser.wait("document.querySelectorAll('.md-search-result__item').length > 0")
        found = browser.run("document.querySelector('.md-search-result__list').innerText")
        assert "Tabular learners" in found
        assert browser.errors == []
        assert not [url for url in browser.requests if url.startswith("http")]


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize("name", ["index", "deep", "experiments", "api/tasks", "contributing"])
def test_pages_of_the_site_fit_a_phone(site, name):
    with Browser() as browser:
        browser.open(site / f"{name}.html", width=390, dark=True)
        assert browser.run("document.documentElement.scrollWidth") <= 390
        assert browser.errors == []
