"""Drawings: the same every time, and with everything in them."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from adastack.lab import figures as f

RNG = np.random.default_rng(0)
GROUPS = {
    name: {"AS(κ)": RNG.normal(1, 0.1, 5), "FS(κ)": RNG.normal(0, 0.1, 5), "mine": np.ones(1)}
    for name in ("2", "4")
}
STEP = np.arange(1, 251) * 100
CURVES = [f.Curves("length 2", STEP, {"AS(κ)": RNG.normal(size=(4, 250))}, "return")]
GRID = f.Grid("AS(κ)", ["2", "4"], ["2", "4"], np.array([[1, 0.25], [np.nan, 0.5]]), "x", "y")
DRAWINGS = {
    "bars": lambda: f.bars([f.Panel("Return", GROUPS, "length"), f.Panel("Regret", GROUPS)]),
    "lines": lambda: f.lines([f.Panel("Return", GROUPS, "length")]),
    "curves": lambda: f.curves(CURVES),
    "heat maps": lambda: f.heat_maps([GRID]),
}


def texts(svg):
    return [element.text for element in ET.fromstring(svg).iter() if element.tag.endswith("text")]


@pytest.mark.parametrize("kind", DRAWINGS)
def test_a_drawing_is_the_same_every_time(kind):
    first, second = DRAWINGS[kind](), DRAWINGS[kind]()
    assert first == second
    assert ET.fromstring(first).tag.endswith("svg")
    assert "<dc:date>" not in first


def test_words_are_words():
    found = texts(DRAWINGS["bars"]())
    for word in ("Return", "Regret", "length", "2", "4", "AS(κ)", "FS(κ)", "mine"):
        assert word in found


def drawn_at(svg, names):
    """Where names stand, from left to right."""
    # The axis below is drawn before the one at the side, which may have the same numbers.
    written = [e for e in ET.fromstring(svg).iter() if e.get("x")]
    found = {e.text: float(e.get("x")) for e in reversed(written)}
    return np.array([found[name] for name in names])


@pytest.mark.parametrize(
    ("names", "shares"),
    [
        (["2", "4", "8"], [0, 1 / 2, 1]),  # doubling: even steps
        (["2", "3", "8"], [0, 1 / 6, 1]),  # few numbers: true distances
        (["1", "10", "12", "100"], [0, 1 / 2, np.log10(12) / 2, 1]),  # far apart: by logarithm
        (["MLP", "LSTM", "CNN"], [0, 1 / 2, 1]),  # no numbers
        (["0", "1", "50"], [0, 1 / 50, 1]),  # nothing has a logarithm of 0
    ],
)
def test_numbers_stand_where_they_belong(names, shares):
    groups = {name: {"AS(κ)": np.ones(1)} for name in names}
    at = drawn_at(f.lines([f.Panel("Return", groups)]), names)
    assert (at - at[0]) / (at[-1] - at[0]) == pytest.approx(np.array(shares), abs=1e-4)


def paths(svg):
    """What is drawn within axes: (style, path)."""
    found = [e for e in ET.fromstring(svg).iter() if e.get("clip-path") and e.get("d")]
    return [(e.get("style"), e.get("d")) for e in found]


def test_marks_without_a_line_have_none():
    labels = ("AS(κ)", "FS(k*), compiled")
    groups = {x: {label: np.array([float(x)]) for label in labels} for x in ("2", "4")}
    styles = [style for style, _ in paths(f.lines([f.Panel("Cost", groups)]))]
    plotted = [style for style in styles if "stroke-width: 1.2" in style]
    assert [f.LOOKS["AS(κ)"].colour.lower() in style for style in plotted] == [True]


def test_orders_of_magnitude_have_few_ticks():
    groups = {x: {"AS(κ)": np.array([1e5 * float(x)])} for x in ("2", "4", "64")}
    found = texts(f.lines([f.Panel("Cost", groups)], logarithmic=True))
    assert {"200 k", "500 k", "1 M", "5 M"} <= set(found)
    assert not {"300 k", "400 k", "600 k"} & set(found)


def test_bars_of_a_group_stand_side_by_side():
    """A memory that a group lacks leaves no hole; one without runs keeps its place."""
    full = {label: np.ones(1) for label in ("AS(κ)", "FS(κ)", "FS(k*)")}
    few = {label: full[label] for label in ("AS(κ)", "FS(k*)")}
    svg = f.bars([f.Panel("Return", {"a": full, "b": few, "c": {**full, "FS(κ)": np.zeros(0)}})])
    left = sorted(float(d.split()[1]) for _, d in paths(svg) if d.rstrip().endswith("z"))
    assert len(left) == 7
    width = left[1] - left[0]
    assert left[4] - left[3] == pytest.approx(width)
    assert left[6] - left[5] == pytest.approx(2 * width)


def test_a_long_title_takes_two_lines_and_a_panel_of_nothing_none():
    some = {"AS(κ)": RNG.normal(size=(2, 250))}
    panels = [f.Curves(f"maximum maze length\xa0{n}", STEP, some, "return") for n in range(2, 6)]
    found = texts(f.curves([*panels, f.Curves("nothing", np.zeros(0), {}, "return")]))
    assert found.count("maximum maze") == 4
    assert "length\xa05" in found
    assert "nothing" not in found
    assert found.count("return") == 1


def test_every_cell_has_its_number():
    found = texts(DRAWINGS["heat maps"]())
    assert {"1.00", "0.25", "0.50", "–"} <= set(found)


def test_a_cell_of_nearly_nothing_is_zero():
    assert "0.00" in texts(f.heat_maps([f.Grid("", ["2"], ["2"], np.full((1, 1), -1e-16))]))


def test_missing_bars_leave_their_place_at_the_ends():
    """The name of a group stands in its middle, not at the edge of what has been run."""
    groups = {"MLP": {"AS(κ)": np.ones(2), "FS(κ)": np.zeros(0), "FS(k*)": np.zeros(0)}}
    svg = f.bars([f.Panel("Return", groups)])
    (middle,) = drawn_at(svg, ["MLP"])
    across = [float(word) for _, d in paths(svg) for word in re.findall(r"[ML] ([\d.]+)", d)]
    assert middle == pytest.approx((min(across) + max(across)) / 2, abs=0.1)


def test_values_that_are_alike_are_drawn_from_zero():
    alike = {name: {"AS(κ)": np.array([0.99, 1.0])} for name in ("25", "50")}
    assert "0.0" in texts(f.lines([f.Panel("Success", alike)]))
    apart = {"25": {"AS(κ)": np.array([0.5])}, "50": {"AS(κ)": np.array([1.0])}}
    assert "0.0" not in texts(f.lines([f.Panel("Success", apart)]))


def test_a_memory_has_one_colour_everywhere():
    for kind in ("bars", "lines", "curves"):
        assert f.LOOKS["AS(κ)"].colour.lower() in DRAWINGS[kind]()


def test_colours_differ_within_a_comparison():
    compared = ("AS(κ)", "FS(κ)", "FS(k*)", "Demir(κ)", "Demir(κ) + IM", "AS(κ), robust")
    assert len({f.LOOKS[label].colour for label in compared}) == len(compared)


def test_nothing_is_drawn_of_nothing():
    empty = {"2": {"AS(κ)": np.zeros(0)}}
    assert f.bars([f.Panel("Return", empty)]) == f.lines([f.Panel("Return", empty)]) == ""
    assert f.curves([f.Curves("length 2", np.zeros(0), {})]) == ""
    assert f.heat_maps([f.Grid("", ["2"], ["2"], np.full((1, 1), np.nan))]) == ""


@pytest.mark.parametrize("draw", [f.bars, f.lines])
def test_a_panel_of_nothing_is_left_out(draw):
    empty = [f.Panel("Nothing", {}), f.Panel("No runs", {"2": {"AS(κ)": np.zeros(0)}})]
    found = texts(draw([f.Panel("Return", GROUPS), *empty]))
    assert "Return" in found
    assert not {"Nothing", "No runs"} & set(found)
