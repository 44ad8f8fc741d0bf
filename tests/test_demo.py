import runpy
import sys
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[1] / "examples" / "demo.py"


def test_the_demo_learns_tests_and_writes_its_page(tmp_path, monkeypatch, capsys):
    words = [str(DEMO), "--out", str(tmp_path), "--seeds", "3", "--steps", "300000"]
    monkeypatch.setattr(sys, "argv", words)
    runpy.run_path(str(DEMO), run_name="__main__")
    text = capsys.readouterr().out
    adaptive = next(line for line in text.splitlines() if "adaptive" in line)
    assert adaptive.count("100%") == 2
    html = (tmp_path / "index.html").read_text()
    assert html.count('<figure class="episode">') == 3
    assert "index.html" in text
    monkeypatch.setattr(sys, "argv", [*words[:-1], "200000"])
    with pytest.raises(SystemExit, match="2"):
        runpy.run_path(str(DEMO), run_name="__main__")
    said = capsys.readouterr().err
    assert "--again" in said
    assert "its steps is 300000, expected 200000\n" in said
