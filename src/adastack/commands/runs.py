"""``adastack runs``: what the store holds."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from rich.table import Table

from adastack.commands import Output
from adastack.lab.job import Job
from adastack.lab.live import duration, label, span
from adastack.lab.store import ROOT, Store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``adastack runs``."""
    parser.add_argument(
        "words",
        metavar="WORD",
        nargs="*",
        help="only runs with all these words, as in xormaze, frame, ppo, failed",
    )
    parser.add_argument(
        "--store", type=Path, metavar="DIR", default=ROOT, help="the folder of the runs (lab)"
    )
    parser.add_argument(
        "--verify", action="store_true", help="only the damaged ones; code 1 if there are any"
    )
    parser.add_argument("--remove", metavar="NAME", nargs="+", help="remove these")
    parser.add_argument("--yes", action="store_true", help="do not ask before removing")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Lists, or removes."""
    store = Store(args.store)
    if not args.store.is_dir():
        raise ValueError(f"expected a store, actual: {args.store}; run `adastack reproduce` first")
    if args.remove:
        return {"store": str(args.store), "removed": _remove(store, args.remove, args.yes)}
    known = {job.address: job for job in store.jobs()}
    rows = [_row(store, known.get(folder.name), folder) for folder in store.folders()]
    wanted = [word.lower() for word in args.words]
    rows = [row for row in rows if all(word in _text(row) for word in wanted)]
    if args.verify:
        rows = [row for row in rows if row["status"] == "damaged"]
    return {
        "store": str(args.store),
        "verify": args.verify,
        "addresses": bool(wanted),
        "runs": rows,
    }


def exit_code(result: dict[str, Any]) -> int:
    """1 if damage was looked for and found."""
    return int(bool(result.get("verify") and result["runs"]))


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
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


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
    rows = result["runs"]
    if result["verify"] and not rows:
        console.print("every finished run is as it was written")
        return
    table = Table("run", "seeds", "steps", "status", "time", "size")
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
