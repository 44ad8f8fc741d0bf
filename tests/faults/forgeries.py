"""Stores, archives and policies with valid checksums, forged with knowledge of the format."""

import contextlib
import hashlib
import json
import shutil

import numpy as np

from adastack.files import DamagedFileError, decode_json, encode_arrays, encode_json, read_arrays
from adastack.lab.archive import Archive
from adastack.lab.archive_file import decode, encode
from adastack.lab.store import Store
from adastack.schemas import sealed
from faults.changes import _malices, _other
from faults.harness import GOOD, LOST, WRONG, Fault, command, ran, refused, verdict
from faults.stores import computed_here, export, jobs, merging

DONE = "done.json"


def of_stores(rng, count, whole):
    """A job's documents: believed, refused or computed anew, and the rest of the store is whole."""
    for i in range(count):
        seed, test = int(rng.integers(2**32)), i % 3 == 2

        def run(place, seed=seed, test=test):
            shutil.copytree(whole.root, place / "lab")
            _forge(np.random.default_rng(seed), Store(place / "lab").folder(jobs()[0]), test)
            ways = {
                "read": lambda: _ask(Store(place / "lab")),
                "listed": command("runs", "--store", "lab"),
                "archived": merging(place / "lab", place / "archive"),
                "computed": computed_here(),
            }
            return _tried(ways, place, _lost) or _other_job(Store(place / "lab"), whole)

        yield Fault("forged stores", f"{seed}", run)


def _tried(ways, place, lost):
    """What is wrong with the first of the ways that goes wrong; None if none does."""
    for way, work in ways.items():
        ended = ran(work, place)
        if verdict(ended) or lost(ended):
            return verdict(ended) or LOST, f"{way}: {ended.code} {ended.said}"
    return None


def _lost(ended):
    return ended.code and not refused(ended)


def _lost_archive(ended):
    """Exit code 1 without an error says that some files are damaged."""
    return ended.code not in (0, 1) or (ended.err and _lost(ended))


def _other_job(known, whole):
    """Whether the job that was not forged has the result that it had."""
    other = jobs()[1]
    kept = known.result(other) == Store(whole.root).result(other)
    return (GOOD, "") if kept else (WRONG, "another job's result")


def _forge(rng, folder, test):
    body = json.loads((folder / DONE).read_text())
    del body["checksum"]
    if test:
        name = next(name for name in body["files"] if name.startswith("evaluations/"))
        content = encode_json(_other(rng, json.loads((folder / name).read_text())))
        (folder / name).write_bytes(content)
        body["files"][name] = hashlib.sha256(content).hexdigest()
    else:
        body = _other(rng, body)
    (folder / DONE).write_bytes(encode_json(sealed(body) if isinstance(body, dict) else body))


def _ask(known):
    """Reads everything that a store or an archive has of its jobs; damage may be reported."""
    for job in jobs():
        for ask in (
            lambda job=job: known.is_finished(job),
            lambda job=job: known.result(job),
            lambda job=job: known.means(job),
            lambda job=job: known.curves(job),
            lambda job=job: known.evaluation(job, job.evaluate[0]),
        ):
            try:
                ask()
            except (DamagedFileError, KeyError):
                continue
    return len(known.jobs()) > len(jobs())


def of_archives(rng, count, whole):
    """A file of an archive: believed or refused, and the others are whole."""
    for _i in range(count):
        seed = int(rng.integers(2**32))

        def run(place, seed=seed):
            ended = ran(merging(whole.root, place / "archive"), place)
            assert ended.code == 0, ended.said
            path = Archive(place / "archive").path(jobs()[0].address)
            body = _other(np.random.default_rng(seed), decode(path.read_bytes()))
            path.write_bytes(encode(body) if isinstance(body, dict) else encode_json(body))
            ways = {
                "read": lambda: _ask(Archive(place / "archive")),
                "verified": command("archive", "--into", "archive"),
                "merged": merging(whole.root, place / "archive"),
                "copied": merging(place / "archive", place / "copy"),
            }
            return _tried(ways, place, _lost_archive) or _other_job(Archive(place / "copy"), whole)

        yield Fault("forged archives", f"{seed}", run)


def of_policies(rng, count, place):
    """Exported policies; one process loads all, since torch takes seconds to start."""
    whole, seeds, found = place / "policy", [int(rng.integers(2**32)) for _ in range(count)], {}

    def loaded(place, seed):
        if not found:
            if not whole.exists():
                ended = ran(lambda: export(whole), place, 300)
                assert ended.code == 0, ended.said
            ended = ran(lambda: _load_all(whole, place, seeds), place, 300)
            found.update((each, (LOST, ended.said)) for each in seeds)
            for each, line in zip(seeds, ended.out.splitlines(), strict=False):
                found[each] = (GOOD, "") if line == "good" else (WRONG, line)
        return found[seed]

    for seed in seeds:
        yield Fault("forged policies", f"{seed}", lambda place, seed=seed: loaded(place, seed))


def _load_all(whole, place, seeds):
    from stable_baselines3.common.env_util import make_vec_env

    import adastack  # noqa: F401
    from adastack.integrations.sb3 import load_policy

    venv = make_vec_env("adastack/PassiveTMaze-v0", 1)
    for seed in seeds:
        chance, folder = np.random.default_rng(seed), place / f"policy-{seed}"
        shutil.copytree(whole, folder)
        body = decode_json((folder / "policy.json").read_bytes(), "policy.json")
        del body["checksum"]
        what = "document"
        if chance.random() < 0.5:
            body = _other(chance, body)
        else:
            what, change = _malices(chance, read_arrays(folder / "policy.safetensors"))
            content = encode_arrays(change(read_arrays(folder / "policy.safetensors")))
            (folder / "policy.safetensors").write_bytes(content)
            body["weights"] = hashlib.sha256(content).hexdigest()
        (folder / "policy.json").write_bytes(
            encode_json(sealed(body) if isinstance(body, dict) else body)
        )
        try:
            policy = load_policy(folder)
            if what != "document":
                print(f"believed: {what}", flush=True)
                continue
            with contextlib.suppress(ValueError):  # It says which memory or space is another.
                policy.wrap(venv)
            print("good", flush=True)
        except DamagedFileError:
            print("good", flush=True)
        except Exception as error:
            print(f"{what}: {type(error).__name__}: {error}".replace("\n", " "), flush=True)
