"""Drawings: the same every time, and with everything in them."""

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


def test_every_cell_has_its_number():
    found = texts(DRAWINGS["heat maps"]())
    assert {"1.00", "0.25", "0.50", "–"} <= set(found)


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


def test_bins_are_means_of_what_is_known():
    step = np.arange(1, 801)
    values = np.vstack([np.arange(800.0), np.where(np.arange(800) % 2, np.nan, 3.0)])
    ends, means = f.binned(step, values)
    assert len(ends) == f.POINTS
    assert ends[0] == 10
    assert means[0, 0] == np.mean(np.arange(10))
    assert (means[1] == 3.0).all()


def test_few_points_stay_as_they_are():
    ends, means = f.binned(np.array([100, 200]), np.array([[1.0, np.nan]]))
    assert ends.tolist() == [100, 200]
    assert means[0, 0] == 1
    assert np.isnan(means[0, 1])
