"""Files that were changed: by accident, or with valid checksums."""

import copy
import hashlib
import json
import os
import shutil
from functools import partial

import numpy as np

from adastack.files import encode_arrays, encode_json
from adastack.schemas import sealed
from faults.harness import GOOD, LOST, WRONG, Fault, command, ran, refused, verdict
from faults.trainings import DEEP, TABULAR, judged_damage, often, same, train

CHECKPOINT = "checkpoint.json"


# Accidents: what happens to the bytes of a file.


def _flip(rng, path, others):
    content = bytearray(path.read_bytes())
    if content:
        content[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
    path.write_bytes(content)


def _flip_many(rng, path, others):
    for _ in range(20):
        _flip(rng, path, others)


def _cut(rng, path, others):
    size = path.stat().st_size
    os.truncate(path, int(rng.integers(size)) if size else 0)


def _extend(rng, path, others):
    with path.open("ab") as file:
        file.write(rng.bytes(int(rng.integers(1, 200))))


def _zero(rng, path, others):
    path.write_bytes(b"\0" * path.stat().st_size)


def _remove(rng, path, others):
    path.unlink()


def _replace(rng, path, others):
    path.write_bytes(others[int(rng.integers(len(others)))].read_bytes())


def _link(rng, path, others):
    aside = path.parent.parent / "aside"
    path.rename(aside)
    path.symlink_to(aside)


def _folder(rng, path, others):
    path.unlink()
    path.mkdir()


def _pipe(rng, path, others):
    path.unlink()
    os.mkfifo(path)


def _value(rng, path, others):
    """Another value somewhere in a document; a flipped bit elsewhere."""
    if path.suffix != ".json":
        return _flip(rng, path, others)
    document = json.loads(path.read_text())
    path.write_bytes(encode_json(_other(rng, document)))


def _other(rng, document):
    """A document that differs in one place."""
    document = copy.deepcopy(document)
    place = document
    while isinstance(place, dict | list) and len(place):
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = keys[int(rng.integers(len(keys)))]
        if not isinstance(place[key], dict | list) or not place[key] or rng.random() < 0.2:
            old = place[key]
            odd = [None, [], {}, -1, 0, 1, 2**70, 0.5, "", "x", True, "[/b]\x1b[31m"]
            new = [each for each in odd if each != old or type(each) is not type(old)]
            place[key] = new[int(rng.integers(len(new)))]
            return document
        place = place[key]
    return [document]


ACCIDENTS = (_flip, _flip_many, _cut, _extend, _zero, _remove, _replace, _link, _folder, _pipe)
ACCIDENTS += (_value, _value)


def of_runs(rng, count, references, names):
    """Every file of an unfinished and of a finished run, changed; then resumed."""
    for i in range(count):
        name, change = names[i % len(names)], ACCIDENTS[i % len(ACCIDENTS)]
        half, which, seed = bool(rng.random() < 0.7), rng.random(), int(rng.integers(2**32))

        def run(place, name=name, change=change, half=half, which=which, seed=seed):
            whole = references[name]
            run = place / "run"
            shutil.copytree(references.unfinished(name) if half else whole, run)
            files = sorted(path for path in run.rglob("*") if path.is_file())
            files = [path for path in files if path.name != ".lock"]
            path = files[int(which * len(files))]
            change(np.random.default_rng(seed), path, files)
            found, note = judged_damage(name, place, whole)
            if found != GOOD:
                note = f"{path.name}: {note}"
            return found, note

        yield Fault("changed runs", f"{name}, {change.__name__}, {half}, {seed}", run)


def evaluated(rng, count, references):
    """Every file of a finished run, changed; then evaluated and shown."""
    for i in range(count):
        change, seed, which = ACCIDENTS[i % len(ACCIDENTS)], int(rng.integers(2**32)), rng.random()

        def run(place, change=change, seed=seed, which=which):
            expected = ran(command("evaluate", references["sarsa"], "--json"), place)
            run = place / "run"
            shutil.copytree(references["sarsa"], run)
            files = sorted(path for path in run.rglob("*") if path.is_file())
            path = files[int(which * len(files))]
            change(np.random.default_rng(seed), path, files)
            ended = ran(command("evaluate", "run", "--json"), place)
            if verdict(ended):
                return verdict(ended), ended.said
            if refused(ended):
                return GOOD, ""
            if ended.code:
                return LOST, ended.said
            mine, other = json.loads(ended.out)["seeds"], json.loads(expected.out)["seeds"]
            return (GOOD, "") if mine == other else (WRONG, path.name)

        yield Fault("changed runs, evaluated", f"{change.__name__}, {seed}", run)


# Malice: right checksums, wrong content.


def forged(run, arrays=None, meta=None, document=None):
    """Changes a checkpoint and seals it again."""
    from adastack.runs import Run

    found = Run.open(run).load_checkpoint()
    body = json.loads((run / CHECKPOINT).read_text())
    del body["checksum"]
    if arrays is not None:
        changed = arrays(dict(found[0]))
        content = encode_arrays(changed)
        (run / f"checkpoint-{body['slot']}.safetensors").write_bytes(content)
        body["arrays"] = hashlib.sha256(content).hexdigest()
    if meta is not None:
        body["meta"] = meta(body["meta"])
    if document is not None:
        body = document(body)
    (run / CHECKPOINT).write_bytes(encode_json(sealed(body)))


def _entry(name, value):
    def changed(arrays):
        array = arrays[name].copy()
        array.reshape(-1)[: max(1, array.size // 3)] = value
        return {**arrays, name: array}

    return changed


def _malices(rng, arrays):
    """What must be refused: by the name of an array, a change of all arrays."""
    names = sorted(name for name, array in arrays.items() if array.size)
    name = names[int(rng.integers(len(names)))]
    array = arrays[name]
    kinds = [
        ("missing", lambda a: {n: v for n, v in a.items() if n != name}),
        ("longer", lambda a: {**a, name: np.concatenate([a[name], a[name]])}),
        ("shorter", lambda a: {**a, name: a[name][:0]}),
        ("flat", lambda a: {**a, name: np.append(a[name].reshape(-1), 0).astype(array.dtype)}),
        ("half", lambda a: {**a, name: a[name].astype(np.float16)}),
    ]
    if array.dtype.kind == "f" and not name.endswith("learning"):  # Nothing may be known of some.
        kinds += [(str(each), _entry(name, each)) for each in (np.nan, np.inf, -np.inf)] * 2
    # Any 64 bits are a random generator's; what a functional task's state may be only it knows.
    free = ("word", ".held.seed", ".key", ".labels", ".cue", ".env.state.")
    if array.dtype.kind == "i" and not any(each in name for each in free):
        limit = np.iinfo(array.dtype)
        odd = (limit.max, limit.min, limit.max // 2, -2, 2**20 + 7)
        kinds += [(str(each), _entry(name, each)) for each in odd] * 2
    # What updates say of themselves, and metrics that are not known, may be missing or fewer.
    if "learning" in name or "unknown" in name or "update_steps" in name:
        kinds = [kind for kind in kinds if kind[0] not in ("missing", "shorter")]
    what, change = kinds[int(rng.integers(len(kinds)))]
    return f"{name} {what}", change


def _bad_meta(rng):
    odd = (-1, 2**70, 10**9, None, "3", 3.5, [3], {"a": 1}, True)
    value = odd[int(rng.integers(len(odd)))]
    return f"done {value!r}", lambda meta: {**meta, "done": value}


def malicious(rng, count, references):
    """Checkpoints with valid checksums that no training has written."""
    names = list(TABULAR)
    for i in range(count):
        name, seed = names[i % len(names)], int(rng.integers(2**32))

        def run(place, name=name, seed=seed):
            from adastack.runs import Run

            chance = np.random.default_rng(seed)
            run = place / "run"
            shutil.copytree(references.unfinished(name), run)
            if chance.random() < 0.1:
                what = "event_bytes"
                forged(run, meta=lambda meta: {**meta, "event_bytes": 10**10})
            else:
                what, change = _malices(chance, Run.open(run).load_checkpoint()[0])
                forged(run, arrays=change)
            ended = ran(train(name, "--resume"), place)
            if verdict(ended):
                return verdict(ended), f"{what}: {ended.said}"
            if max(path.stat().st_size for path in run.rglob("*") if path.is_file()) > 2**28:
                return WRONG, f"{what}: a file has grown"
            if refused(ended):
                return GOOD, ""
            if what == "event_bytes" and same(run, references[name]):
                return GOOD, ""
            return WRONG, f"{what}: code {ended.code}: {ended.said}"

        yield Fault("hostile checkpoints", f"{name}, {seed}", run)


def forged_networks(rng, count, references):
    """The same for networks: one process restores many, since each would take seconds to start."""
    names = list(DEEP)
    seeds = {name: [] for name in names}
    for i in range(count):
        seeds[names[i % len(names)]].append(int(rng.integers(2**32)))
    for name, its in seeds.items():
        found = {}

        def run(place, seed, name=name, its=its, found=found):
            if not found:
                half = references.unfinished(name)
                ended = ran(lambda: _restore_all(half, its), place, 300)
                said = ended.out.splitlines()
                found.update((each, (LOST, ended.said)) for each in its)
                found.update(
                    (each, (GOOD, "") if line == "refused" else (WRONG, f"{name}: {line}"))
                    for each, line in zip(its, said, strict=False)
                )
            return found[seed]

        for seed in its:
            yield Fault("hostile checkpoints", f"{name}, {seed}", partial(run, seed=seed))


def _restore_all(half, seeds):
    from adastack.files import DamagedFileError
    from adastack.runs import Run
    from adastack.training import make_session

    opened = Run.open(half)
    arrays, meta = opened.load_checkpoint()
    session = make_session(opened.settings)
    session.restore(arrays, meta)  # It is good as it stands.
    for seed in seeds:
        chance = np.random.default_rng(seed)
        if chance.random() < 0.3:
            what, change = _bad_meta(chance)
            now = arrays, change(meta)
        else:
            what, change = _malices(chance, arrays)
            now = change(dict(arrays)), meta
        try:
            session.restore(*now)
            print(what, flush=True)
        except DamagedFileError:
            print("refused", flush=True)


def documents(rng, count, references):
    """Documents of a run with valid checksums and another content."""
    for i in range(count):
        file = ("settings.json", CHECKPOINT, "result.json")[i % 3]
        seed, verb = int(rng.integers(2**32)), ("train", "evaluate", "watch", "runs")[i // 3 % 4]

        def run(place, file=file, seed=seed, verb=verb):
            chance = np.random.default_rng(seed)
            run = place / "run"
            half = references.unfinished("sarsa")
            shutil.copytree(references["sarsa"] if file == "result.json" else half, run)
            body = json.loads((run / file).read_text())
            del body["checksum"]
            body = _other(chance, body)
            if isinstance(body, dict):
                (run / file).write_bytes(encode_json(sealed(body)))
            else:
                (run / file).write_bytes(encode_json(body))
            words = {
                "train": ("train", *TABULAR["sarsa"], "--out", "run", "--resume"),
                "evaluate": ("evaluate", "run"),
                "watch": ("watch", "run", "--steps", "5"),
                "runs": ("runs", "--folder", "."),
            }[verb]
            ended = ran(command(*words, before=often), place)
            if verdict(ended):
                return verdict(ended), f"{body}: {ended.said}"
            if ended.code < 0 or (ended.code and not refused(ended)):
                return LOST, f"code {ended.code}: {ended.said}"
            trained = verb == "train" and ended.code == 0 and file != "result.json"
            wrong = trained and not same(run, references["sarsa"])
            return (WRONG, f"{body}") if wrong else (GOOD, "")

        yield Fault("hostile documents", f"{file}, {verb}, {seed}", run)
