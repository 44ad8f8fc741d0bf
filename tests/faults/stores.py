"""The lab: stores that are killed, changed, linked and shared; policies; the archive."""

import contextlib
import errno
import itertools
import json
import os
import shutil
import signal
import sys
import time
from collections import Counter

import numpy as np

from adastack.files import DamagedFileError
from adastack.lab.archive import Archive
from adastack.lab.archiving import merge
from adastack.lab.runner import run as run_jobs
from adastack.lab.store import Store
from adastack.lab.worker import attempt
from faults.changes import ACCIDENTS
from faults.harness import GOOD, LOST, WRONG, Child, Fault, command, ran, refused, verdict
from faults.trainings import at_point, die, fail, leftovers, noting
from lab.kinds import longer, tabular
from lab.kinds import often as saving_often


def jobs():
    return [saving_often(tabular([seed], 30_000, evaluate=[longer()])) for seed in range(2)]


def computed_here(before=None):
    """The jobs of a small store, computed by one process as a worker does it."""

    def work():
        if before is not None:
            before()
        endings = [attempt(Store("lab"), job) for job in jobs()]
        failed = [each.reason for each in endings if each.status not in ("finished", "reused")]
        for reason in failed[:1]:
            print(f"adastack: {reason}", file=sys.stderr)
        return int(bool(failed))

    return work


def computed(root="lab", backend="local", before=None):
    """The same by a pool of workers; code 1 if one failed."""

    def work():
        if before is not None:
            before()
        try:
            outcome = run_jobs(jobs(), Store(root), backend=backend, workers=1)
        except OSError as error:
            print(f"adastack: {error}", file=sys.stderr)
            return 1
        for reason in outcome.failed.values():
            print(f"adastack: {reason}", file=sys.stderr)
        return int(bool(outcome.failed))

    return work


class Whole:
    """An undisturbed store."""

    def __init__(self, place):
        self.place = place

    @property
    def root(self):
        if not (self.place / "lab").exists():
            ended = ran(computed(), self.place, 600)
            assert ended.code == 0, ended.said
        return self.place / "lab"


def same_stores(mine, other):
    mine, other = Store(mine), Store(other)
    for job in jobs():
        if mine.status(job) != "finished" or mine.result(job) != other.result(job):
            return False
        ours, theirs = mine.metrics(job), other.metrics(job)
        if not all(np.array_equal(ours[n], theirs[n], equal_nan=True) for n in theirs):
            return False
        if any(mine.evaluation(job, e) != other.evaluation(job, e) for e in job.evaluate):
            return False
    return True


def judged(place, whole, work=None):
    ended = ran(work or computed(), place, 240)
    if verdict(ended) or ended.code:
        return verdict(ended) or LOST, f"code {ended.code}: {ended.said}"
    if not same_stores(place / "lab", whole.root):
        return WRONG, "another result"
    left = leftovers(place / "lab")
    return (WRONG, f"left {left}") if left else (GOOD, "")


def _workers(parent):
    """The processes that a runner has started, by the store's heartbeats."""
    found = []
    for path in (parent / "lab").glob("*/progress.json"):
        try:
            found.append(json.loads(path.read_text())["pid"])
        except (OSError, ValueError):
            continue
    return found


def killed(rng, count, whole, backend="local", family="the lab, killed"):
    """The command, or its worker, killed at random moments."""
    for i in range(count):
        wait, worker = rng.random() * (12.0 if backend == "ray" else 4.0), i % 2 == 1

        def run(place, wait=wait, worker=worker):
            child = Child(computed(backend=backend), place)
            child.computes(wait)
            if worker:
                for pid in _workers(place):
                    _kill(pid)
                ended = child.wait(240)
                if verdict(ended) or ended.code:
                    return verdict(ended) or LOST, ended.said
            else:
                child.kill()
                child.wait()
            return judged(place, whole, computed_here())

        yield Fault(family, f"{'worker' if worker else 'command'} after {wait:.2f} s", run)


def write_points(rng, place):
    """Every write point of a small store, and which of its occurrences."""
    place.mkdir()
    ended = ran(computed_here(noting(place / "points", _nothing)), place)
    assert ended.code == 0, ended.said
    points = Counter((place / "points").read_text().splitlines())
    where = [(point, int(rng.integers(times // 2 + 1)) + 1) for point, times in points.items()]
    rng.shuffle(where)
    return itertools.cycle((point, int(nth)) for point, nth in where)


def killed_writing(rng, count, whole, place):
    """A worker killed at every write point of a store."""
    for point, nth in itertools.islice(write_points(rng, place / "points"), count):

        def run(place, point=point, nth=nth):
            ended = ran(computed_here(at_point(point, die, _nothing, nth)), place)
            if verdict(ended) or ended.code not in (0, -signal.SIGKILL):
                return verdict(ended) or LOST, ended.said
            return judged(place, whole, computed_here())

        yield Fault("the lab, killed at write points", f"{point}, {nth}", run)


def failed_writing(rng, count, whole, place):
    """A disk that is full, read-only or broken at a write point of a store."""
    kinds = itertools.cycle((errno.ENOSPC, errno.EROFS, errno.EIO, errno.EDQUOT))
    where = itertools.islice(write_points(rng, place / "failing-points"), count)
    for (point, nth), number in zip(where, kinds, strict=False):

        def run(place, point=point, nth=nth, number=number):
            ended = ran(computed_here(at_point(point, fail(number), _nothing, nth)), place)
            if verdict(ended) or (ended.code and not refused(ended)):
                return verdict(ended) or LOST, ended.said
            return judged(place, whole, computed_here())

        yield Fault("the lab, disk errors", f"{errno.errorcode[number]} {point}, {nth}", run)


def _nothing():
    pass


def _kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def changed(rng, count, whole):
    """Every file of a store, changed: noticed, and computed anew, or the same."""
    for i in range(count):
        change, seed, which = ACCIDENTS[i % len(ACCIDENTS)], int(rng.integers(2**32)), rng.random()

        def run(place, change=change, seed=seed, which=which):
            shutil.copytree(whole.root, place / "lab")
            files = sorted(p for p in (place / "lab").rglob("*") if p.is_file())
            files = [path for path in files if ".lock" not in str(path)]
            path = files[int(which * len(files))]
            before = _answers(whole.root)
            change(np.random.default_rng(seed), path, files)
            now = _answers(place / "lab")
            for name, value in now.items():
                if value is not None and value != before[name]:
                    return WRONG, f"{path.name}: {name}"
            listed = ran(command("runs", "--store", "lab"), place)
            if verdict(listed) or listed.code not in (0, 1):
                return verdict(listed) or LOST, listed.said
            linked = any(p.is_symlink() for p in (place / "lab").rglob("*"))
            if not linked:
                return judged(place, whole, computed_here())
            ended = ran(computed_here(), place)
            if verdict(ended) or not refused(ended):
                return verdict(ended) or LOST, ended.said
            return GOOD, ""

        yield Fault("changed stores", f"{change.__name__}, {seed}", run)


def _answers(root):
    """What a store says of its jobs; None where it says that it cannot."""
    store, found = Store(root), {}
    for job in jobs():
        for name, ask in {
            "result": lambda job=job: store.result(job),
            "curves": lambda job=job: str({n: v.tolist() for n, v in store.metrics(job).items()}),
            "test": lambda job=job: store.evaluation(job, job.evaluate[0]),
        }.items():
            try:
                found[job.address, name] = ask()
            except (DamagedFileError, KeyError):
                found[job.address, name] = None
    return found


def links(rng, count, whole):
    """Links in a store that lead out of it: the files there stay as they are."""
    for i in range(count):
        kind = i % 4

        def run(place, kind=kind):
            home = place / "home"
            home.mkdir()
            for name in (".bashrc", "done.json", "notes"):
                (home / name).write_text("mine")
            shutil.copytree(whole.root, place / "lab")
            folder = Store(place / "lab").folder(jobs()[0])
            if kind == 0:
                shutil.rmtree(folder)
                folder.symlink_to(home)
            elif kind == 1:
                shutil.rmtree(folder / "run")
                (folder / "run").symlink_to(home)
            elif kind == 2:
                (folder / "done.json").unlink()
                (folder / "done.json").symlink_to(home / "done.json")
            else:
                (place / "lab" / ".locks" / folder.name).unlink(missing_ok=True)
                (place / "lab" / ".locks" / folder.name).symlink_to(home / "lock")
                (folder / "done.json").unlink()
            ended = ran(computed_here(), place)
            found = {path.name: path.read_text() for path in home.iterdir()}
            if found != dict.fromkeys((".bashrc", "done.json", "notes"), "mine"):
                return LOST, "somebody's files"
            if verdict(ended) or not refused(ended):
                return verdict(ended) or WRONG, f"{kind}: {ended.code} {ended.said}"
            return GOOD, ""

        yield Fault("links in stores", str(kind), run)


def hostile_jobs(rng, count, whole):
    """A job file that is malformed does not hide the others."""
    odd = (None, [], 3, "x", {}, {"kind": 3}, {"kind": "train", "settings": {"steps": "x"}},
           {"kind": "[/b]\x1b[31m", "settings": {}}, {"kind": "x", "settings": {"seeds": 3}},
           {"kind": "os:system", "settings": {"task": "id"}, "evaluate": [3]},
           {"kind": "x", "settings": {}, "evaluate": [{"task": "x", "seed": -1}]})  # fmt: skip
    for i in range(count):
        said = odd[i % len(odd)]

        def run(place, said=said):
            shutil.copytree(whole.root, place / "lab")
            folder = Store(place / "lab").folder(jobs()[0])
            (folder / "job.json").write_text(json.dumps(said))
            for words in (("runs",), ("reproduce", "tabular", "--scale", "smoke", "--dry-run")):
                ended = ran(command(*words, "--store", "lab"), place)
                if verdict(ended) or ended.code:
                    return verdict(ended) or LOST, f"{words}: {ended.said}"
            return judged(place, whole, computed_here())

        yield Fault("malformed jobs", f"{said!r}"[:40], run)


def shared(rng, count, whole):
    """Two runners on one store."""
    for _i in range(count):
        wait = rng.random()

        def run(place, wait=wait):
            first = Child(computed(), place)
            time.sleep(wait)
            (place / "b").mkdir()
            second = Child(computed(root=str(place / "lab")), place / "b")
            for child in (first, second):
                ended = child.wait(240)
                if verdict(ended) or ended.code:
                    return verdict(ended) or LOST, ended.said
            return judged(place, whole, computed_here())

        yield Fault("two runners", f"{wait:.2f} s apart", run)


def path_hijack(rng, count, whole):
    """Modules in the current folder with the names of libraries: they are not imported."""
    names = ("numba", "jax", "numpy", "lark", "json", "safetensors", "rich", "sitecustomize")
    for i in range(count):
        name = names[i % len(names)]

        def run(place, name=name):
            (place / f"{name}.py").write_text(
                f"open({str(place / 'stolen')!r}, 'w').close(); raise ImportError('hijacked')"
            )
            found = judged(place, whole)
            return (WRONG, "it was run") if (place / "stolen").exists() else found

        yield Fault("modules in the way", name, run)


def merged(rng, count, whole):
    """A merge into an archive that is killed, and archives and stores that were changed."""
    for i in range(count):
        point, seed, which = i // 2 % 16 + 1, int(rng.integers(2**32)), rng.random()
        change = ACCIDENTS[i // 2 % len(ACCIDENTS)] if i % 2 else None

        def run(place, point=point, seed=seed, which=which, change=change):
            expected = _archived(whole.root, place / "expected")
            root = place / "archive"
            if change is None:
                ended = ran(merging(whole.root, root, at_point(point, die, _nothing)), place)
                if ended.code not in (0, -signal.SIGKILL):
                    return verdict(ended) or LOST, ended.said
            else:
                _archived(whole.root, root)
                files = sorted(root.iterdir())
                change(np.random.default_rng(seed), files[int(which * len(files))], files)
                found = _said(root)
                for address, result in found.items():
                    if result is not None and result != _said(place / "expected")[address]:
                        return WRONG, address
            ended = ran(merging(whole.root, root), place)
            if verdict(ended) or (ended.code and not refused(ended)):
                return verdict(ended) or LOST, ended.said
            if ended.code == 0 and _contents(root) != expected:
                return WRONG, "another archive"
            return GOOD, ""

        yield Fault("archives", f"{'merge' if change is None else change.__name__}, {point}", run)


def merging(store, root, before=None):
    def work():
        if before is not None:
            before()
        try:
            merge([store], Archive(root), jobs())
        except OSError as error:
            print(f"adastack: {error}", file=sys.stderr)
            return 1
        return 0

    return work


def _archived(store, root):
    merge([store], Archive(root), jobs())
    return _contents(root)


def _contents(root):
    return {path.name: path.read_bytes() for path in root.iterdir() if path.suffix == ".json"}


def _said(root):
    archive = Archive(root)
    return {
        job.address: archive.result(job) if archive.body(job.address) else None for job in jobs()
    }


def policies(rng, count, place):
    """Exported policies that were changed: refused, or the same actions."""
    whole = place / "policy"
    for i in range(count):
        change, seed, which = ACCIDENTS[i % len(ACCIDENTS)], int(rng.integers(2**32)), rng.random()

        def run(place, change=change, seed=seed, which=which):
            import adastack.integrations.sb3  # noqa: F401  # Here, for it takes seconds.

            if not whole.exists():
                ended = ran(lambda: export(whole), place, 300)
                assert ended.code == 0, ended.said
            shutil.copytree(whole, place / "policy")
            files = [place / "policy" / name for name in ("policy.json", "policy.safetensors")]
            change(np.random.default_rng(seed), files[int(which * 2)], files)
            ended = ran(lambda: _load(place / "policy", whole), place)
            return verdict(ended) or (GOOD if ended.code == 0 else WRONG), ended.said

        yield Fault("policies", f"{change.__name__}, {seed}", run)


def export(folder):
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env

    import adastack  # noqa: F401
    from adastack.integrations.sb3 import VecAdaptiveStack, export_policy

    torch.set_num_threads(1)
    venv = VecAdaptiveStack(make_vec_env("adastack/PassiveTMaze-v0", 1), 2)
    model = PPO("MlpPolicy", venv, n_steps=8, batch_size=8, policy_kwargs={"net_arch": [4]})
    export_policy(folder, model, venv, task="a maze", episodes=1)


def _load(folder, whole):
    from adastack.integrations.sb3 import load_policy

    try:
        found = load_policy(folder).policy.state_dict()
    except DamagedFileError:
        return 0
    other = load_policy(whole).policy.state_dict()
    return int(any(not (found[name] == other[name]).all() for name in other))
