"""Pages in a real browser: they draw, they play, and nothing goes wrong."""

import pytest

from adastack.tasks import FiniteTaskEnv, make_task, passive_tmaze
from adastack.viewer import Page, record, shoot
from adastack.viewer.game import game_page
from adastack.wrappers import MemoryStack
from browser import Browser, needs_chromium

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def browser():
    with Browser() as browser:
        yield browser


def keep_the_cue(stack):
    return (2 if 3 in stack else 0), (0 if stack[-1] in (2, 3) else 1)


def write(page, tmp_path):
    page.write(tmp_path / "page.html")
    return tmp_path / "page.html"


def assert_sound(browser):
    assert browser.errors == []
    outside = [url for url in browser.requests if not url.startswith(("file:", "data:"))]
    assert outside == []
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("width", [1000, 390])
@pytest.mark.parametrize(
    "spec",
    [
        "passive-tmaze:length=6",
        pytest.param("repeat-first:length=4", marks=pytest.mark.slow),
    ],
)
def test_an_episode_is_drawn_and_plays_to_its_end(browser, spec, width, tmp_path):
    task = make_task(spec)
    episode = record(task, "adaptive", 2, keep_the_cue, seed=1)
    page = Page("What it remembers")
    page.episode(episode, "one")
    browser.open(write(page, tmp_path), width=width)
    cells = sum(cell >= 0 for row in episode["frames"][0].get("cells", []) for cell in row)
    assert browser.run("document.querySelectorAll('svg.screen rect').length") == cells + 2
    last = len(episode["frames"]) - 1
    assert browser.run("Number(document.querySelector('input').max)") == last
    browser.run("document.querySelector('button').click()")
    browser.wait("Number(document.querySelector('input').value) >= 2")
    # One more tile: what was given up.
    assert browser.run("document.querySelectorAll('svg.screen rect').length") == cells + 3
    browser.wait(f"document.querySelector('input').value === '{last}'")
    browser.wait("document.querySelector('button').textContent === 'play'")
    assert f"step {last} of {last}" in browser.run("document.querySelector('.says').textContent")
    assert_sound(browser)


def test_what_was_kept_is_drawn_over_time_and_can_be_clicked(browser, tmp_path):
    """The cue of step 0 is kept to the end, in one bar of its own colour; nothing else is."""
    task = passive_tmaze(length=6)
    episode = record(task, "adaptive", 2, keep_the_cue, seed=1)
    page = Page("What it remembers")
    page.episode(episode, "one")
    browser.open(write(page, tmp_path))
    last = len(episode["frames"]) - 1
    frames = "JSON.parse(document.querySelector('script').textContent).frames"
    bars = browser.run(f"keptBars({frames}).map((bar) => [bar.from, bar.to, bar.lane])")
    assert bars[0] == [0, last, 0]
    cue = episode["symbols"][episode["frames"][0]["slots"][-1]]["colour"]
    fill = browser.run("getComputedStyle(document.querySelector('.bar')).fill")
    assert fill == "rgb({}, {}, {})".format(*(int(cue[i : i + 2], 16) for i in (1, 3, 5)))
    browser.run("const kept = document.querySelector('svg.kept')")
    browser.run("const box = kept.getBoundingClientRect()")
    browser.run("kept.onclick({clientX: box.left + box.width / 2})")
    assert browser.run("Number(document.querySelector('input').value)") == round(last / 2)
    assert_sound(browser)
    browser.open(write(page, tmp_path), width=390)
    assert (
        browser.run("document.querySelector('svg.kept .label').getBoundingClientRect().height") > 11
    )


def test_a_memory_of_one_slot_keeps_nothing(browser, tmp_path):
    page = Page("What it remembers")
    page.episode(record(passive_tmaze(length=4), "none", 1, lambda stack: (0, 0)), "one")
    browser.open(write(page, tmp_path))
    assert not browser.run("document.querySelector('svg.kept').childElementCount")
    assert_sound(browser)


def test_episodes_open_where_they_differ_and_play_in_step(browser, tmp_path):
    task = passive_tmaze(length=6)
    frame = record(task, "frame", 2, lambda stack: (0, 0), seed=1)
    page = Page("What they remember")
    kept = record(task, "adaptive", 2, keep_the_cue, seed=1)
    page.episodes({"keeps": kept, "loses": {**frame, "frames": frame["frames"][:5]}})
    browser.open(write(page, tmp_path))
    values = "[...document.querySelectorAll('input')].map((each) => Number(each.value))"
    # After one step both hold the cue; after two, only the adaptive one does.
    assert browser.run(values) == [2, 2]
    browser.run("document.querySelectorAll('button')[1].click()")
    browser.wait("document.querySelector('input').value === '6'")
    assert browser.run(values) == [6, 4]  # The shorter one waits at its end.
    browser.run("const input = document.querySelector('input'); input.value = 1; input.oninput()")
    assert browser.run(values) == [1, 1]
    assert_sound(browser)


def test_a_drawing_is_dark_on_a_dark_page_and_a_table_fits_a_phone(browser, tmp_path):
    page = Page("At night")
    page.table(["memory", "slots", "success at 16", "success at 1,000,000"],
               [["frame, as long as the maze", "16", "100%", "50%"]])  # fmt: skip
    page.table([f"column {i}" for i in range(9)], [[f"what stands in {i}" for i in range(9)]] * 2)
    page.svg('<svg xmlns="http://www.w3.org/2000/svg" width="360pt" viewBox="0 0 9 9">'
             '<rect width="9" height="9" fill="#fff"/></svg>', "white")  # fmt: skip
    turned = "getComputedStyle(document.querySelector('figure svg')).filter"
    for dark in (False, True):
        browser.open(write(page, tmp_path), width=390, dark=dark)
        assert ("invert" in browser.run(turned)) == dark
        for part in (".scroll", ".scroll:has(.wide)", "figure.drawing"):
            found = f"document.querySelector('{part}')"
            assert browser.run(f"{found}.scrollWidth <= {found}.clientWidth"), part
        assert_sound(browser)


def test_a_film_shows_its_pictures(browser, tmp_path):
    env = FiniteTaskEnv(passive_tmaze(length=5), render_mode="rgb_array")
    film = shoot(MemoryStack(env, 2), lambda stack, ages: (0, 1))
    page = Page("Pictures")
    page.episode(film.document(), "one")
    browser.open(write(page, tmp_path))
    browser.wait("document.querySelector('img').complete")
    width = film.pictures[0].shape[1]
    assert browser.run("document.querySelector('img').naturalWidth") == width
    first = browser.run("document.querySelector('img').src")
    browser.run("document.querySelector('button').click()")
    browser.wait("Number(document.querySelector('input').value) >= 1")
    assert browser.run("document.querySelector('img').src") != first
    assert_sound(browser)


def test_the_game_says_what_would_have_been_right(browser, tmp_path):
    browser.open(write(game_page(passive_tmaze(length=4), "adaptive", 2), tmp_path))
    cue = browser.run("document.querySelector('.slot:last-child').getAttribute('aria-label')")
    colour = cue.split()[-1]
    for _ in range(3):
        browser.press("ArrowRight")
    browser.press("ArrowDown" if colour == "red" else "ArrowUp")
    right = "up" if colour == "red" else "down"
    said = browser.run("document.querySelector('.message').textContent")
    assert f"Not solved. Right was “{right}”: the cue was “{colour}”." in said
    assert_sound(browser)


MOVES = "document.querySelectorAll('.move')"
KEYS = ("ArrowUp", "ArrowRight", "ArrowDown", "ArrowLeft")


def number(browser, name):
    return float(browser.run(f"document.querySelector('.{name}').textContent"))


@pytest.mark.parametrize("width", [1000, 390])
def test_the_game_is_won_with_the_keys_by_who_keeps_the_cue(browser, width, tmp_path):
    browser.open(write(game_page(passive_tmaze(length=4), "adaptive", 2), tmp_path), width=width)
    for attempt in range(4):
        cue = browser.run("document.querySelector('.slot:last-child').getAttribute('aria-label')")
        # The empty slot is given up first; from then on the current one.
        for step in range(3):
            browser.press("1" if step == 0 else "2")
            browser.press("ArrowRight")
            held = browser.run("document.querySelector('.slot').getAttribute('aria-label')")
            assert held.split()[-1] == cue.split()[-1]
        browser.press("ArrowUp" if cue.endswith("red") else "ArrowDown")
        assert number(browser, "solved") == attempt + 1
        assert browser.run("getComputedStyle(document.querySelector('.map')).display") == "block"
        assert browser.run("document.querySelectorAll('.map rect').length") == 6
        browser.press("Enter")
    assert number(browser, "reward") == 4
    assert number(browser, "steps") == 16
    assert_sound(browser)


@pytest.mark.parametrize(
    ("spec", "rule", "k"),
    [
        ("xormaze", "adaptive", 3),
        ("active-tmaze:length=5,random_length=true,continual=true", "adaptive", 2),
        ("repeat-first:length=4", "push_skip", 2),
        ("heaven-hell", "frame", 3),
        ("memory-length:length=3", "none", 1),
    ],
)
def test_any_game_can_be_played_by_touch(browser, spec, rule, k, tmp_path):
    browser.open(write(game_page(make_task(spec), rule, k), tmp_path), width=390)
    assert browser.run("document.querySelectorAll('.slot').length") == k
    browser.run("document.querySelectorAll('.options input').forEach((box) => box.click())")
    for step in range(30):
        browser.run("[...document.querySelectorAll('.slot:enabled')].at(-1)?.click()")
        browser.run(f"((moves) => moves[{step} % moves.length].click())({MOVES})")
        browser.run("{ const b = document.querySelector('.again'); if (!b.hidden) b.click(); }")
    assert number(browser, "steps") == 30
    assert_sound(browser)


def test_hints_lead_to_the_goal(browser, tmp_path):
    browser.open(write(game_page(make_task("xormaze"), "adaptive", 3), tmp_path))
    browser.run("document.querySelector('input[name=hints]').click()")
    moves = {"up": 0, "right": 1, "down": 2, "left": 3}
    for _ in range(5):
        while browser.run("document.querySelector('.again').hidden"):
            hint = browser.run("document.querySelector('.hint').textContent")
            slot, move = hint.split("(slot ")[1].split(")")[0], hint.split("“")[-1].split("”")[0]
            browser.press(slot)
            browser.press(KEYS[moves[move]])
        browser.press("Enter")
    assert number(browser, "solved") == 5
    assert_sound(browser)
