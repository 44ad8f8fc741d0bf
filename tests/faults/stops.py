"""Processes that end before they are done: killed, signalled, out of disk, out of memory."""

import errno
import itertools
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from functools import partial

from faults.harness import (
    GOOD,
    LOST,
    WRONG,
    Child,
    Fault,
    command,
    ran,
    refused,
    verdict,
)
from faults.trainings import (
    DEEP,
    TABULAR,
    at_point,
    die,
    fail,
    judged_resume,
    leftovers,
    often,
    same,
    train,
)


def write_points(rng, references, names):
    """Every write point of every training, and which of its occurrences; each point once first."""
    found = {name: references.points(name) for name in names}
    points = list(dict.fromkeys(point for each in found.values() for point in each))
    rng.shuffle(points)
    for shift in range(len(names)):
        for i, point in enumerate(points):
            name = names[(i + shift) % len(names)]
            if times := found[name][point]:
                # How often it comes depends on the machine's speed, too.
                yield name, point, int(rng.integers(times // 2 + 1)) + 1


def points(rng, count, references, names, family):
    """Kills at write points."""
    for name, point, nth in itertools.islice(write_points(rng, references, names), count):

        def run(place, name=name, point=point, nth=nth):
            ended = ran(train(name, before=at_point(point, die, nth=nth)), place)
            found = verdict(ended)
            if found or ended.code not in (0, -signal.SIGKILL):
                return found or LOST, ended.said
            return judged_resume(name, place, references[name])

        yield Fault(family, f"{name} {point}, {nth}", run)


def moments(rng, count, references, names, family):
    """Kills at random moments, up to three times."""
    for i in range(count):
        name = names[i % len(names)]
        longest = 4.0 if name in DEEP else 0.4
        waits = rng.random(rng.integers(1, 3)) * longest

        def run(place, name=name, waits=waits):
            for wait in waits:
                child = Child(train(name, "--resume"), place)
                child.computes(wait)
                child.kill()
                found = verdict(child.wait())
                if found:
                    return found, child.err.read_text()
            return judged_resume(name, place, references[name])

        yield Fault(family, f"{name} after {waits.round(2)} s of computing", run)


def errors(rng, count, references):
    """A disk that is full, read-only or broken at one touch of it."""
    kinds = (errno.ENOSPC, errno.EROFS, errno.EIO, errno.EDQUOT)
    found = itertools.islice(write_points(rng, references, list(TABULAR)), count)
    for i, (name, point, nth) in enumerate(found):
        number = kinds[i % len(kinds)]

        def run(place, name=name, number=number, point=point, nth=nth):
            ended = ran(train(name, before=at_point(point, fail(number), nth=nth)), place)
            found = verdict(ended)
            if found:
                return found, ended.said
            if ended.code and not refused(ended):
                return LOST, f"code {ended.code}: {ended.said}"
            return judged_resume(name, place, references[name])

        yield Fault("disk errors", f"{name}, {errno.errorcode[number]} {point}, {nth}", run)


def small_disks(rng, count, references):
    """A real file system without room, and one that is read-only; where they can be mounted."""
    for i in range(count):
        kilobytes = int(rng.integers(16, 160))
        read_only = i % 3 == 2

        def run(place, kilobytes=kilobytes, read_only=read_only):
            disk = place / "disk"
            disk.mkdir()
            mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "faults", str(disk)]
            if subprocess.run(mount, capture_output=True, check=False).returncode:
                return GOOD, "cannot mount here"
            try:
                if read_only:
                    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
                words = ("train", *TABULAR["sarsa"], "--out", "disk/run")
                ended = ran(command(*words, before=often), place)
                found = verdict(ended)
                if found or (ended.code and not refused(ended)):
                    return found or LOST, ended.said
                if ended.code == 0:
                    return GOOD, ""
                subprocess.run(["mount", "-o", "remount,rw,size=8m", str(disk)], check=True)
                ended = ran(command(*words, "--resume", before=often), place)
                if verdict(ended) or ended.code:
                    return verdict(ended) or LOST, ended.said
                if not same(disk / "run", references["sarsa"]):
                    return WRONG, "another result"
                left = leftovers(disk / "run")
                return (WRONG, str(left)) if left else (GOOD, "")
            finally:
                subprocess.run(["umount", str(disk)], check=False)

        yield Fault("small disks", f"{'read-only' if read_only else f'{kilobytes} kB'}", run)


def signals(rng, count, references, names, family):
    """Ctrl-C and SIGTERM: one line, and the run goes on later."""
    for i in range(count):
        name, number = names[i % len(names)], (signal.SIGINT, signal.SIGTERM)[i // len(names) % 2]
        wait = rng.random() * (4.0 if name in DEEP else 0.3)
        twice = rng.random() * 0.1 if rng.random() < 0.5 else None  # Somebody is impatient.

        def run(place, name=name, number=number, wait=wait, twice=twice):
            child = Child(train(name), place)
            time.sleep(0.02)  # Until the fork listens.
            child.computes(wait)
            child.kill(number)
            if twice is not None:
                time.sleep(twice)
                child.kill(number)
            ended = child.wait()
            found = verdict(ended)
            if found:
                return found, ended.said
            early = ended.code == -number and not ended.err  # Before the command line began.
            # Whoever is impatient may get a line for each of the two.
            said = 1 <= len(ended.lines) <= 1 + (twice is not None)
            if ended.code != 0 and not early and not (ended.code == 1 and said):
                return LOST, f"code {ended.code}: {ended.said}"
            return judged_resume(name, place, references[name])

        again = "" if twice is None else f" and {twice:.2f} s later"
        yield Fault(family, f"{name}, {number.name} after {wait:.2f} s{again}", run)


def starts(rng, count):
    """Signals in the first seconds of the command, while it imports."""
    for i in range(count):
        number, wait = (signal.SIGINT, signal.SIGTERM)[i % 2], 0.15 + 2.5 * rng.random()

        def run(place, number=number, wait=wait):
            words = [sys.executable, "-m", "adastack_command", "train", *TABULAR["sarsa"]]
            path = os.pathsep.join(sys.path)
            process = subprocess.Popen(
                [*words, "--steps", "100000000", "--out", "run"], cwd=place, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": path},
                preexec_fn=partial(signal.signal, signal.SIGINT, signal.default_int_handler),
            )  # fmt: skip
            # Python itself has to be there first; it says "Traceback" until our first line.
            while not _runs_ours(process.pid):
                time.sleep(0.005)
            time.sleep(wait)
            process.send_signal(number)
            try:
                _out, err = process.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                return "hang", "it goes on"
            lines = [line for line in err.splitlines() if not line.startswith("steps ")]
            if "Traceback" in err or len(lines) != 1 or process.returncode != 1:
                return "traceback" if "Traceback" in err else LOST, f"{process.returncode} {err}"
            return GOOD, ""

        yield Fault("signals at the start", f"{number.name} after {wait:.2f} s", run)


def _runs_ours(pid):
    """Whether the process has put its own handler on SIGTERM."""
    with open(f"/proc/{pid}/status") as file:
        caught = next(line for line in file if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


def memory(rng, count, references):
    """Less and less memory, in trainings of tables and networks and in evaluations."""
    kinds = ("sarsa", "evaluate", "sarsa", "reinforce", "evaluate", "finite")
    for i in range(count):
        kind = kinds[i % len(kinds)]
        more = int(2 ** rng.uniform(14, 30 if kind in DEEP else 27))

        def run(place, kind=kind, more=more):
            limit = partial(limited, more)
            if kind == "evaluate":
                return _evaluated(place, references["sarsa"], limit)
            ended = ran(train(kind, before=limit), place)
            # XLA ends a process that has no memory left, by a signal or with glibc's 127.
            ends = kind in DEEP and (ended.code < 0 or ended.code == 127)
            if verdict(ended) or not (ended.code == 0 or refused(ended) or ends):
                return verdict(ended) or LOST, f"code {ended.code}: {ended.said}"
            return judged_resume(kind, place, references[kind])

        yield Fault("out of memory", f"{kind}, {more:,} bytes more", run)


def limited(more):
    """No more memory than this, beside what the process has."""
    often()
    with open("/proc/self/statm") as file:
        held = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + more, resource.RLIM_INFINITY))


def _evaluated(place, whole, limit):
    ended = ran(command("evaluate", whole, "--json", before=limit), place)
    if verdict(ended) or not (ended.code == 0 or refused(ended)):
        return verdict(ended) or LOST, f"code {ended.code}: {ended.said}"
    if ended.code == 0:
        expected = ran(command("evaluate", whole, "--json", before=often), place)
        mine, other = (json.loads(each.out)["seeds"] for each in (ended, expected))
        return (GOOD, "") if mine == other else (WRONG, "another evaluation")
    return GOOD, ""


def clocks(rng, count, references):
    """Clocks that jump, and files from another time."""
    for _i in range(count):
        jump = float(rng.choice([-1, 1])) * 10 ** rng.uniform(1, 9.2)

        def run(place, jump=jump):
            def jumping():
                often()
                clock, beat = time.time, 0

                def now():
                    nonlocal beat
                    beat += 1
                    return clock() + jump * (beat % 3)

                time.time = now

            whole = references["sarsa"]
            ended = ran(train("sarsa", before=at_point(9, die, jumping)), place)
            if verdict(ended):
                return verdict(ended), ended.said
            for path in (place / "run").rglob("*"):
                os.utime(path, (1e9 + abs(jump) / 2,) * 2)
            return judged_resume("sarsa", place, whole)

        yield Fault("clock jumps", f"{jump:.3g} s", run)


def shared(rng, count, references):
    """Two processes that train in one folder."""
    for _i in range(count):
        wait = 0.25 * rng.random()

        def run(place, wait=wait):
            first = Child(train("sarsa"), place)
            time.sleep(wait)
            (place / "b").mkdir()
            second = Child(
                command("train", *TABULAR["sarsa"], "--out", "../run", "--resume", before=often),
                place / "b",
            )
            ends = [first.wait(), second.wait()]
            for ended in ends:
                if verdict(ended):
                    return verdict(ended), ended.said
                if ended.code and not refused(ended):
                    return LOST, f"code {ended.code}: {ended.said}"
            return judged_resume("sarsa", place, references["sarsa"])

        yield Fault("two processes", f"{wait:.2f} s apart", run)


def copied(whole, place):
    """A copy of a run to be changed."""
    shutil.copytree(whole, place / "run", symlinks=True)
    return place / "run"


def unpinned(rng, count, references):
    """Trainings of networks that may use all cores: none hangs, all come to the same."""
    for i in range(count):

        def run(place):
            ended = ran(train("finite"), place, 300)
            if verdict(ended) or ended.code:
                return verdict(ended) or LOST, ended.said
            if not same(place / "run", references["finite"]):
                return WRONG, "another result"
            return GOOD, ""

        yield Fault("unpinned", str(i), run)
