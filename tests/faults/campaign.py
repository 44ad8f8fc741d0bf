"""A thousand faults, seeded: how many were tried, and how many ended as none may.

`python -m faults` prints the table of docs/promises.md. Every family makes faults from a seed; each
runs in an empty folder and a process of its own.
"""

import argparse
import io
import json
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from faults import changes, forgeries, inputs, searches, stops, stores, together
from faults.harness import HANG, LOST, TRACEBACK, WRONG, Fault, Tally
from faults.trainings import DEEP, TABULAR, References

COLUMNS = (LOST, WRONG, TRACEBACK, HANG)
TITLES = ("lost", "silently wrong", "tracebacks", "hangs")
ALL_CORES = "networks on all cores, undisturbed"
"""Only if it is asked for by name."""
SHARES = {
    ALL_CORES: 0.05,
    "kills at write points, tables": 0.24,
    "kills at write points, networks": 0.007,
    "kills at random moments, tables": 0.045,
    "kills at random moments, networks": 0.007,
    "signals, tables": 0.02,
    "signals, networks": 0.007,
    "signals at the start": 0.006,
    "disk errors": 0.06,
    "small disks": 0.012,
    "out of memory": 0.024,
    "clock jumps": 0.015,
    "two processes": 0.012,
    "changed runs": 0.16,
    "changed runs, evaluated": 0.05,
    "hostile checkpoints": 0.09,
    "hostile checkpoints, networks": 0.05,
    "hostile documents": 0.06,
    "command lines": 0.12,
    "markup": 0.03,
    "environments": 0.109,
    "pomdp files": 0.035,
    "the lab, killed": 0.012,
    "the lab on Ray, killed": 0.004,
    "changed stores": 0.06,
    "links in stores": 0.008,
    "malformed jobs": 0.011,
    "archives, changed and merged": 0.03,
    "policies": 0.02,
    "two runners": 0.004,
    "modules in the way": 0.008,
    "the lab, killed at write points": 0.072,
    "the lab, disk errors": 0.024,
    "forged stores": 0.024,
    "forged archives": 0.024,
    "forged policies": 0.03,
    "disks as kills leave them, networks": 0.069,
    "changed runs, networks": 0.07,
    "diagnose and find-k, stopped and changed": 0.03,
}
"""Of all faults, about."""


def families(rng: np.random.Generator, count: int, place: Path) -> dict[str, Iterable[Fault]]:
    """All faults, by family."""
    references = References(place)
    (place / "store").mkdir()
    whole = stores.Whole(place / "store")
    tables, networks = list(TABULAR), list(DEEP)

    def n(name: str) -> int:
        return max(1, round(count * SHARES[name]))

    def given(make: Callable[..., Iterable[Fault]], *rest: Any) -> Callable[..., Iterable[Fault]]:
        return lambda r, k: make(r, k, *rest)

    made = {
        "kills at write points, tables": given(stops.points, references, tables, ""),
        "kills at write points, networks": given(stops.points, references, networks, ""),
        "kills at random moments, tables": given(stops.moments, references, tables, ""),
        "kills at random moments, networks": given(stops.moments, references, networks, ""),
        ALL_CORES: given(stops.unpinned, references),
        "signals, tables": given(stops.signals, references, tables, ""),
        "signals, networks": given(stops.signals, references, networks, ""),
        "signals at the start": stops.starts,
        "disk errors": given(stops.errors, references),
        "small disks": given(stops.small_disks, references),
        "out of memory": given(stops.memory, references),
        "clock jumps": given(stops.clocks, references),
        "two processes": given(stops.shared, references),
        "changed runs": given(changes.of_runs, references, tables),
        "changed runs, evaluated": given(changes.evaluated, references),
        "hostile checkpoints": given(changes.malicious, references),
        "hostile checkpoints, networks": given(changes.forged_networks, references),
        "hostile documents": given(changes.documents, references),
        "command lines": given(inputs.words, references),
        "markup": given(inputs.markup, references),
        "environments": lambda r, k: [
            *together.environments(r, k - k // 20),
            *inputs.symbols(r, k // 20),
        ],
        "pomdp files": inputs.pomdp_files,
        "the lab, killed": given(stores.killed, whole),
        "the lab on Ray, killed": given(stores.killed, whole, "ray"),
        "changed stores": given(stores.changed, whole),
        "links in stores": given(stores.links, whole),
        "malformed jobs": given(stores.hostile_jobs, whole),
        "archives, changed and merged": given(stores.merged, whole),
        "policies": given(stores.policies, place),
        "two runners": given(stores.shared, whole),
        "modules in the way": given(stores.path_hijack, whole),
        # At the end, so that the others stay what they were under the same seed.
        "the lab, killed at write points": given(stores.killed_writing, whole, place),
        "the lab, disk errors": given(stores.failed_writing, whole, place),
        "forged stores": given(forgeries.of_stores, whole),
        "forged archives": given(forgeries.of_archives, whole),
        "forged policies": given(forgeries.of_policies, place),
        "disks as kills leave them, networks": given(together.left_by_kills, references),
        "changed runs, networks": given(together.changed_runs, references),
        "diagnose and find-k, stopped and changed": given(searches.searches, place),
    }
    return {name: make(rng.spawn(1)[0], n(name)) for name, make in made.items()}


def run(
    seed: int, count: int, only: str = "", processes: int = 1, kept: Path | None = None
) -> dict[str, Tally]:
    """Runs the campaign, some families side by side, and prints what is not good as it comes.

    Families whose counts a file ``kept`` has are not run again; it gets those of the others.
    """
    known = _read(kept, seed) if kept else {}
    names = [name for name in SHARES if only in name and (name != ALL_CORES or only)]
    left = [name for name in names if name not in known]
    if left:
        warm_up()
    # In memory, where there is such a place: thousands of small files are written to the disk.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="faults-", dir=memory) as root:
        # Each part takes the next family as soon as it is done with one.
        queue, filled = os.pipe()
        os.write(filled, bytes(list(SHARES).index(name) for name in left))
        os.close(filled)
        children = []
        for part in range(processes):
            place = Path(root) / str(part)
            place.mkdir()
            pid = os.fork()
            if pid == 0:
                _run_part(seed, count, place, queue, kept or Path(root) / "tallies")
            children.append(pid)
        failed = [pid for pid in children if os.waitpid(pid, 0)[1]]
        assert not failed, "a part of the campaign has died"
        found = _read(kept or Path(root) / "tallies", seed)
        return {name: found[name] for name in names}


def _read(path: Path, seed: int) -> dict[str, Tally]:
    """The counts of families, a line each."""
    lines = map(json.loads, path.read_text().splitlines() if path.exists() else [])
    return {name: Tally(**counts) for its, name, counts in lines if its == seed}


def _run_part(seed: int, count: int, place: Path, queue: int, kept: Path) -> None:
    """One family after the other, in a process of its own."""
    code = 1
    try:
        made = families(np.random.default_rng(seed), count, place)
        while number := os.read(queue, 1):
            name = list(SHARES)[number[0]]
            tally = _run_family(name, made[name], place)
            with kept.open("a") as file:
                file.write(json.dumps([seed, name, vars(tally)]) + "\n")
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _run_family(name: str, faults: Iterable[Fault], place: Path) -> Tally:
    """One family; what is not good is printed as it comes, and its counts at the end."""
    tally, noted = Tally(), 0
    for fault in faults:
        fault.family = name
        empty = Path(tempfile.mkdtemp(dir=place))
        tally.add(fault, empty)
        shutil.rmtree(empty, ignore_errors=True)
        for note in tally.notes[noted:]:
            print(note[:3000], file=sys.stderr, flush=True)
        noted = len(tally.notes)
    took = f"{tally.seconds:.0f} s, {tally.computed:.0f} s of computing"
    print(f"{_row(name, tally)} {took}", file=sys.stderr, flush=True)
    return tally


def warm_up() -> None:
    """Imports what every fault needs, so that its process starts at once."""
    os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
    from adastack.algorithms import import_sessions

    import_sessions()
    import adastack.commands.diagnose
    import adastack.commands.evaluate
    import adastack.commands.find_k
    import adastack.lab.exact
    from adastack.cli import main as adastack

    # Tables are compiled here, once; networks are not: a fork would lose JAX's threads.
    with (
        tempfile.TemporaryDirectory() as place,
        redirect_stdout(io.StringIO()),
        redirect_stderr(io.StringIO()),
    ):
        for name, words in TABULAR.items():
            adastack(["train", *words, "--out", f"{place}/{name}"])


def table(by_seed: dict[int, dict[str, Tally]]) -> str:
    """The counts of all seeds together, and of each, in Markdown."""
    rows = [f"| fault | tried | {' | '.join(TITLES)} |", "| --- |" + " ---: |" * 5]
    for name in next(iter(by_seed.values())):
        rows.append(_row(name, _sum(tallies[name] for tallies in by_seed.values())))
    for seed, tallies in by_seed.items():
        rows.append(_row(f"**all, seed {seed}**", _sum(tallies.values())))
    return "\n".join(rows)


def _sum(tallies: Iterable[Tally]) -> Tally:
    total = Tally()
    for tally in tallies:
        total.tried += tally.tried
        total.notes += tally.notes
        for found, number in tally.counts.items():
            total.counts[found] = total.counts.get(found, 0) + number
    return total


def _row(name: str, tally: Tally) -> str:
    numbers = [tally.tried, *(tally.counts.get(each, 0) for each in COLUMNS)]
    return f"| {name} | {' | '.join(map(str, numbers))} |"


def main() -> int:
    """Prints the table; code 1 if a fault ended as none may."""
    parser = argparse.ArgumentParser(prog="python -m faults", description=__doc__)
    parser.add_argument(
        "--seed", type=int, nargs="+", default=[0], help="where the faults come from (0)"
    )
    parser.add_argument("--count", type=int, default=1020, help="how many, at least (1020)")
    parser.add_argument("--only", default="", help="families whose name has this in it")
    parser.add_argument("--processes", type=int, default=1, help="families side by side (1)")
    parser.add_argument("--keep", type=Path, help="a file of counts: go on from there")
    args = parser.parse_args()
    began = time.monotonic()
    found = {
        seed: run(seed, args.count, args.only, args.processes, args.keep) for seed in args.seed
    }
    print(table(found))
    print(f"\n{(time.monotonic() - began) / 60:.0f} minutes")
    return int(any(_sum(tallies.values()).notes for tallies in found.values()))
