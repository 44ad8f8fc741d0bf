"""``adastack runs``: what was trained in ``runs/``, and what the lab's store holds."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from rich.table import Column, Table

from adastack.commands import Output
from adastack.files import DamagedFileError
from adastack.folders import Folder
from adastack.lab.job import Job
from adastack.lab.live import duration, label, span
from adastack.lab.store import ROOT, Store
from adastack.runs import Run, RunError
from adastack.schemas import is_number
from adastack.training import RUN_SETTINGS

RUNS = Path("runs")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``adastack runs``."""
    parser.add_argument(
        "words",
        metavar="WORD",
        nargs="*",
        help="only runs with all these words, as in xormaze, frame, ppo, failed",
    )
    parser.add_argument(
        "--folder", type=Path, metavar="DIR", default=RUNS, help="where `train` keeps runs (runs)"
    )
    parser.add_argument(
        "--store", type=Path, metavar="DIR", help="the lab's runs alone (and lab, if there is one)"
    )
    parser.add_argument(
        "--verify", action="store_true", help="only the damaged ones; code 1 if there are any"
    )
    parser.add_argument("--remove", metavar="NAME", nargs="+", help="remove these")
    parser.add_argument("--yes", action="store_true", help="do not ask before removing")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Lists, or removes."""
    root = args.store or ROOT
    wanted = [word.lower() for word in args.words]
    of_store = args.store or args.verify or args.remove
    trained = [] if of_store else trained_runs(args.folder)
    trained = [row for row in trained if all(word in _text(row) for word in wanted)]
    if not root.is_dir() and (of_store or not args.folder.is_dir()):
        raise ValueError(
            f"expected runs in {args.folder} (`adastack train`) or a store in {root} "
            "(`adastack reproduce`), actual: neither"
        )
    found = {"folder": str(args.folder), "trained": trained}
    return found | (_of_store(args, root, wanted) if root.is_dir() else {})


def _of_store(args: argparse.Namespace, root: Path, wanted: list[str]) -> dict[str, Any]:
    store = Store(root)
    if args.remove:
        return {"store": str(root), "removed": _remove(store, args.remove, args.yes)}
    known = {job.address: job for job in store.jobs()}
    rows = [_row(store, known.get(folder.name), folder) for folder in store.folders()]
    rows = [row for row in rows if all(word in _text(row) for word in wanted)]
    if args.verify:
        rows = [row for row in rows if row["status"] == "damaged"]
    return {
        "store": str(root),
        "verify": args.verify,
        "addresses": bool(wanted),
        "runs": rows,
    }


def exit_code(result: dict[str, Any]) -> int:
    """1 if damage was looked for and found."""
    return int(bool(result.get("verify") and result["runs"]))


def trained_runs(folder: Path) -> list[dict[str, Any]]:
    """The runs in a folder, with what they came to: means over their seeds."""
    paths = sorted(path.parent for path in folder.rglob("settings.json"))
    return [_trained(path) for path in paths]


def _trained(path: Path) -> dict[str, Any]:
    try:
        return _came_to(Run.open(path))
    except (DamagedFileError, OSError, RunError):
        row = {"address": str(path), "what": "?", "seeds": [], "steps": 0, "status": "damaged"}
        return {**row, "success": None, "return": None}


def _came_to(run: Run) -> dict[str, Any]:
    asked = RUN_SETTINGS.check(run.settings, run.path)
    rows = run.result["seeds"] if run.status == "finished" else []
    memory = f"{asked.get('memory')} memory of {asked.get('stack_size')}"
    return {
        "address": str(run.path),
        "what": f"{asked.get('task')}, {asked.get('algo')}, {memory}",
        "seeds": list(asked.get("seeds", ())),
        "steps": int(asked.get("steps", 0)),
        "status": run.status,
        **{name: _mean(rows, name) for name in ("success", "return")},
    }


def _mean(rows: list[dict[str, Any]], name: str) -> float | None:
    known = [row[name] for row in rows if is_number(row.get(name))]
    return sum(known) / len(known) if known else None


def _row(store: Store, job: Job | None, folder: Path) -> dict[str, Any]:
    """A run as a row; every file of it is compared with its checksum."""
    row: dict[str, Any] = {"address": folder.name, "bytes": _size(folder)}
    if job is None:
        return {**row, "what": "?", "seeds": [], "steps": 0, "status": "damaged"}
    status = store.status(job)
    spent = store.document(job)["seconds"] if status == "finished" else None
    return {
        **row,
        "what": label(job),
        "seeds": list(job.settings.get("seeds", ())),
        "steps": int(job.settings.get("steps", 0)),
        "status": status,
        "seconds": spent,
        "reason": store.reason(job) if status == "failed" else None,
    }


def _size(folder: Path) -> int:
    if folder.is_symlink():
        return 0
    return sum(path.lstat().st_size for path in Folder(folder).walk())


def _text(row: dict[str, Any]) -> str:
    return f"{row['address']} {row['what']} {row['status']}".lower()


def _remove(store: Store, addresses: list[str], sure: bool) -> list[str]:
    known = {folder.name for folder in store.folders()}
    for address in addresses:
        if address not in known:
            raise ValueError(f"expected a run of {store.root}, actual: {address}")
    if not sure and not _confirmed(len(addresses)):
        raise ValueError("nothing removed: --yes removes without asking")
    for address in addresses:
        store.remove(address)
    return addresses


def _confirmed(count: int) -> bool:
    if not sys.stdin.isatty():
        return False
    print(f"Remove {count} run{'s' * (count > 1)} for good? [y/N] ", end="", file=sys.stderr)
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def show(result: dict[str, Any]) -> None:
    """Prints a row for each run."""
    console = Output()
    if "removed" in result:
        console.print(f"removed {len(result['removed'])} from {result['store']}", highlight=False)
        return
    if result["trained"] or "runs" not in result:
        _show_trained(console, result["trained"], result["folder"])
    if "runs" not in result:
        return
    rows = result["runs"]
    if result["verify"] and not rows:
        console.print("every finished run is as it was written")
        return
    table = Table(Column("run", overflow="fold"), "seeds", "steps", "status", "time", "size")
    for row in rows:
        spent = "" if row.get("seconds") is None else duration(row["seconds"])
        status = row["status"] + (f": {row['reason']}" if row.get("reason") else "")
        size = f"{row['bytes'] / 1e6:.1f} MB"
        named = result["addresses"] or row["status"] != "finished"
        what = f"{row['what']}\n{row['address']}" if named else row["what"]
        table.add_row(what, span(row["seeds"]), f"{row['steps']:,}", status, spent, size)
    console.print(table)
    total = sum(row["bytes"] for row in rows) / 1e6
    count = f"{len(rows)} run{'s' * (len(rows) != 1)}"
    console.print(f"{count}, {total:,.0f} MB in {result['store']}", highlight=False)


def _show_trained(console: Output, rows: list[dict[str, Any]], folder: str) -> None:
    table = Table(
        Column("run", overflow="fold"),
        "seeds",
        "steps",
        "status",
        "success\nfraction",
        "return\nper attempt",
    )
    for row in rows:
        cells = ("-" if row[name] is None else f"{row[name]:.3g}" for name in ("success", "return"))
        what = f"{row['what']}\n{row['address']}"
        table.add_row(what, span(row["seeds"]), f"{row['steps']:,}", row["status"], *cells)
    console.print(table)
    console.print(f"{len(rows)} run{'s' * (len(rows) != 1)} in {folder}", highlight=False)
