"""Many faults of networks in one process: tracing a network takes longer than what is tested."""

import itertools
import os
import shutil
import sys
import traceback
from functools import partial

import numpy as np

from faults.changes import ACCIDENTS
from faults.harness import Ended, Fault, ran
from faults.inputs import environment_lines, judged_environment
from faults.stops import write_points
from faults.trainings import ALL, DEEP, damage, often, resumption


def together(lines, place, before=often):
    """How command lines end, each in its folder, in turn; after a crash another process goes on."""
    found, left = [], list(lines)
    while left:
        child = ran(partial(_in_turn, left, before), place, 600)
        for folder, _words in left:
            code = folder / ".code"
            crashed = not code.exists()
            ended = child.code if crashed else int(code.read_text())
            said = [_read(folder / name) for name in (".out", ".err")]
            found.append(Ended(ended, *said, crashed and child.hung))
            if crashed:
                found[-1].err += child.err
                break
        left = lines[len(found) :]
    return found


def _read(path):
    return path.read_text(errors="replace") if path.exists() else ""


def _in_turn(lines, before):
    from adastack.cli import main

    before()
    share_trainers()
    for folder, words in lines:
        os.chdir(folder)
        for name, stream in ((".out", sys.stdout), (".err", sys.stderr)):
            stream.flush()
            with open(name, "wb") as file:
                os.dup2(file.fileno(), stream.fileno())
        try:
            code = main([str(word) for word in words])
        except BaseException:
            traceback.print_exc()
            code = 70
        sys.stdout.flush()
        sys.stderr.flush()
        (folder / ".code").write_text(str(code))
    return 0


def share_trainers():
    """One compiled trainer for all: it is a function of settings, which are the same here."""
    from adastack.deep import (
        finite_recurrent_session,
        finite_session,
        functional_session,
        gym_session,
    )

    for session in (finite_session.FiniteSession, finite_recurrent_session.RecurrentFiniteSession):
        session.make_trainer = staticmethod(_once(session.make_trainer))
    for module, name in (
        (finite_recurrent_session, "StackAgent"),
        (functional_session, "FunctionalTrainer"),
        (gym_session, "HostTrainer"),
    ):
        setattr(module, name, _once(getattr(module, name)))


def _once(make):
    made = []

    def get(*args):
        if not made:
            made.append(make(*args))
        return made[0]

    return get


def _shared(family, names, judge):
    """Faults whose verdicts are found all at once, when the first is asked for."""
    found = []

    def run(place, i):
        if not found:
            found.extend(judge(place))
        return found[i]

    for i, name in enumerate(names):
        yield Fault(family, name, partial(run, i=i))


def left_by_kills(rng, count, references, family=""):
    """The disk as it is at a write point, which is how a kill leaves it; then resumed."""
    for name in DEEP:
        where = list(
            itertools.islice(write_points(rng, references, [name]), round(count / len(DEEP)))
        )

        def judge(place, name=name, where=where):
            folders = [place / str(i) for i in range(len(where))]
            for folder, (_, point, nth) in zip(folders, where, strict=True):
                folder.mkdir()
                if left := references.left(name, point, nth):
                    shutil.copytree(left, folder / "run")
            return [
                resumption(ended, folder / "run", references[name])
                for ended, folder in zip(_resumed(name, folders, place), folders, strict=True)
            ]

        names = [f"{name} {point}, {nth}" for _, point, nth in where]
        yield from _shared(family, names, judge)


def _resumed(name, folders, place):
    words = ("train", *ALL[name], "--out", "run", "--resume")
    return together([(folder, words) for folder in folders], place)


def changed_runs(rng, count, references, family=""):
    """Every file of unfinished and finished runs of networks, changed; then resumed."""
    accidents = itertools.cycle(ACCIDENTS)
    for name in DEEP:
        cases = [
            (next(accidents), bool(rng.random() < 0.7), rng.random(), int(rng.integers(2**32)))
            for _ in range(round(count / len(DEEP)))
        ]

        def judge(place, name=name, cases=cases):
            folders, changed = [place / str(i) for i in range(len(cases))], []
            for folder, (change, half, which, seed) in zip(folders, cases, strict=True):
                source = references.unfinished(name) if half else references[name]
                shutil.copytree(source, folder / "run")
                files = sorted(path for path in (folder / "run").rglob("*") if path.is_file())
                files = [path for path in files if path.name != ".lock"]
                changed.append(files[int(which * len(files))])
                change(np.random.default_rng(seed), changed[-1], files)
            found = []
            for i, ended in enumerate(_resumed(name, folders, place)):
                verdict, note = damage(ended, folders[i] / "run", references[name])
                found.append((verdict, note and f"{changed[i].name}: {note}"))
            return found

        names = [f"{name}, {change.__name__}, {half}, {seed}" for change, half, _, seed in cases]
        yield from _shared(family, names, judge)


def environments(rng, count, family="environments"):
    """Environments that raise, leave, and return what they must not: all there are."""
    cases = environment_lines()
    rng.shuffle(cases)
    cases = list(itertools.islice(itertools.cycle(cases), count))

    def judge(place):
        folders = [place / str(i) for i in range(count)]
        for folder in folders:
            folder.mkdir()
        lines = [(folder, words) for folder, (*_, words) in zip(folders, cases, strict=True)]
        found = together(lines, place, lambda: None)
        return [
            judged_environment(ended, what, where)
            for ended, (what, where, _) in zip(found, cases, strict=True)
        ]

    yield from _shared(family, [f"{what} in {where}" for what, where, _ in cases], judge)
