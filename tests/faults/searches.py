"""Commands that train several runs for one answer: stopped, and with files that were changed."""

import errno
import itertools
import json
import shutil
import signal
from collections import Counter

import numpy as np

from faults.changes import ACCIDENTS
from faults.harness import GOOD, LOST, WRONG, Fault, command, ran, refused, verdict
from faults.trainings import at_point, die, fail, leftovers, noting, often

SMALL = ("--no-proof", "--seeds", "2", "--max-k", "2", "--out", "search", "--json")
SEARCHES = {
    "diagnose": ("diagnose", "passive-tmaze:length=4", "--steps", "1000", *SMALL),
    "find-k": ("find-k", "passive-tmaze:length=4", "--steps", "1000", *SMALL),
}


def searches(rng, count, place):
    """Kills and disk errors at write points, and changed files; then the same command again."""
    wholes = {name: place / f"search-{name}" for name in SEARCHES}
    disks = itertools.cycle((errno.ENOSPC, errno.EROFS, errno.EIO))
    accidents = itertools.cycle(ACCIDENTS)
    for i in range(count):
        name, kind, seed = list(SEARCHES)[i % 2], i // 2 % 3, int(rng.integers(2**32))
        do = (die, fail(next(disks)), next(accidents))[kind]

        def run(place, name=name, kind=kind, seed=seed, do=do):
            expected, chance = _answer(name, wholes[name]), np.random.default_rng(seed)
            if kind == 2:
                shutil.copytree(wholes[name] / "search", place / "search")
                what = _changed(chance, place / "search", do)
            else:
                what = _point(chance, wholes[name])
                ended = ran(
                    command(*SEARCHES[name], before=at_point(what[0], do, nth=what[1])), place
                )
                stopped = ended.code in (0, -signal.SIGKILL) if kind == 0 else not ended.code
                if verdict(ended) or not (stopped or refused(ended)):
                    return verdict(ended) or LOST, f"{what}: code {ended.code}: {ended.said}"
            return _judged(name, place, expected, kind == 2, what)

        yield Fault("searches", f"{name}, {kind}, {seed}", run)


def _answer(name, place):
    """What a search says undisturbed; made once."""
    if not place.exists():
        place.mkdir()
        before = noting(place / "points")
        ended = ran(command(*SEARCHES[name], before=before), place, 300)
        assert ended.code == 0, ended.said
        (place / "answer").write_text(ended.out)
    return _said((place / "answer").read_text())


def _said(text):
    return {key: value for key, value in json.loads(text).items() if key != "seconds"}


def _point(rng, whole):
    points = Counter((whole / "points").read_text().splitlines())
    point = list(points)[int(rng.integers(len(points)))]
    return point, int(rng.integers(points[point] // 2 + 1)) + 1


def _changed(rng, folder, change):
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    path = files[int(rng.integers(len(files)))]
    change(rng, path, files)
    return f"{path.parent.name}/{path.name}"


def _judged(name, place, expected, changed, what):
    ended = ran(command(*SEARCHES[name], before=often), place)
    if verdict(ended):
        return verdict(ended), f"{what}: {ended.said}"
    if changed and refused(ended):
        return GOOD, ""
    if ended.code:
        return LOST, f"{what}: code {ended.code}: {ended.said}"
    found = _said(ended.out)
    if found != expected and not (changed and found.get("failed")):
        return WRONG, f"{what}: {found}"
    left = leftovers(place / "search")
    return (WRONG, f"left {left}") if left else (GOOD, "")
