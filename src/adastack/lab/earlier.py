"""What an earlier report wrote and this one cannot: its runs are gone, or elsewhere.

A report from fewer runs than an experiment's page rests on does not drop that page: it moves to
``earlier/`` beside the new one, until as many runs are there again.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from adastack.files import read_json

FOLDER = "earlier"
OURS = (".csv", ".svg", ".json", ".md")


def keep_earlier(place: Path, finished: int) -> None:
    """Moves an experiment's page aside if it rests on more runs than are finished now."""
    page, kept = runs_behind(place), runs_behind(place / FOLDER)
    if finished >= max(page, kept):
        shutil.rmtree(place / FOLDER, ignore_errors=True)
    elif page > kept:
        shutil.rmtree(place / FOLDER, ignore_errors=True)
        (place / FOLDER).mkdir(parents=True)
        for path in sorted(place.iterdir()):
            if path.suffix in OURS:
                path.rename(place / FOLDER / path.name)
        text = (place / FOLDER / "README.md").read_text()
        (place / FOLDER / "README.md").write_text(text.replace("](../", "](../../"))


def earlier_page(place: Path, finished: int) -> Path | None:
    """The page of an earlier report that rests on more runs, if there is one."""
    folders = (place / FOLDER, place)
    return next((each for each in folders if runs_behind(each) > finished), None)


def earlier_verdicts(place: Path, finished: int) -> dict[str, str]:
    """What an earlier report with more runs says of each claim, by its id."""
    page = earlier_page(place, finished)
    if page is None or not (page / "claims.json").is_file():
        return {}
    claims: list[dict[str, Any]] = read_json(page / "claims.json")
    return {claim["id"]: claim["verdict"] for claim in claims}


def runs_behind(place: Path) -> int:
    """How many finished runs an experiment's page rests on; 0 if there is no page."""
    path = place / "README.md"
    found = re.search(r"(\d+) of \d+ runs finished", path.read_text()) if path.is_file() else None
    return int(found[1]) if found else 0
